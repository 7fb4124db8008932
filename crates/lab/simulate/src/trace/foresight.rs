//! The future changes of a trace, as the yardstick policies know them in advance.

use super::{JudgedTrace, LEARNING_DAYS, TracePage, WINDOW_DAYS};
use policies::foresight::{Reported, ReportedChange, SweepReport, SweptRates};
use policies::{PolicyKind, PolicyOptions};
use revisit::RevisitPolicy;
use revisit::columns::Slot;
use std::collections::BTreeMap;

/// A sweep changes at least this many pages of a site within [`SWEEP_DAYS`].
const SWEPT_PAGES: usize = 3;
const SWEEP_DAYS: f64 = 1.0 / 24.0;

/// Assumed time until the next change after a page's last change of the window.
const BEYOND_DAYS: f64 = 365.0;

/// A yardstick policy that knows the trace's changes after `start_days` in advance. Any other policy is built as usual.
pub(super) fn yardstick(
    policy: PolicyKind,
    trace: &JudgedTrace,
    start_days: f64,
    options: &PolicyOptions,
) -> Box<dyn RevisitPolicy> {
    match policy {
        PolicyKind::Clairvoyant => Box::new(Reported::new(trace.reported(start_days, |page, change| {
            page.changes_days.get(change + 1).copied().unwrap_or(WINDOW_DAYS + BEYOND_DAYS)
        }))),
        PolicyKind::Reported => {
            Box::new(Reported::new(trace.reported(start_days, |page, _| page.smoothed_rate_per_day().recip())))
        }
        PolicyKind::SweepReport => {
            let swept = trace.sweeps();
            let rates = trace.pages.iter().zip(&swept).map(|(page, swept)| {
                let learned = page.changes_days.iter().zip(swept).filter(|(at, _)| **at <= LEARNING_DAYS);
                let own = learned.filter(|(_, swept)| !**swept).count();
                SweptRates { all_per_day: page.smoothed_rate_per_day(), own_per_day: smoothed_per_day(own) }
            });
            let rates = rates.collect();
            let mut sweeps = Vec::new();
            for (slot, (page, swept)) in (0..).map(Slot::new).zip(trace.pages.iter().zip(&swept)) {
                let reported = page.changes_days.iter().zip(swept).filter(|(at, swept)| **swept && **at > start_days);
                sweeps.extend(reported.map(|(at, _)| ReportedChange { at_days: *at, slot, rank: 0.0 }));
            }
            Box::new(SweepReport::new(sweeps, rates))
        }
        other => crate::setup::build(other, options),
    }
}

/// The rate of a page with this many changes in the learning year.
pub(super) fn smoothed_per_day(changes: usize) -> f64 {
    (changes as f64 + 0.5) / (LEARNING_DAYS + 30.0)
}

impl JudgedTrace {
    /// All changes after `start_days`, ranked by page and position of the change.
    fn reported(&self, start_days: f64, rank: impl Fn(&TracePage, usize) -> f64) -> Vec<ReportedChange> {
        let mut reported = Vec::new();
        for (slot, page) in (0..).map(Slot::new).zip(&self.pages) {
            let later = page.changes_days.iter().enumerate().filter(|(_, at)| **at > start_days);
            reported.extend(later.map(|(change, at)| ReportedChange { at_days: *at, slot, rank: rank(page, change) }));
        }
        reported
    }

    /// For each change of each page, whether it is part of a sweep of its site.
    fn sweeps(&self) -> Vec<Vec<bool>> {
        let mut sites: BTreeMap<u64, Vec<(f64, usize, usize)>> = BTreeMap::new();
        for (number, page) in self.pages.iter().enumerate() {
            let site = sites.entry(page.place.site).or_default();
            site.extend(page.changes_days.iter().enumerate().map(|(change, at)| (*at, number, change)));
        }
        let mut swept: Vec<Vec<bool>> = self.pages.iter().map(|page| vec![false; page.changes_days.len()]).collect();
        for changes in sites.values_mut() {
            changes.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
            // The hour that ends with each change, its pages, and the first change not yet known to be of a sweep.
            let (mut first, mut unmarked) = (0, 0);
            let mut pages: BTreeMap<usize, usize> = BTreeMap::new();
            for last in 0..changes.len() {
                *pages.entry(changes[last].1).or_default() += 1;
                while changes[last].0 - changes[first].0 > SWEEP_DAYS {
                    let page = changes[first].1;
                    if let Some(count) = pages.get_mut(&page) {
                        *count -= 1;
                        if *count == 0 {
                            pages.remove(&page);
                        }
                    }
                    first += 1;
                }
                if pages.len() >= SWEPT_PAGES {
                    for (_, page, change) in &changes[unmarked.max(first)..=last] {
                        swept[*page][*change] = true;
                    }
                    unmarked = last + 1;
                }
            }
        }
        swept
    }
}

#[cfg(test)]
mod tests;
