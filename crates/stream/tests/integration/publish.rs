//! Changelogs that somebody deletes, and that are written anew from local state.

use page::Timestamp;
use std::time::Duration;
use stream::{
    Cleanup, Context, DeadLetters, InputRecord, ProcessError, Processor, PublishError, StageSpec, StageWork,
    StatefulStage, StoreSpec, Table, TopicConfig, publish_state,
};
use stream_testing::{MemoryStores, TestDriver};

const SEEN: Table<Vec<u8>, Vec<u8>> = Table::new("seen");
const TIMES: Table<Vec<u8>, Vec<u8>> = Table::new("times");
const START: Timestamp = Timestamp::from_secs(1_700_000_000);

/// Keeps each value, and how often its key came.
struct Keeping;

impl Processor for Keeping {
    fn process(&mut self, record: &InputRecord, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let times = context.get(TIMES, &record.key)?.map_or(0, |times| times[0]);
        context.put(SEEN, &record.key, &record.value.as_deref().unwrap_or_default().to_vec());
        context.put(TIMES, &record.key, &vec![times + 1]);
        Ok(())
    }
}

fn stores() -> Vec<StoreSpec> {
    let store = |table: Table<Vec<u8>, Vec<u8>>| StoreSpec {
        name: table.name(),
        changelog: format!("{}-changelog", table.name()),
        is_public: false,
    };
    vec![store(SEEN), store(TIMES)]
}

fn stage() -> StageSpec {
    StageSpec {
        name: "keeping".to_owned(),
        group: "keeping".to_owned(),
        input: "input".into(),
        outputs: Vec::new(),
        stores: stores(),
        broadcasts: Vec::new(),
        dead_letters: DeadLetters { topic: "dead-letters".to_owned(), encode: |_| Vec::new() },
        schemas: None,
        punctuate_every: Duration::from_secs(3_600),
        begins_traces: None,
        subject: None,
        stand_in: None,
        work: StageWork::Processors(Box::new(|_| Box::new(Keeping))),
    }
}

/// A stage that has read some records.
fn worked() -> TestDriver {
    let topic =
        |name: &str, cleanup| TopicConfig { name: name.into(), partitions: 1, cleanup, max_message_bytes: 1 << 20 };
    let kept = Cleanup::Delete { retention: page::DAY, consumed: false };
    let topics = [
        topic("input", kept),
        topic("dead-letters", kept),
        topic("seen-changelog", Cleanup::Compact),
        topic("times-changelog", Cleanup::Compact),
    ];
    let mut driver = TestDriver::new(&topics, START);
    driver.add(stage(), "one");
    send(&driver, &["a", "b", "a", "c"]);
    driver.run_until_idle().unwrap();
    driver
}

fn send(driver: &TestDriver, keys: &[&str]) {
    keys.iter().for_each(|key| driver.send("input", key.as_bytes(), key.as_bytes().to_vec()).unwrap());
}

fn publish(driver: &TestDriver, stores: &MemoryStores, even_if_old: bool) -> Result<Vec<(String, u64)>, PublishError> {
    let stage = StatefulStage {
        name: "keeping".to_owned(),
        group: "keeping".to_owned(),
        input: "input".into(),
        stores: self::stores(),
    };
    let published = publish_state(&driver.log, &stage, stores, 0, even_if_old, START)?;
    Ok(published.into_iter().map(|of| (of.changelog, of.entries)).collect())
}

fn last_error(driver: &TestDriver, stage: usize) -> String {
    driver.status(stage).last_error.unwrap_or_default()
}

#[test]
fn a_stage_waits_for_a_deleted_changelog_and_goes_on_once_it_is_published() {
    let mut driver = worked();
    driver.kill(0);
    driver.log.backend().make_anew("seen-changelog");
    let old = driver.stores.clone();
    for (name, stores) in [("two", old.clone()), ("three", MemoryStores::default())] {
        driver.stores = stores;
        driver.add(stage(), name);
        (0..20).for_each(|_| drop(driver.step(0)));
        assert!(last_error(&driver, 0).contains("recrawl state publish"), "{name}: {}", last_error(&driver, 0));
        driver.kill(0);
    }
    assert_eq!(publish(&driver, &old, false).unwrap(), [("seen-changelog".to_owned(), 3)]);
    assert_eq!(publish(&driver, &old, false).unwrap(), []);
    driver.stores = MemoryStores::default();
    driver.add(stage(), "four");
    send(&driver, &["a"]);
    driver.run_until_idle().unwrap();
    let times = driver.contents("times-changelog").unwrap();
    let last = times.iter().rfind(|record| record.key == b"a").unwrap();
    assert_eq!(last.value.as_deref(), Some(&[3][..]), "what was counted before is known");
}

#[test]
fn a_stage_whose_changelog_is_made_anew_under_it_ends_at_its_next_commit() {
    let mut driver = worked();
    driver.log.backend().make_anew("times-changelog");
    send(&driver, &["d"]);
    let stopped = driver.run_until_idle().unwrap_err();
    assert!(stopped.to_string().contains("made anew while the stage ran"), "{stopped}");
    let stores = driver.stores.clone();
    driver.kill(0);
    // Its changelog has records of its own now, and is written over.
    assert_eq!(publish(&driver, &stores, false).unwrap(), [("times-changelog".to_owned(), 4)]);
    driver.add(stage(), "two");
    driver.run_until_idle().unwrap();
}

#[test]
fn a_state_that_another_process_has_gone_on_from_is_not_published() {
    let mut driver = worked();
    driver.kill(0);
    let old = std::mem::take(&mut driver.stores);
    driver.add(stage(), "two");
    send(&driver, &["e", "f"]);
    driver.run_until_idle().unwrap();
    driver.kill(0);
    driver.log.backend().make_anew("seen-changelog");
    let refused = publish(&driver, &old, false).unwrap_err().to_string();
    assert!(refused.contains("another process has newer state") && refused.contains("--even-if-old"), "{refused}");
    let newest = std::mem::take(&mut driver.stores);
    assert_eq!(publish(&driver, &newest, false).unwrap(), [("seen-changelog".to_owned(), 5)]);
    // The changelog has more records now than the old state had read of the deleted one.
    assert_eq!(publish(&driver, &old, false).unwrap(), []);
}

#[test]
fn a_partition_that_only_had_its_position_committed_has_lost_nothing() {
    let mut driver = worked();
    driver.kill(0);
    // Retention has taken all input, and the changelogs never had anything.
    driver.log.backend().drop_before(&stream::TopicPartition::new("input", 0), 4);
    driver.log.backend().make_anew("seen-changelog");
    driver.log.backend().make_anew("times-changelog");
    driver.stores = MemoryStores::default();
    driver.add(stage(), "two");
    driver.run_until_idle().unwrap();
    assert_eq!(last_error(&driver, 0), "");
}
