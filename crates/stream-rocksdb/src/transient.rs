//! Records of transient topics, held in memory until every group has consumed them.
//!
//! A kill loses them. So the input positions committed with them are delayed: they are stored in the batch that stores
//! that the records were consumed. After a kill the input is processed again, and nothing is lost.

use crate::layout::PartitionId;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use stream::{InputRecord, OutputRecord, PollLimits, Position};

/// Most bytes held. Further records are stored as those of other topics are, until there is room again. They are more than
/// the bodies that the fetcher keeps by default (`fetch.memory`), which waits for the readers before that: a large record
/// that is stored takes its length again in the batch, in the write buffer, in the block cache and in its reader.
const HELD_BYTES: usize = 256 << 20;

/// The records of all transient topics.
#[derive(Debug, Default)]
pub(crate) struct TransientRecords {
    partitions: HashMap<PartitionId, Held>,
    bytes: usize,
    delayed: HashMap<PositionOf, Delayed>,
}

/// The group and the partition that a position belongs to.
pub(crate) type PositionOf = (String, PartitionId);

/// Positions not stored yet, oldest first.
#[derive(Debug, Default)]
struct Delayed {
    /// The stored next offset.
    stored_next: u64,
    queue: VecDeque<DelayedPosition>,
}

#[derive(Debug)]
pub(crate) struct DelayedPosition {
    pub(crate) position: Position,
    /// Ends of the records committed with it, by partition.
    pub(crate) waits_for: Vec<(PartitionId, u64)>,
}

/// A position to be stored, and how many of its queue it stands for.
#[derive(Debug)]
pub(crate) struct Matured {
    pub(crate) of: PositionOf,
    pub(crate) position: Position,
    count: usize,
}

/// The records of one partition.
#[derive(Debug, Default)]
struct Held {
    records: BTreeMap<u64, Arc<InputRecord>>,
    /// No offset from here on is stored in the database.
    stored_to: u64,
}

impl TransientRecords {
    /// Adds a partition of a transient topic, whose records below `stored_to` may be in the database.
    pub(crate) fn add(&mut self, partition_id: PartitionId, stored_to: u64) {
        let held = self.partitions.entry(partition_id).or_default();
        held.stored_to = held.stored_to.max(stored_to);
    }

    /// Whether the partition belongs to a transient topic.
    pub(crate) fn contains(&self, partition_id: PartitionId) -> bool {
        self.partitions.contains_key(&partition_id)
    }

    /// Bytes of further records that may be held.
    pub(crate) fn room(&self) -> usize {
        HELD_BYTES.saturating_sub(self.bytes)
    }

    pub(crate) fn hold(&mut self, partition_id: PartitionId, offset: u64, record: &OutputRecord) {
        let OutputRecord { timestamp, key, value, trace, .. } = record.clone();
        let input = InputRecord { partition: partition_id.partition, offset, timestamp, key, value, trace };
        self.bytes += record.bytes();
        self.partitions.entry(partition_id).or_default().records.insert(offset, Arc::new(input));
    }

    /// End of the offsets that may be in the database; 0 for other topics.
    pub(crate) fn stored_to(&self, partition_id: PartitionId) -> u64 {
        self.partitions.get(&partition_id).map_or(0, |held| held.stored_to)
    }

    /// Offset of the first record held.
    pub(crate) fn first(&self, partition_id: PartitionId) -> Option<u64> {
        self.partitions.get(&partition_id)?.records.keys().next().copied()
    }

    /// Records held between two offsets, within the limits.
    pub(crate) fn read(
        &self,
        partition_id: PartitionId,
        from: u64,
        to: u64,
        limits: PollLimits,
    ) -> Vec<Arc<InputRecord>> {
        let Some(held) = self.partitions.get(&partition_id).filter(|_| from < to) else { return Vec::new() };
        let records = held.records.range(from..to).map(|(_, record)| record);
        let count = limits.fitting(records.clone().map(|record| &**record));
        records.take(count).cloned().collect()
    }

    /// Drops the records of a partition below an offset.
    pub(crate) fn drop_below(&mut self, partition_id: PartitionId, offset: u64) {
        let Some(held) = self.partitions.get_mut(&partition_id) else { return };
        let rest = held.records.split_off(&offset);
        let dropped = std::mem::replace(&mut held.records, rest);
        self.bytes -= dropped.values().map(|record| record.bytes()).sum::<usize>();
    }

    /// Takes all records of a partition out, or of all partitions.
    pub(crate) fn take(&mut self, of: Option<PartitionId>) -> Vec<(PartitionId, Arc<InputRecord>)> {
        let mut taken = Vec::new();
        for (&partition_id, held) in
            self.partitions.iter_mut().filter(|(partition_id, _)| of.is_none_or(|of| of == **partition_id))
        {
            taken.extend(std::mem::take(&mut held.records).into_values().map(|record| (partition_id, record)));
        }
        self.bytes -= taken.iter().map(|(_, record)| record.bytes()).sum::<usize>();
        taken
    }

    /// Whether a position must wait for earlier ones.
    pub(crate) fn is_delayed(&self, of: &PositionOf) -> bool {
        self.delayed.contains_key(of)
    }

    /// The stored next offset of a position, if a newer one is delayed.
    pub(crate) fn stored_next(&self, of: &PositionOf) -> Option<u64> {
        self.delayed.get(of).map(|delayed| delayed.stored_next)
    }

    /// Delays a position. `stored_next` is the stored one, if this is the first.
    pub(crate) fn delay(&mut self, of: PositionOf, stored_next: u64, position: DelayedPosition) {
        let delayed = self.delayed.entry(of).or_insert_with(|| Delayed { stored_next, queue: VecDeque::new() });
        delayed.queue.push_back(position);
    }

    /// The positions to store, given up to which offset a partition is consumed.
    pub(crate) fn matured(&self, consumed_to: impl Fn(PartitionId) -> u64) -> Vec<Matured> {
        let is_consumed = |delayed: &DelayedPosition| {
            delayed.waits_for.iter().all(|(partition_id, end)| consumed_to(*partition_id) >= *end)
        };
        let matured = self.delayed.iter().filter_map(|(of, delayed)| {
            let count = delayed.queue.iter().take_while(|delayed| is_consumed(delayed)).count();
            let position = delayed.queue.get(count.checked_sub(1)?)?.position.clone();
            Some(Matured { of: of.clone(), position, count })
        });
        matured.collect()
    }

    /// Forgets positions that are stored now.
    pub(crate) fn stored(&mut self, matured: Vec<Matured>) {
        for Matured { of, position, count } in matured {
            let Some(delayed) = self.delayed.get_mut(&of) else { continue };
            delayed.queue.drain(..count);
            delayed.stored_next = position.next;
            if delayed.queue.is_empty() {
                self.delayed.remove(&of);
            }
        }
    }

    /// Removes a partition whose topic is not transient any more. Returns the records held.
    pub(crate) fn remove(&mut self, partition_id: PartitionId) -> Vec<(PartitionId, Arc<InputRecord>)> {
        let taken = self.take(Some(partition_id));
        self.partitions.remove(&partition_id);
        taken
    }
}
