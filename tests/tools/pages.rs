//! `recrawl text`.

use crate::{lines, recrawl};
use serde_json::json;
use std::fs::write;

#[test]
fn a_page_is_read_with_its_links_and_by_batch() {
    let directory = tempfile::tempdir().unwrap();
    let words = "The river rose over the bank that night, and the town moved its market to the hill. ".repeat(8);
    let page = format!(
        "<html lang=en><head><title>Flood</title><meta name=robots content=noarchive><link rel=canonical href=/flood>\
         <meta property=article:published_time content=2026-11-21></head><body><nav><a href=/>Home</a></nav>\
         <article><h1>Flood</h1><p>{words}<a rel=nofollow href=more?x>More</a></p></article></body></html>"
    );
    write(directory.path().join("page.html"), &page).unwrap();
    let address = "https://a.test/news/1";
    let read = recrawl(directory.path(), &["--format", "json", "text", "page.html", "--url", address]);
    let read = read.exits_with(0).json();
    assert_eq!((&read["title"], &read["language"]), (&json!("Flood"), &json!("en")));
    let (main, full) = (read["text"].as_str().unwrap(), read["full_text"].as_str().unwrap());
    assert!(main.contains("moved its market") && !main.contains("Home") && full.contains("Home"), "{main}");
    assert_eq!(read["links"][1]["url"], "https://a.test/news/more?x");
    assert_eq!((&read["links"][1]["anchor"], &read["links"][1]["rel"]), (&json!("More"), &json!("nofollow")));
    assert_eq!((&read["canonical"], &read["robots"]), (&json!("https://a.test/flood"), &json!(["noarchive"])));
    assert_eq!(read["dates"]["published"], "2026-11-21T00:00:00Z");
    assert!(read["charset"].is_string());

    let questions = format!("{}\n{}\n", json!({"file": "page.html", "url": address}), json!({"file": "nowhere"}));
    write(directory.path().join("questions.jsonl"), questions).unwrap();
    let answers = lines(&recrawl(directory.path(), &["text", "--batch", "questions.jsonl"]).exits_with(0));
    assert_eq!(answers[0], read);
    assert!(answers[1]["error"].as_str().unwrap().contains("nowhere"));
}
