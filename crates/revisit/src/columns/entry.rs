//! The public form of one page in the columns.

use super::SECONDS_PER_DAY;
use change_rate::Gamma;
use page::Timestamp;
use std::cmp::Ordering;
use sweeps::OwnEvidence;

pub(super) const NEVER_FETCHED: u8 = 1;
pub(super) const IN_FLIGHT: u8 = 2;
pub(super) const HELD: u8 = 4;
pub(super) const EXCLUDED: u8 = 8;
pub(super) const VACANT: u8 = 16;

/// The inputs of a page's value. A cache line holds two records, and none straddles a line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
pub(super) struct PageRecord {
    /// In whole seconds since 1970.
    pub(super) last_look: u32,
    pub(super) weight: f32,
    pub(super) belief: OwnEvidence,
    pub(super) host: u32,
    pub(super) membership: u32,
}

impl PageRecord {
    #[inline]
    pub(super) fn last_look_days(&self) -> f64 {
        f64::from(self.last_look) / SECONDS_PER_DAY
    }

    /// The whole belief held in `own`.
    #[inline]
    pub(super) fn whole(&self) -> Gamma {
        let positive = |number: f32| f64::from(number.max(f32::MIN_POSITIVE));
        let own = self.belief.own;
        Gamma::new(positive(own.delta_alpha), positive(own.delta_beta_days)).expect("positive and finite")
    }
}

/// The position of a page in the columns. Slots of removed pages are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub(super) u32);

impl Slot {
    /// The slot at an index, for callers that number their pages themselves.
    pub fn new(index: u32) -> Self {
        Slot(index)
    }

    /// The index in 32 bits.
    pub fn number(self) -> u32 {
        self.0
    }

    /// The index, below [`super::PageColumns::slots`]; for a table kept beside the columns.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Time of the last look at a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastLook {
    /// No look yet; the time of discovery.
    Discovered(Timestamp),
    /// Time of the last look.
    Looked(Timestamp),
}

/// Whether a page may be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageStatus {
    /// It may be chosen.
    Ready,
    InFlight,
    /// Not now: its host is paused or failing, or forbids the page.
    Held,
    /// Never: the operator does not want it crawled.
    Excluded,
}

impl PageStatus {
    pub(super) fn flag(self) -> u8 {
        match self {
            PageStatus::Ready => 0,
            PageStatus::InFlight => IN_FLIGHT,
            PageStatus::Held => HELD,
            PageStatus::Excluded => EXCLUDED,
        }
    }

    pub(super) fn of(flags: u8) -> Self {
        match flags & (IN_FLIGHT | HELD | EXCLUDED) {
            IN_FLIGHT => PageStatus::InFlight,
            HELD => PageStatus::Held,
            EXCLUDED => PageStatus::Excluded,
            _ => PageStatus::Ready,
        }
    }
}

/// One page as the columns store it: times to the second, the rest as f32. Its place on its site is given once, at
/// insertion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageEntry {
    /// Time of the last look, or of discovery.
    pub last_look: LastLook,
    /// Belief about its changes. Under [`super::Index::Live`] this is the evidence beyond the prior of its cell. Under
    /// [`super::Index::CrawlValue`] it is the whole belief, in `own` ([`super::whole_belief`]).
    pub belief: OwnEvidence,
    /// Importance divided by the cost of a fetch.
    pub weight: f64,
    /// The caller's number for its host.
    pub host: u32,
    pub status: PageStatus,
}

/// A page that may be chosen, with the value of a fetch. The greatest comes first: the higher value, then the lower slot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    pub slot: Slot,
    /// The caller's number for its host.
    pub host: u32,
    /// Whether no copy of it exists yet.
    pub never_fetched: bool,
    /// By [`super::Index`].
    pub value: f64,
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.value.total_cmp(&other.value).then(other.slot.cmp(&self.slot))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
