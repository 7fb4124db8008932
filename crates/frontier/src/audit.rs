//! Measures freshness. A small share of the fetches goes to pages drawn at random, independent of the policy. The share
//! of them found unchanged is an unbiased estimate of freshness. Its comparison with the freshness expected of the same pages
//! shows how far the expectation is to be trusted.

use crate::page_index::PageIndex;
use crate::page_record::ScheduledPage;
use chance::splitmix64;
use messages::Verdict;
use page::Timestamp;
use revisit::columns::{LastLook, PageStatus, Slot};
use std::time::Duration;

/// Cap on saved-up audits, so that a host that was away causes no burst of them.
const MOST_EARNED: f64 = 16.0;
/// Draws per audit. With fewer than one page in twenty ready, the next tick tries again.
const DRAWS: u64 = 64;

/// The audit's share of the budget, and the state of its draws.
#[derive(Default)]
pub(crate) struct Audit {
    tokens: f64,
    /// Audits drawn and not made since audits were earned last.
    passed_over: f64,
    draws: u64,
    pub(crate) looks: u64,
    pub(crate) fresh: u64,
    pub(crate) recent: RecentAudits,
}

/// Number of audits that count as recent.
const RECENT: f64 = 300.0;

/// Sums over recent audits. Older ones fade: each further audit leaves the fraction 1 - 1/[`RECENT`] of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RecentAudits {
    pub(crate) looks: f64,
    /// Looks that found the copy current.
    pub(crate) fresh: f64,
    /// Looks that were expected to find it current.
    pub(crate) expected: f64,
}

impl RecentAudits {
    fn add(&mut self, looks: f64, fresh: f64, expected: f64) {
        self.looks += looks;
        self.fresh += fresh;
        self.expected += expected;
        if self.looks > RECENT {
            let left = RECENT / self.looks;
            self.looks *= left;
            self.fresh *= left;
            self.expected *= left;
        }
    }
}

impl Audit {
    /// Adds what other fetches have earned.
    pub(crate) fn earn(&mut self, fetches: f64) {
        self.tokens = (self.tokens + fetches + std::mem::take(&mut self.passed_over)).min(MOST_EARNED);
    }

    /// Gives back an audit whose page must wait. It is drawn again when the next is earned, so that a tick comes to an end.
    pub(crate) fn pass_over(&mut self) {
        self.passed_over += 1.0;
    }

    /// Counts the audits of a restored page. The order of the audits of different pages is not known, so the recent
    /// ones become a mixture of all.
    pub(crate) fn restore(&mut self, page: &ScheduledPage) {
        self.looks += page.audits as u64;
        self.fresh += page.audits_fresh as u64;
        self.recent.add(page.audits as f64, page.audits_fresh as f64, page.audits_expected);
    }

    /// Counts the answer to an audit. `expected` is the probability that the copy was current.
    pub(crate) fn judge(&mut self, page: &mut ScheduledPage, verdict: Verdict, expected: f64) {
        let Some(changed) = verdict.is_change() else { return };
        let fresh = !changed;
        page.audits += 1;
        page.audits_fresh += i64::from(fresh);
        page.audits_expected += expected;
        self.looks += 1;
        self.fresh += u64::from(fresh);
        self.recent.add(1.0, f64::from(u8::from(fresh)), expected);
    }

    /// Draws the page to audit now, if the audit has earned one. Every page with a copy is equally likely, also while its server
    /// says that the copy is current, but for `min_interval` after a look. Its host must have room.
    pub(crate) fn draw(
        &mut self,
        pages: &PageIndex,
        partition: u32,
        now: Timestamp,
        min_interval: Duration,
        has_room: impl Fn(u32) -> bool,
    ) -> Option<Slot> {
        let slots = pages.columns.slots() as u64;
        if self.tokens < 1.0 || slots == 0 {
            return None;
        }
        for _ in 0..DRAWS {
            self.draws += 1;
            // The time varies the draws between restarts.
            let seed = (u64::from(partition) << 32) ^ (now.as_micros() as u64).rotate_left(17) ^ self.draws;
            let slot = Slot::new(((u128::from(splitmix64(seed)) * u128::from(slots)) >> 64) as u32);
            let Some(entry) = pages.columns.get(slot) else { continue };
            let LastLook::Looked(last_look) = entry.last_look else { continue };
            let is_free = match entry.status {
                PageStatus::Ready => true,
                // Also one that is away. That shows when it is to be handed out.
                PageStatus::Held => now.saturating_since(last_look) >= min_interval,
                PageStatus::InFlight | PageStatus::Excluded => false,
            };
            if is_free && has_room(entry.host) {
                self.tokens -= 1.0;
                return Some(slot);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use messages::ChangeBelief;
    use page::CanonicalUrl;

    fn page() -> ScheduledPage {
        let url = CanonicalUrl::parse("http://a.test/").expect("it is an address");
        ScheduledPage::new(url, 1.0, 0, ChangeBelief::new(1.0, 100.0), 0, Timestamp::from_secs(0))
    }

    #[test]
    fn an_audit_counts_beside_what_was_expected_of_it() {
        let (mut audit, mut page) = (Audit::default(), page());
        audit.judge(&mut page, Verdict::Unchanged, 0.9);
        audit.judge(&mut page, Verdict::Major, 0.5);
        audit.judge(&mut page, Verdict::Unknown, 0.5);
        assert_eq!((page.audits, page.audits_fresh, page.audits_expected), (2, 1, 1.4));
        assert_eq!((audit.looks, audit.fresh), (2, 1));
        assert_eq!(audit.recent, RecentAudits { looks: 2.0, fresh: 1.0, expected: 1.4 });
        let mut restored = Audit::default();
        restored.restore(&page);
        assert_eq!((restored.looks, restored.fresh, restored.recent), (2, 1, audit.recent));
    }

    #[test]
    fn what_is_long_ago_fades_and_the_sums_stay_bounded() {
        let mut recent = RecentAudits::default();
        (0..1_000).for_each(|_| recent.add(1.0, 1.0, 0.5));
        assert!((recent.looks - RECENT).abs() < 1e-6 && (recent.fresh / recent.expected - 2.0).abs() < 1e-9);
        (0..1_500).for_each(|_| recent.add(1.0, 0.5, 0.5));
        let ratio = recent.fresh / recent.expected;
        assert!(recent.looks <= RECENT + 1e-6 && ratio > 1.0 && ratio < 1.01, "{ratio}");
    }
}
