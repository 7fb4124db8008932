//! How does one stage of the loop move from batch to batch without losing or repeating anything?
//!
//! A *stage* (scheduler, detector, estimator …) is a [`Processor`] per partition. It is synchronous and deterministic: a
//! record, the time and its stores go in; writes and records come out. Around it:
//!
//! * [`log`]: the seam. A log of transactional batches: poll records, produce, commit {outputs, changelog, input
//!   positions} as one unit, be told of assignment and revocation. Kafka implements it in one crate, RocksDB in another.
//! * [`StageTopology`]: what a stage reads, keeps and writes, declared once with its types ([`Table`],
//!   [`messages::topics::Topic`]).
//! * [`store`]: the seam to local state, and [`Overlay`], in which a batch's writes wait until the log has committed.
//! * [`protocol`]: what to do after a failure, where to restore from: decisions, as functions of facts.
//! * [`StageRunner`]: poll → restore → process → commit → apply, one step at a time, for synchronous processors and for
//!   work in flight ([`in_flight`]), whose requests are answered out of order.
//! * [`inprocess`]: consumer groups, fencing and waking for logs that live in this process, over any [`LogBackend`];
//!   [`memory`] holds the simplest backend.
//! * [`invariants`]: what always holds, as functions; the simulation (`make sim`) tries to break them.
//! * [`testing`]: a driver with a clock set by hand. `conformance` (feature): the suite every log must pass.
//!
//! This crate never opens a file or a socket, never reads a clock, never draws a random number.

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod durations;
mod group;
mod health;
pub mod in_flight;
pub mod inprocess;
pub mod invariants;
pub mod log;
pub mod memory;
mod overlay;
pub mod partitioner;
pub mod position;
pub mod processor;
pub mod protocol;
mod record;
mod restore;
mod runner;
pub mod schemas;
#[cfg(test)]
mod simulation;
mod spec;
pub mod store;
mod table;
mod task;
pub mod testing;
mod topology;

pub use crate::durations::Durations;
pub use crate::health::{StageHealth, StageStatus, Stopped};
pub use crate::in_flight::{Answer, InFlight, Tag};
pub use crate::inprocess::{InProcessLog, LogBackend};
pub use crate::log::{
    Backlog, Commit, ErrorKind, Event, Log, LogError, Member, MemberSpec, PollLimits, Reader, Receipt, StateIn,
    TopicInfo,
};
pub use crate::overlay::Overlay;
pub use crate::position::Position;
pub use crate::processor::{Context, ProcessError, Processor};
pub use crate::record::{Bounds, Cleanup, InputRecord, OutputRecord, TopicConfig, TopicPartition};
pub use crate::runner::{Clock, Stage, StageRunner, Step};
pub use crate::spec::{
    DeadLetter, DeadLetters, OutputSpec, ProcessorFactory, RunnerSettings, SchemaTopic, StageSpec, StageWork, StoreSpec,
};
pub use crate::store::{
    Checkpoint, StateStore, StoreCheckpoint, StoreError, StoreProvider, StoreWrite, TaskId, TaskWrites, Visit,
};
pub use crate::table::{Table, TableError, TableKey, TableSpec, TaskTables};
pub use crate::topology::StageTopology;
