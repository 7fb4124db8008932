//! The export of contents: all copies at first, then one line for each page that is new, changed or removed.

use crate::archives::export;
use crate::site::serve;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tests::Crawl;

fn lines(crawl: &Crawl, further: &[&str]) -> Vec<Value> {
    let output = export(crawl, &[&["contents"], further].concat()).exits_with(0);
    output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn urls(lines: &[Value]) -> Vec<&str> {
    let mut urls: Vec<_> = lines.iter().map(|line| line["url"].as_str().unwrap()).collect();
    urls.sort_unstable();
    urls
}

#[test]
fn contents_are_all_copies_and_then_those_of_pages_that_are_new_changed_or_removed() {
    for kept in ["text", "body"] {
        let edition = Arc::new(AtomicUsize::new(0));
        let shown = Arc::clone(&edition);
        let address = serve(move |path| {
            let edition = shown.load(Ordering::SeqCst);
            let changing = if path == "/lamp" { edition } else { 0 };
            let text = format!("The lamp gives a warm light, and it costs {} crowns in all our shops.", 40 - changing);
            (
                "text/html",
                format!("<html lang=en><title>Goods {path}</title><nav>Menu</nav><main><h1>Goods</h1><p>{text}</main>"),
            )
        });
        let url = |path: &str| format!("http://{address}{path}");
        let crawl = Crawl::default()
            .with("politeness.crawl_delay", "0s")
            .with("policy.min_interval", "1d")
            .with("crawl.discover", "none")
            .with("detector.contents", kept);
        let run = |further: &[&str]| crawl.ask("run", &[&["--until-idle"], further].concat()).exits_with(0);
        run(&[&url("/lamp"), &url("/chair")]);

        let all = lines(&crawl, &[]);
        assert_eq!(urls(&all), [url("/chair"), url("/lamp")], "{all:#?}");
        for line in &all {
            assert_eq!(
                (&line["deleted"], &line["verdict"], &line["version"]),
                (&false.into(), &"first".into(), &1.into())
            );
            assert!(line["title"].as_str().unwrap().starts_with("Goods /"), "{line:#}");
            assert_eq!(line["language"], "en", "{line:#}");
            let text = line["text"].as_str().unwrap();
            assert!(text.contains("costs 40 crowns"), "{line:#}");
            // The main text of a body is without its menu; a kept text is all that is visible.
            assert_eq!(text.contains("Menu"), kept == "text", "{line:#}");
        }
        // The list is complete where a line has a cursor.
        assert_eq!(all[0]["cursor"], Value::Null, "{all:#?}");
        let cursor = all[1]["cursor"].as_str().unwrap().to_owned();
        assert_eq!(lines(&crawl, &["--cursor", &cursor]), [Value::Null; 0]);
        assert_eq!(lines(&crawl, &["--host", "other.test"]), [Value::Null; 0]);
        let part = lines(&crawl, &["--limit", "1"]);
        assert_eq!((part.len(), &part[0]["cursor"]), (1, &Value::Null), "{part:#?}");

        // Each edition is looked at twice: a difference within minutes is held back until it has lasted.
        for look in 1..6 {
            edition.store(look / 2, Ordering::SeqCst);
            crawl.ask("refetch", &[&url("/lamp")]).exits_with(0);
            run(&[]);
        }
        run(&[&url("/bell")]);
        crawl.ask("forget", &[&url("/chair")]).exits_with(0);
        run(&[]);
        let news = lines(&crawl, &["--cursor", &cursor]);
        assert_eq!(urls(&news), [url("/bell"), url("/chair"), url("/lamp")], "each once: {news:#?}");
        let of = |path: &str| news.iter().find(|line| line["url"] == *url(path)).unwrap();
        assert_eq!((&of("/chair")["deleted"], &of("/chair")["verdict"]), (&true.into(), &"forgotten".into()));
        assert_eq!((&of("/chair")["text"], &of("/bell")["version"]), (&Value::Null, &1.into()));
        assert!(of("/lamp")["text"].as_str().unwrap().contains("costs 38 crowns"), "as it is now: {news:#?}");
        let last = news.iter().map(|line| line["cursor"].as_str().unwrap()).next_back().unwrap();
        assert_eq!(lines(&crawl, &["--cursor", last]), [Value::Null; 0]);
        assert_eq!(urls(&lines(&crawl, &[])), [url("/bell"), url("/lamp")]);
        export(&crawl, &["contents", "--since", "2026-11-21"]).exits_with(2).says(&["--since"]);
    }
}
