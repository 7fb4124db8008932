//! The services over a real Kafka: the same loop as in one process, whatever happens to one of them.
//!
//! `make test` starts a Kafka for these tests. Without RECRAWL_KAFKA they are skipped.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod asking;
mod audit;
mod changed_topics;
mod clocks;
mod commands;
mod compose;
mod console;
mod deadly_page;
#[path = "../embedded/deadly_site.rs"]
mod deadly_site;
mod delivering;
mod delivery_pod;
mod documented;
mod draining;
mod forgetting;
mod kills;
mod ledger;
mod operating;
mod outputs;
mod restarts;
mod same_loop;
#[path = "../embedded/site.rs"]
mod site;
mod slow_broker;
mod stopping;
mod takeover;
mod together;
mod tracing;
mod troubles;

use tests::services;
