//! The list of seeds that a crawl was started with.

use page::PageId;
use std::sync::Arc;

/// The pages of the list, and whether they are all that is fetched.
#[derive(Clone, Debug)]
pub struct ListedSeeds {
    /// In order.
    ids: Arc<[PageId]>,
    is_all: bool,
}

impl ListedSeeds {
    /// A list of these pages. `is_all`: no page beside them is fetched.
    pub fn new(ids: impl IntoIterator<Item = PageId>, is_all: bool) -> Self {
        let mut ids: Vec<_> = ids.into_iter().collect();
        ids.sort_unstable();
        ids.dedup();
        Self { ids: ids.into(), is_all }
    }

    /// Whether nothing but the list is fetched.
    pub fn is_all(&self) -> bool {
        self.is_all
    }

    pub fn contains(&self, id: PageId) -> bool {
        self.ids.binary_search(&id).is_ok()
    }

    /// The pages of the list, in order.
    pub fn ids(&self) -> &[PageId] {
        &self.ids
    }
}
