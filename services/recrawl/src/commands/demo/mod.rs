//! `recrawl demo`: runs the whole loop against a replay of real sites on a fast clock, and measures it from the
//! outside.
//!
//! A simulated web serves pages as they were at each time over some months. recrawl crawls it like any other web. The
//! freshness of the copies is computed from the simulated web's own ledger, not from recrawl's state. It is compared
//! with the same budget spent by plain round robin, and by an oracle that knows each page's true change rate.

mod html;
mod meaning;
mod pace;
mod report;

use crate::CommandFailure;
use crate::embedded::Embedded;
use crate::output::{Format, answer};
use clap::Args;
use daemon::{StopSignal, WebClock, logging};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pace::Pace;
use page::{CanonicalUrl, Timestamp, UrlRules};
use report::{Books, DemoReport};
use rustix::time::{ClockId, clock_gettime};
use settings::seeds::Seed;
use settings::{Layers, Settings};
use simweb::{ChangeTrace, ReplayConfig, SimWeb, SimWebConfig, TimeWindow, Web, WebSource};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use stream::Clock;

/// Virtual time at the start: 2025-01-01, a year outside every corpus.
const START: Timestamp = Timestamp::from_secs(1_735_689_600);
/// Directory of the corpora, unless RECRAWL_CORPORA is set.
const DEFAULT_CORPORA: &str = "../shared/corpora";
/// Real time between two adjustments of the clock, and between two progress updates.
const PACE_EVERY: Duration = Duration::from_millis(5);
const SHOW_EVERY: Duration = Duration::from_millis(50);
/// Longest real time for the loop to start before the clock does.
const START_WITHIN: Duration = Duration::from_secs(20);

/// Arguments of `recrawl demo`.
#[derive(Args, Debug)]
pub struct DemoArguments {
    /// Directory for the report.
    #[arg(long, default_value = "target/demo")]
    out: PathBuf,
    /// Length of the replay, in days of virtual time.
    #[arg(long, default_value_t = 120.0)]
    days: f64,
    /// Real time that the replay takes.
    #[arg(long, default_value = "150s")]
    wall: humantime::Duration,
    /// Average days between two fetches of a page. The budget is the number of pages divided by this.
    #[arg(long, default_value_t = 5.0)]
    fetch_every_days: f64,
    /// Most pages taken from each source of the corpora.
    #[arg(long, default_value_t = 300)]
    pages_per_source: usize,
    /// Replays only this source of the corpora. May be repeated.
    #[arg(long = "source", conflicts_with = "built_in")]
    sources: Vec<String>,
    /// Replays the built-in change times even if corpora are present.
    #[arg(long)]
    built_in: bool,
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Overrides one setting of the crawl, such as policy.name=crawl-value. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
}

/// Runs the demo.
pub fn demo(arguments: &DemoArguments, format: Format) -> Result<(), CommandFailure> {
    let overrides = daemon::service::overrides(&arguments.sets).map_err(CommandFailure::Input)?;
    check(arguments, &overrides)?;
    std::fs::create_dir_all(&arguments.out)
        .map_err(|error| CommandFailure::Input(format!("{}: {error}; give --out DIR", arguments.out.display())))?;
    let (source, described) = source(arguments)?;
    eprintln!("replaying {described}: {} days in {}", arguments.days, arguments.wall);

    let speed = arguments.days * 86_400.0 / arguments.wall.as_secs_f64();
    let clock_settings = settings::Clock { speed, origin: Some(START.as_secs() as f64), anchor: None };
    let clock = Arc::new(WebClock::new(&clock_settings));
    clock.hold();
    let web = SimWebConfig { seed: arguments.seed, ..SimWebConfig::new(source) };
    let time_of_the_web = clock.clone();
    let web = SimWeb::start(web, Arc::new(move || time_of_the_web.now()))
        .map_err(|error| CommandFailure::World(format!("the simulated web does not start: {error}")))?;
    let judged = judged_pages(&web.web().allowed_trace(), arguments.days);
    let window = judged.window;
    let budget_per_day = judged.pages.len() as f64 / arguments.fetch_every_days;
    let settings = Settings { clock: clock_settings, ..settings(web.addr(), budget_per_day, speed, overrides)? };
    logging::start(&settings.observability);

    let data = arguments.out.join("data");
    let _ = std::fs::remove_dir_all(&data);
    let began = (Instant::now(), cpu_time());
    let embedded = Embedded::start(&settings, &data, StopSignal::on_signals()?, clock.clone())?;
    embedded.seed(&seeds(&judged)?)?;
    let pace = Pace::new(clock.clone(), budget_per_day);
    watch(&embedded, &web, &judged, window, pace, arguments.wall.into())?;
    let until = clock.now().min(window.end);
    embedded.finish()?;
    let wall = began.0.elapsed();
    let cpu = cpu_time().saturating_sub(began.1).saturating_sub(web.cpu_time().unwrap_or_default());
    let pages = web.web();
    let books = Books { judged, ledger: web.shutdown().entries() };
    let meaning = judge_meaning(&pages, &books, &settings.urls.rules())?;
    if until < window.end {
        eprintln!("stopped early, at virtual time {until}");
    }
    let lived = TimeWindow { start: window.start, end: until };
    let report = DemoReport::new(&described, &books, &meaning, lived, budget_per_day, wall, cpu);
    let book = std::fs::File::create(arguments.out.join("ledger.csv"))?;
    simweb::write_ledger(&books.ledger, std::io::BufWriter::new(book))
        .map_err(|error| CommandFailure::World(error.to_string()))?;
    let times = std::fs::File::create(arguments.out.join("changes.csv"))?;
    books.judged.write_csv(std::io::BufWriter::new(times)).map_err(|error| CommandFailure::World(error.to_string()))?;
    let json = arguments.out.join("report.json");
    let text = serde_json::to_string_pretty(&report).map_err(|error| CommandFailure::World(error.to_string()))?;
    std::fs::write(&json, text)?;
    let page = arguments.out.join("report.html");
    let html =
        html::render(&report).map_err(|error| CommandFailure::World(format!("cannot draw the plots: {error}")))?;
    std::fs::write(&page, html)?;
    let _ = std::fs::remove_dir_all(&data);
    answer(format, &report, DemoReport::text)?;
    eprintln!("report: {} and {}", json.display(), page.display());
    Ok(())
}

fn check(arguments: &DemoArguments, overrides: &[(String, String)]) -> Result<(), CommandFailure> {
    let wall_s = arguments.wall.as_secs_f64();
    let sets = |is: fn(&str) -> bool| overrides.iter().any(|(key, _)| is(key));
    let problem = if !(1.0..=3_650.0).contains(&arguments.days) {
        "--days: give between 1 and 3650 days"
    } else if !(0.01..=365.0).contains(&arguments.fetch_every_days) {
        "--fetch-every-days: give between 0.01 and 365 days"
    } else if !(5.0..=86_400.0).contains(&wall_s) {
        "--wall: give between 5s and 1day"
    } else if arguments.pages_per_source == 0 {
        "--pages-per-source: give at least 1"
    } else if sets(|key| key.starts_with("clock.")) {
        "--set clock: the demo has its own clock; give --days and --wall"
    } else if sets(|key| key == "crawl.data") {
        "--set crawl.data: the demo keeps its data beside its report; give --out"
    } else {
        return Ok(());
    };
    Err(CommandFailure::Input(problem.to_owned()))
}

/// Real pages if corpora are present, otherwise real change times with generated text.
fn source(arguments: &DemoArguments) -> Result<(WebSource, String), CommandFailure> {
    let named = std::env::var_os("RECRAWL_CORPORA").map(PathBuf::from);
    let corpora = named.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_CORPORA)).join("content");
    if !arguments.built_in && corpora.is_dir() {
        let mut replay = ReplayConfig::new(&corpora);
        replay.days = arguments.days;
        replay.max_pages_per_source = arguments.pages_per_source;
        replay.sources.clone_from(&arguments.sources);
        replay.start = START;
        let described = format!("real sites with their bytes ({})", display(&corpora));
        return Ok((WebSource::Replay(replay), described));
    }
    if let (Some(named), false) = (named, arguments.built_in) {
        return Err(CommandFailure::Input(format!("RECRAWL_CORPORA: {}/content does not exist", named.display())));
    }
    if let Some(source) = arguments.sources.first() {
        let problem = format!("--source {source}: no corpora at {}; set RECRAWL_CORPORA", corpora.display());
        return Err(CommandFailure::Input(problem));
    }
    let mut trace = ChangeTrace::built_in(START);
    trace.window = TimeWindow::days_from(START, arguments.days.min(trace.window.days()));
    Ok((WebSource::Trace(trace), "the real change times that come with recrawl, with generated text".to_owned()))
}

fn display(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The pages that exist through the whole window. Only they are judged, and the budget is based on their number.
fn judged_pages(trace: &ChangeTrace, days: f64) -> ChangeTrace {
    let window = TimeWindow::days_from(START, days.min(trace.window.days()));
    let mut judged = trace.clone();
    judged.window = window;
    judged.pages.retain(|page| page.exists_at(window.start) && page.exists_at(window.end));
    judged
}

fn seeds(trace: &ChangeTrace) -> Result<Vec<Seed>, CommandFailure> {
    let seed = |(line, page): (usize, &simweb::PageHistory)| match CanonicalUrl::parse(&page.url()) {
        Ok(url) => Ok(Seed { url, weight: 1.0, line: line + 1 }),
        Err(error) => Err(CommandFailure::World(format!("page {} of the web is not a URL: {error}", page.url()))),
    };
    trace.pages.iter().enumerate().map(seed).collect()
}

/// The default settings, adapted to the fast clock and the simulated web's address, with the operator's overrides.
fn settings(
    web: std::net::SocketAddr,
    budget_per_day: f64,
    speed: f64,
    overrides: Vec<(String, String)>,
) -> Result<Settings, CommandFailure> {
    // A request counts as lost after a real minute without an answer, which is weeks on the fast clock.
    let lease = format!("{}s", (60.0 * speed).clamp(600.0, 31_536_000.0) as u64);
    // One scan per thirty real milliseconds is often enough.
    let scan_interval = format!("{}s", (0.03 * speed).clamp(1.0, 86_400.0) as u64);
    // The loop takes real time for a round. Hosts must not idle meanwhile.
    let host_ahead = format!("{}s", speed.clamp(10.0, 86_400.0) as u64);
    let ours = [
        ("fetch.resolve", format!("*.test={web}")),
        ("budget.fetches_per_second", (budget_per_day / 86_400.0).to_string()),
        // The loop runs every few real milliseconds, which is minutes on the fast clock. The budget earned meanwhile
        // must not be lost.
        ("budget.burst", "1d".to_owned()),
        ("budget.host_ahead", host_ahead),
        ("policy.lease_timeout", lease),
        ("policy.scan_interval", scan_interval),
        // One virtual second would be microseconds of real time. A delay of 30 s is visible in the ledger.
        ("politeness.crawl_delay", "30s".to_owned()),
        ("http.bind", "127.0.0.1:0".to_owned()),
        ("observability.log_filter", "warn".to_owned()),
        ("crawl.user_agent", format!("recrawl/{}", env!("CARGO_PKG_VERSION"))),
    ];
    let ours = ours.into_iter().map(|(key, value)| (key.to_owned(), value));
    let overrides: Vec<_> = ours.chain(overrides).collect();
    Settings::from_layers(Layers { files: &[], environment: std::iter::empty(), overrides: &overrides })
        .map_err(|faults| CommandFailure::Input(faults.to_string()))
}

/// Shows progress until the window ends.
fn watch(
    embedded: &Embedded,
    web: &SimWeb,
    judged: &ChangeTrace,
    window: TimeWindow,
    mut pace: Pace,
    wall: Duration,
) -> Result<(), CommandFailure> {
    let bar = ProgressBar::with_draw_target(Some(100), ProgressDrawTarget::stderr_with_hz(4));
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3} %  {elapsed}  {msg}") {
        bar.set_style(style);
    }
    let ledger = web.ledger();
    let (started, mut told) = (Instant::now(), 0);
    // The clock starts when the loop is up and knows the pages.
    while !embedded.stop.is_stopped() && started.elapsed() < START_WITHIN {
        if embedded.board.is_ready() && embedded.lag_records()? == 0 {
            break;
        }
        std::thread::sleep(PACE_EVERY);
    }
    let (mut shown, mut last_turn) = (None, Instant::now());
    while !embedded.stop.is_stopped() {
        let now = embedded.clock().now();
        if now >= window.end {
            break;
        }
        let elapsed = last_turn.elapsed();
        last_turn = Instant::now();
        pace.keep(elapsed, now.days_since(window.start), ledger.pages(), embedded.lag_records()?);
        std::thread::sleep(PACE_EVERY);
        if shown.is_some_and(|shown: Instant| shown.elapsed() < SHOW_EVERY) {
            continue;
        }
        shown = Some(Instant::now());
        let day = now.days_since(window.start).max(0.0);
        let percent = 100.0 * day / window.days();
        let status = embedded.board.status();
        let message = format!(
            "day {day:.0}: {} of {} pages fetched, {} fetches, {} changes seen",
            status.pages - status.never_fetched.min(status.pages),
            judged.pages.len(),
            ledger.len(),
            status.changes_total,
        );
        bar.set_position(percent as u64);
        bar.set_message(message.clone());
        // Without a terminal, print a line now and then.
        if bar.is_hidden() && percent as u64 >= told + 10 {
            told = percent as u64 / 10 * 10;
            eprintln!("{told:>3} %  {message}");
        }
        // A slow machine gets more time, within a limit.
        if started.elapsed() > wall * 10 + Duration::from_secs(60) {
            break;
        }
    }
    bar.finish_and_clear();
    Ok(())
}

/// Reads all versions again to find the meaningful changes.
fn judge_meaning(web: &Web, books: &Books, urls: &UrlRules) -> Result<Books, CommandFailure> {
    let bar =
        ProgressBar::with_draw_target(Some(books.judged.pages.len() as u64), ProgressDrawTarget::stderr_with_hz(4));
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3} %  {elapsed}  judging the changes") {
        bar.set_style(style);
    }
    if bar.is_hidden() {
        eprintln!("judging which changes were meaningful");
    }
    let meaning = meaning::by_meaning(web, books, urls, &|done| bar.set_position(done as u64));
    bar.finish_and_clear();
    meaning.map_err(|error| CommandFailure::World(format!("cannot read a version of a replayed page again: {error}")))
}

/// CPU time of all threads of this process.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
