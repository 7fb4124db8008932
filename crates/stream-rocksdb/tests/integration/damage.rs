//! Damage at random, in every file of both kinds of database: it is noticed, or it does no harm.
//!
//! `RECRAWL_DAMAGES=5000 RECRAWL_TEST_SEED=9 cargo test -p stream-rocksdb --test integration damage -- --nocapture` does more of it.

mod beside_a_changelog;
mod embedded;
mod spoil;

use crate::common::copy;
use page::Timestamp;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use stream::{
    Checkpoint, Cleanup, Commit, InProcessLog, Log, LogBackend, MemberSpec, OutputRecord, PollLimits, Position,
    StateStore, StoreCheckpoint, StoreError, StoreProvider, StoreWrite, TaskId, TaskWrites, TopicConfig,
    TopicPartition,
};
use stream_rocksdb::{EmbeddedBackend, EmbeddedStores, RocksStores, StoreMemory};
use tempfile::TempDir;

const BOOT: &str = "boot";
const STORES: [&str; 2] = ["pages", "hosts"];
const PARTITIONS: u32 = 2;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

/// Effect of the damage to one directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// Refused, with an error.
    Refused,
    /// Opened, and said that something is missing.
    Reported,
    /// Everything is there.
    Harmless,
    /// An earlier state is there. Its checkpoint says so, and it is brought up to date from the changelog.
    Behind,
}

/// A key and value of any kind, by a name that says which.
type Contents = BTreeMap<Vec<u8>, Vec<u8>>;

fn task(partition: u32) -> TaskId {
    TaskId { stage: "scheduler".into(), partition }
}

fn value(random: &mut Pcg64) -> Vec<u8> {
    let length = random.random_range(20..400);
    (0..length).map(|_| random.random()).collect()
}

fn writes(random: &mut Pcg64) -> Vec<StoreWrite> {
    let one = |random: &mut Pcg64| StoreWrite {
        store: random.random_range(0..STORES.len()),
        key: random.random_range(0..300_u32).to_be_bytes().to_vec(),
        value: random.random_bool(0.8).then(|| value(random)),
    };
    (0..random.random_range(1..20)).map(|_| one(random)).collect()
}

fn scan(store: &dyn StateStore, name: &str, into: &mut Contents) -> Result<(), StoreError> {
    for index in 0..STORES.len() {
        store.scan(index, b"", &mut |key, value| {
            into.insert([format!("{name}/{index}/").as_bytes(), key].concat(), value.to_vec());
            ControlFlow::Continue(())
        })?;
    }
    Ok(())
}

/// Spoils copies of directories, one damage each, and prints what became of them.
fn torture(origins: &[TempDir], seed: u64, judge: impl Fn(&Path) -> Result<Outcome, String>) {
    let mut random = Pcg64::seed_from_u64(number("RECRAWL_TEST_SEED", seed));
    let mut table: BTreeMap<(String, Outcome), u64> = BTreeMap::new();
    let mut silent = Vec::new();
    for round in 0..number("RECRAWL_DAMAGES", 100) {
        let origin = &origins[random.random_range(0..origins.len())];
        let directory = TempDir::new().unwrap();
        copy(origin.path(), directory.path());
        let (file, what) = spoil::spoil(directory.path(), &mut random);
        match judge(directory.path()) {
            Ok(outcome) => *table.entry((file, outcome)).or_default() += 1,
            Err(loss) => silent.push(format!("damage {round}, {file} {what}: {loss}")),
        }
    }
    for ((file, outcome), count) in &table {
        println!("{file:<16} {outcome:?}: {count}");
    }
    assert!(silent.is_empty(), "silent losses:\n{}", silent.join("\n"));
}
