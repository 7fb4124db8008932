//! How does one stage of the loop move from batch to batch without losing or repeating anything?
//!
//! A *stage* (scheduler, detector, estimator …) is a [`Processor`] per partition. It is synchronous and deterministic: a
//! record, the time and its stores go in; writes and records come out. Around it:
//!
//! * [`log`]: the seam. A log of transactional batches: poll records, produce, commit {outputs, changelog, input
//!   positions} as one unit, be told of assignment and revocation. Kafka implements it in one crate, RocksDB in another.
//! * [`store`]: the seam to local state, and [`Overlay`], in which a batch's writes wait until the log has committed.
//! * [`protocol`]: what to do after a failure, where to restore from: decisions, as functions of facts.
//! * [`StageRunner`]: poll → process → commit → apply, one step at a time.
//! * [`inprocess`]: consumer groups, fencing and waking for logs that live in this process, over any [`LogBackend`];
//!   [`memory`] holds the simplest backend.
//! * [`testing`]: a driver with a clock set by hand. `conformance` (feature): the suite every log must pass.
//!
//! This crate never opens a file or a socket, never reads a clock, never draws a random number.

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod group;
mod health;
pub mod inprocess;
pub mod log;
pub mod memory;
mod overlay;
pub mod partitioner;
pub mod processor;
pub mod protocol;
mod record;
mod runner;
pub mod store;
mod task;
pub mod testing;

pub use crate::health::{StageHealth, StageStatus, Stopped};
pub use crate::inprocess::{InProcessLog, LogBackend};
pub use crate::log::{ErrorKind, Event, Log, LogError, Member, MemberSpec, PartitionLag, Reader, Receipt};
pub use crate::overlay::Overlay;
pub use crate::processor::{Context, OutputId, ProcessError, Processor, StoreId};
pub use crate::record::{Bounds, Cleanup, InputRecord, OutputRecord, TopicConfig, TopicPartition};
pub use crate::runner::{
    Clock, DeadLetter, DeadLetters, ProcessorFactory, RunnerSettings, Stage, StageRunner, StageSpec, Step,
};
pub use crate::store::{Checkpoint, StateStore, StoreError, StoreProvider, StoreWrite, TaskId, Visit};
