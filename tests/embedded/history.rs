//! The versions of a page that a crawl has kept, as commands show them.

use crate::site::serve;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tests::Crawl;

/// The price of the lamp, how it is made, and whether it can be had, one after the other.
const EDITIONS: [[&str; 3]; 4] = [
    ["It costs 40 crowns today.", "Made by hand in a small village.", "It can be sent to you tomorrow."],
    ["It costs 25 crowns today.", "Made by hand in a small village.", "It can be sent to you tomorrow."],
    ["It costs 25 crowns today.", "Made by machines in a large town.", "It can be sent to you tomorrow."],
    ["It costs 25 crowns today.", "Made by machines in a large town.", "It can no longer be sent to you."],
];

/// A crawl that has fetched the page twice in each of the first editions. The second look confirms a change that the detector held
/// at the first.
fn crawl(kept: &str, editions: usize) -> (Crawl, String) {
    let edition = Arc::new(AtomicUsize::new(0));
    let shown = Arc::clone(&edition);
    let address = serve(move |_| {
        let [price, made, stock] = EDITIONS[shown.load(Ordering::SeqCst)];
        let text = "<title>The lamp</title><h1>A lamp of brass</h1><p>It gives a warm light and lasts for years.";
        ("text/html", format!("{text}<p class=price>{price}<p>{made}<p>{stock}"))
    });
    let url = format!("http://{address}/lamp");
    let crawl = Crawl::default().with("politeness.crawl_delay", "0s").with("detector.contents", kept);
    crawl.ask("run", &[&url, "--until-idle"]).exits_with(0);
    for look in 1..2 * editions {
        edition.store(look / 2, Ordering::SeqCst);
        crawl.ask("refetch", &[&url]).exits_with(0);
        crawl.ask("run", &["--until-idle"]).exits_with(0);
    }
    (crawl, url)
}

#[test]
fn versions_of_a_page_are_listed_read_and_compared_and_go_when_it_is_forgotten() {
    let (crawl, url) = crawl("text", 4);
    let history = crawl.ask("history", &[&url]).exits_with(0).json();
    let facts: Vec<_> = history
        .as_array()
        .unwrap()
        .iter()
        .map(|version| (version["number"].as_u64(), version["is_last"].as_bool()))
        .collect();
    let version = |number, is_last| (Some(number), Some(is_last));
    assert_eq!(facts, [version(1, false), version(2, false), version(3, false), version(4, true)]);
    let looks: i64 = history.as_array().unwrap().iter().map(|version| version["looks"].as_i64().unwrap()).sum();
    assert_eq!(looks, crawl.ask("page", &[&url]).exits_with(0).json()["fetches"].as_i64().unwrap());
    assert_eq!((&history[0]["verdict"], &history[0]["title"]), (&"first".into(), &"The lamp".into()));
    let changes = crawl.ask("changes", &[]).exits_with(0).stdout;
    let of_history = history.as_array().unwrap().iter().map(|version| version["change_id"].as_str().unwrap());
    assert!(of_history.clone().all(|id| changes.contains(id)), "{changes}");
    let text = crawl.ask("history", &[&url, "--format", "text"]).exits_with(0).stdout;
    assert_eq!(text.lines().count(), 5, "{text}");
    assert!(text.lines().all(|line| !line.ends_with(' ')) && text.contains("The lamp"), "{text}");

    let page = |number: &str| crawl.ask("page", &[&url, "--text", "--version", number]);
    for (number, edition) in (1..).zip(EDITIONS) {
        let shown = page(&number.to_string()).exits_with(0).stdout;
        assert!(edition.iter().all(|sentence| shown.contains(sentence)), "{shown}");
    }
    page("5").exits_with(1).says(&["no version 5 of", "recrawl history"]);
    crawl.ask("page", &[&url, "--version", "1"]).exits_with(2).says(&["--version needs --text or --body"]);

    let diff = |numbers: &[&str]| crawl.ask("diff", &[&[&*url], numbers].concat());
    let changed = |numbers: &[&str]| -> Vec<[String; 2]> {
        let diff = diff(numbers).exits_with(0).json();
        let units = diff["changes"].as_array().unwrap().iter();
        units.map(|unit| ["before", "after"].map(|side| unit[side].as_str().unwrap_or_default().to_owned())).collect()
    };
    let differ = |places: &[usize], [old, new]: [usize; 2]| -> Vec<[String; 2]> {
        places.iter().map(|place| [old, new].map(|version| EDITIONS[version - 1][*place].to_owned())).collect()
    };
    assert_eq!(changed(&["1", "3"]), differ(&[0, 1], [1, 3]));
    assert_eq!(changed(&["3", "1"]), differ(&[0, 1], [3, 1]));
    assert_eq!(changed(&["2"]), differ(&[1, 2], [2, 4]), "with the last one");
    let shown = diff(&["1", "4", "--html"]).exits_with(0).stdout;
    assert!(shown.contains("<bdi>version 1</bdi>") && shown.contains("costs <del>40</del> crowns"), "{shown}");
    diff(&["1", "9"]).exits_with(1).says(&["no version 9 of"]);
    crawl.ask("diff", &["a.html", "b.html"]).exits_with(2).says(&["a URL and their numbers"]);

    crawl.ask("forget", &[&url]).exits_with(0);
    crawl.ask("run", &["--until-idle"]);
    crawl.ask("history", &[&url]).exits_with(1).says(&["was forgotten at"]);
    page("2").exits_with(1);
    crawl.ask("history", &["http://nowhere.test/"]).exits_with(1).says(&["is not known in this crawl"]);
}

#[test]
fn versions_that_are_kept_as_received_are_compared_by_the_rule_of_their_page() {
    let (crawl, url) = crawl("body", 3);
    let shown = crawl.ask("page", &[&url, "--body", "--version", "2"]).exits_with(0).stdout;
    assert!(shown.contains("<p class=price>It costs 25"), "{shown}");
    let rules = crawl.directory.path().join("rules.toml");
    std::fs::write(
        &rules,
        "[[rules]]\nname = \"cheap\"\npages = [\"*\"]\nwatch = [\".price\"]\ntrigger = [\"price below 28\"]\n",
    )
    .unwrap();
    let diff = |numbers: [&str; 2]| {
        let arguments = [&*url, numbers[0], numbers[1], "--config", rules.to_str().unwrap()];
        crawl.ask("diff", &arguments).exits_with(0).json()
    };
    let [cheaper, as_cheap] = [diff(["1", "2"]), diff(["2", "3"])];
    assert_eq!((&cheaper["rule"], &cheaper["triggers"][0]), (&"cheap".into(), &"price below 28".into()), "{cheaper:#}");
    assert!(as_cheap["triggers"].as_array().unwrap().is_empty(), "{as_cheap:#}");
}
