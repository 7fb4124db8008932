//! Tables of texts, of the triggers that see them, and whether these hold: `true`, `false`, or `unknown`.

use document::Body;
use settings::Rule;
use watch::{Sight, WatchRule};

/// The sight of a trigger on an element of a page.
fn sight(text: &str, trigger: &str) -> Sight {
    let rule = Rule {
        pages: vec!["*".to_owned()],
        watch: vec![".s".to_owned()],
        trigger: vec![trigger.to_owned()],
        ..Rule::default()
    };
    let rule = WatchRule::new(rule).unwrap_or_else(|faults| panic!("{trigger}: {faults:?}"));
    let html = format!("<!doctype html><meta charset=utf-8><h1>Lamp</h1><p class=s>{text}</p><p>20 €</p>");
    let body = Body::new(html.as_bytes(), Some("text/html; charset=utf-8"), None);
    rule.sights(&body.with_selection(rule.selection()).blocks())[0].1
}

/// Checks each row of a table.
fn check(table: &str) {
    let mut wrong = Vec::new();
    let rows: Vec<&str> = table.lines().skip(1).collect();
    for row in &rows {
        let [text, trigger, expected] =
            row.split('\t').collect::<Vec<_>>().try_into().expect("a row has three columns");
        let expected = match expected {
            "true" => Sight::Words(true),
            "false" => Sight::Words(false),
            "unknown" => Sight::Unclear,
            other => panic!("{other:?} in {row:?}"),
        };
        let seen = sight(text, trigger);
        if seen != expected {
            wrong.push(format!("{row}: {seen:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn phrases_of_a_review_are_understood() {
    check(include_str!("phrases/review.tsv"));
}

#[test]
fn english_phrases_are_understood() {
    check(include_str!("phrases/english.tsv"));
}

#[test]
fn words_that_are_not_about_stock_are_denied_alike() {
    check(include_str!("phrases/free.tsv"));
}

#[test]
fn phrases_as_shops_write_them_are_understood() {
    check(include_str!("phrases/shops.tsv"));
}

#[test]
fn stock_in_longer_sentences_is_understood() {
    check(include_str!("phrases/sentences.tsv"));
}

#[test]
fn germanic_phrases_are_understood() {
    check(include_str!("phrases/germanic.tsv"));
}

#[test]
fn romance_phrases_are_understood() {
    check(include_str!("phrases/romance.tsv"));
}

#[test]
fn slavic_phrases_are_understood() {
    check(include_str!("phrases/slavic.tsv"));
}

#[test]
fn phrases_of_other_languages_of_europe_are_understood() {
    check(include_str!("phrases/others.tsv"));
}

#[test]
fn asian_phrases_are_understood() {
    check(include_str!("phrases/asian.tsv"));
}
