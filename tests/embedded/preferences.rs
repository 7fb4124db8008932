//! Preferences of owners, from robots.txt, headers and pages to every output.

use crate::archives::{export, lines};
use crate::site::{answer, serve_answers};
use serde_json::Value;
use tests::{Crawl, Output};

const ROBOTS: &str = "User-agent: *\nContent-Usage: /train train-ai=n\nContent-Signal: ai-input=no\nDisallow: /private\n\
    User-agent: otherbot\nContent-Usage: / search=n\nLicense: https://license.test/l.xml\n";

fn urls(output: &Output) -> Vec<String> {
    let mut urls: Vec<_> = lines(output).iter().map(|line| line["url"].as_str().unwrap().to_owned()).collect();
    urls.sort_unstable();
    urls
}

#[test]
fn preferences_of_owners_are_in_every_output_and_leave_pages_out_of_uses() {
    let address = serve_answers(|request| {
        let page = |head: &str| format!("<html><head>{head}<title>A</title></head><p>Words of {}.", request.path());
        let html = |header: &str, body: String| answer(&format!("200 OK\r\ncontent-type: text/html{header}"), body);
        match request.path() {
            "/robots.txt" => answer("200 OK\r\ncontent-type: text/plain", ROBOTS),
            "/train" => html("", page("")),
            "/hidden" => html("\r\nX-Robots-Tag: otherbot: nofollow, recrawl: noindex", page("")),
            "/reserved" => html("\r\nTDM-Reservation: 0", page("<meta name=tdm-reservation content=1>")),
            "/alone" => html("", page("<meta name=Recrawl content=nofollow>") + "<a href=/secret>secret</a>"),
            "/open" => html("", page("<meta name=otherbot content=none>") + "<a href=/found>found</a>"),
            "/found" => html("\r\nContent-Usage: search=y", page("")),
            _ => answer("404 Not Found", ""),
        }
    });
    let url = |path: &str| format!("http://{address}{path}");
    let crawl = Crawl::default()
        .with("politeness.crawl_delay", "0s")
        .with("policy.min_interval", "1d")
        .with("crawl.discover", "same-host")
        .with("fetch.record_heads", "true")
        .with("log.retention_results", "1d");
    let seeds = ["/train", "/hidden", "/reserved", "/alone", "/open"].map(&url);
    let seeds: Vec<_> = seeds.iter().map(String::as_str).collect();
    crawl.ask("run", &[&["--until-idle"], &seeds[..]].concat()).exits_with(0);

    let common = ["ai-input=n@robots.txt:content-signal", "license=https://license.test/l.xml@robots.txt:license"];
    let expected = |path: &str| -> Vec<&str> {
        let own = match path {
            "/train" => "train-ai=n@robots.txt:content-usage",
            "/hidden" => "index=n@x-robots-tag",
            "/reserved" => "tdm=n@meta:tdm-reservation",
            "/alone" => "follow=n@meta:own-name",
            "/found" => "search=y@content-usage",
            _ => "",
        };
        let mut list = [&[own], &common[..]].concat();
        list.retain(|entry| !entry.is_empty());
        list.sort_unstable();
        list
    };
    let said = |line: &Value| -> Vec<String> {
        let list = line["preferences"].as_array().unwrap_or_else(|| panic!("no preferences in {line:#}"));
        let mut list: Vec<_> = list.iter().map(|entry| entry.as_str().unwrap().to_owned()).collect();
        list.sort_unstable();
        list
    };
    let pages = ["/alone", "/found", "/hidden", "/open", "/reserved", "/train"];
    for path in pages {
        assert_eq!(said(&crawl.ask("page", &[&url(path)]).exits_with(0).json()), expected(path), "page {path}");
    }
    // The secret page is not known: the link to it stands on a page that says so.
    crawl.ask("page", &[&url("/secret")]).exits_with(1);
    for output in [crawl.ask("changes", &[]), export(&crawl, &["jsonl"]), export(&crawl, &["contents"])] {
        let all = lines(&output.exits_with(0));
        let of = |path: &str| {
            let found = all.iter().find(|line| line["url"] == *url(path));
            found.unwrap_or_else(|| panic!("no {path} in {all:#?}"))
        };
        for path in pages {
            assert_eq!(said(of(path)), expected(path), "{path}");
        }
    }
    let without = |left_out: &[&str]| -> Vec<String> {
        pages.iter().filter(|path| !left_out.contains(path)).map(|path| url(path)).collect()
    };
    for (uses, left_out) in
        [("search", &["/hidden"][..]), ("train-ai", &["/reserved", "/train"]), ("index,tdm", &["/hidden", "/reserved"])]
    {
        let says = format!("{} pages left out, whose owners disallow", left_out.len());
        let contents = export(&crawl, &["contents", "--uses", uses]).exits_with(0).says(&[&says]);
        assert_eq!(urls(&contents), without(left_out), "{uses}");
        let changes = crawl.ask("changes", &["--uses", uses]).exits_with(0).says(&[&says.replace("pages", "changes")]);
        assert_eq!(urls(&changes), without(left_out), "{uses}");
        let fetches =
            export(&crawl, &["jsonl", "--uses", uses]).exits_with(0).says(&[&says.replace("pages", "results")]);
        assert_eq!(urls(&fetches), without(left_out), "{uses}");
    }
    assert!(urls(&export(&crawl, &["contents", "--uses", "ai-input"]).exits_with(0)).is_empty());
    crawl.ask("changes", &["--uses", "fly"]).exits_with(2).says(&["fly is no use; write some of index, "]);
}
