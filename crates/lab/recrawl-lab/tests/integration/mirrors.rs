//! `recrawl-lab mirrors`, as scripts call it.

use serde_json::json;
use std::fs::write;
use std::path::Path;
use tests::{Output, Process, programs};

fn mirrors(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = programs().command("recrawl-lab");
    command.arg("mirrors").args(arguments).current_dir(directory);
    Process::start(command, directory).finish()
}

#[test]
fn copies_are_found_by_their_links() {
    let directory = tempfile::tempdir().unwrap();
    let links = |site: usize| (0..40).map(|link| format!("https://{site}.test/{link}")).collect::<Vec<_>>();
    let page = |url: &str, site: usize| json!({"url": url, "links": links(site)}).to_string();
    let pages = [page("https://a.test/", 1), page("https://b.test/", 1), page("https://c.test/", 2)];
    write(directory.path().join("pages.jsonl"), pages.join("\n")).unwrap();
    let report = mirrors(directory.path(), &["pages.jsonl", "--format", "json"]).exits_with(0).json();
    assert_eq!(report["groups"], json!([["https://a.test/", "https://b.test/"]]));
    for method in report["methods"].as_array().unwrap() {
        assert!(method["comparisons"].as_u64() >= Some(1) && method["name"].is_string(), "{method}");
        assert_eq!(method["groups"], report["groups"]);
    }
    write(directory.path().join("bad.jsonl"), "{\"url\":\"x\",\"links\":[]}\n{}\n").unwrap();
    let bad = mirrors(directory.path(), &["bad.jsonl"]).exits_with(2);
    assert!(bad.stderr.contains("line 2") && bad.stderr.contains("url"), "{}", bad.stderr);
}
