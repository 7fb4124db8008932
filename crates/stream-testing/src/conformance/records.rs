//! Records: order, sizes, timestamps and visibility, for any writer and reader.

use super::ground::{ConformanceFixture, Failed, ensure, numbers, same, values};
use bytes::Bytes;
use page::DAY;
use stream::{Cleanup, OutputRecord, TopicPartition};
use stream::{TraceContext, TraceId};

pub(super) fn records_of_a_key_keep_their_order(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 4)?;
    for round in 0..5 {
        let records: Vec<_> = (0..40)
            .map(|number| topic.keyed(&format!("key {}", number % 8), &format!("{:02} {number:02}", round)))
            .collect();
        ground.append(&records)?;
    }
    for partition in 0..4 {
        let expected: usize = 5
            * (0..40)
                .filter(|number| topic.keyed(&format!("key {}", number % 8), "").to.partition == partition)
                .count();
        let records = ground.read_all(&topic.at(partition), expected)?;
        for key in 0..8 {
            let key = format!("key {key}");
            let own: Vec<_> = records.iter().filter(|record| record.key == key.as_bytes()).cloned().collect();
            let own = values(&own);
            ensure(own.is_sorted(), || format!("records of {key} came as {own:?}"))?;
        }
    }
    Ok(())
}

pub(super) fn offsets_rise(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    for _ in 0..5 {
        ground.append(&topic.numbered(0, 3))?;
    }
    let records = ground.read_all(&topic.at(0), 15)?;
    let offsets: Vec<_> = records.iter().map(|record| record.offset).collect();
    ensure(offsets.windows(2).all(|pair| pair[0] < pair[1]), || format!("offsets came as {offsets:?}"))
}

pub(super) fn partitions_are_independent(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 3)?;
    ground.append(&topic.numbered(2, 3))?;
    ground.append(&topic.numbered(0, 2))?;
    same("partition 2", values(&ground.read_all(&topic.at(2), 3)?), numbers(0..3))?;
    same("partition 0", values(&ground.read_all(&topic.at(0), 2)?), numbers(0..2))?;
    same("partition 1", ground.read(&topic.at(1), 0)?.len(), 0)
}

pub(super) fn timestamps_are_kept(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    let mut record = topic.record(0, "key", "value");
    // Kafka keeps whole milliseconds.
    record.timestamp = page::Timestamp::from_millis(ground.now().as_millis() - 1_234);
    ground.append(&[record.clone()])?;
    same("timestamp", ground.read_all(&topic.at(0), 1)?[0].timestamp, record.timestamp)
}

pub(super) fn the_trace_of_a_record_is_kept(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    let trace = TraceContext::begun(TraceId::of_record("topic", b"key", b"value"));
    let traced = |value: &str| OutputRecord { trace: Some(Box::new(trace)), ..topic.record(0, "key", value) };
    let tombstone = OutputRecord { value: None, ..traced("") };
    ground.append(&[topic.record(0, "key", "value"), traced("value"), traced(""), tombstone])?;
    let expected = [None, Some(trace), Some(trace), Some(trace)];
    for _ in 0..2 {
        let records = ground.read_all(&topic.at(0), 4)?;
        let traces: Vec<_> = records.iter().map(|record| record.trace.as_deref().copied()).collect();
        same("traces", traces, expected.to_vec())?;
        same("values", records.iter().filter(|record| record.value.is_some()).count(), 3)?;
        ground.reopen()?;
    }
    Ok(())
}

pub(super) fn a_missing_value_is_a_tombstone(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    let mut tombstone = topic.record(0, "key", "");
    tombstone.value = None;
    ground.append(&[topic.record(0, "key", "value"), tombstone])?;
    let records = ground.read_all(&topic.at(0), 2)?;
    same("tombstone", (&*records[1].key, &records[1].value), (b"key".as_slice(), &None))
}

pub(super) fn an_empty_key_and_an_empty_value_are_kept(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    ground.append(&[topic.record(0, "", "value"), topic.record(0, "key", "")])?;
    let records = ground.read_all(&topic.at(0), 2)?;
    same("empty key", (records[0].key.len(), &records[0].value), (0, &Some(Bytes::from("value"))))?;
    same("empty value", &records[1].value, &Some(Bytes::new()))
}

pub(super) fn keys_and_values_are_any_bytes(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    let bytes: Vec<u8> = (0..=255).collect();
    let mut record = topic.record(0, "", "");
    record.key = bytes.clone();
    record.value = Some(bytes.iter().rev().copied().collect());
    ground.append(&[record.clone()])?;
    let read = ground.read_all(&topic.at(0), 1)?.remove(0);
    same("bytes", (read.key, read.value), (record.key, record.value))
}

pub(super) fn a_value_of_a_mebibyte_passes(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    let mut record = topic.record(0, "key", "");
    // Bytes that compress badly.
    let value: Bytes = (0..1_u32 << 20).map(|number| (chance::spread_32(number) >> 13) as u8).collect();
    record.value = Some(value.clone());
    ground.append(&[topic.record(0, "key", "before"), record, topic.record(0, "key", "after")])?;
    let records = ground.read_all(&topic.at(0), 3)?;
    ensure(records[1].value == Some(value), || "the large value came back different".to_owned())?;
    same("record after it", &records[2].value, &Some(Bytes::from("after")))
}

pub(super) fn sixteen_partitions_each_keep_their_own(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 16)?;
    same("partitions", ground.partitions(&topic.name)?, Some(16))?;
    let records: Vec<_> = (0..16).map(|partition| topic.record(partition, "key", &partition.to_string())).collect();
    ground.append(&records)?;
    for partition in 0..16 {
        let read = ground.read_all(&topic.at(partition), 1)?;
        same("value", values(&read), vec![partition.to_string()])?;
        same("partition", read[0].partition, partition)?;
    }
    Ok(())
}

pub(super) fn a_reader_needs_no_group_and_goes_on_where_it_stopped(
    ground: &mut ConformanceFixture,
) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    let mut reader = ground.log().reader()?;
    let mut next = 0;
    for round in 0..3 {
        ground.append(&topic.numbered(0, 5))?;
        let mut seen = Vec::new();
        ground.wait(&format!("records of round {round}"), || {
            let (records, after) = reader.read(&topic.at(0), next, 2)?;
            ensure(records.len() <= 2, || format!("{} records instead of at most 2", records.len()))?;
            ensure(after >= next, || format!("the reader went back from {next} to {after}"))?;
            next = after;
            seen.extend(records);
            Ok((seen.len() >= 5).then_some(()))
        })?;
        same("records", values(&seen), numbers(0..5))?;
    }
    same("records after the end", reader.read(&topic.at(0), next, 10)?.0.len(), 0)
}

pub(super) fn bounds_frame_what_there_is(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 2)?;
    let empty = ground.bounds(&topic.at(0))?;
    same("size of an empty partition", empty.end - empty.start, 0)?;
    ground.append(&topic.numbered(0, 5))?;
    let records = ground.read_all(&topic.at(0), 5)?;
    let bounds = ground.wait("bounds that hold the records", || {
        let bounds = ground.bounds(&topic.at(0))?;
        Ok((bounds.end > records[4].offset).then_some(bounds))
    })?;
    ensure(bounds.start <= records[0].offset, || format!("bounds {bounds:?} miss the first record"))?;
    let other = ground.bounds(&topic.at(1))?;
    same("size of the other partition", other.end - other.start, 0)
}

pub(super) fn records_survive_a_restart(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 2)?;
    ground.append(&topic.numbered(1, 5))?;
    ground.reopen()?;
    same("partitions", ground.partitions(&topic.name)?, Some(2))?;
    let before = ground.read_all(&topic.at(1), 5)?;
    ground.append(&topic.numbered(1, 5))?;
    let after = ground.read_all(&topic.at(1), 10)?;
    same("records of before", &after[..5], &before[..])?;
    ensure(after[5].offset > after[4].offset, || "offsets began anew".to_owned())
}

pub(super) fn append_is_all_or_nothing(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    let mut records = topic.numbered(0, 3);
    records[1].to = topic.at(99);
    ensure(ground.log().append(&records).is_err(), || "a record went to a partition that does not exist".to_owned())?;
    ground.append(&[topic.record(0, "key", "good")])?;
    same("records", values(&ground.read_all(&topic.at(0), 1)?), vec!["good".to_owned()])
}

pub(super) fn unknown_topics_are_errors(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    let unknown = ground.name("unknown");
    same("partitions of an unknown topic", ground.partitions(&unknown)?, None)?;
    let mut record = topic.record(0, "key", "value");
    record.to = TopicPartition::new(unknown.as_str(), 0);
    let Err(error) = ground.log().append(&[record]) else {
        return Err(Failed("an unknown topic took a record".to_owned()));
    };
    ensure(error.message.contains(&unknown), || format!("the error does not name the topic: {error}"))?;
    let spec =
        stream::MemberSpec { group: ground.name("group"), input: unknown.clone(), transactional_id: ground.name("id") };
    ensure(ground.log().join(&spec).is_err(), || "a group was joined on an unknown topic".to_owned())?;
    same("partitions afterwards", ground.partitions(&unknown)?, None)
}

pub(super) fn making_topics_again_changes_nothing(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 2)?;
    ground.append(&topic.numbered(0, 3))?;
    // One existing and one missing topic in one call, twice.
    let cleanup = Cleanup::Delete { retention: DAY, consumed: false };
    let configs = ["topic", "more"].map(|name| ground.config(name, 2, cleanup));
    ground.log().create_topics(&configs)?;
    ground.log().create_topics(&configs)?;
    same("partitions", ground.partitions(&topic.name)?, Some(2))?;
    same("partitions of the other", ground.partitions(&configs[1].name)?, Some(2))?;
    same("records", values(&ground.read_all(&topic.at(0), 3)?), numbers(0..3))
}
