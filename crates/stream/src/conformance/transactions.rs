//! What is produced becomes visible as one unit, or never.

use super::ground::{Failed, Ground, ensure, numbers, same, values};
use crate::log::ErrorKind;

pub(super) fn nothing_is_visible_before_the_commit(ground: &mut Ground) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    let mut writer = ground.join(&topic, "group", "writer")?;
    writer.member.produce(topic.numbered(0, 3))?;
    same("records before the commit", ground.read(&topic.at(0), 0)?.len(), 0)?;
    writer.member.commit(&[])?;
    same("records", values(&ground.read_all(&topic.at(0), 3)?), numbers(0..3))
}

pub(super) fn aborted_work_is_never_visible(ground: &mut Ground) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    let mut writer = ground.join(&topic, "group", "writer")?;
    writer.member.produce(topic.numbered(0, 3))?;
    writer.member.abort()?;
    // A record of somebody else behind it: once that is visible, the aborted ones would be.
    ground.append(&[topic.record(0, "key", "last")])?;
    same("records", values(&ground.read_all(&topic.at(0), 1)?), vec!["last".to_owned()])
}

pub(super) fn after_an_abort_only_the_second_try_shows(ground: &mut Ground) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    let mut writer = ground.join(&topic, "group", "writer")?;
    for round in 0..3 {
        writer.member.produce(vec![topic.record(0, "key", "aborted")])?;
        writer.member.abort()?;
        writer.member.produce(vec![topic.record(0, "key", &round.to_string())])?;
        writer.member.commit(&[])?;
    }
    same("records", values(&ground.read_all(&topic.at(0), 3)?), numbers(0..3))
}

pub(super) fn outputs_alone_can_be_committed(ground: &mut Ground) -> Result<(), Failed> {
    let (input, output) = (ground.topic("input", 1)?, ground.topic("output", 1)?);
    let mut member = ground.join(&input, "group", "member")?;
    member.own(1)?;
    member.member.produce(output.numbered(0, 2))?;
    member.member.commit(&[])?;
    same("records", values(&ground.read_all(&output.at(0), 2)?), numbers(0..2))?;
    same("position", member.member.committed(0)?, None)
}

pub(super) fn an_empty_commit_changes_nothing(ground: &mut Ground) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    let mut writer = ground.join(&topic, "group", "writer")?;
    same("partitions in the receipt", writer.member.commit(&[])?.next_offsets.len(), 0)?;
    writer.member.abort()?;
    same("position", writer.member.committed(0)?, None)?;
    writer.member.produce(topic.numbered(0, 1))?;
    writer.member.commit(&[])?;
    ground.read_all(&topic.at(0), 1).map(|_| ())
}

pub(super) fn a_commit_spans_twenty_topics(ground: &mut Ground) -> Result<(), Failed> {
    let topics =
        (0..20).map(|number| ground.topic(&format!("topic-{number}"), 2)).collect::<Result<Vec<_>, Failed>>()?;
    let mut writer = ground.join(&topics[0], "group", "writer")?;
    writer.member.produce(topics.iter().map(|topic| topic.record(0, "key", "aborted")).collect())?;
    writer.member.abort()?;
    writer.member.produce(topics.iter().map(|topic| topic.record(0, "key", "first")).collect())?;
    writer.member.produce(topics.iter().map(|topic| topic.record(1, "key", "second")).collect())?;
    let receipt = writer.member.commit(&[])?;
    same("partitions in the receipt", receipt.next_offsets.len(), 40)?;
    for topic in &topics {
        same("partition 0", values(&ground.read_all(&topic.at(0), 1)?), vec!["first".to_owned()])?;
        same("partition 1", values(&ground.read_all(&topic.at(1), 1)?), vec!["second".to_owned()])?;
    }
    Ok(())
}

pub(super) fn ten_thousand_records_fit_into_a_transaction(ground: &mut Ground) -> Result<(), Failed> {
    let topic = ground.topic("topic", 2)?;
    let mut writer = ground.join(&topic, "group", "writer")?;
    for _ in 0..10 {
        let records: Vec<_> = (0..2).flat_map(|partition| topic.numbered(partition, 500)).collect();
        writer.member.produce(records)?;
    }
    let receipt = writer.member.commit(&[])?;
    for partition in 0..2 {
        let records = ground.read_all(&topic.at(partition), 5_000)?;
        let expected: Vec<_> = (0..10).flat_map(|_| numbers(0..500)).collect();
        ensure(values(&records) == expected, || format!("records of partition {partition} are out of order"))?;
        same("next offset", receipt.next_offsets.get(&topic.at(partition)), Some(&(records[4_999].offset + 1)))?;
    }
    Ok(())
}

pub(super) fn a_receipt_parts_earlier_from_later_records(ground: &mut Ground) -> Result<(), Failed> {
    let topic = ground.topic("topic", 2)?;
    let mut writer = ground.join(&topic, "group", "writer")?;
    writer.member.produce(topic.numbered(0, 3))?;
    let receipt = writer.member.commit(&[])?;
    same("partitions in the receipt", receipt.next_offsets.keys().cloned().collect(), vec![topic.at(0)])?;
    let next = receipt.next_offsets[&topic.at(0)];
    ground.read_all(&topic.at(0), 3)?;
    same("records behind the receipt", ground.read(&topic.at(0), next)?.len(), 0)?;
    writer.member.produce(vec![topic.record(0, "key", "later")])?;
    writer.member.commit(&[])?;
    ground.read_all(&topic.at(0), 4)?;
    same("records behind the receipt", values(&ground.read(&topic.at(0), next)?), vec!["later".to_owned()])
}

pub(super) fn a_newer_member_of_the_same_name_fences_the_older(ground: &mut Ground) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    let mut older = ground.join(&topic, "group", "one")?;
    older.member.produce(vec![topic.record(0, "key", "older")])?;
    let mut newer = ground.join(&topic, "group", "one")?;
    let Err(error) = older.member.commit(&[]) else {
        return Err(Failed("the older member could commit".to_owned()));
    };
    ensure(matches!(error.kind, ErrorKind::Rejoin | ErrorKind::Abort), || format!("{error:?} is of the wrong kind"))?;
    // Nor can it begin anew.
    let _ = older.member.abort();
    let again = older.member.produce(vec![topic.record(0, "key", "older")]).and_then(|()| older.member.commit(&[]));
    ensure(again.is_err(), || "the older member could commit at a second try".to_owned())?;
    newer.member.produce(vec![topic.record(0, "key", "newer")])?;
    newer.member.commit(&[])?;
    same("records", values(&ground.read_all(&topic.at(0), 1)?), vec!["newer".to_owned()])
}

pub(super) fn an_open_transaction_of_a_dead_member_is_lost(ground: &mut Ground) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    let mut dying = ground.join(&topic, "group", "one")?;
    dying.member.produce(vec![topic.record(0, "key", "lost")])?;
    drop(dying);
    let mut next = ground.join(&topic, "group", "one")?;
    next.member.produce(vec![topic.record(0, "key", "kept")])?;
    next.member.commit(&[])?;
    same("records", values(&ground.read_all(&topic.at(0), 1)?), vec!["kept".to_owned()])
}
