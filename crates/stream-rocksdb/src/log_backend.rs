//! Reading and writing the embedded log.

use crate::EmbeddedBackend;
use crate::directory::stop;
use crate::known::{KnownPartition, KnownTopic};
use crate::layout::{
    INCARNATION_OFFSETS, Incarnation, LogKey, PartitionId, encode_position, encode_record, encode_topic, state_family,
};
use crate::table;
use page::Timestamp;
use rocksdb::WriteBatch;
use std::collections::HashMap;
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
                "topic {name} has {partitions} partitions, not {}, and keys would move; set the old number again, or \
                 begin anew in another data directory",
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
        entry.or_insert(KnownTopic { id, config: topic.clone(), partitions }).config = topic.clone();
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
        let (limit, mut bytes) = (limits.bytes.min(READ_BYTES), 0);
        self.visit(partition_id, from.max(mark.start), mark.end, true, |offset, record| {
            bytes += record.key.len() + record.value.map_or(0, <[u8]>::len);
            records.push(record.to_input(partition.partition, offset));
            Ok(records.len() < limits.records && bytes < limit)
        })?;
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
        let mut bytes = 0;
        {
            let known = self.known();
            let family = self.records()?;
            let mut value = Vec::new();
            for (offset, record) in changes.records {
                let (partition_id, end) = match ends.get_mut(&record.to) {
                    Some(found) => found,
                    None => ends.entry(&record.to).or_insert((known.locate(&record.to)?.0, 0)),
                };
                encode_record(record, &mut value);
                bytes += value.len() as u64;
                batch.put_cf(&family, LogKey::Record(*partition_id, *offset).encode(), &value);
                *end = offset + 1;
            }
            for (partition, position) in changes.positions {
                let (partition_id, _) = known.locate(partition)?;
                batch.put(LogKey::Position(partition_id, changes.group).encode(), encode_position(position));
                positions.push((partition_id, position.clone()));
            }
        }
        changes.state.iter().try_for_each(|task| self.add_state(&mut batch, task))?;
        if batch.is_empty() {
            return Ok(());
        }
        self.stay_within_incarnation(&mut batch, ends.values().map(|(_, end)| *end).max().unwrap_or(0));
        self.write_batch(batch)?;
        self.unmaintained_bytes.fetch_add(bytes, Ordering::Relaxed);
        let mut known = self.known_mut();
        for (partition, (_, end)) in ends {
            if let Some(held) = known.partition_mut(&partition.topic, partition.partition) {
                held.mark.end = end;
            }
        }
        if !positions.is_empty() {
            known.positions.entry(changes.group.to_owned()).or_default().extend(positions);
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
