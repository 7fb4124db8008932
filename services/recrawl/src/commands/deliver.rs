//! `recrawl deliver`: delivers changes to the receivers of the settings.

use super::SettingsArguments;
use super::delivery::{DATA, door};
use crate::CommandFailure;
use clap::Args;
use daemon::{Background, Board, ReceiverStatus, StopSignal, TopicReader, WebClock, logging};
use messages::topics;
use outputs::delivery::{HealthPort, OpenChanges, Receivers, are_idle};
use outputs::stdout::{Format, answers};
use settings::Settings;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Time between two looks at the receivers.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// The longest time of an attempt that `http` reckons with, if the settings of a receiver say none.
const LONGEST_ATTEMPT: Duration = Duration::from_secs(300);

/// Arguments of `recrawl deliver`.
#[derive(Args, Debug)]
pub struct DeliverArguments {
    /// Receivers, by their names in the settings. Default: all.
    #[arg(value_name = "RECEIVER")]
    receivers: Vec<String>,
    #[command(flatten)]
    settings: SettingsArguments,
    /// State directory of a `recrawl run` without receivers, which may be running. A run delivers to those of its settings
    /// itself.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Ends when each receiver has what is there, or fails. Exit status 3 if one fails.
    #[arg(long)]
    once: bool,
    /// Directory that notes what was delivered. Default: the data directory, or recrawl-data.
    #[arg(long, value_name = "DIR")]
    cursor_dir: Option<PathBuf>,
    /// Shows health, metrics and status at http.bind, as stages do, and waits for Kafka at the start.
    #[arg(long, conflicts_with = "once")]
    serve: bool,
}

/// Delivers until it is stopped, or once.
pub fn deliver(arguments: &DeliverArguments, format: Format) -> Result<(), CommandFailure> {
    let stop = StopSignal::on_signals()?;
    let data = arguments.data.as_ref().map(|path| path.display().to_string());
    let settings = arguments.settings.load(&[("crawl.data", data)])?;
    logging::start(&settings.observability);
    arguments.check_names(&settings)?;
    let clock = Arc::new(WebClock::new(&settings.clock));
    let of_log = settings.clone();
    let changes: Arc<OpenChanges> =
        Arc::new(move || TopicReader::open(&of_log, topics::PAGE_CHANGES, "recrawl-deliver"));
    let mut background = Background::new(&stop);
    let open = || HealthPort::open(&settings, door(&settings)?, longest(&settings), &stop);
    let mut port = arguments.serve.then(open).transpose()?;
    let board = match &port {
        Some(port) => {
            // So that nothing is made in a data directory that is not there.
            let Some(_) = port.patiently(&*changes)? else { return Ok(()) };
            port.board().clone()
        }
        None => {
            changes()?;
            Board::new(Vec::new(), clock.speed())
        }
    };
    let directory = arguments.cursor_dir.as_deref().or(settings.crawl.data.as_deref()).unwrap_or(Path::new(DATA));
    let receivers = Receivers::open(&settings, &arguments.receivers, directory, &*changes, (&board, &clock), &stop)?;
    let before = board.receivers().statuses();
    match &mut port {
        Some(port) => receivers.start_at(port, changes, &mut background)?,
        None => receivers.start(changes, &mut background)?,
    }
    while !(stop.is_stopped() || arguments.once && are_idle(&before, &board.receivers().statuses())) {
        std::thread::sleep(LOOK_EVERY);
    }
    drop(background);
    let statuses = board.receivers().statuses();
    answers(format, &statuses, line)?;
    let failing = statuses.iter().filter(|status| arguments.once && status.failing_since.is_some()).count();
    match failing {
        0 => Ok(()),
        failing => Err(CommandFailure::World(format!("{failing} of {} receivers fail (see above)", statuses.len()))),
    }
}

/// A receiver in a line of a table.
pub(crate) fn line(status: &ReceiverStatus) -> String {
    let ReceiverStatus { name, target, delivered_total, left_out_total, waiting, .. } = status;
    let waiting = waiting.map_or("unknown".to_owned(), |waiting| waiting.to_string());
    let mut line = format!("{name:<16}{delivered_total:>10}{waiting:>10}{left_out_total:>10}   {target}");
    let last = status.last_delivered_at.as_ref().map(|at| format!("last {at}"));
    let next = status.next_digest_at.as_ref().map(|at| format!("next digest {at}"));
    let fails = status.failing_since.as_ref().map(|since| format!("fails since {since}"));
    let lost = (status.lost_total > 0).then(|| format!("up to {} lost by retention", status.lost_total));
    for part in [last, next, lost, fails, status.problem.clone()].into_iter().flatten() {
        line += &format!("; {part}");
    }
    line
}

/// The longest time of an attempt.
fn longest(settings: &Settings) -> Duration {
    let timeouts = settings.receivers.iter().filter_map(|receiver| receiver.timeout);
    timeouts.chain([LONGEST_ATTEMPT]).max().unwrap_or(LONGEST_ATTEMPT)
}

impl DeliverArguments {
    fn check_names(&self, settings: &Settings) -> Result<(), CommandFailure> {
        let known: Vec<&str> = settings.receivers.iter().map(|receiver| receiver.name.as_str()).collect();
        if known.is_empty() {
            let remedy = "write [[deliver]] in the configuration file (docs/deliver-changes.md)";
            return Err(CommandFailure::Input(format!("no receiver is configured; {remedy}")));
        }
        match self.receivers.iter().find(|name| !known.contains(&name.as_str())) {
            Some(name) => {
                let known = known.join(", ");
                Err(CommandFailure::Input(format!("{name}: there is no such receiver; the settings have {known}")))
            }
            None => Ok(()),
        }
    }
}
