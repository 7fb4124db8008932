//! The one program of recrawl: the whole loop in one process ([`embedded`]), its stages over Kafka ([`stages`]), and every
//! tool.
//!
//! Results go to stdout, progress and warnings to stderr. The exit status is 0 (done), 1 (the answer is no), 2 (the
//! input is wrong) or 3 (the outside world failed).
//!
//! This crate holds no policy and no formula: those are in the stages and the pure crates.

pub mod ask;
pub mod batch;
mod change_lines;
pub mod commands;
mod cursor;
mod decoded;
mod deliver;
pub mod embedded;
mod failure;
mod feed;
mod follow;
mod http_client;
pub mod inspect;
pub mod load;
mod object_storage;
pub mod one_fetch;
pub mod output;
mod over_kafka;
mod own_machine;
pub mod page_report;
pub mod ruled_diff;
pub mod schema_registry;
pub mod stages;
mod told_change;
pub mod topic_reader;
mod web_client;

pub use crate::failure::CommandFailure;
