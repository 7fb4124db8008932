//! A shop that is away for a moment is looked at within its rule's interval, and its return is reported.

use crate::site::{answer, serve_answers};
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tests::{Crawl, SOON, wait_for};

/// Serves a page, then for two looks this status line in its place, then the page with another price. Counts the looks.
fn shop(away: &'static str, looks: Arc<AtomicUsize>) -> SocketAddr {
    serve_answers(move |request| {
        let is_page = request.path() == "/lamp";
        let look = if is_page { looks.fetch_add(1, Ordering::SeqCst) } else { 0 };
        let (status, price) = match (is_page, look) {
            (false, _) => ("404 Not Found", ""),
            (true, 0) => ("200 OK", "85"),
            (true, 1 | 2) => (away, "nothing"),
            (true, _) => ("200 OK", "3"),
        };
        let body = format!("<!doctype html><h1>Desk lamp</h1><p>It costs {price} euros and comes in three days.");
        answer(&format!("{status}\r\ncontent-type: text/html"), body)
    })
}

/// The verdicts published so far, in order.
fn reported(crawl: &Crawl) -> Vec<String> {
    let lines = crawl.ask("changes", &[]).exits_with(0).stdout;
    let verdict = |line: &str| serde_json::from_str::<Value>(line).unwrap()["verdict"].as_str().unwrap().to_owned();
    lines.lines().map(verdict).collect()
}

#[test]
fn a_shop_that_is_back_after_seconds_is_reported_of_within_its_rules_interval() {
    for (away, expected) in [
        ("404 Not Found", &["first", "missing", "returned"][..]),
        ("410 Gone", &["first", "gone", "returned"]),
        ("500 Internal Server Error", &["first", "major"]),
    ] {
        let looks = Arc::new(AtomicUsize::new(0));
        let crawl = Crawl::default().with("politeness.crawl_delay", "0s").with("policy.least_worth", "5s");
        std::fs::write(crawl.seeds_file(), format!("http://{}/lamp\n", shop(away, looks.clone()))).unwrap();
        let file = crawl.directory.path().join("rules.toml");
        let rule = "[[rules]]\npages = [\"127.0.0.1\"]\nmin_interval = \"1s\"\nmax_interval = \"2s\"\n";
        std::fs::write(&file, rule).unwrap();
        let process = crawl.run(&["--config", &file.display().to_string()]);
        // Its own rate would bring it up in hours, and the longest interval of all pages in half a year.
        wait_for("the shop is back, and looked at", SOON, || looks.load(Ordering::SeqCst) >= 4);
        wait_for("its return is told", SOON, || reported(&crawl).len() >= expected.len());
        process.signal(libc::SIGINT);
        process.finish().exits_with(0);
        assert_eq!(reported(&crawl)[..expected.len()], *expected, "{away}");
    }
}
