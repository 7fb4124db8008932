//! The recipes of docs/watch-rules.md, run as they are written there.

use crate::bench::Bench;
use messages::{FetchOutcome, PageChange};
use page::CanonicalUrl;

const DOCS: &str = include_str!("../../../../docs/watch-rules.md");

/// The blocks of code behind a heading, each with its language.
fn blocks(recipe: &str) -> Vec<(&str, &str)> {
    let pieces: Vec<&str> = recipe.split("```").collect();
    let code = pieces.chunks(2).filter_map(|pair| pair.get(1));
    code.map(|block| block.split_once('\n').unwrap()).collect()
}

fn reported(change: Option<PageChange>) -> String {
    let Some(change) = change else { return String::new() };
    let fired = change.triggers.iter().map(|trigger| format!("! {trigger}\n"));
    let units = change.changes.iter().flat_map(|unit| {
        [('-', &unit.before), ('+', &unit.after)].map(|(sign, text)| match text {
            Some(text) => format!("{sign} {text}\n"),
            None => String::new(),
        })
    });
    fired.chain(units).collect()
}

/// A page that the first pattern of a rule names.
fn page_of(rule: &str) -> CanonicalUrl {
    let pattern = rule.split("pages = [\"").nth(1).unwrap().split('"').next().unwrap();
    CanonicalUrl::parse(&format!("https://{}", pattern.replace('*', "1"))).unwrap()
}

#[test]
fn every_recipe_reports_what_it_says() {
    let recipes: Vec<&str> = DOCS.split("## Recipes").nth(1).unwrap().split("\n### ").skip(1).collect();
    assert_eq!(recipes.len(), 5);
    for recipe in recipes {
        let name = recipe.lines().next().unwrap();
        let blocks = blocks(recipe);
        assert_eq!(blocks[0].0, "toml", "{name}: a recipe begins with its rule");
        assert!(blocks.iter().any(|(language, _)| *language == "text"), "{name}: a recipe says what is told");
        let (mut bench, url) = (Bench::configured(blocks[0].1), page_of(blocks[0].1));
        let mut last = None;
        for (language, code) in blocks[1..].iter().filter(|(language, _)| *language != "console") {
            if *language == "text" {
                assert_eq!(reported(last.take()), *code, "{name}");
                continue;
            }
            let mut result = bench.answer(FetchOutcome::Fetched, Some(code));
            (result.look.page_id, result.look.url) = (url.page_id(), url.clone());
            let kind = if *language == "json" { "application/json" } else { "text/html; charset=utf-8" };
            result.content_type = Some(kind.to_owned());
            last = bench.see_result(&result).change;
        }
    }
}
