//! One edit of a site's template is one event of the host, not one change of each of its pages (E6.2).
//!
//! A word beside a verdict, never a condition of it: several pages of a host are often edited on one day for good reason.

use std::collections::BTreeMap;

/// How long a change is remembered as evidence about other pages of its host.
pub const HOST_EVENT_WINDOW_S: i64 = 86_400;
/// The most units remembered of a host; the oldest are forgotten first.
const MAX_UNITS: usize = 8_192;

/// Which units came and went on the pages of one host lately.
#[derive(Clone, Debug, Default)]
pub struct HostEvents {
    /// By unit and whether it came: the pages it did so on, and when, the last two different ones.
    seen: BTreeMap<(u64, bool), Vec<(u128, i64)>>,
}

impl HostEvents {
    /// Takes in a change of a page, and says whether each of its units came or went on another page of the host within a
    /// day before. `unix_time` in seconds must not decrease.
    pub fn observe(&mut self, page: u128, unix_time: i64, units_added: &[u64], units_removed: &[u64]) -> bool {
        self.forget(unix_time);
        let mut everywhere = !(units_added.is_empty() && units_removed.is_empty());
        let changes =
            units_added.iter().map(|unit| (*unit, true)).chain(units_removed.iter().map(|unit| (*unit, false)));
        for change in changes {
            let pages = self.seen.entry(change).or_default();
            everywhere &= pages.iter().any(|(other, _)| *other != page);
            pages.retain(|(other, _)| *other != page);
            if pages.len() == 2 {
                pages.remove(0);
            }
            pages.push((page, unix_time));
        }
        everywhere
    }

    fn forget(&mut self, unix_time: i64) {
        let since = unix_time.saturating_sub(HOST_EVENT_WINDOW_S);
        self.seen.retain(|_, pages| {
            pages.retain(|(_, time)| *time >= since);
            !pages.is_empty()
        });
        if self.seen.len() > MAX_UNITS {
            let mut newest: Vec<i64> = self.seen.values().filter_map(|pages| pages.last().map(|last| last.1)).collect();
            newest.sort_unstable();
            let cut = newest[newest.len() - MAX_UNITS];
            self.seen.retain(|_, pages| pages.last().is_some_and(|last| last.1 > cut));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_to_several_pages_within_a_day_is_the_hosts() {
        let mut host = HostEvents::default();
        assert!(!host.observe(1, 0, &[7], &[8]), "the first page is evidence about the others only");
        assert!(host.observe(2, 60, &[7], &[8]));
        assert!(!host.observe(3, 60, &[7, 9], &[8]), "9 is this page's own");
        assert!(!host.observe(4, 60, &[8], &[7]), "the other way round");
        assert!(!host.observe(2, 2 * HOST_EVENT_WINDOW_S, &[7], &[8]), "that was days ago");
        assert!(!host.observe(2, 2 * HOST_EVENT_WINDOW_S + 1, &[7], &[8]), "the same page is no other");
        assert!(!host.observe(5, 2 * HOST_EVENT_WINDOW_S + 1, &[], &[]));
    }
}
