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

use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use tests::services::{SOON, kafka};
use tests::{KafkaCluster, wait_for};

/// Whether this is the long form.
fn is_full() -> bool {
    std::env::var("TORTURE").is_ok_and(|value| value == "full")
}

/// The cluster of all tests here, for one test at a time: they time what happens, and stop nodes.
struct TorturedCluster(MutexGuard<'static, KafkaCluster>);

impl Deref for TorturedCluster {
    type Target = KafkaCluster;

    fn deref(&self) -> &KafkaCluster {
        &self.0
    }
}

impl Drop for TorturedCluster {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.keep_logs();
        }
    }
}

/// The cluster, with all nodes in sync. `None` if there is no Kafka to be had.
fn cluster() -> Option<TorturedCluster> {
    // Not dropped at the end: the script that runs the nodes stops them when this process is gone.
    static CLUSTER: OnceLock<Mutex<KafkaCluster>> = OnceLock::new();
    if !is_full() && kafka().is_none() {
        return None;
    }
    let cluster = CLUSTER.get_or_init(|| Mutex::new(KafkaCluster::start()));
    let cluster = TorturedCluster(cluster.lock().unwrap_or_else(PoisonError::into_inner));
    // The test before may have failed while a node was away.
    cluster.start_missing();
    wait_for("all nodes are in sync", SOON, || cluster.is_settled());
    Some(cluster)
}
