//! The first screen: whether all is well, in a sentence, with the figures that people ask for.

use super::changes::{ChangeCard, cards};
use super::query::Query;
use super::{ScreenFailure, Source};
use crate::attention::{Trouble, percent, sentence, troubles};
use daemon::{OutcomeCount, Status};
use messages::word;
use serde::Serialize;

/// Changes on the first screen.
const CHANGES: usize = 5;

#[derive(Serialize)]
pub(super) struct Now {
    sentence: String,
    troubles: Vec<Trouble>,
    figures: Vec<Figure>,
    outcomes: Vec<Outcome>,
    /// Whether they are known. Over Kafka they are not.
    has_outcomes: bool,
    changes: Vec<ChangeCard>,
}

#[derive(Serialize)]
struct Figure {
    name: &'static str,
    value: String,
    note: String,
}

/// Requests that went alike.
#[derive(Serialize)]
pub(super) struct Outcome {
    class: String,
    kind: String,
    pub(super) count: u64,
    meaning: String,
    setting: Option<String>,
}

pub(super) fn gather(source: &Source<'_>, query: &str) -> Result<Now, ScreenFailure> {
    Query::read(query, &[])?;
    let status = source.crawl.status(source.state)?;
    let troubles = troubles(&status);
    Ok(Now {
        sentence: sentence(&status, &troubles),
        troubles,
        figures: figures(&status),
        outcomes: status.outcomes.iter().map(outcome).collect(),
        has_outcomes: status.fetch_rate_per_s.is_some(),
        changes: cards(source, CHANGES)?,
    })
}

fn figures(status: &Status) -> Vec<Figure> {
    let count = |count: Option<u64>| count.map_or("unknown".to_owned(), |count| count.to_string());
    let note = |number: Option<u64>, words: &str| number.map_or(String::new(), |number| format!("{number} {words}"));
    let rate = status.fetch_rate_per_s.map_or(String::new(), |rate| format!("{rate:.2} a second"));
    let mut figures = vec![
        Figure { name: "Pages", value: count(status.pages), note: note(status.never_fetched, "never fetched") },
        Figure { name: "Fetches", value: count(status.fetches_total), note: rate },
        Figure { name: "Changes", value: count(status.changes_total), note: String::new() },
        Figure { name: "Due", value: count(status.due), note: note(status.in_flight, "under way") },
    ];
    if let Some(fresh) = &status.calibrated_freshness {
        figures.push(Figure {
            name: "Freshness",
            value: percent(fresh.mean),
            note: format!(
                "{} to {} by {:.0} recent random looks",
                percent(fresh.low),
                percent(fresh.high),
                fresh.looks
            ),
        });
    } else if let Some(fresh) = status.estimated_freshness {
        let note = "expected; not checked by random looks yet".to_owned();
        figures.push(Figure { name: "Freshness", value: percent(fresh), note });
    }
    figures
}

pub(super) fn outcome(of: &OutcomeCount) -> Outcome {
    Outcome {
        class: word(&of.class).replace('_', " "),
        kind: of.outcome.clone(),
        count: of.count,
        meaning: of.meaning.clone(),
        setting: of.setting.clone(),
    }
}
