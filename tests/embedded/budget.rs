//! The budget is an upper bound: what a web has seen of a crawl that could ask for far more.

use simweb::{ChangeRates, RequestKind, SeededConfig};
use tests::{Crawl, SOON, SimulatedWeb, wait_for};

const PAGES: usize = 30;
const WEEK_DAYS: f64 = 7.0;

#[test]
fn thirty_pages_that_never_change_cost_fewer_than_ten_requests_a_page_and_day() {
    let seeded =
        SeededConfig { hosts: 1, pages_per_host: PAGES, rates: ChangeRates::Same(0.0), ..SeededConfig::default() };
    // A week of this web takes half a minute.
    let web = SimulatedWeb::start(seeded, 20_000.0, |_| {});
    let mut crawl = Crawl::of(&web)
        .with("policy.least_worth", "5s")
        .with("budget.fetches_per_second", "10")
        // A tick of some milliseconds of real time.
        .with("policy.scan_interval", "5m")
        // What is real time to the network is hours to the web.
        .with("policy.lease_timeout", "30d")
        .with("politeness.response_time_factor", "0")
        .with("log.batch_interval", "10ms");
    for (key, value) in web.clock_settings() {
        crawl = crawl.with(key, &value);
    }
    let began = web.now();
    let running = crawl.run(&[]);
    wait_for("a week has passed", 2 * SOON, || web.now().days_since(began) > WEEK_DAYS);
    running.signal(libc::SIGINT);
    let pace = "30 pages on 1 host, at most 10 requests a second: each page can be asked every 5 minutes \
                (policy.min_interval), and is asked every 4 hours while nothing is known of its changes";
    running.finish().exits_with(0).says(&[pace]);

    let ledger = web.ledger();
    let asked = ledger.iter().filter(|entry| entry.started_at.days_since(began) <= WEEK_DAYS);
    let (pages, others): (Vec<_>, Vec<_>) = asked.partition(|entry| entry.kind == RequestKind::Page);
    let per_page_day = (pages.len() + others.len()) as f64 / (PAGES as f64 * WEEK_DAYS);
    assert!(per_page_day <= 10.0, "{per_page_day} requests a page and day");
    assert!(pages.len() > 5 * PAGES, "each page is looked at several times: {}", pages.len());
}
