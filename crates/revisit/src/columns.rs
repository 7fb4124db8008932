//! Millions of pages in 37 bytes each, all scored at every scan.
//!
//! On real sites many pages change together. One page found changed raises the value of all its siblings at that
//! moment. A queue of precomputed due times would have to re-key every one of them. Instead, the few numbers that
//! determine a page's value are packed side by side, and every [`PageColumns::scan`] scores all pages. The columns are
//! rebuilt from the state store on start; they are never the only copy.
//!
//! | | bytes | |
//! |---|---|---|
//! | last look | 4 | whole seconds since 1970, good until 2106; time of discovery for a page never fetched |
//! | weight | 4 | importance divided by the cost of a fetch |
//! | own alpha, beta | 4 + 4 | belief about its own change rate |
//! | plain alpha, beta | 4 + 4 | belief about its change rate without sweeps |
//! | host | 4 | the caller's number for its host |
//! | membership | 4 | its site, cell and groups, shared with other pages |
//! | flags | 1 | not yet fetched, and why it may not be fetched now |
//! | place | 4 | its place on its site, shared too; gives the groups when sizes change |
//! | file name | 8 | the part of its place that few pages share; absent while no page has one |
//!
//! All but the last three columns form one record. Scoring a page needs nearly all of it, and a random access waits for
//! memory only once.

mod bounds;
mod demand;
mod distinct;
mod entry;
mod index;
mod memberships;
mod scan;
mod selection;
mod terms;

pub use self::demand::{Expectations, ValueHistogram};
pub use self::entry::{Candidate, LastLook, PageEntry, PageStatus, Slot};
pub use self::index::{Index, Worth, live_value, whole_belief};
pub use self::selection::Selection;

use self::entry::{NEVER_FETCHED, PageRecord, VACANT};
use self::memberships::{Membership, Memberships, Places};
use crate::rows::Rows;
use change_rate::GammaState;
use page::Timestamp;
use std::collections::BTreeSet;
use sweeps::{CellPriors, GroupNumbers, Members, Outlook, OwnEvidence, PagePlace};

const SECONDS_PER_DAY: f64 = 86_400.0;

/// All pages of one partition.
#[derive(Clone, Debug, Default)]
pub struct PageColumns {
    pages: Rows<PageRecord>,
    flags: Rows<u8>,
    place: Rows<u32>,
    /// By slot, up to the last page with a file name.
    file_names: Rows<u64>,
    vacant: Vec<Slot>,
    places: Places,
    memberships: Memberships,
    /// The [`Outlook::revision`] that all memberships are up to date with; `None` when some are older.
    revision: Option<u64>,
    /// The slot at which [`PageColumns::refresh`] stopped.
    refreshed: usize,
    /// Sum of the weights of all pages.
    weights: f64,
}

impl PageColumns {
    /// Bytes per page, without its file name.
    pub const BYTES_PER_PAGE: usize = size_of::<PageRecord>() + 1 + 4;

    pub fn len(&self) -> usize {
        self.flags.len() - self.vacant.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Mean weight of the pages; zero without pages.
    pub fn mean_weight(&self) -> f64 {
        // Rounding may leave a tiny negative sum.
        self.weights.max(0.0) / self.len().max(1) as f64
    }

    /// Number of slots ever assigned: every [`Slot::index`] is below it.
    pub fn slots(&self) -> usize {
        self.flags.len()
    }

    /// Adds a page and returns its slot, which stays valid until the page is removed. Its groups count from the next
    /// [`PageColumns::refresh`].
    pub fn insert(&mut self, entry: &PageEntry, place: &PagePlace) -> Slot {
        let slot = self.vacant.pop().unwrap_or_else(|| self.push_vacant());
        self.fill(slot, entry, place);
        slot
    }

    /// Adds a page at a given slot, for callers that number their pages themselves. Replaces a page already there.
    pub fn insert_at(&mut self, slot: Slot, entry: &PageEntry, place: &PagePlace) {
        self.remove(slot);
        while self.flags.len() <= slot.index() {
            let vacant = self.push_vacant();
            self.vacant.push(vacant);
        }
        // Usually the last one vacated, or the one just made.
        if let Some(position) = self.vacant.iter().rposition(|vacant| *vacant == slot) {
            self.vacant.swap_remove(position);
        }
        self.fill(slot, entry, place);
    }

    fn push_vacant(&mut self) -> Slot {
        let slot = u32::try_from(self.flags.len()).expect("a partition holds fewer than 2^32 pages");
        self.pages.push(PageRecord::default());
        self.flags.push(VACANT);
        self.place.push(0);
        Slot(slot)
    }

    fn fill(&mut self, slot: Slot, entry: &PageEntry, place: &PagePlace) {
        let i = slot.index();
        let membership = self.memberships.attach_new(place);
        let (number, file_name) = self.places.attach(place);
        self.place[i] = number;
        self.pages[i] = PageRecord { membership, ..PageRecord::default() };
        self.set_file_name(i, file_name);
        self.revision = None;
        self.put(slot, entry);
    }

    fn set_file_name(&mut self, i: usize, file_name: u64) {
        if file_name != 0 || i < self.file_names.len() {
            *self.file_names.at(i, 0) = file_name;
        }
    }

    /// The page in a slot, if there is one.
    pub fn get(&self, slot: Slot) -> Option<PageEntry> {
        let i = slot.index();
        let flags = self.flags.get(i).copied().filter(|flags| flags & VACANT == 0)?;
        let page = &self.pages[i];
        let at = Timestamp::from_secs(i64::from(page.last_look));
        Some(PageEntry {
            last_look: if flags & NEVER_FETCHED == 0 { LastLook::Looked(at) } else { LastLook::Discovered(at) },
            belief: page.belief,
            weight: f64::from(page.weight),
            host: page.host,
            status: PageStatus::of(flags),
        })
    }

    /// The place of a page on its site.
    pub fn place(&self, slot: Slot) -> Option<PagePlace> {
        let i = slot.index();
        let held = self.flags.get(i).is_some_and(|flags| flags & VACANT == 0);
        held.then(|| self.place_of(i))
    }

    fn place_of(&self, i: usize) -> PagePlace {
        let file_name = self.file_names.get(i).copied().unwrap_or_default();
        self.places.get(self.place[i], file_name)
    }

    /// Whether all groups are up to date: [`PageColumns::refresh`] would do nothing.
    pub fn is_refreshed(&self, outlook: &Outlook) -> bool {
        self.revision == Some(outlook.revision())
    }

    /// The memberships of a page, as numbers of this outlook. `None` when there is no page, when the columns are not
    /// [refreshed](PageColumns::is_refreshed), or when the outlook does not know the page's cell or site.
    pub fn members(&self, slot: Slot, outlook: &Outlook) -> Option<Members> {
        if !self.is_refreshed(outlook) {
            return None;
        }
        let page = self.pages.get(slot.index()).filter(|_| self.flags[slot.index()] & VACANT == 0)?;
        let membership = &self.memberships.rows()[page.membership as usize];
        let groups = membership.groups().iter().map(|group| self.memberships.groups()[*group as usize].number);
        let members = Members { groups: GroupNumbers::new(groups), cell: membership.cell, site: membership.site };
        membership.is_known().then_some(members)
    }

    pub fn belief(&self, slot: Slot) -> Option<OwnEvidence> {
        let page = self.pages.get(slot.index()).filter(|_| self.flags[slot.index()] & VACANT == 0)?;
        Some(page.belief)
    }

    /// All pages, in the order of slots.
    pub fn entries(&self) -> impl Iterator<Item = PageEntry> {
        (0..self.flags.len() as u32).filter_map(|slot| self.get(Slot(slot)))
    }

    /// The pages in any of these cells, in the order of slots. One pass over all pages, reading five bytes of each.
    pub fn slots_in_cells(&self, cells: &BTreeSet<u64>) -> Vec<Slot> {
        let wanted: Vec<bool> = self.memberships.rows().iter().map(|row| cells.contains(&row.cell_hash())).collect();
        let held = self.flags.iter().zip(self.pages.iter()).enumerate();
        held.filter(|(_, (flags, page))| **flags & VACANT == 0 && wanted[page.membership as usize])
            .map(|(i, _)| Slot(i as u32))
            .collect()
    }

    /// Changes a page. Returns `false` if the slot is empty.
    pub fn update(&mut self, slot: Slot, change: impl FnOnce(&mut PageEntry)) -> bool {
        let Some(mut entry) = self.get(slot) else { return false };
        change(&mut entry);
        self.put(slot, &entry);
        true
    }

    /// Changes the belief about a page. Returns `false` if the slot is empty.
    pub fn set_belief(&mut self, slot: Slot, belief: &OwnEvidence) -> bool {
        let i = slot.index();
        let held = self.flags.get(i).is_some_and(|flags| flags & VACANT == 0);
        if held {
            let counted = |state: GammaState| GammaState {
                delta_alpha: counted(state.delta_alpha),
                delta_beta_days: counted(state.delta_beta_days),
            };
            self.pages[i].belief = OwnEvidence { own: counted(belief.own), plain: counted(belief.plain) };
        }
        held
    }

    /// Changes whether a page may be chosen. Returns `false` if the slot is empty.
    pub fn set_status(&mut self, slot: Slot, status: PageStatus) -> bool {
        let held = self.flags.get_mut(slot.index()).filter(|flags| **flags & VACANT == 0);
        held.map(|flags| *flags = *flags & NEVER_FETCHED | status.flag()).is_some()
    }

    /// Makes a fetched page available again, and sets the time of its last look if one is given. Returns `false` when
    /// there is none.
    pub fn looked(&mut self, slot: Slot, at: Option<Timestamp>) -> bool {
        let held = self.set_status(slot, PageStatus::Ready);
        if let (true, Some(at)) = (held, at) {
            let i = slot.index();
            self.pages[i].last_look = whole_seconds(at);
            self.flags[i] &= !NEVER_FETCHED;
            self.note_look(i);
        }
        held
    }

    /// Notes that the look at a chosen page was not answered: its groups were not looked into after all.
    pub fn unanswered(&mut self, slot: Slot) {
        if self.flags.get(slot.index()).is_some_and(|flags| flags & VACANT == 0) {
            self.memberships.unanswered(self.pages[slot.index()].membership);
        }
    }

    /// Removes a page. Returns `false` if the slot is empty.
    pub fn remove(&mut self, slot: Slot) -> bool {
        let i = slot.index();
        let found = self.flags.get(i).is_some_and(|flags| flags & VACANT == 0);
        if found {
            let PageRecord { membership, weight, .. } = self.pages[i];
            self.weights -= f64::from(weight);
            self.memberships.weigh(membership, -f64::from(weight));
            self.memberships.detach(membership);
            self.places.detach(self.place[i]);
            self.flags[i] = VACANT;
            self.vacant.push(slot);
        }
        found
    }

    fn put(&mut self, slot: Slot, entry: &PageEntry) {
        let i = slot.index();
        let (at, never_fetched) = match entry.last_look {
            LastLook::Discovered(at) => (at, NEVER_FETCHED),
            LastLook::Looked(at) => (at, 0),
        };
        let page = &mut self.pages[i];
        page.last_look = whole_seconds(at);
        let weight = counted(entry.weight as f32);
        if weight != page.weight {
            let more = f64::from(weight) - f64::from(page.weight);
            self.weights += more;
            self.memberships.weigh(page.membership, more);
            page.weight = weight;
        }
        page.host = entry.host;
        self.flags[i] = never_fetched | entry.status.flag();
        self.set_belief(slot, &entry.belief);
        self.note_look(i);
    }

    /// Notes a look at the groups of page `i`, at the time of its last look.
    fn note_look(&mut self, i: usize) {
        if self.flags[i] & NEVER_FETCHED == 0 {
            self.memberships.looked(self.pages[i].membership, self.pages[i].last_look_days());
        }
    }

    /// The priors of a membership's cell.
    fn priors(&self, membership: &Membership, outlook: &Outlook) -> CellPriors {
        let known = outlook.priors_at(membership.cell);
        known.unwrap_or_else(|| outlook.priors(membership.cell_hash()))
    }

    /// The trust in sweeps at a membership's site.
    fn trust(&self, membership: &Membership, outlook: &Outlook) -> f64 {
        let known = outlook.trust_at(membership.site);
        known.unwrap_or_else(|| outlook.trust(membership.site_hash()))
    }

    /// Asks the outlook again for the groups of new pages, and of pages on sites that have changed much in size. Moves
    /// at most this many pages and returns their number; call it again for the others. Cheap when there is nothing to
    /// do. Only scans by [`Index::Live`] need it.
    pub fn refresh(&mut self, outlook: &Outlook, most: usize) -> usize {
        if self.is_refreshed(outlook) {
            return 0;
        }
        self.memberships.ask_numbers(outlook);
        let is_stale = |columns: &Self, number: usize| {
            let row = &columns.memberships.rows()[number];
            row.is_stale(outlook.site_revision(row.site_hash()))
        };
        let stale: Vec<bool> = (0..self.memberships.rows().len()).map(|number| is_stale(self, number)).collect();
        let (slots, mut done) = (self.flags.len(), 0);
        for _ in 0..slots {
            if done == most {
                return done;
            }
            self.refreshed = if self.refreshed + 1 < slots { self.refreshed + 1 } else { 0 };
            let i = self.refreshed;
            let number = self.pages[i].membership;
            // Memberships made meanwhile are up to date.
            if self.flags[i] & VACANT == 0
                && stale.get(number as usize) == Some(&true)
                && is_stale(self, number as usize)
            {
                self.join(i, outlook);
                done += 1;
            }
        }
        self.revision = Some(outlook.revision());
        done
    }

    /// Moves page `i` to the groups that the outlook knows now.
    fn join(&mut self, i: usize, outlook: &Outlook) {
        let (old, place) = (self.pages[i].membership, self.place_of(i));
        let new = self.memberships.attach(&place, outlook);
        let weight = f64::from(self.pages[i].weight);
        self.memberships.weigh(new, weight);
        self.pages[i].membership = new;
        self.note_look(i);
        self.memberships.weigh(old, -weight);
        self.memberships.detach(old);
    }
}

fn whole_seconds(at: Timestamp) -> u32 {
    at.as_secs().clamp(0, i64::from(u32::MAX)) as u32
}

/// Maps negative numbers and NaN to zero.
#[expect(clippy::manual_clamp, reason = "clamp keeps what is not a number")]
fn counted(number: f32) -> f32 {
    number.max(0.0).min(f32::MAX)
}
