//! Crawls of saved pages for a focus.

use super::{json, number, refused};
use std::fmt::Write as _;
use std::path::Path;

/// Five pages: the seed links to two in the focus and two others.
fn saved_pages(directory: &Path, has_seed: bool) -> String {
    let page = |title: &str, body: &str| format!("<title>{title}</title><p>{body}</p>");
    let seed = ["goalkeeper wins the league", "boil the rice", "coach and striker", "fry the onions"];
    let links = seed.iter().enumerate().map(|(n, words)| format!("<p><a href=\"/{n}\">{words}</a></p>"));
    let sport = "The goalkeeper, the striker and their coach won the football league, the match and the cup.";
    let kitchen = "Boil the rice, fry the onions and serve them with butter.";
    let mut lines = String::new();
    let mut add = |name: &str, html: String, is_relevant: bool| {
        std::fs::write(directory.join(name), html).unwrap();
        let is_seed = has_seed && name == "seed";
        writeln!(
            lines,
            r#"{{"file":"{name}","url":"http://a.test/{name}","relevant":{is_relevant},"seed":{is_seed}}}"#
        )
        .unwrap();
    };
    add("seed", page("All", &links.collect::<String>()), false);
    for (number, words) in seed.iter().enumerate() {
        let is_relevant = number % 2 == 0;
        add(&number.to_string(), page(words, if is_relevant { sport } else { kitchen }), is_relevant);
    }
    let file = directory.join("pages.jsonl");
    std::fs::write(&file, lines).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn a_focused_crawl_of_saved_pages_finds_those_on_the_focus_first() {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("focus.html");
    let pages = saved_pages(directory.path(), true);
    let arguments =
        ["focus", "--pages", &pages, "--focus", "sport", "--at", "3,5", "--report", report.to_str().unwrap()];
    let rows = json(&arguments);
    let row = |order: &str| rows.as_array().unwrap().iter().find(|row| row["order"] == order).unwrap().clone();
    for (order, rate, recall) in
        [("breadth-first", 1.0 / 3.0, 0.5), ("recrawl", 2.0 / 3.0, 1.0), ("oracle", 2.0 / 3.0, 1.0)]
    {
        let points = &row(order)["points"];
        assert!((number(&points[0], "harvest_rate") - rate).abs() < 1e-9, "{order}: {points}");
        assert_eq!(number(&points[0], "target_recall"), recall, "{order}");
        assert_eq!(number(&row(order), "fetches"), 5.0);
    }
    assert!(std::fs::read_to_string(report).unwrap().contains("<figure id=\"harvest\">"));
}

#[test]
fn pages_that_cannot_be_crawled_for_a_focus_are_refused_with_the_reason() {
    let directory = tempfile::tempdir().unwrap();
    let pages = saved_pages(directory.path(), false);
    let check = |arguments: &[&str], words: &str| {
        let (status, said) = refused(&[&["focus"], arguments].concat());
        assert!(status == 2 && said.contains(words), "{status}: {said}");
    };
    check(&["--pages", &pages, "--focus", "sport"], "no page has \"seed\": true");
    check(&["--pages", &pages], "--focus");
    check(&["--pages", &pages, "--focus", "sports"], "sports");
    saved_pages(directory.path(), true);
    check(&["--pages", &pages, "--focus", "sport", "--at", "6"], "--at: 6 is not from 1 to 5");
    std::fs::write(&pages, "{\"file\":\"seed\"}\n").unwrap();
    check(&["--pages", &pages, "--focus", "sport"], "line 1: missing field `url`");
}
