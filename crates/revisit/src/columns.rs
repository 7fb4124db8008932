//! Millions of pages in 45 bytes each, scored all at once.
//!
//! On real sites many pages change together, and one page found changed raises the worth of all its siblings at that
//! moment. A queue of precomputed due times would have to re-key every one of them; instead the few numbers that a
//! page's worth depends on lie in packed columns, and every [`PageColumns::scan`] scores all pages afresh. The columns
//! are rebuilt from the state store on start: nothing here is the only copy.
//!
//! | column | bytes | |
//! |---|---|---|
//! | last look | 4 | whole seconds since 1970, good until 2106; for a page never fetched, when it was discovered |
//! | own alpha, beta | 4 + 4 | what is believed of its own change rate |
//! | plain alpha, beta | 4 + 4 | the same as if there were no sweeps |
//! | weight | 4 | importance divided by the cost of a fetch |
//! | host | 4 | the caller's number for its host |
//! | membership | 4 | its site, cell and groups, shared with other pages |
//! | place | 4 | where it stands on its site, shared too: groups follow from it when sizes change |
//! | file name | 8 | the part of the place that few pages share |
//! | flags | 1 | not yet fetched, and why it may not be fetched now |

mod demand;
mod entry;
mod index;
mod memberships;
mod selection;

pub use self::demand::{Expectations, ValueHistogram};
pub use self::entry::{Candidate, LastLook, PageEntry, Slot, Standing};
pub use self::index::{Index, Worth, live_value, whole_belief};
pub use self::selection::Selection;

use self::entry::{NEVER_FETCHED, VACANT};
use self::memberships::{Memberships, Places};
use change_rate::GammaState;
use page::Timestamp;
use std::collections::BTreeSet;
use sweeps::{Outlook, PageBelief, Place};

const SECONDS_PER_DAY: f64 = 86_400.0;

/// All pages of one partition.
#[derive(Clone, Debug, Default)]
pub struct PageColumns {
    last_look: Vec<u32>,
    own_alpha: Vec<f32>,
    own_beta_days: Vec<f32>,
    plain_alpha: Vec<f32>,
    plain_beta_days: Vec<f32>,
    weight: Vec<f32>,
    host: Vec<u32>,
    membership: Vec<u32>,
    place: Vec<u32>,
    file_name: Vec<u64>,
    flags: Vec<u8>,
    vacant: Vec<Slot>,
    places: Places,
    memberships: Memberships,
    /// [`Outlook::revision`] that all memberships are up to; `None` when some page's is older.
    revision: Option<u64>,
    /// Where [`PageColumns::refresh`] stopped.
    refreshed: usize,
}

impl PageColumns {
    /// Bytes that one page takes.
    pub const BYTES_PER_PAGE: usize = 9 * 4 + 8 + 1;

    /// Empty, with room for this many pages.
    pub fn with_capacity(pages: usize) -> Self {
        Self {
            last_look: Vec::with_capacity(pages),
            own_alpha: Vec::with_capacity(pages),
            own_beta_days: Vec::with_capacity(pages),
            plain_alpha: Vec::with_capacity(pages),
            plain_beta_days: Vec::with_capacity(pages),
            weight: Vec::with_capacity(pages),
            host: Vec::with_capacity(pages),
            membership: Vec::with_capacity(pages),
            place: Vec::with_capacity(pages),
            file_name: Vec::with_capacity(pages),
            flags: Vec::with_capacity(pages),
            ..Self::default()
        }
    }

    /// Pages held.
    pub fn len(&self) -> usize {
        self.flags.len() - self.vacant.len()
    }

    /// Whether no page is held.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Slots ever given out: every [`Slot::index`] is below.
    pub fn slots(&self) -> usize {
        self.flags.len()
    }

    /// Adds a page and says where it is, until it is removed. Its groups count from the next [`PageColumns::refresh`].
    pub fn insert(&mut self, entry: &PageEntry, place: &Place) -> Slot {
        let slot = self.vacant.pop().unwrap_or_else(|| self.push_vacant());
        self.fill(slot, entry, place);
        slot
    }

    /// Adds a page in a slot of the caller's choosing, for callers that number their pages themselves. A page already
    /// there is replaced.
    pub fn insert_at(&mut self, slot: Slot, entry: &PageEntry, place: &Place) {
        self.remove(slot);
        while self.flags.len() <= slot.index() {
            let vacant = self.push_vacant();
            self.vacant.push(vacant);
        }
        // Usually the last one given up, or the one just made.
        if let Some(position) = self.vacant.iter().rposition(|vacant| *vacant == slot) {
            self.vacant.swap_remove(position);
        }
        self.fill(slot, entry, place);
    }

    fn push_vacant(&mut self) -> Slot {
        let slot = u32::try_from(self.flags.len()).expect("a partition holds fewer than 2^32 pages");
        self.last_look.push(0);
        self.own_alpha.push(0.0);
        self.own_beta_days.push(0.0);
        self.plain_alpha.push(0.0);
        self.plain_beta_days.push(0.0);
        self.weight.push(0.0);
        self.host.push(0);
        self.membership.push(0);
        self.place.push(0);
        self.file_name.push(0);
        self.flags.push(VACANT);
        Slot(slot)
    }

    fn fill(&mut self, slot: Slot, entry: &PageEntry, place: &Place) {
        let i = slot.index();
        (self.place[i], self.file_name[i]) = self.places.attach(place);
        self.membership[i] = self.memberships.attach_new(place);
        self.weight[i] = 0.0;
        self.revision = None;
        self.put(slot, entry);
    }

    /// The page in a slot, if there is one.
    pub fn get(&self, slot: Slot) -> Option<PageEntry> {
        let i = slot.index();
        let flags = self.flags.get(i).copied().filter(|flags| flags & VACANT == 0)?;
        let at = Timestamp::from_secs(i64::from(self.last_look[i]));
        Some(PageEntry {
            last_look: if flags & NEVER_FETCHED == 0 { LastLook::Looked(at) } else { LastLook::Discovered(at) },
            belief: self.belief(i),
            weight: f64::from(self.weight[i]),
            host: self.host[i],
            standing: Standing::of(flags),
        })
    }

    /// Where the page in a slot stands on its site.
    pub fn place(&self, slot: Slot) -> Option<Place> {
        let i = slot.index();
        let held = self.flags.get(i).is_some_and(|flags| flags & VACANT == 0);
        held.then(|| self.places.get(self.place[i], self.file_name[i]))
    }

    /// Every page held, in the order of slots.
    pub fn entries(&self) -> impl Iterator<Item = PageEntry> {
        (0..self.flags.len() as u32).filter_map(|slot| self.get(Slot(slot)))
    }

    /// The pages in any of these cells, in the order of slots: one pass over all pages, five bytes of each.
    pub fn slots_in_cells(&self, cells: &BTreeSet<u64>) -> Vec<Slot> {
        let wanted: Vec<bool> = self.memberships.rows.iter().map(|row| cells.contains(&row.cell())).collect();
        let held = self.flags.iter().zip(&self.membership).enumerate();
        held.filter(|(_, (flags, membership))| **flags & VACANT == 0 && wanted[**membership as usize])
            .map(|(i, _)| Slot(i as u32))
            .collect()
    }

    /// Changes the page in a slot; `false` when there is none.
    pub fn update(&mut self, slot: Slot, change: impl FnOnce(&mut PageEntry)) -> bool {
        let Some(mut entry) = self.get(slot) else { return false };
        change(&mut entry);
        self.put(slot, &entry);
        true
    }

    /// Changes what is believed of a page; `false` when there is none.
    pub fn set_belief(&mut self, slot: Slot, belief: &PageBelief) -> bool {
        let i = slot.index();
        let held = self.flags.get(i).is_some_and(|flags| flags & VACANT == 0);
        if held {
            self.own_alpha[i] = counted(belief.own.delta_alpha);
            self.own_beta_days[i] = counted(belief.own.delta_beta_days);
            self.plain_alpha[i] = counted(belief.plain.delta_alpha);
            self.plain_beta_days[i] = counted(belief.plain.delta_beta_days);
        }
        held
    }

    /// Changes whether a page may be chosen; `false` when there is none.
    pub fn set_standing(&mut self, slot: Slot, standing: Standing) -> bool {
        let held = self.flags.get_mut(slot.index()).filter(|flags| **flags & VACANT == 0);
        held.map(|flags| *flags = *flags & NEVER_FETCHED | standing.flag()).is_some()
    }

    /// Forgets the page in a slot; `false` when there is none.
    pub fn remove(&mut self, slot: Slot) -> bool {
        let i = slot.index();
        let found = self.flags.get(i).is_some_and(|flags| flags & VACANT == 0);
        if found {
            self.memberships.weigh(self.membership[i], -f64::from(self.weight[i]));
            self.memberships.detach(self.membership[i]);
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
        self.last_look[i] = at.as_secs().clamp(0, i64::from(u32::MAX)) as u32;
        let weight = counted(entry.weight as f32);
        if weight != self.weight[i] {
            self.memberships.weigh(self.membership[i], f64::from(weight) - f64::from(self.weight[i]));
            self.weight[i] = weight;
        }
        self.host[i] = entry.host;
        self.flags[i] = never_fetched | entry.standing.flag();
        self.set_belief(slot, &entry.belief);
        self.note_look(i);
    }

    /// The page's groups have been looked into when it was.
    fn note_look(&mut self, i: usize) {
        if self.flags[i] & NEVER_FETCHED == 0 {
            self.memberships.looked(self.membership[i], self.last_look_days(i));
        }
    }

    fn belief(&self, i: usize) -> PageBelief {
        PageBelief {
            own: GammaState { delta_alpha: self.own_alpha[i], delta_beta_days: self.own_beta_days[i] },
            plain: GammaState { delta_alpha: self.plain_alpha[i], delta_beta_days: self.plain_beta_days[i] },
        }
    }

    fn last_look_days(&self, i: usize) -> f64 {
        f64::from(self.last_look[i]) / SECONDS_PER_DAY
    }

    /// Asks the outlook again for the groups of pages that are new, or on sites that have changed much in size: at most
    /// this many now, the others when called again. Returns how many it was. Cheap when there is nothing to do; needed
    /// before a scan by [`Index::Live`] only.
    pub fn refresh(&mut self, outlook: &Outlook, most: usize) -> usize {
        if self.revision == Some(outlook.revision()) {
            return 0;
        }
        let stale: Vec<bool> =
            (0..self.memberships.rows.len()).map(|m| self.memberships.is_stale(m, outlook)).collect();
        let (slots, mut done) = (self.flags.len(), 0);
        for _ in 0..slots {
            if done == most {
                return done;
            }
            self.refreshed = if self.refreshed + 1 < slots { self.refreshed + 1 } else { 0 };
            let i = self.refreshed;
            let number = self.membership[i];
            // Memberships made meanwhile are up to date.
            if self.flags[i] & VACANT == 0
                && stale.get(number as usize) == Some(&true)
                && self.memberships.is_stale(number as usize, outlook)
            {
                self.join(i, outlook);
                done += 1;
            }
        }
        self.revision = Some(outlook.revision());
        done
    }

    /// Moves page `i` to the groups the outlook now knows.
    fn join(&mut self, i: usize, outlook: &Outlook) {
        let place = self.places.get(self.place[i], self.file_name[i]);
        let (old, new) = (self.membership[i], self.memberships.attach(&place, outlook));
        let weight = f64::from(self.weight[i]);
        self.memberships.weigh(new, weight);
        self.membership[i] = new;
        self.note_look(i);
        self.memberships.weigh(old, -weight);
        self.memberships.detach(old);
    }
}

/// What is negative or not a number counts for nothing.
#[expect(clippy::manual_clamp, reason = "clamp keeps what is not a number")]
fn counted(number: f32) -> f32 {
    number.max(0.0).min(f32::MAX)
}
