//! Positions, delivery and lag of a group.

use super::ground::{ConformanceFixture, Failed, ensure, numbers, same, values};
use std::collections::BTreeMap;
use stream::log::Commit;
use stream::position::{Position, note};

/// Maximum number of transaction markers a log may count as lag in these cases.
const MARKERS: u64 = 3;

pub(super) fn positions_alone_can_be_committed(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    ground.append(&topic.numbered(0, 3))?;
    let mut member = ground.join(&topic, "group", "member")?;
    let records = member.take(3)?;
    same("position", member.committed(0)?, None)?;
    let next = records[1].offset + 1;
    let receipt = member.commit(&[(0, next)], Vec::new())?;
    same("partitions in the receipt", receipt.next_offsets.len(), 0)?;
    same("position", member.committed(0)?, Some(next))
}

pub(super) fn after_an_abort_the_same_records_come_again(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let (topic, output) = (ground.topic("topic", 1)?, ground.topic("output", 1)?);
    ground.append(&topic.numbered(0, 5))?;
    let mut member = ground.join(&topic, "group", "member")?;
    let first = member.take(5)?;
    member.commit_in_vain(output.numbered(0, 5))?;
    member.member.start(0, first[0].offset)?;
    same("records the second time", member.take(5)?, first)
}

pub(super) fn delivery_starts_where_it_is_reported(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    ground.append(&topic.numbered(0, 10))?;
    let offsets: Vec<_> = ground.read_all(&topic.at(0), 10)?.iter().map(|record| record.offset).collect();
    let mut member = ground.join(&topic, "group", "member")?;
    member.own(1)?;
    for from in [7, 3, 9, 0] {
        member.seen.clear();
        member.member.start(0, offsets[from as usize])?;
        same("records", values(&member.take(10 - from as usize)?), numbers(from..10))?;
    }
    Ok(())
}

pub(super) fn uncommitted_records_come_again_to_the_next_member(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 2)?;
    ground.append(&topic.numbered(0, 5))?;
    ground.append(&topic.numbered(1, 5))?;
    let mut member = ground.join(&topic, "group", "one")?;
    member.take(10)?;
    drop(member);
    let mut next = ground.join(&topic, "group", "other")?;
    let mut records = next.take(10)?;
    records.sort_by_key(|record| (record.partition, record.offset));
    same("records", values(&records), [numbers(0..5), numbers(0..5)].concat())
}

pub(super) fn a_committed_position_survives_leaving(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    ground.append(&topic.numbered(0, 10))?;
    let mut member = ground.join(&topic, "group", "one")?;
    let next = member.take(10)?[4].offset;
    member.commit(&[(0, next)], Vec::new())?;
    drop(member);
    let mut other = ground.join(&topic, "group", "other")?;
    same("records", values(&other.take(6)?), numbers(4..10))?;
    same("position", other.committed(0)?, Some(next))
}

pub(super) fn a_committed_position_survives_a_restart(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    ground.append(&topic.numbered(0, 10))?;
    let mut member = ground.join(&topic, "group", "one")?;
    let next = member.take(10)?[4].offset;
    member.commit(&[(0, next)], Vec::new())?;
    drop(member);
    ground.reopen()?;
    let mut member = ground.join(&topic, "group", "one")?;
    same("records", values(&member.take(6)?), numbers(4..10))
}

pub(super) fn aborted_positions_do_not_move(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    ground.append(&topic.numbered(0, 3))?;
    let mut member = ground.join(&topic, "group", "member")?;
    let records = member.take(3)?;
    member.commit(&[(0, records[0].offset + 1)], Vec::new())?;
    member.commit_in_vain(vec![topic.record(0, "key", "aborted")])?;
    same("position", member.committed(0)?, Some(records[0].offset + 1))
}

pub(super) fn groups_do_not_disturb_each_other(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 2)?;
    ground.append(&topic.numbered(0, 5))?;
    let mut one = ground.join(&topic, "one", "member")?;
    let mut other = ground.join(&topic, "other", "member")?;
    let last = one.take(5)?[4].offset;
    one.commit(&[(0, last + 1)], Vec::new())?;
    same("records", values(&other.take(5)?), numbers(0..5))?;
    same("position", other.committed(0)?, None)?;
    one.own(2)?;
    other.own(2)
}

pub(super) fn a_note_is_kept_with_its_position(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 2)?;
    ground.append(&topic.numbered(0, 9))?;
    let mut member = ground.join(&topic, "group", "member")?;
    member.own(2)?;
    let records = member.take(9)?;
    let next = records[2].offset;
    let noted = Position { next, note: note(next, [records[4].offset, records[5].offset, records[8].offset]) };
    let positions: BTreeMap<u32, Position> = [(0, noted.clone())].into();
    member.member.commit(&Commit { tasks: [0].into(), positions: positions.clone(), ..Commit::default() })?;
    same("positions", member.member.committed(&[0, 1])?, positions)?;
    drop(member);
    let mut next = ground.join(&topic, "group", "other")?;
    same("positions for the next", next.member.committed(&[0])?.remove(&0), Some(noted))
}

pub(super) fn the_backlog_counts_what_is_not_committed_and_says_how_old_it_is(
    ground: &mut ConformanceFixture,
) -> Result<(), Failed> {
    let topic = ground.topic("topic", 2)?;
    ground.append(&topic.numbered(0, 10))?;
    let about = |backlog: &[u64], expected: u64| {
        backlog.len() == 2 && (expected..=expected + MARKERS).contains(&backlog[0]) && backlog[1] == 0
    };
    // No member has ever joined the group.
    ground.wait("a backlog of 10", || Ok(about(&ground.backlog("group", &topic)?, 10).then_some(())))?;
    let mut member = ground.join(&topic, "group", "member")?;
    let records = member.take(10)?;
    member.commit(&[(0, records[6].offset)], Vec::new())?;
    ground.wait("a backlog of 4", || Ok(about(&ground.backlog("group", &topic)?, 4).then_some(())))?;
    drop(member);
    ground.wait("a backlog of 4 without members", || Ok(about(&ground.backlog("group", &topic)?, 4).then_some(())))?;
    let backlog = ground.log().backlog(&ground.name("group"), &topic.name)?;
    same("time of the first", backlog[0].oldest, Some(records[6].timestamp))?;
    same("time where there is none", backlog[1].oldest, None)
}

pub(super) fn the_backlog_is_zero_when_all_is_committed(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 2)?;
    for _ in 0..3 {
        ground.append(&topic.numbered(0, 3))?;
        ground.append(&topic.numbered(1, 3))?;
    }
    let mut member = ground.join(&topic, "group", "member")?;
    let records = member.take(18)?;
    let last = |partition| records.iter().filter(|record| record.partition == partition).map(|r| r.offset).max();
    let next = |partition| last(partition).map_or(0, |offset| offset + 1);
    member.commit(&[(0, next(0)), (1, next(1))], Vec::new())?;
    // Idle polls must suffice for a log to move past transaction markers.
    member.until("a backlog of 0", |_| Ok(ground.backlog("group", &topic)? == [0, 0]))?;
    ensure(member.seen.is_empty(), || format!("records came again: {:?}", values(&member.seen)))
}
