//! `recrawl run`: runs the whole loop in this process until it is stopped.

use crate::attention::only_failures;
use crate::commands::{PrintArguments, SettingsArguments};
use crate::embedded::Embedded;
use crate::seed_file::{read_seeds, searches};
use crate::stages::topologies;
use crate::{CommandFailure, own_machine};
use ::operate::{CrawlState, Inspection, has_crawl};
use ::scheduler::ListedSeeds;
use clap::Args;
use daemon::{OutcomeCount, Status, StopSignal, WebClock, logging, outcome_lines};
use frontier::CrawlPace;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use metrics::scheduler;
use outputs::stdout::{Format, answer, print};
use serde::Serialize;
use settings::seeds::{self, Seed, SeedList};
use settings::{Preset, Settings};
use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The loop is idle if it still is when every stage has computed its figures this many times. Records and requests pass from
/// stage to stage, so that one look at all of them may miss some.
const QUIET_REFRESHES: u64 = 2;

/// Why a run ended that was stopped from outside.
const STOPPED: &str = "stopped";

/// Arguments of `recrawl run`.
#[derive(Args, Debug)]
pub struct RunArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    /// Seed pages, besides those of the file.
    urls: Vec<String>,
    /// File of seed pages, one URL per line, optionally followed by a weight and a date of its last change, or
    /// CSV. "-" is stdin.
    #[arg(long)]
    seeds: Option<PathBuf>,
    /// Fetches the seeds given here and nothing else: no other page that is known, and none that links or sitemaps lead to. Other
    /// pages stay known, and a start without this fetches them again.
    #[arg(long)]
    seeds_only: bool,
    /// State directory. Created if necessary.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Ends when every known page has been fetched once and nothing is in flight.
    #[arg(long)]
    until_idle: bool,
    /// Ends after this real time, such as 90s or 2h.
    #[arg(long = "for", value_name = "DURATION")]
    duration: Option<humantime::Duration>,
    #[command(flatten)]
    print: PrintArguments,
}

/// Summary of a run.
#[derive(Debug, Serialize)]
struct Summary {
    /// Reason of the end.
    ended: &'static str,
    wall_s: f64,
    /// Number of fetches in this run.
    fetches: u64,
    /// Seeds of the list that are not taken in, because their pages were forgotten.
    forgotten_seeds: u64,
    #[serde(flatten)]
    status: Status,
}

pub fn run(arguments: &RunArguments, format: Format) -> Result<(), CommandFailure> {
    let (mut settings, preset) = settings_of(arguments)?;
    if let Some(text) = arguments.print.printed(&settings) {
        return print(text.trim_end());
    }
    let Some(data) = settings.crawl.data.clone() else {
        return Err(CommandFailure::Input("no state directory: give --data DIR, or set crawl.data".to_owned()));
    };
    logging::start(&settings.observability);
    let listed = seeds_of(arguments, &settings)?;
    require_contact(&settings, &listed.seeds)?;
    if listed.seeds.is_empty() && arguments.seeds_only {
        return Err(CommandFailure::Input(
            "--seeds-only: the list of seeds is empty, so nothing would be fetched: give URLs, or --seeds FILE"
                .to_owned(),
        ));
    }
    if listed.seeds.is_empty() && !has_crawl(&data) {
        return Err(CommandFailure::Input(
            "no pages to crawl: give URLs, or --seeds FILE with one URL per line".to_owned(),
        ));
    }
    for headers in scope::configured(&settings)?.withheld_headers(listed.seeds.iter().map(|seed| &seed.url)) {
        eprintln!("recrawl: {headers}");
    }
    own_machine::allow(&mut settings, &listed.seeds, &data);
    let stop = StopSignal::on_signals()?;
    let clock = Arc::new(WebClock::new(&settings.clock));
    let list = list_of_start(&listed.seeds, &settings, arguments.seeds_only);
    let embedded = Embedded::start(&settings, &data, list.as_ref(), stop.clone(), clock)?;
    ::operate::note_preset(&data, preset)?;
    if let (Some(preset), None) = (preset, arguments.settings.preset) {
        let name = preset.name();
        eprintln!("recrawl: the preset is {name}, as at the last start here; --preset none leaves it");
    }
    eprintln!("recrawl runs on {}; status at {}/status; stop with Ctrl-C", data.display(), embedded.address);
    let token = data.join(::operate::TOKEN_FILE);
    eprintln!("look at it in a browser: {}/ (any name; the password is in {})", embedded.address, token.display());
    let seeds = PagesAndHosts::of(&listed.seeds);
    let started = Instant::now();
    let first = known(embedded.board.status().fetches_total);
    let mut ready = |status: &Status| {
        let fetched = if arguments.seeds_only { seeds } else { seeds.or_known(status) };
        eprintln!("{}", fetched.pace(&settings));
        if let Some(line) = unlisted_in_words(known(status.unlisted_seeds), arguments.seeds_only) {
            eprintln!("{line}");
        }
    };
    let ended = watch(&embedded, arguments, started, listed, &mut ready)?;
    let status = embedded.finish()?;
    let summary = Summary {
        ended,
        wall_s: started.elapsed().as_secs_f64(),
        fetches: known(status.fetches_total).saturating_sub(first),
        forgotten_seeds: forgotten_seeds(&status),
        status,
    };
    answer(format, &summary, |summary| {
        let status = &summary.status;
        let freshness =
            status.estimated_freshness.map_or("unknown".to_owned(), |share| format!("{:.1} %", 100.0 * share));
        let outcomes: String = outcome_lines(&status.outcomes).into_iter().map(|line| line + "\n").collect();
        let forgotten = match summary.forgotten_seeds {
            0 => String::new(),
            count => format!(
                "{count} of the seeds left out, because they were forgotten; recrawl seed URL brings one back\n"
            ),
        };
        format!(
            "{outcomes}{forgotten}{} after {:.0} s: {} pages, {} fetches, {} changes seen; {} never fetched, {} in flight; expected freshness {freshness}",
            summary.ended,
            summary.wall_s,
            known(status.pages),
            known(status.fetches_total),
            known(status.changes_total),
            known(status.never_fetched),
            known(status.in_flight),
        )
    })?;
    match arguments.until_idle && ended != STOPPED {
        true => nothing_fetched(&summary.status, || {
            Ok(Inspection::open(&settings, topologies(), &data)?.status()?.0.page_outcomes)
        }),
        false => Ok(()),
    }
}

/// Seeds of this run that are forgotten pages.
fn forgotten_seeds(status: &Status) -> u64 {
    let counts = status.stages.iter().filter_map(|stage| stage.figures.get(scheduler::FORGOTTEN_SEEDS.figure));
    counts.sum::<f64>() as u64
}

/// A figure of a loop in this process, which knows all of them.
fn known<T: Default>(figure: Option<T>) -> T {
    figure.unwrap_or_default()
}

/// Fails if the requests of a run came to nothing. If there were none, because all pages wait after a failure, the last
/// request of each page counts.
fn nothing_fetched(
    status: &Status,
    of_pages: impl FnOnce() -> Result<Vec<OutcomeCount>, CommandFailure>,
) -> Result<(), CommandFailure> {
    let is_from_before = status.outcomes.is_empty() && status.never_fetched == status.pages;
    let counts = if is_from_before { of_pages()? } else { status.outcomes.clone() };
    match only_failures(&counts) {
        Some(reason) => Err(CommandFailure::No(format!("nothing was fetched: {reason}"))),
        None => Ok(()),
    }
}

/// Numbers of pages and of their hosts.
#[derive(Clone, Copy)]
struct PagesAndHosts {
    pages: u64,
    hosts: u64,
}

impl PagesAndHosts {
    fn of(seeds: &[Seed]) -> Self {
        let hosts: BTreeSet<_> = seeds.iter().map(|seed| seed.url.host_name()).collect();
        Self { pages: seeds.len() as u64, hosts: hosts.len() as u64 }
    }

    /// These seeds, or the pages that the crawl knows from before if they are more.
    fn or_known(self, status: &Status) -> Self {
        let hosts = status.stages.iter().filter_map(|stage| stage.figures.get(scheduler::HOSTS.figure)).sum::<f64>();
        let known = Self { pages: known(status.pages), hosts: hosts as u64 };
        if known.pages > self.pages { known } else { self }
    }

    fn pace(self, settings: &Settings) -> CrawlPace {
        CrawlPace::of(settings, self.pages, self.hosts)
    }
}

/// Shows progress until the run ends, sends the seeds once there is room for them on the disk, and calls `ready` once when
/// the stages have loaded their state. Returns the reason of the end.
fn watch(
    embedded: &Embedded,
    arguments: &RunArguments,
    started: Instant,
    listed: SeedList,
    ready: &mut dyn FnMut(&Status),
) -> Result<&'static str, CommandFailure> {
    let target = ProgressDrawTarget::stderr_with_hz(2);
    let bar = ProgressBar::with_draw_target(None, target).with_style(
        ProgressStyle::with_template("{spinner} {elapsed} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()),
    );
    let (mut quiet, mut was_ready, mut seeds) = (Quiet::default(), false, Some(listed));
    // Receivers are waited for, too: the next run may be a day away.
    let mut since_quiet = None;
    let ended = loop {
        if embedded.has_room()
            && let Some(listed) = seeds.take()
        {
            embedded.seed(listed)?;
        }
        std::thread::sleep(Duration::from_millis(100));
        if embedded.stop.is_stopped() {
            break STOPPED;
        }
        if arguments.duration.is_some_and(|limit| started.elapsed() >= *limit) {
            break "time is up";
        }
        if !arguments.until_idle || seeds.is_some() || !quiet.lasts(embedded.idle_by_refreshes()?) {
            since_quiet = None;
        } else if embedded.receivers_are_idle(since_quiet.get_or_insert_with(|| embedded.board.receivers().statuses()))
        {
            break "idle";
        }
        let status = embedded.board.status();
        if !was_ready && embedded.board.is_ready() {
            was_ready = true;
            // The figures of this moment: those from before may be of a part of the state.
            bar.suspend(|| ready(&embedded.board.status()));
        }
        bar.set_message(format!(
            "{} pages, {} never fetched, {} in flight, {} fetches ({:.1}/s), {} changes",
            known(status.pages),
            known(status.never_fetched),
            known(status.in_flight),
            known(status.fetches_total),
            known(status.fetch_rate_per_s),
            known(status.changes_total),
        ));
    };
    bar.finish_and_clear();
    Ok(ended)
}

/// How often each stage had computed its figures when the loop was first seen idle; `None` while it is not.
#[derive(Default)]
struct Quiet(Option<Vec<u64>>);

impl Quiet {
    /// Whether the loop has been idle for [`QUIET_REFRESHES`] of every stage. `idle`: how often each has computed its figures by
    /// now, if the loop is idle by them.
    fn lasts(&mut self, idle: Option<Vec<u64>>) -> bool {
        let Some(refreshes) = idle else {
            self.0 = None;
            return false;
        };
        let since = self.0.get_or_insert_with(|| refreshes.clone());
        refreshes.iter().zip(since).all(|(now, then)| *now >= *then + QUIET_REFRESHES)
    }
}

/// The seeds of the file, of the arguments and of search interfaces, each page once.
fn seeds_of(arguments: &RunArguments, settings: &Settings) -> Result<SeedList, CommandFailure> {
    let mut list = settings.crawl.seeds.as_deref().map(read_seeds).transpose()?.unwrap_or_default();
    let named = seeds::parse(&arguments.urls.join("\n"));
    if let Some(fault) = named.faults.first() {
        return Err(CommandFailure::Input(format!("{}: {}", fault.text, fault.problem)));
    }
    let mut known: HashSet<_> = list.seeds.iter().map(|seed| seed.url.page_id()).collect();
    let searched = if arguments.seeds_only { SeedList::default() } else { searches(settings) };
    let further = named.seeds.into_iter().chain(searched.seeds);
    list.seeds.extend(further.filter(|seed| known.insert(seed.url.page_id())));
    Ok(list)
}

/// The settings of a run. If only the list is fetched, nothing is discovered.
fn settings_of(arguments: &RunArguments) -> Result<(Settings, Option<Preset>), CommandFailure> {
    let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    let closed = |value: &str| arguments.seeds_only.then(|| value.to_owned());
    arguments.settings.load_with_preset(&[
        ("crawl.data", path(&arguments.data)),
        ("crawl.seeds", path(&arguments.seeds)),
        ("crawl.discover", closed("none")),
        ("hints.discover", closed("false")),
        ("search.templates", closed("[]")),
        ("search.queries", closed("[]")),
    ])
}

/// The list by which the scheduler knows which pages are left out. `None` for a crawl that goes on without a list.
fn list_of_start(seeds: &[Seed], settings: &Settings, is_all: bool) -> Option<ListedSeeds> {
    let rules = settings.urls.rules();
    let ids = seeds.iter().map(|seed| rules.apply(seed.url.clone()).page_id());
    (!seeds.is_empty()).then(|| ListedSeeds::new(ids, is_all))
}

/// How many seeds of earlier starts the list leaves out, and what that means. `None` if it leaves out none.
fn unlisted_in_words(seeds: u64, is_all: bool) -> Option<String> {
    let (seeds, verb, them) = match seeds {
        0 => return None,
        1 => ("1 known seed".to_owned(), "is", "it"),
        _ => (format!("{seeds} known seeds"), "are", "them"),
    };
    Some(match is_all {
        true => format!("{seeds} {verb} not in the list, and {verb} not fetched (--seeds-only)"),
        false => format!(
            "{seeds} {verb} not in the list, and {verb} fetched all the same; --seeds-only leaves {them} out, recrawl forget URL removes a page"
        ),
    })
}

/// Requires a contact for site owners, unless all seeds are on loopback.
fn require_contact(settings: &Settings, seeds: &[Seed]) -> Result<(), CommandFailure> {
    let is_here = |seed: &Seed| own_machine::is_here(settings, &seed.url);
    match settings.crawl.contact_required_fault(seeds.iter().all(is_here)) {
        Some(fault) => Err(CommandFailure::Input(fault.to_string())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use messages::OutcomeClass;

    fn counts(of: &[(&str, OutcomeClass, Option<&str>, u64)]) -> Vec<OutcomeCount> {
        let count = |&(meaning, class, setting, count): &(&str, OutcomeClass, Option<&str>, u64)| OutcomeCount {
            class,
            outcome: String::new(),
            meaning: meaning.to_owned(),
            setting: setting.map(str::to_owned),
            count,
        };
        of.iter().map(count).collect()
    }

    fn reported(status: &Status, of_pages: &[OutcomeCount]) -> Option<String> {
        nothing_fetched(status, || Ok(of_pages.to_vec())).err().map(|failure| failure.to_string())
    }

    #[test]
    fn a_loop_is_idle_only_by_figures_that_every_stage_computed_since() {
        let mut quiet = Quiet::default();
        // However long that lasts: a stage that has no time computes no figures.
        assert!((0..1_000).all(|_| !quiet.lasts(Some(vec![7, 3]))));
        assert!(!quiet.lasts(Some(vec![90, 4])), "the second stage has none of the last moment");
        assert!(quiet.lasts(Some(vec![91, 5])));
        assert!(!quiet.lasts(None), "a record waits");
        assert!(!quiet.lasts(Some(vec![99, 9])) && !quiet.lasts(Some(vec![100, 12])), "it counts from then");
        assert!(quiet.lasts(Some(vec![101, 12])));
    }

    #[test]
    fn a_run_that_fetched_nothing_reports_the_most_frequent_reason() {
        let lost = ("connection lost", OutcomeClass::Failed, None, 2);
        let private = ("private address", OutcomeClass::NotSent, Some("fetch.x"), 3);
        let sentence = "nothing was fetched: private address, 3 of 5 times; fetch.x would change it";
        let status =
            Status { outcomes: counts(&[lost, private]), pages: Some(5), never_fetched: Some(5), ..Status::default() };
        assert_eq!(reported(&status, &[]).as_deref(), Some(sentence));
        // A second run may find every page waiting after its failure.
        let again = Status { outcomes: Vec::new(), ..status.clone() };
        assert_eq!(reported(&again, &status.outcomes).as_deref(), Some(sentence));
        let lost = Status { outcomes: counts(&[lost]), ..Status::default() };
        assert_eq!(reported(&lost, &[]).as_deref(), Some("nothing was fetched: connection lost, 2 of 2 times"));
    }

    #[test]
    fn a_run_in_which_something_was_fetched_or_nothing_was_due_is_fine() {
        let failed = ("connection lost", OutcomeClass::Failed, None, 9);
        for class in [OutcomeClass::Fetched, OutcomeClass::Unchanged, OutcomeClass::Missing] {
            let outcomes = counts(&[("an answer", class, None, 1), failed]);
            assert_eq!(reported(&Status { outcomes, ..Status::default() }, &[]), None);
        }
        let known = Status { pages: Some(2), ..Status::default() };
        assert_eq!(reported(&known, &counts(&[failed])), None, "the pages were fetched before");
        assert_eq!(reported(&Status::default(), &[]), None);
    }
}
