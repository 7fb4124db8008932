//! `recrawl focus`.

use crate::{lines, recrawl};
use serde_json::json;
use std::fs::{create_dir, write};

const SAILING: [&str; 4] = [
    "<title>Reefing</title><p>Reef the mainsail before the wind grows, or the boat heels over its keel and the crew is busy.",
    "<title>Sails</title><p>A boat sails close to the wind with mainsail and jib, while the keel stops it from drifting off.",
    "<title>Jib</title><p>The jib steadies the boat, and the mainsail drives it; both are trimmed when the wind turns.",
    "<title>Keel</title><p>The keel of a boat holds it upright while wind fills the mainsail and the jib in front of it.",
];

#[test]
fn a_focus_is_learned_and_pages_are_scored_by_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    create_dir(path("examples")).unwrap();
    for (index, page) in SAILING.iter().enumerate() {
        write(path(&format!("examples/{index}.html")), page).unwrap();
    }
    write(path("bread.html"), "<title>Bread</title><p>Flour, water and salt, and a long rest before the oven is hot.")
        .unwrap();
    let learned =
        recrawl(directory.path(), &["focus", "learn", "--name", "sailing", "examples", "--against", "bread.html"]);
    let learned = learned.exits_with(0).stdout;
    assert!(learned.contains("name = \"sailing\"") && learned.contains("\nmainsail = 0."), "{learned}");
    write(path("focus.toml"), &learned).unwrap();

    let page = "<h1>A boat in the wind</h1><p>The mainsail was too large for that wind. <a href=/jib>Trim the jib</a>";
    write(path("page.html"), page).unwrap();
    let arguments = ["--format", "json", "focus", "score", "focus.toml", "bread.html", "page.html", "--links", "--url"];
    let scores = recrawl(directory.path(), &[&arguments[..], &["http://a.test/"]].concat()).exits_with(0).json();
    assert_eq!(
        (&scores[0]["title"], &scores[0]["relevant"]),
        (&json!("A boat in the wind"), &json!(true)),
        "{scores:#}"
    );
    assert_eq!((&scores[1]["title"], &scores[1]["relevant"]), (&json!("Bread"), &json!(false)), "{scores:#}");
    assert!(scores[0]["terms"].as_array().unwrap().contains(&json!("mainsail")), "{scores:#}");
    let link = &scores[0]["links"][0];
    assert!(link["url"] == "http://a.test/jib" && link["relevance"].as_f64() > Some(0.35), "{link}");

    let saved = format!("{}\n{}\n", json!({"file": "page.html"}), json!({"file": "nowhere"}));
    write(path("saved.jsonl"), saved).unwrap();
    let answers =
        lines(&recrawl(directory.path(), &["focus", "score", "focus.toml", "--batch", "saved.jsonl"]).exits_with(0));
    assert_eq!((&answers[0]["score"], &answers[1]["line"]), (&scores[0]["score"], &json!(2)));

    let other = learned.replace("segmenter = \"icu", "segmenter = \"old");
    write(path("other.toml"), other).unwrap();
    let refused = recrawl(directory.path(), &["focus", "score", "other.toml", "page.html"]).exits_with(2).stderr;
    assert!(refused.contains("other.toml, line 3") && refused.contains("learn the focus again"), "{refused}");
    write(path("bad.toml"), "format = 1\nname = \"x\"\n[terms.en]\nboat = -1\n").unwrap();
    let refused = recrawl(directory.path(), &["focus", "score", "bad.toml", "page.html"]).exits_with(2).stderr;
    assert!(refused.contains("bad.toml, line 4"), "{refused}");
    let refused = recrawl(directory.path(), &["focus", "score", "no-such", "page.html"]).exits_with(2).stderr;
    assert!(refused.contains("no-such") && refused.contains("focus list"), "{refused}");
    write(path("empty.html"), "<p>7</p>").unwrap();
    let refused = recrawl(directory.path(), &["focus", "learn", "--name", "x", "empty.html"]).exits_with(2).stderr;
    assert!(refused.contains("empty.html: no words"), "{refused}");
}

#[test]
fn classes_are_listed_with_seeds_and_score_pages_of_two_languages() {
    let directory = tempfile::tempdir().unwrap();
    let classes = recrawl(directory.path(), &["--format", "json", "focus", "list"]).exits_with(0).json();
    let sport = classes.as_array().unwrap().iter().find(|class| class["name"] == "sport").unwrap();
    assert!(sport["seeds"][0].is_string() && sport["terms"]["zh"].as_u64() > Some(20), "{sport}");
    let file = recrawl(directory.path(), &["focus", "list", "sport"]).exits_with(0).stdout;
    write(directory.path().join("mine.toml"), file).unwrap();
    write(
        directory.path().join("en.txt"),
        "The goalkeeper saved twice and the striker scored; their coach praised the team.",
    )
    .unwrap();
    write(directory.path().join("zh.txt"), "国家队的门将两次扑救，前锋打入一球，主教练赛后称赞了球员。").unwrap();
    for focus in ["sport", "mine.toml"] {
        let scores = recrawl(directory.path(), &["--format", "jsonl", "focus", "score", focus, "en.txt", "zh.txt"]);
        let scores = lines(&scores.exits_with(0));
        assert!(scores.len() == 2 && scores.iter().all(|score| score["relevant"] == true), "{scores:?}");
    }
    recrawl(directory.path(), &["focus", "list", "no-such"]).exits_with(2);
}
