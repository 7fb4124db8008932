//! Reading and writing the embedded log.

use crate::EmbeddedBackend;
use crate::directory::stop;
use crate::known::{KnownPartition, KnownTopic};
use crate::layout::{
    INCARNATION_OFFSETS, Incarnation, LogKey, PartitionId, StoredRecord, encode_position, encode_topic, state_family,
};
use crate::table;
use crate::transient::{DelayedPosition, Matured};
use page::Timestamp;
use rocksdb::WriteBatch;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stream::inprocess;
use stream::{
    InputRecord, LogBackend, LogError, OffsetBounds, PollLimits, Position, StateIn, TaskWrites, TopicConfig,
    TopicPartition,
};

/// Maximum bytes of keys and values per read, unless a single record is larger.
const READ_BYTES: usize = 16 << 20;

impl EmbeddedBackend {
    /// Adds the writes of one task to a batch.
    fn add_state(&self, batch: &mut WriteBatch, task: &TaskWrites) -> Result<(), LogError> {
        let families = task.stores.iter().map(|store| self.family(&state_family(&task.task.stage, store)));
        let families = families.collect::<Result<Vec<_>, _>>()?;
        for write in &task.writes {
            let key = table::key(task.task.partition, &write.key);
            match &write.value {
                Some(value) => batch.put_cf(&families[write.store], key, value),
                None => batch.delete_cf(&families[write.store], key),
            }
        }
        Ok(())
    }

    /// Adds the positions of a commit to its batch, except those that must be delayed, and the delayed ones whose time
    /// has come. `is_volatile` says whether records of the commit are held in memory.
    fn add_positions(
        &self,
        batch: &mut WriteBatch,
        group: &str,
        positions: &[(PartitionId, Position)],
        is_volatile: bool,
    ) -> Delay {
        let (known, transient) = (self.known(), self.transient());
        let of_group = known.positions.get(group);
        let mut delay = Delay::default();
        let mut stored: HashMap<PartitionId, u64> = HashMap::new();
        for (partition_id, position) in positions {
            if is_volatile || transient.is_delayed(&(group.to_owned(), *partition_id)) {
                let before = of_group.and_then(|positions| positions.get(partition_id)).map_or(0, |before| before.next);
                delay.positions.push((*partition_id, before, position.clone()));
            } else {
                batch.put(LogKey::Position(*partition_id, group).encode(), encode_position(position));
                stored.insert(*partition_id, position.next);
            }
        }
        let consumed_to = |partition_id: PartitionId| {
            let storing = stored.get(&partition_id).map(|next| (group, *next));
            known.slowest_position(&transient, partition_id, storing).unwrap_or(0)
        };
        delay.matured = transient.matured(consumed_to);
        for matured in &delay.matured {
            let (group, partition_id) = &matured.of;
            batch.put(LogKey::Position(*partition_id, group).encode(), encode_position(&matured.position));
        }
        delay
    }

    /// Begins a new incarnation when a partition has used up the offsets of the current one.
    fn stay_within_incarnation(&self, batch: &mut WriteBatch, end: u64) {
        let present = self.incarnation.load(Ordering::Relaxed);
        let needed = u32::try_from(end / INCARNATION_OFFSETS).unwrap_or(u32::MAX);
        if needed > present {
            batch.put(LogKey::Incarnation(needed).encode(), Incarnation { missing: 0, power_cut: false }.encode());
            self.incarnation.store(needed, Ordering::Relaxed);
        }
    }
}

/// Positions that a commit does not store yet, and those of earlier commits that it stores.
#[derive(Default)]
struct Delay {
    /// Positions delayed, each with the next offset stored so far.
    positions: Vec<(PartitionId, u64, Position)>,
    /// Positions delayed earlier that are stored with this commit.
    matured: Vec<Matured>,
}

/// Stored and held records in the order of their offsets, within the limits.
fn merge<'a>(
    stored: Vec<InputRecord>,
    held: impl Iterator<Item = &'a Arc<InputRecord>>,
    limits: PollLimits,
) -> Vec<InputRecord> {
    let mut merged = stored;
    merged.extend(held.map(|record| (**record).clone()));
    merged.sort_by_key(|record| record.offset);
    merged.truncate(limits.fitting(&merged));
    merged
}

impl LogBackend for EmbeddedBackend {
    fn id(&self) -> Result<String, LogError> {
        Ok(self.log_id().to_owned())
    }

    fn state_in(&self) -> StateIn {
        StateIn::Log
    }

    fn topics(&self) -> Result<Vec<TopicConfig>, LogError> {
        Ok(self.known().topics.values().map(|topic| topic.config.clone()).collect())
    }

    fn create_topic(&self, topic: &TopicConfig) -> Result<(), LogError> {
        let mut known = self.known_mut();
        let existing = known.topics.get(&topic.name);
        if let Some(existing) = existing.filter(|existing| existing.config.partitions != topic.partitions) {
            let (name, partitions) = (&topic.name, existing.config.partitions);
            return Err(stop(format!(
                "topic {name} has {partitions} partitions, not {}, and the number cannot be changed; set \
                 log.partitions back, or start over in another data directory",
                topic.partitions
            )));
        }
        let id = match existing {
            Some(existing) if existing.config == *topic => return Ok(()),
            Some(existing) => existing.id,
            None => known.topics.values().map(|topic| topic.id + 1).max().unwrap_or(0),
        };
        let mut batch = WriteBatch::default();
        batch.put(LogKey::Topic(&topic.name).encode(), encode_topic(id, topic));
        self.write_batch(batch)?;
        let partition = KnownPartition::new(self.incarnation.load(Ordering::Relaxed));
        let partitions = vec![partition; topic.partitions as usize];
        let entry = known.topics.entry(topic.name.clone());
        let entry = entry.or_insert(KnownTopic { id, config: topic.clone(), partitions });
        entry.config = topic.clone();
        for (partition_id, partition) in entry.identified_partitions() {
            if entry.is_transient() {
                self.transient().add(partition_id, partition.mark.end);
            } else {
                let held = self.transient().remove(partition_id);
                self.store_held(held)?;
            }
        }
        Ok(())
    }

    fn bounds(&self, partition: &TopicPartition) -> Result<OffsetBounds, LogError> {
        let known = self.known();
        let mark = known.locate(partition)?.1.mark;
        Ok(OffsetBounds { start: mark.start, end: mark.end })
    }

    fn read(&self, partition: &TopicPartition, from: u64, limits: PollLimits) -> Result<Vec<InputRecord>, LogError> {
        let (partition_id, mark) = {
            let known = self.known();
            let (partition_id, held) = known.locate(partition)?;
            (partition_id, held.mark)
        };
        let mut records = Vec::new();
        if limits.records == 0 || limits.bytes == 0 {
            return Ok(records);
        }
        let limits = PollLimits { bytes: limits.bytes.min(READ_BYTES), ..limits };
        let (from, mut end, mut bytes) = (from.max(mark.start), mark.end, 0);
        let (held, stored_to) = {
            let transient = self.transient();
            let stored_to =
                if transient.contains(partition_id) { transient.stored_to(partition_id).min(end) } else { end };
            (transient.read(partition_id, from, end, limits), stored_to)
        };
        self.visit(partition_id, from, stored_to, true, |offset, record| {
            bytes += record.key.len() + record.value.map_or(0, <[u8]>::len);
            records.push(record.to_input(partition.partition, offset));
            let goes_on = records.len() < limits.records && bytes < limits.bytes;
            if !goes_on {
                end = offset + 1;
            }
            Ok(goes_on)
        })?;
        if !held.is_empty() {
            let stored = std::mem::take(&mut records);
            records = merge(stored, held.iter().filter(|record| record.offset < end), limits);
        }
        Ok(records)
    }

    fn count(&self, partition: &TopicPartition, from: u64) -> Result<u64, LogError> {
        let known = self.known();
        let (_, held) = known.locate(partition)?;
        Ok(held.given(from.max(held.mark.start), held.mark.end))
    }

    fn write(&self, changes: inprocess::WriteBatch<'_>) -> Result<(), LogError> {
        let mut batch = WriteBatch::default();
        let mut ends: HashMap<&TopicPartition, (PartitionId, u64)> = HashMap::new();
        let mut positions = Vec::with_capacity(changes.positions.len());
        let (mut held, mut spilled) = (Vec::new(), Vec::new());
        let mut bytes = 0;
        {
            let known = self.known();
            let family = self.records()?;
            let mut value = Vec::new();
            let transient = self.transient();
            let mut room = transient.room();
            for (offset, record) in changes.records {
                let (partition_id, end) = match ends.get_mut(&record.to) {
                    Some(found) => found,
                    None => ends.entry(&record.to).or_insert((known.locate(&record.to)?.0, 0)),
                };
                *end = offset + 1;
                if transient.contains(*partition_id) {
                    if record.bytes() <= room {
                        room -= record.bytes();
                        held.push((*partition_id, *offset, *record));
                        continue;
                    }
                    spilled.push((*partition_id, *end));
                }
                StoredRecord::of_output(record).encode(&mut value);
                bytes += value.len() as u64;
                batch.put_cf(&family, LogKey::Record(*partition_id, *offset).encode(), &value);
            }
            for (partition, position) in changes.positions {
                positions.push((known.locate(partition)?.0, position.clone()));
            }
        }
        let waits_for: HashMap<PartitionId, u64> =
            held.iter().map(|(partition_id, offset, _)| (*partition_id, offset + 1)).collect();
        let delayed = self.add_positions(&mut batch, changes.group, &positions, !waits_for.is_empty());
        changes.state.iter().try_for_each(|task| self.add_state(&mut batch, task))?;
        self.stay_within_incarnation(&mut batch, ends.values().map(|(_, end)| *end).max().unwrap_or(0));
        if !batch.is_empty() {
            self.write_batch(batch)?;
        }
        self.unmaintained_bytes.fetch_add(bytes, Ordering::Relaxed);
        {
            let mut transient = self.transient();
            held.into_iter().for_each(|(partition_id, offset, record)| transient.hold(partition_id, offset, record));
            spilled.into_iter().for_each(|(partition_id, end)| transient.add(partition_id, end));
            transient.stored(delayed.matured);
            for (partition_id, stored_next, position) in delayed.positions {
                let waits_for = waits_for.iter().map(|(partition_id, end)| (*partition_id, *end)).collect();
                let position = DelayedPosition { position, waits_for };
                transient.delay((changes.group.to_owned(), partition_id), stored_next, position);
            }
        }
        let mut known = self.known_mut();
        for (partition, (_, end)) in ends {
            if let Some(held) = known.partition_mut(&partition.topic, partition.partition) {
                held.mark.end = end;
            }
        }
        let mut consumed: Vec<PartitionId> = positions.iter().map(|(partition_id, _)| *partition_id).collect();
        if !positions.is_empty() {
            known.positions.entry(changes.group.to_owned()).or_default().extend(positions);
        }
        // In one step for other threads: below the slowest position nothing is held.
        let mut transient = self.transient();
        consumed.retain(|partition_id| transient.contains(*partition_id));
        for partition_id in consumed {
            let everywhere = known.slowest_position(&transient, partition_id, None).unwrap_or(0);
            transient.drop_below(partition_id, everywhere);
        }
        Ok(())
    }

    fn committed(&self, group: &str, partition: &TopicPartition) -> Result<Option<Position>, LogError> {
        let known = self.known();
        let (partition_id, _) = known.locate(partition)?;
        Ok(known.positions.get(group).and_then(|positions| positions.get(&partition_id)).cloned())
    }

    fn maintain(&self, now: Timestamp) -> Result<(), LogError> {
        crate::maintain::maintain(self, now)
    }
}
