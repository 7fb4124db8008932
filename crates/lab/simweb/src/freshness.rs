//! How fresh was the crawler's copy? Exact integrals over the change times and the ledger (Cho & Garcia-Molina 2000).
//!
//! The judged pages are those that exist at the window's start and at its end. At time t a page's copy is the version
//! that was last sent whole, or confirmed by 304, or by 404 while the page was gone; a copy counts from the end of its
//! request. It is **fresh** while that version is the page's current one. A page without a copy is not fresh. **Age**
//! is 0 while fresh, otherwise the time since the first change that the copy has missed; without a copy, since the
//! window's start. Anything fetched before the window counts as a copy at its start.

use crate::ledger::{LedgerEntry, RequestKind};
use crate::looks::{LedgerLook, Looks};
use crate::trace::{ChangeTrace, PageHistory, TimeWindow};
use page::Timestamp;
use serde::Serialize;

/// Time averages over the judged pages, with their cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Freshness {
    /// Number of pages judged.
    pub pages: u64,
    /// Mean share of the window during which a page's copy was current.
    pub freshness: f64,
    /// Mean age in days.
    pub age_days: f64,
    /// Changes of judged pages in the window.
    pub changes_total: u64,
    /// Looks at judged pages in the window that found another version than the copy's. Changes overwritten between two
    /// looks count once.
    pub changes_seen: u64,
    /// Number of requests for pages, judged or not, and for sitemaps that began in the window.
    pub fetches: u64,
    /// Share of them that were answered 304.
    pub not_modified_share: f64,
    /// Body bytes sent for them.
    pub bytes_fetched: u64,
}

/// Judges a ledger against the change times.
pub fn freshness(trace: &ChangeTrace, entries: &[LedgerEntry], window: TimeWindow) -> Freshness {
    let mut cost = Freshness::default();
    let mut not_modified = 0;
    for entry in entries.iter().filter(|entry| matches!(entry.kind, RequestKind::Page | RequestKind::Sitemap)) {
        if (window.start..window.end).contains(&entry.started_at) {
            cost.fetches += 1;
            cost.bytes_fetched += entry.bytes;
            not_modified += u64::from(entry.status == 304);
        }
    }
    cost.not_modified_share = if cost.fetches == 0 { 0.0 } else { not_modified as f64 / cost.fetches as f64 };
    Looks::of_ledger(trace, entries).judged(trace, window, cost)
}

/// Adds to `cost` the averages over the judged pages. Looks are by page, in order of time.
pub(crate) fn judge(trace: &ChangeTrace, looks: &[Vec<LedgerLook>], window: TimeWindow, cost: Freshness) -> Freshness {
    let mut sum = cost;
    for (page, looks) in trace.pages.iter().zip(looks).filter(|(page, _)| is_judged(page, window)) {
        let integral = integrate(page, looks, window);
        sum.pages += 1;
        sum.freshness += integral.fresh_days;
        sum.age_days += integral.age_days_squared;
        sum.changes_total += changes_in(page, window).count() as u64;
        sum.changes_seen += integral.changes_seen;
    }
    let page_days = (sum.pages as f64 * window.days()).max(f64::MIN_POSITIVE);
    sum.freshness /= page_days;
    sum.age_days /= page_days;
    sum
}

/// Whether the page exists at both ends of the window.
pub(crate) fn is_judged(page: &PageHistory, window: TimeWindow) -> bool {
    page.exists_at(window.start) && page.exists_at(window.end)
}

/// Times in the window at which the page changed.
pub(crate) fn changes_in(page: &PageHistory, window: TimeWindow) -> impl Iterator<Item = Timestamp> {
    let inside = move |moment: &Timestamp| *moment > window.start && *moment < window.end;
    page.states.iter().skip(1).map(|state| state.since).filter(inside)
}

#[derive(Debug, Default)]
pub(crate) struct Integral {
    pub(crate) fresh_days: f64,
    /// Integral of the age over the window, in days times days.
    age_days_squared: f64,
    changes_seen: u64,
}

pub(crate) fn integrate(page: &PageHistory, looks: &[LedgerLook], window: TimeWindow) -> Integral {
    let mut sum = Integral::default();
    let before = looks.partition_point(|look| look.at <= window.start);
    let mut copy = before.checked_sub(1).map(|last| looks[last].version);
    let mut at = window.start;
    let inside = looks[before..].iter().take_while(|look| look.at < window.end);
    for look in inside.copied().map(Some).chain([None]) {
        let until = look.map_or(window.end, |look| look.at);
        // From when on the copy is stale: always without a copy, else once its version is superseded.
        let stale_from = match copy {
            None => window.start,
            Some(version) => page.states.get(version as usize + 1).map_or(Timestamp::MAX, |next| next.since),
        };
        let turned = stale_from.clamp(at, until);
        sum.fresh_days += turned.days_since(at);
        // A change before the window counts from the change, not from the window's start.
        let (age_at_turn, age_at_end) =
            (turned.days_since(stale_from.min(turned)), until.days_since(stale_from.min(until)));
        sum.age_days_squared += (age_at_turn + age_at_end) / 2.0 * until.days_since(turned);
        if let Some(look) = look {
            sum.changes_seen += u64::from(copy.is_some_and(|version| version != look.version));
            copy = Some(look.version);
            at = look.at;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{HistoryState, StateContent};
    use proptest::prelude::*;

    const ORIGIN: Timestamp = Timestamp::from_secs(1_000_000_000);

    fn day(days: f64) -> Timestamp {
        ORIGIN.plus_days(days)
    }

    fn page(changes: &[f64]) -> PageHistory {
        let state = |days: &f64| HistoryState { since: day(*days), content: StateContent::Generated };
        PageHistory {
            host: "a.test".into(),
            path: "/".into(),
            media_type: "text/html".into(),
            states: changes.iter().map(state).collect(),
            change_rate_per_day: None,
        }
    }

    fn trace(page: PageHistory) -> ChangeTrace {
        ChangeTrace { window: TimeWindow { start: day(0.0), end: day(15.0) }, pages: vec![page] }
    }

    fn fetch(page: &PageHistory, days: f64, status: u16) -> LedgerEntry {
        LedgerEntry {
            started_at: day(days),
            ended_at: day(days),
            host: "a.test".into(),
            path: "/".into(),
            kind: RequestKind::Page,
            status,
            version: page.version_at(day(days)),
            bytes: 100,
            in_flight: 1,
            disallowed: false,
            tls: false,
        }
    }

    #[test]
    fn the_unit_trace_of_the_metrics_has_its_reference_values() {
        let page = page(&[-5.0, 1.0, 3.0, 5.0, 9.5, 12.0]);
        let entries: Vec<_> = [0.0, 4.0, 10.0].iter().map(|days| fetch(&page, *days, 200)).collect();
        let trace = trace(page);
        let report = freshness(&trace, &entries, trace.window);
        assert!((report.freshness - 0.266666666667).abs() < 1e-11, "{report:?}");
        assert!((report.age_days - 1.43333333333).abs() < 1e-10, "{report:?}");
        assert_eq!((report.changes_total, report.changes_seen, report.fetches, report.bytes_fetched), (5, 2, 3, 300));
    }

    #[test]
    fn a_page_never_fetched_is_stale_and_ages_from_the_start() {
        let trace = trace(page(&[-5.0]));
        let report = freshness(&trace, &[], trace.window);
        assert_eq!((report.freshness, report.age_days, report.pages), (0.0, 7.5, 1));
    }

    #[test]
    fn a_304_confirms_and_is_counted() {
        let page = page(&[-5.0]);
        let entries = [fetch(&page, 5.0, 200), fetch(&page, 10.0, 304)];
        let trace = trace(page);
        let report = freshness(&trace, &entries, trace.window);
        assert!((report.freshness - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!((report.not_modified_share, report.changes_seen), (0.5, 0));
    }

    #[test]
    fn a_404_while_the_page_is_gone_is_knowing_it() {
        let mut page = page(&[-5.0, 5.0, 10.0]);
        page.states[1].content = StateContent::Gone;
        let entries = [fetch(&page, 0.0, 200), fetch(&page, 6.0, 404), fetch(&page, 11.0, 200)];
        let trace = trace(page);
        let report = freshness(&trace, &entries, trace.window);
        // Stale from 5 to 6 and from 10 to 11.
        assert!((report.freshness - 13.0 / 15.0).abs() < 1e-12, "{report:?}");
        assert_eq!(report.changes_seen, 2);
    }

    #[test]
    fn a_failed_fetch_is_paid_for_and_teaches_nothing() {
        let page = page(&[-5.0]);
        let entries = [LedgerEntry { version: None, ..fetch(&page, 0.0, 500) }];
        let trace = trace(page);
        let report = freshness(&trace, &entries, trace.window);
        assert_eq!((report.fetches, report.freshness), (1, 0.0));
    }

    #[test]
    fn a_copy_from_before_the_window_counts_and_its_age_too() {
        let page = page(&[-5.0, -1.0]);
        let entries = [fetch(&page, -2.0, 200)];
        let trace = trace(page);
        let report = freshness(&trace, &entries, trace.window);
        assert_eq!((report.freshness, report.age_days), (0.0, 8.5));
    }

    #[test]
    fn pages_that_come_or_go_for_good_are_not_judged() {
        let mut gone = page(&[-5.0, 5.0]);
        gone.states[1].content = StateContent::Gone;
        let trace = ChangeTrace { pages: vec![page(&[5.0]), gone], ..trace(page(&[-5.0])) };
        assert_eq!(freshness(&trace, &[], trace.window).pages, 0);
    }

    proptest! {
        #[test]
        fn integrals_agree_with_sampling(
            mut changes in proptest::collection::vec(0.01..15.0f64, 0..8),
            mut checks in proptest::collection::vec(0.0..15.0f64, 0..8),
        ) {
            changes.push(-1.0);
            changes.sort_by(f64::total_cmp);
            checks.sort_by(f64::total_cmp);
            let page = page(&changes);
            let entries: Vec<_> = checks.iter().map(|days| fetch(&page, *days, 200)).collect();
            let trace = trace(page.clone());
            let report = freshness(&trace, &entries, trace.window);
            let steps = 20_000;
            let (mut fresh, mut age) = (0.0, 0.0);
            for step in 0..steps {
                let now = 15.0 * (f64::from(step) + 0.5) / f64::from(steps);
                let stale_since = match checks.iter().rev().find(|check| **check <= now) {
                    None => Some(0.0),
                    Some(check) => changes.iter().find(|change| *change > check && **change <= now).copied(),
                };
                fresh += f64::from(stale_since.is_none());
                age += stale_since.map_or(0.0, |since| now - since);
            }
            prop_assert!((report.freshness - fresh / f64::from(steps)).abs() < 2e-3);
            prop_assert!((report.age_days - age / f64::from(steps)).abs() < 2e-2);
        }
    }
}
