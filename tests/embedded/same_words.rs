//! `recrawl diff`, `recrawl changes` and the topic `page-changes` describe a change with the same words.

use crate::changes::page_changes;
use crate::hints::request;
use crate::site::serve;
use messages::{PageChange, Verdict};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tests::{Crawl, Process, SOON, programs, wait_for};

/// The fields that describe a change.
const FIELDS: [&str; 9] =
    ["verdict", "magnitude", "changes", "added", "removed", "links_added", "links_removed", "passed_over", "left_out"];

/// A page in two versions.
struct Edited {
    url: &'static str,
    media_type: &'static str,
    versions: [String; 2],
    /// The expected description of the change: the field `changes`.
    reported: Value,
}

fn pages() -> Vec<Edited> {
    let rest = "<p>Bring your own cup and a friend who likes tea.</p><p>The garden behind the house stays open.</p>";
    let main = |changing: &str| format!("<title>Tea house</title><main><h1>Tea house</h1>{changing}{rest}</main>");
    let row = |name: &str, price: &str| format!("<tr><td>{name}</td><td>{price}</td></tr>");
    let table = |price: &str| main(&format!("<table>{}{}</table>", row("Green tea", price), row("Cake", "4 euros")));
    let link = |target: &str| main(&format!("<p>Find us on <a href=\"{target}\">the map</a>.</p>"));
    let json = |price: u32| json!({"id": "tea-1", "name": "Green tea", "price": price}).to_string();
    let item = |name: &str| format!("<item><title>{name}</title><link>http://site.test/{name}</link></item>");
    let feed = |items: &str| format!("<rss version=\"2.0\"><channel><title>Teas</title>{items}</channel></rss>");
    let [first, second, third] = ["Assam", "Darjeeling", "Ceylon"].map(item);
    let one = |before: Value, after: Value, place: &str| json!([{"before": before, "after": after, "where": place}]);
    let page = |url, media_type, versions, reported| Edited { url, media_type, versions, reported };
    vec![
        page(
            "http://site.test/paragraph",
            "text/html",
            ["nine", "ten"].map(|hour| main(&format!("<p>We open at {hour} in the morning.</p>"))),
            one(json!("We open at nine in the morning."), json!("We open at ten in the morning."), "Tea house"),
        ),
        page(
            "http://site.test/cell",
            "text/html; charset=utf-8",
            ["3 euros", "5 euros"].map(table),
            one(json!("3 euros"), json!("5 euros"), "Green tea"),
        ),
        page(
            "http://site.test/link",
            "text/html",
            ["/old-map", "/new-map"].map(link),
            one(json!("http://site.test/old-map"), json!("http://site.test/new-map"), "Find us on the map."),
        ),
        page(
            "http://site.test/price.json",
            "application/json",
            [3, 5].map(json),
            one(json!("price: 3"), json!("price: 5"), ""),
        ),
        page(
            "http://site.test/feed.xml",
            "application/rss+xml",
            [feed(&format!("{first}{second}")), feed(&format!("{third}{first}{second}"))],
            one(Value::Null, json!("Ceylon http://site.test/Ceylon"), ""),
        ),
    ]
}

#[test]
fn diff_changes_and_the_stream_report_a_change_with_the_same_words() {
    let edited = Arc::new(AtomicBool::new(false));
    let (site_edited, site_pages) = (Arc::clone(&edited), pages());
    let address = serve(move |path| {
        let version = usize::from(site_edited.load(Ordering::SeqCst));
        let page = site_pages.iter().find(|page| page.url.strip_prefix("http://site.test") == Some(path));
        page.map_or(("text/plain", String::new()), |page| (page.media_type, page.versions[version].clone()))
    });
    let crawl = Crawl::default()
        .with("fetch.resolve", &format!("*.test={address}"))
        .with("politeness.crawl_delay", "0s")
        .with("policy.scan_interval", "20ms");
    let pages = pages();
    std::fs::write(crawl.seeds_file(), pages.iter().map(|page| format!("{}\n", page.url)).collect::<String>()).unwrap();
    let running = crawl.run(&[]);
    let lines = || -> Vec<Value> {
        let output = crawl.ask("changes", &[]);
        output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    wait_for("all pages are told as new", SOON, || lines().len() == pages.len());
    edited.store(true, Ordering::SeqCst);
    let token = operate::Access::noted(&crawl.data()).unwrap().token.unwrap();
    let headers = format!("x-recrawl-command: yes\r\nauthorization: Bearer {}\r\n", token.reveal());
    for page in &pages {
        assert_eq!(request(&crawl, "POST", "/api/v1/pages/refetch", &headers, page.url).0, 200, "{}", page.url);
    }
    wait_for("all changes are told", SOON, || lines().len() == 2 * pages.len());
    running.signal(libc::SIGINT);
    running.finish().exits_with(0);

    let (lines, stream) = (lines(), page_changes(&crawl));
    for page in &pages {
        let by_diff = diff(crawl.directory.path(), page);
        assert_eq!(by_diff["changes"], page.reported, "{}", page.url);
        let line = lines.iter().rfind(|line| line["url"] == page.url).unwrap();
        let change = stream.iter().rfind(|change| change.url.as_str() == page.url).unwrap();
        assert_ne!(change.verdict, Verdict::First, "{}", page.url);
        let by_stream = reported(change);
        let by_address = crawl.ask("diff", &[page.url]);
        let by_address: Value = serde_json::from_str(&by_address.stdout).unwrap();
        for field in FIELDS {
            assert_eq!(by_address[field], by_diff[field], "diff by address and diff: {field} of {}", page.url);
            assert_eq!(line[field], by_diff[field], "changes and diff: {field} of {}", page.url);
            assert_eq!(by_stream[field], by_diff[field], "stream and diff: {field} of {}", page.url);
        }
    }
}

#[test]
fn an_earlier_change_is_shown_without_the_texts_of_a_later_version() {
    let version = Arc::new(AtomicUsize::new(0));
    let shown = Arc::clone(&version);
    let address = serve(move |_| {
        let [price, colour] = [["24", "red"], ["19", "red"], ["19", "blue"]][shown.load(Ordering::SeqCst)];
        let text = format!(
            "<title>Lamp</title><h1>Lamp</h1><p>The shade is of {colour} linen.</p><p>It costs {price} euros.</p><p>Made of tin.</p>"
        );
        ("text/html", text)
    });
    let crawl = Crawl::default()
        .with("fetch.resolve", &format!("*.test={address}"))
        .with("politeness.crawl_delay", "0s")
        .with("policy.scan_interval", "20ms");
    let url = "http://site.test/lamp";
    std::fs::write(crawl.seeds_file(), format!("{url}\n")).unwrap();
    let running = crawl.run(&[]);
    let lines = || -> Vec<Value> {
        crawl.ask("changes", &[]).stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    for edits in 0..3 {
        version.store(edits, Ordering::SeqCst);
        if edits > 0 {
            crawl.ask("refetch", &[url]).exits_with(0);
        }
        wait_for("the version is told", SOON, || lines().len() == edits + 1);
    }
    running.signal(libc::SIGINT);
    running.finish().exits_with(0);

    let cursors: Vec<String> = lines().iter().map(|line| line["cursor"].as_str().unwrap().to_owned()).collect();
    let page_at = |cursor: &str| crawl.ask("diff", &[url, "--at", cursor, "--html"]).exits_with(0).stdout;
    let (earlier, newest) = (page_at(&cursors[1]), page_at(&cursors[2]));
    assert!(earlier.contains("24") && !earlier.contains("linen"), "the linen was red then: {earlier}");
    assert!(newest.contains("blue") && newest.contains("It costs 19 euros."), "{newest}");
}

/// The answer of `recrawl diff`.
fn diff(directory: &Path, page: &Edited) -> Value {
    for (name, version) in ["old", "new"].iter().zip(&page.versions) {
        std::fs::write(directory.join(name), version).unwrap();
    }
    let mut command = programs().command("recrawl");
    command.args(["--format", "json", "diff", "old", "new", "--url", page.url, "--content-type", page.media_type]);
    command.current_dir(directory);
    Process::start(command, directory).finish().exits_with(0).json()
}

/// A record of the stream as the commands name its fields.
fn reported(change: &PageChange) -> Value {
    json!({
        "verdict": change.verdict,
        "magnitude": change.magnitude,
        "changes": change.changes,
        "added": change.added,
        "removed": change.removed,
        "links_added": change.links_added,
        "links_removed": change.links_removed,
        "passed_over": change.passed_over,
        "left_out": change.left_out,
    })
}
