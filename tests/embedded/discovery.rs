//! A crawl that finds pages by links, over the whole loop: across sites, as far as the operator wants, heaviest first.

use crate::site::serve;
use serde_json::Value;
use tests::{Crawl, Output, SOON, wait_for};

/// Nine pages of a site that all link to one page of another, to the next of their own, and to what is denied.
fn page(path: &str) -> (&'static str, String) {
    let number: u32 = path.trim_matches('/').parse().unwrap_or(0);
    let next = (number + 1) % 9;
    let body = format!(
        "<title>Page {path}</title><main><h1>Page {path}</h1><p>These are the words of page {path}, and no others.</p>\
         <a href=\"http://www.hub.test/\">hub</a> <a href=\"http://www.leaf.test/{next}\">next</a> \
         <a href=\"http://www.leaf.test/denied/{number}\">no</a> <a href=\"/private/{number}\">no</a></main>"
    );
    match path {
        "/robots.txt" => ("text/plain", "User-agent: *\nAllow: /\n".to_owned()),
        _ => ("text/html", body),
    }
}

/// A crawl of these sites, and the flags with its rules.
fn crawl() -> (Crawl, [String; 2]) {
    let crawl = Crawl::default()
        .with("fetch.resolve", &format!("*.test={}", serve(page)))
        .with("budget.fetches_per_second", "2000")
        .with("policy.scan_interval", "20ms")
        .with("politeness.crawl_delay", "1ms")
        .with("crawl.discover", "anywhere")
        .with("crawl.max_depth", "20")
        .with("ranker.interval", "100ms");
    std::fs::write(crawl.seeds_file(), "http://www.leaf.test/0\n").unwrap();
    let rules = "[[rules]]\npages = [\"*/denied/*\", \"regex:/private/\"]\ncrawl = \"deny\"\n";
    let file = crawl.directory.path().join("rules.toml");
    std::fs::write(&file, rules).unwrap();
    (crawl, ["--config".to_owned(), file.display().to_string()])
}

fn ask(crawl: &Crawl, rules: &[String; 2], name: &str, further: &[&str]) -> Output {
    crawl.ask(name, &[further, &rules.each_ref().map(String::as_str)].concat())
}

#[test]
fn pages_of_other_sites_are_found_and_weighed_by_their_links() {
    let (crawl, rules) = crawl();
    let flags = rules.each_ref().map(String::as_str);
    crawl.run(&[&["--until-idle"][..], &flags].concat()).finish().exits_with(0);
    let of = |url: &str| -> Value { ask(&crawl, &rules, "page", &[url]).exits_with(0).json() };
    let importance = |url: &str| of(url)["importance"].as_f64().unwrap();
    let (hub, leaf) = (importance("http://www.hub.test/"), importance("http://www.leaf.test/5"));
    assert!(hub > leaf, "{hub} {leaf}");
    assert_eq!(of("http://www.leaf.test/8")["depth"].as_i64(), Some(8));
    let explained = ask(&crawl, &rules, "explain", &["http://www.hub.test/"]).exits_with(0).json();
    assert_eq!(explained["weight_from"].as_str(), Some("links"));
    for url in ["http://www.leaf.test/denied/3", "http://www.hub.test/private/0"] {
        ask(&crawl, &rules, "page", &[url]).exits_with(1);
    }
    // Nine leaves and the hub.
    let status = ask(&crawl, &rules, "status", &[]).exits_with(0).json();
    assert_eq!(status["pages"].as_u64(), Some(10), "{status:#}");
}

#[test]
fn a_host_is_blocked_while_the_crawl_runs() {
    let (crawl, rules) = crawl();
    let process = crawl.run(&rules.each_ref().map(String::as_str));
    let hub = || ask(&crawl, &rules, "page", &["http://www.hub.test/"]);
    let is_blocked = |expected: bool| {
        let page = hub();
        page.status.success() && page.json()["host_blocked"].as_bool() == Some(expected)
    };
    wait_for("the hub is known", SOON, || hub().status.success());
    ask(&crawl, &rules, "block", &["www.hub.test"]).exits_with(0);
    wait_for("the host is blocked", SOON, || is_blocked(true));
    ask(&crawl, &rules, "unblock", &["www.hub.test"]).exits_with(0);
    wait_for("the host is free again", SOON, || is_blocked(false));
    process.signal(libc::SIGINT);
    process.finish().exits_with(0);
}
