//! Places of a page whose value differs nearly every time one looks: learnt, passed over, and let back in when quiet
//! (E6.5, learnt from the fetches there are, without a second one).

/// How many versions back a touch counts.
const WINDOW_VERSIONS: u32 = 30;
/// A slot touched in more versions of the window than this is volatile. Fewer would mask edits that are undone and redone.
const MAX_TOUCHES: u32 = 4;
/// The most slots remembered; of more, those touched longest ago go.
const MAX_SLOTS: usize = 512;

/// What is remembered of the slots of one page: 8 bytes for each that was touched in the window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slots {
    /// Slot, and in which of the last versions it was touched: bit 0 is the newest. Sorted by slot; no history is 0.
    touches: Vec<(u32, u32)>,
}

impl Slots {
    /// Takes in a version by the slots it touched, sorted, each once.
    pub(crate) fn advance(&mut self, touched: &[u32]) {
        for (_, history) in &mut self.touches {
            *history = (*history << 1) & ((1 << WINDOW_VERSIONS) - 1);
        }
        self.touches.retain(|(_, history)| *history != 0);
        for slot in touched {
            match self.touches.binary_search_by_key(slot, |(slot, _)| *slot) {
                Ok(index) => self.touches[index].1 |= 1,
                Err(index) => self.touches.insert(index, (*slot, 1)),
            }
        }
        if self.touches.len() > MAX_SLOTS {
            self.touches.sort_by_key(|(slot, history)| (history.trailing_zeros(), !history.count_ones(), *slot));
            self.touches.truncate(MAX_SLOTS);
            self.touches.sort_unstable();
        }
    }

    /// Whether a slot is volatile.
    pub(crate) fn is_volatile(&self, slot: u32) -> bool {
        let found = self.touches.binary_search_by_key(&slot, |(slot, _)| *slot);
        found.is_ok_and(|index| self.touches[index].1.count_ones() > MAX_TOUCHES)
    }

    /// Slots and histories, sorted by slot.
    pub(crate) fn entries(&self) -> &[(u32, u32)] {
        &self.touches
    }

    /// Of what [`entries`](Self::entries) gave; `None` when it did not give it.
    pub(crate) fn from_entries(touches: Vec<(u32, u32)>) -> Option<Self> {
        let in_order = touches.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let valid = touches.iter().all(|(_, history)| *history != 0 && history >> WINDOW_VERSIONS == 0);
        (in_order && valid && touches.len() <= MAX_SLOTS).then_some(Self { touches })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_slot_is_volatile_after_five_touches_and_trusted_again_when_it_was_quiet() {
        let mut slots = Slots::default();
        for touch in 1..=5 {
            slots.advance(&[7]);
            assert_eq!(slots.is_volatile(7), touch > 4, "{touch}");
        }
        assert!(!slots.is_volatile(8));
        for quiet in 1..=30 {
            slots.advance(&[]);
            assert_eq!(slots.is_volatile(7), quiet <= 25, "{quiet}");
        }
        assert!(slots.entries().is_empty());
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
