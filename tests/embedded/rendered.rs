//! Pages that scripts make are watched, kept, compared and archived as a reader sees them.

use crate::archives::{export, files_in};
use crate::site::{SiteRequest, answer, serve_answers};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tests::Crawl;

const PAGE: &str = "<!doctype html><title>Shop</title><div id=app></div><noscript>Please enable JavaScript</noscript>\
    <script src=/app.js></script>";
const APP: &str = "fetch('/api/pump').then(r => r.json()).then(pump => { document.getElementById('app').innerHTML = \
    `<h1>Bike pump</h1><p class=price>${pump.price} EUR</p><p>Made of steel, with a gauge that can be read at night.</p>\
    <small>${Date.now()} ${Math.random()}</small>` })";
const RULES: &str = "[[rules]]\nname = \"pump\"\npages = [\"*\"]\nrender = \"always\"\nwatch = [\".price\"]\n\
    trigger = [\"price below 20\"]\n";

fn typed(media_type: &str, body: &str) -> Vec<u8> {
    answer(&format!("200 OK\r\ncontent-type: {media_type}"), body)
}

#[test]
fn a_price_that_only_a_script_shows_fires_its_trigger() {
    let price = Arc::new(AtomicUsize::new(25));
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (shown, book) = (price.clone(), asked.clone());
    let address = serve_answers(move |request: &SiteRequest| {
        book.lock().unwrap().push(request.path().to_owned());
        match request.path() {
            "/pump" => typed("text/html", PAGE),
            "/app.js" => typed("text/javascript", APP),
            "/api/pump" => typed("application/json", &format!("{{\"price\": {}}}", shown.load(Ordering::SeqCst))),
            _ => answer("404 Not Found", ""),
        }
    });
    let url = format!("http://{address}/pump");
    let crawl = Crawl::default().with("politeness.crawl_delay", "0s").with("detector.contents", "body");
    let crawl = crawl.with("fetch.record_heads", "true").with("log.retention_results", "30d");
    let rules = crawl.directory.path().join("rules.toml");
    std::fs::write(&rules, RULES).unwrap();
    let config = ["--config", rules.to_str().unwrap()];
    let run = |further: &[&str]| crawl.ask("run", &[further, &config, &["--until-idle"]].concat()).exits_with(0);
    run(&[&url]);
    let text = crawl.ask("page", &[&url, "--text"]).exits_with(0).stdout;
    assert!(text.contains("25 EUR") && !text.contains("enable JavaScript"), "{text}");
    // A look without news is none, although the script writes the time and a random number.
    crawl.ask("refetch", &[&url]).exits_with(0);
    run(&[]);
    price.store(19, Ordering::SeqCst);
    for _ in 0..2 {
        crawl.ask("refetch", &[&url]).exits_with(0);
        run(&[]);
    }
    let changes = crawl.ask("changes", &[]).exits_with(0).stdout;
    let lines: Vec<serde_json::Value> = changes.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{changes}");
    assert_eq!((&lines[1]["rule"], &lines[1]["triggers"][0]), (&"pump".into(), &"price below 20".into()), "{changes}");

    let archives = crawl.directory.path().join("archives");
    let exported = export(&crawl, &["warc", "--out", archives.to_str().unwrap()]).exits_with(0);
    let archive = files_in(&archives).into_iter().find(|file| file.extension().is_some_and(|kind| kind == "gz"));
    let archive =
        archive.unwrap_or_else(|| panic!("{} {} {:?}", exported.stdout, exported.stderr, files_in(&archives)));
    let mut unpacked = String::new();
    let packed = std::fs::read(archive).unwrap();
    std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(&*packed), &mut unpacked).unwrap();
    assert!(unpacked.contains("WARC-Type: conversion") && unpacked.contains("19 EUR"), "the document as it is shown");
    assert!(
        unpacked.contains("Please enable JavaScript") && unpacked.contains("fetch('/api/pump')"),
        "what was received"
    );
    let asked = asked.lock().unwrap();
    assert!(asked.iter().all(|path| ["/robots.txt", "/pump", "/app.js", "/api/pump"].contains(&&**path)), "{asked:?}");
}

#[test]
fn without_a_browser_a_rule_that_needs_one_is_refused_with_the_remedy() {
    let crawl = Crawl::default();
    let rules = crawl.directory.path().join("rules.toml");
    std::fs::write(&rules, RULES).unwrap();
    let missing = ["http://127.0.0.1:9/", "--config", rules.to_str().unwrap(), "--set", "fetch.browser=/no/browser"];
    let refused = crawl.ask("run", &missing);
    assert!(!refused.status.success());
    refused.says(&["/no/browser does not start without a network", "user namespaces"]);
}
