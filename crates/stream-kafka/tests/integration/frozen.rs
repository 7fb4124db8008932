//! Nodes are stopped for a while, killed, moved, replaced or restarted in turn: every client works again by itself, or is replaced.
//!
//! A node that was frozen for longer than its session (9 s) is for a moment in no metadata, and librdkafka then stops
//! threads that some of its clients wait for. `make torture` does each thing ten times.

use crate::common::*;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use stream::{ErrorKind, Event, InputRecord, Log, LogError, Member, PollLimits};
use stream_kafka::KafkaLog;
use stream_testing::KafkaCluster;

/// Stages, each with a log of its own, as in processes of their own.
const STAGES: usize = 4;
const PARTITIONS: u32 = 4;
/// Longest wait until all clients work again, however busy the machine is.
const RECOVERY: Duration = Duration::from_secs(900);

/// Kafka 4.3 aborts transactions as soon as it has read them after a crash. A partition without a leader counts as deleted then,
/// its part of the transaction stays open, and no reader gets further. All partitions of a single node are without one until it has
/// registered, which takes it seconds on a busy machine. The default, ten seconds after the start, is not always late enough.
const LATE_ABORTS: &[&str] = &["transaction.abort.timed.out.transaction.cleanup.interval.ms=45000"];

/// Something that happens to a node.
#[derive(Clone, Copy, Debug)]
enum Incident {
    /// Its process is stopped (SIGSTOP) for this many seconds.
    Freeze(u64),
    /// Its process is killed (SIGKILL), and started again after this many seconds.
    Kill(u64),
    /// It is stopped in order, and started at another address. The last node stays, so that the first contact of new clients
    /// is somewhere.
    Move,
    /// It is killed, and started with an empty disk.
    Replace,
    /// All nodes are stopped in order and started again, one after the other.
    Roll,
}

impl Incident {
    fn happens_to(self, cluster: &KafkaCluster, node: usize, nodes: usize) {
        match self {
            Self::Move => {
                let node = node.min(nodes - 1);
                cluster.stop(node);
                cluster.relocate(node);
                cluster.restart(node);
            }
            Self::Replace => {
                cluster.kill(node);
                cluster.empty(node);
                cluster.restart(node);
            }
            Self::Roll => {
                for node in 1..=nodes {
                    cluster.stop(node);
                    cluster.restart(node);
                    wait_until(|| cluster.is_settled());
                }
            }
            Self::Freeze(seconds) => {
                cluster.pause(node);
                thread::sleep(Duration::from_secs(seconds));
                cluster.resume(node);
            }
            Self::Kill(seconds) => {
                cluster.kill(node);
                thread::sleep(Duration::from_secs(seconds));
                cluster.restart(node);
            }
        }
    }
}

/// A stage that counts what it reads.
struct Stage {
    log: KafkaLog,
    input: String,
    group: String,
    read: AtomicU64,
}

impl Stage {
    fn new(cluster: &KafkaCluster, number: usize, nodes: usize) -> Self {
        let mut settings = settings(cluster.brokers());
        settings.kafka.replication_factor = nodes as u16;
        settings.kafka.session_timeout = Duration::from_secs(15);
        settings.kafka.static_membership = number.is_multiple_of(2);
        settings.kafka.transaction_timeout = Duration::from_secs(15);
        let log = KafkaLog::connect(settings).expect("Kafka can be reached");
        let input = topic(&log, "frozen", PARTITIONS);
        Self { log, input, group: unique("group"), read: AtomicU64::new(0) }
    }

    /// Reads until `stop`, and recovers as a stage does.
    fn run(&self, stop: &AtomicBool) {
        let mut membership = None;
        while !stop.load(Ordering::Relaxed) {
            let Err(error) = self.turn(&mut membership) else { continue };
            eprintln!("reading {}: {error}", self.input);
            match error.kind {
                ErrorKind::Stop => panic!("{error}"),
                ErrorKind::Rejoin | ErrorKind::Fenced => membership = None,
                ErrorKind::Retry | ErrorKind::Abort => {}
            }
            thread::sleep(Duration::from_millis(500));
        }
    }

    fn turn(&self, membership: &mut Option<Membership>) -> Result<(), LogError> {
        let membership = match membership {
            Some(membership) => membership,
            None => {
                let member = self.log.join(&spec(&self.group, &self.input, &self.group))?;
                membership.insert(Membership { member, unstarted: BTreeSet::new() })
            }
        };
        for record in membership.poll()? {
            self.read.fetch_add(1, Ordering::Relaxed);
            commit(&mut *membership.member, [(record.partition, record.offset + 1)], Vec::new())?;
        }
        membership.start()
    }

    /// Writes a record to each partition. Returns whether the member reads any soon, and the backlog can be seen.
    fn works(&self) -> bool {
        let try_all = || -> Result<bool, LogError> {
            let before = self.read.load(Ordering::Relaxed);
            let records: Vec<_> =
                (0..PARTITIONS).map(|partition| record(&self.input, partition, "key", b"value")).collect();
            self.log.append(&records)?;
            let (begun, is_read) = (Instant::now(), || self.read.load(Ordering::Relaxed) > before);
            while !is_read() && begun.elapsed() < Duration::from_secs(2) {
                thread::sleep(Duration::from_millis(20));
            }
            self.log.backlog(&self.group, &self.input)?;
            Ok(is_read())
        };
        try_all().inspect_err(|error| eprintln!("asking for {}: {error}", self.input)).unwrap_or(false)
    }
}

struct Membership {
    member: Box<dyn Member>,
    /// Assigned partitions whose committed positions are still to be read. A failure to read them is tried again.
    unstarted: BTreeSet<u32>,
}

impl Membership {
    fn start(&mut self) -> Result<(), LogError> {
        while let Some(&partition) = self.unstarted.first() {
            let from = self.member.committed(&[partition])?.get(&partition).map_or(0, |position| position.next);
            self.member.start(partition, from)?;
            self.unstarted.remove(&partition);
        }
        Ok(())
    }

    fn poll(&mut self) -> Result<Vec<InputRecord>, LogError> {
        let mut records = Vec::new();
        for event in self.member.poll(PollLimits::records(1_000), Duration::from_millis(100))? {
            match event {
                Event::Assigned(partitions) => self.unstarted.extend(partitions),
                Event::Revoked(partitions) => {
                    self.unstarted.retain(|partition| !partitions.contains(partition));
                }
                Event::Record(record) => records.push(record),
            }
        }
        Ok(records)
    }
}

/// Clients of several stages while things happen to the nodes of a cluster, one after the other.
fn every_client_works_again_after(incidents: &[Incident], nodes: usize) {
    if brokers().is_none() {
        return;
    }
    let cluster = KafkaCluster::with_properties(nodes, LATE_ABORTS);
    let stages: Vec<Stage> = (0..STAGES).map(|number| Stage::new(&cluster, number, nodes)).collect();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for stage in &stages {
            scope.spawn(|| stage.run(&stop));
            // Views, readers and appenders are in use when it happens, too.
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    stage.works();
                }
            });
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            wait_until(|| stages.iter().all(Stage::works));
            for (number, incident) in incidents.iter().enumerate() {
                wait_until(|| cluster.is_settled());
                incident.happens_to(&cluster, 1 + number % nodes, nodes);
                let since = Instant::now();
                for stage in &stages {
                    while !stage.works() {
                        assert!(since.elapsed() < RECOVERY, "{} stands still after {incident:?}", stage.input);
                    }
                }
                println!("{nodes} nodes, {incident:?}: all clients work after {:.1} s", since.elapsed().as_secs_f64());
            }
        }));
        stop.store(true, Ordering::Relaxed);
        outcome.unwrap_or_else(|panic| resume_unwind(panic));
    });
}

fn is_full() -> bool {
    std::env::var("TORTURE").is_ok_and(|value| value == "full")
}

/// All of them in the long form, and the first few in the short one.
fn some(incidents: &[Incident], short: usize) -> &[Incident] {
    if is_full() { incidents } else { &incidents[..short] }
}

const FREEZES: [Incident; 10] = {
    use Incident::Freeze;
    [
        Freeze(12),
        Freeze(9),
        Freeze(14),
        Freeze(10),
        Freeze(12),
        Freeze(20),
        Freeze(11),
        Freeze(12),
        Freeze(30),
        Freeze(12),
    ]
};

const KILLS: [Incident; 10] = {
    use Incident::Kill;
    [Kill(1), Kill(12), Kill(5), Kill(0), Kill(20), Kill(9), Kill(3), Kill(15), Kill(7), Kill(30)]
};

#[test]
fn after_a_single_broker_was_frozen_every_client_works_again() {
    every_client_works_again_after(some(&FREEZES, 3), 1);
}

#[test]
fn after_a_single_broker_was_killed_every_client_works_again() {
    every_client_works_again_after(some(&KILLS, 2), 1);
}

#[test]
fn after_one_of_three_brokers_was_frozen_or_killed_every_client_works_again() {
    if is_full() {
        every_client_works_again_after(&[&FREEZES[..], &KILLS[..]].concat(), 3);
    }
}

#[test]
fn after_brokers_were_moved_replaced_and_restarted_in_turn_every_client_works_again() {
    every_client_works_again_after(some(&[Incident::Move, Incident::Replace, Incident::Roll].repeat(10), 2), 3);
}

#[test]
fn after_a_single_broker_was_restarted_in_order_every_client_works_again() {
    if is_full() {
        every_client_works_again_after(&[Incident::Roll; 10], 1);
    }
}
