//! Schemas travel with the records: written before the first record of their kind, looked up when a reader meets a new one.

use super::StageRunner;
use crate::log::ErrorKind;
use crate::protocol::wait_after;
use crate::record::{InputRecord, OutputRecord, TopicPartition};
use crate::task::TaskError;
use messages::schemas::SchemaRecord;
use std::collections::BTreeSet;
use std::time::Duration;
use tracing::warn;

/// Schemas read at a time.
const READ_RECORDS: usize = 1_000;

/// A partition whose next record is of a version whose schema has not arrived here.
pub(super) struct Held {
    pub(super) offset: u64,
    pub(super) reason: String,
    attempt: u32,
    retry_at: Duration,
    /// False while the record is on its way again.
    is_waiting: bool,
}

impl StageRunner {
    /// Learns what others have written, and writes what of ours is missing.
    pub(super) fn exchange_schemas(&mut self) -> Result<(), TaskError> {
        let Some(schemas) = self.spec.schemas.clone() else { return Ok(()) };
        self.schemas_next = 0;
        let known = self.learn_schemas()?;
        let to = TopicPartition::new(schemas.topic.as_str(), 0);
        let timestamp = self.clock.now();
        let record = |own: &SchemaRecord| {
            let (key, value) = (own.fingerprint.to_bytes().to_vec(), Some(own.json.as_bytes().to_vec()));
            OutputRecord { to: to.clone(), timestamp, key, value }
        };
        let missing: Vec<_> = schemas.own.iter().map(record).filter(|record| !known.contains(&record.key)).collect();
        if !missing.is_empty() {
            self.log.append(&missing)?;
        }
        Ok(())
    }

    /// Reads what is new on the topic of schemas. The keys of what was read.
    fn learn_schemas(&mut self) -> Result<BTreeSet<Vec<u8>>, TaskError> {
        let mut known = BTreeSet::new();
        let Some(schemas) = self.spec.schemas.clone() else { return Ok(known) };
        let from = TopicPartition::new(schemas.topic.as_str(), 0);
        loop {
            let next = self.schemas_next;
            let (records, after) = self.joined().reader.read(&from, next, READ_RECORDS)?;
            self.schemas_next = after;
            if records.is_empty() {
                return Ok(known);
            }
            for InputRecord { key, value, offset, .. } in records {
                let Some(value) = value else { continue };
                match messages::schemas::learn(&value, None) {
                    Ok(_) => _ = known.insert(key),
                    Err(error) => warn!(stage = self.spec.name, offset, %error, "a schema cannot be read"),
                }
            }
        }
    }

    /// Takes nothing further from a partition until its next record can be read.
    pub(super) fn hold(&mut self, record: &InputRecord, reason: String) {
        let (partition, offset) = (record.partition, record.offset);
        let attempt = self.held.get(&partition).filter(|held| held.offset == offset).map_or(0, |held| held.attempt) + 1;
        if attempt == 1 {
            warn!(stage = self.spec.name, partition, offset, reason, "waiting for a schema");
            self.health.update(|status| status.held_total += 1);
        }
        let retry_at = self.clock.monotonic() + wait_after(attempt);
        self.held.insert(partition, Held { offset, reason, attempt, retry_at, is_waiting: true });
    }

    /// Whether records of a partition are to be passed over. They are delivered again.
    pub(super) fn is_waiting(&self, partition: u32) -> bool {
        self.held.get(&partition).is_some_and(|held| held.is_waiting)
    }

    /// Looks whether records that are waited for can be read by now.
    pub(super) fn look_at_held(&mut self) -> Result<(), TaskError> {
        let monotonic = self.clock.monotonic();
        let is_due = |held: &Held| held.is_waiting && held.retry_at <= monotonic;
        if !self.held.values().any(is_due) {
            return Ok(());
        }
        match self.learn_schemas() {
            Ok(_) => {}
            Err(TaskError::Log(error)) if error.kind == ErrorKind::Retry => return Ok(()),
            Err(error) => return Err(error),
        }
        let joined = self.joined.as_mut().expect("a step has joined");
        for (&partition, held) in self.held.iter_mut().filter(|(_, held)| is_due(held)) {
            // Delivered again from there on; what came before is staged or committed.
            joined.member.start(partition, held.offset)?;
            held.is_waiting = false;
        }
        Ok(())
    }
}
