//! A crawl names the limits of its sight: texts that are noise in all of their words, pages without text, pages that
//! robots.txt forbids, headers that go to no page.

use crate::site::serve;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use tests::{Crawl, SOON, programs, wait_for};

const LAMP: &str = "<p>The desk lamp is sold in the shop of the museum, and lasts for years.<p>It costs 24 euros.";

/// A number as a word.
fn base_26(number: u64) -> String {
    (0..5).map(|place| char::from(b'a' + (number / 26_u64.pow(place) % 26) as u8)).collect()
}

/// Six words that no other look shows.
fn other_words(look: u64) -> String {
    (0..6).map(|place| base_26((look * 6 + place) * 7_927)).collect::<Vec<_>>().join(" ")
}

fn answer(path: &str, looks: &AtomicU64) -> (&'static str, String) {
    match path {
        "/robots.txt" => ("text/plain", "User-agent: *\nDisallow: /cart # for people\n".to_owned()),
        "/lamp" => {
            let words = other_words(looks.fetch_add(1, Ordering::Relaxed));
            (
                "text/html",
                format!("<!doctype html><title>Lamp</title><h1>Lamp</h1>{LAMP}<h2>Quiz</h2><p>{words}<p>Bye."),
            )
        }
        "/picture" => ("text/html", "<!doctype html><title>Bill</title><img src=menu.png>".to_owned()),
        "/shell" => (
            "text/html",
            "<!doctype html><noscript>Turn on scripts.</noscript><div id=root></div><script>go()</script>".to_owned(),
        ),
        "/price.pdf" => ("application/pdf", "%PDF-1.7 \u{1}".to_owned()),
        _ => ("text/html", format!("<!doctype html><title>Shop</title><h1>Shop</h1>{LAMP}")),
    }
}

const RULES: &str = "[[rules]]\nname = \"shop\"\npages = [\"127.0.0.1\"]\ntrigger = [\"price below 20\"]\n\
                     min_interval = \"1s\"\nmax_interval = \"2s\"\nheaders = { Accept-Language = \"de\" }\n";

#[test]
fn a_crawl_says_what_it_cannot_see() {
    let looks = AtomicU64::new(0);
    let site = serve(move |path| answer(path, &looks));
    let url = |path: &str| format!("http://{site}{path}");
    let crawl = Crawl::default().with("politeness.crawl_delay", "0s").with("policy.least_worth", "5s");
    let paths = ["/lamp", "/picture", "/shell", "/price.pdf", "/shop", "/cart"];
    std::fs::write(crawl.seeds_file(), paths.map(url).join("\n")).unwrap();
    let file = crawl.directory.path().join("rules.toml");
    std::fs::write(&file, RULES).unwrap();
    let file = file.display().to_string();
    let process = crawl.run(&["--config", &file]);
    let page = |path: &str| -> Value { crawl.ask("page", &[&url(path)]).exits_with(0).json() };
    wait_for("the text of the quiz is known as noise", SOON, || {
        let asked = crawl.ask("page", &[&url("/lamp")]);
        // It is not known at first.
        asked.status.success() && asked.json()["places_passed_over"] == json!(1)
    });
    process.signal(libc::SIGINT);
    let said = process.finish().exits_with(0).stderr;

    let unread = |path: &str| page(path)["unread"].clone();
    assert_eq!(
        paths.map(unread),
        ["", "no_text", "no_text", "damaged", "", ""].map(|word| match word {
            "" => Value::Null,
            word => json!(word),
        })
    );
    for path in ["/picture", "/shell", "/price.pdf"] {
        let is_it = |line: &&str| line.contains("no text of a page is read") && line.contains(&url(path));
        assert_eq!(said.lines().filter(is_it).count(), 1, "{path}: {said}");
    }
    assert_eq!(page("/shop")["places_passed_over"], json!(0));
    let withheld = |url: &str| {
        format!(
            "rule shop does not send Accept-Language to {url}: headers may be secrets, and \"127.0.0.1\" does not name this scheme and \
             port; write \"http://{site}/*\" beside it in pages"
        )
    };
    let is_withheld = |line: &&str| line.contains(&withheld(&url("/lamp")));
    assert_eq!(said.lines().filter(is_withheld).count(), 1, "{said}");

    let checked: Value = crawl.ask("rules", &["--check", "--config", &file]).json();
    assert_eq!(checked["headers_not_sent"], json!([withheld(&url("/cart"))]), "{checked:#}");
    let mut command = programs().command("recrawl");
    command.args(["--format", "json", "rules", &url("/shop"), &file, "--config", &file]);
    let ruled: Value = tests::Process::start(command, crawl.directory.path()).finish().exits_with(0).json();
    assert_eq!(ruled["headers_not_sent"], json!(withheld(&url("/shop"))), "{ruled:#}");
    let of = |path: &str| {
        let pages = checked["pages"].as_array().unwrap();
        pages.iter().find(|page| page["url"] == json!(url(path))).cloned().unwrap_or_default()
    };
    assert_eq!((of("/lamp")["masked_as_noise"].clone(), of("/shop")), (json!(1), Value::Null), "{checked:#}");
    assert_eq!(of("/price.pdf")["unread"], json!("damaged"));

    let listed = |arguments: &[&str]| -> Vec<String> {
        let pages = crawl.ask("pages", arguments).exits_with(0).json();
        pages.as_array().unwrap().iter().map(|page| page["url"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(listed(&[]).len(), paths.len());
    assert_eq!(listed(&["--outcome", "robots_disallowed"]), [url("/cart")]);
    assert_eq!(listed(&["--never-fetched", "--seeds"]), [url("/cart")]);
    assert_eq!(listed(&["--contains", "PRICE"]), [url("/price.pdf")]);
    crawl.ask("pages", &["--rule", "no-such-rule"]).exits_with(2).says(&["no rule of the settings has this name"]);
    assert_eq!(listed(&["--top", "2"]).len(), 2);

    let explained = crawl.ask("explain", &[&url("/cart")]).exits_with(0).json();
    assert_eq!(explained["forbidden_by"], json!("Disallow: /cart"), "{explained:#}");
    assert_eq!(crawl.ask("explain", &[&url("/shop")]).exits_with(0).json()["forbidden_by"], Value::Null);
    let mut command = programs().command("recrawl");
    command.args(["explain", &url("/cart"), "--data"]).arg(crawl.data());
    let text = tests::Process::start(command, crawl.directory.path()).finish().exits_with(0).stdout;
    assert!(
        text.contains("robots.txt forbids it") && text.contains("\nrobots.txt           Disallow: /cart\n"),
        "{text}"
    );
}
