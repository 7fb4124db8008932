//! A page that an operator forgets leaves no trace in any stage, and no link brings it back.

use crate::archives::export;
use crate::site::{serve, serve_hosts};
use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use stream::{LogBackend, PollLimits, TopicPartition};
use stream_rocksdb::EmbeddedBackend;
use tests::forgotten::{MARK, PAGE, PAGES, has_mark, is_trace, site};
use tests::{Crawl, Output, SOON, wait_for};

fn crawl(address: SocketAddr) -> Crawl {
    let crawl = Crawl::default()
        .with("fetch.resolve", &format!("*.test={address}"))
        .with("budget.fetches_per_second", "2000")
        .with("policy.scan_interval", "20ms")
        .with("politeness.crawl_delay", "1ms")
        .with("crawl.discover", "same-site")
        .with("detector.mirrors", "true")
        .with("ranker.interval", "100ms");
    std::fs::write(crawl.seeds_file(), "http://www.leaf.test/\n").unwrap();
    crawl
}

/// Topics whose records have the mark somewhere in their bytes, in a crawl that is stopped. Tables have changelogs only in
/// their stores.
fn topics_with_the_mark(crawl: &Crawl) -> Vec<String> {
    let log = EmbeddedBackend::open_read_only(&crawl.data()).unwrap();
    let mut marked = Vec::new();
    for topic in log.topics().unwrap() {
        for partition in 0..topic.partitions {
            let place = TopicPartition::new(&*topic.name, partition);
            let mut next = log.bounds(&place).unwrap().start;
            loop {
                let records = log.read(&place, next, PollLimits::records(1_000)).unwrap();
                let Some(last) = records.last() else { break };
                next = last.offset + 1;
                if records.iter().any(|record| record.value.as_deref().is_some_and(has_mark)) {
                    marked.push(topic.name.to_string());
                }
            }
        }
    }
    marked
}

/// Entries of the stages' stores that are about the page, by its id in the key or the mark in the value.
fn traces(crawl: &Crawl) -> Vec<String> {
    let mut traces = Vec::new();
    tests::books::each_entry(crawl, |stage, table, key, value| {
        if is_trace(stage, table, key, value) {
            traces.push(format!("{stage}/{table}"));
        }
    });
    traces
}

fn ask(crawl: &Crawl, name: &str) -> Output {
    crawl.ask(name, &[PAGE])
}

#[test]
fn a_forgotten_page_leaves_no_trace_and_no_link_brings_it_back() {
    let crawl = crawl(serve(site));
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    ask(&crawl, "page").exits_with(0);
    let has_text = || crawl.ask("page", &[PAGE, "--text"]).exits_with(0).stdout.contains(MARK);
    assert!(has_text());
    assert!(traces(&crawl).len() >= 4, "what is searched for is found before: {:?}", traces(&crawl));

    let process = crawl.run(&[]);
    wait_for("the crawl runs", SOON, || process.stderr().contains("recrawl runs on"));
    let gone = crawl.ask("forget", &["--wait", PAGE]).exits_with(0).json();
    assert_eq!((&gone["sent"], &gone["gone"]), (&1.into(), &true.into()));
    ask(&crawl, "page").exits_with(1).says(&["and gone at"]);
    // The front page is looked at again, and its links are followed.
    crawl.ask("refetch", &["http://www.leaf.test/"]).exits_with(0);
    process.signal(libc::SIGINT);
    process.finish().exits_with(0);
    assert_eq!(traces(&crawl), Vec::<String>::new());
    assert_eq!(crawl.ask("page", &[PAGE, "--text"]).exits_with(1).stdout, "");
    // Published changes stay in their topic until retention ends.
    let reported = topics_with_the_mark(&crawl);
    assert!(reported.iter().all(|topic| topic.ends_with("page-changes")), "{reported:?}");
    let status = crawl.ask("status", &[]).exits_with(0).json();
    assert_eq!(status["pages"].as_u64(), Some(5));

    ask(&crawl, "seed").exits_with(0);
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    assert!(has_text());
}

#[test]
fn an_answer_that_comes_after_the_page_was_forgotten_is_dropped_and_the_page_is_gone_only_then() {
    let (holds, is_asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (held, asked) = (holds.clone(), is_asked.clone());
    let crawl = crawl(serve(move |path| {
        if path == "/3" && held.load(Ordering::SeqCst) {
            asked.store(true, Ordering::SeqCst);
            wait_for("the test lets the answer go", SOON, || !held.load(Ordering::SeqCst));
            // The fetcher sends no body that it has sent before.
            let (media_type, body) = site(path);
            return (media_type, body.replace("These are the words", "These are quite other words"));
        }
        site(path)
    }));
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    let process = crawl.run(&[]);
    wait_for("the crawl runs", SOON, || process.stderr().contains("recrawl runs on"));
    holds.store(true, Ordering::SeqCst);
    ask(&crawl, "refetch").exits_with(0);
    wait_for("the page is asked for", SOON, || is_asked.load(Ordering::SeqCst));
    ask(&crawl, "forget").exits_with(0);
    let said = || ask(&crawl, "page").stderr;
    wait_for("the stages have deleted it", SOON, || said().contains("a request for it is under way until"));
    let late = crawl.ask("forget", &["--wait", "--timeout", "0s", PAGE]).exits_with(3);
    late.says(&["1 of 1 are not gone after 0s", "recrawl page http://www.leaf.test/3 says how far it is"]);
    assert!(!said().contains("and gone at"), "{}", said());
    assert_eq!(ask(&crawl, "page").exits_with(1).stdout, "");
    holds.store(false, Ordering::SeqCst);
    wait_for("the answer has gone round, too", SOON, || said().contains("and gone at"));
    process.signal(libc::SIGINT);
    process.finish().exits_with(0);

    assert_eq!(traces(&crawl), Vec::<String>::new());
    let reported = topics_with_the_mark(&crawl);
    assert!(reported.iter().all(|topic| topic.ends_with("page-changes")), "{reported:?}");
    let changes = crawl.ask("changes", &[]).exits_with(0).stdout;
    let of_page: Vec<_> = changes.lines().filter(|line| line.contains(&format!("{PAGE}\""))).collect();
    assert_eq!(of_page.len(), 1, "that it was forgotten, once: {of_page:?}");
    assert!(of_page[0].contains("\"verdict\":\"forgotten\""), "{of_page:?}");
    assert_eq!(crawl.ask("page", &[PAGE, "--text"]).exits_with(1).stdout, "");
}

#[test]
fn no_output_shows_what_was_published_of_a_forgotten_page() {
    // The first change of a page has its title.
    let titled = |path: &str| {
        let (media_type, body) = site(path);
        (media_type, body.replace("<title>Page /3", &format!("<title>{MARK} /3")))
    };
    let crawl = crawl(serve(titled)).with("log.retention_results", "1d");
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    let archives = crawl.directory.path().join("archives");
    let outputs = || {
        let _ = std::fs::remove_dir_all(&archives);
        let said = |name: &str, arguments: &[&str]| crawl.ask(name, arguments).exits_with(0).stdout;
        let directory = archives.display().to_string();
        export(&crawl, &["warc", "--out", &directory]).exits_with(0);
        let files = std::fs::read_dir(&archives).unwrap().map(|file| file.unwrap().path());
        let files = files.filter(|file| file.extension().is_some_and(|ending| ending == "gz"));
        let warc = Command::new("gzip").arg("-dc").args(files).output().unwrap().stdout;
        let printed = [
            ("changes", said("changes", &[])),
            ("atom", said("feed", &[])),
            ("rss", said("feed", &["rss"])),
            ("fetches", export(&crawl, &["jsonl"]).exits_with(0).stdout),
        ];
        let printed = printed.map(|(name, text)| (name, text.into_bytes()));
        printed.into_iter().chain([("warc", warc)]).collect::<Vec<_>>()
    };
    for (name, output) in outputs() {
        assert!(has_mark(&output), "{name} shows the page before");
    }

    ask(&crawl, "forget").exits_with(0);
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    for (name, output) in outputs() {
        assert!(!has_mark(&output), "{name} shows a forgotten page: {}", String::from_utf8_lossy(&output));
    }
    let feed = crawl.ask("feed", &[]).exits_with(0).stdout;
    assert_eq!(feed.matches("<at:deleted-entry ").count(), 1, "{feed}");
    assert!(!feed.contains(PAGE), "{feed}");
    let changes = crawl.ask("changes", &["--verdict", "forgotten"]).exits_with(0);
    assert!(changes.json()["url"] == PAGE, "{}", changes.stdout);
    crawl.ask("diff", &[PAGE]).exits_with(1).says(&["no change of"]);

    // What it shows in another life is published.
    ask(&crawl, "seed").exits_with(0);
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    for (name, output) in outputs() {
        assert!(has_mark(&output), "{name} shows the page again");
    }
}

#[test]
fn a_site_is_forgotten_with_all_its_pages_and_the_command_waits_for_it() {
    let crawl = crawl(serve_hosts(|host, path| match host {
        "www.leaf.test" => site(path),
        _ => ("text/html", "<title>Another</title><p>These are the words of another site.</p>".to_owned()),
    }));
    std::fs::write(crawl.seeds_file(), "http://www.leaf.test/\nhttp://other.test/9\n").unwrap();
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    let pages = || crawl.ask("status", &[]).exits_with(0).json()["pages"].as_u64();
    let before = pages().unwrap();
    let counted = crawl.ask("forget", &["--site", "--dry-run", "leaf.test"]).exits_with(0).json();
    assert_eq!((counted["pages"].as_u64(), counted["hosts"].as_u64()), (Some(PAGES as u64), Some(1)));
    assert_eq!(pages(), Some(before), "nothing is forgotten");
    crawl.ask("forget", &["--site", "--wait", "leaf.test"]).exits_with(2).says(&["this crawl does not run"]);

    let process = crawl.run(&[]);
    wait_for("the crawl runs", SOON, || process.stderr().contains("recrawl runs on"));
    crawl.ask("forget", &["--site", "--wait", "leaf.test"]).exits_with(0);
    process.signal(libc::SIGINT);
    process.finish().exits_with(0);
    assert_eq!(pages(), Some(before - PAGES as u64), "those of the other site stay");
    assert_eq!(traces(&crawl), Vec::<String>::new());
    let changes = crawl.ask("changes", &[]).exits_with(0).stdout;
    let of_site: Vec<_> = changes.lines().filter(|line| line.contains("leaf.test/")).collect();
    assert_eq!(of_site.len(), PAGES + 1, "that each was forgotten, and http://leaf.test/: {of_site:?}");
    assert!(of_site.iter().all(|line| line.contains("\"verdict\":\"forgotten\"")), "{of_site:?}");
}

#[test]
fn what_a_site_has_named_is_forgotten_wherever_it_is_and_seeds_stay() {
    // The front page of the leaf names pages of two other sites, in whichever partitions.
    let crawl = crawl(serve_hosts(|host, path| {
        let elsewhere = "<a href=\"http://one.test/a\">one</a> <a href=\"http://two.test/a\">two</a>";
        match (host, path) {
            ("www.leaf.test", "/") => ("text/html", format!("{}{elsewhere}", site(path).1)),
            ("www.leaf.test", _) => site(path),
            _ => ("text/html", format!("<title>{host}</title><p>It is about {path}. <a href=/b>Another</a>")),
        }
    }))
    .with("crawl.discover", "anywhere");
    std::fs::write(crawl.seeds_file(), "http://www.leaf.test/\nhttp://one.test/a\n").unwrap();
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    let pages = || crawl.ask("status", &[]).exits_with(0).json()["pages"].as_u64().unwrap();
    // The seeds, the other pages of the leaf, two.test/a, and what that and one.test/a name.
    let all = 2 + (PAGES as u64 - 1) + 1 + 2;
    assert_eq!(pages(), all);
    let found = |source: &str| {
        let counted = crawl.ask("forget", &["--discovered-from", "--dry-run", source]).exits_with(0).json();
        counted["pages"].as_u64().unwrap()
    };
    assert_eq!((found("http://one.test/a"), found("two.test"), found("leaf.test")), (1, 1, PAGES as u64));
    let page = crawl.ask("page", &["http://two.test/a"]).exits_with(0).json();
    assert_eq!(page["found_on_site"], "leaf.test");
    let refused = crawl.ask("forget", &["--discovered-from", "www.leaf.test"]).exits_with(2);
    refused.says(&["www.leaf.test is a host of the site leaf.test", "write leaf.test"]);
    crawl.ask("forget", &["--discovered-from", "--wait", "leaf.test"]).exits_with(2);

    let process = crawl.run(&[]);
    wait_for("the crawl runs", SOON, || process.stderr().contains("recrawl runs on"));
    crawl.ask("forget", &["--discovered-from", "leaf.test"]).exits_with(0);
    wait_for("nothing that was found there is left", SOON, || found("leaf.test") == 0);
    process.signal(libc::SIGINT);
    process.finish().exits_with(0);
    assert_eq!(pages(), all - PAGES as u64, "the seeds and what other sites have named stay");
    assert_eq!(traces(&crawl), Vec::<String>::new());

    // The crawl does not run: the command waits in the log.
    crawl.ask("forget", &["--discovered-from", "http://one.test/a", "two.test"]).exits_with(0);
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    assert_eq!(pages(), 2);
}
