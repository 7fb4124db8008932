//! The tables and queues in which policies keep their pages.

use chance::{splitmix64, spread, unit};
use change_rate::Gamma;
use revisit::columns::Slot;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// One value per slot in use.
#[derive(Clone, Debug)]
pub(crate) struct SlotTable<T> {
    rows: Vec<Option<T>>,
    len: usize,
}

impl<T> Default for SlotTable<T> {
    fn default() -> Self {
        Self { rows: Vec::new(), len: 0 }
    }
}

impl<T> SlotTable<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn insert(&mut self, slot: Slot, value: T) -> Option<T> {
        if self.rows.len() <= slot.index() {
            self.rows.resize_with(slot.index() + 1, || None);
        }
        let before = self.rows[slot.index()].replace(value);
        self.len += usize::from(before.is_none());
        before
    }

    pub(crate) fn remove(&mut self, slot: Slot) -> Option<T> {
        let before = self.rows.get_mut(slot.index())?.take();
        self.len -= usize::from(before.is_some());
        before
    }

    pub(crate) fn get(&self, slot: Slot) -> Option<&T> {
        self.rows.get(slot.index())?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, slot: Slot) -> Option<&mut T> {
        self.rows.get_mut(slot.index())?.as_mut()
    }

    /// In the order of slots.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Slot, &T)> {
        (0u32..).zip(&self.rows).filter_map(|(index, row)| Some((Slot::new(index), row.as_ref()?)))
    }
}

/// A sort key: ascending, ties to the lower slot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct KeyedSlot {
    pub(crate) key: f64,
    pub(crate) slot: Slot,
}

impl Eq for KeyedSlot {}

impl Ord for KeyedSlot {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.total_cmp(&other.key).then(self.slot.cmp(&other.slot))
    }
}

impl PartialOrd for KeyedSlot {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Pages in the order of their due times, each at most once.
#[derive(Clone, Debug, Default)]
pub(crate) struct DueQueue {
    heap: BinaryHeap<Reverse<KeyedSlot>>,
    /// The current keys. Other heap entries are left from before a page was moved or taken.
    due_days: SlotTable<f64>,
}

impl DueQueue {
    pub(crate) fn len(&self) -> usize {
        self.due_days.len()
    }

    /// Queues the page, or moves it.
    pub(crate) fn push(&mut self, slot: Slot, due_days: f64) {
        if self.due_days.insert(slot, due_days).is_some_and(|before| before.total_cmp(&due_days).is_eq()) {
            return;
        }
        self.heap.push(Reverse(KeyedSlot { key: due_days, slot }));
        if self.heap.len() > 64 + 2 * self.len() {
            self.heap = self.due_days.iter().map(|(slot, &key)| Reverse(KeyedSlot { key, slot })).collect();
        }
    }

    pub(crate) fn remove(&mut self, slot: Slot) -> bool {
        self.due_days.remove(slot).is_some()
    }

    pub(crate) fn due_days(&self, slot: Slot) -> Option<f64> {
        self.due_days.get(slot).copied()
    }

    pub(crate) fn peek(&mut self) -> Option<KeyedSlot> {
        while let Some(Reverse(first)) = self.heap.peek() {
            if self.due_days(first.slot).is_some_and(|due| due.total_cmp(&first.key).is_eq()) {
                return Some(*first);
            }
            self.heap.pop();
        }
        None
    }

    pub(crate) fn pop(&mut self) -> Option<KeyedSlot> {
        let first = self.peek()?;
        self.heap.pop();
        self.due_days.remove(first.slot);
        Some(first)
    }
}

/// Pages without a copy, and those of them that are in flight.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewPageQueue {
    waiting: DueQueue,
    in_flight: SlotTable<f64>,
}

impl NewPageQueue {
    pub(crate) fn discovered(&mut self, slot: Slot, at_days: f64) {
        self.in_flight.remove(slot);
        self.waiting.push(slot, at_days);
    }

    /// Takes the page that has waited longest.
    pub(crate) fn take(&mut self) -> Option<Slot> {
        let first = self.waiting.pop()?;
        self.in_flight.insert(first.slot, first.key);
        Some(first.slot)
    }

    /// Puts a page back to wait. Returns `false` when it was not one of these in flight.
    pub(crate) fn put_back(&mut self, slot: Slot) -> bool {
        self.in_flight.remove(slot).map(|at_days| self.waiting.push(slot, at_days)).is_some()
    }

    /// Removes a page, waiting or in flight. Returns `false` when it was neither.
    pub(crate) fn remove(&mut self, slot: Slot) -> bool {
        let waiting = self.waiting.remove(slot);
        self.in_flight.remove(slot).is_some() || waiting
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

/// A number in 0..1 that is constant per page: its phase in its first interval.
pub(crate) fn phase(slot: Slot) -> f64 {
    unit(splitmix64(spread(slot.index() as u64)))
}

/// Makes a number finite and not negative.
pub(crate) fn sane(number: f64) -> f64 {
    if number > 0.0 { number.min(f64::MAX) } else { 0.0 }
}

/// Expected changes per day, limited to the range that all formulas support.
pub(crate) fn believed_rate(belief: Gamma) -> f64 {
    belief.mean().clamp(1e-6, 1e4)
}
