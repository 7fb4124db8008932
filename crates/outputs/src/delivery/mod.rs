//! Delivers changes to a program or a web server: each at least once, in order, across restarts.

mod health;

pub use self::health::HealthPort;

use self::health::Health;
use crate::progress::Progress;
use crate::record::{ChangeSelection, PublishedChange};
use crate::retry::{FirstTry, NextTry};
use crate::sink::{Directory, Receiver, Undelivered};
use crate::source::{Cursor, FollowOptions, RecordSink, Start, TopicFollower, TopicRecord, pause};
use crate::stdout::{Format, answer};
use daemon::{CommandFailure, StopSignal};
use messages::PageChange;
use serde::Serialize;
use std::path::Path;
use std::time::{Duration, Instant};

/// The remedy if a cursor file belongs to another delivery.
const ELSEWHERE: &str = "give this delivery its own --cursor-file";
/// A wait is made of turns of this length, so that it does not look as if the delivery hung.
const TURN: Duration = Duration::from_secs(1);

/// How the command treats a change that is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum OnFailure {
    /// The command ends with an error. Started again, it begins with this change.
    Stop,
    /// It is reported on stderr and left out.
    Skip,
}

/// Delivers changes to a receiver, and notes how far it came.
pub struct Delivery<'a> {
    follow: &'a FollowOptions,
    selection: &'a ChangeSelection,
    receiver: Box<dyn Receiver>,
    directory: Directory,
    progress: Progress,
    /// Position after changes that are not wanted, as far as it is not noted yet.
    passed_over: Option<Cursor>,
    giving_up: GivingUp,
    stop: &'a StopSignal,
    done: Summary,
    health: Health,
}

#[derive(Debug, Default, Serialize)]
struct Summary {
    delivered: u64,
    /// Changes that were given up and left out.
    skipped: u64,
    failed_attempts: u64,
    /// Position after the last change that was delivered or left out. Null: nothing was, ever.
    cursor: Option<String>,
}

enum Outcome {
    Delivered,
    GivenUp(String),
    Stopped,
}

/// When a delivery gives up, and what happens then.
#[derive(Clone, Copy, Debug)]
pub struct GivingUp {
    /// A change that has been tried again for so long is given up.
    pub after: Duration,
    /// The fate of a change that is given up.
    pub on_failure: OnFailure,
}

impl<'a> Delivery<'a> {
    /// Prepares a delivery to a receiver, which messages call `shown`. `topic` has its prefix.
    ///
    /// # Errors
    /// The cursor file cannot be read or written, is of another topic, or another process delivers with it.
    pub fn open(
        (receiver, shown): (Box<dyn Receiver>, &str),
        cursor_file: &Path,
        topic: &str,
        (follow, selection): (&'a FollowOptions, &'a ChangeSelection),
        giving_up: GivingUp,
        stop: &'a StopSignal,
    ) -> Result<Self, CommandFailure> {
        let name = cursor_file.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| {
            CommandFailure::Input(format!("--cursor-file {}: give the name of a file", cursor_file.display()))
        })?;
        let directory = cursor_file.parent().filter(|parent| !parent.as_os_str().is_empty());
        let mut directory = Directory::open_private(directory.unwrap_or(Path::new(".")), name, ELSEWHERE)?;
        let progress = Progress::read(&mut directory, name.to_owned(), topic, ELSEWHERE)?;
        let delivery = Self {
            follow,
            selection,
            receiver,
            directory,
            progress,
            passed_over: None,
            giving_up,
            stop,
            done: Summary::default(),
            health: Health::default(),
        };
        // Refuses a further cursor before anything is done.
        delivery.start()?;
        let (continues, progress) = (delivery.progress.continues(), delivery.progress.shown(&delivery.directory));
        eprintln!("recrawl: delivering to {shown} {continues}; progress is in {progress}");
        Ok(delivery)
    }

    /// Shows its figures at a port.
    pub fn show_at(&mut self, port: &HealthPort) {
        self.health = port.health();
    }

    /// Where to go on.
    pub fn start(&self) -> Result<Start, CommandFailure> {
        self.follow.resume(self.progress.cursor(), &self.progress.shown(&self.directory))
    }

    /// Prints what was done. Changes that were left out are a failure.
    pub fn finish(mut self, format: Format) -> Result<(), CommandFailure> {
        self.done.cursor = self.progress.cursor().map(|cursor| cursor.to_string());
        answer(format, &self.done, |done| {
            let skipped = if done.skipped > 0 { format!(", {} left out", done.skipped) } else { String::new() };
            let cursor = done.cursor.as_deref().unwrap_or("none");
            format!(
                "{} changes delivered{skipped}; {} attempts failed; cursor {cursor}",
                done.delivered, done.failed_attempts
            )
        })?;
        match self.done.skipped {
            0 => Ok(()),
            skipped => Err(CommandFailure::World(format!("{skipped} changes were not delivered (see above)"))),
        }
    }

    fn attempt_until_done(&mut self, change: &PublishedChange) -> Result<Outcome, CommandFailure> {
        let first = FirstTry { at: Instant::now(), give_up_after: self.giving_up.after };
        for attempt in 1.. {
            self.health.turned();
            let (problem, after) = match self.receiver.deliver(change, attempt) {
                Ok(()) => return Ok(Outcome::Delivered),
                Err(Undelivered::Wrong(problem)) => return Err(CommandFailure::Input(problem)),
                Err(Undelivered::Refused(problem)) => {
                    self.attempt_failed();
                    return Ok(Outcome::GivenUp(problem));
                }
                Err(Undelivered::Later { problem, after }) => (problem, after),
            };
            self.attempt_failed();
            match first.next(attempt, Instant::now(), after, rand::random()) {
                NextTry::Never(why) => return Ok(Outcome::GivenUp(format!("{problem}; {why}"))),
                NextTry::In(wait) => {
                    // The first failure is printed at once, the following ones when they get rare.
                    if attempt.is_power_of_two() {
                        let seconds = wait.as_secs_f64();
                        let (id, url) = (&change.change_id, &change.url);
                        eprintln!("recrawl: {id} ({url}): {problem}; attempt {} in {seconds:.1} s", attempt + 1);
                    }
                    if !self.waited(wait) {
                        return Ok(Outcome::Stopped);
                    }
                }
            }
        }
        unreachable!("attempts end by the clock");
    }

    /// Waits. Returns whether it did so to the end.
    fn waited(&self, wait: Duration) -> bool {
        let end = Instant::now() + wait;
        while !self.stop.is_stopped() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            self.health.turned();
            pause(left.min(TURN), self.stop);
        }
        false
    }

    fn attempt_failed(&mut self) {
        self.done.failed_attempts += 1;
        self.health.failed_attempt();
    }
}

impl RecordSink<PageChange> for Delivery<'_> {
    fn take(&mut self, record: TopicRecord<PageChange>) -> Result<bool, CommandFailure> {
        let TopicRecord { message, cursor, .. } = record;
        if !self.follow.wants(message.seen_at) || !self.selection.wants(&message) {
            self.passed_over = Some(cursor);
            return Ok(false);
        }
        let change = PublishedChange::new(self.selection.shown(message), &cursor);
        match self.attempt_until_done(&change)? {
            Outcome::Delivered => {
                self.done.delivered += 1;
                self.health.delivered();
            }
            Outcome::Stopped => return Ok(false),
            Outcome::GivenUp(problem) => {
                let (id, url) = (&change.change_id, &change.url);
                let problem = format!("change {id} of {url} was not delivered: {problem}");
                if self.giving_up.on_failure == OnFailure::Stop {
                    return Err(CommandFailure::World(format!(
                        "{problem}; started again, the command begins with this change"
                    )));
                }
                eprintln!("recrawl: {problem}; left out");
                self.done.skipped += 1;
                self.health.left_out();
            }
        }
        self.passed_over = None;
        self.progress.reached(&mut self.directory, &cursor)?;
        Ok(true)
    }

    fn rest(&mut self) -> Result<(), CommandFailure> {
        // Where few changes are wanted, retention must not seem to have deleted some that were not.
        match self.passed_over.take() {
            Some(cursor) => self.progress.reached(&mut self.directory, &cursor),
            None => Ok(()),
        }
    }

    fn looks(&mut self, follower: &TopicFollower<PageChange>) {
        self.health.looks(follower);
    }
}
