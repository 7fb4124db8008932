//! The memory of a page from look to look.

use crate::held_versions::HeldVersions;
use crate::noise::Noise;
use crate::page_place::PagePlace;
use crate::shingle::ShingleSet;
use crate::unit_texts::UnitTexts;
use crate::version::UnitKey;

/// A version waits for another look at most this many back-to-back looks in a row, so that a page that is looked at every minute
/// is judged.
pub(crate) const MAX_LOOKS_IN_ROW: u8 = 3;

/// The history of the fetches of a page: few bytes, some of which change with nearly every version.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LookMemory {
    /// The first bytes of the digest of the last body, enough to recognise it; `None` before the first version.
    pub(crate) digest: Option<[u8; 8]>,
    /// Whether the page was gone at the last fetch.
    pub(crate) gone: bool,
    /// Whether the page was reported as missing, and not yet as back.
    pub(crate) missing: bool,
    /// Whether a stand-in or a redirect was reported for the page, and its return was not yet.
    pub(crate) obscured: bool,
    /// Suspect versions in a row that were not accepted.
    pub(crate) held: HeldVersions,
    /// How often the page was away lately ([`crate::held`]).
    pub(crate) absences: u8,
    /// Where the page leads ([`crate::places`]).
    pub(crate) place: PagePlace,
    /// Requests of a second fetch that found no noise so far, and versions to wait before the next.
    pub(crate) asked: u8,
    pub(crate) rest: u8,
    /// Units that left the page lately, and how often such came back ([`crate::second_looks`]).
    pub(crate) left: Vec<UnitKey>,
    pub(crate) returns: u8,
    /// How often the page lately turned to the whole version before ([`crate::turns`]).
    pub(crate) turns: u8,
    /// Changes that lasted to the next version, and changes that did not.
    pub(crate) confirmed: u16,
    pub(crate) withdrawn: u16,
    /// Length in bytes of the region's text, as the guard remembers it.
    pub(crate) region_bytes: u32,
    /// Units added and removed by the last change, until the next version confirms or withdraws it.
    pub(crate) open_added: Vec<UnitKey>,
    pub(crate) open_removed: Vec<UnitKey>,
    /// Back-to-back looks in a row.
    pub(crate) in_row: u8,
    pub(crate) noise: Noise,
}

/// The last accepted version: thousands of bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VersionMemory {
    /// Its units, sorted by name.
    pub(crate) units: Vec<UnitKey>,
    /// The units of the version that it replaced as a whole, sorted by name; empty when that is long ago.
    pub(crate) other: Vec<UnitKey>,
    /// Items a feed no longer shows, oldest first.
    pub(crate) past: Vec<UnitKey>,
    /// Shingles of the region of the last meaningful version.
    pub(crate) shingles: ShingleSet,
    /// Texts of the units of the last version that was judged.
    pub(crate) texts: UnitTexts,
    /// The page before something else was accepted in its place ([`crate::held`]).
    pub(crate) earlier: Option<Box<VersionMemory>>,
}

impl LookMemory {
    /// Whether the page was gone at the last fetch.
    pub fn is_gone(&self) -> bool {
        self.gone
    }

    /// The number of places whose whole text is passed over as noise, because it differs in other words at every look.
    pub fn deaf_places(&self) -> usize {
        self.noise.places.count_shapeless()
    }

    /// Notes that a look is back to back with the one before, or is not.
    pub(crate) fn note_row(&mut self, is_back_to_back: bool) {
        self.in_row = if is_back_to_back { (self.in_row + 1).min(MAX_LOOKS_IN_ROW) } else { 0 };
    }
}
