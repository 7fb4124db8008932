//! How is a stage started, watched and stopped?
//!
//! The part of a process that is the same whatever it does: read the settings ([`load`]), take the time ([`WebClock`]),
//! write logs ([`logging`]), turn stages on threads of their own ([`StageThreads`]), show how they are doing ([`Board`],
//! [`http`]: `/healthz /readyz /metrics /status`), take pings in ([`HintIntake`]), and drain on a signal ([`StopSignal`]). [`service`] puts it together
//! for a process that runs one stage over Kafka.
//!
//! It never knows what a stage does.

pub mod backlog;
mod board;
mod clock;
mod hints;
pub mod http;
mod load;
pub mod logging;
mod metrics;
pub mod pings;
mod pulse;
pub mod service;
mod threads;

/// Memory of every program that is built on this crate. Reading a page takes and gives back hundreds of pieces, often on
/// different threads: a crawl took a tenth less CPU by it than with the allocator of glibc.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub use crate::board::{AuditedFreshness, Board, StageLag, Status};
pub use crate::clock::WebClock;
pub use crate::hints::{HintIntake, PingCounts};
pub use crate::load::{LoadError, load};
pub use crate::metrics::{Figure, log_figures};
pub use crate::threads::{Background, StageThreads, StopSignal};
