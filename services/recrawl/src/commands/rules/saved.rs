//! `recrawl rules --saved` and `--save`: the rules that operators have saved while a crawl runs.

use crate::CommandFailure;
use crate::stages::topologies;
use operate::state::CrawlState;
use operate::{Crawl, NewRules, Order};
use outputs::stdout::{Format, answer};
use serde::Serialize;
use settings::Settings;
use std::io::Read;
use std::path::Path;

/// A set of saved rules.
#[derive(Serialize)]
struct SavedRules {
    /// Number of the set; 0 without.
    number: i64,
    saved_at: Option<String>,
    saved_by: Option<String>,
    /// The rules as TOML.
    rules: String,
    /// Numbers of the sets that are kept.
    kept: Vec<i64>,
}

/// Prints a set of saved rules: the newest, or one that is kept. `--save` takes it, unless other rules are saved meanwhile.
pub(super) fn print(state: &dyn CrawlState, number: Option<i64>, format: Format) -> Result<(), CommandFailure> {
    let sets = state.saved_rules()?;
    let set = match number {
        None => sets.newest(),
        Some(number) => {
            let missing = || CommandFailure::No(format!("the saved rules {number} are not kept"));
            Some(sets.iter().find(|set| set.number == number).ok_or_else(missing)?)
        }
    };
    let newest = sets.number();
    let saved = SavedRules {
        number: set.map_or(0, |set| set.number),
        saved_at: set.map(|set| set.saved_at.to_string()),
        saved_by: set.and_then(|set| set.saved_by.clone()),
        rules: set.map(|set| set.text.clone()).unwrap_or_default(),
        kept: sets.iter().map(|set| set.number).collect(),
    };
    answer(format, &saved, |saved| match saved.number {
        0 => format!("# after {newest}\n# no rules are saved"),
        _ => format!("# after {newest}\n{}", saved.rules.trim_end()),
    })
}

/// Saves the rules of a file in place of those saved before.
pub(super) fn save(settings: &Settings, file: &Path, format: Format) -> Result<(), CommandFailure> {
    let failed = |error: std::io::Error| CommandFailure::Input(format!("{}: {error}", file.display()));
    let mut text = String::new();
    if file == Path::new("-") {
        std::io::stdin().read_to_string(&mut text).map_err(failed)?;
    } else {
        text = std::fs::read_to_string(file).map_err(failed)?;
    }
    let new = NewRules::read(&text)?;
    let names: Vec<String> = new.names().collect();
    Crawl::find(settings, None, &topologies(), "recrawl-rules")?.send(&Order::SaveRules(new))?;
    answer(format, &serde_json::json!({ "saved": names }), |_| match names.len() {
        0 => "saved: no rules".to_owned(),
        _ => format!("saved: {}", names.join(", ")),
    })
}
