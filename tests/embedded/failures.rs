//! A crawl that does not get its pages shows this and the reason in its status, its exit code and its messages.

use crate::hints::request;
use crate::operating::status;
use crate::site::{answer, serve_answers};
use serde_json::{Value, json};
use simweb::SeededConfig;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tests::{Crawl, Process, SOON, SimulatedWeb, wait_for};

const CONTACT: (&str, &str) = ("crawl.contact", "https://example.org/crawler");

fn quick() -> Crawl {
    Crawl::default().with("politeness.crawl_delay", "0s").with("policy.scan_interval", "20ms")
}

fn seeds(crawl: &Crawl, urls: &[&str]) {
    std::fs::write(crawl.seeds_file(), urls.join("\n")).unwrap();
}

/// Kinds and numbers of a list of outcomes.
fn kinds(outcomes: &Value) -> Vec<(&str, &str, u64)> {
    let all = outcomes.as_array().unwrap().iter();
    all.map(|of| (of["class"].as_str().unwrap(), of["outcome"].as_str().unwrap(), of["count"].as_u64().unwrap()))
        .collect()
}

/// A server that has a page for every address, but redirects `/away` to a private address, and answers so for robots.txt.
fn server(robots: &'static str) -> SocketAddr {
    serve_answers(move |request| {
        let status = match request.path() {
            "/robots.txt" => robots,
            "/away" => "302 Found\r\nlocation: http://10.1.2.3/",
            _ => "200 OK",
        };
        answer(status, "hello")
    })
}

#[test]
fn a_crawl_whose_requests_were_never_sent_ends_with_1_and_says_why() {
    let crawl = quick().with(CONTACT.0, CONTACT.1);
    let private = "http://127.0.0.1:8765/a";
    seeds(&crawl, &[private, "http://127.0.0.1:8765/b", "http://127.0.0.1:22/"]);
    let why =
        "recrawl: nothing was fetched: private address, 2 of 3 times; fetch.allow_private_addresses would change it";
    let output = crawl.run(&["--until-idle"]).finish().exits_with(1).says(&[why]);
    let summary = output.json();
    let refused = [("not_sent", "address_refused", 2), ("not_sent", "port_refused", 1)];
    assert_eq!(kinds(&summary["outcomes"]), refused);
    assert_eq!((&summary["fetches"], &summary["fetches_total"]), (&json!(0), &json!(0)));
    assert_eq!(summary["never_fetched"], 3);
    let warnings: Vec<_> = output.stderr.lines().filter(|line| line.contains("WARN")).collect();
    assert_eq!(warnings.len(), 2, "one for each kind at each host:\n{}", output.stderr);
    let first = warnings.iter().find(|line| line.contains("127.0.0.1:8765")).unwrap();
    for said in
        ["address_refused", "is not a public address", "fetch.allow_private_addresses", "url=http://127.0.0.1:8765/"]
    {
        assert!(first.contains(said), "{said}: {first}");
    }

    let status = status(&crawl);
    assert_eq!((kinds(&status["page_outcomes"]), &status["fetches_total"]), (refused.to_vec(), &json!(0)));
    let page = crawl.ask("page", &[private]).exits_with(0).json();
    assert_eq!((&page["last_failure"], &page["fetches"]), (&json!("address_refused"), &json!(0)));
    assert_eq!(page["last_failure_means"], "private address (fetch.allow_private_addresses)");
    assert!(page["last_failure_at"].as_str() >= page["discovered_at"].as_str(), "{page:#}");

    // All pages wait now, so that the next run asks for none.
    crawl.run(&["--until-idle"]).finish().exits_with(1).says(&["nothing was fetched: private address, 2 of 3 times"]);
}

#[test]
fn only_what_was_sent_counts_as_a_fetch() {
    let config = SeededConfig { hosts: 1, pages_per_host: 5, ..SeededConfig::default() };
    let web = SimulatedWeb::start(config, 1.0, |config| config.dials.robots.disallow = vec!["/secret".to_owned()]);
    let host: String = web.urls()[0].split_inclusive('/').take(3).collect();
    let crawl = Crawl::of(&web);
    let (secret, missing) = (format!("{host}secret"), format!("{host}no-such-page"));
    let urls = [web.urls(), vec![secret.clone(), missing]].concat();
    seeds(&crawl, &urls.iter().map(String::as_str).collect::<Vec<_>>());
    let running = crawl.run(&[]);
    wait_for("all are answered", SOON, || {
        let status = status(&crawl);
        status["outcomes"].is_array() && kinds(&status["outcomes"]).iter().map(|(_, _, count)| count).sum::<u64>() == 7
    });
    wait_for("all are counted", SOON, || status(&crawl)["fetches_total"].as_u64() == Some(6));
    let (_, metrics) = request(&crawl, "GET", "/metrics", "", "");
    for line in [
        "recrawl_fetcher_outcomes_total{class=\"fetched\",outcome=\"fetched\"} 5",
        "recrawl_fetcher_outcomes_total{class=\"missing\",outcome=\"not_found\"} 1",
        "recrawl_fetcher_outcomes_total{class=\"not_sent\",outcome=\"robots_disallowed\"} 1",
        "recrawl_fetcher_outcomes_total{class=\"not_sent\",outcome=\"lease_over\"} 0",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line} is missing in\n{metrics}");
    }
    running.signal(libc::SIGINT);
    let summary = running.finish().exits_with(0).json();
    let expected = [("fetched", "fetched", 5), ("missing", "not_found", 1), ("not_sent", "robots_disallowed", 1)];
    assert_eq!(kinds(&summary["outcomes"]), expected);
    assert_eq!((&summary["fetches"], &summary["fetches_total"]), (&json!(6), &json!(6)));
    let page = crawl.ask("page", &[&secret]).exits_with(0).json();
    assert_eq!((&page["fetches"], &page["last_failure"]), (&json!(0), &json!("robots_disallowed")));
    crawl.ask("run", &["--until-idle"]).exits_with(0);
}

#[test]
fn pages_on_this_machine_are_fetched_without_a_contact_and_when_the_crawl_goes_on() {
    let address = server("404 Not Found");
    let url = |path: &str| format!("http://{address}/{path}");
    let crawl = quick();
    seeds(&crawl, &[&url("a"), &format!("http://localhost:{}/", address.port())]);
    let summary = crawl.run(&["--until-idle"]).finish().exits_with(0).json();
    assert_eq!(kinds(&summary["outcomes"]), [("fetched", "fetched", 2)]);
    crawl.ask("seed", &[&url("b")]).exits_with(0);
    let summary = crawl.ask("run", &["--until-idle"]).exits_with(0).json();
    assert_eq!((&summary["pages"], &summary["never_fetched"]), (&json!(3), &json!(0)));

    // With a contact the web is fetched, which must not lead here unasked.
    let crawl = quick().with(CONTACT.0, CONTACT.1);
    seeds(&crawl, &[&url("a")]);
    crawl.run(&["--until-idle"]).finish().exits_with(1).says(&["fetch.allow_private_addresses"]);
    let crawl = quick().with(CONTACT.0, CONTACT.1).with("fetch.allow_private_addresses", "127.0.0.1");
    seeds(&crawl, &[&url("a")]);
    crawl.run(&["--until-idle"]).finish().exits_with(0);
}

#[test]
fn a_redirect_to_where_nothing_may_be_sent_is_a_fetch_that_failed_wherever_it_is_reported() {
    let url = format!("http://{}/away", server("404 Not Found"));
    let crawl = quick();
    seeds(&crawl, &[&url]);
    let output = crawl.run(&["--until-idle"]).finish().exits_with(1);
    let summary = output.says(&["nothing was fetched: redirect to where nothing may be sent"]).json();
    let refused = [("failed", "redirect_refused", 1)];
    assert_eq!(kinds(&summary["outcomes"]), refused);
    assert_eq!(kinds(&status(&crawl)["page_outcomes"]), refused);
    let page = crawl.ask("page", &[&url]).exits_with(0).json();
    assert_eq!((&page["last_failure"], &page["fetches"]), (&json!("redirect_refused"), &json!(1)));
    assert_eq!(page["last_failure_means"], "redirect to where nothing may be sent");
}

#[test]
fn a_crawl_that_may_not_go_on_for_want_of_robots_txt_ends_and_says_so() {
    let url = format!("http://{}/", server("500 Oops"));
    let crawl = quick();
    seeds(&crawl, &[&url]);
    let output = crawl.run(&["--until-idle"]).finish().exits_with(1);
    output.says(&["nothing was fetched: robots.txt unreachable", "WARN", "outcome=\"robots_unavailable\""]);
    let page = crawl.ask("page", &[&url]).exits_with(0).json();
    assert_eq!((&page["last_failure"], &page["fetches"]), (&json!("robots_unavailable"), &json!(0)));
    assert_eq!(kinds(&status(&crawl)["page_outcomes"]), [("not_sent", "robots_unavailable", 1)]);
}

/// A server that kills the crawler when it is asked for `/deadly`, and has a page for every other address.
fn deadly_server(crawler: &Arc<Mutex<Option<Process>>>, deadly_requests: &Arc<AtomicUsize>) -> SocketAddr {
    let (crawler, deadly_requests) = (crawler.clone(), deadly_requests.clone());
    serve_answers(move |request| {
        if request.path() != "/deadly" {
            return answer("200 OK", "hello");
        }
        deadly_requests.fetch_add(1, Ordering::Relaxed);
        // The lock is held until the crawler is there to be killed.
        crawler.lock().unwrap().take().unwrap().kill();
        Vec::new()
    })
}

#[test]
fn a_page_that_kills_the_crawler_five_times_is_set_aside_and_the_others_are_fetched() {
    const DEATHS: usize = 5;
    let (crawler, deadly_requests) = (Arc::default(), Arc::default());
    let address = deadly_server(&crawler, &deadly_requests);
    let crawl = quick().with("crawl.contact", CONTACT.1).with("fetch.allow_private_addresses", "127.0.0.0/8");
    let deadly = format!("http://{address}/deadly");
    let harmless = format!("http://{address}/harmless");
    seeds(&crawl, &[&deadly, &harmless]);
    for death in 1..=DEATHS {
        {
            let mut slot = crawler.lock().unwrap();
            *slot = Some(crawl.run(&[]));
        }
        wait_for("the crawler is killed", SOON, || crawler.lock().unwrap().is_none());
        assert_eq!(deadly_requests.load(Ordering::Relaxed), death);
    }
    // The harmless page was fetched while the deadly one had to wait, so this run fetches nothing.
    crawl
        .run(&["--until-idle"])
        .finish()
        .exits_with(1)
        .says(&["nothing was fetched: set aside after failures of recrawl itself"]);
    assert_eq!(deadly_requests.load(Ordering::Relaxed), DEATHS, "it is not asked for again");
    let page = crawl.ask("page", &[&deadly]).exits_with(0).json();
    assert_eq!(page["last_failure"], "set_aside");
    let page = crawl.ask("page", &[&harmless]).exits_with(0).json();
    assert!(page["fetches"].as_i64().unwrap() >= 1, "{page}");
}
