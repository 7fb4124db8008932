//! `recrawl text` and `diff`.

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

#[test]
fn two_versions_are_compared() {
    let directory = tempfile::tempdir().unwrap();
    let page = |hours: &str, target: &str, nonce: u32| {
        let rest = "Bring your own cup and a friend who likes tea. ".repeat(6);
        format!(
            "<main><p>{rest}</p><p>Open {hours}.</p><p>See <a href={target}>the map</a>.</p></main><!-- {nonce} -->"
        )
    };
    write(directory.path().join("old.html"), page("from nine to five", "/map", 1)).unwrap();
    write(directory.path().join("new.html"), page("from ten to six", "/map2", 2)).unwrap();
    write(directory.path().join("noise.html"), page("from nine to five", "/map", 3)).unwrap();
    let ask = |new: &str| {
        let arguments = ["--format", "json", "diff", "old.html", new, "--url", "https://a.test/"];
        recrawl(directory.path(), &arguments).exits_with(0).json()
    };
    let diff = ask("new.html");
    assert!(["minor", "major"].contains(&diff["verdict"].as_str().unwrap()), "{diff:#}");
    assert!(diff["magnitude"].as_f64() > Some(0.0) && diff["containment"].as_f64() < Some(1.0));
    assert_eq!(diff["added"], json!(["Open from ten to six."]));
    assert_eq!(diff["removed"], json!(["Open from nine to five."]));
    let links = |name: &str| diff[name][0].as_str().unwrap().to_owned();
    assert!(links("links_added").contains("map2") && links("links_removed").ends_with("map"));
    assert_eq!(ask("old.html")["verdict"], "unchanged");
    assert_eq!(ask("noise.html")["verdict"], "cosmetic");
    let question = json!({"old": "old.html", "new": "new.html", "url": "https://a.test/"}).to_string();
    write(directory.path().join("questions.jsonl"), question).unwrap();
    let answers = lines(&recrawl(directory.path(), &["diff", "--batch", "questions.jsonl"]).exits_with(0));
    assert_eq!(answers, [diff]);
}
