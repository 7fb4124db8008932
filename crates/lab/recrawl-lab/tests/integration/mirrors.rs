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

#[test]
fn options_say_what_a_mirror_is() {
    let directory = tempfile::tempdir().unwrap();
    // 18 links of 22 in common, on hosts that each link to themselves.
    let page = |host: &str, first: u32| {
        let links: Vec<_> = (first..first + 20).map(|link| format!("https://{host}/{link}")).collect();
        json!({"url": format!("https://{host}/"), "links": links}).to_string()
    };
    let pages = [page("a.test", 0), page("b.test", 2), page("c.test", 100)];
    write(directory.path().join("pages.jsonl"), pages.join("\n")).unwrap();
    let groups = |arguments: &[&str]| {
        let arguments = [&["pages.jsonl", "--format", "json"], arguments].concat();
        mirrors(directory.path(), &arguments).exits_with(0).json()["groups"].as_array().unwrap().len()
    };
    assert_eq!(groups(&[]), 0);
    assert_eq!(groups(&["--threshold", ".8"]), 1);
    assert_eq!(groups(&["--threshold", ".8", "--own-host"]), 0);
    assert_eq!(groups(&["--threshold", ".8", "--more-than", "20"]), 0);
    assert_eq!(groups(&["--threshold", ".8", "--most-links", "19"]), 0);
    // Of the 16 windows of 5 links 14 are common, so 15 cannot all be the same.
    assert_eq!(groups(&["--method", "samples", "--shingle", "5", "--samples", "15", "--more-than", "8"]), 0);
    let by_host = ["pages.jsonl", "--threshold", ".8", "--by-host", "--method", "all-pairs"];
    let text = mirrors(directory.path(), &by_host).exits_with(0).stdout;
    assert!(text.contains("a.test 1 of 1 pages = b.test 1 of 1 pages"), "{text}");
    assert!(text.contains("all-pairs     3 comparisons, 1 groups"), "{text}");
    for (arguments, part) in [
        (["--threshold", "1.5"], "such as .8"),
        (["--most-links", "5"], "--least-links"),
        (["--method", "guess"], "all-pairs"),
    ] {
        let refused = mirrors(directory.path(), &[&["pages.jsonl"], &arguments[..]].concat()).exits_with(2);
        assert!(refused.stderr.contains(part), "{}", refused.stderr);
    }
}
