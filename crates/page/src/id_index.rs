//! The numbers of pages: a hash table of 5 to 7.5 bytes a page, beside the pages' ids.

use crate::PageId;

/// Slots of the first table.
const FIRST_SLOTS: usize = 64;

/// Numbers by page id, by linear probing. The ids are the caller's: a slot holds a number and, in the bits that no number
/// needs yet, a tag of the id. Tags spare most looks at other ids; whether an id is known is decided by comparing all of it.
#[derive(Debug, Default)]
pub struct PageIdIndex {
    /// Tag and number plus one; 0 is an empty slot.
    slots: Vec<u32>,
    used: usize,
    /// Bits of a slot that hold the number.
    number_bits: u32,
}

impl PageIdIndex {
    /// The number of an id. `is_it` returns whether a number belongs to the id.
    pub fn find(&self, id: &PageId, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let (mask, tag) = (self.number_mask(), self.tag(id));
        let mut place = self.home(id);
        loop {
            let slot = self.slots[place];
            if slot == 0 {
                return None;
            }
            if slot & !mask == tag && is_it((slot & mask) - 1) {
                return Some((slot & mask) - 1);
            }
            place = self.after(place);
        }
    }

    /// Adds an id that is not known, under a number that no other id has. No number may be greater than the most ids that were
    /// held at one time. `id_of` returns the id of an earlier number.
    pub fn add(&mut self, id: &PageId, number: u32, id_of: impl Fn(u32) -> PageId) {
        // A table that is fuller than four fifths is slow to search.
        if (self.used + 1) * 5 > self.slots.len() * 4 {
            self.grow(id_of);
        }
        self.put(id, number);
    }

    /// Takes an id out that has this number. `id_of` returns the id of a number.
    pub fn remove(&mut self, id: &PageId, number: u32, id_of: impl Fn(u32) -> PageId) {
        let mask = self.number_mask();
        let mut hole = self.home(id);
        while self.slots[hole] & mask != number + 1 {
            if self.slots[hole] == 0 {
                return;
            }
            hole = self.after(hole);
        }
        // Those behind it move up, unless their search begins behind the hole.
        let (mut next, slots) = (self.after(hole), self.slots.len());
        while self.slots[next] != 0 {
            let home = self.home(&id_of((self.slots[next] & mask) - 1));
            if (next + slots - home) % slots >= (next + slots - hole) % slots {
                self.slots[hole] = self.slots[next];
                hole = next;
            }
            next = self.after(next);
        }
        self.slots[hole] = 0;
        self.used -= 1;
    }

    fn put(&mut self, id: &PageId, number: u32) {
        let mut place = self.home(id);
        while self.slots[place] != 0 {
            place = self.after(place);
        }
        self.slots[place] = self.tag(id) | (number + 1);
        self.used += 1;
    }

    /// Bytes of memory.
    pub fn memory_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u32>()
    }

    fn grow(&mut self, id_of: impl Fn(u32) -> PageId) {
        // Both tables are there for a moment: the numbers may have gaps, so only the old one says which are in use.
        let (slots, mask) = ((self.slots.len() / 2 * 3).max(FIRST_SLOTS), self.number_mask());
        let before = std::mem::replace(&mut self.slots, vec![0; slots]);
        self.number_bits = slots.ilog2() + 1;
        self.used = 0;
        for slot in before.into_iter().filter(|slot| *slot != 0) {
            let number = (slot & mask) - 1;
            self.put(&id_of(number), number);
        }
    }

    /// The slot at which the search for an id begins. Ids are hashes, so their bytes spread evenly. A store yields them in the order
    /// of their first bytes: by these they would form one cluster while the table grows.
    fn home(&self, id: &PageId) -> usize {
        let hash = u64::from_be_bytes(first(&id.0[8..]));
        ((u128::from(hash) * self.slots.len() as u128) >> 64) as usize
    }

    fn after(&self, place: usize) -> usize {
        if place + 1 == self.slots.len() { 0 } else { place + 1 }
    }

    fn number_mask(&self) -> u32 {
        u32::MAX.checked_shr(32_u32.saturating_sub(self.number_bits)).unwrap_or(0)
    }

    fn tag(&self, id: &PageId) -> u32 {
        u32::from_be_bytes(first(&id.0)) & !self.number_mask()
    }
}

/// The first `N` bytes of a slice that is at least as long.
fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    std::array::from_fn(|place| bytes[place])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn check(ids: &[PageId]) {
        let (mut index, mut known) = (PageIdIndex::default(), Vec::new());
        let mut expected: HashMap<PageId, u32> = HashMap::new();
        for id in ids {
            let found = index.find(id, |number| known[number as usize] == *id);
            assert_eq!(found, expected.get(id).copied());
            if found.is_none() {
                index.add(id, known.len() as u32, |number| known[number as usize]);
                expected.insert(*id, known.len() as u32);
                known.push(*id);
            }
        }
        for id in &known {
            assert_eq!(index.find(id, |number| known[number as usize] == *id), expected.get(id).copied());
        }
    }

    #[test]
    fn ids_that_differ_in_their_last_byte_alone_are_distinguished() {
        // They share their slot and their tag: one row of 250 slots.
        let ids: Vec<PageId> =
            (0..250).map(|last| PageId(std::array::from_fn(|at| if at == 15 { last } else { 7 }))).collect();
        check(&[&ids[..], &ids[..]].concat());
    }

    proptest! {
        #[test]
        fn it_knows_what_a_map_knows(ids in proptest::collection::vec((0_u8..4, 0_u8..200, 0_u8..3), 0..2_000)) {
            let id = |&(first, ninth, last): &(u8, u8, u8)| {
                let mut id = [0; 16];
                (id[0], id[8], id[15]) = (first.wrapping_mul(85), ninth, last);
                PageId(id)
            };
            check(&ids.iter().map(id).collect::<Vec<_>>());
        }
    }

    proptest! {
        /// Pages come and go, and a new one gets the number that was given up last.
        #[test]
        fn numbers_are_given_again_in_any_order(steps in proptest::collection::vec((any::<bool>(), 0_u32..600), 0..3_000)) {
            let id = |page: u32| PageId(chance::spread_128(u128::from(page) + 1).to_be_bytes());
            let (mut index, mut known, mut vacant) = (PageIdIndex::default(), Vec::<PageId>::new(), Vec::new());
            let mut expected: HashMap<PageId, u32> = HashMap::new();
            for (adds, page) in steps {
                let id = id(page);
                let found = index.find(&id, |number| known[number as usize] == id);
                prop_assert_eq!(found, expected.get(&id).copied());
                match found {
                    None if adds => {
                        let number = vacant.pop().unwrap_or(known.len() as u32);
                        if number as usize == known.len() {
                            known.push(id);
                        }
                        known[number as usize] = id;
                        index.add(&id, number, |number| known[number as usize]);
                        expected.insert(id, number);
                    }
                    Some(number) if !adds => {
                        index.remove(&id, number, |number| known[number as usize]);
                        expected.remove(&id);
                        vacant.push(number);
                    }
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn ids_that_were_replaced_are_gone_and_all_others_are_found() {
        let id = |number: u32| PageId(chance::spread_128(u128::from(number)).to_be_bytes());
        let (mut index, mut known) = (PageIdIndex::default(), Vec::new());
        for number in 0..1_000 {
            index.add(&id(number), number, |number| known[number as usize]);
            known.push(id(number));
        }
        for step in 0..5_000_u32 {
            let (number, new) = (step * 7 % 1_000, id(1_000 + step));
            let before = known[number as usize];
            index.remove(&before, number, |number| known[number as usize]);
            known[number as usize] = new;
            index.add(&new, number, |number| known[number as usize]);
            assert_eq!(index.find(&before, |number| known[number as usize] == before), None);
        }
        for (number, id) in known.iter().enumerate() {
            assert_eq!(index.find(id, |number| known[number as usize] == *id), Some(number as u32));
        }
    }

    #[test]
    fn it_takes_less_than_eight_bytes_an_address_at_any_size() {
        let mut index = PageIdIndex::default();
        let id = |number: u32| PageId(chance::spread_128(u128::from(number)).to_be_bytes());
        for number in 0..200_000 {
            index.add(&id(number), number, id);
            let bytes = index.memory_bytes();
            assert!(number < 64 || bytes <= 8 * (number as usize + 1), "{bytes} bytes for {}", number + 1);
        }
    }

    #[test]
    fn ids_in_the_order_of_a_store_are_found_in_few_steps() {
        let mut ids: Vec<PageId> =
            (0..100_000).map(|number| PageId(chance::spread_128(number).to_be_bytes())).collect();
        ids.sort_unstable();
        let mut index = PageIdIndex::default();
        for (number, id) in (0..).zip(&ids[..5_000]) {
            index.add(id, number, |number| ids[number as usize]);
        }
        let place_of =
            |number: usize| index.slots.iter().position(|slot| slot & index.number_mask() == number as u32 + 1);
        let steps = |number: usize| place_of(number).unwrap().abs_diff(index.home(&ids[number]));
        let mean = (0..5_000).step_by(50).map(steps).sum::<usize>() / 100;
        assert!(mean < 8, "{mean} steps");
    }
}
