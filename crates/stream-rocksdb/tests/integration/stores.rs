//! The state of tasks on disk.

use page::Timestamp;
use rocksdb::{DB, Options};
use std::ops::ControlFlow;
use std::path::Path;
use stream::{Checkpoint, StateStore, StoreCheckpoint, StoreError, StoreProvider, StoreWrite, TaskId};
use stream_rocksdb::{RocksStores, StoreMemory};
use tempfile::TempDir;

const LOG: &str = "log-1";
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
    let pages = StoreCheckpoint { changelog_next: Some(next), complete_as_of: Some(Timestamp::from_secs(7)) };
    Checkpoint { input_next: Some(next), stores: vec![pages, StoreCheckpoint::default()] }
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
    let mut store = stores.open(LOG, &task(), &STORES).unwrap();
    assert_eq!(store.checkpoint().unwrap(), Checkpoint::empty(2));
    store
        .apply(&[write(0, "a", Some("1")), write(0, "b", Some("2")), write(1, "c", Some("3"))], &checkpoint(5))
        .unwrap();
    store.apply(&[write(0, "a", None), write(0, "c", Some("4"))], &checkpoint(6)).unwrap();
    drop(store);
    let store = stores.open(LOG, &task(), &STORES).unwrap();
    assert_eq!(store.checkpoint().unwrap(), checkpoint(6));
    assert_eq!(held(&*store, 0, ""), ["b=2", "c=4"]);
    assert_eq!(held(&*store, 0, "bb"), ["c=4"]);
    assert_eq!(held(&*store, 1, ""), ["c=3"]);
    assert_eq!((store.get(0, b"b").unwrap(), store.get(0, b"a").unwrap()), (Some(b"2".to_vec()), None));
    assert!(directory.path().join("scheduler/3").is_dir());
}

#[test]
fn the_size_of_the_state_on_disk_is_reported() {
    let directory = TempDir::new().unwrap();
    let stores = provider(directory.path());
    let mut store = stores.open(LOG, &task(), &STORES).unwrap();
    assert_eq!(store.bytes_on_disk(), 0);
    // Values that do not compress.
    let hash = |number: u64| blake3::hash(&number.to_be_bytes()).to_hex().to_string();
    let writes: Vec<_> = (0..20_000).map(|number| write(1, &hash(number), Some(&hash(number + 1)))).collect();
    store.apply(&writes, &checkpoint(5)).unwrap();
    drop(store);
    // What was written ahead goes to files when the state is opened.
    let store = stores.open(LOG, &task(), &STORES).unwrap();
    assert!((500_000..5_000_000).contains(&store.bytes_on_disk()), "{}", store.bytes_on_disk());
}

#[test]
fn emptying_one_store_leaves_the_others_and_the_store_usable() {
    let directory = TempDir::new().unwrap();
    let stores = provider(directory.path());
    let mut store = stores.open(LOG, &task(), &STORES).unwrap();
    for round in 0..3 {
        store.apply(&[write(0, "a", Some("1")), write(1, "b", Some("2"))], &checkpoint(round)).unwrap();
        store.empty(0).unwrap();
        let after = store.checkpoint().unwrap();
        assert_eq!((after.input_next, after.stores[0]), (Some(round), StoreCheckpoint::default()));
        assert_eq!((held(&*store, 0, ""), held(&*store, 1, "")), (Vec::new(), vec!["b=2".to_owned()]), "round {round}");
        store.apply(&[write(0, "c", Some("1"))], &checkpoint(round)).unwrap();
        drop(store);
        store = stores.open(LOG, &task(), &STORES).unwrap();
        assert_eq!(held(&*store, 0, ""), ["c=1"]);
    }
}

#[test]
fn a_task_has_one_owner() {
    let directory = TempDir::new().unwrap();
    let stores = provider(directory.path());
    let store = stores.open(LOG, &task(), &STORES).unwrap();
    let path = directory.path().join("scheduler/3");
    assert_eq!(
        complaint(provider(directory.path()).open(LOG, &task(), &STORES)),
        format!("state directory {} is locked by another task; is an old process still running?", path.display())
    );
    drop(store);
    stores.open(LOG, &task(), &STORES).unwrap();
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "in the way").unwrap();
    let said = complaint(provider(&file).open(LOG, &task(), &STORES));
    let path = file.join("scheduler/3");
    assert!(said.starts_with(&format!("state directory {} cannot be used: ", path.display())), "{said}");
    assert!(said.ends_with("; check that its disk is mounted, writable and not full"), "{said}");
}

#[test]
fn a_view_beside_the_owner_reads_and_refuses_to_write() {
    let directory = TempDir::new().unwrap();
    let stores = provider(directory.path());
    assert!(complaint(stores.open_read_only(&task(), &STORES)).contains("no state of scheduler/3"));
    let mut store = stores.open(LOG, &task(), &STORES).unwrap();
    store.apply(&[write(0, "a", Some("1"))], &checkpoint(1)).unwrap();
    let mut view = provider(directory.path()).open_read_only(&task(), &STORES).unwrap();
    store.apply(&[write(0, "b", Some("2"))], &checkpoint(2)).unwrap();
    assert_eq!(held(&*view, 0, ""), ["a=1"]);
    assert_eq!(view.checkpoint().unwrap(), checkpoint(1));
    assert!(complaint(view.apply(&[], &checkpoint(9))).contains("is open read-only"));
    assert!(complaint(view.empty(0)).contains("is open read-only"));
    let view = stores.open_read_only(&task(), &STORES).unwrap();
    assert_eq!(held(&*view, 0, ""), ["a=1", "b=2"]);
}

#[test]
fn stores_come_and_go_with_versions_of_a_stage() {
    let directory = TempDir::new().unwrap();
    let stores = provider(directory.path());
    let mut store = stores.open(LOG, &task(), &STORES).unwrap();
    store.apply(&[write(0, "a", Some("1")), write(1, "b", Some("2"))], &checkpoint(5)).unwrap();
    drop(store);
    let store = stores.open(LOG, &task(), &["sweeps", "pages"]).unwrap();
    assert_eq!(store.checkpoint().unwrap().stores, [StoreCheckpoint::default(), checkpoint(5).stores[0]]);
    assert_eq!((held(&*store, 0, "").len(), held(&*store, 1, "")), (0, vec!["a=1".to_owned()]));
    drop(store);
    let store = stores.open(LOG, &task(), &STORES).unwrap();
    assert_eq!(held(&*store, 1, ""), [""; 0], "what was given up is gone");
}

#[test]
fn an_unreadable_checkpoint_says_what_to_do() {
    let directory = TempDir::new().unwrap();
    let stores = provider(directory.path());
    drop(stores.open(LOG, &task(), &STORES).unwrap());
    let path = directory.path().join("scheduler/3");
    let database = DB::open_cf(&Options::default(), &path, ["default", "pages", "hosts"]).unwrap();
    database.put(b"checkpoint", b"nonsense").unwrap();
    drop(database);
    let said = complaint(stores.open(LOG, &task(), &STORES).unwrap().checkpoint());
    assert_eq!(
        said,
        format!(
            "state directory {} is damaged: its checkpoint is unreadable; its content is refilled from the changelog",
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
        let mut store = stores.open(LOG, &TaskId { stage: "scheduler".into(), partition }, &STORES).unwrap();
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

fn damage<T>(result: Result<T, StoreError>) -> String {
    match result.err().expect("it is not believed") {
        StoreError::Damaged(what) => what,
        StoreError::Failed(what) => panic!("a failure, not damage: {what}"),
    }
}

#[test]
fn state_of_another_log_or_task_is_not_believed() {
    let directory = TempDir::new().unwrap();
    let stores = provider(directory.path());
    let mut store = stores.open(LOG, &task(), &STORES).unwrap();
    store.apply(&[write(0, "a", Some("1"))], &checkpoint(5)).unwrap();
    drop(store);
    let said = damage(stores.open("log-2", &task(), &STORES));
    assert!(said.contains("belongs to \"log log-1\", not to \"log log-2\""), "{said}");
    let other = TaskId { stage: "scheduler".into(), partition: 4 };
    std::fs::rename(directory.path().join("scheduler/3"), directory.path().join("scheduler/4")).unwrap();
    let said = damage(stores.open(LOG, &other, &STORES));
    assert!(said.contains("belongs to \"task scheduler/3\", not to \"task scheduler/4\""), "{said}");
}

#[test]
fn a_store_that_was_lost_is_damage_and_a_new_one_is_empty() {
    let directory = TempDir::new().unwrap();
    let stores = provider(directory.path());
    let mut store = stores.open(LOG, &task(), &STORES).unwrap();
    store.apply(&[write(0, "a", Some("1")), write(1, "b", Some("2"))], &checkpoint(5)).unwrap();
    drop(store);
    let store = stores.open(LOG, &task(), &["pages", "hosts", "sweeps"]).unwrap();
    assert_eq!((held(&*store, 0, "").len(), held(&*store, 2, "").len()), (1, 0), "the others keep what they hold");
    drop(store);
    let path = directory.path().join("scheduler/3");
    let mut database = DB::open_cf(&Options::default(), &path, ["default", "pages", "hosts", "sweeps"]).unwrap();
    database.drop_cf("hosts").unwrap();
    drop(database);
    assert!(damage(stores.open(LOG, &task(), &STORES)).contains("column family hosts is missing"));
    let mut database = DB::open_cf(&Options::default(), &path, ["default", "pages", "sweeps"]).unwrap();
    database.create_cf("hosts", &Options::default()).unwrap();
    drop(database);
    assert!(damage(stores.open(LOG, &task(), &STORES)).contains("the contents of column family hosts are lost"));
}

#[test]
fn what_is_set_aside_keeps_its_bytes_and_frees_the_place() {
    let directory = TempDir::new().unwrap();
    let stores = provider(directory.path());
    let mut names = Vec::new();
    for _ in 0..3 {
        let mut store = stores.open(LOG, &task(), &STORES).unwrap();
        assert_eq!(held(&*store, 0, ""), [""; 0]);
        store.apply(&[write(0, "a", Some("1"))], &checkpoint(5)).unwrap();
        drop(store);
        names.push(stores.set_aside(&task()).unwrap());
    }
    for name in &names {
        assert!(name.contains("scheduler/3.set-aside-20") && Path::new(name).join("CURRENT").exists(), "{name}");
    }
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 3, "a name is never taken twice");
}
