//! The units in which a version differs from the one before it and that a reader may care for, before anything was
//! learnt about the page.

use crate::reflow::Reflow;
use crate::region::PagePart;
use crate::unit_texts::UnitTexts;
use crate::version::UnitKey;

/// Fewer units are no whole version: a page of one counter changes wholly at every look.
const LEAST_UNITS_OF_WHOLE: usize = 4;

/// How one version differs from another.
#[derive(Debug)]
pub(crate) struct News {
    /// Units that came and that went, sorted by name.
    pub(crate) added: Vec<UnitKey>,
    pub(crate) removed: Vec<UnitKey>,
    /// All units that differ, the frame's included, but for orders: with each row that comes, its list has another.
    pub(crate) differing: usize,
    /// Whether most of the region came, and most of it went.
    pub(crate) is_whole: bool,
}

impl News {
    /// The units added and removed between two versions, both sorted by name.
    ///
    /// * In the region, all of them. A unit that only moved into or out of the region is still on the page.
    /// * In a list of links beside prose, those of a list of which at least half stayed. Most of a list of teasers is
    ///   swapped at once.
    /// * Beside the region, edits in place.
    pub(crate) fn between(old: &[UnitKey], new: &[UnitKey]) -> Self {
        let (mut added, mut removed) = (only_in(new, old), only_in(old, new));
        let differing = added.iter().chain(&removed).filter(|key| !key.is_order()).count();
        let [came, went] = [sorted_places(&added), sorted_places(&removed)];
        let stayed: Vec<UnitPlace> = if came.iter().chain(&went).any(|place| place.part == PagePart::Links as u8) {
            let mut removed = removed.iter().peekable();
            let stays = |key: &&UnitKey| removed.next_if(|gone| gone.name() == key.name()).is_none();
            let stayed: Vec<UnitKey> = old.iter().filter(stays).copied().collect();
            sorted_places(&stayed)
        } else {
            Vec::new()
        };
        let is_news = |key: &UnitKey| {
            let place = UnitPlace::of(key);
            let [came, went] = [count(&came, place), count(&went, place)];
            match key.part() {
                PagePart::Region => true,
                PagePart::Links => count(&stayed, place) >= came.max(went) || came.max(went) == 1,
                PagePart::Beside => came > 0 && went > 0,
                PagePart::Frame => false,
            }
        };
        added.retain(is_news);
        removed.retain(is_news);
        let is_whole = is_most(&added, new) && is_most(&removed, old);
        Self { added, removed, differing, is_whole }
    }

    /// Without the texts that say the same in another shape. The comparison is kept in `reflow`.
    pub(crate) fn without_other_shapes(
        mut self,
        old: &UnitTexts,
        new: &UnitTexts,
        reflow: &mut Option<Reflow>,
    ) -> Self {
        let is_text = |key: &UnitKey| !key.is_link() && !key.is_order();
        if !self.added.iter().any(is_text) || !self.removed.iter().any(is_text) {
            return self;
        }
        let reflow = reflow.get_or_insert_with(|| Reflow::between(old, new));
        let units = (self.added.len(), self.removed.len());
        self.added.retain(|key| !reflow.new_side().is_same(key));
        self.removed.retain(|key| !reflow.old_side().is_same(key));
        // What says the same is no other version of the page.
        self.is_whole &= 2 * self.added.len() > units.0 && 2 * self.removed.len() > units.1;
        self
    }
}

/// Whether these are most of the units that a region has.
pub(crate) fn is_most(some: &[UnitKey], of: &[UnitKey]) -> bool {
    let inside = |keys: &[UnitKey]| keys.iter().filter(|key| key.in_region()).count();
    inside(some) >= LEAST_UNITS_OF_WHOLE && 2 * inside(some) > inside(of)
}

/// Where a unit is: units of one place are edits of each other, or items of one list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct UnitPlace {
    slot: u32,
    part: u8,
    is_link: bool,
}

impl UnitPlace {
    fn of(key: &UnitKey) -> Self {
        Self { slot: key.slot(), part: key.part() as u8, is_link: key.is_link() }
    }
}

fn sorted_places(keys: &[UnitKey]) -> Vec<UnitPlace> {
    let mut places: Vec<UnitPlace> = keys.iter().map(UnitPlace::of).collect();
    places.sort_unstable();
    places
}

fn count(places: &[UnitPlace], place: UnitPlace) -> usize {
    places.partition_point(|other| *other <= place) - places.partition_point(|other| *other < place)
}

/// The units of the first list that are not in the second; both sorted by name.
fn only_in(of: &[UnitKey], without: &[UnitKey]) -> Vec<UnitKey> {
    let mut others = without.iter().peekable();
    let is_alone = |key: &&UnitKey| {
        while others.next_if(|other| other.name() < key.name()).is_some() {}
        others.peek().is_none_or(|other| other.name() != key.name())
    };
    of.iter().filter(is_alone).copied().collect()
}
