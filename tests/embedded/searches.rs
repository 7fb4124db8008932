//! Search interfaces as seeds: an answer is asked for where robots.txt allows it, and its links become pages.

use crate::site::serve_hosts;
use serde_json::Value;
use tests::Crawl;

const OPEN: &str = "http://open.test/search?q=bike%20pump";
const SHUT: &str = "http://shut.test/search?q=bike%20pump";

fn page(host: &str, path: &str) -> (&'static str, String) {
    let hidden = |number: u32| format!("<a href=\"/hidden/{number}\">A bike pump of kind {number}</a>");
    match (host, path) {
        ("shut.test", "/robots.txt") => ("text/plain", "User-agent: *\nDisallow: /search\n".to_owned()),
        (_, "/robots.txt") => ("text/plain", "User-agent: *\nAllow: /\n".to_owned()),
        (_, "/search?q=bike%20pump") => {
            ("text/html", format!("<h1>Found for bike pump</h1>{}{}", hidden(1), hidden(2)))
        }
        _ => ("text/html", format!("<h1>{path}</h1><p>The words of {path} on {host}, and no others.</p>")),
    }
}

fn crawl() -> Crawl {
    let crawl = Crawl::default()
        .with("fetch.resolve", &format!("*.test={}", serve_hosts(page)))
        .with("budget.fetches_per_second", "2000")
        .with("policy.scan_interval", "20ms")
        .with("politeness.crawl_delay", "1ms")
        .with("crawl.discover", "same-site")
        .with("ranker.interval", "100ms")
        .with("search.templates", "[\"http://open.test/search?q={query}\", \"http://shut.test/search?q={query}\"]")
        .with("search.queries", "[\"bike pump\"]");
    std::fs::write(crawl.seeds_file(), "# no page but those that searches name\n").unwrap();
    crawl
}

fn json(crawl: &Crawl, name: &str, url: &str) -> Value {
    crawl.ask(name, &[url]).exits_with(0).json()
}

#[test]
fn what_a_search_names_is_fetched_and_a_forbidden_search_is_refused_with_the_line() {
    let crawl = crawl();
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    for url in ["http://open.test/hidden/1", "http://open.test/hidden/2"] {
        assert_eq!(json(&crawl, "page", url)["fetches"].as_u64(), Some(1), "{url}");
    }
    assert_eq!(json(&crawl, "page", OPEN)["fetches"].as_u64(), Some(1));
    let refused = json(&crawl, "explain", SHUT);
    assert!(refused["forbidden_by"].as_str().is_some_and(|line| line.contains("Disallow: /search")), "{refused:#}");
    crawl.ask("page", &["http://shut.test/hidden/1"]).exits_with(1);
}

#[test]
fn a_list_of_seeds_alone_leaves_searches_out() {
    let crawl = crawl();
    std::fs::write(crawl.seeds_file(), "http://open.test/one\n").unwrap();
    crawl.run(&["--until-idle", "--seeds-only"]).finish().exits_with(0);
    crawl.ask("page", &[OPEN]).exits_with(1);
}

#[test]
fn searches_are_sent_to_a_crawl_on_demand() {
    let crawl = crawl();
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    let sent = crawl.ask("seed", &["--searches"]).exits_with(0).json();
    assert_eq!(sent["seeds"].as_u64(), Some(2), "{sent:#}");
    let none = crawl.with("search.templates", "[]").with("search.queries", "[]");
    none.ask("seed", &["--searches"]).exits_with(2);
}
