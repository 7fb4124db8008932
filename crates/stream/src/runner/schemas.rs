//! Schemas travel with the records: written before the first record that uses them, looked up when a reader meets a new
//! one.

use super::StageRunner;
use crate::log::ErrorKind;
use crate::protocol::wait_after;
use crate::record::InputRecord;
use crate::schemas::{SchemaReader, write_missing};
use crate::task::TaskError;
use std::collections::BTreeSet;
use std::time::Duration;
use tracing::warn;

/// A partition whose next record has a schema that has not arrived here.
pub(super) struct HeldPartition {
    pub(super) offset: u64,
    pub(super) reason: String,
    attempt: u32,
    retry_at: Duration,
    /// False once the record has been requested again.
    is_waiting: bool,
}

impl StageRunner {
    /// Learns the schemas of others and appends our missing ones.
    pub(super) fn exchange_schemas(&mut self) -> Result<(), TaskError> {
        let Some(schemas) = self.spec.schemas.clone() else { return Ok(()) };
        self.schemas = Some(SchemaReader::new(&schemas.topic));
        let reported = self.learn_schemas()?;
        Ok(write_missing(&*self.log, &schemas, &reported, self.clock.now())?)
    }

    /// Reads new records of the topic of schemas and returns their keys.
    pub(super) fn learn_schemas(&mut self) -> Result<BTreeSet<Vec<u8>>, TaskError> {
        let (Some(schemas), Some(joined)) = (&mut self.schemas, &mut self.joined) else { return Ok(BTreeSet::new()) };
        Ok(schemas.learn(|from, next, limit| joined.reader.read(from, next, limit))?)
    }

    /// Whether new schemas have arrived. A failed read counts as no.
    pub(super) fn has_learned(&mut self) -> Result<bool, TaskError> {
        match self.learn_schemas() {
            Ok(learned) => Ok(!learned.is_empty()),
            Err(TaskError::Log(error)) if error.kind == ErrorKind::Retry => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Stops taking records from a partition until its next record can be read.
    pub(super) fn hold(&mut self, record: &InputRecord, reason: String) {
        let (partition, offset) = (record.partition, record.offset);
        let attempt = self.held.get(&partition).filter(|held| held.offset == offset).map_or(0, |held| held.attempt) + 1;
        if attempt == 1 {
            warn!(stage = self.spec.name, partition, offset, reason, "waiting for a schema");
            self.health.update(|status| status.held_total += 1);
        }
        let retry_at = self.clock.monotonic() + wait_after(attempt);
        self.held.insert(partition, HeldPartition { offset, reason, attempt, retry_at, is_waiting: true });
    }

    /// Whether to skip records of a partition; they are delivered again later.
    pub(super) fn is_waiting(&self, partition: u32) -> bool {
        self.held.get(&partition).is_some_and(|held| held.is_waiting)
    }

    /// Retries held records that may be readable by now.
    pub(super) fn look_at_held(&mut self) -> Result<(), TaskError> {
        let monotonic = self.clock.monotonic();
        let is_due = |held: &HeldPartition| held.is_waiting && held.retry_at <= monotonic;
        if !self.held.values().any(is_due) {
            return Ok(());
        }
        self.has_learned()?;
        let joined = self.joined.as_mut().expect("a step has joined");
        for (&partition, held) in self.held.iter_mut().filter(|(_, held)| is_due(held)) {
            // Delivery restarts at the held record; everything before it is staged or committed.
            joined.member.start(partition, held.offset)?;
            held.is_waiting = false;
        }
        Ok(())
    }
}
