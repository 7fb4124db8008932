//! `recrawl simulate versus`: computes the budget that other crawlers need for the same freshness.

use super::contenders::{SystemArguments, label};
use super::jobs;
use clap::Args;
use outputs::stdout::{Format, answers, print};
use recrawl::CommandFailure;
use serde::Serialize;
use simulate::contender::Contender;
use simulate::population::PopulationKind;
use simulate::setup;
use simulate::trace::Cut;
use simulate::versus::{OurRow, PeerRow, RecordedVersus, Versus, VersusReport};
use std::path::{Path, PathBuf};

/// Arguments of `recrawl simulate versus`.
#[derive(Args, Debug)]
pub(super) struct VersusArguments {
    /// Populations. `recrawl simulate list` names them.
    #[arg(value_name = "NAME", default_values_t = ["wide".to_owned(), "gamma".to_owned()])]
    names: Vec<String>,
    /// Compares on the recorded change times of this corpus directory instead of on populations.
    #[arg(long, value_name = "CORPUS", conflicts_with_all = ["names", "pages", "seeds", "seed"])]
    recorded: Option<PathBuf>,
    /// Our policy, with its usual estimator. Defaults to crawl-value on populations and to live on recorded times.
    #[arg(long)]
    policy: Option<String>,
    #[command(flatten)]
    systems: SystemArguments,
    /// Pages per population.
    #[arg(long, default_value_t = Versus::default().pages)]
    pages: usize,
    /// Number of random seeds.
    #[arg(long, default_value_t = Versus::default().seeds)]
    seeds: u64,
    /// First random seed.
    #[arg(long, default_value_t = Versus::default().seed)]
    seed: u64,
    #[command(flatten)]
    threads: super::ThreadsArgument,
}

/// A line of the answer.
#[derive(Debug, Serialize)]
#[serde(tag = "side", rename_all = "snake_case")]
enum VersusRow<'a> {
    Ours(&'a OurRow),
    Peer(&'a PeerRow),
}

pub(super) fn versus(arguments: &VersusArguments, format: Format) -> Result<(), CommandFailure> {
    let usual = Versus::default();
    if let Some(directory) = &arguments.recorded {
        let ours = ours(arguments, RecordedVersus::default().ours, &[])?;
        return recorded(directory, Contender { fill: true, ..ours }, arguments, format);
    }
    let parse = |name: &String| PopulationKind::parse(name).map_err(super::input);
    let versus = Versus {
        populations: arguments.names.iter().map(parse).collect::<Result<_, _>>()?,
        ours: ours(arguments, usual.ours, &[("policy.theta", "0")])?,
        pages: arguments.pages,
        seeds: arguments.seeds,
        seed: arguments.seed,
        ..usual
    };
    let threads = arguments.threads.number()?;
    let report = jobs::watched(|watch| versus.run(threads, watch))?;
    if format == Format::Text {
        return print(&text(&report));
    }
    let rows: Vec<VersusRow<'_>> =
        report.ours.iter().map(VersusRow::Ours).chain(report.peers.iter().map(VersusRow::Peer)).collect();
    answers(format, &rows, |_| String::new())
}

/// Our side: the published system or policy that is asked for, or the usual one. `below` are settings below the user's.
fn ours(arguments: &VersusArguments, usual: Contender, below: &[(&str, &str)]) -> Result<Contender, CommandFailure> {
    match (arguments.systems.system()?, &arguments.policy) {
        (Some(_), Some(_)) => {
            Err(CommandFailure::Input("--policy and --preset both say what is compared; give one of them".to_owned()))
        }
        (Some(system), None) => Ok(system),
        (None, policy) => {
            let policy = policy.as_deref().map(setup::policy).transpose().map_err(super::input)?;
            let contender = policy.map_or(usual, Contender::usual);
            Ok(Contender { options: arguments.systems.options(below)?, ..contender })
        }
    }
}

/// The comparison on a recording.
fn recorded(
    directory: &Path,
    ours: Contender,
    arguments: &VersusArguments,
    format: Format,
) -> Result<(), CommandFailure> {
    let trace = super::trace::judged(directory, &Cut { sources: Vec::new(), max_pages_per_source: 1500, draw: 1 })?;
    let versus = RecordedVersus { ours, ..RecordedVersus::default() };
    let runs = versus.runs();
    let names: Vec<String> = runs.iter().map(|run| format!("{} at {:.4}", run.contender.name(), run.budget)).collect();
    let threads = arguments.threads.number()?;
    let (scores, stopped) = jobs::run(&names, threads, |index, report| runs[index].run(&trace, report))?;
    if stopped > 0 {
        return Err(super::stopped(scores.len(), runs.len()));
    }
    let rows = versus.rows(&scores).map_err(super::input)?;
    if format != Format::Text {
        return answers(format, &rows, |_| String::new());
    }
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            vec![
                row.policy.clone(),
                format!("{:.4}", row.budget_fetches_per_page_per_day),
                format!("{:.4}", row.fetches_per_page_per_day),
                format!("{:.4}", row.freshness),
                format!("{:.4}", row.our_fetches_per_page_per_day),
                format!("{} {:.2}", row.bound.unwrap_or_default(), row.fetch_ratio).trim_start().to_owned(),
            ]
        })
        .collect();
    let needs = format!("{} needs", label(&ours.name(), ours.preset_name()));
    let head = ["peer", "budget", "fetches per page and day", "freshness", needs.as_str(), "ratio"];
    print(&super::columns(&head, &cells, 1))
}

fn text(report: &VersusReport) -> String {
    let holds = |value: f64, claimed: Option<f64>| match claimed {
        None => String::new(),
        Some(claimed) if value >= claimed => format!("at least {claimed}: yes"),
        Some(claimed) => format!("at least {claimed}: NO"),
    };
    let ours: Vec<Vec<String>> = report
        .ours
        .iter()
        .map(|row| {
            vec![
                row.population.to_owned(),
                format!("{} ({})", label(&row.policy, row.preset), row.estimator),
                format!("{:.3}", row.budget_fetches_per_page_per_day),
                format!("{:.4}", row.weighted_freshness),
                format!("{:.4}", row.standard_error),
                format!("{:.4}", row.optimum_weighted_freshness),
                format!("{:.1}", 100.0 * row.share_of_optimum),
                format!("{:.1}", 100.0 * row.share_of_optimum_standard_error),
                holds(row.share_of_optimum, row.claimed_share),
            ]
        })
        .collect();
    let peers: Vec<Vec<String>> = report
        .peers
        .iter()
        .map(|row| {
            vec![
                row.population.to_owned(),
                row.policy.to_owned(),
                row.budget_fetches_per_page_per_day.map_or("none".to_owned(), |cap| format!("{cap:.3}")),
                format!("{:.4}", row.fetches_per_page_per_day),
                format!("{:.4}", row.weighted_freshness),
                format!("{:.4}", row.our_fetches_per_page_per_day),
                format!("{:.2}", row.fetch_ratio),
                format!("{:.2}", row.fetch_ratio_standard_error),
                holds(row.fetch_ratio, row.claimed_ratio),
            ]
        })
        .collect();
    let ours_head = [
        "population",
        "ours",
        "budget",
        "weighted freshness",
        "s.e.",
        "known-rate optimum",
        "its fetches / ours, %",
        "s.e.",
        "claimed",
    ];
    let peers_head = [
        "population",
        "peer",
        "cap",
        "fetches per page and day",
        "weighted freshness",
        "ours need",
        "ratio",
        "s.e.",
        "claimed",
    ];
    format!("{}\n\n{}", super::columns(&ours_head, &ours, 2), super::columns(&peers_head, &peers, 2))
}
