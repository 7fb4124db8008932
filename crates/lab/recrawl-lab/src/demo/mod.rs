//! `recrawl demo`: runs the whole loop against a replay of real sites on a fast clock, and measures it from the
//! outside.
//!
//! A simulated web serves pages as they were at each time over some months. recrawl crawls it like any other web. The
//! freshness of the copies is computed from the simulated web's own ledger, not from recrawl's state. It is compared
//! with the same budget spent by round robin, by StormCrawler's adaptive rule, by an oracle that knows each page's true
//! change rate, and by one that knows when pages change.

mod books;
mod charts;
mod contest;
mod differences;
mod html;
mod meaning;
mod pace;
mod report;
mod screen;
mod watch;
mod world;
mod worst;

use books::Books;
use clap::Args;
use daemon::{StopSignal, WebClock, logging};
use operate::Access;
use outputs::stdout::{Format, answer};
use pace::Pace;
use page::Timestamp;
use recrawl::CommandFailure;
use recrawl::commands::setting_overrides;
use recrawl::embedded::Embedded;
use recrawl::ruled_diff::Comparing;
use report::{DemoReport, DemoRun};
use rustix::time::{ClockId, clock_gettime};
use settings::seeds::SeedList;
use settings::{Layers, Settings};
use simweb::{HostSitemap, SimWeb, SimWebConfig, TimeWindow};
use std::io::{IsTerminal, stderr, stdin};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use stream::Clock;

/// Virtual time at the start: 2025-01-01, a year outside every corpus.
const START: Timestamp = Timestamp::from_secs(1_735_689_600);
/// Days after which all have their first copies, in multiples of the average days between two fetches of a page. At
/// most half of the window is left out.
const FIRST_COPIES_ROUNDS: f64 = 2.0;

/// Time between two looks for a stop.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Arguments of `recrawl demo`.
#[derive(Args, Debug)]
pub(crate) struct DemoArguments {
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
    /// No sitemaps, rules in robots.txt, errors or weights: only pages that change.
    #[arg(long)]
    plain: bool,
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Overrides one setting of the crawl, such as policy.name=crawl-value. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
}

pub(crate) fn demo(arguments: &DemoArguments, format: Format) -> Result<(), CommandFailure> {
    let overrides = setting_overrides(&arguments.sets)?;
    check(arguments, &overrides)?;
    std::fs::create_dir_all(&arguments.out)
        .map_err(|error| CommandFailure::Input(format!("{}: {error}; give --out DIR", arguments.out.display())))?;
    let (source, described) = world::source(arguments)?;
    eprintln!("replaying {described}: {} days in {}", arguments.days, arguments.wall);

    let speed = arguments.days * 86_400.0 / arguments.wall.as_secs_f64();
    let clock_settings = settings::Clock { speed, origin: Some(START.as_secs() as f64), anchor: None };
    let clock = Arc::new(WebClock::new(&clock_settings));
    clock.hold();
    let web = match arguments.plain {
        true => SimWebConfig { seed: arguments.seed, ..SimWebConfig::new(source) },
        false => world::lifelike(source, arguments.seed)?,
    };
    let sitemap_hosts = web.host_dials.values().filter(|dials| dials.sitemap != HostSitemap::None).count();
    let time_of_the_web = clock.clone();
    let web = SimWeb::start(web, Arc::new(move || time_of_the_web.now()))
        .map_err(|error| CommandFailure::World(format!("the simulated web does not start: {error}")))?;
    let judged = world::judged_pages(&web.web().allowed_trace(), arguments.days);
    let weights = world::weights(&judged, arguments.plain);
    let forbidden = world::forbidden_pages(&web.web());
    let window = judged.window;
    let budget_per_day = judged.pages.len() as f64 / arguments.fetch_every_days;
    let settings = settings(web.addr(), budget_per_day, speed, !arguments.plain, overrides)?;
    let settings = Settings { clock: clock_settings, ..settings };
    logging::start(&settings.observability);

    let data = arguments.out.join("data");
    let _ = std::fs::remove_dir_all(&data);
    let began = (Instant::now(), cpu_time());
    let embedded = Embedded::start(&settings, &data, None, StopSignal::on_signals()?, clock.clone())?;
    let console = Access::noted(&data);
    if let Some(Access { address, token: Some(token), .. }) = &console {
        eprintln!("look at it while it runs: http://{address}/ (any name, password {})", token.reveal());
    }
    let seeds = world::seeds(&judged, &weights, &forbidden)?;
    embedded.seed(SeedList { seeds, ..SeedList::default() })?;
    let pace = Pace::new(clock.clone(), budget_per_day);
    watch::watch(&embedded, &web, window, pace, arguments.wall.into())?;
    let until = clock.now().min(window.end);
    // Who sits before it may look on, at a crawl whose time stands still. The rest need not wait.
    let is_watched = stdin().is_terminal() && stderr().is_terminal() && !embedded.stop.is_stopped();
    let embedded = if is_watched {
        clock.hold();
        Some(embedded)
    } else {
        embedded.finish()?;
        None
    };
    let wall = began.0.elapsed();
    let cpu = cpu_time().saturating_sub(began.1).saturating_sub(web.cpu_time().unwrap_or_default());
    let pages = web.web();
    let books = Books { judged, ledger: web.shutdown().entries(), weights };
    let meaning = watch::judge_meaning(&pages, &books, &settings.urls.rules())?;
    if until < window.end {
        eprintln!("stopped early, at virtual time {until}");
    }
    let lived = TimeWindow { start: window.start, end: until };
    let run = DemoRun {
        replayed: described,
        window: lived,
        budget_per_day,
        theta: settings.policy.theta,
        scored_from_day: (FIRST_COPIES_ROUNDS * arguments.fetch_every_days).min(lived.days() / 2.0),
        wall,
        cpu,
        forbidden_pages: forbidden.len(),
        sitemap_hosts,
    };
    let mut report = DemoReport::new(&run, &books, &meaning);
    report.differences = differences::seen_differences(&pages, &books, &meaning, &Comparing::new(&settings))
        .map_err(|error| CommandFailure::World(format!("cannot read a version of a replayed page again: {error}")))?;
    write(&report, &books, &arguments.out)?;
    answer(format, &report, DemoReport::text)?;
    let [json, page] = ["report.json", "report.html"].map(|name| arguments.out.join(name));
    eprintln!("report: {} and {}", json.display(), page.display());
    if let Some(embedded) = embedded {
        if let Some(Access { address, .. }) = console {
            eprintln!("the console stays at http://{address}/ until you press Enter");
            wait_for_enter(&embedded.stop);
        }
        clock.go_on();
        embedded.finish()?;
    }
    let _ = std::fs::remove_dir_all(&data);
    Ok(())
}

/// Waits for a line of input, or for the stop.
fn wait_for_enter(stop: &StopSignal) {
    let (entered, enter) = channel();
    std::thread::spawn(move || {
        // The end of the input ends the wait, too.
        let _ = stdin().read_line(&mut String::new());
        let _ = entered.send(());
    });
    while !stop.is_stopped() && enter.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {}
}

/// Writes the books and the report into a directory.
fn write(report: &DemoReport, books: &Books, out: &Path) -> Result<(), CommandFailure> {
    let failed = |error: &dyn std::fmt::Display| CommandFailure::World(error.to_string());
    let book = std::fs::File::create(out.join("ledger.csv"))?;
    simweb::write_ledger(&books.ledger, std::io::BufWriter::new(book)).map_err(|error| failed(&error))?;
    let times = std::fs::File::create(out.join("changes.csv"))?;
    books.judged.write_csv(std::io::BufWriter::new(times)).map_err(|error| failed(&error))?;
    let text = serde_json::to_string_pretty(report).map_err(|error| failed(&error))?;
    std::fs::write(out.join("report.json"), text)?;
    let page =
        html::render(report).map_err(|error| CommandFailure::World(format!("cannot draw the plots: {error}")))?;
    std::fs::write(out.join("report.html"), page)?;
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

/// The default settings, adapted to the fast clock and the simulated web's address, with the operator's overrides.
fn settings(
    web: std::net::SocketAddr,
    budget_per_day: f64,
    speed: f64,
    lifelike: bool,
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
        ("hints.discover", lifelike.to_string()),
        ("http.bind", "127.0.0.1:0".to_owned()),
        // The web fails requests on purpose, which is no reason to warn.
        ("observability.log_filter", if lifelike { "error" } else { "warn" }.to_owned()),
        ("crawl.user_agent", format!("recrawl/{}", env!("CARGO_PKG_VERSION"))),
    ];
    let ours = ours.into_iter().map(|(key, value)| (key.to_owned(), value));
    let overrides: Vec<_> = ours.chain(overrides).collect();
    recrawl::load::from_layers(Layers { files: &[], environment: std::iter::empty(), overrides: &overrides })
        .map_err(|faults| CommandFailure::Input(faults.to_string()))
}

/// CPU time of all threads of this process.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
