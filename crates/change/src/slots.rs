//! Slots: places of a page whose value differs at nearly every fetch. They are learnt, ignored, and counted again when
//! quiet (E6.5).
//!
//! Frequency does not distinguish noise from news: a price may truly change between any two fetches a day apart. Two fetches a
//! minute apart do: any difference between them is noise. Frequency only says which places are worth such a pair.

/// Versions for which a touch is remembered.
const WINDOW_VERSIONS: u32 = 30;
/// A slot touched in more versions of the window than this is volatile, if a second look agrees. A smaller limit would mask edits that are
/// undone and redone.
const MAX_TOUCHES: u32 = 4;
/// The most slots remembered. Beyond that, those touched longest ago are dropped.
const MAX_SLOTS: usize = 512;

/// The bits of a history that record touches.
const TOUCHES: u32 = (1 << WINDOW_VERSIONS) - 1;
// The upper two bits hold the findings of pairs of back-to-back fetches.
/// The slot differed within a pair: it is noise.
const PROVEN: u32 = 3 << 30;
/// The slot was the same in two pairs whose other bytes differed: its changes are real. One such pair is not enough, because
/// noise may show the same value twice.
const CLEARED: u32 = 2 << 30;
/// Added for each pair in which the slot was the same.
const SAME: u32 = 1 << 30;

/// The remembered slots of one page: 8 bytes for each slot touched in the window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slots {
    /// Each slot with its history: one bit per version in which it was touched (bit 0 is the newest), and the result of
    /// back-to-back fetches. Sorted by slot; every history has a touch.
    touches: Vec<(u32, u32)>,
}

impl Slots {
    /// Records a version by the slots it touched, sorted and without repetitions.
    pub(crate) fn advance(&mut self, touched: &[u32]) {
        for (_, history) in &mut self.touches {
            *history = (*history & !TOUCHES) | ((*history << 1) & TOUCHES);
        }
        self.touches.retain(|(_, history)| *history & TOUCHES != 0);
        for slot in touched {
            match self.touches.binary_search_by_key(slot, |(slot, _)| *slot) {
                Ok(index) => self.touches[index].1 |= 1,
                Err(index) => self.touches.insert(index, (*slot, 1)),
            }
        }
        if self.touches.len() > MAX_SLOTS {
            self.touches.sort_by_key(|(slot, history)| (history.trailing_zeros(), !touches(*history), *slot));
            self.touches.truncate(MAX_SLOTS);
            self.touches.sort_unstable();
        }
    }

    /// Whether a slot differs often and is proven noise.
    pub(crate) fn is_proven(&self, slot: u32) -> bool {
        self.history(slot).is_some_and(|history| is_frequent(history) && history & !TOUCHES == PROVEN)
    }

    /// Whether some slot differs often without a verdict by back-to-back fetches.
    pub(crate) fn has_suspects(&self) -> bool {
        self.touches.iter().any(|(_, history)| is_suspect(*history))
    }

    /// Whether some slot is noise.
    pub(crate) fn has_proven(&self) -> bool {
        self.touches.iter().any(|(_, history)| history & !TOUCHES == PROVEN)
    }

    /// Records back-to-back fetches between which the given slots, sorted, differed. Suspects among them are noise. If
    /// that clears others, the other suspects are cleared when it happens again. Returns whether there was noise.
    pub(crate) fn prove(&mut self, differing: &[u32], clears_others: bool) -> bool {
        let mut is_noisy = false;
        for (slot, history) in self.touches.iter_mut().filter(|(_, history)| is_suspect(*history)) {
            if differing.binary_search(slot).is_ok() {
                *history |= PROVEN;
                is_noisy = true;
            } else if clears_others {
                *history += SAME;
            }
        }
        is_noisy
    }

    fn history(&self, slot: u32) -> Option<u32> {
        self.touches.binary_search_by_key(&slot, |(slot, _)| *slot).ok().map(|index| self.touches[index].1)
    }

    /// Slots and histories, sorted by slot.
    pub(crate) fn entries(&self) -> &[(u32, u32)] {
        &self.touches
    }

    /// Rebuilds the slots from the result of [`entries`](Self::entries). Returns `None` for any other list.
    pub(crate) fn from_entries(touches: Vec<(u32, u32)>) -> Option<Self> {
        let in_order = touches.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let valid = touches.iter().all(|(_, history)| history & TOUCHES != 0);
        (in_order && valid && touches.len() <= MAX_SLOTS).then_some(Self { touches })
    }
}

fn touches(history: u32) -> u32 {
    (history & TOUCHES).count_ones()
}

fn is_frequent(history: u32) -> bool {
    touches(history) > MAX_TOUCHES
}

fn is_suspect(history: u32) -> bool {
    is_frequent(history) && history & !TOUCHES < CLEARED
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_slot_is_suspect_after_five_touches_and_trusted_again_when_it_was_quiet() {
        let mut slots = Slots::default();
        for touch in 1..=5 {
            slots.advance(&[7]);
            assert_eq!(slots.has_suspects(), touch > 4, "{touch}");
        }
        slots.prove(&[7], true);
        assert!(slots.is_proven(7) && !slots.is_proven(8));
        for quiet in 1..=30 {
            slots.advance(&[]);
            assert_eq!(slots.is_proven(7), quiet <= 25, "{quiet}");
        }
        assert!(slots.entries().is_empty());
    }

    #[test]
    fn only_a_second_look_distinguishes_noise_from_what_truly_changes_often() {
        let mut slots = Slots::default();
        (0..4).for_each(|_| slots.advance(&[3, 7]));
        assert!(!slots.has_suspects());
        slots.advance(&[3, 7]);
        assert!(slots.has_suspects() && !slots.is_proven(3) && !slots.is_proven(7));
        assert!(slots.prove(&[3], true), "there is noise");
        assert!(slots.has_suspects() && slots.is_proven(3) && !slots.is_proven(7), "noise may show one value twice");
        assert!(!slots.prove(&[3], false), "no other noise");
        assert!(slots.has_suspects(), "and this pair clears nothing");
        slots.prove(&[3], true);
        assert!(!slots.has_suspects() && slots.is_proven(3) && !slots.is_proven(7));
        (0..20).for_each(|_| slots.advance(&[3, 7]));
        slots.prove(&[7], true);
        assert!(!slots.has_suspects() && !slots.is_proven(7), "what was cleared stays so while it goes on");
        assert_eq!(Slots::from_entries(slots.entries().to_vec()).as_ref(), Some(&slots));
        (0..30).for_each(|_| slots.advance(&[]));
        assert!(slots.entries().is_empty(), "and all is forgotten when it ends");
    }

    #[test]
    fn there_is_an_end_to_what_is_remembered() {
        let mut slots = Slots::default();
        slots.advance(&(0..600).collect::<Vec<_>>());
        slots.advance(&[1_000]);
        assert_eq!(slots.entries().len(), MAX_SLOTS);
        assert!(slots.entries().iter().any(|(slot, _)| *slot == 1_000), "the newest stays");
    }

    proptest! {
        #[test]
        fn what_is_remembered_survives(looks in proptest::collection::vec(proptest::collection::btree_set(0..9_u32, 0..4), 0..40)) {
            let mut slots = Slots::default();
            for touched in looks {
                slots.advance(&touched.into_iter().collect::<Vec<_>>());
            }
            prop_assert_eq!(Slots::from_entries(slots.entries().to_vec()), Some(slots));
        }
    }
}
