//! `recrawl rules`, and `recrawl diff` by rules.

use crate::recrawl;
use serde_json::json;
use std::fs::write;

const DOCS: &str = include_str!("../../docs/watch-rules.md");
const RULES: &str = "[[rules]]\nname = \"lamp\"\npages = [\"shop.test/lamp\"]\nwatch = [\".price\", \"#stock\"]\n\
                     ignore = [\"aside\"]\ntrigger = [\"price below 20\", \"in stock\", \"price falls\"]\n";

/// The first block of this language behind a place of the documentation.
fn block<'a>(behind: &'a str, language: &str) -> &'a str {
    let start = behind.split(&format!("```{language}\n")).nth(1).unwrap();
    start.split("```").next().unwrap()
}

#[test]
fn the_documented_answer_is_the_answer() {
    let directory = tempfile::tempdir().unwrap();
    let recipe = DOCS.split("### A price falls").nth(1).unwrap();
    write(directory.path().join("lamp.toml"), block(recipe, "toml")).unwrap();
    write(directory.path().join("lamp.html"), block(recipe, "html")).unwrap();
    let (command, answer) = block(recipe, "console").split_once('\n').unwrap();
    let arguments: Vec<&str> = command.split(' ').skip(2).collect();
    assert_eq!(recrawl(directory.path(), &arguments).exits_with(0).stdout, answer);
}

#[test]
fn a_rule_is_shown_with_what_it_sees() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path().join("rules.toml"), RULES).unwrap();
    let page = "<h1>Lamp</h1><p>Now <b class=price>19,90 €</b>, then <b class=price>18,90 €</b><aside>Ads</aside>";
    write(directory.path().join("page.html"), page).unwrap();
    let ask = |url: &str| {
        recrawl(directory.path(), &["--format", "json", "rules", url, "page.html", "--config", "rules.toml"])
    };
    let report = ask("http://shop.test/lamp#here").exits_with(0).json();
    assert_eq!((&report["rule"], &report["pattern"]), (&json!("lamp"), &json!("shop.test/lamp")));
    assert_eq!(
        report["watch"],
        json!([
            {"part": ".price", "found": 2, "texts": ["19,90 €", "18,90 €"], "left_out": 0},
            {"part": "#stock", "found": 0, "texts": [], "left_out": 0},
        ])
    );
    assert_eq!(report["ignore"], json!([{"part": "aside", "found": 1, "texts": ["Ads"], "left_out": 0}]));
    assert_eq!(
        report["triggers"],
        json!([
            {"trigger": "price below 20", "number": 19.9, "words": null, "holds": true},
            {"trigger": "in stock", "number": null, "words": false, "holds": false},
            {"trigger": "price falls", "number": 19.9, "words": null, "holds": false},
        ])
    );
    ask("http://shop.test/table").exits_with(1).says(&["none of the 1 rules names http://shop.test/table"]);
    let bad = RULES.replace(".price", "b:last-child");
    write(directory.path().join("rules.toml"), bad).unwrap();
    ask("http://shop.test/lamp")
        .exits_with(2)
        .says(&["rules.toml:4: rule 1: watch: \"b:last-child\"", "write :first-child"]);
}

#[test]
fn two_versions_are_compared_by_the_rule_of_their_page() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path().join("rules.toml"), RULES).unwrap();
    let page = |price: &str, news: &str| format!("<p>Now <b class=price>{price}</b><p>{news}<aside>{news}</aside>");
    write(directory.path().join("old.html"), page("24,90 €", "It rains.")).unwrap();
    write(directory.path().join("new.html"), page("19,90 €", "The sun shines.")).unwrap();
    let ask = |format: &str, url: &str| {
        let arguments = ["--format", format, "diff", "old.html", "new.html", "--config", "rules.toml", "--url", url];
        recrawl(directory.path(), &arguments).exits_with(0)
    };
    let diff = ask("json", "http://shop.test/lamp").json();
    assert_eq!((&diff["added"], &diff["removed"]), (&json!(["19,90 €"]), &json!(["24,90 €"])));
    assert_eq!((&diff["rule"], &diff["not_found"]), (&json!("lamp"), &json!(["#stock"])));
    assert_eq!(diff["triggers"], json!(["price below 20", "price falls"]));
    let text = ask("text", "http://shop.test/lamp").stdout;
    assert!(text.contains("! price below 20") && text.contains("? #stock is not on the page"), "{text}");
    let other = ask("json", "http://shop.test/table").json();
    assert_eq!((&other["rule"], &other["triggers"]), (&json!(null), &json!([])));
    assert!(other["added"].to_string().contains("The sun shines."), "{other:#}");
}

#[test]
fn what_decides_whether_a_page_is_crawled_is_shown_without_fetching_it() {
    let directory = tempfile::tempdir().unwrap();
    let config = "[crawl]\nurl_filters = [\"filter.txt\"]\n\n[[rules]]\nname = \"no cart\"\npages = [\"*/cart/*\"]\n\
                  crawl = \"deny\"\nmax_depth = 2\n";
    write(directory.path().join("rules.toml"), config).unwrap();
    write(directory.path().join("filter.txt"), "-\\.gif$\n+^https?://shop\\.test/\n").unwrap();
    let ask = |url: &str| recrawl(directory.path(), &["--format", "json", "rules", url, "--config", "rules.toml"]);
    let check = |url: &str, rule: serde_json::Value, crawled: bool, decided_by: &str| {
        let report = ask(url).exits_with(0).json();
        let reported = (&report["rule"], &report["crawled"], &report["decided_by"]);
        assert_eq!(reported, (&rule, &json!(crawled), &json!(decided_by)), "{url}");
    };
    check("http://shop.test/cart/1", json!("no cart"), false, "rule no cart denies it");
    check("http://shop.test/x.gif", json!(null), false, "line 1 of filter.txt decides: -\\.gif$");
    check("http://shop.test/", json!(null), true, "line 2 of filter.txt decides: +^https?://shop\\.test/");
    check("http://other.test/", json!(null), false, "no line of filter.txt allows it");
    let text = recrawl(directory.path(), &["rules", "http://shop.test/cart/1", "--config", "rules.toml"]);
    let shown = text.exits_with(0).stdout;
    assert!(shown.ends_with("\nnot crawled: rule no cart denies it\ncrawl = \"deny\"\nmax_depth = 2\n"), "{shown}");
    write(directory.path().join("filter.txt"), "shop.test\n").unwrap();
    ask("http://shop.test/").exits_with(2).says(&["filter.txt:1: \"shop.test\" begins with neither + nor -"]);
    std::fs::remove_file(directory.path().join("filter.txt")).unwrap();
    ask("http://shop.test/").exits_with(2).says(&["crawl.url_filters: cannot read filter.txt"]);
}
