//! The state of tasks on disk.

#![allow(clippy::unwrap_used, reason = "a panic is how the helpers of tests fail, too")]

use page::Timestamp;
use rocksdb::{DB, Options};
use std::ops::ControlFlow;
use std::path::Path;
use stream::{Checkpoint, StateStore, StoreError, StoreProvider, StoreWrite, TaskId};
use stream_rocksdb::{RocksStores, StoreMemory};
use tempfile::TempDir;

const STORES: [&str; 2] = ["pages", "hosts"];

fn provider(directory: &Path) -> RocksStores {
    RocksStores::new(directory, StoreMemory::default())
}

fn task() -> TaskId {
    TaskId { stage: "scheduler".into(), partition: 3 }
}

fn write(store: usize, key: &str, value: Option<&str>) -> StoreWrite {
    StoreWrite { store, key: key.into(), value: value.map(Into::into) }
}

fn checkpoint(next: u64) -> Checkpoint {
    let changelog_next = vec![Some(next), None];
    Checkpoint { input_next: Some(next), changelog_next, written_at: Some(Timestamp::from_secs(7)) }
}

fn held(store: &dyn StateStore, index: usize, from: &str) -> Vec<String> {
    let mut all = Vec::new();
    store
        .scan(index, from.as_bytes(), &mut |key, value| {
            all.push(format!("{}={}", String::from_utf8_lossy(key), String::from_utf8_lossy(value)));
            ControlFlow::Continue(())
        })
        .unwrap();
    all
}

fn complaint<T>(result: Result<T, StoreError>) -> String {
    result.err().expect("it cannot go on").to_string()
}

#[test]
fn what_was_applied_is_there_after_reopening_with_its_checkpoint() {
    let directory = TempDir::new().unwrap();
    let stores = provider(directory.path());
    let mut store = stores.open(&task(), &STORES).unwrap();
    assert_eq!(store.checkpoint().unwrap(), Checkpoint::default());
    store
        .apply(&[write(0, "a", Some("1")), write(0, "b", Some("2")), write(1, "c", Some("3"))], &checkpoint(5))
        .unwrap();
    store.apply(&[write(0, "a", None), write(0, "c", Some("4"))], &checkpoint(6)).unwrap();
    drop(store);
    let store = stores.open(&task(), &STORES).unwrap();
    assert_eq!(store.checkpoint().unwrap(), checkpoint(6));
    assert_eq!(held(&*store, 0, ""), ["b=2", "c=4"]);
    assert_eq!(held(&*store, 0, "bb"), ["c=4"]);
    assert_eq!(held(&*store, 1, ""), ["c=3"]);
    assert_eq!((store.get(0, b"b").unwrap(), store.get(0, b"a").unwrap()), (Some(b"2".to_vec()), None));
    assert!(directory.path().join("scheduler/3").is_dir());
}

#[test]
fn clearing_leaves_nothing_and_the_store_usable() {
    let directory = TempDir::new().unwrap();
    let stores = provider(directory.path());
    let mut store = stores.open(&task(), &STORES).unwrap();
    for round in 0..3 {
        store.clear().unwrap();
        assert_eq!(store.checkpoint().unwrap(), Checkpoint::default());
        assert_eq!(held(&*store, 0, ""), [""; 0], "round {round}");
        store.apply(&[write(0, "a", Some("1"))], &checkpoint(round)).unwrap();
        drop(store);
        store = stores.open(&task(), &STORES).unwrap();
        assert_eq!(held(&*store, 0, ""), ["a=1"]);
    }
}

#[test]
fn a_task_has_one_owner() {
    let directory = TempDir::new().unwrap();
    let stores = provider(directory.path());
    let store = stores.open(&task(), &STORES).unwrap();
    let path = directory.path().join("scheduler/3");
    assert_eq!(
        complaint(provider(directory.path()).open(&task(), &STORES)),
        format!("state directory {} is locked by another task; is an old process still running?", path.display())
    );
    drop(store);
    stores.open(&task(), &STORES).unwrap();
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "in the way").unwrap();
    let said = complaint(provider(&file).open(&task(), &STORES));
    let path = file.join("scheduler/3");
    assert!(said.starts_with(&format!("state directory {} cannot be used: ", path.display())), "{said}");
    assert!(said.ends_with("; check that its disk is there, writable and not full"), "{said}");
}

#[test]
fn a_view_beside_the_owner_reads_and_refuses_to_write() {
    let directory = TempDir::new().unwrap();
    let stores = provider(directory.path());
    assert!(complaint(stores.open_read_only(&task(), &STORES)).contains("there is no state of scheduler/3"));
    let mut store = stores.open(&task(), &STORES).unwrap();
    store.apply(&[write(0, "a", Some("1"))], &checkpoint(1)).unwrap();
    let mut view = provider(directory.path()).open_read_only(&task(), &STORES).unwrap();
    store.apply(&[write(0, "b", Some("2"))], &checkpoint(2)).unwrap();
    assert_eq!(held(&*view, 0, ""), ["a=1"]);
    assert_eq!(view.checkpoint().unwrap(), checkpoint(1));
    assert!(complaint(view.apply(&[], &checkpoint(9))).contains("for reading only"));
    assert!(complaint(view.clear()).contains("for reading only"));
    let view = stores.open_read_only(&task(), &STORES).unwrap();
    assert_eq!(held(&*view, 0, ""), ["a=1", "b=2"]);
}

#[test]
fn stores_come_and_go_with_versions_of_a_stage() {
    let directory = TempDir::new().unwrap();
    let stores = provider(directory.path());
    let mut store = stores.open(&task(), &STORES).unwrap();
    store.apply(&[write(0, "a", Some("1")), write(1, "b", Some("2"))], &checkpoint(5)).unwrap();
    drop(store);
    let store = stores.open(&task(), &["sweeps", "pages"]).unwrap();
    assert_eq!(store.checkpoint().unwrap().changelog_next, [None, Some(5)]);
    assert_eq!((held(&*store, 0, "").len(), held(&*store, 1, "")), (0, vec!["a=1".to_owned()]));
    drop(store);
    let store = stores.open(&task(), &STORES).unwrap();
    assert_eq!(held(&*store, 1, ""), [""; 0], "what was given up is gone");
}

#[test]
fn an_unreadable_checkpoint_says_what_to_do() {
    let directory = TempDir::new().unwrap();
    let stores = provider(directory.path());
    drop(stores.open(&task(), &STORES).unwrap());
    let path = directory.path().join("scheduler/3");
    let database = DB::open_cf(&Options::default(), &path, ["default", "pages", "hosts"]).unwrap();
    database.put(b"checkpoint", b"nonsense").unwrap();
    drop(database);
    let said = complaint(stores.open(&task(), &STORES).unwrap().checkpoint());
    assert_eq!(
        said,
        format!(
            "state directory {} is damaged: its checkpoint is unreadable; delete it and start again: it is refilled from \
             the changelog",
            path.display()
        )
    );
}

#[test]
fn hundreds_of_tasks_share_memory() {
    let directory = TempDir::new().unwrap();
    let stores = provider(directory.path());
    let value = "x".repeat(10_000);
    let mut open = Vec::new();
    for partition in 0..64 {
        let mut store = stores.open(&TaskId { stage: "scheduler".into(), partition }, &STORES).unwrap();
        for round in 0..20 {
            let writes: Vec<_> = (0..10).map(|key| write(0, &format!("{round} {key}"), Some(&value))).collect();
            store.apply(&writes, &checkpoint(round)).unwrap();
        }
        open.push(store);
    }
    for store in &open {
        assert_eq!(held(&**store, 0, "").len(), 200);
    }
}
