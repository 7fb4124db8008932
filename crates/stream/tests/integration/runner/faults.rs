use crate::runner::{KEPT_TABLE, OUTPUT, driver, processors, send, texts};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use stream::partitioner::partition_for;
use stream::{Context, InputRecord, ProcessError, Processor, SchemaTopic, StageSpec};
use stream_testing::{RawRecord, TestDriver};
use wire::Message;
use wire::schemas::SchemaRecord;

/// Copies its input, counting in memory what it has committed to its store. Some words make it fail.
#[derive(Default)]
struct Copying {
    copied: u64,
}

/// A record of this version of the program.
#[derive(Serialize, Deserialize)]
struct Own {
    a: i64,
}
messages::impl_message!(Own, "Own", r#"{"type": "record", "name": "Own", "fields": [{"name": "a", "type": "long"}]}"#);

/// A record that only a newer version writes. Its schema is known here once it was learned.
#[derive(Serialize, Deserialize)]
struct Newer {
    b: i64,
}
messages::impl_message!(
    Newer,
    "Newer",
    r#"{"type": "record", "name": "Newer", "fields": [{"name": "b", "type": "long"}]}"#
);

/// State that only newer versions write.
#[derive(Serialize, Deserialize)]
struct NewerState {
    c: i64,
}
messages::impl_message!(
    NewerState,
    "NewerState",
    r#"{"type": "record", "name": "NewerState", "fields": [{"name": "c", "type": "long"}]}"#
);

#[derive(Serialize, Deserialize)]
struct NewestState {
    d: i64,
}
messages::impl_message!(
    NewestState,
    "NewestState",
    r#"{"type": "record", "name": "NewestState", "fields": [{"name": "d", "type": "long"}]}"#
);

fn schema_of(name: &[u8]) -> SchemaRecord {
    if name == b"NewerState" { NewerState::schema_record() } else { NewestState::schema_record() }
}

impl Processor for Copying {
    fn restored(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let kept = context.get(KEPT_TABLE, &b"copied".to_vec())?;
        self.copied = kept.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_be_bytes);
        match context.get(KEPT_TABLE, &b"of newer".to_vec())? {
            Some(name) if !wire::schemas::known(schema_of(&name).fingerprint) => {
                Err(ProcessError::Await("no schema of this state is known".to_owned()))
            }
            _ => Ok(()),
        }
    }

    fn process(&mut self, record: &InputRecord, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let text = String::from_utf8_lossy(record.value.as_deref().unwrap_or_default()).into_owned();
        self.copied += 1;
        context.put(KEPT_TABLE, &b"copied".to_vec(), &self.copied.to_be_bytes().to_vec());
        match text.as_str() {
            "panic" => panic!("told to panic"),
            name @ ("NewerState" | "NewestState") => {
                context.put(KEPT_TABLE, &b"of newer".to_vec(), &name.as_bytes().to_vec());
            }
            "large output" => context.emit(OUTPUT, RawRecord::new(record.key.clone(), [b'x'; 2_000])),
            "large state" => context.put(KEPT_TABLE, &b"large".to_vec(), &vec![b'x'; 2_000]),
            "newer" if !wire::schemas::known(Newer::schema_record().fingerprint) => {
                self.copied -= 1;
                return Err(ProcessError::Await("no schema of this record is known".to_owned()));
            }
            _ => context.emit(OUTPUT, RawRecord::new(record.key.clone(), format!("{text} {}", self.copied))),
        }
        Ok(())
    }
}

fn copying() -> StageSpec {
    let mut spec = processors(Box::new(|_| Box::new(Copying::default())));
    spec.schemas =
        Some(SchemaTopic { topic: "schemas".to_owned(), own: vec![Own::schema_record()], registered: Vec::new() });
    spec
}

#[test]
fn a_record_over_which_the_processor_panics_twice_is_set_aside_and_the_rest_goes_on() {
    let mut driver = driver(1);
    driver.add(copying(), "one");
    ["a", "panic", "b"].iter().for_each(|text| send(&driver, "key", text));
    driver.run_until_idle().unwrap();
    // What the batch had counted in memory before the panic is counted anew.
    assert_eq!(texts(&driver, "output"), ["a 1", "b 2"]);
    assert_eq!(texts(&driver, "dead-letters"), ["1: processing it panicked: told to panic"]);
    assert_eq!(driver.status(0).set_aside_total, 1);
}

#[test]
fn a_record_that_makes_something_too_large_is_set_aside_with_what_it_staged() {
    let mut driver = driver(1);
    driver.add(copying(), "one");
    ["large output", "a", "large state", "b"].iter().for_each(|text| send(&driver, "key", text));
    driver.run_until_idle().unwrap();
    assert_eq!(texts(&driver, "output").len(), 2);
    let dead_letters = texts(&driver, "dead-letters");
    assert_eq!(dead_letters[0], "0: it produces a record of 2003 bytes; topic output allows 1000");
    assert_eq!(dead_letters[1], "2: it produces a record of 2005 bytes; topic kept-changelog allows 1000");
}

#[test]
fn a_record_of_a_newer_version_waits_for_its_schema_while_other_partitions_go_on() {
    let mut driver = driver(2);
    driver.add(copying(), "one");
    let key_of = |partition| {
        (0..).map(|number| format!("key {number}")).find(|key| partition_for(key.as_bytes(), 2) == partition).unwrap()
    };
    let (here, there) = (key_of(0), key_of(1));
    [(&here, "a"), (&here, "newer"), (&here, "b"), (&there, "c")]
        .iter()
        .for_each(|(key, text)| send(&driver, key, text));
    driver.run_until_idle().unwrap();
    let own = Own::schema_record();
    assert_eq!(texts(&driver, "schemas"), [own.json], "its own schema is written before its first record");
    assert_eq!(texts(&driver, "output"), ["a 1", "c 1"]);
    // It says what it waits for, and sets nothing aside however long that takes.
    pass(&mut driver, 600);
    assert_eq!(driver.status(0).waits_for.as_deref(), Some("partition 0: no schema of this record is known"));
    assert_eq!((driver.status(0).held_total, driver.status(0).set_aside_total), (1, 0));
    send(&driver, &there, "d");
    driver.run_until_idle().unwrap();
    assert_eq!(texts(&driver, "output"), ["a 1", "c 1", "d 2"]);
    let newer = Newer::schema_record();
    driver.send("schemas", &newer.fingerprint.to_bytes(), newer.json.as_bytes().to_vec()).unwrap();
    pass(&mut driver, 20);
    assert_eq!(texts(&driver, "output"), ["a 1", "newer 2", "b 3", "c 1", "d 2"]);
    assert_eq!(driver.status(0).waits_for, None);
}

/// Two instances with a partition each, of which the second has written state of a newer version and is gone. The key of
/// its partition, and of the other.
fn left_by_a_newer_version(name: &str, is_reported: bool) -> (TestDriver, [String; 2]) {
    let mut driver = driver(2);
    driver.add(copying(), "one");
    driver.run_until_idle().unwrap();
    driver.add(copying(), "two");
    pass(&mut driver, 3);
    let theirs = driver.status(1).partitions.clone();
    assert_eq!((driver.status(0).partitions.len(), theirs.len()), (1, 1));
    let key_of = |partition| {
        (0..).map(|number| format!("key {number}")).find(|key| partition_for(key.as_bytes(), 2) == partition).unwrap()
    };
    let keys = [key_of(theirs[0]), key_of(1 - theirs[0])];
    if is_reported {
        let schema = schema_of(name.as_bytes());
        driver.send("schemas", &schema.fingerprint.to_bytes(), schema.json.as_bytes().to_vec()).unwrap();
    }
    send(&driver, &keys[0], name);
    driver.run_until_idle().unwrap();
    driver.kill(1);
    (driver, keys)
}

#[test]
fn state_that_a_newer_version_left_is_read_by_one_that_was_at_work_before_it() {
    let (mut driver, [theirs, _]) = left_by_a_newer_version("NewerState", true);
    send(&driver, &theirs, "a");
    driver.run_until_idle().unwrap();
    assert_eq!(texts(&driver, "output"), ["a 2"]);
    assert_eq!((driver.status(0).held_total, driver.status(0).stores_refilled_total), (0, 0));
}

#[test]
fn state_of_a_newer_version_waits_for_its_schema_while_other_partitions_go_on() {
    let (mut driver, [theirs, ours]) = left_by_a_newer_version("NewestState", false);
    [(&theirs, "a"), (&ours, "b")].iter().for_each(|(key, text)| send(&driver, key, text));
    pass(&mut driver, 600);
    assert_eq!(texts(&driver, "output"), ["b 1"]);
    let status = driver.status(0);
    let what = status.waits_for.expect("it says what it waits for");
    assert!(what.ends_with(": no schema of this state is known"), "{what}");
    assert_eq!((status.held_total, status.set_aside_total, status.state_set_aside_total), (1, 0, 0));
    assert!(!status.ready && status.restoring.len() == 1, "a task that waits is not restored");
    let newest = NewestState::schema_record();
    driver.send("schemas", &newest.fingerprint.to_bytes(), newest.json.as_bytes().to_vec()).unwrap();
    pass(&mut driver, 60);
    assert_eq!(texts(&driver, "output").len(), 2);
    assert_eq!((driver.status(0).waits_for, driver.status(0).ready), (None, true));
}

/// Lets seconds pass, turning the stages in each.
fn pass(driver: &mut TestDriver, seconds: u64) {
    for _ in 0..seconds {
        driver.clock.advance(Duration::from_secs(1));
        driver.run_until_idle().unwrap();
    }
}

#[test]
fn of_two_programs_of_one_name_the_second_stops_and_says_how_to_name_it() {
    // The first has been at work for long, or for some seconds.
    [3_600, 5].into_iter().for_each(second_of_one_name_stops);
}

fn second_of_one_name_stops(after_seconds: u64) {
    let mut driver = driver(1);
    driver.add(copying(), "same");
    driver.run_until_idle().unwrap();
    driver.clock.advance(Duration::from_secs(after_seconds));
    driver.add(copying(), "same");
    let stopped = (0..100).find_map(|_| {
        driver.step(0).expect("the first goes on");
        driver.step(1).err()
    });
    let message = stopped.expect("they take turns for ever").message;
    assert!(message.contains("--instance") && message.contains("testing-same"), "{message}");
    driver.kill(1);
    send(&driver, "key", "a");
    driver.run_until_idle().unwrap();
    assert_eq!(texts(&driver, "output"), ["a 1"]);
}

#[test]
fn a_group_whose_offsets_were_lost_learns_nothing_twice() {
    let mut driver = driver(1);
    driver.add(copying(), "one");
    ["a", "b", "c"].iter().for_each(|text| send(&driver, "key", text));
    driver.run_until_idle().unwrap();
    for lose_disk in [false, true] {
        driver.kill(0);
        driver.log.backend().forget_group("testing", "input");
        if lose_disk {
            driver.stores.lose_everything();
        }
        driver.add(copying(), "one");
        driver.run_until_idle().unwrap();
        assert_eq!(texts(&driver, "output"), ["a 1", "b 2", "c 3"], "disk lost: {lose_disk}");
    }
}

#[test]
fn a_stage_is_ready_only_while_everything_assigned_is_restored() {
    let mut driver = driver(1);
    driver.add(copying(), "one");
    // More changelog records than one slice of a restore; a commit writes one.
    for _ in 0..2_500 {
        send(&driver, "key", "a");
        driver.run_until_idle().unwrap();
    }
    assert!(driver.status(0).ready);
    driver.kill(0);
    driver.stores.lose_everything();
    driver.add(copying(), "one");
    let (mut was_restoring, mut remaining) = (false, 0);
    while driver.status(0).partitions.is_empty() {
        driver.step(0).unwrap();
        let status = driver.status(0);
        was_restoring |= status.restoring == [0];
        remaining = remaining.max(status.restore_remaining_records);
        assert_eq!(status.ready, status.partitions == [0], "{status:?}");
    }
    let status = driver.status(0);
    assert!(was_restoring && status.restored_records_total >= 2_500, "{status:?}");
    assert!((1..status.restored_records_total).contains(&remaining), "{remaining}: {status:?}");
    assert_eq!(status.restore_remaining_records, 0);
    assert_eq!((status.rebalances_total, status.histograms[metrics::stage::RESTORE_SECONDS].count()), (1, 1));
    driver.run_until_idle().unwrap();
    send(&driver, "key", "b");
    send(&driver, "key", "c");
    driver.run_until_idle().unwrap();
    let status = driver.status(0);
    assert_eq!(status.histograms[metrics::stage::BATCH_RECORDS].sum(), 2.0, "{status:?}");
    assert!(status.histograms[metrics::stage::POLL_TO_COMMIT_SECONDS].count() >= 1, "{status:?}");
}

#[test]
fn what_retention_took_is_counted() {
    let mut driver = driver(1);
    ["a", "b", "c", "d"].iter().for_each(|text| send(&driver, "key", text));
    driver.add(copying(), "one");
    driver.run_until_idle().unwrap();
    driver.kill(0);
    ["e", "f", "g"].iter().for_each(|text| send(&driver, "key", text));
    driver.log.backend().drop_before(&stream::TopicPartition::new("input", 0), 6);
    driver.add(copying(), "one");
    driver.run_until_idle().unwrap();
    assert_eq!(driver.status(0).input_lost_total, 2);
    assert_eq!(texts(&driver, "output").last().map(String::as_str), Some("g 5"));
}

#[test]
fn a_store_added_by_a_new_version_leaves_the_others_as_they_are() {
    let mut driver = driver(1);
    driver.add(copying(), "one");
    ["a", "b"].iter().for_each(|text| send(&driver, "key", text));
    driver.run_until_idle().unwrap();
    driver.kill(0);
    let mut next = copying();
    next.stores.insert(0, stream::StoreSpec { name: "new", changelog: "dead-letters".to_owned(), is_public: true });
    driver.add(next, "one");
    send(&driver, "key", "c");
    driver.run_until_idle().unwrap();
    assert_eq!(texts(&driver, "output"), ["a 1", "b 2", "c 3"]);
    assert_eq!(driver.status(0).restored_records_total, 0, "nothing was replayed");
}
