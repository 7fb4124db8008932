//! Reads a topic as a stream that scripts can follow and resume.

use crate::CommandFailure;
use crate::commands::SettingsArguments;
use crate::cursor::Cursor;
use crate::decoded::{DecodedRecord, decode};
use crate::topic_reader::TopicReader;
use clap::Args;
use daemon::StopSignal;
use messages::Message;
use page::Timestamp;
use settings::Settings;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant, UNIX_EPOCH};
use stream::protocol::wait_after;

/// Poll interval, in real time.
const FOLLOW_EVERY: Duration = Duration::from_millis(200);
/// How often a wait looks at the stop signal.
const LOOK: Duration = Duration::from_millis(20);

/// Selects a crawl and a part of its topic.
#[derive(Args, Debug)]
pub(crate) struct FollowArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    /// State directory of a `recrawl run`, which may be running.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Only records from this time on: 2026-11-21, 2026-11-21T08:00:00Z or Unix seconds.
    #[arg(long, value_name = "T", value_parser = moment)]
    since: Option<Timestamp>,
    /// Resumes after the record that had this cursor.
    #[arg(long, value_name = "C", conflicts_with = "since")]
    cursor: Option<Cursor>,
    /// Waits for more records, until stopped.
    #[arg(long)]
    follow: bool,
    /// Ends after this many records.
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
}

impl FollowArguments {
    /// The settings that name the crawl.
    pub(crate) fn settings(&self) -> Result<Settings, CommandFailure> {
        let data = self.data.as_ref().map(|path| path.display().to_string());
        self.settings.load(&[("crawl.data", data)])
    }

    /// Passes on the records one by one, until there are no more, `limit` is reached, or the signal stops it.
    pub(crate) fn each<M: Message>(
        &self,
        follower: &mut TopicFollower<M>,
        stop: &StopSignal,
        taker: &mut impl Take<M>,
    ) -> Result<(), CommandFailure> {
        let mut taken = 0;
        while !stop.is_stopped() && self.limit.is_none_or(|limit| taken < limit) {
            taker.turned(follower);
            let next = match follower.next() {
                // Brokers come back. What has worked before is no matter of settings.
                Err(CommandFailure::World(problem)) if self.follow && follower.reader.is_over_kafka() => {
                    follower.failed(problem);
                    pause(wait_after(follower.failures), stop);
                    continue;
                }
                next => next?,
            };
            follower.worked();
            match next {
                Some(record) => taken += u64::from(taker.take(record)?),
                None if !self.follow => {
                    taker.rest()?;
                    return follower.ended();
                }
                None => {
                    taker.rest()?;
                    std::thread::sleep(FOLLOW_EVERY);
                    follower.reader.refresh()?;
                }
            }
        }
        Ok(())
    }

    /// Whether `--cursor` was given.
    pub(crate) fn has_cursor(&self) -> bool {
        self.cursor.is_some()
    }

    /// Where reading begins, by the flags.
    pub(crate) fn start(&self) -> Start {
        Start { cursor: self.cursor.clone(), named: "--cursor".to_owned() }
    }

    /// Whether a record of this time is wanted.
    pub(crate) fn wants(&self, moment: Timestamp) -> bool {
        self.since.is_none_or(|since| moment >= since)
    }
}

/// Consumes records.
pub(crate) trait Take<M> {
    /// Takes or skips a record. Returns whether it counts towards the limit.
    fn take(&mut self, record: Followed<M>) -> Result<bool, CommandFailure>;

    /// No more records for now: flush the output.
    fn rest(&mut self) -> Result<(), CommandFailure>;

    /// Called before each look for a record, for takers that report how they are doing.
    fn turned(&mut self, _follower: &TopicFollower<M>) {}
}

/// Waits, at most until the stop signal.
pub(crate) fn pause(wait: Duration, stop: &StopSignal) {
    let end = Instant::now() + wait;
    while !stop.is_stopped() && Instant::now() < end {
        std::thread::sleep(LOOK.min(end.saturating_duration_since(Instant::now())));
    }
}

/// Where reading begins.
pub(crate) struct Start {
    /// `None`: at the first record that is kept.
    pub(crate) cursor: Option<Cursor>,
    /// The cursor's source as messages name it if the cursor does not fit this crawl: a flag, a file or an object.
    pub(crate) named: String,
}

/// Describes the topic to read.
pub(crate) struct Subject<M> {
    /// The setting for the retention of its records.
    pub(crate) retention: &'static str,
    /// Records read at a time per partition.
    pub(crate) batch: usize,
    /// The time by which records of several partitions are merged.
    pub(crate) moment: fn(&M) -> Timestamp,
}

/// A record with its position.
pub(crate) struct Followed<M> {
    pub(crate) partition: u32,
    pub(crate) offset: u64,
    pub(crate) message: M,
    /// Cursor that resumes after this record.
    pub(crate) cursor: Cursor,
}

/// Reads all partitions. Records of one page come in order, others roughly in order of time.
pub(crate) struct TopicFollower<M> {
    reader: TopicReader,
    subject: Subject<M>,
    /// Next offset to read, per partition.
    read_to: Vec<u64>,
    /// Position after the last record passed on, per partition.
    told_to: Cursor,
    waiting: Vec<VecDeque<(u64, M)>>,
    /// Per partition, the offset of a record whose schema is missing. Later records of the partition wait for it.
    held: Vec<Option<u64>>,
    /// Records that retention deleted before they were read.
    lost: u64,
    /// Looks in a row that failed, and why the last one did.
    failures: u32,
    problem: Option<String>,
}

/// How far a partition was passed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Everything before this offset was passed on.
    pub(crate) next: u64,
    /// Time of the record there, if it was read.
    pub(crate) oldest: Option<Timestamp>,
}

impl<M: Message> TopicFollower<M> {
    /// Reads on from a position.
    pub(crate) fn open(mut reader: TopicReader, subject: Subject<M>, start: &Start) -> Result<Self, CommandFailure> {
        let named = &start.named;
        if reader.forgets_what_was_read() {
            let retention = subject.retention;
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
                let (gone, retention) = (bounds.start - *next, subject.retention);
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
        let held = vec![None; from.len()];
        let told_to = Cursor(from.clone());
        Ok(Self { reader, subject, told_to, read_to: from, waiting, held, lost, failures: 0, problem: None })
    }

    /// How far each partition was passed on.
    pub(crate) fn progress(&self) -> Vec<Progress> {
        let partitions = self.waiting.iter().zip(&self.read_to);
        let progress = partitions.map(|(waiting, read_to)| match waiting.front() {
            Some((offset, message)) => Progress { next: *offset, oldest: Some((self.subject.moment)(message)) },
            None => Progress { next: *read_to, oldest: None },
        });
        progress.collect()
    }

    /// Records that retention deleted before they were read. An upper bound: offsets may have been no records.
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    /// Why the last look failed.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// The first record that waits for its schema.
    pub(crate) fn waits_for(&self) -> Option<String> {
        let held = self.held.iter().enumerate().find_map(|(partition, held)| Some((partition, (*held)?)));
        held.map(|(partition, offset)| format!("the schema of record {partition}@{offset}"))
    }

    /// Notes a look that failed. The first failure is printed at once, the following ones when they get rare.
    fn failed(&mut self, problem: String) {
        self.failures += 1;
        if self.failures.is_power_of_two() {
            eprintln!("recrawl: {problem}; waiting for the log");
        }
        self.problem = Some(problem);
    }

    fn worked(&mut self) {
        if self.problem.take().is_some() {
            eprintln!("recrawl: the log works again after {} failures", std::mem::take(&mut self.failures));
        }
    }

    pub(crate) fn cursor(&self) -> &Cursor {
        &self.told_to
    }

    /// Passes on the retained records before the start, partition by partition.
    pub(crate) fn look_back(
        &mut self,
        stop: &StopSignal,
        mut see: impl FnMut(u32, u64, M),
    ) -> Result<(), CommandFailure> {
        for (partition, end) in (0..).zip(self.told_to.0.clone()) {
            let mut next = self.reader.bounds(partition)?.start;
            while next < end && !stop.is_stopped() {
                let (records, after) = self.reader.read(partition, next, self.subject.batch)?;
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

    fn next(&mut self) -> Result<Option<Followed<M>>, CommandFailure> {
        for partition in 0..self.waiting.len() {
            self.fill(partition)?;
        }
        let moment = self.subject.moment;
        let heads = self.waiting.iter().enumerate().filter_map(|(partition, records)| {
            let (_, message) = records.front()?;
            Some((moment(message), partition))
        });
        let Some((_, partition)) = heads.min() else { return Ok(None) };
        let Some((offset, message)) = self.waiting[partition].pop_front() else { return Ok(None) };
        self.told_to.0[partition] = offset + 1;
        Ok(Some(Followed { partition: partition as u32, offset, message, cursor: self.told_to.clone() }))
    }

    /// Fetches more records for a partition whose queue is empty.
    fn fill(&mut self, partition: usize) -> Result<(), CommandFailure> {
        while self.waiting[partition].is_empty() {
            let from = self.read_to[partition];
            let (records, next) = self.reader.read(partition as u32, from, self.subject.batch)?;
            self.held[partition] = self.held[partition].filter(|_| !records.is_empty());
            let Some(first) = records.first() else {
                // There may have been markers of transactions.
                self.read_to[partition] = next.max(from);
                return Ok(());
            };
            if first.offset > from {
                self.tell_of_a_gap(partition as u32, from)?;
            }
            self.read_to[partition] = next;
            for record in &records {
                match decode(record) {
                    DecodedRecord::Message(message) => self.waiting[partition].push_back((record.offset, message)),
                    DecodedRecord::Nothing => {}
                    DecodedRecord::Awaits(why) => {
                        self.hold(partition, record.offset, &why);
                        return Ok(());
                    }
                }
            }
            self.held[partition] = None;
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
    fn ended(&self) -> Result<(), CommandFailure> {
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
    fn tell_of_a_gap(&mut self, partition: u32, from: u64) -> Result<(), CommandFailure> {
        let gone = self.reader.bounds(partition)?.start.saturating_sub(from);
        if gone > 0 && !self.reader.forgets_what_was_read() {
            self.lost += gone;
            let retention = self.subject.retention;
            eprintln!(
                "recrawl: retention deleted up to {gone} records of partition {partition} before they were read \
                 ({retention})"
            );
        }
        Ok(())
    }
}

fn moment(text: &str) -> Result<Timestamp, String> {
    if let Ok(seconds) = text.parse::<f64>() {
        return Ok(Timestamp::from_micros((seconds * 1e6) as i64));
    }
    let whole = if text.len() == "2026-11-21".len() { format!("{text}T00:00:00Z") } else { text.to_owned() };
    let moment = humantime::parse_rfc3339_weak(&whole)
        .map_err(|_| "give a day (2026-11-21), a time (2026-11-21T08:00:00Z) or Unix seconds".to_owned())?;
    let since = moment.duration_since(UNIX_EPOCH).map_err(|_| "give a time after 1970".to_owned())?;
    Ok(Timestamp::from_micros(since.as_micros() as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_may_be_days_times_or_seconds() {
        let day = Timestamp::from_secs(1_763_683_200);
        for text in ["2025-11-21", "2025-11-21T00:00:00Z", "2025-11-21 00:00:00", "1763683200"] {
            assert_eq!(moment(text), Ok(day), "{text}");
        }
        assert!(moment("yesterday").unwrap_err().contains("2026-11-21"));
    }
}
