//! What the stages have written down about each page, read from the stores of a crawl that does not run.

use crate::Crawl;
use detector::PageSketch;
use estimator::PageBelief;
use messages::Message;
use page::PageId;
use recrawl::inspect::Inspection;
use scheduler::ScheduledPage;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use stream::{StateStore, TaskId};
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
    let inspection = Inspection::open(&crawl.settings(), &crawl.data()).expect("a crawl that ended can be read");
    let log = EmbeddedBackend::open_read_only(&crawl.data()).expect("a crawl that ended can be read");
    let stores = EmbeddedStores::new(Arc::new(log));
    read_stores(inspection.partitions(), |task, names| {
        stores.view(task, names).expect("every task of a crawl that ended has a store")
    })
}

/// The books of stages that each have a data directory of their own.
pub fn read_stages(partitions: u32, data: impl Fn(&str) -> PathBuf) -> BTreeMap<PageId, Entry> {
    read_stores(partitions, |task, names| {
        let stores = RocksStores::new(&data(&task.stage), StoreMemory::default());
        stores.open_read_only(task, names).expect("every task of a crawl that ended has a store")
    })
}

/// Opens the stores of a task.
type OpenStore<'a> = dyn Fn(&TaskId, &[&str]) -> Box<dyn StateStore> + 'a;

fn read_stores(partitions: u32, open: impl Fn(&TaskId, &[&str]) -> Box<dyn StateStore>) -> BTreeMap<PageId, Entry> {
    let mut pages = BTreeMap::new();
    each::<ScheduledPage>(&open, partitions, "scheduler", &["pages", "hosts"], |id, scheduler| {
        pages.insert(id, Entry { scheduler, detector_fetches: 0, estimator_fetches: 0 });
    });
    each::<PageSketch>(&open, partitions, "detector", &detector::STORES, |id, sketch| {
        pages.get_mut(&id).expect("the detector knows only what the scheduler asked for").detector_fetches =
            sketch.fetches;
    });
    each::<PageBelief>(&open, partitions, "estimator", &["pages"], |id, belief| {
        pages.get_mut(&id).expect("the estimator knows only what the scheduler asked for").estimator_fetches =
            belief.fetches;
    });
    pages
}

fn each<T: Message>(
    open: &OpenStore<'_>,
    partitions: u32,
    stage: &str,
    names: &[&str],
    mut visit: impl FnMut(PageId, T),
) {
    for partition in 0..partitions {
        let task = TaskId { stage: stage.to_owned(), partition };
        let store = open(&task, names);
        let mut one = |key: &[u8], value: &[u8]| {
            let id = PageId(key.try_into().expect("keys are page ids"));
            visit(id, T::decode(value).expect("what the stage wrote can be read"));
            ControlFlow::Continue(())
        };
        store.scan(0, b"", &mut one).expect("a store can be read");
    }
}
