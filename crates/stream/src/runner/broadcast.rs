//! Reading the broadcast topics, which every instance of a stage reads in full.

use super::StageRunner;
use crate::log::{ErrorKind, LogError};
use crate::record::{InputRecord, TopicPartition};
use crate::schemas::is_of_unknown_schema;
use crate::spec::StageWork;
use crate::task::TaskError;
use page::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;
use tracing::warn;
use wire::TopicName;

/// Time between two looks at the broadcast topics. A record there must count within the second.
const BROADCAST_EVERY: Duration = Duration::from_millis(200);
/// The same after a look that failed.
const REPEAT_AFTER: Duration = Duration::from_secs(2);

/// How far a runner has read its broadcast topics.
#[derive(Default)]
pub(super) struct Broadcasts {
    /// Number of partitions of each topic, once known.
    partitions: BTreeMap<TopicName, u32>,
    next: BTreeMap<(TopicName, u32), u64>,
    /// The latest record of each key, for tasks that begin later.
    latest: LatestBroadcasts,
    /// Whether all topics have been read to their ends once.
    are_known: bool,
    /// When a stage with work in flight reads them next, on the monotonic clock.
    due_at: Duration,
}

/// The latest records of the broadcast topics, by their keys.
pub(super) type LatestBroadcasts = BTreeMap<(TopicName, Vec<u8>), InputRecord>;

impl Broadcasts {
    pub(super) fn latest(&self) -> &LatestBroadcasts {
        &self.latest
    }
}

impl StageRunner {
    /// Reads the broadcast topics, if that is due. A stage that has nothing else to do by the clock would not.
    pub(super) fn take_while_in_flight(&mut self) -> Result<(), TaskError> {
        if matches!(self.spec.work, StageWork::InFlight(..)) && self.clock.monotonic() >= self.broadcasts.due_at {
            let received = self.take_broadcasts(self.clock.now())?;
            self.broadcasts.due_at = self.clock.monotonic() + if received { BROADCAST_EVERY } else { REPEAT_AFTER };
        }
        Ok(())
    }

    /// Reads the broadcast topics for the first time, so that no task begins without their records. Returns whether they are read.
    pub(super) fn know_broadcasts(&mut self, now: Timestamp) -> Result<bool, TaskError> {
        let is_due = !self.broadcasts.are_known && self.clock.monotonic() >= self.broadcasts.due_at;
        if is_due && !self.take_broadcasts(now)? {
            self.broadcasts.due_at = self.clock.monotonic() + REPEAT_AFTER;
        }
        Ok(self.broadcasts.are_known)
    }

    /// Reads new records of the broadcast topics and passes them on: to every task, or to the work in flight. If the read
    /// fails, it returns false, and the next one catches up.
    pub(super) fn take_broadcasts(&mut self, now: Timestamp) -> Result<bool, TaskError> {
        match self.read_broadcasts(now) {
            Ok(()) => {
                self.broadcasts.are_known = self.joined.is_some();
                Ok(true)
            }
            Err(TaskError::Log(error)) if error.kind == ErrorKind::Retry => {
                warn!(stage = self.spec.name, error = error.message, "reading a broadcast failed; trying again");
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    fn read_broadcasts(&mut self, now: Timestamp) -> Result<(), TaskError> {
        for index in 0..self.spec.broadcasts.len() {
            let topic = self.spec.broadcasts[index].clone();
            for partition in 0..self.partitions_of(topic.name, &topic.topic)? {
                let from = TopicPartition::new(topic.topic.as_str(), partition);
                loop {
                    let Some(joined) = &mut self.joined else { return Ok(()) };
                    let next = self.broadcasts.next.get(&(topic.name, partition)).copied().unwrap_or_default();
                    let (records, after) = joined.reader.read(&from, next, self.settings.batch_records)?;
                    let is_end = records.is_empty();
                    for record in records {
                        let behind = record.offset + 1;
                        self.pass_on(topic.name, record, now)?;
                        // One that was not passed on is read again.
                        self.broadcasts.next.insert((topic.name, partition), behind);
                    }
                    self.broadcasts.next.insert((topic.name, partition), after);
                    if is_end {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    fn partitions_of(&mut self, name: TopicName, topic: &str) -> Result<u32, LogError> {
        if let Some(&known) = self.broadcasts.partitions.get(&name) {
            return Ok(known);
        }
        let Some(topic) = self.log.topic(topic)? else {
            if !self.broadcasts.are_known {
                warn!(stage = self.spec.name, topic, "the topic does not exist; create it with recrawl topics create");
            }
            return Ok(0);
        };
        self.broadcasts.partitions.insert(name, topic.partitions);
        Ok(topic.partitions)
    }

    fn pass_on(&mut self, topic: TopicName, record: InputRecord, now: Timestamp) -> Result<(), TaskError> {
        // Broadcast records are not held back, so their schema must be known when they are passed on.
        if is_of_unknown_schema(&record) {
            self.learn_schemas()?;
        }
        if let Some(engine) = self.engine() {
            engine.broadcast(&record);
            return Ok(());
        }
        self.notify_tasks(now, |processor, context| processor.broadcast(topic, &record, context))?;
        // Tasks that come later receive it, too.
        self.broadcasts.latest.insert((topic, record.key.clone()), record);
        Ok(())
    }
}
