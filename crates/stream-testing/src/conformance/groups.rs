//! Ownership of partitions, and delivery of their records.

use super::ground::{ConformanceFixture, Failed, Hand, ensure, numbers, same, until_both, values};
use std::collections::BTreeSet;
use std::time::Duration;
use stream::log::{Commit, ErrorKind, Event, PollLimits};

pub(super) fn one_member_gets_every_partition(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 5)?;
    let mut member = ground.join(&topic, "group", "member")?;
    member.own(5)?;
    same("partitions", member.owned, (0..5).collect())
}

pub(super) fn nothing_is_delivered_before_start(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    ground.append(&topic.numbered(0, 3))?;
    let mut member = ground.join(&topic, "group", "member")?;
    let mut polls_after = 0;
    ground.wait("assignment", || {
        for event in member.member.poll(PollLimits::records(10), Duration::from_millis(20))? {
            match event {
                Event::Assigned(partitions) if !partitions.is_empty() => polls_after = 1,
                Event::Record(record) => return Err(Failed(format!("{record:?} came before start"))),
                _ => {}
            }
        }
        polls_after += u32::from(polls_after > 0);
        Ok((polls_after > 5).then_some(()))
    })?;
    member.owned.insert(0);
    member.member.start(0, 0)?;
    same("records", values(&member.take(3)?), numbers(0..3))
}

pub(super) fn two_members_share_fairly(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 5)?;
    for partition in 0..5 {
        ground.append(&topic.numbered(partition, 2))?;
    }
    let mut one = ground.join(&topic, "group", "one")?;
    one.own(5)?;
    one.take(10)?;
    let mut other = ground.join(&topic, "group", "other")?;
    until_both(ground, &mut one, &mut other, "fair shares", |one, other| {
        one.owned.len() + other.owned.len() == 5 && one.owned.len().abs_diff(other.owned.len()) == 1
    })?;
    // Moved partitions are delivered again to their new owner, since nothing was committed.
    let moved: BTreeSet<u32> = other.owned.clone();
    let records = other.take(2 * moved.len())?;
    same("partitions delivered", records.iter().map(|record| record.partition).collect(), moved)
}

pub(super) fn a_partition_is_given_back_before_it_is_given_on(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 4)?;
    let mut one = ground.join(&topic, "group", "one")?;
    one.own(4)?;
    let mut other = ground.join(&topic, "group", "other")?;
    let mut given_back: BTreeSet<u32> = BTreeSet::new();
    ground.wait("a share for the newcomer", || {
        // Poll the newcomer before the owner has learned of it.
        for event in other.pump(10)? {
            if let Event::Assigned(partitions) = event {
                let early: Vec<_> = partitions.iter().filter(|partition| !given_back.contains(*partition)).collect();
                ensure(early.is_empty(), || format!("partitions {early:?} were given on before they were given back"))?;
            }
        }
        for event in one.pump(10)? {
            if let Event::Revoked(partitions) = event {
                given_back.extend(partitions);
            }
        }
        Ok((other.owned.len() == 2).then_some(()))
    })
}

pub(super) fn a_leaving_member_gives_back(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 4)?;
    let mut one = ground.join(&topic, "group", "one")?;
    let mut other = ground.join(&topic, "group", "other")?;
    until_both(ground, &mut one, &mut other, "fair shares", |one, other| {
        one.owned.len() == 2 && other.owned.len() == 2
    })?;
    drop(one);
    other.own(4)
}

pub(super) fn a_commit_for_a_lost_partition_fails_and_is_invisible(
    ground: &mut ConformanceFixture,
) -> Result<(), Failed> {
    let (topic, output) = (ground.topic("topic", 2)?, ground.topic("output", 1)?);
    for partition in 0..2 {
        ground.append(&topic.numbered(partition, 2))?;
    }
    let mut one = ground.join(&topic, "group", "one")?;
    one.own(2)?;
    let records = one.take(4)?;
    let mut other = ground.join(&topic, "group", "other")?;
    until_both(ground, &mut one, &mut other, "fair shares", |one, other| {
        one.owned.len() == 1 && other.owned.len() == 1
    })?;
    let lost = *other.owned.first().ok_or_else(|| Failed("no partition".to_owned()))?;
    let next = records.iter().filter(|record| record.partition == lost).map(|record| record.offset + 1).max();
    let Err(error) = one.commit(&[(lost, next.unwrap_or_default())], vec![output.record(0, "key", "late")]) else {
        return Err(Failed("a position of a lost partition was committed".to_owned()));
    };
    ensure(matches!(error.kind, ErrorKind::Abort | ErrorKind::Rejoin), || format!("{error:?} is of the wrong kind"))?;
    same("position", other.committed(lost)?, None)?;
    drop(one);
    ground.append(&[output.record(0, "key", "last")])?;
    same("outputs", values(&ground.read_all(&output.at(0), 1)?), vec!["last".to_owned()])
}

pub(super) fn a_poll_gives_no_more_than_asked_for(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 2)?;
    ground.append(&topic.numbered(0, 10))?;
    ground.append(&topic.numbered(1, 10))?;
    let mut member = ground.join(&topic, "group", "member")?;
    ground.wait("all records", || {
        let events = member.pump(3)?;
        let records = events.iter().filter(|event| matches!(event, Event::Record(_))).count();
        ensure(records <= 3, || format!("{records} records instead of at most 3"))?;
        Ok((member.seen.len() >= 20).then_some(()))
    })?;
    for partition in 0..2 {
        let own: Vec<_> = member.seen.iter().filter(|record| record.partition == partition).cloned().collect();
        same("records", values(&own), numbers(0..10))?;
    }
    Ok(())
}

pub(super) fn a_long_backlog_does_not_hold_up_other_partitions(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 3)?;
    let mut member = ground.join(&topic, "group", "member")?;
    // Wait until then: each partition may need a connection to its own broker.
    member.own(3)?;
    (0..3).try_for_each(|partition| ground.append(&topic.numbered(partition, 1)))?;
    member.take(3)?;
    // One kibibyte each, because a log may deliver several small records of one partition at a time. In one
    // transaction, so that all become visible together.
    let record = |partition, number: u32| topic.record(partition, "key", &format!("{number:01024}"));
    let all = (0..2_000).flat_map(|number| (0..3).map(move |partition| (partition, number)));
    ground.append(&all.map(|(partition, number)| record(partition, number)).collect::<Vec<_>>())?;
    member.until("a record of every partition", |member| {
        let partitions: BTreeSet<u32> = member.seen.iter().map(|record| record.partition).collect();
        Ok(partitions.len() == 3)
    })?;
    // Polls of a thousand: three turns reach every partition; a log that drains one partition first needs five.
    ensure(member.seen.len() < 5_000, || {
        format!("{} records came before the last partition's first", member.seen.len())
    })
}

pub(super) fn an_idle_poll_comes_back_empty(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    let mut member = ground.join(&topic, "group", "member")?;
    member.own(1)?;
    let events = member.member.poll(PollLimits::records(10), Duration::from_millis(10))?;
    same("events", events, Vec::new())?;
    same("events without waiting", member.member.poll(PollLimits::records(10), Duration::ZERO)?, Vec::new())
}

pub(super) fn a_poll_without_room_keeps_the_records(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 2)?;
    ground.append(&topic.numbered(0, 5))?;
    let mut member = ground.join(&topic, "group", "member")?;
    let is_record = |event: &Event| matches!(event, Event::Record(_));
    let full = |member: &mut Hand| -> Result<(), Failed> {
        for _ in 0..20 {
            ensure(!member.pump(0)?.iter().any(is_record), || "a record came without room".to_owned())?;
        }
        Ok(())
    };
    full(&mut member)?;
    member.own(2)?;
    member.take(2)?;
    full(&mut member)?;
    same("records", values(&member.take(3)?), numbers(2..5))?;
    same("partitions", member.owned.len(), 2)
}

pub(super) fn a_full_member_receives_that_a_partition_is_taken(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 2)?;
    (0..2).try_for_each(|partition| ground.append(&topic.numbered(partition, 50)))?;
    let mut one = ground.join(&topic, "group", "one")?;
    one.own(2)?;
    let mut other = ground.join(&topic, "group", "other")?;
    ground.wait("a share for the newcomer", || {
        one.pump(0)?;
        other.pump(0)?;
        Ok((one.owned.len() == 1 && other.owned.len() == 1).then_some(()))
    })
}

pub(super) fn a_poll_stays_within_its_bytes(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    let record = |number| topic.record(0, "key", &format!("{number:01024}"));
    ground.append(&(0..40).map(record).collect::<Vec<_>>())?;
    let mut member = ground.join(&topic, "group", "member")?;
    member.own(1)?;
    ground.wait("all records", || {
        let limits = PollLimits { records: 1_000, bytes: 5_000 };
        let events = member.member.poll(limits, Duration::from_millis(20))?;
        let records: Vec<_> = events
            .into_iter()
            .filter_map(|event| if let Event::Record(record) = event { Some(record) } else { None })
            .collect();
        let bytes: usize = records.iter().map(stream::InputRecord::bytes).sum();
        ensure(bytes <= 5_000 + 1_030, || format!("{bytes} bytes instead of about 5,000"))?;
        member.seen.extend(records);
        Ok((member.seen.len() == 40).then_some(()))
    })
}

pub(super) fn work_of_a_lost_partition_is_refused_without_a_position_too(
    ground: &mut ConformanceFixture,
) -> Result<(), Failed> {
    let (topic, output) = (ground.topic("topic", 2)?, ground.topic("output", 1)?);
    let mut one = ground.join(&topic, "group", "one")?;
    one.own(2)?;
    let mut other = ground.join(&topic, "group", "other")?;
    until_both(ground, &mut one, &mut other, "fair shares", |one, other| {
        one.owned.len() == 1 && other.owned.len() == 1
    })?;
    let lost = *other.owned.first().ok_or_else(|| Failed("no partition".to_owned()))?;
    let outputs = vec![output.record(0, "key", "late")];
    let late = Commit { tasks: [lost].into(), outputs, ..Commit::default() };
    let Err(error) = one.member.commit(&late) else {
        return Err(Failed("work of a lost partition was committed".to_owned()));
    };
    ensure(matches!(error.kind, ErrorKind::Abort | ErrorKind::Rejoin), || format!("{error:?} is of the wrong kind"))?;
    ground.append(&[output.record(0, "key", "last")])?;
    same("outputs", values(&ground.read_all(&output.at(0), 1)?), vec!["last".to_owned()])
}
