//! Places of a page whose value differs at nearly every fetch: slots, gaps, and places of tokens within a text. They are learned,
//! passed over, and counted again when quiet (E6.5).
//!
//! Frequency does not distinguish noise from news: a price may truly change between any two fetches a day apart. Two pairs of
//! fetches a minute apart do, if both differ; a true change may fall between the fetches of one. Frequency only says which places
//! are worth such pairs.

use crate::gaps::is_gap;
use std::collections::BTreeMap;

/// Versions for which a touch is remembered.
const WINDOW_VERSIONS: u32 = 22;
/// A place touched in more versions of the window than this is volatile, if further looks agree. A smaller limit would mask edits that
/// are undone and redone.
const MAX_TOUCHES: u32 = 4;
/// A place touched in at least this many versions of the window is noise, if close looks say so.
const MIN_NOISE_TOUCHES: u32 = 4;
/// The most places remembered. Beyond that, those touched longest ago are dropped.
const MAX_PLACES: usize = 1_024;

/// The bits of a history that record touches; bit 0 is the newest version.
const TOUCHES: u32 = (1 << WINDOW_VERSIONS) - 1;
/// Whether the place is noise.
const PROVEN: u32 = 1 << 31;
/// Pairs of back-to-back fetches between which it differed.
const DIFFERING: Count = Count { shift: 22, most: 3 };
/// Pairs that found it the same. For noise, looks that found it quiet.
const SAME: Count = Count { shift: 24, most: 15 };
/// Pairs between which its text differed in tokens that were no noise before.
const SHAPELESS: Count = Count { shift: 28, most: 3 };

/// At least this many differing pairs prove noise.
const DIFFERING_PAIRS: u32 = 2;
/// There may be at most this many pairs without a difference for each differing one.
const SAME_PER_DIFFERING: u32 = 2;
/// Pairs without a difference that make the changes of a place real.
const SAME_PAIRS: u32 = 2;
/// Looks in a row that find noise quiet before it is forgotten.
const QUIET_LOOKS: u32 = 12;
/// A text is noise as a whole after this many pairs, each of which differed in other tokens.
const SHAPELESS_PAIRS: u32 = 2;

/// A small number within a history.
#[derive(Clone, Copy)]
struct Count {
    shift: u32,
    most: u32,
}

impl Count {
    fn of(self, history: u32) -> u32 {
        history >> self.shift & self.most
    }

    fn set(self, history: &mut u32, count: u32) {
        *history = *history & !(self.most << self.shift) | count.min(self.most) << self.shift;
    }
}

/// The remembered places of one page: 8 bytes for each place touched in the window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    /// Each place with its history. Sorted by place; every history has a touch.
    touches: Vec<(u32, u32)>,
}

/// The findings of two back-to-back fetches.
#[derive(Debug, Default)]
pub(crate) struct Pair<'p> {
    /// The places that differed, sorted.
    pub(crate) differing: &'p [u32],
    /// Those of them, sorted, whose text differed in other tokens than in pairs before.
    pub(crate) shapeless: &'p [u32],
    /// Those of the differing places, sorted, that are again as they were before the last look.
    pub(crate) returned: &'p [u32],
    /// The places that differed between the pair before and stayed as they were then: a true change fell between these two looks.
    pub(crate) lasting: &'p [u32],
    /// Whether places that were the same are cleared by that.
    pub(crate) clears_others: bool,
}

impl Places {
    /// Records a version by the places it touched, sorted and without repetitions.
    pub(crate) fn advance(&mut self, touched: &[u32]) {
        self.touches.retain_mut(|(place, history)| {
            *history = (*history & !TOUCHES) | ((*history << 1) & TOUCHES);
            let is_touched = touched.binary_search(place).is_ok();
            note_quiet(history, !is_touched);
            let is_kept = *history & TOUCHES != 0;
            *history |= u32::from(is_touched);
            is_kept
        });
        let is_new = |place: &&u32| self.history(**place).is_none();
        let new: Vec<(u32, u32)> = touched.iter().filter(is_new).map(|place| (*place, 1)).collect();
        // Two sorted runs, which a stable sort merges.
        self.touches.extend(new);
        self.touches.sort();
        if self.touches.len() > MAX_PLACES {
            self.touches.sort_by_key(|(place, history)| (history.trailing_zeros(), !touches(*history), *place));
            self.touches.truncate(MAX_PLACES);
            self.touches.sort_unstable();
        }
    }

    /// Gives places what is known of those that they replace, if nothing is known of them.
    pub(crate) fn carry(&mut self, moves: &[[u32; 2]]) {
        for [old, new] in moves {
            if self.touches.len() >= MAX_PLACES {
                break;
            }
            if let (Some(history), Err(at)) =
                (self.history(*old), self.touches.binary_search_by_key(new, |(place, _)| *place))
            {
                self.touches.insert(at, (*new, history));
            }
        }
    }

    /// Records a look that found the page unchanged.
    pub(crate) fn observe_quiet(&mut self) {
        self.touches.iter_mut().for_each(|(_, history)| note_quiet(history, true));
    }

    /// Whether a place differs often and is noise.
    pub(crate) fn is_proven(&self, place: u32) -> bool {
        self.history(place).is_some_and(is_proven)
    }

    /// Whether a place is noise in all of its text, because each pair differed in other tokens.
    pub(crate) fn is_shapeless(&self, place: u32) -> bool {
        self.history(place).is_some_and(|history| is_proven(history) && SHAPELESS.of(history) >= SHAPELESS_PAIRS)
    }

    /// Whether a place was touched before the newest version, too.
    pub(crate) fn is_touched_again(&self, place: u32) -> bool {
        self.history(place).is_some_and(|history| touches(history) > 1)
    }

    /// Whether a place is remembered.
    pub(crate) fn contains(&self, place: u32) -> bool {
        self.history(place).is_some()
    }

    /// Whether a place differed in a pair before, or is noise.
    pub(crate) fn has_differed(&self, place: u32) -> bool {
        self.history(place).is_some_and(|history| is_proven(history) || DIFFERING.of(history) > 0)
    }

    /// Whether some place differs often without a verdict by back-to-back fetches.
    pub(crate) fn has_suspects(&self) -> bool {
        self.touches.iter().any(|(_, history)| is_suspect(*history))
    }

    /// Whether one of these places, sorted, may be noise, and another look would say.
    pub(crate) fn may_be_noise(&self, places: &[u32]) -> bool {
        let is_open = |history: u32| history & PROVEN == 0 && DIFFERING.of(history) > 0;
        self.touches.iter().any(|(place, history)| is_open(*history) && places.binary_search(place).is_ok())
    }

    /// Whether some place is noise.
    pub(crate) fn has_proven(&self) -> bool {
        self.touches.iter().any(|(_, history)| is_proven(*history))
    }

    /// The number of texts that are noise in all of their tokens. A text with a slot and a gap that are noise counts once: the two
    /// have the same history.
    pub(crate) fn count_shapeless(&self) -> usize {
        let mut slots_and_gaps: BTreeMap<u32, [usize; 2]> = BTreeMap::new();
        for (place, history) in self.touches.iter().filter(|(place, _)| self.is_shapeless(*place)) {
            slots_and_gaps.entry(*history).or_default()[usize::from(is_gap(*place))] += 1;
        }
        slots_and_gaps.values().map(|[slots, gaps]| slots.max(gaps)).sum()
    }

    /// Records back-to-back fetches. A place that often differs and differs in two of such pairs, and not in far fewer than it does
    /// not, is noise. If that clears others, the other suspects are cleared when it happens again. Returns whether there
    /// was noise.
    pub(crate) fn prove(&mut self, pair: &Pair<'_>) -> bool {
        let mut is_noisy = false;
        for (place, history) in &mut self.touches {
            let (mut differing, same) = (DIFFERING.of(*history), SAME.of(*history));
            if pair.lasting.binary_search(place).is_ok() {
                differing = differing.saturating_sub(1);
                DIFFERING.set(history, differing);
            }
            if pair.differing.binary_search(place).is_ok() {
                let shapeless = SHAPELESS.of(*history);
                let has_returned = pair.returned.binary_search(place).is_ok();
                let is_shapeless = pair.shapeless.binary_search(place).is_ok() || has_returned && shapeless > 0;
                SHAPELESS.set(history, if is_shapeless { shapeless + 1 } else { shapeless.saturating_sub(1) });
                DIFFERING.set(history, differing + 1);
                is_noisy |= is_frequent(*history);
                if differing + 1 >= DIFFERING_PAIRS && SAME_PER_DIFFERING * (differing + 1) >= same {
                    *history |= PROVEN;
                    SAME.set(history, 0);
                }
            } else if *history & PROVEN == 0 && (differing > 0 || pair.clears_others && is_frequent(*history)) {
                SAME.set(history, same + 1);
                if same + 1 > SAME_PER_DIFFERING * (differing + 1) && differing > 0 {
                    // So seldom is no noise, but a change that happened to fall between two looks.
                    DIFFERING.set(history, differing - 1);
                }
            }
        }
        is_noisy
    }

    fn history(&self, place: u32) -> Option<u32> {
        self.touches.binary_search_by_key(&place, |(place, _)| *place).ok().map(|index| self.touches[index].1)
    }

    /// Places and histories, sorted by place.
    pub(crate) fn entries(&self) -> &[(u32, u32)] {
        &self.touches
    }

    /// Rebuilds the places from the result of [`entries`](Self::entries). Returns `None` for any other list.
    pub(crate) fn from_entries(touches: Vec<(u32, u32)>) -> Option<Self> {
        let in_order = touches.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let valid = touches.iter().all(|(_, history)| history & TOUCHES != 0);
        (in_order && valid && touches.len() <= MAX_PLACES).then_some(Self { touches })
    }
}

/// Counts looks in a row that find noise quiet, and forgets it after some.
fn note_quiet(history: &mut u32, is_quiet: bool) {
    if *history & PROVEN == 0 {
        return;
    }
    let looks = if is_quiet { SAME.of(*history) + 1 } else { 0 };
    SAME.set(history, looks);
    if looks >= QUIET_LOOKS {
        *history &= TOUCHES;
    }
}

fn touches(history: u32) -> u32 {
    (history & TOUCHES).count_ones()
}

fn is_frequent(history: u32) -> bool {
    touches(history) > MAX_TOUCHES
}

fn is_proven(history: u32) -> bool {
    touches(history) >= MIN_NOISE_TOUCHES && history & PROVEN != 0
}

fn is_suspect(history: u32) -> bool {
    let is_cleared = SAME.of(history) >= SAME_PAIRS && SAME.of(history) > SAME_PER_DIFFERING * DIFFERING.of(history);
    is_frequent(history) && history & PROVEN == 0 && !is_cleared
}

#[cfg(test)]
#[path = "places_tests.rs"]
mod tests;
