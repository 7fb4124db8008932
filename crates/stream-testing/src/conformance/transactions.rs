//! Transactions become visible as one unit, or never.

use super::ground::{ConformanceFixture, Failed, ensure, numbers, same, values};
use page::DAY;
use stream::log::ErrorKind;
use stream::{Cleanup, TopicConfig};

const KEPT: Cleanup = Cleanup::Delete { retention: DAY, consumed: false };

pub(super) fn aborted_work_is_never_visible(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    let mut writer = ground.join(&topic, "group", "writer")?;
    writer.own(1)?;
    writer.commit_in_vain(topic.numbered(0, 3))?;
    // A later record of another writer: if it is visible, the aborted ones would be too.
    ground.append(&[topic.record(0, "key", "last")])?;
    same("records", values(&ground.read_all(&topic.at(0), 1)?), vec!["last".to_owned()])
}

pub(super) fn after_an_abort_only_the_second_try_shows(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    let mut writer = ground.join(&topic, "group", "writer")?;
    writer.own(1)?;
    for round in 0..3 {
        writer.commit_in_vain(vec![topic.record(0, "key", "aborted")])?;
        writer.send(vec![topic.record(0, "key", &round.to_string())])?;
    }
    same("records", values(&ground.read_all(&topic.at(0), 3)?), numbers(0..3))
}

pub(super) fn a_record_larger_than_its_topic_takes_is_refused_with_the_rest(
    ground: &mut ConformanceFixture,
) -> Result<(), Failed> {
    let topic = ground.topic_of(TopicConfig { max_message_bytes: 1 << 20, ..ground.config("topic", 1, KEPT) })?;
    let mut writer = ground.join(&topic, "group", "writer")?;
    writer.own(1)?;
    let large = topic.record(0, "key", &"x".repeat(2 << 20));
    let Err(error) = writer.send(vec![topic.record(0, "key", "small"), large]) else {
        return Err(Failed("a record of 2 MiB was taken by a topic that allows 1 MiB".to_owned()));
    };
    same("what to do", error.kind, ErrorKind::Stop)?;
    ground.append(&[topic.record(0, "key", "last")])?;
    same("records", values(&ground.read_all(&topic.at(0), 1)?), vec!["last".to_owned()])
}

pub(super) fn outputs_alone_can_be_committed(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let (input, output) = (ground.topic("input", 1)?, ground.topic("output", 1)?);
    let mut member = ground.join(&input, "group", "member")?;
    member.own(1)?;
    member.send(output.numbered(0, 2))?;
    same("records", values(&ground.read_all(&output.at(0), 2)?), numbers(0..2))?;
    same("position", member.committed(0)?, None)
}

pub(super) fn an_empty_commit_changes_nothing(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    let mut writer = ground.join(&topic, "group", "writer")?;
    same("partitions in the receipt", writer.send(Vec::new())?.next_offsets.len(), 0)?;
    same("position", writer.committed(0)?, None)?;
    writer.send(topic.numbered(0, 1))?;
    ground.read_all(&topic.at(0), 1).map(|_| ())
}

pub(super) fn a_commit_spans_twenty_topics(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topics =
        (0..20).map(|number| ground.topic(&format!("topic-{number}"), 2)).collect::<Result<Vec<_>, Failed>>()?;
    let mut writer = ground.join(&topics[0], "group", "writer")?;
    writer.own(2)?;
    writer.commit_in_vain(topics.iter().map(|topic| topic.record(0, "key", "aborted")).collect())?;
    let first = topics.iter().map(|topic| topic.record(0, "key", "first"));
    let second = topics.iter().map(|topic| topic.record(1, "key", "second"));
    let receipt = writer.send(first.chain(second).collect())?;
    same("partitions in the receipt", receipt.next_offsets.len(), 40)?;
    for topic in &topics {
        same("partition 0", values(&ground.read_all(&topic.at(0), 1)?), vec!["first".to_owned()])?;
        same("partition 1", values(&ground.read_all(&topic.at(1), 1)?), vec!["second".to_owned()])?;
    }
    Ok(())
}

pub(super) fn ten_thousand_records_fit_into_a_transaction(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 2)?;
    let mut writer = ground.join(&topic, "group", "writer")?;
    let records = (0..10).flat_map(|_| (0..2).flat_map(|partition| topic.numbered(partition, 500)));
    let receipt = writer.send(records.collect())?;
    for partition in 0..2 {
        let records = ground.read_all(&topic.at(partition), 5_000)?;
        let expected: Vec<_> = (0..10).flat_map(|_| numbers(0..500)).collect();
        ensure(values(&records) == expected, || format!("records of partition {partition} are out of order"))?;
        same("next offset", receipt.next_offsets.get(&topic.at(partition)), Some(&(records[4_999].offset + 1)))?;
    }
    Ok(())
}

pub(super) fn a_receipt_parts_earlier_from_later_records(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 2)?;
    let mut writer = ground.join(&topic, "group", "writer")?;
    let receipt = writer.send(topic.numbered(0, 3))?;
    same("partitions in the receipt", receipt.next_offsets.keys().cloned().collect(), vec![topic.at(0)])?;
    let next = receipt.next_offsets[&topic.at(0)];
    ground.read_all(&topic.at(0), 3)?;
    same("records behind the receipt", ground.read(&topic.at(0), next)?.len(), 0)?;
    writer.send(vec![topic.record(0, "key", "later")])?;
    ground.read_all(&topic.at(0), 4)?;
    same("records behind the receipt", values(&ground.read(&topic.at(0), next)?), vec!["later".to_owned()])
}

pub(super) fn a_newer_member_of_the_same_name_fences_the_older(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    let mut older = ground.join(&topic, "group", "one")?;
    let mut newer = ground.join(&topic, "group", "one")?;
    let Err(error) = older.send(vec![topic.record(0, "key", "older")]) else {
        return Err(Failed("the older member could commit".to_owned()));
    };
    same("what to do", error.kind, ErrorKind::Fenced)?;
    // Nor can it start over.
    let again = older.send(vec![topic.record(0, "key", "older")]);
    ensure(again.is_err(), || "the older member could commit at a second try".to_owned())?;
    newer.send(vec![topic.record(0, "key", "newer")])?;
    same("records", values(&ground.read_all(&topic.at(0), 1)?), vec!["newer".to_owned()])
}
