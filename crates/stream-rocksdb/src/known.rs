//! Small data needed all the time, cached in memory so that only reads of records and state go to the database.

use crate::directory::stop;
use crate::layout::{
    INCARNATION_OFFSETS, Incarnation, LogKey, Mark, PartitionId, decode_offset, decode_placed, decode_position,
    decode_topic,
};
use crate::rocks::Database;
use crate::transient::TransientRecords;
use rocksdb::{AsColumnFamilyRef, Direction, IteratorMode, ReadOptions};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use stream::{Cleanup, LogError, Position, TopicConfig, TopicPartition};

#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) topics: HashMap<Arc<str>, KnownTopic>,
    /// Next input positions by group.
    pub(crate) positions: HashMap<String, HashMap<PartitionId, Position>>,
    /// Reasons for jumps, by the incarnation that began with each.
    pub(crate) incarnations: BTreeMap<u32, Incarnation>,
}

#[derive(Clone, Debug)]
pub(crate) struct KnownTopic {
    pub(crate) id: u32,
    pub(crate) config: TopicConfig,
    pub(crate) partitions: Vec<KnownPartition>,
}

impl KnownTopic {
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self.config.cleanup, Cleanup::Transient { .. })
    }

    /// Its partitions, each with its id.
    pub(crate) fn identified_partitions(&self) -> impl Iterator<Item = (PartitionId, &KnownPartition)> {
        let partition_id = |partition: usize| PartitionId { topic: self.id, partition: partition as u32 };
        self.partitions.iter().enumerate().map(move |(number, partition)| (partition_id(number), partition))
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct KnownPartition {
    /// Unlike in the database, its `end` is always current.
    pub(crate) mark: Mark,
    /// Offsets never assigned, as (first, next) in ascending order: the gaps between incarnations.
    gaps: Vec<(u64, u64)>,
}

/// Why the contents of the database cannot be read.
pub(crate) enum DatabaseReadError {
    Failed(rocksdb::Error),
    Nonsense(String),
}

impl From<rocksdb::Error> for DatabaseReadError {
    fn from(error: rocksdb::Error) -> Self {
        Self::Failed(error)
    }
}

impl Known {
    /// Reads everything but records and state. New offsets come from the range of `incarnation`.
    pub(crate) fn load(
        database: &Database,
        records: &impl AsColumnFamilyRef,
        incarnation: u32,
    ) -> Result<Self, DatabaseReadError> {
        let mut known = Self::default();
        let mut marks = HashMap::new();
        for entry in database.iterator(IteratorMode::From(&[LogKey::TOPIC], Direction::Forward)) {
            let (key, value) = entry?;
            if crate::families::is_reserved(&key) {
                break;
            }
            known.take(&key, &value, &mut marks).ok_or_else(|| DatabaseReadError::nonsense(&key))?;
        }
        for topic in known.topics.values_mut() {
            for partition in 0..topic.config.partitions {
                let partition_id = PartitionId { topic: topic.id, partition };
                let mut mark = marks.remove(&partition_id).unwrap_or_default();
                // Records of transient topics that were in memory are gone. New ones begin where reading had come to.
                let consumed =
                    known.positions.values().filter_map(|positions| positions.get(&partition_id)).map(|at| at.next);
                mark.end = mark.end.max(consumed.max().unwrap_or(0));
                topic.partitions.push(KnownPartition::load(database, records, partition_id, mark, incarnation)?);
            }
        }
        Ok(known)
    }

    fn take(&mut self, key: &[u8], value: &[u8], marks: &mut HashMap<PartitionId, Mark>) -> Option<()> {
        match key[0] {
            LogKey::TOPIC => {
                let (id, config) = decode_topic(std::str::from_utf8(&key[1..]).ok()?, value)?;
                self.topics.insert(config.name.clone(), KnownTopic { id, config, partitions: Vec::new() });
            }
            LogKey::MARK => {
                marks.insert(decode_placed(key)?.0, Mark::decode(value)?);
            }
            LogKey::POSITION => {
                let (partition_id, group) = decode_placed(key)?;
                self.positions.entry(group.to_owned()).or_default().insert(partition_id, decode_position(value)?);
            }
            LogKey::INCARNATION => {
                self.incarnations.extend([Incarnation::decode(key, value)?]);
            }
            _ => return None,
        }
        Some(())
    }

    pub(crate) fn locate(&self, partition: &TopicPartition) -> Result<(PartitionId, &KnownPartition), LogError> {
        let topic = self.topics.get(&partition.topic);
        let held = topic.and_then(|topic| topic.partitions.get(partition.partition as usize));
        let (Some(topic), Some(held)) = (topic, held) else { return Err(unknown(partition)) };
        Ok((PartitionId { topic: topic.id, partition: partition.partition }, held))
    }

    /// The slowest stored position on a partition among all groups that ever committed; `None` if none did. `storing`
    /// is the position of a group that is about to be stored.
    pub(crate) fn slowest_position(
        &self,
        transient: &TransientRecords,
        partition_id: PartitionId,
        storing: Option<(&str, u64)>,
    ) -> Option<u64> {
        let others = self.positions.iter().filter(|(group, _)| storing.is_none_or(|(storing, _)| storing != *group));
        let stored = others.filter_map(|(group, positions)| {
            let committed = positions.get(&partition_id)?.next;
            Some(transient.stored_next(&(group.clone(), partition_id)).unwrap_or(committed))
        });
        stored.chain(storing.map(|(_, next)| next)).min()
    }

    pub(crate) fn partition_mut(&mut self, topic: &str, partition: u32) -> Option<&mut KnownPartition> {
        self.topics.get_mut(topic)?.partitions.get_mut(partition as usize)
    }
}

impl DatabaseReadError {
    pub(crate) fn nonsense(key: &[u8]) -> Self {
        Self::Nonsense(format!("the entry under {key:?} is unreadable"))
    }
}

impl KnownPartition {
    /// A partition of a new topic.
    pub(crate) fn new(incarnation: u32) -> Self {
        let first = first_of(incarnation);
        let gaps = if first == 0 { Vec::new() } else { vec![(0, first)] };
        Self { mark: Mark { end: first, ..Mark::default() }, gaps }
    }

    fn load(
        database: &Database,
        records: &impl AsColumnFamilyRef,
        partition_id: PartitionId,
        mut mark: Mark,
        incarnation: u32,
    ) -> Result<Self, DatabaseReadError> {
        let mut gaps = Vec::new();
        for number in 1..=incarnation {
            let first = first_of(number);
            if first <= mark.start {
                continue;
            }
            let before = end_of_records(database, records, partition_id, first)?;
            let from = before.max(first_of(number - 1)).max(mark.start);
            if from < first {
                gaps.push((from, first));
            }
        }
        mark.end = mark.end.max(end_of_records(database, records, partition_id, u64::MAX)?).max(first_of(incarnation));
        Ok(Self { mark, gaps })
    }

    /// Number of offsets from one up to, but not including, another that were assigned to records.
    pub(crate) fn given(&self, from: u64, to: u64) -> u64 {
        let overlap = |&(first, next): &(u64, u64)| next.min(to).saturating_sub(first.max(from));
        to.saturating_sub(from) - self.gaps.iter().map(overlap).sum::<u64>()
    }
}

fn first_of(incarnation: u32) -> u64 {
    u64::from(incarnation) * INCARNATION_OFFSETS
}

/// End of the records before an offset: the last one's offset plus one, or 0 if there are none.
fn end_of_records(
    database: &Database,
    records: &impl AsColumnFamilyRef,
    partition_id: PartitionId,
    before: u64,
) -> Result<u64, DatabaseReadError> {
    let mut options = ReadOptions::default();
    options.set_iterate_lower_bound(LogKey::Record(partition_id, 0).encode());
    let mut iterator = database.raw_iterator_cf_opt(records, options);
    iterator.seek_for_prev(LogKey::Record(partition_id, before.saturating_sub(1)).encode());
    let end = match iterator.key() {
        Some(key) => decode_offset(key).ok_or_else(|| DatabaseReadError::nonsense(key))? + 1,
        None => 0,
    };
    iterator.status()?;
    Ok(end)
}

pub(crate) fn unknown(partition: &TopicPartition) -> LogError {
    stop(format!("partition {partition} does not exist; create its topic first"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_that_were_never_given_are_not_counted() {
        let partition = KnownPartition { mark: Mark::default(), gaps: vec![(10, 100), (150, 200)] };
        assert_eq!(partition.given(0, 300), 10 + 50 + 100);
        assert_eq!(partition.given(0, 5), 5);
        assert_eq!(partition.given(20, 90), 0);
        assert_eq!(partition.given(20, 110), 10);
        assert_eq!(partition.given(160, 201), 1);
        assert_eq!(partition.given(300, 200), 0);
    }
}
