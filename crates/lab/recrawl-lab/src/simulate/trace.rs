//! `recrawl simulate trace`: compares policies on real change times. Each source covers two years; the second is
//! scored, or the first for a crawl that begins without knowledge.

mod plots;
mod rows;

use self::plots::report;
use self::rows::{TraceRow, compare, single, table};
use super::budget::BudgetArgument;
use super::contenders::{SystemArguments, policies};
use super::corpus;
use super::jobs;
use super::lists::list_rules;
use change_rate::EstimatorChoice;
use clap::{Args, ValueEnum};
use outputs::stdout::{Format, answer, print};
use policies::PolicyKind;
use recrawl::CommandFailure;
use simulate::contender::Contender;
use simulate::trace::{Cut, JudgedTrace, Knowledge, TraceReplay};
use std::path::{Path, PathBuf};

/// Arguments of `recrawl simulate trace`.
#[derive(Args, Debug)]
pub(super) struct TraceArguments {
    /// Corpus directory, with pages.csv.zst and changes.csv.zst (or the same without .zst).
    directory: PathBuf,
    /// Fetches per page and day over all judged pages: 1/15d, 1/3, 0.0667. Separate several by commas.
    #[arg(long, value_delimiter = ',', default_value = "1/15d")]
    budget: Vec<BudgetArgument>,
    /// Policies, separated by commas, or `all`. `recrawl simulate list` names them. Defaults to live where there is no
    /// --preset.
    #[arg(long, value_delimiter = ',')]
    policy: Vec<String>,
    #[command(flatten)]
    systems: SystemArguments,
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

/// Runs every policy at every budget.
pub(super) fn trace(arguments: &TraceArguments, format: Format) -> Result<(), CommandFailure> {
    let mut replays = replays(arguments)?;
    let wanted: Vec<String> = replays.iter().map(|(_, replay)| replay.contender.name()).collect();
    let shown = replays.len();
    if arguments.knowledge == KnowledgeArgument::None && !wanted.iter().any(|name| name == PolicyKind::Uniform.name()) {
        // Stale time is set beside that of round robin, asked for or not.
        let one_each = replays.chunks((shown / arguments.budget.len()).max(1)).filter_map(|chunk| chunk.first());
        let round_robin = |(budget, replay): &(BudgetArgument, TraceReplay)| {
            (budget.clone(), TraceReplay { contender: Contender::usual(PolicyKind::Uniform), ..*replay })
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
        replays.iter().map(|(budget, replay)| format!("{} at {budget}", replay.contender.name())).collect();
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
    let (policies, all) = policies(&arguments.policy, "live", &arguments.systems)?;
    let estimator = arguments.estimator.as_deref().map(super::estimator).transpose()?;
    let (options, fill) = (arguments.systems.options(&[])?, arguments.fill);
    let named = policies.into_iter().map(|policy| {
        let contender = Contender { options, fill, ..Contender::usual(policy).with_estimator(estimator) };
        (contender, estimator.map(EstimatorChoice::name))
    });
    let systems = arguments.systems.systems()?.into_iter().map(|system| (system, None));
    let contenders: Vec<_> = named.chain(systems).collect();
    let mut replays = Vec::new();
    for budget in &arguments.budget {
        for (contender, asked) in &contenders {
            let replay = TraceReplay {
                contender: *contender,
                knowledge,
                frozen: arguments.frozen,
                dates_share: arguments.dates,
                fetches_per_page_per_day: budget.fetches_per_page_per_day,
                importance_shape: arguments.pareto,
                lists: arguments.lists,
                until_days: arguments.until,
                seed: arguments.seed,
            };
            let name = contender.policy.name();
            match replay.check() {
                Ok(()) => {
                    let overruled = asked.is_some_and(|asked| asked != replay.estimator_name());
                    if overruled && !all && budget == &arguments.budget[0] {
                        eprintln!("{name} does not use the requested estimator: {}", replay.estimator_name());
                    }
                    replays.push((budget.clone(), replay));
                }
                // With `all`, skip policies that do not apply here.
                Err(error) if all && contender.preset.is_none() => {
                    if budget == &arguments.budget[0] {
                        eprintln!("left out: {name}: {error}");
                    }
                }
                Err(error) => return Err(CommandFailure::Input(error.to_string())),
            }
        }
    }
    Ok(replays)
}
