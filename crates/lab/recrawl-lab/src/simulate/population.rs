//! `recrawl simulate population`: compares policies on synthetic populations over several seeds.

use super::budget::BudgetArgument;
use super::contenders::{SystemArguments, label, policies};
use super::jobs;
use super::report::{Curve, CurveAxis, ReportTable, SimulationReport};
use clap::Args;
use outputs::stdout::{Format, answers, print};
use policies::BeliefSource;
use recrawl::CommandFailure;
use simulate::changes::ChangeModel;
use simulate::population::PopulationKind;
use simulate::study::{Study, StudyRow};
use std::path::PathBuf;

/// Arguments of `recrawl simulate population`.
#[derive(Args, Debug)]
pub(super) struct PopulationArguments {
    /// Populations, or `all`. `recrawl simulate list` names them.
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Policies, separated by commas, or `all`. Defaults to uniform,live,crawl-value,oracle where there is no --preset.
    #[arg(long, value_delimiter = ',')]
    policy: Vec<String>,
    #[command(flatten)]
    systems: SystemArguments,
    /// Estimators, separated by commas. Defaults to each policy's own choice.
    #[arg(long, value_delimiter = ',')]
    estimator: Vec<String>,
    /// Fetches per page and day: 1/15d, 1/3, 0.0667. Separate several by commas.
    #[arg(long, value_delimiter = ',', default_value = "0.03,0.1")]
    budget: Vec<BudgetArgument>,
    /// Pages per population.
    #[arg(long, default_value_t = 10_000)]
    pages: usize,
    /// Scored days.
    #[arg(long, default_value_t = 60.0)]
    days: f64,
    /// Days of learning before the scored days.
    #[arg(long, default_value_t = 60.0)]
    warm_up_days: f64,
    /// Number of random seeds.
    #[arg(long, default_value_t = 6)]
    seeds: u64,
    /// First random seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Change model: one name, or several joined by +, such as bursts+bulks.
    #[arg(long, default_value = "poisson")]
    changes: String,
    /// Share of the pages that report their last change truthfully.
    #[arg(long, default_value_t = 0.0)]
    last_modified_share: f64,
    /// Gives idle slots of policies that wait for due dates, such as stormcrawler, to the page due earliest. Their rows
    /// are named so: stormcrawler+fill.
    #[arg(long)]
    fill: bool,
    #[command(flatten)]
    threads: super::ThreadsArgument,
    /// Writes an HTML page with plots and tables.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

pub(super) fn population(arguments: &PopulationArguments, format: Format) -> Result<(), CommandFailure> {
    let study = study(arguments)?;
    let threads = arguments.threads.number()?;
    let rows = jobs::watched(|watch| study.run(threads, watch))?;
    if let Some(path) = &arguments.report {
        report(arguments, &rows).write(path)?;
    }
    match format {
        Format::Text => print(&super::columns(&HEAD, &rows.iter().map(cells).collect::<Vec<_>>(), 4)),
        _ => answers(format, &rows, |_| String::new()),
    }
}

fn study(arguments: &PopulationArguments) -> Result<Study, CommandFailure> {
    let populations = if arguments.names.iter().any(|name| name == "all") {
        PopulationKind::ALL.to_vec()
    } else {
        let parse = |name: &String| PopulationKind::parse(name).map_err(super::input);
        arguments.names.iter().map(parse).collect::<Result<_, _>>()?
    };
    let (mut policies, all) = policies(&arguments.policy, USUAL_POLICIES, &arguments.systems)?;
    if all {
        // They need recorded changes, and a population has none.
        policies.retain(|policy| !matches!(policy.beliefs(), BeliefSource::History | BeliefSource::Future));
    }
    Ok(Study {
        populations,
        policies,
        systems: arguments.systems.systems()?,
        options: arguments.systems.options(&[])?,
        estimators: arguments.estimator.iter().map(|name| super::estimator(name)).collect::<Result<_, _>>()?,
        changes: ChangeModel::parse(&arguments.changes)
            .map_err(|error| CommandFailure::Input(format!("--changes: {error}")))?,
        pages: arguments.pages,
        budgets: arguments.budget.iter().map(|budget| budget.fetches_per_page_per_day).collect(),
        warm_up_days: arguments.warm_up_days,
        scored_days: arguments.days,
        last_modified_share: arguments.last_modified_share,
        fill: arguments.fill,
        seeds: arguments.seeds,
        seed: arguments.seed,
        ..Study::default()
    })
}

/// Policies that are compared where none is given.
const USUAL_POLICIES: &str = "uniform,live,crawl-value,oracle";

const HEAD: [&str; 11] = [
    "population",
    "policy",
    "estimator",
    "budget",
    "freshness",
    "weighted freshness",
    "s.e.",
    "age, days",
    "gap closed, %",
    "fetches",
    "budget used, %",
];

fn cells(row: &StudyRow) -> Vec<String> {
    vec![
        row.population.to_owned(),
        label(&row.policy, row.preset),
        row.estimator.to_owned(),
        budget(row),
        format!("{:.4}", row.freshness),
        format!("{:.4}", row.weighted_freshness),
        format!("{:.4}", row.standard_error),
        format!("{:.2}", row.age_days),
        format!("{:.1}", 100.0 * row.gap_closed_share),
        row.fetches.to_string(),
        format!("{:.0}", 100.0 * row.budget_used_share),
    ]
}

fn budget(row: &StudyRow) -> String {
    format!("{:.4}", row.budget_fetches_per_page_per_day)
}

fn report(arguments: &PopulationArguments, rows: &[StudyRow]) -> SimulationReport {
    let mut curves: Vec<Curve> = Vec::new();
    let several = arguments.names.len() > 1 || arguments.names[0] == "all";
    for row in rows {
        let mut name = label(&row.policy, row.preset);
        if arguments.estimator.len() > 1 && !["known", "none"].contains(&row.estimator) {
            name = format!("{name}, {}", row.estimator);
        }
        if several {
            name = format!("{name}, {}", row.population);
        }
        let point = (row.budget_fetches_per_page_per_day, row.weighted_freshness);
        match curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve { name, points: vec![point] }),
        }
    }
    for curve in &mut curves {
        curve.points.sort_by(|one, other| one.0.total_cmp(&other.0));
    }
    SimulationReport {
        title: "Policies on synthetic populations".to_owned(),
        introduction: format!(
            "{} pages, {} days after {} days of learning, {} seeds; changes: {}. Freshness in the plot is weighted by \
             importance; gap closed is the share of the way from uniform to the policy that knows the true rates.",
            arguments.pages, arguments.days, arguments.warm_up_days, arguments.seeds, arguments.changes
        ),
        curves,
        curves_over: CurveAxis::Budget,
        harvests: Vec::new(),
        coverage: Vec::new(),
        courses: Vec::new(),
        courses_at: String::new(),
        tables: vec![ReportTable {
            caption: "Policies".to_owned(),
            head: HEAD.iter().map(ToString::to_string).collect(),
            rows: rows.iter().map(cells).collect(),
        }],
    }
}
