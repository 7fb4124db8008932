//! The size of the detector's state of a page on disk, without the units and shingles of its last accepted version, whose
//! number grows with the length of the page: a page almost without text, its fields as servers fill them.

use crate::measure::Rounds;
use crate::table::{Row, Target};
use change::{PageState, Version};
use detector::{PAGES, PageSketch, PageVersion, VERSIONS};
use messages::{Digest, Encoded};
use page::Timestamp;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::path::Path;
use stream::{Checkpoint, StoreProvider, StoreWrite, TaskId};
use stream_rocksdb::{RocksStores, StoreMemory};
use tempfile::TempDir;

const KEPT_PAGES: usize = 200_000;
const BATCH: usize = 1_000;

pub(crate) fn rows() -> Vec<Row> {
    eprintln!("the detector's state");
    let sketch = bytes_per_page(PAGES.name(), &|random| sketch(random).encode());
    let version = bytes_per_page(VERSIONS.name(), &|random| PageVersion(state(random).into_version()).encode());
    let name = "detector: state of a page without text, on disk";
    let row = Row::new(name, "bytes", Rounds::new(vec![sketch + version])).aims_at(Target::Value(140.0));
    vec![row.note(format!(
        "{sketch:.0} for validators, digest, counts; {version:.0} for the version; keys and filters too"
    ))]
}

fn sketch(random: &mut Pcg64) -> PageSketch {
    PageSketch {
        attempt: random.random_range(2..40),
        fetches: random.random_range(2..40),
        last_look_at: Some(Timestamp::from_secs(random.random_range(1_760_000_000..1_763_000_000))),
        content_digest: Some(Digest(random.random())),
        missing_since: None,
        missing_looks: 0,
        listed_change_at: None,
        looks: state(random).looks().encode(),
        watch: Vec::new(),
        focus_version: 0,
        forgotten: false,
        forgotten_at: None,
        mirror_sketch: Vec::new(),
        title: None,
        unread: None,
        copy_of: None,
        copy_bytes: 1_500,
        doubted_since: None,
        linked_sites: Vec::new(),
        is_unwanted: false,
        preferences: Vec::new(),
    }
}

/// State of a page that has shown two versions, of one word each.
fn state(random: &mut Pcg64) -> PageState {
    let mut state = PageState::default();
    for _ in 0..2 {
        let body = format!("<p>{:x}</p>", random.random::<u64>());
        state.observe(&Version::new(body.as_bytes(), Some("text/html"), None, &page::UrlRules::none()), None);
    }
    state
}

/// Bytes per page on disk of a table of the detector.
fn bytes_per_page(table: &str, value: &dyn Fn(&mut Pcg64) -> Vec<u8>) -> f64 {
    let directory = TempDir::new().expect("there is room for a benchmark");
    let mut random = Pcg64::seed_from_u64(1);
    let stores = RocksStores::new(directory.path(), StoreMemory::default());
    let task = TaskId { stage: "detector".to_owned(), partition: 0 };
    let names = detector::topology().table_names();
    let store = names.iter().position(|name| *name == table).expect("the detector has the table");
    let mut state = stores.open("bench", &task, &names).expect("a store opens");
    for _ in 0..KEPT_PAGES / BATCH {
        let write =
            |_| StoreWrite { store, key: random.random::<[u8; 16]>().to_vec(), value: Some(value(&mut random)) };
        let writes: Vec<_> = (0..BATCH).map(write).collect();
        state.apply(&writes, &Checkpoint::empty(names.len())).expect("a store takes writes");
    }
    drop(state);
    // Closing leaves the newest writes in the log; opening writes them to a table.
    drop(stores.open("bench", &task, &names).expect("a store opens"));
    tables(directory.path()) as f64 / KEPT_PAGES as f64
}

/// Bytes of the tables below a directory.
fn tables(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).expect("the directory is ours").flatten();
    let bytes = |entry: std::fs::DirEntry| match entry.path() {
        path if path.is_dir() => tables(&path),
        path if path.extension().is_some_and(|extension| extension == "sst") => {
            entry.metadata().map_or(0, |file| file.len())
        }
        _ => 0,
    };
    entries.map(bytes).sum()
}
