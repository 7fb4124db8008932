//! Decides whether a new version of a page is meaningful, at the fetch where it is first seen and from the history of
//! the page alone. No labels, no selectors, no look ahead, no clock.
//!
//! Follows E6 except where measurements led elsewhere: there is no threshold of magnitude (every added or removed unit
//! counts), and nothing waits for a confirmation.

use crate::change_record::ChangeRecord;
use crate::gaps::Gaps;
use crate::judgement::{Confirmation, Judgement, PartVerdict};
use crate::moves::moved;
use crate::news::{News, is_most};
use crate::noise::{ChangedUnits, Differences, LookTimes, Noise, renamed_order};
use crate::order::drawn_anew;
use crate::page_memory::{LookMemory, MAX_LOOKS_IN_ROW, VersionMemory};
use crate::reflow::Reflow;
use crate::region::PagePart;
use crate::second_looks::is_back_to_back;
use crate::shingle::ShingleSet;
use crate::stand_in::{Arrival, Suspicion};
use crate::unit_texts::UnitTexts;
use crate::verdict::{MAJOR_MAGNITUDE, VersionVerdict};
use crate::version::{UnitKey, Version};
use std::collections::{BTreeMap, BTreeSet};

/// The most remembered items that a feed no longer shows. They are no news when they come back.
const MAX_PAST_UNITS: usize = 1_024;
/// The most units remembered per change, to see whether it lasts.
const MAX_OPEN_UNITS: usize = 256;
/// The remembered length follows growth at once and shrinks by at most this factor per version, so that a page that is emptied
/// step by step is noticed.
const LENGTH_MEMORY: f64 = 0.98;

/// The state that the next version of a page is judged by, in two parts. A version that looks the same to a reader,
/// such as one with a new nonce in its markup, changes only the small part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageState {
    pub(crate) looks: LookMemory,
    pub(crate) version: VersionMemory,
}

impl PageState {
    /// Joins the two parts. Fetches that found the page unchanged can be judged without its version; a new version
    /// cannot.
    pub fn new(looks: LookMemory, version: VersionMemory) -> Self {
        Self { looks, version }
    }

    /// The small part: the history of the fetches.
    pub fn looks(&self) -> &LookMemory {
        &self.looks
    }

    /// The large part: the last accepted version.
    pub fn version(&self) -> &VersionMemory {
        &self.version
    }

    /// The large part by value, to be stored.
    pub fn into_version(self) -> VersionMemory {
        self.version
    }

    /// The shingles of the region of the last meaningful version.
    pub fn shingles(&self) -> &ShingleSet {
        &self.version.shingles
    }

    /// Whether no version was seen yet.
    pub fn is_new(&self) -> bool {
        self.looks.digest.is_none()
    }

    /// Records that the page has not changed since the last fetch, as a 304 or an equal digest shows, with the seconds since that
    /// fetch; `None` if they are not known.
    pub fn observe_unchanged(&mut self, since_last_look_s: Option<i64>) -> Judgement {
        let is_back_to_back = is_back_to_back(since_last_look_s);
        self.looks.note_row(is_back_to_back);
        self.looks.noise.observe_quiet(since_last_look_s, is_back_to_back);
        let verdict =
            if std::mem::take(&mut self.looks.gone) { VersionVerdict::Returned } else { VersionVerdict::Unchanged };
        self.record_no_turn();
        self.end_hold();
        self.looks.place.accept();
        let open = self.looks.open_added.len() + self.looks.open_removed.len();
        (self.looks.open_added, self.looks.open_removed) = Default::default();
        let wants_second_look = self.wants_third_look();
        Judgement { wants_second_look, earlier: self.settled(open, open), ..Judgement::quiet(verdict) }
    }

    /// Judges a version and learns from it. Call it for every fetched version, in the order of fetching, with the seconds
    /// since the page was fetched before; `None` if it was not, or if the time is not known.
    pub fn observe(&mut self, version: &Version<'_>, since_last_look_s: Option<i64>) -> Judgement {
        self.observe_arrival(version, since_last_look_s, Arrival::default())
    }

    /// Judges a version like [`observe`](Self::observe), with what is known of how it arrived. The text of a wall is held
    /// even as the first version.
    pub fn observe_arrival(
        &mut self,
        version: &Version<'_>,
        since_last_look_s: Option<i64>,
        arrival: Arrival<'_>,
    ) -> Judgement {
        let digest = version.digest.first_chunk().copied();
        if self.looks.digest.is_none() {
            let wall = arrival.is_wall.then_some(Suspicion { looks_like: None });
            if let Some(held) = wall.and_then(|wall| self.hold(wall, version, since_last_look_s)) {
                return held;
            }
            self.end_hold();
            self.looks.digest = digest;
            self.looks.gone = false;
            self.accept(version, version.unit_texts());
            self.version.shingles = version.shingles();
            let quiet = Judgement::quiet(VersionVerdict::First);
            return Judgement { magnitude: 1.0, resemblance: 0.0, containment: 0.0, ..quiet };
        }
        if self.looks.digest == digest && self.looks.held.is_empty() {
            return self.observe_unchanged(since_last_look_s);
        }
        let known_digest = std::mem::replace(&mut self.looks.digest, digest);
        // The same error again is still an error: it counts on. A page that was gone stays gone behind it.
        let suspicion = self.suspicion(version, arrival);
        if let Some(held) = suspicion.and_then(|suspicion| self.hold(suspicion, version, since_last_look_s)) {
            return held;
        }
        if let Some(reported) = suspicion.and_then(|_| self.believe_stand_in(version)) {
            return reported;
        }
        let was_gone = std::mem::take(&mut self.looks.gone);
        let texts = version.unit_texts();
        // The version before the held ones was seen earlier than the last look.
        let since_last_look_s = match self.end_hold() {
            true => None,
            false => since_last_look_s,
        };
        let times = LookTimes { now_s: version.seen_at_s, since_last_look_s };
        let is_back_to_back = is_back_to_back(since_last_look_s);
        self.looks.note_row(is_back_to_back);
        // What is not accepted leaves no trace but evidence of noise.
        let before = (is_back_to_back && self.looks.in_row < MAX_LOOKS_IN_ROW).then(|| self.clone());
        let earlier = self.settle(version);
        let judgement = Judgement { earlier, ..self.compare(version, &texts, was_gone, times) };
        if let Some(before) = before
            && judgement.waits_for_another_look()
        {
            let LookMemory { asked, rest, .. } = self.looks;
            let noise = std::mem::take(&mut self.looks.noise);
            *self = before;
            (self.looks.asked, self.looks.rest) = (asked, rest);
            self.looks.digest = known_digest;
            self.looks.gone = was_gone;
            self.looks.noise = noise;
            return judgement;
        }
        self.accept(version, texts);
        Judgement { changes_last: self.looks.confirmed >= self.looks.withdrawn, ..judgement }
    }

    /// Accepts a version without judging it: it was read by another selection than the last one, so the two cannot be
    /// compared.
    pub fn begin_anew(&mut self, version: &Version<'_>) -> Judgement {
        let digest = version.digest.first_chunk().copied();
        let is_same = std::mem::replace(&mut self.looks.digest, digest) == digest;
        let was_gone = std::mem::take(&mut self.looks.gone);
        self.end_hold();
        (self.looks.turns, self.looks.region_bytes) = (0, 0);
        (self.looks.open_added, self.looks.open_removed) = Default::default();
        (self.looks.left, self.looks.returns) = Default::default();
        if version.is_watched() {
            // Nothing of a watched part is passed over.
            self.looks.noise = Noise::default();
        }
        self.version = VersionMemory { shingles: version.shingles(), ..VersionMemory::default() };
        self.accept(version, version.unit_texts());
        Judgement::quiet(match (was_gone, is_same) {
            (true, _) => VersionVerdict::Returned,
            (false, true) => VersionVerdict::Unchanged,
            (false, false) => VersionVerdict::Cosmetic,
        })
    }

    fn compare(&mut self, version: &Version<'_>, texts: &UnitTexts, was_gone: bool, times: LookTimes) -> Judgement {
        let is_back_to_back = is_back_to_back(times.since_last_look_s);
        let keys: Vec<UnitKey> = version.units.iter().map(|unit| unit.key).collect();
        let mut reflow = None;
        let mut news =
            News::between(&self.version.units, &keys).without_other_shapes(&self.version.texts, texts, &mut reflow);
        let structure = PartVerdict::of(news.differing > 0);
        let is_watched = version.is_watched();
        if is_watched {
            // A watched part is reported whenever it differs: the operator's rule is above anything learned.
            news.is_whole = true;
        } else if version.is_feed() {
            // New items in the place of all others are no other version of the feed.
            news.is_whole = false;
        } else {
            news.is_whole = news.is_whole && self.is_other_version((texts, &keys), &news);
            news = self.news_in_turn(&keys, news, is_back_to_back);
        }
        let News { mut added, mut removed, differing, is_whole } = news;
        let moves = if is_whole || version.is_feed() { Vec::new() } else { moved(&self.version.texts, texts) };
        removed.extend(moves.iter().map(|(went, _)| went));
        added.extend(moves.iter().map(|(_, came)| came));
        // Of a feed, too: an item's old text says in what it differs.
        let went = removed.clone();
        if version.is_feed() {
            // Items leave a feed when others arrive, and come back when a cache is behind. An item's old text is reported only
            // where a new text takes its slot.
            self.version.past.extend(&removed);
            let past: BTreeSet<u64> = self.version.past.iter().map(|past| past.name()).collect();
            added.retain(|key| !past.contains(&key.name()));
            let slots: BTreeSet<u32> = added.iter().map(|key| key.slot()).collect();
            removed.retain(|key| slots.contains(&key.slot()));
        }
        if !is_watched {
            self.pass_over_rotations(texts, &mut added, &mut removed);
        }
        self.version.past.drain(..self.version.past.len().saturating_sub(MAX_PAST_UNITS));
        let differing_units = added.len() + removed.len();
        let mut may_be_noise = false;
        // Another version as a whole says nothing about single places.
        if !is_whole {
            may_be_noise = self.pass_over_noise((texts, &keys), &went, (&mut added, &mut removed), times);
        }
        let passed_over = differing_units - added.len() - removed.len();
        let is_empty = added.is_empty() && removed.is_empty();
        if !is_whole && !is_empty {
            self.looks.note_returns(&added, &removed);
        }
        let waits = may_be_noise && !is_watched && !is_empty && self.looks.in_row < MAX_LOOKS_IN_ROW;
        if !waits {
            self.looks.noise.unsettled.clear();
        }
        let wants_second_look = !is_watched
            && match is_back_to_back {
                true => waits || self.wants_third_look(),
                false => self.wants_second_look(),
            };
        if waits || is_empty {
            let verdict = if was_gone && !waits { VersionVerdict::Returned } else { VersionVerdict::Cosmetic };
            let quiet = Judgement::quiet(verdict);
            return Judgement { structure, held: waits, wants_second_look, passed_over, ..quiet };
        }
        let news = self.news((version, texts), (&added, &removed), (differing, &mut reflow), was_gone);
        // A text that moved is there before and after.
        let moved: BTreeSet<u64> = moves.iter().map(|(went, _)| went.name()).collect();
        added.retain(|key| !moved.contains(&key.name()));
        removed.retain(|key| !moved.contains(&key.name()));
        self.looks.open_added = added;
        self.looks.open_removed = removed;
        self.looks.open_added.truncate(MAX_OPEN_UNITS);
        self.looks.open_removed.truncate(MAX_OPEN_UNITS);
        Judgement { structure, wants_second_look, passed_over, ..news }
    }

    /// Learns from the units that came and went, and leaves out those that are noise. Returns whether another look may find more
    /// noise. `keys` are all units of the version, and `went` all that went.
    fn pass_over_noise(
        &mut self,
        (texts, keys): (&UnitTexts, &[UnitKey]),
        went: &[UnitKey],
        (added, removed): (&mut Vec<UnitKey>, &mut Vec<UnitKey>),
        times: LookTimes,
    ) -> bool {
        let gaps = match added.is_empty() && removed.is_empty() {
            true => Gaps::default(),
            false => Gaps::between((&self.version.texts, &*removed), (texts, &*added)),
        };
        let differences = Differences::between((&self.version.texts, went), (texts, &*added), &gaps, times);
        let (all_added, all_removed) = (added.clone(), removed.clone());
        let units = ChangedUnits {
            added: &all_added,
            removed: &all_removed,
            gaps: &gaps,
            differences: &differences,
            times,
            renamed_order: renamed_order(&self.version.units, keys),
        };
        let found = self.looks.noise.observe(&units);
        let mut may_be_noise = false;
        if is_back_to_back(times.since_last_look_s) {
            self.prove(&units, &found);
            may_be_noise = self.looks.noise.places.may_be_noise(&found.places());
        }
        let noise = &self.looks.noise;
        added.retain(|key| !noise.is_noise(key, &units, &found));
        removed.retain(|key| !noise.is_noise(key, &units, &found));
        if may_be_noise {
            self.looks.noise.wait_for_another(&found);
        }
        may_be_noise
    }

    /// Whether most of the region is other text, and not the same with other numbers.
    fn is_other_version(&self, (texts, keys): (&UnitTexts, &[UnitKey]), news: &News) -> bool {
        let (old, new) = ((&self.version.texts, &*news.removed), (texts, &*news.added));
        let differences = Differences::between(old, new, &Gaps::default(), LookTimes::default());
        let is_other = |key: &&UnitKey| !differences.is_edit(key);
        let [went, came] =
            [&news.removed, &news.added].map(|side| side.iter().filter(is_other).copied().collect::<Vec<_>>());
        is_most(&came, keys) && is_most(&went, &self.version.units)
    }

    /// A list of teasers repeats itself: if everything that came to a list was there before, whatever left it is no
    /// news either.
    fn pass_over_rotations(&mut self, texts: &UnitTexts, added: &mut Vec<UnitKey>, removed: &mut Vec<UnitKey>) {
        // The order of teasers in turn is as little news as they are.
        let drawn = drawn_anew(added, texts, &self.version.past);
        for keys in [&mut *added, &mut *removed] {
            keys.retain(|key| !key.is_order() || !drawn.contains(&key.slot()));
        }
        let in_list = |key: &&UnitKey| key.part() == PagePart::Links;
        // By the slot of each list, whether all of its new items were there before.
        let mut rotates: BTreeMap<u32, bool> = BTreeMap::new();
        if added.iter().any(|key| in_list(&key)) {
            let past: BTreeSet<u64> = self.version.past.iter().map(|past| past.name()).collect();
            for key in added.iter().filter(in_list) {
                *rotates.entry(key.slot()).or_insert(true) &= past.contains(&key.name());
            }
        }
        self.version.past.extend(removed.iter().filter(in_list));
        let stays = |key: &UnitKey| !in_list(&key) || rotates.get(&key.slot()) != Some(&true);
        added.retain(stays);
        removed.retain(stays);
    }

    fn news(
        &mut self,
        (version, texts): (&Version<'_>, &UnitTexts),
        (added, removed): (&[UnitKey], &[UnitKey]),
        (differing, reflow): (usize, &mut Option<Reflow>),
        was_gone: bool,
    ) -> Judgement {
        let shingles = version.shingles();
        let resemblance = self.version.shingles.resemblance(&shingles);
        let containment = self.version.shingles.containment_in(&shingles);
        self.version.shingles = shingles;
        let magnitude = 1.0 - resemblance;
        let reported = added.iter().chain(removed).filter(|key| !key.is_order()).count();
        let record = ChangeRecord::of(
            (&self.version.texts, removed),
            (texts, added),
            (differing.saturating_sub(reported), version.url_rules()),
            reflow,
        );
        let changed = added.iter().chain(removed);
        let (links, text): (Vec<UnitKey>, Vec<UnitKey>) = changed.partition(|key| key.is_link());
        Judgement {
            verdict: match () {
                () if was_gone => VersionVerdict::Returned,
                () if magnitude >= MAJOR_MAGNITUDE => VersionVerdict::Major,
                () => VersionVerdict::Minor,
            },
            meaningful: true,
            magnitude,
            resemblance,
            containment,
            content: PartVerdict::of(!text.is_empty()),
            links: PartVerdict::of(!links.is_empty()),
            units_added: added.iter().map(|key| key.name()).collect(),
            units_removed: removed.iter().map(|key| key.name()).collect(),
            record,
            ..Judgement::quiet(VersionVerdict::Minor)
        }
    }

    /// Decides whether the last change lasted, if that is still open.
    fn settle(&mut self, version: &Version<'_>) -> Option<Confirmation> {
        let added = std::mem::take(&mut self.looks.open_added);
        let removed = std::mem::take(&mut self.looks.open_removed);
        let stands = added.iter().filter(|key| version.find(key.name()).is_some()).count()
            + removed.iter().filter(|key| version.find(key.name()).is_none()).count();
        self.settled(stands, added.len() + removed.len())
    }

    fn settled(&mut self, stands: usize, changed: usize) -> Option<Confirmation> {
        if changed == 0 {
            return None;
        }
        let lasts = 2 * stands > changed;
        let count = if lasts { &mut self.looks.confirmed } else { &mut self.looks.withdrawn };
        *count = count.saturating_add(1);
        Some(if lasts { Confirmation::Confirmed } else { Confirmation::Withdrawn })
    }

    fn accept(&mut self, version: &Version<'_>, texts: UnitTexts) {
        self.version.units = version.units.iter().map(|unit| unit.key).collect();
        self.version.texts = texts;
        let bytes = version.region_bytes.max((LENGTH_MEMORY * f64::from(self.looks.region_bytes)) as usize);
        self.looks.region_bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.looks.place.accept();
    }
}

#[cfg(test)]
#[path = "page_state_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "second_look_tests.rs"]
mod second_look_tests;
