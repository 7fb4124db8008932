//! Moves one stage of the loop from batch to batch without losing or repeating anything.
//!
//! A *stage* (scheduler, detector, estimator …) runs one [`Processor`] per partition. A processor is synchronous and
//! deterministic: a record, the time and its stores go in; writes and records come out. Around it:
//!
//! * [`log`]: the interface to a log of transactional batches: poll records, produce, commit {outputs, changelog, input
//!   positions} as one unit, learn of assignment and revocation. One crate implements it with Kafka, another with
//!   RocksDB.
//! * [`StageTopology`]: what a stage reads, keeps and writes, declared once with its types ([`Table`],
//!   [`wire::Topic`]).
//! * [`store`]: the interface to local state, and [`Overlay`], which holds a batch's writes until the log has
//!   committed.
//! * [`protocol`]: decisions as pure functions: what to do after a failure, where to restore from.
//! * [`StageRunner`]: poll → restore → process → commit → apply, one step at a time. It runs synchronous processors and
//!   work in flight ([`in_flight`]), whose requests are answered out of order.
//! * [`TraceContext`], [`Span`]: one page's way through the stages as a trace, whose ids follow from its records.
//! * [`inprocess`]: consumer groups, fencing and wake-ups for logs inside this process, over any [`LogBackend`].
//! * [`invariants`]: the invariants that a running stage checks, as functions; the simulation (`make sim`) tries to break
//!   them and others.
//!
//! The crate `stream-testing` has a log in memory, a driver whose clock is set by hand, and the suite that every log must
//! pass.
//!
//! This crate never opens a file or a socket, never reads a clock, never draws a random number.

mod batch_size;
mod clock;
mod crash_notes;
mod group;
mod health;
mod histogram;
pub mod in_flight;
pub mod inprocess;
pub mod invariants;
pub mod log;
mod open_span;
mod overlay;
pub mod partitioner;
pub mod position;
mod process_error;
pub mod processor;
pub mod protocol;
mod publish;
mod record;
mod restore;
mod room;
mod runner;
pub mod schemas;
mod span;
mod spec;
pub mod store;
mod table;
mod task;
mod task_tables;
mod topology;
mod trace;

pub use crate::clock::Clock;
pub use crate::crash_notes::{CrashNotes, Crashes, RecordMark, Subject, SubjectOf};
pub use crate::health::{StageHealth, StageStatus, Stopped};
pub use crate::histogram::Histogram;
pub use crate::in_flight::{AnsweredRequest, InFlight, RequestTag};
pub use crate::inprocess::{InProcessLog, LogBackend};
pub use crate::log::{
    Backlog, Commit, ErrorKind, Event, Log, LogError, LogReader, Member, MemberSpec, PollLimits, Receipt, StateIn,
    TopicInfo,
};
pub use crate::overlay::Overlay;
pub use crate::position::Position;
pub use crate::process_error::ProcessError;
pub use crate::processor::{Context, Processor};
pub use crate::publish::{PublishError, PublishedChangelog, StatefulStage, publish_state};
pub use crate::record::{Cleanup, InputRecord, OffsetBounds, OutputRecord, TopicConfig, TopicPartition};
pub use crate::room::DiskRoom;
pub use crate::runner::{Stage, StageRunner, StepOutcome};
pub use crate::span::{Attribute, AttributeValue, Describe, RecordFacts, Span, SpanKind, SpanSink, Step, Tracing};
pub use crate::spec::{
    DeadLetters, FailedRecord, NamedTopic, ProcessorFactory, RunnerSettings, SchemaTopic, StageSpec, StageWork,
    StandInOf, StoreSpec,
};
pub use crate::store::{
    Checkpoint, StateStore, StoreCheckpoint, StoreError, StoreProvider, StoreWrite, TaskId, TaskWrites, Visit,
};
pub use crate::table::{KeyBound, Table, TableError, TableKey, TableSpec};
pub use crate::task_tables::{TaskTables, TaskView};
pub use crate::topology::StageTopology;
pub use crate::trace::{Sampler, SpanId, TRACEPARENT, TraceContext, TraceId};
