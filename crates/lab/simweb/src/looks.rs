//! The versions of each page that a crawler saw, and when: from the ledger of a real crawler or from a computed one.

use crate::freshness::{Freshness, integrate, judge};
use crate::ledger::{LedgerEntry, RequestKind};
use crate::trace::{ChangeTrace, PageHistory, TimeWindow};
use page::Timestamp;
use std::collections::HashMap;
use std::sync::Arc;

/// A version seen at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LedgerLook {
    /// End of the request: from then on the crawler has this version.
    pub at: Timestamp,
    /// Index of the page's state.
    pub version: u32,
}

/// The looks at every page of a trace, in order of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Looks {
    by_page: Vec<Vec<LedgerLook>>,
}

impl Looks {
    pub(crate) fn none_at(pages: usize) -> Self {
        Self { by_page: vec![Vec::new(); pages] }
    }

    /// The looks that a server's ledger shows. Requests that taught nothing (errors, other addresses) are left out.
    pub fn of_ledger(trace: &ChangeTrace, entries: &[LedgerEntry]) -> Self {
        let address = |page: &PageHistory| (Arc::clone(&page.host), Arc::clone(&page.path));
        let pages: HashMap<(Arc<str>, Arc<str>), usize> =
            trace.pages.iter().enumerate().map(|(number, page)| (address(page), number)).collect();
        let mut looks = Self::none_at(trace.pages.len());
        for entry in entries.iter().filter(|entry| entry.kind == RequestKind::Page) {
            let page = pages.get(&(Arc::clone(&entry.host), Arc::clone(&entry.path)));
            if let (Some(page), Some(version)) = (page, entry.version) {
                looks.push(*page, LedgerLook { at: entry.ended_at, version });
            }
        }
        looks.by_page.iter_mut().for_each(|looks| looks.sort_by_key(|look| look.at));
        looks
    }

    /// Adds a look that is not before the page's others.
    pub(crate) fn push(&mut self, page: usize, look: LedgerLook) {
        self.by_page[page].push(look);
    }

    pub fn of_page(&self, page: usize) -> &[LedgerLook] {
        self.by_page.get(page).map_or(&[], Vec::as_slice)
    }

    /// Averages over the judged pages. Every look counts as a fetch. Bytes are not counted, and a look that finds the
    /// version of the look before counts as not modified.
    pub fn freshness(&self, trace: &ChangeTrace, window: TimeWindow) -> Freshness {
        let (mut fetches, mut unchanged) = (0_u64, 0_u64);
        for looks in &self.by_page {
            let is_inside = |look: &LedgerLook| (window.start..window.end).contains(&look.at);
            fetches += looks.iter().filter(|look| is_inside(look)).count() as u64;
            let same = |pair: &&[LedgerLook]| is_inside(&pair[1]) && pair[0].version == pair[1].version;
            unchanged += looks.windows(2).filter(same).count() as u64;
        }
        let not_modified_share = if fetches == 0 { 0.0 } else { unchanged as f64 / fetches as f64 };
        self.judged(trace, window, Freshness { fetches, not_modified_share, ..Freshness::default() })
    }

    /// Adds the averages over the judged pages to a cost.
    pub(crate) fn judged(&self, trace: &ChangeTrace, window: TimeWindow, cost: Freshness) -> Freshness {
        judge(trace, &self.by_page, window, cost)
    }

    /// Share of the window during which the copy of one page was stale or missing.
    pub fn stale_share_of(&self, trace: &ChangeTrace, page: usize, window: TimeWindow) -> f64 {
        let days = window.days();
        let Some(history) = trace.pages.get(page).filter(|_| days > 0.0) else { return 0.0 };
        1.0 - (integrate(history, self.of_page(page), window).fresh_days / days).clamp(0.0, 1.0)
    }

    /// The same as a mean over all pages, by weight.
    pub fn stale_share(&self, trace: &ChangeTrace, weights: &[f64], window: TimeWindow) -> f64 {
        let stale = (0..trace.pages.len()).map(|page| self.stale_share_of(trace, page, window));
        let (sum, weight) =
            stale.zip(weights).fold((0.0, 0.0), |(sum, total), (stale, weight)| (sum + weight * stale, total + weight));
        if weight > 0.0 { sum / weight } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{HistoryState, StateContent};

    fn second(seconds: i64) -> Timestamp {
        Timestamp::from_secs(seconds)
    }

    /// Two pages that change at second 50 of 100. The first is looked at at 0 and 75, the second never.
    fn two_pages() -> (ChangeTrace, Looks) {
        let states = [-10, 50].map(|at| HistoryState { since: second(at), content: StateContent::Generated });
        let page = |path: &str| PageHistory {
            host: "a.test".into(),
            path: path.into(),
            media_type: "text/html".into(),
            states: states.to_vec(),
            change_rate_per_day: None,
        };
        let window = TimeWindow { start: second(0), end: second(100) };
        let trace = ChangeTrace { window, pages: vec![page("/x"), page("/y")] };
        let mut looks = Looks::none_at(2);
        looks.push(0, LedgerLook { at: second(0), version: 0 });
        looks.push(0, LedgerLook { at: second(75), version: 1 });
        (trace, looks)
    }

    #[test]
    fn stale_time_is_what_is_missing_to_freshness_and_weights_count() {
        let (trace, looks) = two_pages();
        let (one, other) =
            (looks.stale_share_of(&trace, 0, trace.window), looks.stale_share_of(&trace, 1, trace.window));
        assert_eq!((one, other), (0.25, 1.0));
        assert_eq!(looks.stale_share(&trace, &[1.0, 1.0], trace.window), 0.625);
        assert_eq!(looks.stale_share(&trace, &[3.0, 1.0], trace.window), 0.4375);
        assert!((looks.freshness(&trace, trace.window).freshness - 0.375).abs() < 1e-12);
        assert_eq!(looks.freshness(&trace, trace.window).fetches, 2);
    }

    #[test]
    fn a_part_of_the_window_begins_with_the_copy_of_the_time_before() {
        let (trace, looks) = two_pages();
        let part = TimeWindow { start: second(60), end: second(100) };
        assert!((looks.stale_share_of(&trace, 0, part) - 0.375).abs() < 1e-12);
    }

    #[test]
    fn pages_without_weight_say_nothing() {
        let (trace, looks) = two_pages();
        assert_eq!(looks.stale_share(&trace, &[0.0, 0.0], trace.window), 0.0);
    }
}
