//! `recrawl simulate grow`: one price for refresh and discovery beside fixed shares, on a web that grows.

use super::contenders::label;
use super::jobs;
use super::report::{Curve, CurveAxis, ReportTable, SimulationReport};
use clap::Args;
use outputs::stdout::{Format, answers, print};
use recrawl::CommandFailure;
use serde::Serialize;
use settings::Preset;
use simulate::contender::Contender;
use simulate::grow::web::WebOptions;
use simulate::grow::{CoveragePoint, GrowthPolicy, GrowthRun, GrowthScores};
use std::path::PathBuf;

/// Arguments of `recrawl simulate grow`.
#[derive(Args, Debug)]
pub(super) struct GrowArguments {
    /// Fetches per day. Separate several by commas.
    #[arg(long, value_delimiter = ',', default_value = "200,800")]
    budget: Vec<f64>,
    /// Values of `policy.new_page_worth` for `live`, separated by commas.
    #[arg(long, value_delimiter = ',', default_value = "0.1,0.3,1,10,100")]
    new_page_worth: Vec<f64>,
    /// Values of `policy.new_page_share` for `tianwang`, separated by commas.
    #[arg(long, value_delimiter = ',', default_value = "0.1,0.2,0.3,0.5")]
    new_page_share: Vec<f64>,
    /// Further published systems with their presets, separated by commas, or `all`.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    preset: Vec<String>,
    /// Begins with the addresses of the front pages alone, instead of a current copy of every page, and plots the share of
    /// the web's importance that is copied, by number of fetches. Give --warm-up-days 0 with it.
    #[arg(long)]
    from_seeds: bool,
    /// Links of an article to earlier articles, the fit and the often cited first, so that articles differ in importance.
    #[arg(long, value_name = "N", default_value_t = 0)]
    citations: usize,
    /// Sites of the web. Each has a front page.
    #[arg(long, default_value_t = 20)]
    sites: usize,
    /// Sections of a site. Each has an index page.
    #[arg(long, default_value_t = 5)]
    sections: usize,
    /// Articles of a section at the start.
    #[arg(long, default_value_t = 40)]
    articles: usize,
    /// Mean number of articles born per section and day.
    #[arg(long, default_value_t = 0.4)]
    births: f64,
    /// Articles that are born at once, in 20 sections, when the scored days begin.
    #[arg(long, default_value_t = 0)]
    flood: usize,
    /// Scored days.
    #[arg(long, default_value_t = 40.0)]
    days: f64,
    /// Days of learning before the scored days.
    #[arg(long, default_value_t = 60.0)]
    warm_up_days: f64,
    /// Number of random seeds.
    #[arg(long, default_value_t = 3)]
    seeds: u64,
    /// First random seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    threads: super::ThreadsArgument,
    /// Writes an HTML page with plots and tables.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

/// Means over the seeds.
#[derive(Debug, Serialize)]
struct GrowRow {
    budget_fetches_per_day: f64,
    policy: &'static str,
    /// The preset, where it is a published system.
    preset: Option<&'static str>,
    /// `policy.new_page_worth` of policy `live`; `None` for other policies.
    new_page_worth: Option<f64>,
    /// `policy.new_page_share` of policy `tianwang`; `None` for other policies.
    new_page_share: Option<f64>,
    freshness: f64,
    front_freshness: f64,
    new_page_days: f64,
    found_days: f64,
    copied_share: f64,
    births: f64,
    fetches: f64,
    /// The course from the start of the run; where seeds differ in their fetches, the part that all have.
    coverage: Vec<CoveragePoint>,
}

/// Length of a tick.
const TICK_DAYS: f64 = 1.0 / 24.0;

pub(super) fn grow(arguments: &GrowArguments, format: Format) -> Result<(), CommandFailure> {
    if arguments.seeds == 0 {
        return Err(CommandFailure::Input("--seeds is 0; give at least 1".to_owned()));
    }
    let threads = arguments.threads.number()?;
    let cases = cases(arguments)?;
    let runs: Vec<GrowthRun> = cases.iter().flat_map(|case| runs(arguments, *case)).collect();
    let named = |run: &GrowthRun| format!("{} fetches a day, {:?}, seed {}", run.fetches_per_day, run.policy, run.seed);
    let names: Vec<String> = runs.iter().map(named).collect();
    let (scores, stopped) = jobs::run(&names, threads, |number, report| runs[number].run(report))?;
    if stopped > 0 {
        return Err(super::stopped(scores.len(), runs.len()));
    }
    let rows: Vec<GrowRow> =
        cases.iter().zip(scores.chunks(arguments.seeds as usize)).map(|(case, scores)| row(*case, scores)).collect();
    if let Some(path) = &arguments.report {
        report(arguments, &rows).write(path)?;
    }
    match format {
        Format::Text => print(&super::columns(&HEAD, &rows.iter().map(cells).collect::<Vec<_>>(), 3)),
        _ => answers(format, &rows, |_| String::new()),
    }
}

/// Budgets with policies.
fn cases(arguments: &GrowArguments) -> Result<Vec<(f64, GrowthPolicy)>, CommandFailure> {
    let one_price = arguments.new_page_worth.iter().map(|worth| GrowthPolicy::OnePrice { new_page_worth: *worth });
    let tianwang = arguments.new_page_share.iter().map(|share| GrowthPolicy::Tianwang { new_page_share: *share });
    let systems: Vec<Preset> = if arguments.preset.iter().any(|name| name == "all") {
        Contender::presets().collect()
    } else {
        let parsed = arguments.preset.iter().map(|name| name.trim().parse::<Preset>());
        parsed.collect::<Result<_, String>>().map_err(|error| CommandFailure::Input(format!("--preset: {error}")))?
    };
    let policies: Vec<_> = one_price.chain(tianwang).chain(systems.into_iter().map(GrowthPolicy::System)).collect();
    Ok(arguments.budget.iter().flat_map(|budget| policies.iter().map(|policy| (*budget, *policy))).collect())
}

fn runs(arguments: &GrowArguments, (fetches_per_day, policy): (f64, GrowthPolicy)) -> Vec<GrowthRun> {
    let web = WebOptions {
        sites: arguments.sites,
        sections: arguments.sections,
        articles: arguments.articles,
        births_per_section_day: arguments.births,
        flood: (arguments.flood > 0).then_some((arguments.warm_up_days, arguments.flood)),
        citations: arguments.citations,
        ..WebOptions::default()
    };
    let run = GrowthRun {
        web,
        policy,
        from_seeds: arguments.from_seeds,
        fetches_per_day,
        warm_up_days: arguments.warm_up_days,
        scored_days: arguments.days,
        tick_days: TICK_DAYS,
        seed: arguments.seed,
    };
    (0..arguments.seeds).map(|number| GrowthRun { seed: run.seed.wrapping_add(number), ..run.clone() }).collect()
}

fn row((budget, policy): (f64, GrowthPolicy), scores: &[GrowthScores]) -> GrowRow {
    let mean = |of: fn(&GrowthScores) -> f64| scores.iter().map(of).sum::<f64>() / scores.len() as f64;
    let (name, preset, new_page_worth, new_page_share) = match policy {
        GrowthPolicy::OnePrice { new_page_worth } => ("live", None, Some(new_page_worth), None),
        GrowthPolicy::Tianwang { new_page_share } => ("tianwang", Some(Preset::Tianwang), None, Some(new_page_share)),
        // The name of the system says which policy it has.
        GrowthPolicy::System(system) => (system.name(), Some(system), None, None),
    };
    GrowRow {
        budget_fetches_per_day: budget,
        policy: name,
        preset: preset.map(Preset::name),
        new_page_worth,
        new_page_share,
        freshness: mean(|scores| scores.freshness),
        front_freshness: mean(|scores| scores.front_freshness),
        new_page_days: mean(|scores| scores.new_page_days),
        found_days: mean(|scores| scores.found_days),
        copied_share: mean(|scores| scores.copied_share),
        births: mean(|scores| scores.births as f64),
        fetches: mean(|scores| scores.fetches as f64),
        coverage: coverage(scores),
    }
}

/// Means over the seeds, point by point.
fn coverage(scores: &[GrowthScores]) -> Vec<CoveragePoint> {
    let points = scores.iter().map(|scores| scores.coverage.len()).min().unwrap_or(0);
    let mean = |point: usize, of: fn(&CoveragePoint) -> f64| {
        scores.iter().map(|scores| of(&scores.coverage[point])).sum::<f64>() / scores.len() as f64
    };
    (0..points)
        .map(|point| CoveragePoint {
            fetches: scores[0].coverage[point].fetches,
            page_share: mean(point, |point| point.page_share),
            importance_share: mean(point, |point| point.importance_share),
        })
        .collect()
}

const HEAD: [&str; 12] = [
    "fetches a day",
    "policy",
    "new pages",
    "freshness",
    "front pages",
    "birth to copy, days",
    "birth to link, days",
    "copied, %",
    "births",
    "fetches",
    "importance copied, half way, %",
    "at the end, %",
];

fn cells(row: &GrowRow) -> Vec<String> {
    let worth = row.new_page_worth.map(|worth| format!("worth {worth}"));
    let share = row.new_page_share.map(|share| format!("share {share}"));
    let copied = |point: Option<&CoveragePoint>| {
        point.map_or("-".to_owned(), |point| format!("{:.1}", 100.0 * point.importance_share))
    };
    let half_way = row.coverage.len().div_ceil(2).checked_sub(1);
    vec![
        row.budget_fetches_per_day.to_string(),
        row.policy.to_owned(),
        worth.or(share).unwrap_or_default(),
        format!("{:.4}", row.freshness),
        format!("{:.4}", row.front_freshness),
        format!("{:.2}", row.new_page_days),
        format!("{:.2}", row.found_days),
        format!("{:.1}", 100.0 * row.copied_share),
        format!("{:.0}", row.births),
        format!("{:.0}", row.fetches),
        copied(half_way.and_then(|point| row.coverage.get(point))),
        copied(row.coverage.last()),
    ]
}

fn report(arguments: &GrowArguments, rows: &[GrowRow]) -> SimulationReport {
    let mut curves: Vec<Curve> = Vec::new();
    for row in rows {
        let name = match arguments.budget.len() {
            1 => row.policy.to_owned(),
            _ => format!("{}, {} fetches a day", row.policy, row.budget_fetches_per_day),
        };
        let point = (row.new_page_days, row.freshness);
        match curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve { name, points: vec![point] }),
        }
    }
    SimulationReport {
        title: "Discovery beside refresh on a web that grows".to_owned(),
        introduction: format!(
            "{} sites, {} articles at the start, {} days after {} days of learning, {} seeds. A curve of live is drawn through \
             values of policy.new_page_worth, one of tianwang through values of policy.new_page_share. Lower and further left \
             is better: copies are less stale, and new pages are copied sooner. A page without a copy at the end waits until then.",
            arguments.sites,
            arguments.sites * arguments.sections * arguments.articles,
            arguments.days,
            arguments.warm_up_days,
            arguments.seeds,
        ),
        curves,
        curves_over: CurveAxis::FirstCopyDays,
        harvests: Vec::new(),
        coverage: if arguments.from_seeds { coverage_curves(arguments, rows) } else { Vec::new() },
        courses: Vec::new(),
        courses_at: String::new(),
        tables: vec![ReportTable {
            caption: "Means over the seeds".to_owned(),
            head: HEAD.iter().map(ToString::to_string).collect(),
            rows: rows.iter().map(cells).collect(),
        }],
    }
}

/// Coverage by importance, a curve for each row.
fn coverage_curves(arguments: &GrowArguments, rows: &[GrowRow]) -> Vec<Curve> {
    let several = arguments.budget.len() > 1;
    let curve = |row: &GrowRow| {
        let mut name = label(row.policy, row.preset.filter(|preset| *preset != row.policy));
        for (setting, value) in [("worth", row.new_page_worth), ("share", row.new_page_share)] {
            if let Some(value) = value {
                name = format!("{name}, {setting} {value}");
            }
        }
        if several {
            name = format!("{name}, {} fetches a day", row.budget_fetches_per_day);
        }
        let points = row.coverage.iter().map(|point| (point.fetches as f64, point.importance_share)).collect();
        Curve { name, points }
    };
    rows.iter().map(curve).collect()
}
