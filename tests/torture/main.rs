//! The services over a Kafka of three nodes, while processes and nodes die, sleep, come and go.
//!
//! `make torture` runs the long form, with `TORTURE=full`, and `make torture TORTURE=short` a short one. `make test` runs
//! neither: it is about how long things take, which a machine with other work decides, too. `TORTURE_SEED` repeats a run: the same
//! things happen in the same order, though not at the same instant. The short form is left out without RECRAWL_KAFKA, as
//! all tests over Kafka are; its nodes are its own nevertheless, for what is done to them.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod crawl;
mod fleet;
mod outage;
mod plan;
mod rolling;
mod stuck;
mod verdict;
mod watch;

use std::sync::{Mutex, MutexGuard, PoisonError};
use tests::KafkaCluster;
use tests::services::kafka;

/// Whether this is the long form.
fn is_full() -> bool {
    std::env::var("TORTURE").is_ok_and(|value| value == "full")
}

/// A cluster of the test's own, for one test at a time: they time what happens. `None` if there is no Kafka to be had.
fn cluster() -> Option<(MutexGuard<'static, ()>, KafkaCluster)> {
    static ALONE: Mutex<()> = Mutex::new(());
    if !is_full() && kafka().is_none() {
        return None;
    }
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    Some((alone, KafkaCluster::start()))
}
