//! `recrawl simulate versus`: computes the budget that other crawlers need for the same freshness.

use super::jobs;
use crate::CommandFailure;
use crate::output::{Format, answers, print};
use clap::Args;
use serde::Serialize;
use simulate::population::PopulationKind;
use simulate::setup;
use simulate::versus::{OurRow, PeerRow, Versus, VersusReport};

/// Arguments of `recrawl simulate versus`.
#[derive(Args, Debug)]
pub(super) struct VersusArguments {
    /// Populations. `recrawl simulate list` names them.
    #[arg(value_name = "NAME", default_values_t = ["wide".to_owned(), "gamma".to_owned()])]
    names: Vec<String>,
    /// Our policy, with its usual estimator.
    #[arg(long, default_value_t = Versus::default().ours.name().to_owned())]
    policy: String,
    /// Pages per population.
    #[arg(long, default_value_t = Versus::default().pages)]
    pages: usize,
    /// Number of random seeds.
    #[arg(long, default_value_t = Versus::default().seeds)]
    seeds: u64,
    /// First random seed.
    #[arg(long, default_value_t = Versus::default().seed)]
    seed: u64,
    /// Number of simulations in parallel. Defaults to the number of cores.
    #[arg(long)]
    threads: Option<usize>,
}

/// A line of the answer.
#[derive(Debug, Serialize)]
#[serde(tag = "side", rename_all = "snake_case")]
enum VersusRow<'a> {
    Ours(&'a OurRow),
    Peer(&'a PeerRow),
}

/// Runs the comparison.
pub(super) fn versus(arguments: &VersusArguments, format: Format) -> Result<(), CommandFailure> {
    let parse = |name: &String| PopulationKind::parse(name).map_err(super::input);
    let versus = Versus {
        populations: arguments.names.iter().map(parse).collect::<Result<_, _>>()?,
        ours: setup::policy(&arguments.policy).map_err(super::input)?,
        pages: arguments.pages,
        seeds: arguments.seeds,
        seed: arguments.seed,
        ..Versus::default()
    };
    let threads = super::threads(arguments.threads)?;
    let report = jobs::watched(|watch| versus.run(threads, watch))?;
    if format == Format::Text {
        return print(&text(&report));
    }
    let rows: Vec<VersusRow<'_>> =
        report.ours.iter().map(VersusRow::Ours).chain(report.peers.iter().map(VersusRow::Peer)).collect();
    answers(format, &rows, |_| String::new())
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
                format!("{} ({})", row.policy, row.estimator),
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
