//! `recrawl hosts`: what each host takes and is worth.

use crate::CommandFailure;
use crate::commands::CrawlArguments;
use clap::{Args, ValueEnum};
use messages::{HostOrder, HostSelection};
use outputs::stdout::{Format, answer, answers};
use scheduler::HostReport;

/// Arguments of `recrawl hosts`.
#[derive(Args, Debug)]
pub struct HostsArguments {
    #[command(flatten)]
    crawl: CrawlArguments,
    /// Number of hosts shown; 0 shows all, which is for a data directory only.
    #[arg(long, default_value_t = 20)]
    top: u32,
    /// Order of the hosts.
    #[arg(long, default_value = "pages")]
    by: ShownOrder,
}

/// An order of hosts, from the first to the last shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ShownOrder {
    /// Most pages first.
    Pages,
    /// Most fetches first.
    Fetches,
    /// Largest sum of weights first.
    Value,
    /// Stalest first.
    Freshness,
    /// By name.
    Name,
}

impl From<ShownOrder> for HostOrder {
    fn from(order: ShownOrder) -> Self {
        match order {
            ShownOrder::Pages => HostOrder::Pages,
            ShownOrder::Fetches => HostOrder::Fetches,
            ShownOrder::Value => HostOrder::Value,
            ShownOrder::Freshness => HostOrder::Freshness,
            ShownOrder::Name => HostOrder::Name,
        }
    }
}

pub fn hosts(arguments: &HostsArguments, format: Format) -> Result<(), CommandFailure> {
    let (_, state) = arguments.crawl.open()?;
    let at_most = if arguments.top == 0 { i32::MAX } else { i32::try_from(arguments.top).unwrap_or(i32::MAX) };
    let more = match state.most_hosts() {
        None => "--top 0 shows all".to_owned(),
        Some(most) if at_most > most => {
            return Err(CommandFailure::Input(format!(
                "--top {}: stages over Kafka list at most {most} hosts; give --top {most} or less",
                arguments.top
            )));
        }
        Some(most) => format!("--top shows up to {most}"),
    };
    let listing = state.hosts(HostSelection { order: arguments.by.into(), at_most })?;
    match format {
        Format::Text => answer(format, &listing.hosts, |hosts| text(hosts, listing.known, &more)),
        Format::Json | Format::Jsonl => answers(format, &listing.hosts, |_| String::new()),
    }
}

/// Why a host is not asked. Empty if it is.
pub(crate) fn state_in_words(report: &HostReport) -> String {
    match (report.blocked, report.paused, report.left_alone_until) {
        (true, _, _) => "blocked".to_owned(),
        (false, true, _) => "paused".to_owned(),
        (false, false, Some(until)) => format!("left alone until {until}"),
        (false, false, None) => String::new(),
    }
}

fn text(reports: &[HostReport], known: u64, more: &str) -> String {
    let width = reports.iter().map(|report| report.host.as_str().chars().count()).max().unwrap_or(0).max("host".len());
    let mut lines = vec![format!(
        "{:<width$} {:>9} {:>9} {:>8} {:>9} {:>9} {:>8}  state",
        "host", "pages", "fetches", "budget", "value", "freshness", "mirrors"
    )];
    lines.extend(reports.iter().map(|report| {
        let state = state_in_words(report);
        let line = format!(
            "{:<width$} {:>9} {:>9} {:>6.1} % {:>9.2} {:>7.1} % {:>8}  {state}",
            report.host.as_str(),
            report.pages,
            report.fetches,
            100.0 * report.budget_share,
            report.value,
            100.0 * report.freshness,
            report.mirrors,
        );
        line.trim_end().to_owned()
    }));
    if (reports.len() as u64) < known {
        lines.push(format!("{} of {known} hosts; {more}", reports.len()));
    }
    lines.join("\n")
}
