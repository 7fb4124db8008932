//! Commands of an operator to a crawl, running or not, and its answers.

use operate::Access;
use serde_json::Value;
use simweb::SeededConfig;
use std::time::Duration;
use tests::{Crawl, HttpAnswer, Process, SOON, SimulatedWeb, books, wait_for};

pub(crate) fn web(pages_per_host: usize) -> SimulatedWeb {
    SimulatedWeb::start(SeededConfig { hosts: 4, pages_per_host, ..SeededConfig::default() }, 1.0, |config| {
        config.dials.latency = Duration::from_millis(5);
    })
}

/// The status of a crawl once it can be asked for.
pub(crate) fn status(crawl: &Crawl) -> Value {
    let output = crawl.ask("status", &[]);
    if output.status.success() { output.json() } else { Value::Null }
}

/// The status that a crawl shows at its port, which costs less than the command; null while it has no port.
pub(crate) fn shown_status(crawl: &Crawl) -> Value {
    let answer = Access::noted(&crawl.data()).and_then(|access| HttpAnswer::to(access.address, "/status"));
    answer.and_then(|answer| serde_json::from_str(&answer.body).ok()).unwrap_or(Value::Null)
}

/// Fetches so far, of a crawl that runs or not.
pub(crate) fn fetches(crawl: &Crawl) -> u64 {
    let status = match shown_status(crawl) {
        Value::Null => status(crawl),
        shown => shown,
    };
    status["fetches_total"].as_u64().unwrap_or(0)
}

#[test]
fn ctrl_c_drains_says_how_things_stand_and_leaves_a_directory_that_goes_on() {
    const HOSTS: usize = 4;
    let seeded = SeededConfig { hosts: HOSTS, pages_per_host: 100, ..SeededConfig::default() };
    let web = SimulatedWeb::start_held(seeded, |_| ());
    let crawl = Crawl::of(&web).with("politeness.crawl_delay", "10ms").with("log.drain_timeout", "5m");
    let process = crawl.run(&[]);
    web.let_through(50);
    process.signal(libc::SIGINT);
    // What is under way: a request of each host.
    web.permit(HOSTS);
    let summary = process.finish().exits_with(0).json();
    assert_eq!(summary["ended"].as_str(), Some("stopped"));
    let fetched = summary["fetches_total"].as_u64();
    assert!(fetched > Some(0) && fetched < Some(400), "{summary:#}");

    web.open();
    crawl.ask("run", &["--until-idle"]).exits_with(0);
    let pages = books::read(&crawl);
    assert_eq!(pages.len(), 400);
    for page in pages.values() {
        assert_eq!((page.scheduler.fetches, page.detector_fetches, page.estimator_fetches), (1, 1, 1), "{page:?}");
    }
}

#[test]
fn sigterm_stops_it_as_ctrl_c_does() {
    let web = web(10);
    let crawl = Crawl::of(&web);
    let process = crawl.run(&[]);
    wait_for("the crawl is under way", SOON, || web.page_requests() > 0);
    process.signal(libc::SIGTERM);
    assert_eq!(process.finish().exits_with(0).json()["ended"].as_str(), Some("stopped"));
}

#[test]
fn a_run_ends_when_its_time_is_up() {
    let web = web(10);
    let summary = Crawl::of(&web).run(&["--for", "1s"]).finish().exits_with(0).json();
    assert_eq!(summary["ended"].as_str(), Some("time is up"));
}

#[test]
fn seeds_reach_a_loop_that_runs_and_one_that_does_not() {
    let web = web(10);
    let urls = web.urls();
    let crawl = Crawl::of(&web);
    std::fs::write(crawl.seeds_file(), urls[..20].join("\n")).unwrap();
    let running = crawl.run(&[]);
    wait_for("the first seeds are fetched", SOON, || fetches(&crawl) == 20);
    let answer = crawl.ask("seed", &[&urls[20], &urls[21], &urls[21]]).exits_with(0).json();
    assert_eq!((answer["seeds"].as_u64(), answer["duplicates"].as_u64()), (Some(2), Some(1)));
    wait_for("two more are fetched", SOON, || fetches(&crawl) == 22);
    stop(running);

    std::fs::write(crawl.seeds_file(), urls[10..].join("\n")).unwrap();
    let file = crawl.seeds_file().display().to_string();
    let answer = crawl.ask("seed", &["--file", &file]).exits_with(0).json();
    assert_eq!(answer["seeds"].as_u64(), Some(30));
    assert_eq!(fetches(&crawl), 22, "nothing is fetched while nothing runs");
    let summary = crawl.ask("run", &["--until-idle"]).exits_with(0).json();
    let count = |name: &str| summary[name].as_u64();
    assert_eq!((count("pages"), count("fetches_total"), count("never_fetched")), (Some(40), Some(40), Some(0)));
}

#[test]
fn seeds_given_before_there_is_a_directory_are_crawled_by_the_first_run() {
    let web = web(5);
    let crawl = Crawl::of(&web);
    crawl.ask("seed", &[&web.urls()[0]]).exits_with(0);
    let summary = crawl.ask("run", &["--until-idle"]).exits_with(0).json();
    assert_eq!((summary["pages"].as_u64(), summary["fetches_total"].as_u64()), (Some(1), Some(1)));
}

#[test]
fn status_and_page_answer_alike_while_it_runs_and_when_it_does_not() {
    let web = web(5);
    let crawl = Crawl::of(&web);
    let url = &web.urls()[3];
    let running = crawl.run(&[]);
    wait_for("all are fetched", SOON, || fetches(&crawl) == 20);
    let page = || crawl.ask("page", &[url]).exits_with(0).json();
    let (status_then, page_then) = (status(&crawl), page());
    assert_eq!(crawl.ask("dead-letters", &[]).exits_with(0).json(), Value::Array(Vec::new()));
    stop(running);
    let (status_now, page_now) = (status(&crawl), page());
    for name in ["pages", "never_fetched", "in_flight", "fetches_total", "changes_total"] {
        assert_eq!(status_then[name], status_now[name], "{name}");
    }
    assert_eq!(page_then, page_now);
    for name in ["fetches", "results", "observations"] {
        assert_eq!(page_now[name].as_u64(), Some(1), "{page_now:#}");
    }
    assert_eq!(crawl.ask("dead-letters", &[]).exits_with(0).json(), Value::Array(Vec::new()));
    crawl.ask("page", &["http://host-0001.test/never-heard-of"]).exits_with(1).says(&["is not known in this crawl"]);
    crawl.ask("page", &["no address"]).exits_with(2).says(&["no address"]);
}

#[test]
fn a_directory_without_a_crawl_is_reported_as_such() {
    let crawl = Crawl::default();
    for (name, further) in [("status", &[][..]), ("page", &["http://a.test/"]), ("dead-letters", &[])] {
        crawl.ask(name, further).exits_with(2).says(&["recrawl: ", &crawl.data().display().to_string()]);
    }
}

pub(crate) fn stop(process: Process) {
    process.signal(libc::SIGINT);
    process.finish().exits_with(0);
}

#[test]
fn hosts_are_listed_with_what_they_take_and_are_worth() {
    let web = web(5);
    let urls = web.urls();
    let crawl = Crawl::of(&web);
    let mut seeds = urls.clone();
    seeds[7] += " 9";
    std::fs::write(crawl.seeds_file(), seeds.join("\n")).unwrap();
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    crawl.ask("block", &["host-0004.test"]).exits_with(0);
    crawl.ask("run", &["--until-idle"]).exits_with(0);
    let listed = crawl.ask("hosts", &["--by", "value"]).exits_with(0).json();
    let listed = listed.as_array().unwrap();
    // A blocked host keeps its pages.
    assert_eq!(listed.len(), 4);
    assert_eq!(listed[0]["host"].as_str(), Some("host-0002.test"));
    assert_eq!(listed[0]["value"].as_f64(), Some(13.0));
    for host in listed {
        assert_eq!((host["pages"].as_u64(), host["fetches"].as_u64()), (Some(5), Some(5)), "{host:#}");
        assert_eq!(host["budget_share"].as_f64(), Some(0.25));
        assert!(host["freshness"].as_f64() > Some(0.99), "{host:#}");
        let is_blocked = host["host"].as_str() == Some("host-0004.test");
        assert_eq!((host["blocked"].as_bool(), host["paused"].as_bool()), (Some(is_blocked), Some(false)));
    }
    assert_eq!(crawl.ask("hosts", &["--top", "1"]).exits_with(0).json().as_array().map(Vec::len), Some(1));
}

#[test]
fn a_proxy_of_the_environment_is_not_asked_for_a_loop_on_this_machine() {
    let seeded = SeededConfig { hosts: 1, pages_per_host: 2, ..SeededConfig::default() };
    let web = SimulatedWeb::start_held(seeded, |_| ());
    // Nothing listens there.
    let crawl = Crawl::of(&web).with_variable("ALL_PROXY", "http://127.0.0.1:1");
    let running = crawl.run(&[]);
    wait_for("the loop shows its status", SOON, || shown_status(&crawl)["pages"] == 2);
    crawl.ask("refetch", &[&web.urls()[0]]).exits_with(0);
    assert_eq!(status(&crawl)["in_flight"], shown_status(&crawl)["in_flight"], "the loop answered, not its directory");
    web.open();
    stop(running);
}
