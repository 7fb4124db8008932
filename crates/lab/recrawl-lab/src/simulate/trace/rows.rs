//! The rows of `recrawl simulate trace`, as objects and as a table.

use super::super::budget::BudgetArgument;
use super::super::columns;
use super::super::contenders::label;
use super::super::first_days::{self, FirstDays, first_days};
use super::super::lists::ListRow;
use super::{KnowledgeArgument, TraceArguments};
use policies::PolicyKind;
use serde::Serialize;
use simulate::metrics::{MissedExtent, Scores};
use simulate::trace::{LEARNING_DAYS, TraceReplay};

/// One policy at one budget.
#[derive(Debug, Serialize)]
pub(super) struct TraceRow {
    pub(super) policy: String,
    /// The preset, where it is a published system.
    pub(super) preset: Option<&'static str>,
    pub(super) estimator: String,
    pub(super) knowledge: &'static str,
    #[serde(rename = "static")]
    pub(super) frozen: bool,
    pub(super) budget_fetches_per_page_per_day: f64,
    pub(super) pages: usize,
    pub(super) fetches_spent: u64,
    pub(super) freshness: f64,
    pub(super) weighted_freshness: f64,
    /// Staleness weighted by the extent of what is missed, if the corpus has extents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) missed_extent: Option<MissedExtent>,
    pub(super) extent_share: f64,
    pub(super) age_days: f64,
    pub(super) over_30_days_share: f64,
    pub(super) budget_used_share: f64,
    pub(super) useful_fetches_share: f64,
    pub(super) changes: u64,
    pub(super) dates_share: f64,
    pub(super) lists: Option<ListRow>,
    pub(super) seed: u64,
    pub(super) draw: u64,
    pub(super) by_source: Vec<SourceRow>,
    /// For crawls that begin without knowledge.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) first_days: Vec<FirstDays>,
    #[serde(skip)]
    pub(super) budget: String,
    #[serde(skip)]
    pub(super) freshness_by_day: Vec<f64>,
}

#[derive(Debug, Serialize)]
pub(super) struct SourceRow {
    pub(super) source: String,
    pub(super) pages: usize,
    pub(super) freshness: f64,
    pub(super) age_days: f64,
    pub(super) fetches: u64,
}

impl TraceRow {
    pub(super) fn new(
        arguments: &TraceArguments,
        budget: &BudgetArgument,
        replay: &TraceReplay,
        scores: Scores,
    ) -> Self {
        let first_days = match arguments.knowledge {
            KnowledgeArgument::None => first_days(&scores, arguments.until.unwrap_or(LEARNING_DAYS)),
            KnowledgeArgument::Fetches | KnowledgeArgument::History => Vec::new(),
        };
        let by_source = scores.by_section.into_iter().map(|section| SourceRow {
            source: section.section,
            pages: section.pages,
            freshness: section.freshness,
            age_days: section.age_days,
            fetches: section.fetches,
        });
        TraceRow {
            policy: replay.contender.name(),
            preset: replay.contender.preset_name(),
            estimator: replay.estimator_name().to_owned(),
            knowledge: match arguments.knowledge {
                KnowledgeArgument::Fetches => "fetches",
                KnowledgeArgument::History => "history",
                KnowledgeArgument::None => "none",
            },
            frozen: arguments.frozen,
            budget_fetches_per_page_per_day: budget.fetches_per_page_per_day,
            pages: scores.pages,
            fetches_spent: scores.fetches,
            freshness: scores.freshness,
            weighted_freshness: scores.weighted_freshness,
            missed_extent: scores.missed_extent,
            extent_share: replay.contender.options.policy.extent_share,
            age_days: scores.age_days,
            over_30_days_share: scores.over_30_days_share,
            budget_used_share: scores.budget_used_share,
            useful_fetches_share: scores.useful_fetches_share,
            changes: scores.changes,
            dates_share: arguments.dates,
            lists: arguments.lists.map(ListRow::of),
            seed: arguments.seed,
            draw: arguments.draw,
            by_source: by_source.collect(),
            first_days,
            budget: budget.written.clone(),
            freshness_by_day: scored_days(scores.freshness_by_day, arguments.until),
        }
    }

    /// Name for people.
    pub(super) fn label(&self) -> String {
        label(&self.policy, self.preset)
    }

    pub(super) fn cells(&self) -> Vec<String> {
        let mut cells = vec![
            self.label(),
            self.estimator.clone(),
            self.budget.clone(),
            format!("{:.4}", self.freshness),
            format!("{:.4}", self.weighted_freshness),
            format!("{:.2}", self.age_days),
            format!("{:.2}", 100.0 * self.over_30_days_share),
            self.fetches_spent.to_string(),
            format!("{:.0}", 100.0 * self.budget_used_share),
        ];
        cells.extend(
            self.missed_extent
                .iter()
                .flat_map(|missed| [missed.largest, missed.together].map(|share| format!("{:.3}", 100.0 * share))),
        );
        cells.extend(first_days::cells(&self.first_days));
        cells
    }
}

/// The heads of the columns.
pub(super) fn head(rows: &[&TraceRow]) -> Vec<String> {
    let more = rows.iter().map(|row| &row.first_days[..]).find(|first_days| !first_days.is_empty());
    let missed: &[&str] = if rows.iter().any(|row| row.missed_extent.is_some()) { &MISSED_HEAD } else { &[] };
    let heads = HEAD.iter().chain(missed).map(ToString::to_string);
    heads.chain(first_days::heads(more.unwrap_or_default())).collect()
}

/// Sets each row's first days beside those of round robin at its budget.
pub(super) fn compare(rows: &mut [TraceRow]) {
    let round_robin: Vec<(String, Vec<FirstDays>)> = rows
        .iter()
        .filter(|row| row.policy == PolicyKind::Uniform.name())
        .map(|row| (row.budget.clone(), row.first_days.clone()))
        .collect();
    for row in rows {
        if let Some((_, first_days)) = round_robin.iter().find(|(budget, _)| *budget == row.budget) {
            row.first_days.iter_mut().zip(first_days).for_each(|(own, other)| own.compare(other));
        }
    }
}

/// The days of the scored time, which are the last ones.
fn scored_days(mut by_day: Vec<f64>, until: Option<f64>) -> Vec<f64> {
    let scored = until.unwrap_or(LEARNING_DAYS).ceil() as usize;
    by_day.split_off(by_day.len().saturating_sub(scored))
}

const HEAD: [&str; 9] = [
    "policy",
    "estimator",
    "budget",
    "freshness",
    "weighted",
    "age, days",
    "older than 30 d, %",
    "fetches",
    "budget used, %",
];

/// Where the corpus has extents: what a copy misses, if later changes hit the same part as the first, and if they do not.
const MISSED_HEAD: [&str; 2] = ["missed, %", "if apart, %"];

/// Rows by budget in the given order, and the freshest policy first.
pub(super) fn sorted(rows: &[TraceRow]) -> Vec<&TraceRow> {
    let mut budgets: Vec<&str> = Vec::new();
    for row in rows {
        if !budgets.contains(&row.budget.as_str()) {
            budgets.push(&row.budget);
        }
    }
    let place = |row: &TraceRow| budgets.iter().position(|budget| *budget == row.budget);
    let mut rows: Vec<&TraceRow> = rows.iter().collect();
    rows.sort_by(|one, other| place(one).cmp(&place(other)).then(other.freshness.total_cmp(&one.freshness)));
    rows
}

pub(super) fn table(rows: &[TraceRow]) -> String {
    let rows = sorted(rows);
    let cells: Vec<Vec<String>> = rows.iter().map(|row| row.cells()).collect();
    columns(&head(&rows), &cells, 3)
}

pub(super) fn single(row: &TraceRow) -> String {
    let sources: Vec<Vec<String>> = row
        .by_source
        .iter()
        .map(|source| {
            vec![
                source.source.clone(),
                source.pages.to_string(),
                format!("{:.4}", source.freshness),
                format!("{:.2}", source.age_days),
                source.fetches.to_string(),
            ]
        })
        .collect();
    format!(
        "{} ({}), {} at {} per page: freshness {:.4}, age {:.2} days over {} pages, {} fetches ({:.0} % of the budget)\n{}\n{}",
        row.label(),
        row.estimator,
        row.knowledge,
        row.budget,
        row.freshness,
        row.age_days,
        row.pages,
        row.fetches_spent,
        100.0 * row.budget_used_share,
        first_days::reported(&row.first_days),
        columns(&["source", "pages", "freshness", "age, days", "fetches"], &sources, 1)
    )
}
