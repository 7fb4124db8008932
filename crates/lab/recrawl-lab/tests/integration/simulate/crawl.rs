//! `recrawl simulate crawl` on a crawl of a simulated web.

use super::{json, number, refused};
use daemon::{StopSignal, WebClock};
use recrawl::embedded::Embedded;
use serde_json::Value;
use simweb::{ChangeRates, SeededConfig};
use std::sync::Arc;
use tests::{Crawl, SOON, SimulatedWeb, wait_for};

const DAYS: f64 = 25.0;
const PAGES: usize = 40;

#[test]
fn the_present_budget_gives_no_less_than_the_crawl_believes_half_of_it_less_and_twice_of_it_more() {
    let rates = ChangeRates::Classes(vec![(0.5, 0.2), (0.5, 1.0)]);
    let seeded = SeededConfig { hosts: 4, pages_per_host: PAGES / 4, rates, ..SeededConfig::default() };
    // A day of this web takes half a second.
    let web = SimulatedWeb::start(seeded, 170_000.0, |_| {});
    // Each page every other day.
    let budget_per_day = PAGES as f64 / 2.0;
    let mut crawl = Crawl::of(&web)
        .with("budget.fetches_per_second", &(budget_per_day / 86_400.0).to_string())
        .with("policy.scan_interval", "30m")
        .with("policy.lease_timeout", "30d")
        .with("politeness.response_time_factor", "0")
        // Read every day, the robots.txt files of four hosts would take a fifth of this budget.
        .with("politeness.robots_refresh", "30d")
        .with("log.batch_interval", "10ms");
    for (key, value) in web.clock_settings() {
        crawl = crawl.with(key, &value);
    }
    let (data, flags) = (crawl.data().display().to_string(), crawl.flags());
    let arguments = |further: &[&str]| -> Vec<String> {
        let first = ["crawl", "--data", &data].into_iter().chain(further.iter().copied());
        first.map(str::to_owned).chain(flags.iter().cloned()).collect()
    };
    let simulated = |further: &[&str]| {
        let arguments = arguments(further);
        json(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let (status, said) = refused(&["crawl", "--data", &data]);
    assert!(status == 2 && said.contains("holds no crawl"), "{said}");

    let settings = crawl.settings();
    let clock = Arc::new(WebClock::new(&settings.clock));
    let stop = StopSignal::on_signals().unwrap();
    let embedded = Embedded::start(&settings, &crawl.data(), None, stop, clock).unwrap();
    embedded.seed(settings::seeds::parse(&web.urls().join("\n"))).unwrap();
    let began = web.now();
    wait_for("weeks have passed", SOON, || web.now().days_since(began) > DAYS);
    let expected = embedded.finish().unwrap().estimated_freshness.unwrap();

    let answer = simulated(&[]);
    assert_eq!((&answer["pages"], &answer["pages_simulated"]), (&PAGES.into(), &PAGES.into()));
    let [half, present, twice] = [0, 1, 2].map(|place| answer["budgets"][place].clone());
    assert_eq!([&half, &present, &twice].map(|budget| number(budget, "factor")), [0.5, 1.0, 2.0]);
    // Two orders without a measure of time: how far a crawl lies below them depends on how busy the machine was. A copy ages
    // after the last fetch, and the best cycles of the budget are what the crawl still learns to keep.
    let believed = number(&answer, "believed_freshness");
    assert!(expected < believed + 0.05, "status {expected}, {answer:#}");
    assert!(believed < number(&present, "freshness") + 0.05, "status {expected}, {answer:#}");
    let freshness = |budget: &Value| number(budget, "freshness");
    assert!(freshness(&half) + 0.05 < freshness(&present) && freshness(&present) + 0.05 < freshness(&twice));
    for budget in [&half, &present, &twice] {
        let [asked, spent] = ["requests_per_second", "spent_per_second"].map(|field| number(budget, field));
        assert!(spent <= 1.02 * asked && spent > 0.9 * asked, "{budget:#}");
        let [simulated, closed] =
            ["weighted_freshness", "closed_form_weighted_freshness"].map(|field| number(budget, field));
        assert!((simulated - closed).abs() < 0.05, "{budget:#}");
    }
    assert_eq!(answer, simulated(&[]), "the same bytes");
    assert_eq!(simulated(&["--sample", "10", "--budget", "3"])["pages_simulated"], 10);
    let (status, said) = refused(&["crawl", "--data", &data, "--budget", "0"]);
    assert!(status == 2 && said.contains("positive factors"), "{said}");
}
