//! `recrawl status`: shows the state of a crawl, running or not, embedded or over Kafka.

use crate::CommandFailure;
use crate::attention::{sentence, troubles};
use crate::commands::{SettingsArguments, WaitArguments, deliver};
use crate::stages::topologies;
use ::operate::Access;
use clap::Args;
use daemon::{OutcomeCount, Status, StopSignal, outcome_lines};
use metrics::scheduler;
use outputs::stdout::{Format, answer, answer_anew};
use settings::Settings;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Arguments of `recrawl status`.
#[derive(Args, Debug)]
pub struct StatusArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    /// State directory of a `recrawl run`.
    #[arg(long, conflicts_with = "url")]
    data: Option<PathBuf>,
    /// Address of a running recrawl or service, such as 127.0.0.1:9464. Exits with status 3 if a stage of it hangs.
    #[arg(long)]
    url: Option<String>,
    #[command(flatten)]
    wait: WaitArguments,
    /// Shows it again every two seconds, until Ctrl-C.
    #[arg(long)]
    watch: bool,
}

/// Time between two answers that are watched.
const WATCH_EVERY: Duration = Duration::from_secs(2);
/// Time between two looks for a stop.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Shows the state of a crawl.
pub fn status(arguments: &StatusArguments, format: Format) -> Result<(), CommandFailure> {
    let data = arguments.data.as_ref().map(|path| path.display().to_string());
    let settings = arguments.settings.load(&[("crawl.data", data)])?;
    if !arguments.watch {
        let (status, complete) = current(arguments, &settings)?;
        answer(format, &status, |status| text(status, complete.is_ok()))?;
        return complete;
    }
    let stop = StopSignal::on_signals()?;
    while !stop.is_stopped() {
        match current(arguments, &settings) {
            Ok((status, complete)) => {
                answer_anew(format, &status, |status| text(status, complete.is_ok()), &stop)?;
            }
            // It may be starting, and come back.
            Err(CommandFailure::World(why)) => eprintln!("recrawl: {why}"),
            Err(failure) => return Err(failure),
        }
        let shown = Instant::now();
        while shown.elapsed() < WATCH_EVERY && !stop.is_stopped() {
            std::thread::sleep(LOOK_EVERY);
        }
    }
    Ok(())
}

/// The state of the crawl, and whether all of it has answered.
fn current(
    arguments: &StatusArguments,
    settings: &Settings,
) -> Result<(Status, Result<(), CommandFailure>), CommandFailure> {
    let running = || settings.crawl.data.as_deref().map(Access::running).transpose();
    Ok(match arguments.url.clone() {
        Some(address) => {
            // No token: status is open, and the health check of an image has none.
            let access = Access { address, log: None, token: None, ca_file: settings.http.ca_file.clone() };
            let is_healthy = operate::check_health(&access);
            (operate::status_at(&access)?, is_healthy)
        }
        None => match running()?.flatten() {
            Some(access) => (operate::status_at(&access)?, Ok(())),
            None => operate::state::open(settings, topologies(), *arguments.wait.wait)?.status()?,
        },
    })
}

/// The outcomes of requests, a line per class.
fn outcomes(title: &str, counts: &[OutcomeCount]) -> Vec<String> {
    let lines = outcome_lines(counts).into_iter().map(|line| format!("  {line}"));
    let title = (!counts.is_empty()).then(|| format!("{title}:"));
    title.into_iter().chain(lines).collect()
}

/// A count, or that it is not known.
fn count(count: Option<u64>) -> String {
    count.map_or("unknown".to_owned(), |count| count.to_string())
}

fn text(status: &Status, is_complete: bool) -> String {
    let rate = status.fetch_rate_per_s.map_or(String::new(), |rate| format!("   {rate:.2} a second"));
    let freshness = status.estimated_freshness.map_or("unknown".to_owned(), |share| format!("{:.2} %", 100.0 * share));
    let age = status.estimated_age_days.map_or("unknown".to_owned(), |days| format!("{days:.2} days"));
    let audited = status.audited_freshness.as_ref().map_or(format!("{:>10}", "unknown"), |audited| {
        let (mean, low, high) = (100.0 * audited.mean, 100.0 * audited.low, 100.0 * audited.high);
        format!("{mean:>8.2} %   {low:.2} to {high:.2} % by {} random looks", audited.looks)
    });
    let calibrated = status.calibrated_freshness.as_ref().map_or(format!("{:>10}", "unknown"), |calibrated| {
        let (mean, low, high) = (100.0 * calibrated.mean, 100.0 * calibrated.low, 100.0 * calibrated.high);
        format!("{mean:>8.2} %   {low:.2} to {high:.2} %: expected, corrected by {:.0} recent looks", calibrated.looks)
    });
    let troubles = troubles(status);
    let first = if is_complete { sentence(status, &troubles) } else { "Not all of the crawl answers.".to_owned() };
    let mut lines = vec![first];
    lines.extend(troubles.iter().map(|trouble| format!("  * {}", trouble.text)));
    lines.push(String::new());
    lines.extend([
        format!("pages                {:>10}   never fetched {}", count(status.pages), count(status.never_fetched)),
        format!("due                  {:>10}", count(status.due)),
        format!("in flight            {:>10}", count(status.in_flight)),
        format!("fetches              {:>10}{rate}", count(status.fetches_total)),
        format!("changes seen         {:>10}", count(status.changes_total)),
        format!("expected freshness   {freshness:>10}   mean age {age}"),
        format!("audited freshness    {audited}"),
        format!("calibrated freshness {calibrated}"),
    ]);
    let planned =
        status.stages.iter().filter_map(|stage| stage.figures.get(scheduler::PLANNED_PAGES.figure)).sum::<f64>();
    lines.extend((planned > 0.0).then(|| {
        format!(
            "planned pages        {planned:>10}   the fast class, sites of rank 4, or the current period, cycle or batch"
        )
    }));
    lines.extend(status.focus.as_ref().map(|focus| {
        let recall = focus
            .target_recall
            .map_or(String::new(), |recall| format!("; {:.1} % of the focuses' examples found", 100.0 * recall));
        let (in_focus, judged) = (focus.pages_in_focus, focus.judged_pages);
        format!(
            "harvest rate         {:>8.2} %   {in_focus} of {judged} pages in focus{recall}",
            100.0 * focus.harvest_rate
        )
    }));
    lines.extend(status.failed_seeds.filter(|seeds| *seeds > 0).map(|seeds| {
        format!(
            "failed seeds         {seeds:>10}   never fetched with success: recrawl changes --verdict failed lists them"
        )
    }));
    lines.extend(
        status
            .unlisted_seeds
            .filter(|seeds| *seeds > 0)
            .map(|seeds| format!("unlisted seeds       {seeds:>10}   known from before, and not in the list of seeds")),
    );
    lines.extend(status.blind_pages.filter(|pages| *pages > 0).map(|pages| {
        format!(
            "rules see nothing    {pages:>10}   pages lack something that is watched: recrawl rules --check lists them"
        )
    }));
    lines.extend(status.disk.as_ref().map(|disk| {
        let stopped = if disk.is_short { "; nearly full: no work is taken in" } else { "" };
        format!("disk                 {}{stopped}", disk.words())
    }));
    lines.extend(status.topic_problems.iter().map(|problem| format!("changed on Kafka     {problem}")));
    lines.extend(outcomes("requests of this process", &status.outcomes));
    lines.extend(outcomes("pages by their last request", &status.page_outcomes));
    lines.extend([
        String::new(),
        format!("{:<12}{:>12}{:>12}{:>12}{:>12}", "stage", "lag", "lag s", "processed", "set aside"),
    ]);
    lines.extend(status.stages.iter().map(|stage| {
        let problems = stage.last_error.iter().chain(&stage.waits_for);
        let problem: String = problems.map(|problem| format!("   {problem}")).collect();
        format!(
            "{:<12}{:>12}{:>12.1}{:>12}{:>12}{problem}",
            stage.name,
            stage.lag_records,
            stage.lag_s,
            count(stage.processed_total),
            count(stage.set_aside_total),
        )
    }));
    if !status.receivers.is_empty() {
        lines.extend([
            String::new(),
            format!("{:<16}{:>10}{:>10}{:>10}   target", "receiver", "delivered", "waiting", "left out"),
        ]);
        lines.extend(status.receivers.iter().map(deliver::line));
    }
    if !status.unanswered.is_empty() {
        lines.extend([String::new(), format!("not in these figures: {}", status.unanswered.join(", "))]);
    }
    lines.join("\n")
}
