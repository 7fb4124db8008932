//! `recrawl status`: shows the state of a crawl, running or not, embedded or over Kafka.

use crate::commands::SettingsArguments;
use crate::embedded::ADDRESS_FILE;
use crate::inspect::Inspection;
use crate::output::{Format, answer};
use crate::{CommandFailure, http_client};
use clap::Args;
use daemon::{OutcomeCount, StageLag, Status, WebClock, outcome_lines};
use std::path::{Path, PathBuf};
use stream::Clock;
use topology::LogNames;

/// Arguments of `recrawl status`.
#[derive(Args, Debug)]
pub struct StatusArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    /// State directory of a `recrawl run`.
    #[arg(long, conflicts_with = "url")]
    data: Option<PathBuf>,
    /// Address of a running recrawl or service, such as 127.0.0.1:9464.
    #[arg(long)]
    url: Option<String>,
}

/// Shows the state of a crawl.
pub fn status(arguments: &StatusArguments, format: Format) -> Result<(), CommandFailure> {
    let data = arguments.data.as_ref().map(|path| path.display().to_string());
    let settings = arguments.settings.load(&[("crawl.data", data)])?;
    let status = match (&arguments.url, &settings.crawl.data, &settings.kafka.brokers) {
        (Some(address), _, _) => ask(address)?,
        (None, None, Some(_)) => over_kafka(&settings)?,
        (None, Some(data), _) => match running(data) {
            Some(address) => ask(&address)?,
            None => Inspection::open(&settings, data)?.status()?,
        },
        (None, None, None) => {
            return Err(CommandFailure::Input(
                "no crawl given: give --data DIR, --url HOST:PORT, or --config with kafka.brokers".into(),
            ));
        }
    };
    answer(format, &status, text)
}

/// The address of the loop that runs on a data directory, if it responds there.
pub fn running(data: &Path) -> Option<String> {
    let address = std::fs::read_to_string(data.join(ADDRESS_FILE)).ok()?;
    let answers = http_client::request(address.trim(), "GET", "/healthz", b"").is_ok();
    answers.then(|| address.trim().to_owned())
}

fn ask(address: &str) -> Result<Status, CommandFailure> {
    let body = http_client::ask(address, "GET", "/status", b"")?;
    serde_json::from_str(&body)
        .map_err(|error| CommandFailure::World(format!("cannot read the status of {address}: {error}")))
}

/// Consumer lag of the stages' groups. Each service reports its own internals (`--url`).
fn over_kafka(settings: &settings::Settings) -> Result<Status, CommandFailure> {
    let log = daemon::service::connect(settings, "recrawl-status")?;
    let names = LogNames::new(settings);
    let mut status = Status::default();
    let now = WebClock::new(&settings.clock).now();
    for (stage, partitions) in daemon::backlog::ask(&log, &names)? {
        let oldest = partitions.iter().filter_map(|of| of.oldest).min();
        status.stages.push(StageLag {
            name: stage.to_owned(),
            lag_records: partitions.iter().map(|of| of.records).sum(),
            lag_s: oldest.map_or(0.0, |oldest| now.saturating_since(oldest).as_secs_f64()),
            partitions: partitions.len(),
            ..StageLag::default()
        });
    }
    Ok(status)
}

/// What requests came to, a line per class.
fn outcomes(title: &str, counts: &[OutcomeCount]) -> Vec<String> {
    let lines = outcome_lines(counts).into_iter().map(|line| format!("  {line}"));
    let title = (!counts.is_empty()).then(|| format!("{title}:"));
    title.into_iter().chain(lines).collect()
}

fn text(status: &Status) -> String {
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
    let mut lines = vec![
        format!("pages                {:>10}   never fetched {}", status.pages, status.never_fetched),
        format!("due                  {:>10}", status.due),
        format!("in flight            {:>10}", status.in_flight),
        format!("fetches              {:>10}   {:.2} a second", status.fetches_total, status.fetch_rate_per_s),
        format!("changes seen         {:>10}", status.changes_total),
        format!("expected freshness   {freshness:>10}   mean age {age}"),
        format!("audited freshness    {audited}"),
        format!("calibrated freshness {calibrated}"),
    ];
    lines.extend(status.focus.as_ref().map(|focus| {
        let recall = focus
            .target_recall
            .map_or(String::new(), |recall| format!("; {:.1} % of the topics' examples found", 100.0 * recall));
        let (on_topic, judged) = (focus.on_topic_pages, focus.judged_pages);
        format!(
            "harvest rate         {:>8.2} %   {on_topic} of {judged} pages on topic{recall}",
            100.0 * focus.harvest_rate
        )
    }));
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
            stage.name, stage.lag_records, stage.lag_s, stage.processed_total, stage.set_aside_total,
        )
    }));
    lines.join("\n")
}
