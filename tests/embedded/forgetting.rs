//! A page that an operator forgets leaves no trace in any stage, and no link brings it back.

use crate::site::serve;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use stream::{LogBackend, PollLimits, TopicPartition};
use stream_rocksdb::EmbeddedBackend;
use tests::forgotten::{MARK, PAGE, has_mark, is_trace, site};
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
    ask(&crawl, "forget").exits_with(0);
    let is_gone = || ask(&crawl, "page").stderr.contains("and gone at");
    wait_for("all stages have deleted it", SOON, is_gone);
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
    assert_eq!(
        changes.lines().filter(|line| line.contains(PAGE)).count(),
        1,
        "the first look, and no other: {changes}"
    );
    assert_eq!(crawl.ask("page", &[PAGE, "--text"]).exits_with(1).stdout, "");
}
