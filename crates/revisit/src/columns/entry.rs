//! One page, as it is put into the columns and comes out of them.

use super::SECONDS_PER_DAY;
use change_rate::Gamma;
use page::Timestamp;
use std::cmp::Ordering;
use sweeps::PageBelief;

pub(super) const NEVER_FETCHED: u8 = 1;
pub(super) const IN_FLIGHT: u8 = 2;
pub(super) const HELD: u8 = 4;
pub(super) const GONE: u8 = 8;
pub(super) const VACANT: u8 = 16;

/// What a page's worth depends on. One line of the processor's cache holds two of them, none is torn.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
pub(super) struct PageRecord {
    /// In whole seconds since 1970.
    pub(super) last_look: u32,
    pub(super) weight: f32,
    pub(super) belief: PageBelief,
    pub(super) host: u32,
    pub(super) membership: u32,
}

impl PageRecord {
    #[inline]
    pub(super) fn last_look_days(&self) -> f64 {
        f64::from(self.last_look) / SECONDS_PER_DAY
    }

    /// The whole belief that `own` holds.
    #[inline]
    pub(super) fn whole(&self) -> Gamma {
        let positive = |number: f32| f64::from(number.max(f32::MIN_POSITIVE));
        let own = self.belief.own;
        Gamma::new(positive(own.delta_alpha), positive(own.delta_beta_days)).expect("positive and finite")
    }
}

/// A page's place in the columns. Places of removed pages are given to new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub(super) u32);

impl Slot {
    /// The slot at a position, for callers that number their pages themselves.
    pub fn new(index: u32) -> Self {
        Slot(index)
    }

    /// The position, below [`super::PageColumns::slots`]; for a table kept beside the columns.
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
    pub(super) fn flag(self) -> u8 {
        match self {
            Standing::Ready => 0,
            Standing::InFlight => IN_FLIGHT,
            Standing::Held => HELD,
            Standing::Gone => GONE,
        }
    }

    pub(super) fn of(flags: u8) -> Self {
        match flags & (IN_FLIGHT | HELD | GONE) {
            IN_FLIGHT => Standing::InFlight,
            HELD => Standing::Held,
            GONE => Standing::Gone,
            _ => Standing::Ready,
        }
    }
}

/// One page, as the columns know it: times to the second, the rest as f32. Where it stands on its site is said once,
/// when it is inserted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageEntry {
    /// When it was last looked at.
    pub last_look: LastLook,
    /// What is believed of its changes. Under [`super::Index::Live`] the evidence beyond the prior of its cell, under
    /// [`super::Index::CrawlValue`] the whole belief, in `own` ([`super::whole_belief`]).
    pub belief: PageBelief,
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
    /// By [`super::Index`]; days since discovery for a page never fetched.
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
