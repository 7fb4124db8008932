//! `state check` finds what is wrong, and changes nothing.

use crate::common::{copy, copy_as_killed, files};
use page::Timestamp;
use std::path::Path;
use stream::{
    Checkpoint, Cleanup, InProcessLog, Log, OutputRecord, StoreCheckpoint, StoreProvider, StoreWrite, TaskId,
    TopicConfig, TopicPartition,
};
use stream_rocksdb::check::{DirectoryReport, check};
use stream_rocksdb::{EmbeddedBackend, RocksStores, StoreMemory};
use tempfile::TempDir;

fn append(data: &Path, boot: &str) -> InProcessLog<EmbeddedBackend> {
    let log = InProcessLog::<EmbeddedBackend>::new(EmbeddedBackend::open_during(data, Some(boot.to_owned())).unwrap());
    let topic =
        TopicConfig { name: "topic".into(), partitions: 1, cleanup: Cleanup::Compact, max_message_bytes: 1 << 20 };
    log.create_topics(&[topic]).unwrap();
    let record = OutputRecord {
        to: TopicPartition::new("topic", 0),
        timestamp: Timestamp::from_secs(1),
        key: b"key".to_vec(),
        value: Some(vec![7; 1_000].into()),
        trace: None,
    };
    log.append(&vec![record; 100]).unwrap();
    log
}

fn task() -> TaskId {
    TaskId { stage: "scheduler".into(), partition: 3 }
}

fn apply(data: &Path) -> RocksStores {
    let stores = RocksStores::new(data, StoreMemory::default());
    let mut store = stores.open("log-1", &task(), &["pages"]).unwrap();
    let write = StoreWrite { store: 0, key: b"key".to_vec(), value: Some(vec![7; 1_000]) };
    let part = StoreCheckpoint { changelog_next: Some(8), complete_as_of: None };
    store.apply(&[write], &Checkpoint { input_next: Some(7), stores: vec![part] }).unwrap();
    drop(store);
    stores
}

fn problems(report: &DirectoryReport) -> String {
    report.databases.iter().flat_map(|database| database.problems.clone()).collect::<Vec<_>>().join("; ")
}

/// Spoils the first file with an extension, or of a name.
fn spoil(data: &Path, name: &str, how: impl Fn(&mut Vec<u8>)) {
    let path = files(data).into_iter().find(|path| path.to_str().unwrap().ends_with(name)).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    how(&mut bytes);
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_sound_log_is_sound_also_beside_its_owner_and_nothing_is_written() {
    let directory = TempDir::new().unwrap();
    let log = append(directory.path(), "boot");
    assert_eq!(problems(&check(directory.path()).unwrap()), "");
    drop(log);
    drop(append(directory.path(), "boot"));
    let before: Vec<_> = files(directory.path()).iter().map(|file| std::fs::read(file).unwrap()).collect();
    let report = check(directory.path()).unwrap();
    let after: Vec<_> = files(directory.path()).iter().map(|file| std::fs::read(file).unwrap()).collect();
    assert_eq!(before, after);
    let [log] = report.databases.as_slice() else { panic!("{report:?}") };
    assert_eq!((log.problems.as_slice(), log.task.as_ref()), (&[][..], None));
    let records = log.families.iter().find(|family| family.name == "records").unwrap();
    assert_eq!(records.entries, 200);
}

#[test]
fn damage_and_gaps_of_a_log_are_named() {
    let directory = TempDir::new().unwrap();
    drop(append(directory.path(), "boot"));
    drop(append(directory.path(), "boot"));
    let check_spoiled = |name: &str, how: &dyn Fn(&mut Vec<u8>)| {
        let copied = TempDir::new().unwrap();
        copy(directory.path(), copied.path());
        spoil(copied.path(), name, how);
        problems(&check(copied.path()).unwrap())
    };
    let middle = |bytes: &mut Vec<u8>| {
        let middle = bytes.len() / 3;
        bytes[middle] ^= 1;
    };
    assert!(check_spoiled(".sst", &middle).contains("orrupt"));
    assert!(check_spoiled(".log", &middle).contains("orrupt"));
    assert!(check_spoiled(".log", &|bytes| bytes.truncate(bytes.len() / 2)).contains("writes are missing"));
    assert!(check_spoiled("high-water", &middle).contains("missing or damaged"));
    assert!(check_spoiled("CURRENT", &middle).contains("CURRENT"));

    let log = append(directory.path(), "boot");
    let left = copy_as_killed(directory.path(), |data| EmbeddedBackend::open(data).is_ok());
    drop(log);
    drop(append(left.path(), "next boot"));
    let report = check(left.path()).unwrap();
    assert_eq!(problems(&report), "");
    let gap = report.databases[0].gaps[0];
    assert!(gap.incarnation == 1 && gap.power_cut, "{gap:?}");
}

#[test]
fn state_beside_a_changelog_says_where_it_stands_and_what_was_set_aside() {
    let directory = TempDir::new().unwrap();
    let stores = apply(directory.path());
    let aside = stores.set_aside(&task()).unwrap();
    apply(directory.path());
    let report = check(directory.path()).unwrap();
    assert_eq!((problems(&report).as_str(), report.set_aside.as_slice()), ("", &[aside][..]));
    let [state] = report.databases.as_slice() else { panic!("{report:?}") };
    assert_eq!((state.log.as_deref(), state.task.as_deref()), (Some("log-1"), Some("scheduler/3")));
    assert_eq!((state.input_next, state.changelogs.as_slice()), (Some(7), &[("pages".to_owned(), Some(8))][..]));
    std::fs::rename(directory.path().join("scheduler/3"), directory.path().join("scheduler/4")).unwrap();
    let said = problems(&check(directory.path()).unwrap());
    assert!(said.contains("belongs to \"task scheduler/3\""), "{said}");
}
