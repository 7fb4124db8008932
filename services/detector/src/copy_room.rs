//! The room that stored copies take, by site, and who may have more of it.
//!
//! Where it is limited, a site may have a multiple of what is free (Choudhury & Hahne, "Dynamic queue length thresholds for
//! shared-memory packet switches", IEEE/ACM Transactions on Networking 6(2), 1998). So the limit is never exceeded, the sites
//! with the largest copies are the first to lose some, and there is room left for a new site.

use page::SiteKey;
use std::collections::HashMap;

/// A site may have this many times the bytes that are free: alone 4/5 of the limit, and each of n large ones 4/(4n + 1).
const TIMES_FREE: u64 = 4;

/// Bytes of the stored copies of a partition.
#[derive(Debug)]
pub(crate) struct CopyRoom {
    limit: Option<u64>,
    used: u64,
    sites: HashMap<SiteKey, u64>,
}

impl CopyRoom {
    pub(crate) fn new(limit: Option<u64>) -> Self {
        Self { limit, used: 0, sites: HashMap::new() }
    }

    pub(crate) fn used(&self) -> u64 {
        self.used
    }

    /// Whether a copy of a site may take `after` bytes, where it took `before`.
    pub(crate) fn allows(&self, site: &SiteKey, before: u64, after: u64) -> bool {
        let Some(limit) = self.limit else { return true };
        let with = |bytes: u64| bytes.saturating_sub(before) + after;
        let of_site = with(self.sites.get(site).copied().unwrap_or(0));
        limit.checked_sub(with(self.used)).is_some_and(|free| of_site <= TIMES_FREE * free)
    }

    /// Notes the bytes of all copies of a site. That corrects a number whose record was rolled back.
    pub(crate) fn set(&mut self, site: &SiteKey, bytes: u64) {
        let before = match bytes {
            0 => self.sites.remove(site),
            bytes => self.sites.insert(site.clone(), bytes),
        };
        self.used = self.used.saturating_sub(before.unwrap_or(0)) + bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn site(number: usize) -> SiteKey {
        SiteKey::from_domain(format!("site-{number}.test"))
    }

    /// Replaces a copy of a site.
    fn replace(room: &mut CopyRoom, site: &SiteKey, before: u64, after: u64) {
        let of_site = room.sites.get(site).copied().unwrap_or(0) - before + after;
        room.set(site, of_site);
    }

    /// Sites that each store copies of this many bytes as long as they may. Returns the bytes of each.
    fn filled(limit: u64, sites: usize, bytes: u64) -> Vec<u64> {
        let mut room = CopyRoom::new(Some(limit));
        let mut grows = true;
        while std::mem::take(&mut grows) {
            for number in 0..sites {
                if room.allows(&site(number), 0, bytes) {
                    replace(&mut room, &site(number), 0, bytes);
                    grows = true;
                }
            }
        }
        (0..sites).map(|number| room.sites[&site(number)]).collect()
    }

    #[test]
    fn large_sites_share_what_they_may_have_and_leave_room_for_another() {
        assert_eq!(filled(1_000, 1, 1), [800]);
        assert_eq!(filled(9_000, 2, 1), [4_000, 4_000]);
        let five = filled(2_100, 5, 1);
        assert!(five.iter().all(|bytes| (399..=401).contains(bytes)), "{five:?}");
    }

    #[test]
    fn a_copy_is_replaced_by_a_shorter_one_and_the_sites_without_copies_are_forgotten() {
        let mut room = CopyRoom::new(Some(100));
        assert!(room.allows(&site(0), 0, 80) && !room.allows(&site(0), 0, 81));
        room.set(&site(0), 40);
        room.set(&site(0), 80);
        assert_eq!(room.used(), 80, "the number before was rolled back");
        assert!(!room.allows(&site(0), 0, 1) && room.allows(&site(0), 80, 80) && room.allows(&site(1), 0, 16));
        room.set(&site(0), 0);
        assert_eq!((room.used(), room.sites.len()), (0, 0));
    }

    #[test]
    fn without_a_limit_all_are_stored() {
        assert!(CopyRoom::new(None).allows(&site(0), 0, u64::MAX));
    }

    proptest! {
        #[test]
        fn the_limit_is_never_exceeded(copies in prop::collection::vec((0_usize..6, 0_usize..4, 0_u64..400), 0..200)) {
            let mut room = CopyRoom::new(Some(1_000));
            let mut stored = HashMap::new();
            for (number, page, bytes) in copies {
                let before = stored.get(&(number, page)).copied().unwrap_or(0);
                let after = if room.allows(&site(number), before, bytes) { bytes } else { 0 };
                stored.insert((number, page), after);
                replace(&mut room, &site(number), before, after);
                prop_assert_eq!(room.used(), stored.values().sum::<u64>());
                prop_assert!(room.used() <= 1_000);
            }
        }
    }
}
