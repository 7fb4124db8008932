//! Reads a topic as a stream that scripts can follow and resume.

use super::{Cursor, DecodedRecord, PageRecord, ReadBudget, Removals, decode};
use daemon::{CommandFailure, StopSignal, TopicReader};
use page::Timestamp;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How often a follower looks for pages that were forgotten meanwhile, while it has records to pass on.
const LOOK_AHEAD_EVERY: Duration = Duration::from_secs(2);
/// How often a wait looks at the stop signal.
const LOOK: Duration = Duration::from_millis(20);

/// Consumes records.
pub trait RecordSink<M> {
    /// Takes or skips a record. Returns whether it counts towards the limit.
    fn take(&mut self, record: TopicRecord<M>) -> Result<bool, CommandFailure>;

    /// No more records for now: flush the output.
    fn rest(&mut self) -> Result<(), CommandFailure>;

    /// Called before each look for a record, for takers that report how they are doing.
    fn looks(&mut self, _follower: &TopicFollower<M>) {}
}

/// Waits, at most until the stop signal.
pub(crate) fn pause(wait: Duration, stop: &StopSignal) {
    let end = Instant::now() + wait;
    while !stop.is_stopped() && Instant::now() < end {
        std::thread::sleep(LOOK.min(end.saturating_duration_since(Instant::now())));
    }
}

/// Where reading begins.
pub struct Start {
    /// `None`: at the first record that is kept.
    pub cursor: Option<Cursor>,
    /// The cursor's source as messages name it if the cursor does not fit this crawl: a flag, a file or an object.
    pub named: String,
}

/// Describes the topic to read.
pub struct FollowedTopic<M> {
    /// The word for several of its records.
    pub noun: &'static str,
    /// The setting for the retention of its records.
    pub retention: &'static str,
    /// Records read at a time per partition.
    pub batch: usize,
    /// The time by which records of several partitions are merged.
    pub moment: fn(&M) -> Timestamp,
}

/// A record with its position.
pub struct TopicRecord<M> {
    pub partition: u32,
    pub offset: u64,
    pub message: M,
    /// Cursor that resumes after this record.
    pub cursor: Cursor,
}

/// Reads all partitions. Records of one page come in order, others roughly in order of time.
pub struct TopicFollower<M> {
    reader: TopicReader,
    topic: FollowedTopic<M>,
    /// Next offset to read, per partition.
    read_to: Vec<u64>,
    /// Position after the last record passed on, per partition.
    passed_to: Cursor,
    waiting: Vec<VecDeque<(u64, M)>>,
    /// Per partition, the offset of a record whose schema is missing. Later records of the partition wait for it.
    held: Vec<Option<u64>>,
    /// Pages that were forgotten, per partition, by the records before `looked_to`.
    removals: Vec<Removals>,
    looked_to: Vec<u64>,
    looked_at: Instant,
    /// Whether it looks ahead for pages that were forgotten. Otherwise all records are passed on.
    hides: bool,
    /// Bound of what is read, if there is one.
    budget: Option<ReadBudget>,
    /// Records left out, because their pages were forgotten since.
    forgotten: u64,
    /// Records that retention deleted before they were read.
    lost: u64,
    /// Looks in a row that failed, and why the last one did.
    failures: u32,
    problem: Option<String>,
}

/// How far a partition was passed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartitionProgress {
    /// Everything before this offset was passed on.
    pub next: u64,
    /// Time of the record there, if it was read.
    pub oldest: Option<Timestamp>,
}

impl<M: PageRecord> TopicFollower<M> {
    /// Reads on from a position.
    pub fn open(mut reader: TopicReader, topic: FollowedTopic<M>, start: &Start) -> Result<Self, CommandFailure> {
        let named = &start.named;
        if reader.forgets_what_was_read() {
            let retention = topic.retention;
            eprintln!(
                "recrawl: these records are deleted as soon as the loop has read them; set {retention} to keep them"
            );
        }
        let partitions = reader.partitions() as usize;
        let mut from = start.cursor.clone().unwrap_or_else(|| Cursor(vec![0; partitions])).0;
        if from.len() != partitions {
            let problem = format!(
                "{named}: it has {} partitions, but this crawl has {partitions}; is it from another crawl?",
                from.len()
            );
            return Err(CommandFailure::Input(problem));
        }
        let mut lost = 0;
        for (partition, next) in (0..).zip(&mut from) {
            let bounds = reader.bounds(partition)?;
            if start.cursor.is_some() && *next < bounds.start {
                let (gone, retention) = (bounds.start - *next, topic.retention);
                lost += gone;
                eprintln!("recrawl: up to {gone} records after this cursor were deleted by retention ({retention})");
            }
            if *next > bounds.end {
                let problem = format!("{named}: it is ahead of this crawl; is it from another crawl?");
                return Err(CommandFailure::Input(problem));
            }
            *next = bounds.start.max(*next);
        }
        let waiting = from.iter().map(|_| VecDeque::new()).collect();
        let partitions = from.len();
        Ok(Self {
            reader,
            topic,
            passed_to: Cursor(from.clone()),
            looked_to: from.clone(),
            read_to: from,
            waiting,
            held: vec![None; partitions],
            removals: (0..partitions).map(|_| Removals::default()).collect(),
            looked_at: Instant::now(),
            hides: true,
            budget: None,
            forgotten: 0,
            lost,
            failures: 0,
            problem: None,
        })
    }

    /// Reads no more than a budget, and passes on also what was published of pages that were forgotten since. The caller hides
    /// them by a [`RemovalIndex`](super::RemovalIndex).
    #[must_use]
    pub fn within(self, budget: ReadBudget) -> Self {
        Self { hides: false, budget: Some(budget), ..self }
    }

    /// Whether it stopped because no more may be read.
    pub fn is_spent(&self) -> bool {
        self.budget.is_some_and(|budget| budget.is_spent())
    }

    /// How far each partition was passed on.
    pub fn progress(&self) -> Vec<PartitionProgress> {
        let partitions = self.waiting.iter().zip(&self.read_to);
        let progress = partitions.map(|(waiting, read_to)| match waiting.front() {
            Some((offset, message)) => PartitionProgress { next: *offset, oldest: Some((self.topic.moment)(message)) },
            None => PartitionProgress { next: *read_to, oldest: None },
        });
        progress.collect()
    }

    /// Records that retention deleted before they were read. An upper bound: offsets may have been no records.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Why the last look failed.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    pub(crate) fn noun(&self) -> &'static str {
        self.topic.noun
    }

    pub(crate) fn moment(&self) -> fn(&M) -> Timestamp {
        self.topic.moment
    }

    /// Whether the log is Kafka, which may be away for a while.
    pub(super) fn is_over_kafka(&self) -> bool {
        self.reader.is_over_kafka()
    }

    /// Looks in a row that failed.
    pub(super) fn failures(&self) -> u32 {
        self.failures
    }

    /// Refreshes the view of an embedded log, which is otherwise a snapshot.
    pub(super) fn refresh(&mut self) -> Result<(), CommandFailure> {
        self.looked_at = Instant::now();
        self.reader.refresh()
    }

    /// Learns every so often which pages were forgotten meanwhile. What waits to be passed on may be of such a page.
    pub(super) fn look_ahead_if_due(&mut self) -> Result<(), CommandFailure> {
        if self.looked_at.elapsed() < LOOK_AHEAD_EVERY || self.waiting.iter().all(VecDeque::is_empty) {
            return Ok(());
        }
        self.refresh()?;
        (0..self.waiting.len()).try_for_each(|partition| self.look_ahead(partition))
    }

    /// Learns from all further records of a partition which pages were forgotten.
    fn look_ahead(&mut self, partition: usize) -> Result<(), CommandFailure> {
        if !self.hides {
            return Ok(());
        }
        loop {
            let from = self.looked_to[partition].max(self.read_to[partition]);
            let (records, next) = self.reader.read(partition as u32, from, self.topic.batch)?;
            self.looked_to[partition] = next.max(from);
            if records.is_empty() {
                return Ok(());
            }
            for record in &records {
                self.removals[partition].note::<M>(record, None);
            }
        }
    }

    /// The first record that waits for its schema.
    pub fn waits_for(&self) -> Option<String> {
        let held = self.held.iter().enumerate().find_map(|(partition, held)| Some((partition, (*held)?)));
        held.map(|(partition, offset)| format!("the schema of record {partition}@{offset}"))
    }

    /// Notes a look that failed. The first failure is printed at once, the following ones when they get rare.
    pub(super) fn failed(&mut self, problem: String) {
        self.failures += 1;
        if self.failures.is_power_of_two() {
            eprintln!("recrawl: {problem}; waiting for the log");
        }
        self.problem = Some(problem);
    }

    pub(super) fn worked(&mut self) {
        if self.problem.take().is_some() {
            eprintln!("recrawl: the log works again after {} failures", std::mem::take(&mut self.failures));
        }
    }

    pub fn cursor(&self) -> &Cursor {
        &self.passed_to
    }

    /// Passes on the retained records before the start, partition by partition.
    pub fn look_back(&mut self, stop: &StopSignal, mut see: impl FnMut(u32, u64, M)) -> Result<(), CommandFailure> {
        for (partition, end) in (0..).zip(self.passed_to.0.clone()) {
            let mut next = self.reader.bounds(partition)?.start;
            while next < end && !stop.is_stopped() {
                let (records, after) = self.reader.read(partition, next, self.topic.batch)?;
                if records.is_empty() {
                    break;
                }
                next = after;
                for record in records.iter().filter(|record| record.offset < end) {
                    match decode(record) {
                        DecodedRecord::Message(message) => see(partition, record.offset, message),
                        DecodedRecord::Nothing => {}
                        DecodedRecord::Awaits(why) => eprintln!("recrawl: record {partition}@{}: {why}", record.offset),
                    }
                }
            }
        }
        Ok(())
    }

    /// The next record that is there, or none for now.
    ///
    /// # Errors
    /// Those of the log.
    #[allow(clippy::should_implement_trait, reason = "a later call may have a record again")]
    pub fn next(&mut self) -> Result<Option<TopicRecord<M>>, CommandFailure> {
        loop {
            for partition in 0..self.waiting.len() {
                self.fill(partition)?;
            }
            let moment = self.topic.moment;
            let heads = self.waiting.iter().enumerate().filter_map(|(partition, records)| {
                let (_, message) = records.front()?;
                Some((moment(message), partition))
            });
            let Some((_, partition)) = heads.min() else { return Ok(None) };
            let Some((offset, message)) = self.waiting[partition].pop_front() else { return Ok(None) };
            self.passed_to.0[partition] = offset + 1;
            if self.hides && self.removals[partition].hide(offset, &message) {
                self.forgotten += 1;
                continue;
            }
            return Ok(Some(TopicRecord {
                partition: partition as u32,
                offset,
                message,
                cursor: self.passed_to.clone(),
            }));
        }
    }

    /// Fetches more records for a partition whose queue is empty.
    fn fill(&mut self, partition: usize) -> Result<(), CommandFailure> {
        while self.waiting[partition].is_empty() {
            if self.is_spent() {
                return Ok(());
            }
            let from = self.read_to[partition];
            let (records, next) = self.reader.read(partition as u32, from, self.topic.batch)?;
            self.held[partition] = self.held[partition].filter(|_| !records.is_empty());
            let Some(first) = records.first() else {
                // There may have been markers of transactions.
                self.read_to[partition] = next.max(from);
                return Ok(());
            };
            if first.offset > from {
                self.report_gap(partition as u32, from)?;
            }
            self.read_to[partition] = next;
            if let Some(budget) = &mut self.budget {
                budget.spend(&records);
            }
            for record in &records {
                match decode(record) {
                    DecodedRecord::Message(message) => {
                        self.removals[partition].note(record, Some(&message));
                        self.waiting[partition].push_back((record.offset, message));
                    }
                    DecodedRecord::Nothing => self.removals[partition].note::<M>(record, None),
                    DecodedRecord::Awaits(why) => {
                        self.hold(partition, record.offset, &why);
                        return self.look_ahead(partition);
                    }
                }
            }
            self.held[partition] = None;
            self.look_ahead(partition)?;
        }
        Ok(())
    }

    /// Postpones a record whose schema is missing. Reports it once per record.
    fn hold(&mut self, partition: usize, offset: u64, why: &str) {
        self.read_to[partition] = offset;
        if self.held[partition].replace(offset) != Some(offset) {
            eprintln!("recrawl: waiting for a schema: record {partition}@{offset}: {why}");
        }
    }

    /// Checks at the end that no record still waits for its schema.
    pub(super) fn ended(&self) -> Result<(), CommandFailure> {
        if self.forgotten > 0 {
            let (forgotten, noun) = (self.forgotten, self.topic.noun);
            eprintln!("recrawl: {forgotten} {noun} left out, because their pages were forgotten since");
        }
        match self.held.iter().flatten().count() {
            0 => Ok(()),
            partitions => Err(CommandFailure::World(format!(
                "{partitions} partitions were not read to their end, because a schema is missing (see above); \
                 continue later with the last cursor"
            ))),
        }
    }

    /// Warns when retention deleted records before they were read, because the reader is too slow. Kafka skips offsets
    /// for other reasons too, so only offsets before the first retained one count.
    fn report_gap(&mut self, partition: u32, from: u64) -> Result<(), CommandFailure> {
        let gone = self.reader.bounds(partition)?.start.saturating_sub(from);
        if gone > 0 && !self.reader.forgets_what_was_read() {
            self.lost += gone;
            let retention = self.topic.retention;
            eprintln!(
                "recrawl: retention deleted up to {gone} records of partition {partition} before they were read \
                 ({retention})"
            );
        }
        Ok(())
    }
}
