//! `recrawl simulate focus`: in which order a crawl that looks for a focus fetches pages, on a generated web or on saved pages.

use super::jobs;
use super::report::{Curve, CurveAxis, ReportTable, SimulationReport};
use ::focus::{Focus, IcuSegmenter, metrics::MEASURED_AT};
use clap::Args;
use outputs::stdout::{Format, answers, print};
use recrawl::CommandFailure;
use serde::{Deserialize, Serialize};
use simulate::focus::{FetchOrder, FocusCrawler, FocusPage, FocusWeb, Harvest, generated};
use std::path::{Path, PathBuf};

/// Points at which a crawl of saved pages is measured by default, spread evenly over the first half of the pages.
const POINTS: usize = 8;

/// Arguments of `recrawl simulate focus`.
#[derive(Args, Debug)]
pub(super) struct FocusArguments {
    /// Saved pages, one {"file":…, "url":…, "relevant":true|false, "seed":true|false} per line. Without it a web of 80 sites
    /// is generated.
    #[arg(long, value_name = "FILE.jsonl", requires = "focus")]
    pages: Option<PathBuf>,
    /// Focus to look for on saved pages: the file of a focus, or a class of `recrawl focus list`.
    #[arg(long, requires = "pages")]
    focus: Option<String>,
    /// Numbers of fetches at which the harvest is measured, separated by commas.
    #[arg(long, value_delimiter = ',')]
    at: Vec<usize>,
    /// Random seed of the generated web.
    #[arg(long, default_value_t = 7, conflicts_with = "pages")]
    seed: u64,
    #[command(flatten)]
    threads: super::ThreadsArgument,
    /// Writes an HTML page with a plot and tables.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

#[derive(Deserialize)]
struct SavedPage {
    file: PathBuf,
    url: String,
    content_type: Option<String>,
    relevant: bool,
    #[serde(default)]
    seed: bool,
}

/// A crawl in one order.
#[derive(Debug, Serialize)]
struct FocusRow {
    order: &'static str,
    fetches: usize,
    /// Mean harvest rate over the numbers of fetches measured at. Null if the crawl ended before.
    mean_harvest_rate: Option<f64>,
    points: Vec<HarvestPoint>,
}

#[derive(Debug, Serialize)]
struct HarvestPoint {
    fetches: usize,
    harvest_rate: Option<f64>,
    target_recall: Option<f64>,
}

pub(super) fn focus(arguments: &FocusArguments, format: Format) -> Result<(), CommandFailure> {
    let threads = arguments.threads.number()?;
    let (web, focus) = match (&arguments.pages, &arguments.focus) {
        (Some(pages), Some(name)) => {
            let focus = recrawl::commands::focus::load(name, &IcuSegmenter::default())?;
            (saved(pages)?, focus)
        }
        _ => generated::generate(arguments.seed),
    };
    let at = measured_at(arguments, web.pages().len())?;
    let rows = crawl(&web, &focus, &at, threads)?;
    if let Some(path) = &arguments.report {
        report(&web, &focus, &at, &rows).write(path)?;
    }
    match format {
        Format::Text => print(&super::columns(&head(&at), &rows.iter().map(cells).collect::<Vec<_>>(), 1)),
        _ => answers(format, &rows, |_| String::new()),
    }
}

fn measured_at(arguments: &FocusArguments, pages: usize) -> Result<Vec<usize>, CommandFailure> {
    let mut at = match (&arguments.at[..], &arguments.pages) {
        ([], None) => MEASURED_AT.to_vec(),
        ([], Some(_)) => (1..=POINTS).map(|point| (point * pages / (2 * POINTS)).max(1)).collect(),
        (at, _) => at.to_vec(),
    };
    at.sort_unstable();
    at.dedup();
    match at.iter().find(|fetches| !(1..=pages).contains(*fetches)) {
        Some(fetches) => {
            Err(CommandFailure::Input(format!("--at: {fetches} is not from 1 to {pages}, the number of pages")))
        }
        None => Ok(at),
    }
}

fn crawl(web: &FocusWeb, focus: &Focus, at: &[usize], threads: usize) -> Result<Vec<FocusRow>, CommandFailure> {
    let crawler = FocusCrawler::new(web, focus);
    let most = at.last().copied().unwrap_or(0);
    let names = FetchOrder::ALL.map(|order| order.name().to_owned());
    let (harvests, stopped) = jobs::run(&names, threads, |number, _| crawler.crawl(FetchOrder::ALL[number], most))?;
    if stopped > 0 {
        return Err(super::stopped(harvests.len(), names.len()));
    }
    Ok(harvests.iter().map(|harvest| row(harvest, at)).collect())
}

/// The pages of a file, as a crawler reads them.
fn saved(path: &Path) -> Result<FocusWeb, CommandFailure> {
    let name = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| CommandFailure::Input(format!("{name}: {error}")))?;
    let (mut pages, mut seeds) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let failed = |error: String| CommandFailure::Input(format!("{name}, line {number}: {error}"));
        let page: SavedPage = serde_json::from_str(line).map_err(|error| failed(error.to_string()))?;
        let file = path.parent().unwrap_or(Path::new("")).join(&page.file);
        let bytes = std::fs::read(&file).map_err(|error| failed(format!("{}: {error}", file.display())))?;
        if page.seed {
            seeds.push(pages.len());
        }
        let content_type = page.content_type.as_deref();
        let reading = reading::read(&bytes, content_type, Some(&page.url));
        pages.push(FocusPage {
            html: document::decode(&bytes, content_type).text.into_owned(),
            is_relevant: page.relevant,
            title: reading.title,
            text: reading.text,
            url: page.url,
        });
    }
    if seeds.is_empty() {
        return Err(CommandFailure::Input(format!(
            "{name}: no page has \"seed\": true; a crawl has to begin somewhere"
        )));
    }
    if !pages.iter().any(|page| page.is_relevant) {
        return Err(CommandFailure::Input(format!("{name}: no page has \"relevant\": true; there is nothing to find")));
    }
    Ok(FocusWeb::new(pages, seeds))
}

fn row(harvest: &Harvest, at: &[usize]) -> FocusRow {
    let point = |fetches: &usize| HarvestPoint {
        fetches: *fetches,
        harvest_rate: harvest.rate(*fetches),
        target_recall: harvest.recall(*fetches),
    };
    FocusRow {
        order: harvest.order.name(),
        fetches: harvest.fetched.len(),
        mean_harvest_rate: harvest.mean_rate(at),
        points: at.iter().map(point).collect(),
    }
}

fn head(at: &[usize]) -> Vec<String> {
    ["order".to_owned()].into_iter().chain(at.iter().map(ToString::to_string)).chain(["mean".to_owned()]).collect()
}

fn cells(row: &FocusRow) -> Vec<String> {
    cells_of(row, row.mean_harvest_rate, |point| point.harvest_rate)
}

fn cells_of(row: &FocusRow, last: Option<f64>, of: fn(&HarvestPoint) -> Option<f64>) -> Vec<String> {
    let figure = |figure: Option<f64>| figure.map_or("-".to_owned(), |figure| format!("{figure:.3}"));
    let points = row.points.iter().map(|point| figure(of(point)));
    [row.order.to_owned()].into_iter().chain(points).chain([figure(last)]).collect()
}

fn report(web: &FocusWeb, focus: &Focus, at: &[usize], rows: &[FocusRow]) -> SimulationReport {
    let curve = |row: &FocusRow| Curve {
        name: row.order.to_owned(),
        points: row.points.iter().filter_map(|point| Some((point.fetches as f64, point.harvest_rate?))).collect(),
    };
    let recall = |row: &FocusRow| {
        cells_of(row, row.points.last().and_then(|point| point.target_recall), |point| point.target_recall)
    };
    let mut last = head(at);
    last.last_mut().into_iter().for_each(|column| "at the end".clone_into(column));
    let relevant = web.pages().iter().filter(|page| page.is_relevant).count();
    SimulationReport {
        title: format!("Focused crawling: {}", focus.name),
        introduction: format!(
            "{} pages, {relevant} of them in the focus, {} seeds. Harvest rate: share of pages in the focus among those fetched. \
             Target recall: share of the pages in the focus that were fetched. The oracle knows all pages beforehand.",
            web.pages().len(),
            web.seeds().len(),
        ),
        curves: Vec::new(),
        curves_over: CurveAxis::Budget,
        harvests: rows.iter().map(curve).collect(),
        coverage: Vec::new(),
        courses: Vec::new(),
        courses_at: String::new(),
        tables: vec![
            ReportTable {
                caption: "Harvest rate by fetches".to_owned(),
                head: head(at),
                rows: rows.iter().map(cells).collect(),
            },
            ReportTable {
                caption: "Target recall by fetches".to_owned(),
                head: last,
                rows: rows.iter().map(recall).collect(),
            },
        ],
    }
}
