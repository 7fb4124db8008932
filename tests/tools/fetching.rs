//! `recrawl fetch` and `recrawl robots` of an address.

use crate::recrawl;
use serde_json::json;
use simweb::SeededConfig;
use tests::{Output, SimulatedWeb};

fn web() -> SimulatedWeb {
    SimulatedWeb::start(SeededConfig { hosts: 1, pages_per_host: 2, ..SeededConfig::default() }, 1.0, |config| {
        config.dials.robots.disallow = vec!["/secret".to_owned()];
    })
}

fn ask(web: &SimulatedWeb, arguments: &[&str]) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let resolve = format!("fetch.resolve=*.test={}", web.address());
    recrawl(directory.path(), &[&["--format", "json"], arguments, &["--set", &resolve]].concat())
}

#[test]
fn a_fetch_reports_everything_about_a_page() {
    let web = web();
    let url = &web.urls()[0];
    let fetched = ask(&web, &["fetch", url]).exits_with(0).json();
    assert_eq!(
        (&fetched["outcome"], &fetched["status"], &fetched["url"]),
        (&json!("fetched"), &json!(200), &json!(url))
    );
    let body = web.body(0, 0);
    assert_eq!(fetched["content_digest"], messages::Digest::of(&body).to_string());
    assert_eq!(fetched["bytes"]["decoded"], body.len());
    assert!(fetched["bytes"]["wire"].as_u64() > Some(body.len() as u64));
    assert_eq!((&fetched["charset"], &fetched["robots"]["allowed"]), (&json!("UTF-8"), &json!(true)));
    assert!(fetched["validators"]["etag"].is_string() && fetched["timings_ms"]["total"].is_number());
    assert_eq!(fetched["hops"], json!([]));
    let requests: Vec<_> = web.ledger().into_iter().map(|entry| entry.path).collect();
    assert_eq!(requests.len(), 2, "robots.txt and the page, nothing else: {requests:?}");
    assert_eq!(&*requests[0], "/robots.txt");
}

#[test]
fn a_page_that_robots_forbids_is_not_fetched() {
    let web = web();
    let host: String = web.urls()[0].split_inclusive('/').take(3).collect();
    let secret = format!("{host}secret");
    let refused = ask(&web, &["fetch", &secret]);
    assert_eq!(refused.status.code(), Some(1), "{}", refused.stderr);
    assert_eq!(refused.json()["outcome"], "robots_disallowed");
    assert!(web.ledger().iter().all(|entry| &*entry.path == "/robots.txt"));

    let verdict = ask(&web, &["robots", &secret, "--agent", "x", "/secret", "/open"]);
    assert_eq!(verdict.status.code(), Some(1));
    assert_eq!((&verdict.json()[0]["allowed"], &verdict.json()[1]["allowed"]), (&json!(false), &json!(true)));
}

#[test]
fn addresses_that_are_not_public_are_refused() {
    let web = web();
    let refused = ask(&web, &["fetch", "http://10.0.0.1/"]);
    assert_eq!(refused.status.code(), Some(1), "{}", refused.stderr);
    assert_eq!(refused.json()["outcome"], "address_refused");
    assert!(web.ledger().is_empty());
    let bad = ask(&web, &["fetch", "gopher://a.test/"]);
    assert!(bad.exits_with(2).stderr.contains("gopher"));
}
