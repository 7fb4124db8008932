//! The demo's results as numbers.

use serde::Serialize;
use simweb::{ChangeTrace, Freshness, LedgerEntry, TimeWindow};
use std::time::Duration;

/// Number of points on the curve over time.
const POINTS: usize = 40;

/// The data to judge by: when pages changed, and what was fetched.
#[derive(Clone, Debug)]
pub(super) struct Books {
    pub(super) judged: ChangeTrace,
    pub(super) ledger: Vec<LedgerEntry>,
}

/// The content of `report.json`.
#[derive(Debug, Serialize)]
pub(super) struct DemoReport {
    pub(super) replayed: String,
    pub(super) pages: usize,
    pub(super) hosts: usize,
    /// Start of the window on the replay's calendar, and in `ledger.csv`, in seconds since 1970.
    pub(super) virtual_start_s: i64,
    pub(super) virtual_days: f64,
    pub(super) wall_s: f64,
    /// CPU time of the loop: the whole process without the thread that serves the web.
    pub(super) cpu_s: f64,
    pub(super) cpu_us_per_fetch: f64,
    pub(super) fetches: u64,
    pub(super) budget_fetches_per_day: f64,
    pub(super) changes_total: u64,
    pub(super) changes_seen: u64,
    pub(super) changes_missed: u64,
    pub(super) not_modified_share: f64,
    pub(super) bytes_fetched: u64,
    /// Counting every change of the bytes.
    pub(super) freshness: Compared,
    pub(super) age_days: Compared,
    /// Counting only meaningful changes, on which recrawl spends its budget.
    pub(super) meaningful_changes_total: u64,
    pub(super) meaningful_changes_seen: u64,
    pub(super) meaningful_freshness: Compared,
    pub(super) meaningful_age_days: Compared,
    pub(super) politeness: DemoPoliteness,
    /// Freshness of recrawl's copies over time.
    pub(super) freshness_over_time: Vec<FreshnessPoint>,
}

/// A measure for three policies with the same budget.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Compared {
    pub(super) recrawl: f64,
    pub(super) round_robin: f64,
    pub(super) oracle: f64,
}

impl Compared {
    fn new([recrawl, round_robin, oracle]: [&Freshness; 3], measure: impl Fn(&Freshness) -> f64) -> Self {
        Self { recrawl: measure(recrawl), round_robin: measure(round_robin), oracle: measure(oracle) }
    }
}

/// Freshness of recrawl by its ledger, and of the other two policies on the same pages, times and budget.
fn contest(books: &Books, window: TimeWindow, budget_per_day: f64) -> [Freshness; 3] {
    let Books { judged, ledger } = books;
    [
        simweb::freshness(judged, ledger, window),
        simweb::round_robin(judged, window, budget_per_day).freshness(judged, window),
        simweb::oracle(judged, &[], window, budget_per_day).freshness(judged, window),
    ]
}

#[derive(Debug, Serialize)]
pub(super) struct DemoPoliteness {
    /// Shortest time on any host from the end of one request to the start of the next. Absent if no host got two
    /// requests.
    pub(super) min_gap_s: Option<f64>,
    pub(super) max_in_flight_per_host: u32,
    pub(super) robots_violations: u64,
    pub(super) forbidden_requests: u64,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct FreshnessPoint {
    pub(super) day: f64,
    pub(super) freshness: f64,
}

impl DemoReport {
    /// Computes the report by all changes and by meaningful ones, with the other two policies.
    pub(super) fn new(
        replayed: &str,
        books: &Books,
        meaning: &Books,
        window: TimeWindow,
        budget_per_day: f64,
        wall: Duration,
        cpu: Duration,
    ) -> Self {
        let [recrawl, round_robin, oracle] = contest(books, window, budget_per_day);
        let of_meaning = contest(meaning, window, budget_per_day);
        let Books { judged, ledger } = books;
        let polite = simweb::politeness(ledger);
        let curve = (0..POINTS).map(|point| {
            let day = |point: usize| window.days() * point as f64 / POINTS as f64;
            let part =
                TimeWindow { start: window.start.plus_days(day(point)), end: window.start.plus_days(day(point + 1)) };
            FreshnessPoint {
                day: day(point) + 0.5 * part.days(),
                freshness: simweb::freshness(judged, ledger, part).freshness,
            }
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
            freshness: Compared::new([&recrawl, &round_robin, &oracle], |judged| judged.freshness),
            age_days: Compared::new([&recrawl, &round_robin, &oracle], |judged| judged.age_days),
            meaningful_changes_total: of_meaning[0].changes_total,
            meaningful_changes_seen: of_meaning[0].changes_seen,
            meaningful_freshness: Compared::new(of_meaning.each_ref(), |judged| judged.freshness),
            meaningful_age_days: Compared::new(of_meaning.each_ref(), |judged| judged.age_days),
            politeness: DemoPoliteness {
                min_gap_s: polite.min_gap_s,
                max_in_flight_per_host: polite.max_in_flight_per_host,
                robots_violations: polite.robots_violations,
                forbidden_requests: polite.forbidden_requests,
            },
            freshness_over_time: curve.collect(),
        }
    }

    /// The report as text for people.
    pub(super) fn text(&self) -> String {
        let row = |name: &str, compared: Compared| {
            format!("{name:<24}{:>12.4}{:>14.4}{:>12.4}", compared.recrawl, compared.round_robin, compared.oracle)
        };
        let gap = self.politeness.min_gap_s.map_or("none".to_owned(), |gap| format!("{gap:.1} s"));
        [
            format!("{} pages on {} hosts, {:.0} days in {:.0} s: {}", self.pages, self.hosts, self.virtual_days, self.wall_s, self.replayed),
            String::new(),
            format!("{:<24}{:>12}{:>14}{:>12}", "", "recrawl", "round robin", "oracle"),
            row("freshness, meaning", self.meaningful_freshness),
            row("age in days, meaning", self.meaningful_age_days),
            row("freshness, any byte", self.freshness),
            row("age in days, any byte", self.age_days),
            String::new(),
            format!(
                "{} fetches (budget {:.0}); {} of {} meaningful changes seen; {} of {} changes seen in all, {} missed",
                self.fetches,
                self.budget_fetches_per_day * self.virtual_days,
                self.meaningful_changes_seen,
                self.meaningful_changes_total,
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
