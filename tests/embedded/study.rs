//! `recrawl study` of a crawl that has seen pages change.

use simweb::{ChangeRates, SeededConfig};
use tests::{Crawl, SOON, SimulatedWeb, wait_for};

const DAYS: f64 = 25.0;
const CHANGES_PER_DAY: f64 = 0.4;

#[test]
fn a_crawl_is_studied_by_kind_and_place_and_its_changes_are_tested_for_memory() {
    let rates = ChangeRates::Same(CHANGES_PER_DAY);
    let seeded = SeededConfig { hosts: 4, pages_per_host: 10, rates, ..SeededConfig::default() };
    // A day of this web takes half a second.
    let web = SimulatedWeb::start(seeded, 170_000.0, |_| {});
    let mut crawl = Crawl::of(&web)
        // Forty pages, each once a day.
        .with("budget.fetches_per_second", &(40.0 / 86_400.0).to_string())
        .with("policy.scan_interval", "30m")
        .with("policy.lease_timeout", "30d")
        .with("politeness.response_time_factor", "0")
        .with("detector.contents", "body")
        .with("log.batch_interval", "10ms");
    for (key, value) in web.clock_settings() {
        crawl = crawl.with(key, &value);
    }
    crawl.ask("study", &[]).exits_with(2).says(&["no log at", "start recrawl run first"]);
    let began = web.now();
    let running = crawl.run(&[]);
    wait_for("weeks have passed", SOON, || web.now().days_since(began) > DAYS);
    running.signal(libc::SIGINT);
    let ended = running.finish().exits_with(0).json();

    let study = crawl.ask("study", &[]).exits_with(0).json();
    let count = |place: &str| {
        study.pointer(place).and_then(serde_json::Value::as_u64).unwrap_or_else(|| panic!("{place}: {study:#}"))
    };
    assert_eq!((count("/pages_known"), count("/pages_studied"), count("/links/pages_read")), (40, 40, 40));
    assert_eq!(count("/all/changes"), ended["changes_total"].as_u64().unwrap());
    assert_eq!(count("/changes_read"), count("/all/changes"));
    let hosts = study["by_host"].as_array().unwrap();
    assert_eq!(hosts.iter().map(|host| host["pages"].as_u64().unwrap()).collect::<Vec<_>>(), [10; 4]);
    assert!(hosts.iter().all(|host| host["name"].as_str().unwrap().ends_with(".test")));
    for kind in ["by_depth", "by_ending", "by_age"] {
        let pages = study[kind].as_array().unwrap().iter().map(|class| class["pages"].as_u64().unwrap());
        assert_eq!(pages.sum::<u64>(), count("/pages_seen_twice"), "{kind}");
    }
    let median = study["all"]["change_rate_per_day"]["p50"].as_f64().unwrap();
    assert!((0.5..2.0).contains(&(median / CHANGES_PER_DAY)), "{median}");

    let memoryless = &study["memoryless"];
    assert!(memoryless["changes"].as_u64() >= Some(20), "{memoryless:#}");
    assert!((1..=3).contains(&memoryless["degrees_of_freedom"].as_u64().unwrap()));
    assert!((0.0..=1.0).contains(&memoryless["p_value"].as_f64().unwrap()));
    let extent = study["extent"].as_array().unwrap();
    let all = extent.iter().find(|extent| extent["name"] == "all changes").unwrap();
    assert!(all["magnitude"]["p90"].as_f64() > Some(0.0) && all["changes"].as_u64() > Some(0), "{all:#}");

    let one = crawl.ask("study", &["--sample", "10", "--top", "1"]).exits_with(0).json();
    assert_eq!((&one["pages_studied"], &one["pages_known"]), (&10.into(), &40.into()));
    assert_eq!(one["by_host"].as_array().unwrap().len(), 1);
    assert_eq!(one, crawl.ask("study", &["--sample", "10", "--top", "1"]).exits_with(0).json(), "the same pages");
    let text = crawl.ask("study", &["--format", "text"]).exits_with(0).stdout;
    for said in
        ["Studied: 40 pages.", "The times between changes", "by depth of the path", "Links were read on 40 pages"]
    {
        assert!(text.contains(said), "{said}: {text}");
    }
}
