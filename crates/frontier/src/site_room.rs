//! Room in a full partition: which page makes it for a seed, or for a page of a smaller site.

use crate::host_limit::Worth;
use page::PageId;
use revisit::columns::{PageColumns, Slot};
use revisit::rows::Rows;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

/// The part of the pages that may go which one pass over all pages chooses. So a page that goes costs some thirty looks.
const PART: usize = 32;
/// The share of a partition that a site does not lose to smaller ones.
const SHARE_THAT_STAYS: u64 = 100;
/// In place of the worth of a page that was chosen to go and is still known.
const LEAVING: f32 = f32::NEG_INFINITY;

/// How many pages each site has, and which may go. All of it follows from the records of the pages.
#[derive(Debug, Default)]
pub(crate) struct SiteRoom {
    /// By the hash of the site. Pages that leave are not counted.
    sites: HashMap<u64, PagesOfSite>,
    /// The sites with pages that may go, by the number of all their pages.
    largest: BTreeSet<(u32, u64)>,
    /// By slot: what is lost if the page makes room. Not a number: it stays.
    at_stake: Rows<f32>,
    /// Pages that go next, the first one last.
    queue: Vec<Candidate>,
}

#[derive(Clone, Copy, Debug, Default)]
struct PagesOfSite {
    pages: u32,
    may_go: u32,
}

/// A page that may go.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    worth: f32,
    slot: Slot,
    id: PageId,
    site: u64,
}

/// The page for which another makes room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Newcomer {
    Seed,
    /// A discovered page of this site.
    OfSite(u64),
}

impl SiteRoom {
    /// A site has one more page.
    pub(crate) fn count(&mut self, site: u64) {
        self.change(site, |of_site| of_site.pages += 1);
    }

    /// A page is no longer known.
    pub(crate) fn remove(&mut self, slot: Slot, site: u64) {
        self.leave(slot, site);
        self.at_stake[slot.index()] = f32::NAN;
    }

    /// Notes what is lost if a page makes room; `None` if it stays. A page that leaves does so whatever comes.
    pub(crate) fn set(&mut self, slot: Slot, site: u64, at_stake: Option<Worth>) {
        let known = self.at_stake.at(slot.index(), f32::NAN);
        if *known == LEAVING {
            return;
        }
        let before = !known.is_nan();
        *known = at_stake.map_or(f32::NAN, Worth::value);
        match (before, at_stake.is_some()) {
            (false, true) => self.change(site, |of_site| of_site.may_go += 1),
            (true, false) => self.change(site, |of_site| of_site.may_go -= 1),
            (false, false) | (true, true) => {}
        }
    }

    /// A page was chosen to go. From now on it is not counted, and not chosen again.
    pub(crate) fn leave(&mut self, slot: Slot, site: u64) {
        if !self.is_leaving(slot) {
            self.set(slot, site, None);
            self.at_stake[slot.index()] = LEAVING;
            self.change(site, |of_site| of_site.pages -= 1);
        }
    }

    pub(crate) fn is_leaving(&self, slot: Slot) -> bool {
        self.at_stake.get(slot.index()) == Some(&LEAVING)
    }

    /// The worth that is lost if a page makes room; `None` if it stays, or leaves already.
    pub(crate) fn at_stake(&self, slot: Slot) -> Option<Worth> {
        let worth = self.at_stake.get(slot.index()).filter(|worth| !worth.is_nan() && **worth != LEAVING);
        worth.map(|worth| Worth::from_value(*worth))
    }

    /// The page that makes room in a partition of at most `max_pages`: one of the poorest that may go, of the site with most
    /// pages. It is not chosen again, and is counted until it [leaves](Self::leave).
    pub(crate) fn next(
        &mut self,
        newcomer: Newcomer,
        max_pages: u64,
        ids: &Rows<PageId>,
        columns: &PageColumns,
    ) -> Option<Slot> {
        let (_, largest) = *self.largest.last()?;
        if !self.gives(largest, newcomer, max_pages) {
            return None;
        }
        if let Some(chosen) = self.next_chosen(newcomer, max_pages, ids) {
            return Some(chosen.slot);
        }
        self.choose(ids, columns);
        Some(self.next_chosen(newcomer, max_pages, ids)?.slot)
    }

    /// The next page of the queue. `None` if none is left, or if its site is no longer among the largest: then others go first.
    fn next_chosen(&mut self, newcomer: Newcomer, max_pages: u64, ids: &Rows<PageId>) -> Option<Candidate> {
        loop {
            let next = self.queue.pop()?;
            // It may have gone, be leaving, or have become richer.
            let is_as_chosen = ids[next.slot.index()] == next.id && !self.is_leaving(next.slot);
            if is_as_chosen && self.at_stake[next.slot.index()] <= next.worth {
                return self.gives(next.site, newcomer, max_pages).then_some(next);
            }
        }
    }

    /// Whether a site gives up a page for another: for a seed always, for a discovered page while it has more pages than that
    /// one's site will have, and more than what stays.
    fn gives(&self, site: u64, newcomer: Newcomer, max_pages: u64) -> bool {
        match newcomer {
            Newcomer::Seed => true,
            Newcomer::OfSite(other) => {
                let pages = self.pages_of(site);
                pages > self.pages_of(other) + 1 && pages > max_pages.div_ceil(SHARE_THAT_STAYS)
            }
        }
    }

    pub(crate) fn pages_of(&self, site: u64) -> u64 {
        self.sites.get(&site).map_or(0, |of_site| of_site.pages.into())
    }

    /// Chooses the next pages to go: again and again the poorest of the site that has most pages then.
    fn choose(&mut self, ids: &Rows<PageId>, columns: &PageColumns) {
        let mut by_site: HashMap<u64, Vec<(f32, Slot)>> = HashMap::new();
        let may_go = self.at_stake.iter().zip(0..).filter(|(worth, _)| !worth.is_nan() && **worth != LEAVING);
        for (worth, slot) in may_go.map(|(worth, number)| (*worth, Slot::new(number))) {
            let site = columns.place(slot).map(|place| place.site);
            site.into_iter().for_each(|site| by_site.entry(site).or_default().push((worth, slot)));
        }
        let part = by_site.values().map(Vec::len).sum::<usize>().div_ceil(PART);
        let mut largest: BinaryHeap<_> = by_site.keys().map(|site| (self.pages_of(*site), *site)).collect();
        let (mut chosen, mut poorest) = (Vec::with_capacity(part), HashMap::new());
        while chosen.len() < part {
            let Some((pages, site)) = largest.pop() else { break };
            let of_site: &mut Vec<_> =
                poorest.entry(site).or_insert_with(|| poorest_last(by_site.remove(&site).unwrap_or_default(), part));
            if let Some((worth, slot)) = of_site.pop() {
                chosen.push(Candidate { worth, slot, id: ids[slot.index()], site });
                largest.push((pages.saturating_sub(1), site));
            }
        }
        chosen.reverse();
        self.queue = chosen;
    }

    /// Changes the counts of a site, and its place among the others.
    fn change(&mut self, site: u64, change: impl FnOnce(&mut PagesOfSite)) {
        let of_site = self.sites.entry(site).or_default();
        let before = *of_site;
        change(of_site);
        let after = *of_site;
        if before.may_go > 0 && (before.pages != after.pages || after.may_go == 0) {
            self.largest.remove(&(before.pages, site));
        }
        if after.may_go > 0 && (before.pages != after.pages || before.may_go == 0) {
            self.largest.insert((after.pages, site));
        }
        if after.pages == 0 {
            self.sites.remove(&site);
        }
    }
}

/// The poorest of these pages, `most` at most, the poorest last.
fn poorest_last(mut pages: Vec<(f32, Slot)>, most: usize) -> Vec<(f32, Slot)> {
    let by_worth = |a: &(f32, Slot), b: &(f32, Slot)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if most < pages.len() {
        pages.select_nth_unstable_by(most, by_worth);
        pages.truncate(most);
    }
    pages.sort_unstable_by(|a, b| by_worth(b, a));
    pages
}

#[cfg(test)]
mod tests;
