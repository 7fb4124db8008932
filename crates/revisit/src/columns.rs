//! Millions of pages in 21 bytes each, scored all at once.
//!
//! On real sites many pages change together, and one page found changed raises the worth of all its siblings at that
//! moment. A queue of precomputed due times would have to re-key every one of them; instead the few numbers that a
//! page's worth depends on lie in packed columns, and every scan scores all pages afresh. The columns are rebuilt from
//! the state store on start: nothing here is the only copy.
//!
//! | column | bytes | |
//! |---|---|---|
//! | last look | 4 | whole seconds since 1970, good until 2106; for a page never fetched, when it was discovered |
//! | alpha, beta | 4 + 4 | the belief about its change rate |
//! | weight | 4 | importance divided by the cost of a fetch |
//! | host | 4 | the caller's number for its host |
//! | flags | 1 | not yet fetched, and why it may not be fetched now |

use crate::histogram::RatioHistogram;
use crate::policy::Policy;
use change_rate::Gamma;
use page::Timestamp;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

const SECONDS_PER_DAY: f64 = 86_400.0;

const NEVER_FETCHED: u8 = 1;
const IN_FLIGHT: u8 = 2;
const HELD: u8 = 4;
const GONE: u8 = 8;
const VACANT: u8 = 16;

/// A page's place in the columns. Places of removed pages are given to new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(u32);

impl Slot {
    /// The slot at a position, for callers that number their pages themselves.
    pub fn new(index: u32) -> Self {
        Slot(index)
    }

    /// The position, below [`PageColumns::slots`]; for a table kept beside the columns.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// When a page was last looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastLook {
    /// Never yet; it was discovered then.
    Discovered(Timestamp),
    /// Then.
    Looked(Timestamp),
}

/// Whether a page may be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It may.
    Ready,
    /// It is being fetched.
    InFlight,
    /// Not now: its host is paused, forbids it, or failed.
    Held,
    /// It no longer exists.
    Gone,
}

impl Standing {
    fn flag(self) -> u8 {
        match self {
            Standing::Ready => 0,
            Standing::InFlight => IN_FLIGHT,
            Standing::Held => HELD,
            Standing::Gone => GONE,
        }
    }

    fn of(flags: u8) -> Self {
        match flags & (IN_FLIGHT | HELD | GONE) {
            IN_FLIGHT => Standing::InFlight,
            HELD => Standing::Held,
            GONE => Standing::Gone,
            _ => Standing::Ready,
        }
    }
}

/// One page, as the columns know it: times to the second, the rest as f32.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageEntry {
    /// When it was last looked at.
    pub last_look: LastLook,
    /// The belief about its change rate.
    pub belief: Gamma,
    /// Importance divided by the cost of a fetch.
    pub weight: f64,
    /// The caller's number for its host.
    pub host: u32,
    /// Whether it may be chosen.
    pub standing: Standing,
}

/// A page that may be chosen, and what a fetch is worth. The greatest comes first: pages never fetched before all
/// others, then the higher value, then the lower slot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The page.
    pub slot: Slot,
    /// The caller's number for its host.
    pub host: u32,
    /// No copy of it exists yet.
    pub never_fetched: bool,
    /// By policy, [`crate::value::crawl_value`] or days since the last look; days since discovery for a page never fetched.
    pub value: f64,
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.never_fetched
            .cmp(&other.never_fetched)
            .then(self.value.total_cmp(&other.value))
            .then(other.slot.cmp(&self.slot))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// All pages of one partition.
#[derive(Clone, Debug, Default)]
pub struct PageColumns {
    last_look: Vec<u32>,
    alpha: Vec<f32>,
    beta_days: Vec<f32>,
    weight: Vec<f32>,
    host: Vec<u32>,
    flags: Vec<u8>,
    vacant: Vec<Slot>,
}

impl PageColumns {
    /// Bytes that one page takes.
    pub const BYTES_PER_PAGE: usize = 5 * 4 + 1;

    /// Empty, with room for this many pages.
    pub fn with_capacity(pages: usize) -> Self {
        Self {
            last_look: Vec::with_capacity(pages),
            alpha: Vec::with_capacity(pages),
            beta_days: Vec::with_capacity(pages),
            weight: Vec::with_capacity(pages),
            host: Vec::with_capacity(pages),
            flags: Vec::with_capacity(pages),
            vacant: Vec::new(),
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

    /// Adds a page and says where it is, until it is removed.
    pub fn insert(&mut self, entry: &PageEntry) -> Slot {
        let slot = self.vacant.pop().unwrap_or_else(|| {
            let slot = u32::try_from(self.flags.len()).expect("a partition holds fewer than 2^32 pages");
            self.last_look.push(0);
            self.alpha.push(1.0);
            self.beta_days.push(1.0);
            self.weight.push(0.0);
            self.host.push(0);
            self.flags.push(VACANT);
            Slot(slot)
        });
        self.put(slot, entry);
        slot
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

    /// Every page held, in the order of slots.
    pub fn entries(&self) -> impl Iterator<Item = PageEntry> {
        (0..self.flags.len() as u32).filter_map(|slot| self.get(Slot(slot)))
    }

    /// Changes the page in a slot; `false` when there is none.
    pub fn update(&mut self, slot: Slot, change: impl FnOnce(&mut PageEntry)) -> bool {
        let Some(mut entry) = self.get(slot) else { return false };
        change(&mut entry);
        self.put(slot, &entry);
        true
    }

    /// Forgets the page in a slot; `false` when there is none.
    pub fn remove(&mut self, slot: Slot) -> bool {
        let found = self.get(slot).is_some();
        if found {
            self.flags[slot.index()] = VACANT;
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
        // A belief stays positive and finite as f32 too.
        let narrow = |number: f64| (number as f32).clamp(f32::MIN_POSITIVE, f32::MAX);
        self.last_look[i] = at.as_secs().clamp(0, i64::from(u32::MAX)) as u32;
        self.alpha[i] = narrow(entry.belief.alpha());
        self.beta_days[i] = narrow(entry.belief.beta_days());
        self.weight[i] = entry.weight.clamp(0.0, f64::from(f32::MAX)) as f32;
        self.host[i] = entry.host;
        self.flags[i] = never_fetched | entry.standing.flag();
    }

    fn belief(&self, i: usize) -> Gamma {
        Gamma::new(f64::from(self.alpha[i]), f64::from(self.beta_days[i])).expect("put stores positive numbers only")
    }

    /// What a fetch of page `i` is worth.
    #[inline]
    fn candidate(&self, i: usize, now_seconds: f64, policy: &Policy) -> Candidate {
        let days = ((now_seconds - f64::from(self.last_look[i])) / SECONDS_PER_DAY).max(0.0);
        let never_fetched = self.flags[i] & NEVER_FETCHED != 0;
        let value = match *policy {
            Policy::Optimal { theta } if !never_fetched => {
                f64::from(self.weight[i]) * self.belief(i).crawl_value(days, theta)
            }
            _ => days,
        };
        Candidate { slot: Slot(i as u32), host: self.host[i], never_fetched, value }
    }

    /// Shows every page that may be chosen, in the order of slots.
    pub fn scan(&self, now: Timestamp, policy: &Policy, mut visitor: impl FnMut(Candidate)) {
        let now_seconds = now.as_micros() as f64 / 1e6;
        for i in 0..self.flags.len() {
            if self.flags[i] & !NEVER_FETCHED == 0 {
                visitor(self.candidate(i, now_seconds, policy));
            }
        }
    }

    /// The best `count` pages on hosts that are `permitted`, best first: those never fetched, oldest discovery first,
    /// then those whose value is at least `floor` (the price).
    pub fn select(
        &self,
        now: Timestamp,
        policy: &Policy,
        count: usize,
        floor: f64,
        permitted: impl Fn(u32) -> bool,
    ) -> Vec<Candidate> {
        if count == 0 {
            return Vec::new();
        }
        let now_seconds = now.as_micros() as f64 / 1e6;
        let mut best: BinaryHeap<Reverse<Candidate>> = BinaryHeap::with_capacity(count.min(self.len()));
        let mut floor = floor;
        for i in 0..self.flags.len() {
            let flags = self.flags[i];
            if flags & !NEVER_FETCHED != 0 || (flags == 0 && self.value_at_most(i, now_seconds, policy) < floor) {
                continue;
            }
            let candidate = self.candidate(i, now_seconds, policy);
            if (!candidate.never_fetched && candidate.value < floor) || !permitted(candidate.host) {
                continue;
            }
            if best.len() < count {
                best.push(Reverse(candidate));
            } else if best.peek().is_some_and(|Reverse(least)| candidate > *least) {
                best.pop();
                best.push(Reverse(candidate));
            }
            if let Some(Reverse(least)) = best.peek().filter(|_| best.len() == count) {
                floor = if least.never_fetched { f64::INFINITY } else { floor.max(least.value) };
            }
        }
        // Ascending order of the reversed: the best first.
        best.into_sorted_vec().into_iter().map(|Reverse(candidate)| candidate).collect()
    }

    /// A bound on a fetched page's value that needs neither logarithm nor exponential: U(t) <= mean rate × t² / 2,
    /// and nearly equal for most pages that are not yet due.
    #[inline]
    fn value_at_most(&self, i: usize, now_seconds: f64, policy: &Policy) -> f64 {
        let days = ((now_seconds - f64::from(self.last_look[i])) / SECONDS_PER_DAY).max(0.0);
        match policy {
            Policy::Uniform => days,
            Policy::Optimal { .. } => {
                let mean = f64::from(self.alpha[i]) / f64::from(self.beta_days[i]);
                // A hair more, against rounding.
                (1.0 + 1e-9) * f64::from(self.weight[i]) * 0.5 * mean * days * days
            }
        }
    }

    /// How much fetching these pages want, to be merged over all partitions and solved for the price. Pages held or
    /// gone want nothing. With the uniform policy every page counts alike.
    pub fn demand_histogram(&self, policy: &Policy) -> RatioHistogram {
        let mut histogram = RatioHistogram::default();
        for i in 0..self.flags.len() {
            if self.flags[i] & (HELD | GONE | VACANT) == 0 {
                match policy {
                    Policy::Uniform => histogram.add_uniform(),
                    Policy::Optimal { .. } => histogram.add(self.belief(i).mean(), f64::from(self.weight[i]), 1.0),
                }
            }
        }
        histogram
    }
}
