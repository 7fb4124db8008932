//! The state of each page in all stages, read from the stores of a crawl that does not run.

use crate::Crawl;
use estimator::PageBelief;
use messages::Encoded;
use operate::{CrawlState, Inspection};
use page::PageId;
use recrawl::stages::topologies;
use scheduler::ScheduledPage;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stream::{StageTopology, StateStore, Table, TableError, TaskId, TaskTables};
use stream_rocksdb::{EmbeddedBackend, EmbeddedStores, RocksStores, StoreMemory};

/// One page in the books of all stages.
#[derive(Debug)]
pub struct Entry {
    /// The scheduler's record.
    pub scheduler: ScheduledPage,
    /// Answers that the detector took in.
    pub detector_fetches: i64,
    /// Observations that the estimator took in.
    pub estimator_fetches: i64,
}

/// The books of a crawl.
pub fn read(crawl: &Crawl) -> BTreeMap<PageId, Entry> {
    let inspection =
        Inspection::open(&crawl.settings(), topologies(), &crawl.data()).expect("a crawl that ended can be read");
    let log = EmbeddedBackend::open_read_only(&crawl.data()).expect("a crawl that ended can be read");
    let stores = EmbeddedStores::new(Arc::new(log));
    read_stores(inspection.partitions(), |task, names| {
        stores.view(task, names).expect("every task of a crawl that ended has a store")
    })
}

/// Every entry of every table of a crawl that does not run: stage, table, key and value as bytes.
pub fn each_entry(crawl: &Crawl, visit: impl FnMut(&str, &str, &[u8], &[u8])) {
    let inspection =
        Inspection::open(&crawl.settings(), topologies(), &crawl.data()).expect("a crawl that ended can be read");
    let log = EmbeddedBackend::open_read_only(&crawl.data()).expect("a crawl that ended can be read");
    let stores = EmbeddedStores::new(Arc::new(log));
    visit_entries(inspection.partitions(), |task, names| stores.view(task, names), visit);
}

/// The same of stages that each have a data directory of their own.
pub fn each_entry_of_stages(
    partitions: u32,
    data: impl Fn(&str) -> PathBuf,
    visit: impl FnMut(&str, &str, &[u8], &[u8]),
) {
    let open = |task: &TaskId, names: &[&str]| -> Option<Box<dyn StateStore>> {
        let stores = RocksStores::new(&data(&task.stage), StoreMemory::default());
        let opened = (!names.is_empty()).then(|| stores.open_read_only(task, names));
        opened.map(|store| store.expect("every task of a crawl that ended has a store"))
    };
    visit_entries(partitions, open, visit);
}

fn visit_entries(
    partitions: u32,
    open: impl Fn(&TaskId, &[&str]) -> Option<Box<dyn StateStore>>,
    mut visit: impl FnMut(&str, &str, &[u8], &[u8]),
) {
    for topology in recrawl::stages::topologies() {
        let names = topology.table_names();
        for partition in 0..partitions {
            let task = TaskId { stage: topology.name.to_owned(), partition };
            let Some(store) = open(&task, &names) else { continue };
            for (place, table) in names.iter().enumerate() {
                let mut one = |key: &[u8], value: &[u8]| {
                    visit(topology.name, table, key, value);
                    ControlFlow::Continue(())
                };
                store.scan(place, b"", &mut one).expect("what the stage wrote can be read");
            }
        }
    }
}

/// The books of stages that each have a data directory of their own.
pub fn read_stages(partitions: u32, data: impl Fn(&str) -> PathBuf) -> BTreeMap<PageId, Entry> {
    read_stores(partitions, |task, names| {
        let stores = RocksStores::new(&data(&task.stage), StoreMemory::default());
        stores.open_read_only(task, names).expect("every task of a crawl that ended has a store")
    })
}

/// Calls `visit` with the belief on each page, from the stores of an estimator with a data directory of its own.
pub fn read_beliefs(partitions: u32, data: &Path, mut visit: impl FnMut(PageBelief)) {
    let stores = RocksStores::new(data, StoreMemory::default());
    let open = |task: &TaskId, names: &[&str]| -> Box<dyn StateStore> {
        stores.open_read_only(task, names).expect("every task of a crawl that ended has a store")
    };
    each(&open, partitions, &estimator::topology(), estimator::PAGES, |_, belief| visit(belief));
}

/// Opens the stores of a task.
type OpenStore<'a> = dyn Fn(&TaskId, &[&str]) -> Box<dyn StateStore> + 'a;

fn read_stores(partitions: u32, open: impl Fn(&TaskId, &[&str]) -> Box<dyn StateStore>) -> BTreeMap<PageId, Entry> {
    let mut pages = BTreeMap::new();
    each(&open, partitions, &scheduler::topology(), scheduler::PAGES, |id, scheduler| {
        pages.insert(id, Entry { scheduler, detector_fetches: 0, estimator_fetches: 0 });
    });
    each(&open, partitions, &detector::topology(), detector::PAGES, |id, sketch| {
        if sketch.forgotten {
            return;
        }
        pages.get_mut(&id).expect("the detector knows only what the scheduler asked for").detector_fetches =
            sketch.fetches;
    });
    each(&open, partitions, &estimator::topology(), estimator::PAGES, |id, belief| {
        pages.get_mut(&id).expect("the estimator knows only what the scheduler asked for").estimator_fetches =
            belief.fetches;
    });
    pages
}

fn each<V: Encoded>(
    open: &OpenStore<'_>,
    partitions: u32,
    topology: &StageTopology,
    table: Table<PageId, V>,
    mut visit: impl FnMut(PageId, V),
) {
    for partition in 0..partitions {
        let task = TaskId { stage: topology.name.to_owned(), partition };
        let tables = TaskTables::new(open(&task, &topology.table_names()), topology);
        let mut one = |id, value| {
            visit(id, value);
            Ok::<(), TableError>(())
        };
        tables.scan(table, b"", &mut one).expect("what the stage wrote can be read");
    }
}
