//! What the two kinds of database hold, byte by byte. Integers are big-endian, so that ranges iterate in order.

use page::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use stream::{Checkpoint, Cleanup, InputRecord, OutputRecord, TopicConfig};

/// Layout of the log database. Another number needs a migration.
pub(crate) const LOG_FORMAT: u32 = 1;
/// Column family of the records; everything else of the log is in the default one.
pub(crate) const RECORDS: &str = "records";
/// Key of a task's checkpoint, alone in the default family of its database. The stores have a family each, named after
/// them, with the processor's own keys and values. Value: [`encode_checkpoint`]. Lives as long as the database; absent:
/// nothing in it can be believed.
pub(crate) const CHECKPOINT: &[u8] = b"checkpoint";

/// The keys of the log database. The first byte of a key outside [`RECORDS`] is a stable ordinal.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LogKey<'a> {
    /// `0` → [`LOG_FORMAT`] as u32. Written when the database is made; absent: the database is new.
    Format,
    /// `1 ++ name` → [`encode_topic`]: id, partitions, how it forgets. Lives for ever; absent: no such topic.
    Topic(&'a str),
    /// `2 ++ topic id u32 ++ partition u32` → [`Mark`]. Written by retention and compaction only; absent: nothing was
    /// ever dropped from the partition, and its end follows from its last record.
    Mark(Place),
    /// `3 ++ topic id u32 ++ partition u32 ++ group` → next input offset, u64. Written by commits, lives for ever;
    /// absent: the group never committed on the partition.
    Position(Place, &'a str),
    /// In [`RECORDS`]: `topic id u32 ++ partition u32 ++ offset u64` → [`encode_record`]. Lives until retention or
    /// compaction drops it; absent within the bounds: dropped.
    Record(Place, u64),
}

/// A partition by the small number of its topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
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

    pub(crate) fn encode(self) -> Vec<u8> {
        let placed = |first: &[u8], place: Place, rest: &[u8]| {
            [first, &place.topic.to_be_bytes(), &place.partition.to_be_bytes(), rest].concat()
        };
        match self {
            LogKey::Format => vec![0],
            LogKey::Topic(name) => [&[Self::TOPIC], name.as_bytes()].concat(),
            LogKey::Mark(place) => placed(&[Self::MARK], place, &[]),
            LogKey::Position(place, group) => placed(&[Self::POSITION], place, group.as_bytes()),
            LogKey::Record(place, offset) => placed(&[], place, &offset.to_be_bytes()),
        }
    }
}

/// Splits a mark or position key into its partition and, for a position, its group.
pub(crate) fn decode_placed(key: &[u8]) -> Option<(Place, &str)> {
    let mut fields = Fields(key);
    fields.u8()?;
    let place = Place { topic: fields.u32()?, partition: fields.u32()? };
    Some((place, std::str::from_utf8(fields.0).ok()?))
}

/// Offset in a record key.
pub(crate) fn decode_offset(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(key.get(8..)?.try_into().ok()?))
}

/// How far a partition has been worn down. All zero for one that was never touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// First offset that may still be read.
    pub(crate) start: u64,
    /// The end at the time of writing: keeps offsets from being given again when the last records were dropped.
    pub(crate) end: u64,
    /// Below, every key of a compacted topic has at most one record.
    pub(crate) cleaned_to: u64,
    /// Number of records below `cleaned_to`.
    pub(crate) kept: u64,
    /// Below, everything was clean already at `horizon_at`; tombstones there have been seen long enough a day later.
    pub(crate) horizon: u64,
    /// When the horizon was set.
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
        let mut fields = Fields(bytes);
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
/// consumed: stable), retention u64 in µs`.
pub(crate) fn encode_topic(id: u32, topic: &TopicConfig) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(21);
    bytes.extend([id, topic.partitions, topic.max_message_bytes].iter().flat_map(|number| number.to_be_bytes()));
    let (cleanup, retention) = match topic.cleanup {
        Cleanup::Compact => (0, Duration::ZERO),
        Cleanup::Delete { retention, consumed } => (1 + u8::from(consumed), retention),
    };
    bytes.push(cleanup);
    bytes.extend(u64::try_from(retention.as_micros()).unwrap_or(u64::MAX).to_be_bytes());
    bytes
}

pub(crate) fn decode_topic(name: &str, bytes: &[u8]) -> Option<(u32, TopicConfig)> {
    let mut fields = Fields(bytes);
    let (id, partitions, max_message_bytes) = (fields.u32()?, fields.u32()?, fields.u32()?);
    let (cleanup, retention) = (fields.u8()?, Duration::from_micros(fields.u64()?));
    let cleanup = match cleanup {
        0 => Cleanup::Compact,
        1 | 2 => Cleanup::Delete { retention, consumed: cleanup == 2 },
        _ => return None,
    };
    fields.finished((id, TopicConfig { name: Arc::from(name), partitions, cleanup, max_message_bytes }))
}

/// `timestamp i64 in µs, kind u8 (0 value, 1 tombstone: stable), key length u32, key, value`.
pub(crate) fn encode_record(record: &OutputRecord, into: &mut Vec<u8>) {
    into.clear();
    into.extend(record.timestamp.as_micros().to_be_bytes());
    into.push(u8::from(record.value.is_none()));
    // A key of 4 GiB does not fit into any machine we run on.
    into.extend((record.key.len() as u32).to_be_bytes());
    into.extend(&record.key);
    into.extend(record.value.as_deref().unwrap_or_default());
}

/// A stored record, borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoredRecord<'a> {
    pub(crate) timestamp: Timestamp,
    pub(crate) key: &'a [u8],
    pub(crate) value: Option<&'a [u8]>,
}

impl<'a> StoredRecord<'a> {
    pub(crate) fn decode(bytes: &'a [u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        let timestamp = fields.timestamp()?;
        let kind = fields.u8()?;
        let key_length = fields.u32()? as usize;
        let key = fields.take(key_length)?;
        let value = match kind {
            0 => Some(fields.0),
            1 if fields.0.is_empty() => None,
            _ => return None,
        };
        Some(Self { timestamp, key, value })
    }

    pub(crate) fn to_input(self, partition: u32, offset: u64) -> InputRecord {
        let (key, value) = (self.key.to_vec(), self.value.map(<[u8]>::to_vec));
        InputRecord { partition, offset, timestamp: self.timestamp, key, value }
    }
}

/// `input_next, written_at` and per store `name length u16, name, changelog_next`; each number behind a byte that says
/// whether it is there. By name, because a newer version may have other stores.
pub(crate) fn encode_checkpoint(checkpoint: &Checkpoint, stores: &[String]) -> Vec<u8> {
    fn optional(bytes: &mut Vec<u8>, number: Option<u64>) {
        bytes.push(u8::from(number.is_some()));
        bytes.extend(number.unwrap_or_default().to_be_bytes());
    }
    let mut bytes = Vec::new();
    optional(&mut bytes, checkpoint.input_next);
    optional(&mut bytes, checkpoint.written_at.map(|at| at.as_micros() as u64));
    for (name, next) in stores.iter().zip(&checkpoint.changelog_next) {
        bytes.extend((name.len() as u16).to_be_bytes());
        bytes.extend(name.as_bytes());
        optional(&mut bytes, *next);
    }
    bytes
}

pub(crate) fn decode_checkpoint(bytes: &[u8], stores: &[String]) -> Option<Checkpoint> {
    let mut fields = Fields(bytes);
    let input_next = fields.optional()?;
    let written_at = fields.optional()?.map(|micros| Timestamp::from_micros(micros as i64));
    let mut changelog_next = vec![None; stores.len()];
    while !fields.0.is_empty() {
        let length = usize::from(fields.u16()?);
        let name = fields.take(length)?;
        let next = fields.optional()?;
        if let Some(store) = stores.iter().position(|store| store.as_bytes() == name) {
            changelog_next[store] = next;
        }
    }
    Some(Checkpoint { input_next, changelog_next, written_at })
}

/// Bytes being taken apart from the front; `None` when there are too few.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_be_bytes)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    fn timestamp(&mut self) -> Option<Timestamp> {
        self.array().map(i64::from_be_bytes).map(Timestamp::from_micros)
    }

    fn optional(&mut self) -> Option<Option<u64>> {
        let there = self.u8()?;
        let number = self.u64()?;
        (there <= 1).then_some((there == 1).then_some(number))
    }

    /// The value, when nothing is left over.
    fn finished<T>(&self, value: T) -> Option<T> {
        self.0.is_empty().then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use stream::TopicPartition;

    proptest! {
        #[test]
        fn what_was_encoded_comes_back(
            micros in any::<i64>(),
            key in proptest::collection::vec(any::<u8>(), 0..20),
            value in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..20)),
            numbers in any::<[u64; 5]>(),
            next in proptest::option::of(any::<u64>()),
            consumed in proptest::option::of(any::<bool>()),
        ) {
            let timestamp = Timestamp::from_micros(micros);
            let to = TopicPartition::new("topic", 1);
            let record = OutputRecord { to, timestamp, key: key.clone(), value: value.clone() };
            let mut bytes = Vec::new();
            encode_record(&record, &mut bytes);
            let expected = StoredRecord { timestamp, key: &key, value: value.as_deref() };
            prop_assert_eq!(StoredRecord::decode(&bytes), Some(expected));

            let [start, end, cleaned_to, kept, horizon] = numbers;
            let mark = Mark { start, end, cleaned_to, kept, horizon, horizon_at: timestamp };
            prop_assert_eq!(Mark::decode(&mark.encode()), Some(mark));

            let stores = ["pages".to_owned(), "hosts".to_owned()];
            let changelog_next = vec![next, None];
            let checkpoint = Checkpoint { input_next: next, changelog_next, written_at: Some(timestamp) };
            let bytes = encode_checkpoint(&checkpoint, &stores);
            prop_assert_eq!(decode_checkpoint(&bytes, &stores), Some(checkpoint));

            let retention = Duration::from_micros(numbers[0]);
            let cleanup = consumed.map_or(Cleanup::Compact, |consumed| Cleanup::Delete { retention, consumed });
            let topic = TopicConfig { name: "topic".into(), partitions: 3, cleanup, max_message_bytes: 7 };
            prop_assert_eq!(decode_topic("topic", &encode_topic(9, &topic)), Some((9, topic)));
        }

        #[test]
        fn nonsense_is_refused_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = StoredRecord::decode(&bytes);
            let _ = Mark::decode(&bytes);
            let _ = decode_checkpoint(&bytes, &["pages".to_owned()]);
            let _ = decode_topic("topic", &bytes);
            let _ = decode_placed(&bytes);
        }
    }

    #[test]
    fn a_checkpoint_finds_its_stores_by_name() {
        let written_at = Some(Timestamp::from_secs(1));
        let checkpoint = Checkpoint { input_next: Some(1), changelog_next: vec![Some(2), Some(3)], written_at };
        let bytes = encode_checkpoint(&checkpoint, &["pages".into(), "hosts".into()]);
        let read = decode_checkpoint(&bytes, &["hosts".into(), "sweeps".into(), "pages".into()]).unwrap();
        assert_eq!(read.changelog_next, [Some(3), None, Some(2)]);
    }

    #[test]
    fn the_layout_on_disk_is_as_released() {
        let place = Place { topic: 1, partition: 2 };
        let check = |key: LogKey<'_>, expected: &[u8]| assert_eq!(key.encode(), expected, "{key:?}");
        check(LogKey::Format, &[0]);
        check(LogKey::Topic("t"), b"\x01t");
        check(LogKey::Mark(place), &[2, 0, 0, 0, 1, 0, 0, 0, 2]);
        check(LogKey::Position(place, "g"), &[3, 0, 0, 0, 1, 0, 0, 0, 2, b'g']);
        check(LogKey::Record(place, 3), &[0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3]);
        assert_eq!(decode_placed(&[3, 0, 0, 0, 1, 0, 0, 0, 2, b'g']), Some((place, "g")));
        let mut bytes = Vec::new();
        let to = TopicPartition::new("t", 2);
        encode_record(
            &OutputRecord { to, timestamp: Timestamp::from_micros(5), key: b"k".into(), value: None },
            &mut bytes,
        );
        assert_eq!(bytes, [0, 0, 0, 0, 0, 0, 0, 5, 1, 0, 0, 0, 1, b'k']);
    }
}
