//! Room in a full partition: which page makes it for a seed, or for a page of a site that has few.

use crate::host_limit::Worth;
use page::PageId;
use revisit::columns::{PageColumns, Slot};
use std::collections::HashMap;

/// The part of a site's pages that is chosen at once to make room, so that the pass over all pages is rare.
const PART: usize = 32;
/// The share of a partition up to which a site gets room from larger ones.
const SHARE_OF_SITE: u64 = 10;

/// How many pages each site has, and which may go. All of it follows from the records of the pages.
#[derive(Debug, Default)]
pub(crate) struct SiteRoom {
    /// Pages of each site, by its hash.
    pages: HashMap<u64, u64>,
    /// By slot: what is lost if the page makes room. Not a number: it stays.
    at_stake: Vec<f32>,
    /// Pages that may go. Where there are none, as in a partition of seeds, no pass looks for them.
    may_go: usize,
    /// Pages that go next, the poorest last, …
    queue: Vec<(f32, Slot, PageId)>,
    /// … of this site.
    queue_of: u64,
}

impl SiteRoom {
    /// A site has one more page.
    pub(crate) fn count(&mut self, site: u64) {
        *self.pages.entry(site).or_default() += 1;
    }

    /// A site has one page less.
    pub(crate) fn discount(&mut self, site: u64) {
        if let Some(pages) = self.pages.get_mut(&site) {
            *pages -= 1;
            if *pages == 0 {
                self.pages.remove(&site);
            }
        }
    }

    /// Notes what is lost if a page makes room; `None` if it stays.
    pub(crate) fn set(&mut self, slot: Slot, at_stake: Option<Worth>) {
        if self.at_stake.len() <= slot.index() {
            self.at_stake.resize(slot.index() + 1, f32::NAN);
        }
        let known = &mut self.at_stake[slot.index()];
        self.may_go -= usize::from(!known.is_nan());
        *known = at_stake.map_or(f32::NAN, |worth| worth.value() as f32);
        self.may_go += usize::from(!known.is_nan());
    }

    /// Whether a site is to get room from larger ones, in a partition of at most `max_pages`.
    pub(crate) fn has_claim(&self, site: u64, max_pages: u64) -> bool {
        self.pages.get(&site).copied().unwrap_or(0) < share_of_site(max_pages)
    }

    /// The page that makes room: one of the poorest that may go, of the site that has most of them; for a discovered page, of a
    /// site that has more than its share. It is not named again.
    pub(crate) fn next(
        &mut self,
        ids: &[PageId],
        columns: &PageColumns,
        max_pages: u64,
        is_for_seed: bool,
    ) -> Option<Slot> {
        loop {
            if self.may_go == 0 || self.queue.is_empty() && !self.choose(ids, columns) {
                return None;
            }
            if !is_for_seed && self.has_claim(self.queue_of, max_pages) {
                return None;
            }
            let Some((worth, slot, id)) = self.queue.pop() else { continue };
            // It may have gone, or have become richer.
            if ids[slot.index()] == id && self.at_stake[slot.index()] <= worth {
                self.set(slot, None);
                return Some(slot);
            }
        }
    }

    /// Chooses the next pages to go. Returns whether there are any.
    fn choose(&mut self, ids: &[PageId], columns: &PageColumns) -> bool {
        let mut may_go: HashMap<u64, u64> = HashMap::new();
        let site_of = |slot: Slot| columns.place(slot).map(|place| place.site);
        let slots = self.at_stake.iter().enumerate().filter(|(_, worth)| !worth.is_nan());
        let slots: Vec<(f32, Slot)> = slots.map(|(place, worth)| (*worth, Slot::new(place as u32))).collect();
        for (_, slot) in &slots {
            site_of(*slot).into_iter().for_each(|site| *may_go.entry(site).or_default() += 1);
        }
        let Some((&site, _)) = may_go.iter().max_by_key(|(site, pages)| (**pages, **site)) else { return false };
        let of_site = slots.into_iter().filter(|(_, slot)| site_of(*slot) == Some(site));
        let mut poorest: Vec<_> = of_site.map(|(worth, slot)| (worth, slot, ids[slot.index()])).collect();
        let part = poorest.len().div_ceil(PART);
        if part < poorest.len() {
            poorest.select_nth_unstable_by(part, |a, b| a.0.total_cmp(&b.0));
            poorest.truncate(part);
        }
        poorest.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        (self.queue, self.queue_of) = (poorest, site);
        true
    }
}

/// Pages of a site that get room from larger sites, in a partition of at most `max_pages`.
fn share_of_site(max_pages: u64) -> u64 {
    max_pages.div_ceil(SHARE_OF_SITE)
}
