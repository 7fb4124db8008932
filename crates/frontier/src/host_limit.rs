//! Limits of pages per host: which page makes room for another.

use crate::page_record::ScheduledPage;
use messages::Verdict;
use revisit::columns::Slot;
use std::collections::{BTreeSet, HashMap};

/// The pages of the hosts that have a limit.
#[derive(Clone, Debug, Default)]
pub(crate) struct LimitedHosts {
    /// By number of the host.
    hosts: HashMap<u32, LimitedHost>,
}

/// The pages of one host.
#[derive(Clone, Debug, Default)]
struct LimitedHost {
    /// All pages.
    pages: u64,
    /// Those that may make room, the least worth first.
    may_go: BTreeSet<(Worth, Slot)>,
}

/// Worth of a page in comparison with others of its host: its weight, and 0 if it is gone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Worth(f32);

impl Worth {
    pub(crate) fn of(page: &ScheduledPage, weight: f64) -> Self {
        Self(if page.verdict == Some(Verdict::Gone) { 0.0 } else { weight as f32 })
    }

    pub(crate) fn from_value(value: f32) -> Self {
        Self(value)
    }

    pub(crate) fn value(self) -> f32 {
        self.0
    }

    /// The worth that is lost if the page makes room; `None` if it must not. Seeds stay, and so does a page until its request
    /// is answered: the detector would take an answer behind the removal for the first look at a new page.
    pub(crate) fn at_stake(page: &ScheduledPage, weight: f64) -> Option<Self> {
        (page.depth > 0 && page.request.is_answered()).then(|| Self::of(page, weight))
    }
}

impl Eq for Worth {}

impl PartialOrd for Worth {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Worth {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Whether a host has room for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostRoom {
    Room,
    /// If this page goes, which is worth less.
    Instead(Slot),
    /// No page that may go is worth less.
    Full,
}

impl LimitedHosts {
    /// Adds a page of a host with a limit.
    pub(crate) fn add(&mut self, host: u32, slot: Slot, at_stake: Option<Worth>) {
        let limited = self.hosts.entry(host).or_default();
        limited.pages += 1;
        limited.may_go.extend(at_stake.map(|worth| (worth, slot)));
    }

    /// Takes out a page that was added with these values.
    pub(crate) fn remove(&mut self, host: u32, slot: Slot, at_stake: Option<Worth>) {
        let Some(limited) = self.hosts.get_mut(&host) else { return };
        limited.pages = limited.pages.saturating_sub(1);
        at_stake.iter().for_each(|worth| {
            limited.may_go.remove(&(*worth, slot));
        });
        if limited.pages == 0 {
            self.hosts.remove(&host);
        }
    }

    /// Whether a host has room for another discovered page of this worth.
    pub(crate) fn room(&self, host: u32, most_pages: u64, worth: Worth) -> HostRoom {
        let Some(limited) = self.hosts.get(&host).filter(|limited| limited.pages >= most_pages) else {
            return HostRoom::Room;
        };
        match limited.may_go.first() {
            Some((least, slot)) if *least < worth => HostRoom::Instead(*slot),
            _ => HostRoom::Full,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_that_is_worth_least_makes_room_for_one_that_is_worth_more() {
        let mut hosts = LimitedHosts::default();
        let slot = Slot::new;
        hosts.add(7, slot(0), None);
        hosts.add(7, slot(1), Some(Worth(2.0)));
        assert_eq!(hosts.room(7, 3, Worth(1.0)), HostRoom::Room);
        hosts.add(7, slot(2), Some(Worth(1.0)));
        assert_eq!(hosts.room(7, 3, Worth(1.0)), HostRoom::Full);
        assert_eq!(hosts.room(7, 3, Worth(1.5)), HostRoom::Instead(slot(2)));
        hosts.remove(7, slot(2), Some(Worth(1.0)));
        hosts.add(7, slot(2), Some(Worth(3.0)));
        assert_eq!(hosts.room(7, 3, Worth(2.5)), HostRoom::Instead(slot(1)));
        assert_eq!(hosts.room(8, 3, Worth(0.0)), HostRoom::Room);
    }

    #[test]
    fn seeds_stay_whatever_comes() {
        let mut hosts = LimitedHosts::default();
        hosts.add(7, Slot::new(0), None);
        assert_eq!(hosts.room(7, 1, Worth(9.0)), HostRoom::Full);
    }
}
