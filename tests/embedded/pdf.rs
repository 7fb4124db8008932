//! A PDF document goes round the loop: it is read in a process of its own, and its changes have their words and their place.

use crate::archives::export;
use crate::site::{answer, serve_answers};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tests::{Crawl, Process, programs};

/// A document, the same made again with other dates, and one with a row less.
const EDITIONS: [&[u8]; 3] = [
    include_bytes!("../../crates/pdf-html/tests/pdf/reportlab-a.pdf"),
    include_bytes!("../../crates/pdf-html/tests/pdf/reportlab-b.pdf"),
    include_bytes!("../../crates/pdf-html/tests/pdf/reportlab-c.pdf"),
];

#[test]
fn a_pdf_document_is_read_compared_kept_and_watched() {
    let edition = Arc::new(AtomicUsize::new(0));
    let shown = Arc::clone(&edition);
    let site = serve_answers(move |request| match request.path() {
        "/robots.txt" => answer("404 Not Found", ""),
        _ => answer("200 OK\r\ncontent-type: application/pdf", EDITIONS[shown.load(Ordering::SeqCst)]),
    });
    let url = format!("http://{site}/fees.pdf");
    let crawl = Crawl::default().with("politeness.crawl_delay", "0s").with("detector.contents", "body");
    crawl.ask("run", &[&url, "--until-idle"]).exits_with(0);
    for look in 1..2 * EDITIONS.len() {
        edition.store(look / 2, Ordering::SeqCst);
        crawl.ask("refetch", &[&url]).exits_with(0);
        crawl.ask("run", &["--until-idle"]).exits_with(0);
    }
    let page = crawl.ask("page", &[&url]).exits_with(0).json();
    assert_eq!(page["unread"], Value::Null, "{page:#}");
    let kept = crawl.ask("page", &[&url, "--text"]).exits_with(0).stdout;
    assert!(kept.contains("14.50 EUR") && !kept.contains("17.50 EUR"), "{kept}");
    let changes = crawl.ask("changes", &[]).exits_with(0).stdout;
    let changes: Vec<Value> = changes.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let verdicts: Vec<_> = changes.iter().map(|change| &change["verdict"]).collect();
    assert_eq!(verdicts.len(), 2, "the document that was made again is no change: {verdicts:?}");
    let units = changes[1]["changes"].to_string();
    assert!(units.contains("Boats up to 10 m") && !units.contains("digest"), "{:#}", changes[1]);

    let ask = |arguments: &[&str]| {
        let mut command = programs().command("recrawl");
        command.args(arguments);
        Process::start(command, crawl.directory.path()).finish()
    };
    let files = ["old.pdf", "new.pdf"].map(|name| crawl.directory.path().join(name).display().to_string());
    std::fs::write(&files[0], EDITIONS[0]).unwrap();
    std::fs::write(&files[1], EDITIONS[2]).unwrap();
    let read = ask(&["text", &files[0], "--format", "json"]).exits_with(0).json();
    assert_eq!((&read["kind"], &read["title"]), (&json!("html"), &json!("Rules")), "{read:#}");
    assert!(read["text"].as_str().unwrap().contains("17.50 EUR"), "{read:#}");
    let compared = ask(&["diff", &files[0], &files[1], "--format", "json"]);
    assert!(compared.stdout.contains("Boats up to 10 m"), "{}", compared.stdout);
    let exported = export(&crawl, &["contents"]).exits_with(0).stdout;
    assert!(exported.contains("14.50 EUR") && !exported.contains("17.50 EUR"), "{exported}");
}
