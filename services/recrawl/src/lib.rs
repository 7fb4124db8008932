//! The one program of recrawl: the whole loop in one process ([`embedded`]), its stages over Kafka ([`stages`]), and every
//! tool.
//!
//! Results go to stdout, progress and warnings to stderr. The exit status is 0 (done), 1 (the answer is no), 2 (the
//! input is wrong) or 3 (the outside world failed).
//!
//! This crate holds no policy and no formula: those are in the stages and the pure crates.

mod attention;
pub mod batch;
pub mod commands;
mod console;
mod contents;
pub mod documents;
pub mod embedded;
pub mod help;
mod kept_copy;
pub mod load;
mod numbered_place;
pub mod one_fetch;
mod over_kafka;
mod own_machine;
pub mod ruled_diff;
pub mod seed_file;
mod served_changes;
pub mod stages;

pub use daemon::CommandFailure;
