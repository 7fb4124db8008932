//! `recrawl hosts`: what each host takes and is worth.

use crate::CommandFailure;
use crate::commands::{CrawlArguments, StateSource};
use clap::{Args, ValueEnum};
use messages::{HostOrder, HostSelection};
use outputs::stdout::{Format, answer, answers};
use scheduler::{HostReport, MOST_LISTED_HOSTS};

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

/// Lists hosts.
pub fn hosts(arguments: &HostsArguments, format: Format) -> Result<(), CommandFailure> {
    let state = arguments.crawl.open()?;
    let at_most = if arguments.top == 0 { i32::MAX } else { i32::try_from(arguments.top).unwrap_or(i32::MAX) };
    let selection = HostSelection { order: arguments.by.into(), at_most };
    let (listing, more) = match &state.source {
        StateSource::Directory(inspection) => {
            (inspection.host_list(&state.settings, selection)?, "--top 0 shows all".to_owned())
        }
        StateSource::Stages(_) if at_most > MOST_LISTED_HOSTS => {
            return Err(CommandFailure::Input(format!(
                "--top {}: stages over Kafka list at most {MOST_LISTED_HOSTS} hosts; give --top {MOST_LISTED_HOSTS} or less",
                arguments.top
            )));
        }
        StateSource::Stages(asker) => (asker.hosts(selection)?, format!("--top shows up to {MOST_LISTED_HOSTS}")),
    };
    match format {
        Format::Text => answer(format, &listing.hosts, |hosts| text(hosts, listing.known, &more)),
        Format::Json | Format::Jsonl => answers(format, &listing.hosts, |_| String::new()),
    }
}

fn text(reports: &[HostReport], known: u64, more: &str) -> String {
    let width = reports.iter().map(|report| report.host.as_str().chars().count()).max().unwrap_or(0).max("host".len());
    let mut lines = vec![format!(
        "{:<width$} {:>9} {:>9} {:>8} {:>9} {:>9} {:>8}  state",
        "host", "pages", "fetches", "budget", "value", "freshness", "mirrors"
    )];
    lines.extend(reports.iter().map(|report| {
        let state = match (report.blocked, report.paused, report.left_alone_until) {
            (true, _, _) => "blocked".to_owned(),
            (false, true, _) => "paused".to_owned(),
            (false, false, Some(until)) => format!("left alone until {until}"),
            (false, false, None) => String::new(),
        };
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
