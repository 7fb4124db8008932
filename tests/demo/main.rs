//! `recrawl demo`, short: its report as scripts rely on it, and its page as a browser shows it.

use serde_json::Value;
use std::path::Path;
use std::time::Duration;
use tests::{Browser, Process, READABLE, Scheme, programs};

const CRAWLERS: [&str; 5] = ["recrawl", "round_robin", "stormcrawler", "oracle", "clairvoyant"];

const CONTENT: &str = "(() => {
  const all = selector => [...page.document.querySelectorAll(selector)];
  const is_described = svg => svg.getAttribute('role') == 'img' && svg.querySelector('title')?.textContent
    && svg.querySelector('desc')?.textContent;
  const strokes = all('#over-time svg polyline').map(line => page.getComputedStyle(line).stroke);
  return {
    title: page.document.title,
    headline: page.document.querySelector('#headline').textContent,
    figures: page.document.querySelector('#figures').textContent,
    charts: all('.charts svg').length,
    timelines: all('#worst svg').length,
    undescribed: all('svg').filter(svg => !is_described(svg)).length,
    lines: new Set(strokes.filter(stroke => all('.key li').some(item => stroke == page.getComputedStyle(item, '::before').backgroundColor))).size,
    differences: all('#differences table').length,
  };
})()";

#[test]
fn the_demo_ends_with_a_report_that_scripts_and_browsers_can_read() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = programs().command("recrawl-lab");
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
    let measures = ["freshness", "age_days", "meaningful_freshness", "meaningful_age_days"];
    for measure in measures.into_iter().chain(["stale_share", "stale_share_any_byte", "stale_age_days"]) {
        for crawler in CRAWLERS {
            assert!(report[measure][crawler].as_f64().is_some_and(|value| value >= 0.0), "{measure}.{crawler}");
        }
    }
    let stale = |crawler: &str| report["stale_share"][crawler].as_f64().expect("a number");
    assert!(stale("clairvoyant") < stale("oracle") && stale("oracle") < stale("round_robin"), "{report:#}");
    let points = report["stale_over_time"].as_array().expect("a curve");
    let is_share =
        |point: &Value, crawler| (0.0..=1.0).contains(&point["stale_share"][crawler].as_f64().expect("a share"));
    assert!(points.len() > 10 && points.iter().all(|point| CRAWLERS.iter().all(|crawler| is_share(point, *crawler))));
    // The simulated default needs fewer fetches than round robin on the built-in changes.
    let times = report["same_freshness"]["times"].as_f64().expect("a number");
    assert!(times > 0.0 && times < 0.9, "{times}");
    assert_eq!(report["worst_pages"].as_array().map(Vec::len), Some(5));
    assert!(report["freshness"]["recrawl"].as_f64().unwrap() > 0.5, "two months are enough to have copies");
    // The budget is kept: what the clock allows in a scan may be overdrawn by a scan's worth, no more.
    assert!(number("fetches") <= 1.02 * number("budget_fetches_per_day") * number("virtual_days") + 10.0);
    let politeness = &report["politeness"];
    for lifelike in ["robots_requests", "sitemap_hosts", "sitemap_requests", "forbidden_pages", "failed_requests"] {
        assert!(politeness[lifelike].as_u64() > Some(0), "{lifelike}: {politeness}");
    }
    assert_eq!(politeness["max_in_flight_per_host"], 1);
    assert_eq!(
        (&politeness["robots_violations"], &politeness["forbidden_requests"]),
        (&Value::from(0), &Value::from(0))
    );
    assert!(politeness["min_gap_s"].as_f64().unwrap() >= 30.0, "the demo's crawl delay: {politeness}");
    in_a_browser(&directory.path().join("out/report.html"), directory.path(), &report);
}

/// Checks the page in a real browser: the figures are there, the plots are drawn and have a text in their place,
/// every word can be read on light and dark screens and on narrow ones, and nothing is loaded from elsewhere.
fn in_a_browser(page: &Path, directory: &Path, report: &Value) {
    let html = std::fs::read_to_string(page).expect("the demo has written its page");
    assert!(!html.contains("src=") && !html.contains("href="), "the page stands alone");
    let Some(browser) = Browser::find(directory) else { return };
    let content = browser.evaluate(page, 1_000, Scheme::Light, CONTENT);
    let percent = 100.0 * report["same_freshness"]["times"].as_f64().expect("a number");
    let headline = format!("The same freshness as round robin for {percent:.0} % of the fetches");
    assert_eq!(content["headline"], format!("{headline}."));
    assert_eq!(content["title"], format!("recrawl demo: {headline}"));
    assert_eq!(content["charts"], 2, "over time and by budget");
    assert_eq!(content["timelines"], 5, "a line for each of the worst pages");
    assert_eq!(content["undescribed"], 0, "every drawing has a role, a name and a description");
    assert_eq!(content["lines"], 5, "a curve for each crawler");
    assert!(content["differences"].as_u64() > Some(0), "{content:#}");
    let stale = format!("{:.2} %", 100.0 * report["stale_share"]["recrawl"].as_f64().expect("a number"));
    assert!(content["figures"].as_str().is_some_and(|text| text.contains(&stale)), "{stale} in {content:#}");

    let mut grounds = Vec::new();
    for (scheme, width) in [(Scheme::Light, 1_000), (Scheme::Dark, 1_000), (Scheme::Light, 400), (Scheme::Dark, 400)] {
        let seen = browser.evaluate(page, width, scheme, READABLE);
        assert_eq!(seen["overflows"], false, "{width} px: {seen:#}");
        assert!(seen["words"].as_u64() > Some(100), "{seen:#}");
        assert!(seen["least"].as_f64() >= Some(4.5), "{scheme:?}: {seen:#}");
        assert!(seen["faintest"].as_f64() >= Some(3.0), "{scheme:?}, lines: {seen:#}");
        assert!(seen["letters"].as_f64() >= Some(9.0), "{width} px: the smallest letters of a chart: {seen:#}");
        grounds.push(seen["ground"].clone());
    }
    assert_ne!(grounds[0], grounds[1], "the page follows the reader's colour scheme");
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
        let mut command = programs().command("recrawl-lab");
        command.args(["demo", "--built-in", "--set", set, "--out"]).arg(&out);
        Process::start(command, directory.path()).finish().exits_with(2).says(&["--set ", instead]);
    }
    assert!(!out.exists(), "nothing is made before that is right");
}
