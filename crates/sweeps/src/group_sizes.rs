//! The number of pages in every candidate group, and the groups that a page is in.

use crate::place::{GroupKind, PagePlace};
use crate::rules::{LEAST_PAGES, LEAST_PAGES_NAMED};

const KINDS: usize = GroupKind::ALL.len();
/// An entry: the upper 40 bits of a group's hash, then a count of 24 bits.
const COUNT_BITS: u32 = 24;
const COUNT_MAX: u64 = (1 << COUNT_BITS) - 1;
const LEAST_SLOTS: usize = 64;

/// The groups of a page that are large enough to count, widest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct GroupSet {
    groups: [u64; KINDS],
    len: u8,
}

impl GroupSet {
    /// Selects the candidate groups of a place that have enough pages. Groups of equal size are the same group under
    /// different names: the widest kind stands for them.
    pub fn of(place: &PagePlace, size_of: impl Fn(u64) -> u32) -> Self {
        Self::of_sizes(place, &place.groups.map(|group| if group == 0 { 0 } else { size_of(group) }))
    }

    /// The same, with the sizes of the candidate groups.
    fn of_sizes(place: &PagePlace, all_sizes: &[u32; KINDS]) -> Self {
        let mut set = GroupSet::default();
        let mut sizes = [0; KINDS];
        for ((kind, &group), &size) in GroupKind::ALL.into_iter().zip(&place.groups).zip(all_sizes) {
            if group == 0 {
                continue;
            }
            let least = match kind {
                GroupKind::Host | GroupKind::FileName => LEAST_PAGES_NAMED,
                _ => LEAST_PAGES,
            };
            let len = usize::from(set.len);
            if size >= least && !sizes[..len].contains(&size) {
                sizes[len] = size;
                set.groups[len] = group;
                set.len += 1;
            }
        }
        set
    }

    /// Hashes of the groups.
    pub fn as_slice(&self) -> &[u64] {
        &self.groups[..usize::from(self.len)]
    }
}

/// Pages per candidate group and per cell. Most groups are file names, so an entry takes eight bytes. Two groups whose
/// hashes share the first 40 bits are counted as one, which happens to one in a hundred thousand among ten million.
/// Counts saturate at 16.7 million.
#[derive(Clone, Debug, Default)]
pub struct GroupSizes {
    /// Open addressing with linear probing, in the order of hashes; 0 is free.
    entries: Vec<u64>,
    used: usize,
}

impl GroupSizes {
    /// Counts a new page.
    pub fn insert(&mut self, place: &PagePlace) {
        place.counted().for_each(|group| self.add(group, 1));
    }

    /// Counts a removed page.
    pub fn remove(&mut self, place: &PagePlace) {
        for group in place.counted() {
            if let Some(slot) = self.find(group) {
                let entry = self.entries[slot];
                // A saturated count has lost track.
                if entry & COUNT_MAX > 0 && entry & COUNT_MAX < COUNT_MAX {
                    self.entries[slot] = entry - 1;
                }
            }
        }
    }

    /// Reserves slots for `groups` more groups. Call it before adding groups in hash order, as a store yields them: in
    /// a table that is still small they form one cluster, and each insertion walks all of it.
    pub fn reserve(&mut self, groups: usize) {
        if (self.used + groups + 1) * 5 > self.entries.len() * 4 {
            self.grow(groups);
        }
    }

    /// Adds pages to a group.
    pub fn add(&mut self, group: u64, pages: u32) {
        if group == 0 || pages == 0 {
            return;
        }
        if (self.used + 1) * 5 > self.entries.len() * 4 {
            self.grow(0);
        }
        let slot = self.slot(group);
        if self.entries[slot] == 0 {
            self.entries[slot] = tag(group);
            self.used += 1;
        }
        let count = self.entries[slot] & COUNT_MAX;
        self.entries[slot] = tag(group) | (count + u64::from(pages)).min(COUNT_MAX);
    }

    /// Counts a group with an unknown number of pages as one that is never empty.
    pub(crate) fn lose_track(&mut self, group: u64) {
        self.add(group, COUNT_MAX as u32);
    }

    /// Number of pages in a group.
    pub fn get(&self, group: u64) -> u32 {
        self.find(group).map_or(0, |slot| (self.entries[slot] & COUNT_MAX) as u32)
    }

    /// The groups of a place that count now.
    pub fn groups_of(&self, place: &PagePlace) -> GroupSet {
        if self.entries.is_empty() {
            return GroupSet::default();
        }
        // All first entries are loaded before any is examined, so that memory is waited for once.
        let slots = place.groups.map(|group| self.first_slot(tag(group)));
        let found = slots.map(|slot| self.entries[slot]);
        let mut sizes = [0; KINDS];
        for (kind, &group) in place.groups.iter().enumerate() {
            if group == 0 {
                continue;
            }
            let entry = match found[kind] {
                entry if entry == 0 || entry & !COUNT_MAX == tag(group) => entry,
                _ => self.entries[self.slot(group)],
            };
            sizes[kind] = (entry & COUNT_MAX) as u32;
        }
        GroupSet::of_sizes(place, &sizes)
    }

    /// Memory used, in bytes.
    pub fn bytes(&self) -> usize {
        self.entries.capacity() * 8
    }

    fn find(&self, group: u64) -> Option<usize> {
        if self.entries.is_empty() {
            return None;
        }
        Some(self.slot(group)).filter(|slot| self.entries[*slot] != 0)
    }

    /// The slot of the group, or the free one for it.
    fn slot(&self, group: u64) -> usize {
        let tag = tag(group);
        let mut slot = self.first_slot(tag);
        while self.entries[slot] != 0 && self.entries[slot] & !COUNT_MAX != tag {
            slot += 1;
            if slot == self.entries.len() {
                slot = 0;
            }
        }
        slot
    }

    /// The slot where the search for a tag begins.
    #[inline]
    fn first_slot(&self, tag: u64) -> usize {
        ((u128::from(tag) * self.entries.len() as u128) >> 64) as usize
    }

    /// Grows by half beyond the groups to come, and drops groups without pages.
    fn grow(&mut self, to_come: usize) {
        let kept: usize = self.entries.iter().filter(|entry| **entry & COUNT_MAX > 0).count();
        let slots = ((kept + to_come) * 15 / 8).max(LEAST_SLOTS);
        let old = std::mem::replace(&mut self.entries, vec![0; slots]);
        self.used = kept;
        for entry in old.into_iter().filter(|entry| entry & COUNT_MAX > 0) {
            let slot = self.slot(entry);
            self.entries[slot] = entry;
        }
    }
}

/// The stored part of a hash; never 0.
fn tag(group: u64) -> u64 {
    (group & !COUNT_MAX).max(1 << COUNT_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_a_place_are_those_its_sizes_give_also_where_entries_collide() {
        let mut sizes = GroupSizes::default();
        let place = |page: u32| {
            let (site, directory) = (format!("site{}.test", page % 7), page % 21);
            PagePlace::of(&site, &site, &format!("/d{directory}/p{}.html", page / 5))
        };
        assert_eq!(sizes.groups_of(&place(0)), GroupSet::default());
        for page in 0..3_000 {
            sizes.insert(&place(page));
        }
        let mut groups = 0;
        for page in 0..3_200 {
            let set = sizes.groups_of(&place(page));
            assert_eq!(set, GroupSet::of(&place(page), |group| sizes.get(group)));
            groups += set.as_slice().len();
        }
        assert!(groups > 3_200, "{groups}");
    }
    #[test]
    fn sizes_in_the_order_of_their_hashes_are_found_in_few_steps() {
        const GROUPS: u64 = 100_000;
        let hash = |group: u64| (group + 1) << 47 | chance::spread(group) >> 17;
        let mut sizes = GroupSizes::default();
        sizes.reserve(GROUPS as usize);
        let slots = sizes.entries.len();
        let mut steps = 0;
        for group in 0..GROUPS {
            sizes.add(hash(group), group as u32 + 1);
            let slot = sizes.find(hash(group)).unwrap();
            steps += slot.abs_diff(sizes.first_slot(tag(hash(group))));
        }
        assert_eq!(sizes.entries.len(), slots);
        assert!((0..GROUPS).all(|group| sizes.get(hash(group)) == group as u32 + 1));
        assert!(steps < GROUPS as usize, "{steps} steps");
    }
}
