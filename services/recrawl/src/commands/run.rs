//! `recrawl run`: runs the whole loop in this process until it is stopped.

use crate::commands::SettingsArguments;
use crate::embedded::Embedded;
use crate::output::{Format, answer, print};
use crate::{CommandFailure, inspect};
use clap::Args;
use daemon::{Status, StopSignal, WebClock, logging};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use settings::Settings;
use settings::seeds::{Seed, SeedList};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Quiet time after which the loop counts as idle. Longer than the age of the stages' figures.
const QUIET: Duration = Duration::from_millis(1_500);

/// Arguments of `recrawl run`.
#[derive(Args, Debug)]
pub struct RunArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    /// File of seed pages, one URL per line, optionally followed by a weight. "-" is stdin.
    #[arg(long)]
    seeds: Option<PathBuf>,
    /// State directory. Created if necessary.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Ends when every known page has been fetched once and nothing is in flight.
    #[arg(long)]
    until_idle: bool,
    /// Ends after this real time, such as 90s or 2h.
    #[arg(long = "for", value_name = "DURATION")]
    duration: Option<humantime::Duration>,
    /// Prints the effective configuration and ends.
    #[arg(long)]
    print_config: bool,
}

/// Summary of a run.
#[derive(Debug, Serialize)]
struct Summary {
    /// Reason of the end.
    ended: &'static str,
    wall_s: f64,
    /// Number of answers received in this run.
    fetches: u64,
    #[serde(flatten)]
    status: Status,
}

/// Runs the loop.
pub fn run(arguments: &RunArguments, format: Format) -> Result<(), CommandFailure> {
    let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    let settings =
        arguments.settings.load(&[("crawl.data", path(&arguments.data)), ("crawl.seeds", path(&arguments.seeds))])?;
    if arguments.print_config {
        return print(settings.to_toml().trim_end());
    }
    let Some(data) = settings.crawl.data.clone() else {
        return Err(CommandFailure::Input("no state directory: give --data DIR, or set crawl.data".to_owned()));
    };
    logging::start(&settings.observability);
    let seeds = match &settings.crawl.seeds {
        Some(path) => read_seeds(path)?.seeds,
        None => Vec::new(),
    };
    require_contact(&settings, &seeds)?;
    if seeds.is_empty() && !inspect::has_crawl(&data) {
        return Err(CommandFailure::Input("no pages to crawl: give --seeds FILE with one URL per line".to_owned()));
    }
    let stop = StopSignal::on_signals()?;
    let embedded = Embedded::start(&settings, &data, stop.clone(), Arc::new(WebClock::new(&settings.clock)))?;
    eprintln!("recrawl runs on {}; status at http://{}/status; stop with Ctrl-C", data.display(), embedded.address);
    embedded.seed(&seeds)?;
    let started = Instant::now();
    let first = embedded.board.status().fetches_total;
    let ended = watch(&embedded, arguments, started)?;
    let status = embedded.finish()?;
    let summary = Summary {
        ended,
        wall_s: started.elapsed().as_secs_f64(),
        fetches: status.fetches_total.saturating_sub(first),
        status,
    };
    answer(format, &summary, |summary| {
        let status = &summary.status;
        let freshness =
            status.estimated_freshness.map_or("unknown".to_owned(), |share| format!("{:.1} %", 100.0 * share));
        format!(
            "{} after {:.0} s: {} pages, {} fetches, {} changes seen; {} never fetched, {} in flight; expected freshness {freshness}",
            summary.ended,
            summary.wall_s,
            status.pages,
            status.fetches_total,
            status.changes_total,
            status.never_fetched,
            status.in_flight,
        )
    })
}

/// Shows progress until the run ends. Returns the reason.
fn watch(embedded: &Embedded, arguments: &RunArguments, started: Instant) -> Result<&'static str, CommandFailure> {
    let target = ProgressDrawTarget::stderr_with_hz(2);
    let bar = ProgressBar::with_draw_target(None, target).with_style(
        ProgressStyle::with_template("{spinner} {elapsed} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()),
    );
    let mut quiet_since: Option<Instant> = None;
    let ended = loop {
        std::thread::sleep(Duration::from_millis(100));
        if embedded.stop.is_stopped() {
            break "stopped";
        }
        if arguments.duration.is_some_and(|limit| started.elapsed() >= *limit) {
            break "time is up";
        }
        if arguments.until_idle {
            quiet_since = if embedded.is_idle()? { quiet_since.or(Some(Instant::now())) } else { None };
            if quiet_since.is_some_and(|since| since.elapsed() >= QUIET) {
                break "idle";
            }
        }
        let status = embedded.board.status();
        bar.set_message(format!(
            "{} pages, {} never fetched, {} in flight, {} fetches ({:.1}/s), {} changes",
            status.pages,
            status.never_fetched,
            status.in_flight,
            status.fetches_total,
            status.fetch_rate_per_s,
            status.changes_total,
        ));
    };
    bar.finish_and_clear();
    Ok(ended)
}

/// Reads a seeds file. Invalid lines are reported one by one, and the rest is used.
pub fn read_seeds(path: &Path) -> Result<SeedList, CommandFailure> {
    let text = if path.as_os_str() == "-" {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    let name = path.display();
    let text =
        text.map_err(|error| CommandFailure::Input(format!("{name}: {error}; give a file with one URL per line")))?;
    let list = settings::seeds::parse(&text);
    for fault in &list.faults {
        eprintln!("{name}:{fault}");
    }
    if !list.faults.is_empty() {
        eprintln!("{name}: {} invalid lines left out, {} seeds used", list.faults.len(), list.seeds.len());
    }
    Ok(list)
}

/// Requires a contact for site owners, unless all seeds are on loopback.
fn require_contact(settings: &Settings, seeds: &[Seed]) -> Result<(), CommandFailure> {
    let is_loopback = |seed: &Seed| {
        let host = seed.url.host_name().to_owned();
        let address = settings.fetch.resolve_override(&host).map(|address| address.ip()).or_else(|| host.parse().ok());
        host == "localhost" || address.is_some_and(|address| address.is_loopback())
    };
    match settings.crawl.contact_required_fault(seeds.iter().all(is_loopback)) {
        Some(fault) => Err(CommandFailure::Input(fault.to_string())),
        None => Ok(()),
    }
}
