//! Starts, watches and stops stages.
//!
//! The part of a process that does not depend on its work: keep the time ([`WebClock`]),
//! write logs ([`logging`]), run stages on their own threads ([`StageThreads`]), show their status ([`Board`],
//! [`http`]: `/healthz /readyz /metrics /status`), accept pings ([`HintIntake`]), and drain on a signal
//! ([`StopSignal`]).
//!
//! It never knows what a stage does.

pub mod backlog;
mod board;
pub mod broker_clock;
mod changed_file;
pub mod changed_topics;
mod clock;
mod crash_file;
pub mod disk;
mod failure;
mod freshness;
mod hints;
pub mod http;
mod kafka;
pub mod logging;
pub mod memory_limit;
mod metrics;
mod open_files;
mod outcomes;
pub mod pings;
mod private_files;
mod pulse;
mod receivers;
mod threads;
mod topic_reader;
mod traces;
pub mod web_client;

pub use crate::board::{Board, FocusStatus, StageLag, Status};
pub use crate::clock::WebClock;
pub use crate::crash_file::CrashFile;
pub use crate::disk::DiskSpace;
pub use crate::failure::CommandFailure;
pub use crate::freshness::{AuditedFreshness, CalibratedFreshness};
pub use crate::hints::{HintIntake, PingCounts};
pub use crate::kafka::connect;
pub use crate::metrics::log_figures;
pub use crate::open_files::{raise_limit as raise_open_files, with_remedy as with_remedy_for_files};
pub use crate::outcomes::{OutcomeCount, outcome_counts, outcome_lines};
pub use crate::private_files::keep_files_private;
pub use crate::receivers::{ReceiverBoard, ReceiverHandle, ReceiverStatus};
pub use crate::threads::{Background, StageThreads, StopSignal};
pub use crate::topic_reader::{TopicReader, learn_schemas};
pub use crate::traces::{SpanCounts, TraceExporter};
