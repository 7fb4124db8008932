//! `recrawl demo`, short: its report as scripts rely on it, and its page as a browser shows it.

use serde_json::Value;
use std::path::Path;
use std::time::Duration;
use tests::{Browser, Process, programs};

#[test]
fn the_demo_ends_with_a_report_that_scripts_and_browsers_can_read() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = programs().command("recrawl");
    command.args(["demo", "--built-in", "--wall", "12s", "--days", "60", "--format", "json", "--out"]);
    command.arg(directory.path().join("out"));
    // Its clock slows down for a machine that cannot keep up.
    let output = Process::start(command, directory.path()).finish_within(Duration::from_secs(300)).exits_with(0);
    let printed = output.json();

    let written = std::fs::read_to_string(directory.path().join("out/report.json")).unwrap();
    let report: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(printed, report, "what is printed is what is written");
    let number = |name: &str| report[name].as_f64().unwrap_or_else(|| panic!("{name} is missing in {report:#}"));
    for name in ["pages", "hosts", "virtual_days", "wall_s", "cpu_s", "fetches", "changes_total", "changes_seen"] {
        assert!(number(name) > 0.0, "{name}");
    }
    assert!(number("bytes_fetched") > 0.0 && (0.0..=1.0).contains(&number("not_modified_share")));
    for measure in ["freshness", "age_days", "meaningful_freshness", "meaningful_age_days"] {
        for policy in ["recrawl", "round_robin", "oracle"] {
            assert!(report[measure][policy].as_f64().is_some_and(|value| value >= 0.0), "{measure}.{policy}");
        }
    }
    assert!(report["freshness"]["recrawl"].as_f64().unwrap() > 0.5, "two months are enough to have copies");
    // The budget is kept: what the clock allows in a scan may be overdrawn by a scan's worth, no more.
    assert!(number("fetches") <= 1.02 * number("budget_fetches_per_day") * number("virtual_days") + 10.0);
    let politeness = &report["politeness"];
    assert_eq!(politeness["max_in_flight_per_host"], 1);
    assert_eq!(
        (&politeness["robots_violations"], &politeness["forbidden_requests"]),
        (&Value::from(0), &Value::from(0))
    );
    assert!(politeness["min_gap_s"].as_f64().unwrap() >= 30.0, "the demo's crawl delay: {politeness}");
    in_a_browser(&directory.path().join("out/report.html"), directory.path(), &report);
}

/// What a real browser makes of the page: the figures are there, the plots are drawn, nothing is loaded from elsewhere.
fn in_a_browser(page: &Path, directory: &Path, report: &Value) {
    let html = std::fs::read_to_string(page).expect("the demo has written its page");
    assert!(!html.contains("src=") && !html.contains("href="), "the page stands alone");
    let Some(browser) = Browser::find(directory) else { return };
    let shown = browser.open(page, &["--dump-dom"]);
    assert_eq!(shown.matches("<svg").count(), 4, "four plots");
    let freshness = format!("{:.4}", report["freshness"]["recrawl"].as_f64().expect("a number"));
    let headline = shown.split("id=\"headline\"").nth(1).expect("a headline");
    assert!(headline.contains(&freshness), "{freshness} stands in the headline");
    let picture = directory.join("page.png");
    browser.open(page, &[&format!("--screenshot={}", picture.display()), "--window-size=1000,1400"]);
    let bytes = std::fs::metadata(&picture).expect("a picture was taken").len();
    assert!(bytes > 20_000, "a page with plots makes a larger picture than {bytes} bytes");
}

#[test]
fn what_the_demo_decides_itself_is_not_silently_ignored() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    for (set, instead) in [("clock.speed=2", "--wall"), ("crawl.data=x", "--out")] {
        let mut command = programs().command("recrawl");
        command.args(["demo", "--built-in", "--set", set, "--out"]).arg(&out);
        Process::start(command, directory.path()).finish().exits_with(2).says(&["--set ", instead]);
    }
    assert!(!out.exists(), "nothing is made before that is right");
}
