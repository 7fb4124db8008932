//! Whether a new version of a page means anything: decided at the fetch where it is first seen, from what the page has
//! shown so far. No labels, no selectors, no look ahead, no clock.
//!
//! Like E6, with what measurement changed: no threshold of magnitude (every unit that came or went counts), and nothing
//! waits for a confirmation.

use crate::extract::ContentKind;
use crate::guard::{MAX_HELD_VERSIONS, is_suspect};
use crate::judgement::{Confirmation, Judgement, PartVerdict};
use crate::shingle::ShingleSet;
use crate::slots::Slots;
use crate::text::prefix;
use crate::verdict::{MAJOR_MAGNITUDE, Verdict};
use crate::version::{UnitKey, Version};

/// How many items a feed no longer shows are remembered, so that they are no news when they come back.
const MAX_PAST_UNITS: usize = 1_024;
/// Of a change, so many units are remembered to see whether it lasts.
const MAX_OPEN_UNITS: usize = 256;
/// The most texts given of what came, and their length.
const MAX_PASSAGES: usize = crate::passages::MAX_PASSAGES;
const MAX_PASSAGE_BYTES: usize = 512;
/// The reference length follows growth at once and shrinks by this factor a version, so that a page cannot be emptied
/// behind the guard's back step by step.
const LENGTH_MEMORY: f64 = 0.98;

/// What is kept of a page to judge its next version by.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageState {
    /// First half of the digest of the body seen last; `None` before the first version.
    pub(crate) digest: Option<[u8; 16]>,
    /// Whether the page was gone at the last look.
    pub(crate) gone: bool,
    /// How many suspect versions in a row were not believed.
    pub(crate) held: u8,
    /// How many changes lasted to the next version, and how many did not.
    pub(crate) confirmed: u16,
    pub(crate) withdrawn: u16,
    /// Length of the region's text, as the guard remembers it.
    pub(crate) region_bytes: u32,
    /// The units of the last accepted version, sorted by name.
    pub(crate) units: Vec<UnitKey>,
    /// Items a feed no longer shows, oldest first.
    pub(crate) past: Vec<UnitKey>,
    /// What came and what went with the last change, while it is open whether that lasts.
    pub(crate) open_added: Vec<UnitKey>,
    pub(crate) open_removed: Vec<UnitKey>,
    pub(crate) slots: Slots,
    /// Shingles of the region of the last version that meant something.
    pub(crate) shingles: ShingleSet,
}

impl PageState {
    /// The page is no longer there (404, 410). Host and network failures say nothing of a page and have no place here.
    pub fn observe_gone(&mut self) -> Judgement {
        let news = self.digest.is_some() && !self.gone;
        self.gone = true;
        let verdict = if news { Verdict::Gone } else { Verdict::Unchanged };
        let magnitude = if news { 1.0 } else { 0.0 };
        let rest = 1.0 - magnitude;
        let quiet = Judgement::quiet(verdict);
        Judgement { meaningful: news, magnitude, resemblance: rest, containment: rest, ..quiet }
    }

    /// Judges a version and learns from it. To be called for every fetched version, in the order of fetching.
    pub fn observe(&mut self, version: &Version) -> Judgement {
        let was_gone = std::mem::take(&mut self.gone);
        let verdict = |verdict| if was_gone { Verdict::Returned } else { verdict };
        let digest = version.digest.first_chunk().copied();
        if self.digest.is_none() {
            self.digest = digest;
            self.accept(version);
            self.shingles = version.shingles();
            let quiet = Judgement::quiet(Verdict::First);
            return Judgement { magnitude: 1.0, resemblance: 0.0, containment: 0.0, ..quiet };
        }
        if self.digest == digest {
            return Judgement { earlier: self.settle(version), ..Judgement::quiet(verdict(Verdict::Unchanged)) };
        }
        self.digest = digest;
        if is_suspect(version, self.region_bytes as usize) && self.held < MAX_HELD_VERSIONS {
            self.held += 1;
            return Judgement { held: true, ..Judgement::quiet(verdict(Verdict::Cosmetic)) };
        }
        self.held = 0;
        let judgement = Judgement { earlier: self.settle(version), ..self.compare(version, was_gone) };
        self.accept(version);
        Judgement { changes_last: self.confirmed >= self.withdrawn, ..judgement }
    }

    fn compare(&mut self, version: &Version, was_gone: bool) -> Judgement {
        let keys: Vec<UnitKey> = version.units.iter().map(|unit| unit.key).collect();
        let (mut added, mut removed) = (only_in(&keys, &self.units), only_in(&self.units, &keys));
        let structure = PartVerdict::of(!added.is_empty() || !removed.is_empty());
        // What only went in or out of the region is still on the page.
        added.retain(|key| key.in_region());
        removed.retain(|key| key.in_region());
        if version.kind == ContentKind::Xml {
            // Items leave a feed when others come, and come back when a cache is behind.
            self.past.extend(std::mem::take(&mut removed));
            added.retain(|key| !self.past.iter().any(|past| past.name() == key.name()));
            self.past.drain(..self.past.len().saturating_sub(MAX_PAST_UNITS));
        }
        let mut touched: Vec<u32> = added.iter().chain(&removed).map(|key| key.slot()).collect();
        touched.sort_unstable();
        touched.dedup();
        self.slots.advance(&touched);
        added.retain(|key| !self.slots.is_volatile(key.slot()));
        removed.retain(|key| !self.slots.is_volatile(key.slot()));
        if added.is_empty() && removed.is_empty() {
            let verdict = if was_gone { Verdict::Returned } else { Verdict::Cosmetic };
            return Judgement { structure, ..Judgement::quiet(verdict) };
        }
        let news = self.news(version, &added, &removed, was_gone);
        self.open_added = added;
        self.open_removed = removed;
        self.open_added.truncate(MAX_OPEN_UNITS);
        self.open_removed.truncate(MAX_OPEN_UNITS);
        Judgement { structure, ..news }
    }

    fn news(&mut self, version: &Version, added: &[UnitKey], removed: &[UnitKey], was_gone: bool) -> Judgement {
        let shingles = version.shingles();
        let resemblance = self.shingles.resemblance(&shingles);
        let containment = self.shingles.containment_in(&shingles);
        self.shingles = shingles;
        let magnitude = 1.0 - resemblance;
        let mut texts: Vec<String> = Vec::new();
        for unit in added.iter().filter_map(|key| version.find(key.name())) {
            let text = prefix(version.text(unit), MAX_PASSAGE_BYTES);
            if texts.len() < MAX_PASSAGES && !texts.iter().any(|given| given == text) {
                texts.push(text.to_owned());
            }
        }
        let changed = added.iter().chain(removed);
        let (links, text): (Vec<UnitKey>, Vec<UnitKey>) = changed.partition(|key| key.is_link());
        Judgement {
            verdict: match () {
                () if was_gone => Verdict::Returned,
                () if magnitude >= MAJOR_MAGNITUDE => Verdict::Major,
                () => Verdict::Minor,
            },
            meaningful: true,
            magnitude,
            resemblance,
            containment,
            content: PartVerdict::of(!text.is_empty()),
            links: PartVerdict::of(!links.is_empty()),
            units_added: added.iter().map(|key| key.name()).collect(),
            units_removed: removed.iter().map(|key| key.name()).collect(),
            added: texts,
            ..Judgement::quiet(Verdict::Minor)
        }
    }

    /// Whether the last change lasts, if that is still open.
    fn settle(&mut self, version: &Version) -> Option<Confirmation> {
        let added = std::mem::take(&mut self.open_added);
        let removed = std::mem::take(&mut self.open_removed);
        let changed = added.len() + removed.len();
        if changed == 0 {
            return None;
        }
        let stands = added.iter().filter(|key| version.find(key.name()).is_some()).count()
            + removed.iter().filter(|key| version.find(key.name()).is_none()).count();
        let lasts = 2 * stands > changed;
        let count = if lasts { &mut self.confirmed } else { &mut self.withdrawn };
        *count = count.saturating_add(1);
        Some(if lasts { Confirmation::Confirmed } else { Confirmation::Withdrawn })
    }

    fn accept(&mut self, version: &Version) {
        self.units = version.units.iter().map(|unit| unit.key).collect();
        let bytes = version.region_bytes.max((LENGTH_MEMORY * f64::from(self.region_bytes)) as usize);
        self.region_bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    }
}

/// The units of one version that are not on the other; both sorted by name.
pub(crate) fn only_in(of: &[UnitKey], without: &[UnitKey]) -> Vec<UnitKey> {
    let mut others = without.iter().peekable();
    let is_alone = |key: &&UnitKey| {
        while others.next_if(|other| other.name() < key.name()).is_some() {}
        others.peek().is_none_or(|other| other.name() != key.name())
    };
    of.iter().filter(is_alone).copied().collect()
}

#[cfg(test)]
#[path = "page_state_tests.rs"]
mod tests;
