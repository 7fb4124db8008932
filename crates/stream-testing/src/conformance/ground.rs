//! The fixture of a case: its log, its topics, members that are easy to control, and waits.

use super::Harness;
use page::{DAY, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;
use stream::Clock;
use stream::log::{Commit, ErrorKind, Event, Log, LogError, Member, MemberSpec, PollLimits, Receipt};
use stream::partitioner::partition_for;
use stream::position::Position;
use stream::store::StoreProvider;
use stream::{Cleanup, InputRecord, OffsetBounds, OutputRecord, TopicConfig, TopicPartition};

/// Timeout of one poll.
const POLL: Duration = Duration::from_millis(50);
/// Pause between two checks of a condition.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Why a case failed.
#[derive(Debug)]
pub struct Failed(pub String);

// Does not implement `Error`, so that `?` converts any error.
impl<E: std::error::Error> From<E> for Failed {
    fn from(error: E) -> Self {
        Failed(error.to_string())
    }
}

pub(super) fn ensure(holds: bool, claim: impl FnOnce() -> String) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(Failed(claim())) }
}

pub(super) fn same<T: PartialEq + Debug>(what: &str, actual: T, expected: T) -> Result<(), Failed> {
    ensure(actual == expected, || format!("{what}: {actual:?} instead of {expected:?}"))
}

/// A log with names reserved for one case.
pub struct ConformanceFixture {
    harness: Box<dyn Harness>,
    case: &'static str,
}

/// A topic of a case.
#[derive(Clone, Debug)]
pub(super) struct CaseTopic {
    pub(super) name: Arc<str>,
    pub(super) partitions: u32,
    clock_now: Timestamp,
}

impl CaseTopic {
    pub(super) fn at(&self, partition: u32) -> TopicPartition {
        TopicPartition::new(self.name.clone(), partition)
    }

    pub(super) fn record(&self, partition: u32, key: &str, value: &str) -> OutputRecord {
        let (key, value) = (key.as_bytes().to_vec(), value.as_bytes().to_vec().into());
        OutputRecord { to: self.at(partition), timestamp: self.clock_now, key, value: Some(value), trace: None }
    }

    /// A record in the partition of its key.
    pub(super) fn keyed(&self, key: &str, value: &str) -> OutputRecord {
        self.record(partition_for(key.as_bytes(), self.partitions), key, value)
    }

    /// Records with values `0`, `1` … in one partition.
    pub(super) fn numbered(&self, partition: u32, count: u32) -> Vec<OutputRecord> {
        (0..count).map(|number| self.record(partition, "key", &number.to_string())).collect()
    }
}

/// Values of records as text.
pub(super) fn values(records: &[InputRecord]) -> Vec<String> {
    let text = |record: &InputRecord| String::from_utf8_lossy(record.value.as_deref().unwrap_or(b"none")).into_owned();
    records.iter().map(text).collect()
}

/// The numbers as text.
pub(super) fn numbers(range: std::ops::Range<u32>) -> Vec<String> {
    range.map(|number| number.to_string()).collect()
}

impl ConformanceFixture {
    pub(super) fn new(harness: Box<dyn Harness>, case: &'static str) -> Self {
        Self { harness, case }
    }

    pub(super) fn log(&self) -> Arc<dyn Log> {
        self.harness.log()
    }

    pub(super) fn clock(&self) -> Arc<dyn Clock> {
        self.harness.clock()
    }

    pub(super) fn deadline(&self) -> Duration {
        self.harness.deadline()
    }

    pub(super) fn now(&self) -> Timestamp {
        self.harness.clock().now()
    }

    pub(super) fn stores(&self) -> Arc<dyn StoreProvider> {
        self.harness.stores()
    }

    pub(super) fn reopen(&mut self) -> Result<(), Failed> {
        Ok(self.harness.reopen()?)
    }

    pub(super) fn maintain(&self, now: Timestamp) -> Result<(), Failed> {
        Ok(self.harness.maintain(now)?)
    }

    /// A name unique to this case.
    pub(super) fn name(&self, of: &str) -> String {
        format!("{}{}-{of}", self.harness.prefix(), self.case.replace('_', "-"))
    }

    /// Creates a topic that keeps its records for the duration of a test.
    pub(super) fn topic(&self, name: &str, partitions: u32) -> Result<CaseTopic, Failed> {
        self.topic_with(name, partitions, Cleanup::Delete { retention: 7 * DAY, consumed: false })
    }

    pub(super) fn topic_with(&self, name: &str, partitions: u32, cleanup: Cleanup) -> Result<CaseTopic, Failed> {
        self.topic_of(self.config(name, partitions, cleanup))
    }

    pub(super) fn topic_of(&self, config: TopicConfig) -> Result<CaseTopic, Failed> {
        self.patiently("topic", || self.log().create_topics(std::slice::from_ref(&config)))?;
        Ok(CaseTopic { name: config.name, partitions: config.partitions, clock_now: self.now() })
    }

    pub(super) fn config(&self, name: &str, partitions: u32, cleanup: Cleanup) -> TopicConfig {
        TopicConfig { name: self.name(name).into(), partitions, cleanup, max_message_bytes: 4 << 20 }
    }

    pub(super) fn append(&self, records: &[OutputRecord]) -> Result<(), Failed> {
        self.log().append(records)?;
        Ok(())
    }

    /// Repeats a check until it returns something, or fails at the deadline.
    pub(super) fn wait<T>(&self, what: &str, mut look: impl FnMut() -> Result<Option<T>, Failed>) -> Result<T, Failed> {
        let clock = self.clock();
        let began = clock.monotonic();
        loop {
            if let Some(found) = look()? {
                return Ok(found);
            }
            ensure(clock.monotonic().saturating_sub(began) < self.harness.deadline(), || format!("no {what} in time"))?;
            clock.pause(LOOK_AGAIN);
        }
    }

    /// Repeats a question that a busy log does not answer in time.
    fn patiently<T>(&self, what: &str, mut ask: impl FnMut() -> Result<T, LogError>) -> Result<T, Failed> {
        self.wait(what, || match ask() {
            Err(LogError { kind: ErrorKind::Retry, .. }) => Ok(None),
            answer => Ok(Some(answer?)),
        })
    }

    /// Backlog of a group of this case, by partition.
    pub(super) fn backlog(&self, group: &str, topic: &CaseTopic) -> Result<Vec<u64>, Failed> {
        let mut backlog = self.patiently("backlog", || self.log().backlog(&self.name(group), &topic.name))?;
        backlog.sort_by_key(|of| of.partition);
        Ok(backlog.iter().map(|of| of.records).collect())
    }

    /// Bounds of one partition.
    pub(super) fn bounds(&self, partition: &TopicPartition) -> Result<OffsetBounds, Failed> {
        let bounds = self.patiently("bounds", || self.log().reader()?.bounds(std::slice::from_ref(partition)))?;
        bounds.first().copied().ok_or_else(|| Failed(format!("no bounds of {partition}")))
    }

    pub(super) fn partitions(&self, topic: &str) -> Result<Option<u32>, LogError> {
        Ok(self.log().topic(topic)?.map(|topic| topic.partitions))
    }

    /// Current records of a partition from an offset on.
    pub(super) fn read(&self, partition: &TopicPartition, from: u64) -> Result<Vec<InputRecord>, Failed> {
        let mut reader = self.patiently("reader", || self.log().reader())?;
        let (mut all, mut next) = (Vec::new(), from);
        loop {
            let (records, after) = self.patiently("answer", || reader.read(partition, next, 1_000))?;
            if records.is_empty() {
                return Ok(all);
            }
            next = after;
            all.extend(records);
        }
    }

    /// All records of a partition, once there are `count`.
    pub(super) fn read_all(&self, partition: &TopicPartition, count: usize) -> Result<Vec<InputRecord>, Failed> {
        self.wait(&format!("{count} records in {partition}"), || {
            let records = self.read(partition, 0)?;
            Ok((records.len() >= count).then_some(records))
        })
        .and_then(|records| {
            same(&format!("records in {partition}"), records.len(), count)?;
            Ok(records)
        })
    }

    /// Joins a group of this case. Members with the same instance name fence each other.
    pub(super) fn join(&self, input: &CaseTopic, group: &str, instance: &str) -> Result<Hand, Failed> {
        let spec = MemberSpec {
            group: self.name(group),
            input: input.name.to_string(),
            transactional_id: self.name(&format!("{group}-{instance}")),
        };
        let clock = self.clock();
        let deadline = self.harness.deadline();
        Ok(Hand { member: self.log().join(&spec)?, owned: BTreeSet::new(), seen: Vec::new(), clock, deadline })
    }
}

/// A member that starts its partitions at the committed position and keeps the records it sees.
pub(super) struct Hand {
    pub(super) member: Box<dyn Member>,
    pub(super) owned: BTreeSet<u32>,
    /// Records delivered and not taken yet.
    pub(super) seen: Vec<InputRecord>,
    clock: Arc<dyn Clock>,
    deadline: Duration,
}

impl Hand {
    /// Polls once and returns the events.
    pub(super) fn pump(&mut self, max_records: usize) -> Result<Vec<Event>, Failed> {
        let events = match self.member.poll(PollLimits::records(max_records), POLL) {
            Err(LogError { kind: ErrorKind::Retry, .. }) => Vec::new(),
            polled => polled?,
        };
        for event in &events {
            match event {
                Event::Assigned(partitions) => {
                    for &partition in partitions {
                        let from = self.committed(partition)?.unwrap_or(0);
                        self.member.start(partition, from)?;
                        ensure(self.owned.insert(partition), || format!("partition {partition} was assigned twice"))?;
                    }
                }
                Event::Revoked(partitions) => self.owned.retain(|partition| !partitions.contains(partition)),
                Event::Record(record) => {
                    let partition = record.partition;
                    ensure(self.owned.contains(&partition), || {
                        format!("a record of partition {partition}, not owned")
                    })?;
                    self.seen.push(record.clone());
                }
            }
        }
        Ok(events)
    }

    /// Polls until a condition on the member holds.
    pub(super) fn until(
        &mut self,
        what: &str,
        holds: impl Fn(&mut Self) -> Result<bool, Failed>,
    ) -> Result<(), Failed> {
        let began = self.clock.monotonic();
        while !holds(self)? {
            let waited = self.clock.monotonic().saturating_sub(began);
            ensure(waited < self.deadline, || {
                format!("no {what} in time: owns {:?}, saw {} records", self.owned, self.seen.len())
            })?;
            self.pump(1_000)?;
        }
        Ok(())
    }

    /// Polls until it owns `count` partitions.
    pub(super) fn own(&mut self, count: usize) -> Result<(), Failed> {
        self.until(&format!("{count} partitions"), |hand| Ok(hand.owned.len() == count))
    }

    /// Polls until it has seen `count` records, and takes exactly those.
    pub(super) fn take(&mut self, count: usize) -> Result<Vec<InputRecord>, Failed> {
        self.until(&format!("{count} records"), |hand| Ok(hand.seen.len() >= count))?;
        Ok(self.seen.drain(..count).collect())
    }

    /// Committed next offset of a partition.
    pub(super) fn committed(&mut self, partition: u32) -> Result<Option<u64>, Failed> {
        Ok(self.member.committed(&[partition])?.get(&partition).map(|position| position.next))
    }

    /// Commits records that belong to no task.
    pub(super) fn send(&mut self, outputs: Vec<OutputRecord>) -> Result<Receipt, LogError> {
        self.member.commit(&Commit { outputs, ..Commit::default() })
    }

    /// Commits positions and records as the work of these partitions.
    pub(super) fn commit(&mut self, positions: &[(u32, u64)], outputs: Vec<OutputRecord>) -> Result<Receipt, LogError> {
        let positions: BTreeMap<_, _> =
            positions.iter().map(|&(partition, next)| (partition, Position::at(next))).collect();
        self.member.commit(&Commit {
            tasks: positions.keys().copied().collect(),
            positions,
            outputs,
            ..Commit::default()
        })
    }

    /// Checks that a commit for a partition not owned is refused.
    pub(super) fn commit_in_vain(&mut self, outputs: Vec<OutputRecord>) -> Result<(), Failed> {
        let commit = Commit { tasks: [9_999].into(), outputs, ..Commit::default() };
        let Err(error) = self.member.commit(&commit) else {
            return Err(Failed("work of a partition that is not owned was committed".to_owned()));
        };
        same("what to do", error.kind, ErrorKind::Abort)
    }
}

/// Polls two members in turn until a condition on both holds.
pub(super) fn until_both(
    ground: &ConformanceFixture,
    one: &mut Hand,
    other: &mut Hand,
    what: &str,
    holds: impl Fn(&Hand, &Hand) -> bool,
) -> Result<(), Failed> {
    ground.wait(what, || {
        one.pump(1_000)?;
        other.pump(1_000)?;
        let twice: Vec<_> = one.owned.intersection(&other.owned).collect();
        ensure(twice.is_empty(), || format!("partitions {twice:?} belong to both members"))?;
        Ok(holds(one, other).then_some(()))
    })
}
