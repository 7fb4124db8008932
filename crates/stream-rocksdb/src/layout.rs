//! Binary layout of the embedded log's database. Integers are big-endian, so that ranges iterate in order.

use crate::fields::ByteFields;
use page::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use stream::{Cleanup, InputRecord, OutputRecord, Position, TopicConfig, TraceContext};

/// Column family of the records. Other data of the log is in the default family. Task state has one family for each
/// store of a stage, named by [`state_family`], with the entries of [`crate::table`].
pub(crate) const RECORDS: &str = "records";
/// Number of offsets per incarnation of the log: more than a partition takes in centuries.
pub(crate) const INCARNATION_OFFSETS: u64 = 1 << 40;

/// Name of the column family of a store.
pub(crate) fn state_family(stage: &str, store: &str) -> String {
    format!("{stage}/{store}")
}

/// The keys of the log database. The first byte of a key outside [`RECORDS`] is a stable ordinal.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LogKey<'a> {
    /// `1 ++ name` → [`encode_topic`]: id, partitions, cleanup. Never deleted; absent: no such topic.
    Topic(&'a str),
    /// `2 ++ topic id u32 ++ partition u32` → [`Mark`]. Written only by retention and compaction; absent: nothing was
    /// ever dropped from the partition, and its end follows from its last record.
    Mark(PartitionId),
    /// `3 ++ topic id u32 ++ partition u32 ++ group` → [`encode_position`]. Written by commits, never deleted; absent:
    /// the group never committed on the partition.
    Position(PartitionId, &'a str),
    /// `4 ++ number u32` → [`Incarnation`]. Written when offsets must jump; absent: they never jumped.
    Incarnation(u32),
    /// In [`RECORDS`]: `topic id u32 ++ partition u32 ++ offset u64` → [`StoredRecord`]. Kept until retention or
    /// compaction drops it; absent within the bounds: dropped.
    Record(PartitionId, u64),
}

/// A partition, with its topic as a small number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PartitionId {
    pub(crate) topic: u32,
    pub(crate) partition: u32,
}

impl LogKey<'_> {
    /// First byte of all topic keys.
    pub(crate) const TOPIC: u8 = 1;
    /// First byte of all mark keys.
    pub(crate) const MARK: u8 = 2;
    /// First byte of all position keys.
    pub(crate) const POSITION: u8 = 3;
    /// First byte of all incarnation keys.
    pub(crate) const INCARNATION: u8 = 4;

    pub(crate) fn encode(self) -> Vec<u8> {
        let placed = |first: &[u8], partition_id: PartitionId, rest: &[u8]| {
            [first, &partition_id.topic.to_be_bytes(), &partition_id.partition.to_be_bytes(), rest].concat()
        };
        match self {
            LogKey::Topic(name) => [&[Self::TOPIC], name.as_bytes()].concat(),
            LogKey::Mark(partition_id) => placed(&[Self::MARK], partition_id, &[]),
            LogKey::Position(partition_id, group) => placed(&[Self::POSITION], partition_id, group.as_bytes()),
            LogKey::Incarnation(number) => [&[Self::INCARNATION][..], &number.to_be_bytes()].concat(),
            LogKey::Record(partition_id, offset) => placed(&[], partition_id, &offset.to_be_bytes()),
        }
    }
}

/// Splits a mark or position key into its partition and, for a position, its group.
pub(crate) fn decode_placed(key: &[u8]) -> Option<(PartitionId, &str)> {
    let mut fields = ByteFields(key);
    fields.u8()?;
    let partition_id = PartitionId { topic: fields.u32()?, partition: fields.u32()? };
    Some((partition_id, std::str::from_utf8(fields.0).ok()?))
}

/// Offset in a record key.
pub(crate) fn decode_offset(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(key.get(8..)?.try_into().ok()?))
}

/// `next u64, note`.
pub(crate) fn encode_position(position: &Position) -> Vec<u8> {
    [&position.next.to_be_bytes()[..], position.note.as_bytes()].concat()
}

pub(crate) fn decode_position(bytes: &[u8]) -> Option<Position> {
    let mut fields = ByteFields(bytes);
    Some(Position { next: fields.u64()?, note: std::str::from_utf8(fields.0).ok()?.to_owned() })
}

/// Why offsets jumped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Incarnation {
    /// Number of writes known to be missing. There may be more after a power cut.
    pub(crate) missing: u64,
    /// Whether the jump was due to a possible power cut.
    pub(crate) power_cut: bool,
}

impl Incarnation {
    pub(crate) fn encode(self) -> Vec<u8> {
        [&self.missing.to_be_bytes()[..], &[u8::from(self.power_cut)]].concat()
    }

    /// Decodes the number in the key, and the value.
    pub(crate) fn decode(key: &[u8], value: &[u8]) -> Option<(u32, Self)> {
        let mut fields = ByteFields(value);
        let incarnation = Self { missing: fields.u64()?, power_cut: fields.u8()? == 1 };
        let number = u32::from_be_bytes(key.get(1..)?.try_into().ok()?);
        fields.finished((number, incarnation))
    }
}

/// Progress of retention and compaction on a partition; all zero before the first round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// First offset that may still be read.
    pub(crate) start: u64,
    /// End of the partition when the mark was written. It prevents reuse of offsets after the last records were
    /// dropped.
    pub(crate) end: u64,
    /// Below this offset, every key of a compacted topic has at most one record.
    pub(crate) cleaned_to: u64,
    /// Number of records below `cleaned_to`.
    pub(crate) kept: u64,
    /// Below this offset, everything was clean at `horizon_at`; tombstones there may be dropped some days later.
    pub(crate) horizon: u64,
    /// Time at which the horizon was set.
    pub(crate) horizon_at: Timestamp,
}

impl Mark {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let numbers = [self.start, self.end, self.cleaned_to, self.kept, self.horizon];
        let mut bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
        bytes.extend(self.horizon_at.as_micros().to_be_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut fields = ByteFields(bytes);
        let mark = Self {
            start: fields.u64()?,
            end: fields.u64()?,
            cleaned_to: fields.u64()?,
            kept: fields.u64()?,
            horizon: fields.u64()?,
            horizon_at: fields.timestamp()?,
        };
        fields.finished(mark)
    }
}

/// `id u32, partitions u32, largest record u32, cleanup u8 (0 compact; 1 delete by age; 2 delete by age or when
/// consumed; 3 transient: stable), retention u64 in µs`.
pub(crate) fn encode_topic(id: u32, topic: &TopicConfig) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(21);
    bytes.extend([id, topic.partitions, topic.max_message_bytes].iter().flat_map(|number| number.to_be_bytes()));
    let (cleanup, retention) = match topic.cleanup {
        Cleanup::Compact => (0, Duration::ZERO),
        Cleanup::Delete { retention, consumed } => (1 + u8::from(consumed), retention),
        Cleanup::Transient { retention } => (3, retention),
    };
    bytes.push(cleanup);
    bytes.extend(u64::try_from(retention.as_micros()).unwrap_or(u64::MAX).to_be_bytes());
    bytes
}

pub(crate) fn decode_topic(name: &str, bytes: &[u8]) -> Option<(u32, TopicConfig)> {
    let mut fields = ByteFields(bytes);
    let (id, partitions, max_message_bytes) = (fields.u32()?, fields.u32()?, fields.u32()?);
    let (cleanup, retention) = (fields.u8()?, Duration::from_micros(fields.u64()?));
    let cleanup = match cleanup {
        0 => Cleanup::Compact,
        1 | 2 => Cleanup::Delete { retention, consumed: cleanup == 2 },
        3 => Cleanup::Transient { retention },
        _ => return None,
    };
    fields.finished((id, TopicConfig { name: Arc::from(name), partitions, cleanup, max_message_bytes }))
}

/// A record, borrowed: `timestamp i64 in µs, kind u8, key length u32, key, trace context if it has one, value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoredRecord<'a> {
    pub(crate) timestamp: Timestamp,
    pub(crate) key: &'a [u8],
    pub(crate) value: Option<&'a [u8]>,
    pub(crate) trace: Option<TraceContext>,
}

impl<'a> StoredRecord<'a> {
    /// Bits of the kind: stable.
    const TOMBSTONE: u8 = 1;
    const TRACED: u8 = 2;

    pub(crate) fn of_output(record: &'a OutputRecord) -> Self {
        let OutputRecord { timestamp, key, value, trace, .. } = record;
        Self { timestamp: *timestamp, key, value: value.as_deref(), trace: trace.as_deref().copied() }
    }

    pub(crate) fn of_input(record: &'a InputRecord) -> Self {
        let InputRecord { timestamp, key, value, trace, .. } = record;
        Self { timestamp: *timestamp, key, value: value.as_deref(), trace: trace.as_deref().copied() }
    }

    pub(crate) fn encode(self, into: &mut Vec<u8>) {
        into.clear();
        into.extend(self.timestamp.as_micros().to_be_bytes());
        let tombstone = if self.value.is_none() { Self::TOMBSTONE } else { 0 };
        into.push(tombstone | if self.trace.is_some() { Self::TRACED } else { 0 });
        // A key of 4 GiB does not fit into memory anyway.
        into.extend((self.key.len() as u32).to_be_bytes());
        into.extend(self.key);
        if let Some(trace) = self.trace {
            into.extend(trace.to_bytes());
        }
        into.extend(self.value.unwrap_or_default());
    }

    pub(crate) fn decode(bytes: &'a [u8]) -> Option<Self> {
        let mut fields = ByteFields(bytes);
        let timestamp = fields.timestamp()?;
        let kind = fields.u8()?;
        let key_length = fields.u32()? as usize;
        let key = fields.take(key_length)?;
        let trace = match kind & Self::TRACED {
            0 => None,
            _ => Some(TraceContext::from_bytes(fields.array()?)?),
        };
        let value = match kind & !Self::TRACED {
            0 => Some(fields.0),
            Self::TOMBSTONE if fields.0.is_empty() => None,
            _ => return None,
        };
        Some(Self { timestamp, key, value, trace })
    }

    pub(crate) fn to_input(self, partition: u32, offset: u64) -> InputRecord {
        let (key, value) = (self.key.to_vec(), self.value.map(|value| value.to_vec().into()));
        InputRecord { partition, offset, timestamp: self.timestamp, key, value, trace: self.trace.map(Box::new) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use stream::TraceId;

    proptest! {
        #[test]
        fn what_was_encoded_comes_back(
            micros in any::<i64>(),
            key in proptest::collection::vec(any::<u8>(), 0..20),
            value in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..20)),
            numbers in any::<[u64; 5]>(),
            consumed in proptest::option::of(any::<bool>()),
        ) {
            let timestamp = Timestamp::from_micros(micros);
            let mut bytes = Vec::new();
            let trace = consumed.map(|_| TraceContext::begun(TraceId::of_record("topic", &key, b"")));
            let record = StoredRecord { timestamp, key: &key, value: value.as_deref(), trace };
            record.encode(&mut bytes);
            prop_assert_eq!(StoredRecord::decode(&bytes), Some(record));

            let [start, end, cleaned_to, kept, horizon] = numbers;
            let mark = Mark { start, end, cleaned_to, kept, horizon, horizon_at: timestamp };
            prop_assert_eq!(Mark::decode(&mark.encode()), Some(mark));

            let position = Position { next: numbers[0], note: "1.2".to_owned() };
            prop_assert_eq!(decode_position(&encode_position(&position)), Some(position));

            let incarnation = Incarnation { missing: numbers[0], power_cut: micros > 0 };
            let key = LogKey::Incarnation(7).encode();
            prop_assert_eq!(Incarnation::decode(&key, &incarnation.encode()), Some((7, incarnation)));

            let retention = Duration::from_micros(numbers[0]);
            let cleanup = consumed.map_or(Cleanup::Compact, |consumed| Cleanup::Delete { retention, consumed });
            for cleanup in [cleanup, Cleanup::Transient { retention }] {
                let topic = TopicConfig { name: "topic".into(), partitions: 3, cleanup, max_message_bytes: 7 };
                prop_assert_eq!(decode_topic("topic", &encode_topic(9, &topic)), Some((9, topic)));
            }
        }

        #[test]
        fn nonsense_is_refused_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = StoredRecord::decode(&bytes);
            let _ = Mark::decode(&bytes);
            let _ = decode_position(&bytes);
            let _ = Incarnation::decode(&bytes, &bytes);
            let _ = decode_topic("topic", &bytes);
            let _ = decode_placed(&bytes);
        }
    }

    #[test]
    fn the_layout_on_disk_is_as_documented() {
        let partition_id = PartitionId { topic: 1, partition: 2 };
        let check = |key: LogKey<'_>, expected: &[u8]| assert_eq!(key.encode(), expected, "{key:?}");
        check(LogKey::Incarnation(5), &[4, 0, 0, 0, 5]);
        check(LogKey::Topic("t"), b"\x01t");
        check(LogKey::Mark(partition_id), &[2, 0, 0, 0, 1, 0, 0, 0, 2]);
        check(LogKey::Position(partition_id, "g"), &[3, 0, 0, 0, 1, 0, 0, 0, 2, b'g']);
        check(LogKey::Record(partition_id, 3), &[0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3]);
        assert_eq!(decode_placed(&[3, 0, 0, 0, 1, 0, 0, 0, 2, b'g']), Some((partition_id, "g")));
        let mut bytes = Vec::new();
        let record = StoredRecord { timestamp: Timestamp::from_micros(5), key: b"k", value: None, trace: None };
        record.encode(&mut bytes);
        assert_eq!(bytes, [0, 0, 0, 0, 0, 0, 0, 5, 1, 0, 0, 0, 1, b'k']);
        let trace = TraceContext::begun(TraceId::of_record("t", b"k", b"v"));
        StoredRecord { trace: Some(trace), value: Some(b"v"), ..record }.encode(&mut bytes);
        let traced = [&[0, 0, 0, 0, 0, 0, 0, 5, 2, 0, 0, 0, 1, b'k'], &trace.to_bytes()[..], b"v"].concat();
        assert_eq!(bytes, traced);
    }
}
