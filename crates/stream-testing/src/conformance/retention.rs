//! Retention and compaction, for logs that can run them on demand.

use super::ground::{ConformanceFixture, Failed, ensure, numbers, same, values};
use page::{DAY, HOUR};
use stream::Cleanup;

pub(super) fn compaction_keeps_the_last_of_every_key(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic_with("topic", 1, Cleanup::Compact)?;
    for round in 0..5 {
        let records: Vec<_> =
            (0..3).map(|key| topic.record(0, &format!("key {key}"), &format!("{round} {key}"))).collect();
        ground.append(&records)?;
    }
    let before = ground.read_all(&topic.at(0), 15)?;
    let end = ground.bounds(&topic.at(0))?.end;
    ground.maintain(ground.now())?;
    // The last records keep their offsets; a reader inside the dropped range continues with them.
    same("records", ground.read(&topic.at(0), 0)?, before[12..].to_vec())?;
    same("records from the middle", ground.read(&topic.at(0), before[7].offset)?, before[12..].to_vec())?;
    same("end", ground.bounds(&topic.at(0))?.end, end)?;
    // Compact again, with some keys that are already clean.
    ground.append(&[
        topic.record(0, "key 1", "new"),
        topic.record(0, "key 3", "new"),
        topic.record(0, "key 3", "newer"),
    ])?;
    ground.maintain(ground.now())?;
    let left = values(&ground.read(&topic.at(0), 0)?);
    same("records", left, ["4 0", "4 2", "new", "newer"].map(str::to_owned).to_vec())
}

pub(super) fn compaction_keeps_a_fresh_tombstone(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic_with("topic", 1, Cleanup::Compact)?;
    let mut tombstone = topic.record(0, "key", "");
    tombstone.value = None;
    ground.append(&[topic.record(0, "key", "value"), topic.record(0, "other", "value"), tombstone])?;
    ground.read_all(&topic.at(0), 3)?;
    for age in [HOUR, 2 * HOUR] {
        ground.maintain(ground.now() + age)?;
        same("records", values(&ground.read(&topic.at(0), 0)?), ["value", "none"].map(str::to_owned).to_vec())?;
    }
    Ok(())
}

pub(super) fn compaction_leaves_topics_that_delete_alone(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic("topic", 1)?;
    ground.append(&topic.numbered(0, 5))?;
    ground.maintain(ground.now())?;
    same("records", values(&ground.read(&topic.at(0), 0)?), numbers(0..5))
}

pub(super) fn old_records_go_and_young_ones_stay(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic_with("topic", 2, Cleanup::Delete { retention: HOUR, consumed: false })?;
    let mut records = topic.numbered(0, 6);
    for old in &mut records[..4] {
        old.timestamp = ground.now() - 2 * HOUR;
    }
    ground.append(&records)?;
    ground.append(&topic.numbered(1, 2))?;
    ground.maintain(ground.now())?;
    for restarted in [false, true] {
        let left = ground.read(&topic.at(0), 0)?;
        same(&format!("records, restarted {restarted}"), values(&left), numbers(4..6))?;
        let bounds = ground.bounds(&topic.at(0))?;
        same("start", bounds.start, left[0].offset)?;
        same("records of the other partition", values(&ground.read(&topic.at(1), 0)?), numbers(0..2))?;
        ground.reopen()?;
    }
    Ok(())
}

pub(super) fn offsets_go_on_after_everything_went(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic_with("topic", 1, Cleanup::Delete { retention: HOUR, consumed: false })?;
    ground.append(&topic.numbered(0, 5))?;
    ground.maintain(ground.now() + DAY)?;
    let bounds = ground.bounds(&topic.at(0))?;
    same("bounds of nothing", bounds.end - bounds.start, 0)?;
    ensure(bounds.end >= 5, || format!("offsets went back to {}", bounds.end))?;
    let next = ground.log().reader()?.read(&topic.at(0), 0, 10)?.1;
    same("where a reader goes on", next, bounds.end)?;
    ground.reopen()?;
    ground.append(&topic.numbered(0, 2))?;
    same("offset of the next record", ground.read(&topic.at(0), 0)?[0].offset, bounds.end)?;
    let mut member = ground.join(&topic, "group", "member")?;
    same("records delivered", values(&member.take(2)?), numbers(0..2))
}

pub(super) fn what_every_group_has_consumed_goes(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let cleanups = [Cleanup::Delete { retention: DAY, consumed: true }, Cleanup::Transient { retention: DAY }];
    for (name, cleanup) in ["stored", "transient"].into_iter().zip(cleanups) {
        let topic = ground.topic_with(name, 2, cleanup)?;
        ground.append(&topic.numbered(0, 10))?;
        ground.append(&topic.numbered(1, 3))?;
        let all = ground.read_all(&topic.at(0), 10)?;
        for (group, position) in [("slow", 4), ("fast", 7)] {
            let mut member = ground.join(&topic, &format!("{group}-{name}"), "member")?;
            member.own(2)?;
            member.commit(&[(0, all[position].offset)], Vec::new())?;
        }
        ground.maintain(ground.now())?;
        same("records", values(&ground.read(&topic.at(0), 0)?), numbers(4..10))?;
        same("records of the other partition", values(&ground.read(&topic.at(1), 0)?), numbers(0..3))?;
        same("backlog", ground.backlog(&format!("slow-{name}"), &topic)?, vec![6, 3])?;
        // A log that was closed in order has kept the rest.
        ground.reopen()?;
        same("records after a restart", values(&ground.read(&topic.at(0), 0)?), numbers(4..10))?;
    }
    Ok(())
}

pub(super) fn what_no_one_has_consumed_stays(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let topic = ground.topic_with("topic", 1, Cleanup::Delete { retention: DAY, consumed: true })?;
    ground.append(&topic.numbered(0, 3))?;
    ground.maintain(ground.now())?;
    same("records", values(&ground.read(&topic.at(0), 0)?), numbers(0..3))?;
    ground.maintain(ground.now() + 2 * DAY)?;
    same("records two days later", ground.read(&topic.at(0), 0)?.len(), 0)
}
