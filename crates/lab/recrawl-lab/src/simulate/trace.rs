//! `recrawl simulate trace`: compares policies on real change times. Each source covers two years; the second is
//! scored, or the first for a crawl that begins without knowledge.

mod plots;

use self::plots::report;
use super::budget::BudgetArgument;
use super::corpus;
use super::first_days::{self, FirstDays, first_days};
use super::jobs;
use super::lists::{ListRow, list_rules};
use clap::{Args, ValueEnum};
use outputs::stdout::{Format, answer, print};
use policies::PolicyKind;
use recrawl::CommandFailure;
use serde::Serialize;
use simulate::metrics::{MissedExtent, Scores};
use simulate::trace::{Cut, JudgedTrace, Knowledge, LEARNING_DAYS, TraceReplay};
use std::path::{Path, PathBuf};

/// Arguments of `recrawl simulate trace`.
#[derive(Args, Debug)]
pub(super) struct TraceArguments {
    /// Corpus directory, with pages.csv.zst and changes.csv.zst (or the same without .zst).
    directory: PathBuf,
    /// Fetches per page and day over all judged pages: 1/15d, 1/3, 0.0667. Separate several by commas.
    #[arg(long, value_delimiter = ',', default_value = "1/15d")]
    budget: Vec<BudgetArgument>,
    /// Policies, separated by commas, or `all`. `recrawl simulate list` names them.
    #[arg(long, value_delimiter = ',', default_value = "live")]
    policy: Vec<String>,
    /// Estimator of change rates, for policies that leave it open. Defaults to the policy's own choice.
    #[arg(long)]
    estimator: Option<String>,
    /// Knowledge at the start of the scored time.
    #[arg(long, value_enum, default_value_t = KnowledgeArgument::Fetches)]
    knowledge: KnowledgeArgument,
    /// Learns only from the history, not from the schedule's own fetches.
    #[arg(long = "static")]
    frozen: bool,
    /// Gives idle slots of policies that wait for due dates, such as stormcrawler, to the page due earliest. Their rows
    /// are named so: stormcrawler+fill.
    #[arg(long)]
    fill: bool,
    /// Share of the pages that state at every look, also the first, when they last changed.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    dates: f64,
    /// Most pages per source: those with the smallest hash of source and path.
    #[arg(long, default_value_t = 1500)]
    max_per_source: usize,
    /// Selects other pages where a source has more than that.
    #[arg(long, default_value_t = 1)]
    draw: u64,
    /// Only this source. May be repeated.
    #[arg(long)]
    source: Vec<String>,
    /// Draws page weights from a Pareto distribution of this shape, such as 1.2. By default all weights are equal.
    #[arg(long, value_name = "SHAPE")]
    pareto: Option<f64>,
    /// Share of a change's value that follows its extent, 0 to 1, for `live`: as policy.extent_share. For a corpus with extents,
    /// such as `recrawl detect --trace` writes.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    extent_share: f64,
    /// Share of the sites that list their pages with the times of their last changes, and the share of these times that
    /// stand for a change, and of changes that move them. Looks at lists cost fetches. Only `live` reads lists.
    #[arg(long, value_name = "SHARE[:PRECISION[:RECALL]]", value_parser = list_rules)]
    lists: Option<simulate::lists::ListRules>,
    /// Scores only the first days of a crawl without knowledge.
    #[arg(long, value_name = "DAYS")]
    until: Option<f64>,
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    threads: super::ThreadsArgument,
    /// Writes an HTML page with plots and tables.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

/// Knowledge of a policy at the start of the scored time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KnowledgeArgument {
    /// The results of its own fetches in the learning year, at the same budget.
    Fetches,
    /// Every change of the learning year, as if imported.
    History,
    /// Nothing. The crawl begins with a current copy of every page, which costs no fetch, and its first year is scored.
    None,
}

/// One policy at one budget.
#[derive(Debug, Serialize)]
struct TraceRow {
    policy: String,
    estimator: String,
    knowledge: &'static str,
    #[serde(rename = "static")]
    frozen: bool,
    budget_fetches_per_page_per_day: f64,
    pages: usize,
    fetches_spent: u64,
    freshness: f64,
    weighted_freshness: f64,
    /// Staleness weighted by the extent of what is missed, if the corpus has extents.
    #[serde(skip_serializing_if = "Option::is_none")]
    missed_extent: Option<MissedExtent>,
    extent_share: f64,
    age_days: f64,
    over_30_days_share: f64,
    budget_used_share: f64,
    useful_fetches_share: f64,
    changes: u64,
    dates_share: f64,
    lists: Option<ListRow>,
    seed: u64,
    draw: u64,
    by_source: Vec<SourceRow>,
    /// For crawls that begin without knowledge.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    first_days: Vec<FirstDays>,
    #[serde(skip)]
    budget: String,
    #[serde(skip)]
    freshness_by_day: Vec<f64>,
}

#[derive(Debug, Serialize)]
struct SourceRow {
    source: String,
    pages: usize,
    freshness: f64,
    age_days: f64,
    fetches: u64,
}

/// Runs every policy at every budget.
pub(super) fn trace(arguments: &TraceArguments, format: Format) -> Result<(), CommandFailure> {
    let mut replays = replays(arguments)?;
    let wanted: Vec<String> = replays.iter().map(|(_, replay)| replay.policy.filled_name(replay.fill)).collect();
    let shown = replays.len();
    if arguments.knowledge == KnowledgeArgument::None && !wanted.iter().any(|name| name == PolicyKind::Uniform.name()) {
        // Stale time is set beside that of round robin, asked for or not.
        let one_each = replays.chunks((shown / arguments.budget.len()).max(1)).filter_map(|chunk| chunk.first());
        let round_robin = |(budget, replay): &(BudgetArgument, TraceReplay)| {
            (budget.clone(), TraceReplay { policy: PolicyKind::Uniform, ..*replay })
        };
        let round_robin: Vec<_> = one_each.map(round_robin).collect();
        replays.extend(round_robin);
    }
    let threads = arguments.threads.number()?;
    if arguments.max_per_source == 0 {
        return Err(CommandFailure::Input("--max-per-source is 0; give at least 1".to_owned()));
    }
    let cut =
        Cut { sources: arguments.source.clone(), max_pages_per_source: arguments.max_per_source, draw: arguments.draw };
    let trace = judged(&arguments.directory, &cut)?;
    let names: Vec<String> =
        replays.iter().map(|(budget, replay)| format!("{} at {budget}", replay.policy.name())).collect();
    let (mut rows, stopped) = jobs::run(&names, threads, |index, report| {
        let (budget, replay) = &replays[index];
        Ok(TraceRow::new(arguments, budget, replay, replay.run(&trace, report)?))
    })?;
    compare(&mut rows);
    rows.retain(|row| wanted.contains(&row.policy));
    if let Some(path) = &arguments.report {
        report(arguments, &trace, &rows).write(path)?;
    }
    match (&rows[..], format) {
        ([], _) => {}
        ([row], Format::Text) if shown == 1 => print(&single(row))?,
        (rows, Format::Text) => print(&table(rows))?,
        ([row], _) if shown == 1 => answer(format, row, |_| String::new())?,
        (rows, _) => outputs::stdout::answers(format, rows, |_| String::new())?,
    }
    match stopped {
        0 => Ok(()),
        _ => Err(super::stopped(replays.len() - stopped, replays.len())),
    }
}

/// The judged pages of a corpus. Prints on stderr which sources have none.
pub(super) fn judged(directory: &Path, cut: &Cut) -> Result<JudgedTrace, CommandFailure> {
    let trace = JudgedTrace::cut(&corpus::read(directory)?, cut)
        .map_err(|error| CommandFailure::Input(format!("{}: {error}", directory.display())))?;
    for left in &trace.left_out {
        eprintln!("left out: {}: {}", left.source, left.reason);
    }
    Ok(trace)
}

/// Every requested policy at every budget. Validated before anything runs.
fn replays(arguments: &TraceArguments) -> Result<Vec<(BudgetArgument, TraceReplay)>, CommandFailure> {
    let knowledge = match arguments.knowledge {
        KnowledgeArgument::Fetches => Knowledge::Fetches,
        KnowledgeArgument::History => Knowledge::History,
        KnowledgeArgument::None => Knowledge::None,
    };
    let (policies, all) = super::policies(&arguments.policy)?;
    let estimator = arguments.estimator.as_deref().map(super::estimator).transpose()?;
    let mut replays = Vec::new();
    for budget in &arguments.budget {
        for policy in &policies {
            let replay = TraceReplay {
                policy: *policy,
                estimator,
                knowledge,
                frozen: arguments.frozen,
                dates_share: arguments.dates,
                fill: arguments.fill,
                fetches_per_page_per_day: budget.fetches_per_page_per_day,
                importance_shape: arguments.pareto,
                extent_share: arguments.extent_share,
                lists: arguments.lists,
                until_days: arguments.until,
                seed: arguments.seed,
            };
            match replay.check() {
                Ok(()) => {
                    if replay.overrules_estimator() && !all && budget == &arguments.budget[0] {
                        eprintln!(
                            "{} does not use the requested estimator: {}",
                            policy.name(),
                            replay.estimator_name()
                        );
                    }
                    replays.push((budget.clone(), replay));
                }
                // With `all`, skip policies that do not apply here.
                Err(error) if all => {
                    if budget == &arguments.budget[0] {
                        eprintln!("left out: {}: {error}", policy.name());
                    }
                }
                Err(error) => return Err(CommandFailure::Input(error.to_string())),
            }
        }
    }
    Ok(replays)
}

impl TraceRow {
    fn new(arguments: &TraceArguments, budget: &BudgetArgument, replay: &TraceReplay, scores: Scores) -> Self {
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
            policy: replay.policy.filled_name(replay.fill),
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
            extent_share: arguments.extent_share,
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

    fn cells(&self) -> Vec<String> {
        let mut cells = vec![
            self.policy.clone(),
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
fn head(rows: &[&TraceRow]) -> Vec<String> {
    let more = rows.iter().map(|row| &row.first_days[..]).find(|first_days| !first_days.is_empty());
    let missed: &[&str] = if rows.iter().any(|row| row.missed_extent.is_some()) { &MISSED_HEAD } else { &[] };
    let heads = HEAD.iter().chain(missed).map(ToString::to_string);
    heads.chain(first_days::heads(more.unwrap_or_default())).collect()
}

/// Sets each row's first days beside those of round robin at its budget.
fn compare(rows: &mut [TraceRow]) {
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
fn sorted(rows: &[TraceRow]) -> Vec<&TraceRow> {
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

fn table(rows: &[TraceRow]) -> String {
    let rows = sorted(rows);
    let cells: Vec<Vec<String>> = rows.iter().map(|row| row.cells()).collect();
    super::columns(&head(&rows), &cells, 3)
}

fn single(row: &TraceRow) -> String {
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
        row.policy,
        row.estimator,
        row.knowledge,
        row.budget,
        row.freshness,
        row.age_days,
        row.pages,
        row.fetches_spent,
        100.0 * row.budget_used_share,
        first_days::reported(&row.first_days),
        super::columns(&["source", "pages", "freshness", "age, days", "fetches"], &sources, 1)
    )
}
