//! `recrawl url`, `recrawl robots` and `recrawl sitemap`.

use crate::{lines, recrawl};
use serde_json::json;
use std::fs::write;

#[test]
fn addresses_are_taken_apart() {
    let directory = tempfile::tempdir().unwrap();
    let one = recrawl(directory.path(), &["--format", "json", "url", "HTTP://Example.CO.uk:80/a/../b#c"]);
    let one = one.exits_with(0).json();
    assert_eq!(one["canonical"], "http://example.co.uk/b");
    assert_eq!((&one["host"], &one["site_key"]), (&json!("example.co.uk"), &json!("example.co.uk")));
    assert_eq!(one["parsed"], "http://example.co.uk/b#c");

    let bad = recrawl(directory.path(), &["--format", "jsonl", "url", "http://a.test/", "ftp://a.test/"]);
    assert_eq!(bad.status.code(), Some(1), "one of them cannot be crawled");
    assert!(lines(&bad)[1]["error"].as_str().unwrap().contains("ftp"));

    let questions = directory.path().join("questions.jsonl");
    write(&questions, "{\"url\":\"b?c\",\"base\":\"http://a.test/x/y\"}\nnonsense\n{\"url\":\"http://b.test\"}\n")
        .unwrap();
    let answers = lines(&recrawl(directory.path(), &["url", "--batch", "questions.jsonl"]).exits_with(0));
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[0]["canonical"], "http://a.test/x/b?c");
    assert_eq!(answers[1]["line"], 2);
    assert!(answers[1]["error"].is_string());
    assert_eq!(answers[2]["canonical"], "http://b.test/");
}

#[test]
fn a_robots_file_is_asked_by_path_and_by_batch() {
    let directory = tempfile::tempdir().unwrap();
    let text =
        "User-agent: *\nDisallow: /private\nAllow: /private/open$\nCrawl-delay: 3\nSitemap: https://a.test/s.xml\n";
    write(directory.path().join("robots.txt"), text).unwrap();
    let ask = |paths: &[&str]| {
        let arguments = [&["--format", "json", "robots", "robots.txt", "--agent", "ExampleBot"], paths].concat();
        recrawl(directory.path(), &arguments)
    };
    let no = ask(&["/private/x"]);
    assert_eq!(no.status.code(), Some(1));
    assert_eq!(no.json()["allowed"], false);
    assert_eq!((&no.json()["rule"], &no.json()["line"]), (&json!("Disallow: /private"), &json!(2)));
    assert_eq!(no.json()["crawl_delay_s"], 3.0);
    assert_eq!(no.json()["sitemaps"], json!(["https://a.test/s.xml"]));
    let yes = ask(&["https://a.test/private/open"]).exits_with(0).json();
    assert_eq!((&yes["allowed"], &yes["line"]), (&json!(true), &json!(3)));
    // As a person writes it, and as a program sends it.
    assert_eq!(ask(&["/pri%76ate/ü \"x\" 100%"]).json()["allowed"], false);
    assert_eq!(ask(&["/open/../private/x"]).json()["allowed"], false);
    // It would match no rule, and look allowed.
    assert!(ask(&["private/x"]).exits_with(2).stderr.contains("\"/private/x\""));
    let several = ask(&["/", "/private"]);
    assert_eq!(several.json().as_array().unwrap().len(), 2);

    let questions = [
        json!({"file": "robots.txt", "agent": "x", "url": "http://a.test/private"}),
        json!({"robots": "User-agent: x\nDisallow: /", "agent": "X", "url": "/"}),
        json!({"agent": "x", "url": "/"}),
        json!({"file": "robots.txt", "agent": "x", "url": "/"}),
    ];
    let questions: String = questions.iter().map(|question| format!("{question}\n")).collect();
    write(directory.path().join("questions.jsonl"), questions).unwrap();
    let answers = lines(&recrawl(directory.path(), &["robots", "--batch", "questions.jsonl"]).exits_with(0));
    let allowed: Vec<_> = answers.iter().map(|answer| answer["allowed"].as_bool()).collect();
    assert_eq!(allowed, [Some(false), Some(false), None, Some(true)]);
    assert_eq!(answers[2]["line"], 3, "a bad line is named");
    let missing = recrawl(directory.path(), &["robots", "nowhere.txt", "--agent", "x", "/"]);
    assert!(missing.exits_with(2).stderr.contains("nowhere.txt"));
}

#[test]
fn a_sitemap_is_listed_with_its_problems() {
    let directory = tempfile::tempdir().unwrap();
    let file =
        "<urlset><url><loc>https://a.test/1</loc><lastmod>2026-11-21</lastmod><priority>9</priority></url></urlset>";
    write(directory.path().join("sitemap.xml"), file).unwrap();
    let sitemap = recrawl(directory.path(), &["--format", "json", "sitemap", "sitemap.xml"]).exits_with(0).json();
    assert_eq!(sitemap["kind"], "urlset");
    let entry = json!({
        "url": "https://a.test/1", "last_modified": "2026-11-21T00:00:00Z", "change_frequency": null, "priority": null
    });
    assert_eq!(sitemap["entries"], json!([entry]));
    assert_eq!(sitemap["problems"].as_array().unwrap().len(), 1);
    write(directory.path().join("page.html"), "<html></html>").unwrap();
    let none = recrawl(directory.path(), &["--format", "json", "sitemap", "page.html"]);
    assert_eq!((none.status.code(), &none.json()["kind"]), (Some(1), &json!(null)));
}
