//! What the demo found, as numbers.

use serde::Serialize;
use simweb::{LedgerEntry, Trace, Window};
use std::time::Duration;

/// Points of the curve over time.
const POINTS: usize = 40;

/// The report: `report.json`.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) replayed: String,
    pub(super) pages: usize,
    pub(super) hosts: usize,
    /// Where the window begins on the replay's calendar, and so in `ledger.csv`, in seconds since 1970.
    pub(super) virtual_start_s: i64,
    pub(super) virtual_days: f64,
    pub(super) wall_s: f64,
    /// CPU of the loop: the whole process without the thread that serves the web.
    pub(super) cpu_s: f64,
    pub(super) cpu_us_per_fetch: f64,
    pub(super) fetches: u64,
    pub(super) budget_fetches_per_day: f64,
    pub(super) changes_total: u64,
    pub(super) changes_seen: u64,
    pub(super) changes_missed: u64,
    pub(super) not_modified_share: f64,
    pub(super) bytes_fetched: u64,
    pub(super) freshness: Compared,
    pub(super) age_days: Compared,
    pub(super) politeness: Politeness,
    /// Freshness of recrawl's copies over time.
    pub(super) freshness_over_time: Vec<Point>,
}

/// The same measure under three policies with the same budget.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Compared {
    pub(super) recrawl: f64,
    pub(super) round_robin: f64,
    pub(super) oracle: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct Politeness {
    /// Smallest time on any host from the end of one request to the start of the next; absent when no host was asked twice.
    pub(super) min_gap_s: Option<f64>,
    pub(super) max_in_flight_per_host: u32,
    pub(super) robots_violations: u64,
    pub(super) forbidden_requests: u64,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Point {
    pub(super) day: f64,
    pub(super) freshness: f64,
}

impl Report {
    /// Judges a ledger, and the two others on the same pages, times and budget.
    pub(super) fn new(
        replayed: &str,
        judged: &Trace,
        ledger: &[LedgerEntry],
        window: Window,
        budget_per_day: f64,
        wall: Duration,
        cpu: Duration,
    ) -> Self {
        let recrawl = simweb::freshness(judged, ledger, window);
        let round_robin = simweb::round_robin(judged, window, budget_per_day);
        let oracle = simweb::oracle(judged, window, budget_per_day);
        let polite = simweb::politeness(ledger);
        let curve = (0..POINTS).map(|point| {
            let day = |point: usize| window.days() * point as f64 / POINTS as f64;
            let part =
                Window { start: window.start.plus_days(day(point)), end: window.start.plus_days(day(point + 1)) };
            Point { day: day(point) + 0.5 * part.days(), freshness: simweb::freshness(judged, ledger, part).freshness }
        });
        Self {
            replayed: replayed.to_owned(),
            pages: judged.pages.len(),
            hosts: judged.hosts().len(),
            virtual_start_s: window.start.as_secs(),
            virtual_days: window.days(),
            wall_s: wall.as_secs_f64(),
            cpu_s: cpu.as_secs_f64(),
            cpu_us_per_fetch: cpu.as_secs_f64() * 1e6 / (recrawl.fetches.max(1) as f64),
            fetches: recrawl.fetches,
            budget_fetches_per_day: budget_per_day,
            changes_total: recrawl.changes_total,
            changes_seen: recrawl.changes_seen,
            changes_missed: recrawl.changes_total.saturating_sub(recrawl.changes_seen),
            not_modified_share: recrawl.not_modified_share,
            bytes_fetched: recrawl.bytes_fetched,
            freshness: Compared {
                recrawl: recrawl.freshness,
                round_robin: round_robin.freshness,
                oracle: oracle.freshness,
            },
            age_days: Compared {
                recrawl: recrawl.age_days,
                round_robin: round_robin.age_days,
                oracle: oracle.age_days,
            },
            politeness: Politeness {
                min_gap_s: polite.min_gap_s,
                max_in_flight_per_host: polite.max_in_flight_per_host,
                robots_violations: polite.robots_violations,
                forbidden_requests: polite.forbidden_requests,
            },
            freshness_over_time: curve.collect(),
        }
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let row = |name: &str, compared: Compared| {
            format!("{name:<14}{:>12.4}{:>14.4}{:>12.4}", compared.recrawl, compared.round_robin, compared.oracle)
        };
        let gap = self.politeness.min_gap_s.map_or("none".to_owned(), |gap| format!("{gap:.1} s"));
        [
            format!("{} pages on {} hosts, {:.0} days in {:.0} s: {}", self.pages, self.hosts, self.virtual_days, self.wall_s, self.replayed),
            String::new(),
            format!("{:<14}{:>12}{:>14}{:>12}", "", "recrawl", "round robin", "oracle"),
            row("freshness", self.freshness),
            row("age, days", self.age_days),
            String::new(),
            format!(
                "{} fetches (budget {:.0}); {} of {} changes seen, {} missed",
                self.fetches,
                self.budget_fetches_per_day * self.virtual_days,
                self.changes_seen,
                self.changes_total,
                self.changes_missed
            ),
            format!(
                "{:.0} % answered 304, {:.1} MB fetched, {:.0} µs of CPU a fetch",
                100.0 * self.not_modified_share,
                self.bytes_fetched as f64 / 1e6,
                self.cpu_us_per_fetch
            ),
            format!(
                "politeness: smallest gap on a host {gap} (virtual), at most {} in flight on a host, {} robots violations, {} forbidden requests",
                self.politeness.max_in_flight_per_host, self.politeness.robots_violations, self.politeness.forbidden_requests
            ),
        ]
        .join("\n")
    }
}
