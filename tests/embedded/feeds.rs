//! Changes as a feed: what a reader of feeds understands, from the command and from the port.

use crate::changes::page_changes;
use operate::Access;
use serde_json::Value;
use simweb::SeededConfig;
use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;
use tests::{Crawl, HttpAnswer, SOON, SimulatedWeb, programs, wait_for};

const PAGES: usize = 30;

fn web() -> SimulatedWeb {
    let seeded = SeededConfig { hosts: 3, pages_per_host: PAGES / 3, ..SeededConfig::default() };
    SimulatedWeb::start(seeded, 1.0, |_| {})
}

fn feed(crawl: &Crawl, arguments: &[&str]) -> tests::Output {
    let mut command = programs().command("recrawl");
    command.arg("feed").args(arguments).arg("--data").arg(crawl.data()).args(crawl.flags());
    tests::Process::start(command, crawl.directory.path()).finish()
}

/// A feed as Python's parser of XML and the rules of its standard see it.
fn read(text: &str) -> Value {
    let python = std::env::var_os("RECRAWL_PYTHON").unwrap_or_else(|| "python3".into());
    let script = tests::workspace().join("tests/embedded/read_feed.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("there is a Python");
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "not a feed:\n{text}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn entries(feed: &Value) -> &[Value] {
    feed["entries"].as_array().unwrap()
}

/// The answer of the running crawl: media type and body. `None` for any status but 200.
fn get(crawl: &Crawl, path: &str) -> Option<(String, String)> {
    let Access { address, token, .. } = Access::noted(&crawl.data())?;
    assert!(HttpAnswer::to(&address, path).is_none_or(|answer| answer.status == 401), "texts of pages need the token");
    let answer = HttpAnswer::with_token(&address, path, token?.reveal()).filter(|answer| answer.status == 200)?;
    Some((answer.header("content-type")?.to_owned(), answer.body))
}

#[test]
fn the_newest_changes_are_a_feed_that_readers_understand() {
    let web = web();
    let crawl = Crawl::of(&web);
    let process = crawl.run(&[]);
    let served = |path: &str| get(&crawl, path);
    let all_are_reported = || served("/changes.atom").is_some_and(|(_, body)| body.matches("<entry>").count() == PAGES);
    wait_for("the port serves all changes", SOON, all_are_reported);
    let (kind, atom) = served("/changes.atom").unwrap();
    assert_eq!(kind, "application/atom+xml; charset=utf-8");
    let (kind, rss) = served("/changes.rss").unwrap();
    assert_eq!(kind, "application/rss+xml; charset=utf-8");
    let listed = |path: &str| serde_json::from_str::<Value>(&served(path).unwrap().1).unwrap();
    let (mut cursor, mut listing) = (String::new(), Vec::new());
    loop {
        let page = listed(&format!("/api/v1/changes?limit=7{cursor}"));
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= 7);
        listing.extend(items.iter().cloned());
        cursor = format!("&cursor={}", page["next_cursor"].as_str().unwrap());
        if page["has_more"] == false {
            break;
        }
    }
    assert!(served("/api/v1/changes?cursor=99999999").is_none(), "the cursor of another crawl");
    process.signal(libc::SIGINT);
    process.finish().exits_with(0);

    let mut reported = page_changes(&crawl);
    reported.sort_by_key(|change| std::cmp::Reverse(change.seen_at));
    let (atom, rss) = (read(&atom), read(&rss));
    let ids: BTreeSet<_> = entries(&atom).iter().map(|entry| entry["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), PAGES);
    for ((entry, other), change) in entries(&atom).iter().zip(entries(&rss)).zip(&reported) {
        assert_eq!((entry["id"].as_str(), entry["url"].as_str()), (other["id"].as_str(), other["url"].as_str()));
        assert_eq!(
            entry["seen_at"].as_f64().map(|s| (s * 1e3).round() as i64),
            Some(change.seen_at.as_micros() / 1_000)
        );
        assert_eq!(entry["verdict"], "first");
        assert!(entry["title"].as_str().unwrap().ends_with(" is new here"), "{entry}");
    }
    let lines: Vec<Value> =
        crawl.ask("changes", &[]).stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(listing, lines, "the list goes through all changes, as the command does");
    // The command says the same, and less if asked to.
    assert_eq!(read(&feed(&crawl, &[]).exits_with(0).stdout)["entries"], atom["entries"]);
    let address = "https://example.org/changes.xml?a=1&b=2";
    let short = feed(&crawl, &["rss", "--items", "7", "--title", "Ours & <theirs>", "--address", address]);
    let short = read(&short.exits_with(0).stdout);
    assert_eq!(entries(&short), &entries(&rss)[..7]);
    assert_eq!((&short["title"], &short["self"][0]), (&"Ours & <theirs>".into(), &address.into()));

    assert!(entries(&read(&feed(&crawl, &["--verdict", "major"]).exits_with(0).stdout)).is_empty());
    feed(&crawl, &["--items", "0"]).exits_with(2).says(&["write a number from 1 to 10000"]);
    feed(&crawl, &["--address", "nowhere"]).exits_with(2).says(&["--address: "]);
    feed(&crawl, &["yaml"]).exits_with(2).says(&["atom, rss"]);
}

#[test]
fn a_crawl_that_has_reported_nothing_yet_has_a_feed_all_the_same() {
    let seeded = SeededConfig { hosts: 1, pages_per_host: 1, ..SeededConfig::default() };
    let web = SimulatedWeb::start(seeded, 1.0, |config| config.dials.latency = Duration::from_secs(20));
    let crawl = Crawl::of(&web);
    let process = crawl.run(&[]);
    wait_for("the port serves a feed", SOON, || get(&crawl, "/changes.rss").is_some());
    let changes = read(&get(&crawl, "/changes.atom").unwrap().1);
    assert_eq!(entries(&changes).len(), 0);
    process.kill();
}
