//! Opening an embedded log on other files than it left: it goes on, reports what is missing, or refuses.

use crate::common::copy;
use page::Timestamp;
use std::path::Path;
use std::sync::Arc;
use stream::{
    Cleanup, InProcessLog, Log, LogBackend, OffsetBounds, OutputRecord, PollLimits, StateStore, StoreProvider, TaskId,
    TopicConfig, TopicPartition,
};
use stream_rocksdb::{EmbeddedBackend, EmbeddedStores, Jump, has_log};
use tempfile::TempDir;

const JUMP: u64 = 1 << 40;

fn open(data: &Path, boot: &str) -> InProcessLog<EmbeddedBackend> {
    let log = InProcessLog::new(EmbeddedBackend::open_during(data, Some(boot.to_owned())).unwrap());
    let topic =
        TopicConfig { name: "topic".into(), partitions: 1, cleanup: Cleanup::Compact, max_message_bytes: 1 << 20 };
    log.create_topics(&[topic]).unwrap();
    log
}

fn refusal(data: &Path) -> String {
    EmbeddedBackend::open_during(data, Some("boot".to_owned())).err().expect("it is not believed").message
}

fn place() -> TopicPartition {
    TopicPartition::new("topic", 0)
}

fn append(log: &dyn Log, keys: std::ops::Range<u64>) {
    let record = |key: u64| OutputRecord {
        to: place(),
        timestamp: Timestamp::from_secs(1),
        key: key.to_be_bytes().to_vec(),
        value: Some(vec![7; 100].into()),
        trace: None,
    };
    keys.for_each(|key| drop(log.append(&[record(key)]).unwrap()));
}

fn offsets(log: &InProcessLog<EmbeddedBackend>) -> Vec<u64> {
    let records = log.backend().read(&place(), 0, PollLimits::records(1_000)).unwrap();
    records.iter().map(|record| record.offset).collect()
}

/// A directory as a kill leaves it: copied while it is in use.
fn killed(log: &InProcessLog<EmbeddedBackend>, data: &Path) -> TempDir {
    log.backend().note_high_water().unwrap();
    crate::common::copy_as_killed(data, |data| EmbeddedBackend::open(data).is_ok())
}

#[test]
fn after_a_kill_offsets_go_on_where_they_were() {
    let directory = TempDir::new().unwrap();
    let log = open(directory.path(), "boot");
    append(&log, 0..5);
    let left = killed(&log, directory.path());
    let log = open(left.path(), "boot");
    assert_eq!((log.backend().opened().jump, log.backend().bounds(&place()).unwrap().end), (None, 5));
}

#[test]
fn after_a_power_cut_offsets_jump_and_the_jump_is_no_backlog() {
    let directory = TempDir::new().unwrap();
    let log = open(directory.path(), "boot");
    append(&log, 0..5);
    let left = killed(&log, directory.path());
    let log = open(left.path(), "next boot");
    assert_eq!(log.backend().opened().jump, Some(Jump { missing_writes: 0, power_cut: true }));
    append(&log, 5..7);
    assert_eq!(offsets(&log), [0, 1, 2, 3, 4, JUMP, JUMP + 1]);
    assert_eq!(log.backend().count(&place(), 0).unwrap(), 7);
    assert_eq!(log.backend().count(&place(), 4).unwrap(), 3);
    drop(log);
    let log = open(left.path(), "yet another boot");
    assert_eq!(log.backend().opened().jump, None, "it was closed");
    assert_eq!(log.backend().count(&place(), 0).unwrap(), 7);
    assert_eq!(log.backend().bounds(&place()).unwrap(), OffsetBounds { start: 0, end: JUMP + 2 });
}

#[test]
fn a_topic_made_after_a_jump_gives_no_offset_its_lost_namesake_gave() {
    let directory = TempDir::new().unwrap();
    let log = InProcessLog::new(EmbeddedBackend::open_during(directory.path(), None).unwrap());
    let left = killed(&log, directory.path());
    let log = open(left.path(), "next boot");
    append(&log, 0..2);
    assert_eq!(offsets(&log), [JUMP, JUMP + 1]);
    assert_eq!(log.backend().count(&place(), 0).unwrap(), 2);
}

#[test]
fn an_older_copy_is_reported_with_what_is_missing_and_gives_no_offset_twice() {
    let directory = TempDir::new().unwrap();
    let data = directory.path();
    let log = open(data, "boot");
    append(&log, 0..5);
    drop(log);
    let older = TempDir::new().unwrap();
    copy(&data.join("log"), older.path());
    for round in 1..=3 {
        let log = open(data, "boot");
        append(&log, 5..12);
        drop(log);
        std::fs::remove_dir_all(data.join("log")).unwrap();
        copy(older.path(), &data.join("log"));
        let log = open(data, "boot");
        let jump = log.backend().opened().jump.expect("it is noticed");
        assert!((7..20).contains(&jump.missing_writes) && !jump.power_cut, "{jump:?}");
        append(&log, 5..6);
        assert_eq!(offsets(&log), [0, 1, 2, 3, 4, round * JUMP], "round {round}");
        drop(log);
    }
}

#[test]
fn the_end_of_the_write_ahead_log_lost_is_reported() {
    let directory = TempDir::new().unwrap();
    let data = directory.path();
    let log = open(data, "boot");
    append(&log, 0..50);
    drop(log);
    let wal =
        crate::common::files(&data.join("log")).into_iter().rfind(|path| path.extension().is_some_and(|e| e == "log"));
    let wal = wal.unwrap();
    let bytes = std::fs::read(&wal).unwrap();
    std::fs::write(&wal, &bytes[..bytes.len() - 1_000]).unwrap();
    let log = open(data, "boot");
    assert!(log.backend().opened().jump.unwrap().missing_writes >= 6);
    assert!(log.backend().missing_writes() >= 6);
    append(&log, 0..1);
    assert_eq!(offsets(&log).last(), Some(&JUMP));
}

#[test]
fn a_flipped_bit_in_the_write_ahead_log_is_refused_unless_power_was_lost() {
    let directory = TempDir::new().unwrap();
    let data = directory.path();
    let log = open(data, "boot");
    append(&log, 0..500);
    let left = killed(&log, data);
    drop(log);
    let flip = |data: &Path| {
        let wal = crate::common::files(&data.join("log"))
            .into_iter()
            .rfind(|path| path.extension().is_some_and(|e| e == "log"));
        let wal = wal.unwrap();
        let mut bytes = std::fs::read(&wal).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&wal, bytes).unwrap();
    };
    flip(data);
    let said = refusal(data);
    assert!(said.contains("is damaged") && said.contains("restore the data directory from a backup"), "{said}");
    flip(left.path());
    assert!(refusal(left.path()).contains("is damaged"), "a kill makes no holes");
    let log = open(left.path(), "next boot");
    let jump = log.backend().opened().jump.unwrap();
    assert!(jump.power_cut && jump.missing_writes > 100, "{jump:?}");
    let kept = offsets(&log);
    assert!(kept.len() > 100 && kept.iter().copied().eq(0..kept.len() as u64), "what is kept is the beginning");
}

#[test]
fn a_log_that_is_gone_is_not_begun_anew() {
    let directory = TempDir::new().unwrap();
    let data = directory.path().join("data");
    assert!(!has_log(directory.path()));
    let log = open(&data, "boot");
    append(&log, 0..5);
    drop(log);
    let check = |spoil: &dyn Fn(&Path), words: &str| {
        let copied = TempDir::new().unwrap();
        copy(&data, copied.path());
        spoil(copied.path());
        assert!(has_log(copied.path()), "what is left is noticed");
        for _ in 0..2 {
            let said = refusal(copied.path());
            assert!(said.contains(words), "{said}");
        }
    };
    let remove = |path: &Path| std::fs::remove_dir_all(path).unwrap();
    check(&|data| remove(&data.join("log")), "is missing, but");
    check(
        &|data| {
            remove(&data.join("log"));
            std::fs::remove_file(data.join("log.identity")).unwrap();
        },
        "is missing, but",
    );
    check(&|data| std::fs::remove_file(data.join("log/CURRENT")).unwrap(), "is missing, but");
    check(&|data| std::fs::write(data.join("log/CURRENT"), "MANIFEST-000001\n").unwrap(), "is damaged");
    check(
        &|data| crate::common::files(&data.join("log")).iter().for_each(|file| std::fs::write(file, "").unwrap()),
        "is damaged",
    );
}

#[test]
fn a_log_of_another_directory_is_refused() {
    let (one, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    for data in [&one, &other] {
        append(&open(data.path(), "boot"), 0..5);
    }
    std::fs::remove_dir_all(one.path().join("log")).unwrap();
    copy(&other.path().join("log"), &one.path().join("log"));
    std::fs::copy(other.path().join("log.high-water"), one.path().join("log.high-water")).unwrap();
    let said = refusal(one.path());
    assert!(said.contains("but this data directory belongs to log"), "{said}");
}

#[test]
fn a_lost_store_is_refused_and_a_new_one_is_empty() {
    let directory = TempDir::new().unwrap();
    let data = directory.path();
    let task = TaskId { stage: "stage".into(), partition: 0 };
    let open_stores = |names: &[&str]| -> Box<dyn StateStore> {
        let log = open(data, "boot");
        EmbeddedStores::new(log.backend().clone()).open(&log.id().unwrap(), &task, names).unwrap()
    };
    drop(open_stores(&["pages"]));
    let store = open_stores(&["pages", "hosts"]);
    assert_eq!(store.get(1, b"key").unwrap(), None);
    drop(store);
    let families = ["default", "records", "stage/pages", "stage/hosts"];
    let mut database = rocksdb::DB::open_cf(&rocksdb::Options::default(), data.join("log"), families).unwrap();
    database.drop_cf("stage/hosts").unwrap();
    drop(database);
    let said = refusal(data);
    assert!(said.contains("column family stage/hosts is missing"), "{said}");
}

#[test]
fn state_is_of_its_own_log_and_written_by_commits_alone() {
    let directory = TempDir::new().unwrap();
    let log = open(directory.path(), "boot");
    let stores = EmbeddedStores::new(Arc::clone(log.backend()));
    let task = TaskId { stage: "stage".into(), partition: 0 };
    assert!(stores.view(&task, &["pages"]).is_none());
    assert!(stores.open("another", &task, &["pages"]).err().unwrap().to_string().contains("not another"));
    let mut store = stores.open(&log.id().unwrap(), &task, &["pages"]).unwrap();
    let checkpoint = store.checkpoint().unwrap();
    assert!(store.apply(&[], &checkpoint).unwrap_err().to_string().contains("written by commits"));
    assert!(stores.set_aside(&task).unwrap_err().to_string().contains("restore the data directory from a backup"));
    assert!(stores.view(&task, &["pages"]).is_some());
}

#[test]
fn a_kill_while_a_log_is_created_is_no_damage() {
    for moved in 0..2 {
        let directory = TempDir::new().unwrap();
        drop(open(directory.path(), "boot"));
        // As before the last moves of the creation, of which `moved` were made. The notes are of the log as it is now.
        let inside = |name: &str| directory.path().join("log").join(name);
        let notes = [("log.identity", "first.identity"), ("log.high-water", "first.high-water")];
        for (beside, first) in notes.into_iter().skip(moved) {
            std::fs::rename(directory.path().join(beside), inside(first)).unwrap();
        }
        let log = open(directory.path(), "boot");
        assert_eq!(log.backend().opened().jump, None, "{moved}");
        append(&log, 0..3);
        assert_eq!(offsets(&log), [0, 1, 2], "{moved}");
        drop(log);
        assert_eq!(open(directory.path(), "boot").backend().opened().jump, None, "{moved}");
    }
}
