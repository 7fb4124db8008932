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
use std::path::{Path, PathBuf};
use stream::TaskId;
use stream_rocksdb::{RocksStores, StoreMemory};

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
    read_stages(inspection.partitions(), |_| crawl.data())
}

/// The books of stages that each have a data directory of their own.
pub fn read_stages(partitions: u32, data: impl Fn(&str) -> PathBuf) -> BTreeMap<PageId, Entry> {
    let mut pages = BTreeMap::new();
    each::<ScheduledPage>(&data("scheduler"), partitions, "scheduler", &["pages", "hosts"], |id, scheduler| {
        pages.insert(id, Entry { scheduler, detector_fetches: 0, estimator_fetches: 0 });
    });
    each::<PageSketch>(&data("detector"), partitions, "detector", &detector::STORES, |id, sketch| {
        pages.get_mut(&id).expect("the detector knows only what the scheduler asked for").detector_fetches =
            sketch.fetches;
    });
    each::<PageBelief>(&data("estimator"), partitions, "estimator", &["pages"], |id, belief| {
        pages.get_mut(&id).expect("the estimator knows only what the scheduler asked for").estimator_fetches =
            belief.fetches;
    });
    pages
}

fn each<T: Message>(data: &Path, partitions: u32, stage: &str, names: &[&str], mut visit: impl FnMut(PageId, T)) {
    let stores = RocksStores::new(data, StoreMemory::default());
    for partition in 0..partitions {
        let task = TaskId { stage: stage.to_owned(), partition };
        let store = stores.open_read_only(&task, names).expect("every task of a crawl that ended has a store");
        let mut one = |key: &[u8], value: &[u8]| {
            let id = PageId(key.try_into().expect("keys are page ids"));
            visit(id, T::decode(value).expect("what the stage wrote can be read"));
            ControlFlow::Continue(())
        };
        store.scan(0, b"", &mut one).expect("a store can be read");
    }
}
