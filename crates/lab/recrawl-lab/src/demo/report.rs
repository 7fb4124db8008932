//! The demo's results as numbers.

use super::books::Books;
use super::contest::{
    BudgetPoint, ByCrawler, Contest, Needed, StalePoint, ThetaPoint, round_robin_needs, same_freshness,
};
use super::worst::{WorstPage, worst_pages};
use serde::Serialize;
use simweb::{LedgerEntry, RequestKind, TimeWindow};
use std::time::Duration;

/// The parameters of a run of the demo, and the time that it took.
#[derive(Clone, Debug)]
pub(super) struct DemoRun {
    pub(super) replayed: String,
    pub(super) window: TimeWindow,
    pub(super) budget_per_day: f64,
    pub(super) theta: f64,
    /// Start of the scored time: by then all have their first copies.
    pub(super) scored_from_day: f64,
    pub(super) wall: Duration,
    pub(super) cpu: Duration,
    pub(super) forbidden_pages: usize,
    pub(super) sitemap_hosts: usize,
}

/// The content of `report.json`.
#[derive(Debug, Serialize)]
pub(super) struct DemoReport {
    pub(super) version: &'static str,
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
    /// The fetches that the live default needs in the simulator for round robin's freshness, as a multiple of the
    /// budget.
    pub(super) same_freshness: Option<Needed>,
    /// The fetches that round robin needs in the simulator for the freshness of the live replay.
    pub(super) round_robin_needs: Option<Needed>,
    /// Whether some pages count more than others.
    pub(super) weighted: bool,
    /// Stale shares, by weight, are scored from this day on. By then all have their first copies.
    pub(super) scored_from_day: f64,
    /// Counting only meaningful changes, on which recrawl spends its budget.
    pub(super) stale_share: ByCrawler<f64>,
    /// Counting every change of the bytes.
    pub(super) stale_share_any_byte: ByCrawler<f64>,
    /// Mean age of the copies of the scored time by meaningful changes, all pages alike.
    pub(super) stale_age_days: ByCrawler<f64>,
    pub(super) stale_over_time: Vec<StalePoint>,
    pub(super) stale_by_budget: Vec<BudgetPoint>,
    pub(super) theta: f64,
    pub(super) by_theta: Vec<ThetaPoint>,
    /// Over the whole window, all pages alike, counting every change of the bytes.
    pub(super) freshness: ByCrawler<f64>,
    pub(super) age_days: ByCrawler<f64>,
    /// The same, counting only meaningful changes.
    pub(super) meaningful_changes_total: u64,
    pub(super) meaningful_changes_seen: u64,
    pub(super) meaningful_freshness: ByCrawler<f64>,
    pub(super) meaningful_age_days: ByCrawler<f64>,
    pub(super) worst_pages: Vec<WorstPage>,
    pub(super) politeness: DemoPoliteness,
    /// Not in `report.json`: texts of pages.
    #[serde(skip)]
    pub(super) differences: Vec<super::differences::SeenDifference>,
}

/// The crawl as the server saw it.
#[derive(Debug, Serialize)]
pub(super) struct DemoPoliteness {
    /// Shortest time on any host from the end of one request to the start of the next. Absent if no host got two
    /// requests.
    pub(super) min_gap_s: Option<f64>,
    pub(super) max_in_flight_per_host: u32,
    pub(super) robots_violations: u64,
    pub(super) forbidden_requests: u64,
    pub(super) robots_requests: u64,
    pub(super) sitemap_hosts: usize,
    pub(super) sitemap_requests: u64,
    /// Seeds that robots.txt forbids.
    pub(super) forbidden_pages: usize,
    /// Requests that the server failed, on purpose.
    pub(super) failed_requests: u64,
}

impl DemoPoliteness {
    fn new(ledger: &[LedgerEntry], run: &DemoRun) -> Self {
        let load = simweb::politeness(ledger);
        let count = |is: &dyn Fn(&LedgerEntry) -> bool| ledger.iter().filter(|entry| is(entry)).count() as u64;
        Self {
            min_gap_s: load.min_gap_s,
            max_in_flight_per_host: load.max_in_flight_per_host,
            robots_violations: load.robots_violations,
            forbidden_requests: load.forbidden_requests,
            robots_requests: count(&|entry| entry.kind == RequestKind::Robots),
            sitemap_hosts: run.sitemap_hosts,
            sitemap_requests: count(&|entry| entry.kind == RequestKind::Sitemap),
            forbidden_pages: run.forbidden_pages,
            failed_requests: count(&|entry| {
                let cut_off = entry.status == 200 && entry.version.is_none();
                entry.kind == RequestKind::Page && (entry.status >= 500 || cut_off)
            }),
        }
    }
}

impl DemoReport {
    /// Computes the report by all changes and by meaningful ones, with the other crawlers.
    pub(super) fn new(run: &DemoRun, books: &Books, meaning: &Books) -> Self {
        let window = run.window;
        let scored = TimeWindow { start: window.start.plus_days(run.scored_from_day), end: window.end };
        let bytes = Contest::new(books, window, run.budget_per_day);
        let meant = Contest::new(meaning, window, run.budget_per_day);
        let recrawl = simweb::freshness(&books.judged, &books.ledger, window);
        let (by_byte, by_meaning) = (bytes.freshness(), meant.freshness());
        let stale_share = meant.stale(scored);
        let stale_by_budget = meant.by_budget(run.theta, scored);
        Self {
            version: env!("CARGO_PKG_VERSION"),
            replayed: run.replayed.clone(),
            pages: books.judged.pages.len(),
            hosts: books.judged.hosts().len(),
            virtual_start_s: window.start.as_secs(),
            virtual_days: window.days(),
            wall_s: run.wall.as_secs_f64(),
            cpu_s: run.cpu.as_secs_f64(),
            cpu_us_per_fetch: run.cpu.as_secs_f64() * 1e6 / (recrawl.fetches.max(1) as f64),
            fetches: recrawl.fetches,
            budget_fetches_per_day: run.budget_per_day,
            changes_total: recrawl.changes_total,
            changes_seen: recrawl.changes_seen,
            changes_missed: recrawl.changes_total.saturating_sub(recrawl.changes_seen),
            not_modified_share: recrawl.not_modified_share,
            bytes_fetched: recrawl.bytes_fetched,
            same_freshness: same_freshness(&stale_by_budget),
            round_robin_needs: round_robin_needs(&stale_by_budget, stale_share.recrawl),
            weighted: meaning.weights.iter().any(|weight| *weight != 1.0),
            scored_from_day: run.scored_from_day,
            stale_share,
            stale_share_any_byte: bytes.stale(scored),
            stale_age_days: meant.looks().map(|looks| looks.freshness(&meaning.judged, scored).age_days),
            stale_over_time: meant.curves(),
            stale_by_budget,
            theta: run.theta,
            by_theta: meant.by_theta(scored),
            freshness: by_byte.map(|judged| judged.freshness),
            age_days: by_byte.map(|judged| judged.age_days),
            meaningful_changes_total: by_meaning.recrawl.changes_total,
            meaningful_changes_seen: by_meaning.recrawl.changes_seen,
            meaningful_freshness: by_meaning.map(|judged| judged.freshness),
            meaningful_age_days: by_meaning.map(|judged| judged.age_days),
            worst_pages: worst_pages(meaning, meant.looks(), scored),
            politeness: DemoPoliteness::new(&books.ledger, run),
            differences: Vec::new(),
        }
    }

    /// Number of requests that the budget paid for: fetches of pages and sitemaps, and requests for robots.txt.
    pub(super) fn requests(&self) -> u64 {
        self.fetches + self.politeness.robots_requests
    }

    /// The gain over round robin, in one sentence.
    pub(super) fn headline(&self) -> String {
        match self.same_freshness {
            Some(Needed { times, bound }) => {
                let bound = bound.map_or(String::new(), |bound| format!("{bound} "));
                format!("The same freshness as round robin for {bound}{:.0} % of the fetches", 100.0 * times)
            }
            None => "There was nothing to compare".to_owned(),
        }
    }

    /// The stale time of the live replay beside that of round robin.
    pub(super) fn stale_sentence(&self) -> String {
        let ByCrawler { recrawl, round_robin, .. } = self.stale_share;
        let needs = self.round_robin_needs.map_or(String::new(), |Needed { times, bound }| {
            let bound = bound.map_or(String::new(), |bound| format!("{bound} "));
            format!(" Round robin would need {bound}{times:.1} times the fetches for that.")
        });
        format!(
            "In the live replay, a copy was stale {:.2} % of the time; fetching all pages in turn at the same budget: {:.2} %.{needs}",
            100.0 * recrawl,
            100.0 * round_robin,
        )
    }

    /// The age of the copies, why it may be more than others', and what to do about it.
    pub(super) fn age_sentence(&self) -> String {
        let ByCrawler { recrawl, round_robin, .. } = self.stale_age_days;
        let why = match recrawl > round_robin {
            true => {
                "That is the price of less stale time: a page that changes again and again buys little time with a current \
                 copy, so fetches go elsewhere and its copy is left to age."
            }
            false => {
                "That need not be so: a page that changes again and again buys little time with a current copy, and where \
                 such pages are many, their copies are left to age."
            }
        };
        format!(
            "The age of a copy is the time since the first change that it misses. recrawl's is {recrawl:.3} days on average, \
             round robin's {round_robin:.3}. {why} policy.theta (here {}) trades: the higher it is, the more age counts.",
            self.theta
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simweb::ChangeTrace;

    fn report(own_age_days: f64, needed: Option<Needed>) -> DemoReport {
        let trace = ChangeTrace::built_in(page::Timestamp::from_secs(0));
        let mut judged = trace.clone();
        judged.pages.truncate(1);
        let books = Books { judged, ledger: Vec::new(), weights: vec![1.0] };
        let run = DemoRun {
            replayed: "nothing".to_owned(),
            window: trace.window,
            budget_per_day: 1.0,
            theta: 0.01,
            scored_from_day: 10.0,
            wall: Duration::from_secs(1),
            cpu: Duration::ZERO,
            forbidden_pages: 0,
            sitemap_hosts: 0,
        };
        let mut report = DemoReport::new(&run, &books, &books);
        report.same_freshness = needed;
        (report.stale_age_days.recrawl, report.stale_age_days.round_robin) = (own_age_days, 0.5);
        report
    }

    #[test]
    fn the_headline_says_what_the_gain_is_worth_and_whether_it_is_a_bound() {
        let headline = |times, bound| report(0.1, Some(Needed { times, bound })).headline();
        let same = "The same freshness as round robin for";
        assert_eq!(headline(0.404, None), format!("{same} 40 % of the fetches"));
        assert_eq!(headline(0.1, Some("at most")), format!("{same} at most 10 % of the fetches"));
        assert_eq!(headline(1.2, None), format!("{same} 120 % of the fetches"), "also when it is no gain");
        assert_eq!(report(0.1, None).headline(), "There was nothing to compare");
    }

    #[test]
    fn more_age_than_round_robin_is_explained_and_less_is_not_promised() {
        let (more, less) = (report(0.9, None).age_sentence(), report(0.1, None).age_sentence());
        assert!(more.contains("the price of less stale time") && less.contains("need not be so"), "{more} {less}");
        assert!([more, less].iter().all(|sentence| sentence.contains("policy.theta (here 0.01)")));
    }

    #[test]
    fn a_crawl_that_fetched_nothing_is_reported_too() {
        let report = report(0.0, None);
        assert_eq!((report.fetches, report.stale_share.recrawl), (0, 1.0));
        assert_eq!(report.worst_pages.len(), 1);
        assert!(report.text().contains("0 fetches"));
    }
}
