//! Reading the broadcast topic, which every instance of a stage reads in full.

use super::StageRunner;
use crate::log::ErrorKind;
use crate::record::TopicPartition;
use crate::schemas::is_of_unknown_schema;
use crate::spec::StageWork;
use crate::task::TaskError;
use page::Timestamp;
use std::time::Duration;
use tracing::warn;

/// Time between two looks at the broadcast topic. A record there must count within the second.
const BROADCAST_EVERY: Duration = Duration::from_millis(200);
/// The same after a look that failed.
const REPEAT_AFTER: Duration = Duration::from_secs(2);
impl StageRunner {
    /// Reads the broadcast topic, if that is due. A stage that has nothing else to do by the clock would not.
    pub(super) fn take_while_in_flight(&mut self) -> Result<(), TaskError> {
        if matches!(self.spec.work, StageWork::InFlight(..)) && self.clock.monotonic() >= self.takes_broadcasts_at {
            let received = self.take_broadcast(self.clock.now())?;
            self.takes_broadcasts_at = self.clock.monotonic() + if received { BROADCAST_EVERY } else { REPEAT_AFTER };
        }
        Ok(())
    }

    /// Reads new records of the broadcast topic and passes them on: to every task, or to the work in flight. If the read
    /// fails, it returns false, and the next one catches up.
    pub(super) fn take_broadcast(&mut self, now: Timestamp) -> Result<bool, TaskError> {
        let Some(topic) = self.spec.broadcast.clone() else { return Ok(true) };
        if self.broadcast_partitions == 0 {
            self.broadcast_partitions = self.log.topic(&topic)?.map_or(0, |topic| topic.partitions);
        }
        let partitions = self.broadcast_partitions;
        for partition in 0..partitions {
            let from = TopicPartition::new(topic.as_str(), partition);
            loop {
                let Some(joined) = &mut self.joined else { return Ok(true) };
                let next = self.broadcast_next.entry(partition).or_default();
                let (records, after) = match joined.reader.read(&from, *next, self.settings.batch_records) {
                    Ok(read) => read,
                    Err(error) if error.kind == ErrorKind::Retry => {
                        warn!(
                            stage = self.spec.name,
                            error = error.message,
                            "reading the broadcast failed; trying again"
                        );
                        return Ok(false);
                    }
                    Err(error) => return Err(error.into()),
                };
                *next = after;
                if records.is_empty() {
                    break;
                }
                for record in records {
                    // Broadcast records are not held back, so their schema must be known when they are passed on.
                    if is_of_unknown_schema(&record) {
                        self.has_learned()?;
                    }
                    match self.engine() {
                        Some(engine) => engine.broadcast(&record),
                        None => {
                            self.notify_tasks(now, |processor, context| processor.broadcast(&record, context))?;
                            // Tasks that come later receive it, too.
                            self.broadcast_latest.insert(record.key.clone(), record);
                        }
                    }
                }
            }
        }
        Ok(true)
    }
}
