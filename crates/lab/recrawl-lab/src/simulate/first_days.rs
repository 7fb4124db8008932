//! Stale time in the first days of a crawl, and its ratio to round robin's.

use serde::Serialize;
use simulate::metrics::Scores;

/// Days since the start, from and to, over which stale time is averaged.
const DAYS: [(usize, usize); 4] = [(0, 30), (30, 120), (0, 120), (0, 365)];

/// The stale time of some of the first days.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct FirstDays {
    from_day: usize,
    /// The day on which they end.
    days: usize,
    /// Share of the time that a copy is stale, mean over pages.
    stale_share: f64,
    /// The same, divided by that of round robin on the same pages at the same budget.
    relative_to_round_robin: Option<f64>,
}

/// Stale time by spans of days. `scored_days` is the length of the scored time.
pub(super) fn first_days(scores: &Scores, scored_days: f64) -> Vec<FirstDays> {
    let scored_days = scored_days.floor() as usize;
    let whole = (!DAYS.contains(&(0, scored_days)) && scored_days > 0).then_some((0, scored_days));
    let stale = |(from_day, days)| {
        let stale_share = scores.stale_share(from_day..days);
        FirstDays { from_day, days, stale_share, relative_to_round_robin: None }
    };
    DAYS.into_iter().filter(|(_, to)| *to <= scored_days).chain(whole).map(stale).collect()
}

impl FirstDays {
    /// Compares with round robin over the same days.
    pub(super) fn compare(&mut self, round_robin: &FirstDays) {
        self.relative_to_round_robin =
            (round_robin.stale_share > 0.0).then(|| self.stale_share / round_robin.stale_share);
    }

    fn cell(&self) -> String {
        let relative = self.relative_to_round_robin.map_or("-".to_owned(), |share| format!("{share:.2}"));
        format!("{:.2} ({relative})", 100.0 * self.stale_share)
    }
}

/// The heads of further columns.
pub(super) fn heads(first_days: &[FirstDays]) -> impl Iterator<Item = String> {
    let head = |first: &FirstDays| format!("stale, days {} to {}, % (of round robin's)", first.from_day, first.days);
    first_days.iter().map(head)
}

/// The cells of further columns.
pub(super) fn cells(first_days: &[FirstDays]) -> impl Iterator<Item = String> {
    first_days.iter().map(FirstDays::cell)
}

/// One line for each.
pub(super) fn reported(first_days: &[FirstDays]) -> String {
    heads(first_days).zip(first_days).map(|(head, first)| format!("{head}: {}\n", first.cell())).collect()
}
