//! Delivers changes to a program or a web server: each at least once, in order, across restarts.

mod collected;
mod configured;
mod digests;
mod health;
mod receivers;
mod schedule;
#[cfg(test)]
mod tests;

pub use self::configured::check_receivers;
pub use self::health::HealthPort;
pub use self::receivers::{OpenChanges, Receivers, are_idle};
pub use self::schedule::{Schedule, next_due};

use self::digests::DigestPlan;
use self::health::Health;
use crate::progress::{DigestNote, Progress};
use crate::record::{CHANGES, ChangeSelection, PublishedChange};
use crate::retry::{FirstTry, NextTry};
use crate::sink::{Directory, Parcel, Receiver, Undelivered};
use crate::source::{Cursor, FollowOptions, RecordSink, Start, TopicFollower, TopicRecord, pause};
use crate::stdout::{Format, answer};
use daemon::{CommandFailure, StopSignal};
use messages::PageChange;
use serde::Serialize;
use std::path::Path;
use std::time::{Duration, Instant};

/// A wait is made of turns of this length, so that it does not look as if the delivery hung.
const TURN: Duration = Duration::from_secs(1);
/// The longest wait that a receiver may ask for, where nothing is given up.
const LONGEST_ASKED: Duration = Duration::from_secs(3_600);
/// The most mails in a row that are set aside. So many refusals are no fault of the mails.
const MOST_SET_ASIDE: u32 = 3;

/// How a change that is given up is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum OnFailure {
    /// The command ends with an error. Started again, it begins with this change.
    Stop,
    /// It is reported on stderr and left out.
    Skip,
    /// Nothing is given up: it is tried again until it is taken.
    #[value(skip)]
    Wait,
}

/// Delivers changes to a receiver, and notes how far it came.
pub struct Delivery {
    follow: FollowOptions,
    selection: ChangeSelection,
    receiver: Box<dyn Receiver>,
    directory: Directory,
    progress: Progress,
    /// Position after changes that are not wanted, as far as it is not noted yet.
    passed_over: Option<Cursor>,
    /// The end of what was sent last, until it is noted. Nothing is sent before.
    unnoted: Option<Done>,
    /// Where it has opened the topic last.
    opened_at: Option<Cursor>,
    /// How many were set aside since the last one that was taken.
    set_aside_in_row: u32,
    giving_up: GivingUp,
    stop: StopSignal,
    done: Summary,
    health: Health,
    /// Its name in the settings, if it is there.
    name: Option<String>,
    /// When its digests are due, if it gets such.
    plan: Option<DigestPlan>,
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

/// Changes that were delivered or left out.
#[derive(Debug)]
struct Done {
    /// The position after them.
    cursor: Cursor,
    /// How far digests came with them.
    digest: Option<DigestNote>,
    changes: u64,
    /// Why they were left out, if they were.
    left_out: Option<String>,
}

enum Outcome {
    Delivered,
    /// Refused for good, whatever the delivery does with changes that are given up.
    SetAside(String),
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

impl Delivery {
    /// Prepares a delivery to a receiver. `topic` has its prefix; `elsewhere` is the remedy if the cursor file is that of
    /// another delivery.
    ///
    /// # Errors
    /// The cursor file cannot be read or written, is of another topic, or another process delivers with it.
    pub fn open(
        receiver: Box<dyn Receiver>,
        cursor_file: &Path,
        topic: &str,
        elsewhere: &str,
        (follow, selection): (&FollowOptions, &ChangeSelection),
        giving_up: GivingUp,
        stop: &StopSignal,
    ) -> Result<Self, CommandFailure> {
        let name = cursor_file.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| {
            CommandFailure::Input(format!("--cursor-file {}: give the name of a file", cursor_file.display()))
        })?;
        let directory = cursor_file.parent().filter(|parent| !parent.as_os_str().is_empty());
        let mut directory = Directory::open_private(directory.unwrap_or(Path::new(".")), name, elsewhere)?;
        let progress = Progress::read(&mut directory, name.to_owned(), topic, elsewhere)?;
        let delivery = Self {
            follow: follow.clone(),
            selection: selection.clone(),
            receiver,
            directory,
            progress,
            passed_over: None,
            unnoted: None,
            opened_at: None,
            set_aside_in_row: 0,
            giving_up,
            stop: stop.clone(),
            done: Summary::default(),
            health: Health::default(),
            name: None,
            plan: None,
        };
        // Refuses a further cursor before anything is done.
        delivery.start()?;
        Ok(delivery)
    }

    /// Prints where it goes on.
    pub fn report_start(&self, shown: &str) {
        let (continues, progress) = (self.progress.continues(), self.progress.shown(&self.directory));
        eprintln!("recrawl: delivering to {shown} {continues}; progress is in {progress}");
    }

    /// Shows its figures at a port.
    pub fn show_at(&mut self, port: &HealthPort) {
        self.health = port.health();
    }

    /// Where to go on.
    pub fn start(&self) -> Result<Start, CommandFailure> {
        self.follow.resume(self.progress.cursor(), &self.progress.shown(&self.directory))
    }

    /// Opens the changes behind its position.
    fn follower(&mut self, changes: &OpenChanges) -> Result<TopicFollower<PageChange>, CommandFailure> {
        let start = self.start()?;
        let follower = TopicFollower::open(changes()?, CHANGES, &start)?;
        // Opened at the same position once more, it finds the same losses.
        if start.cursor != self.opened_at {
            self.health.came_further();
            self.opened_at = start.cursor;
        }
        Ok(follower)
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

    fn attempt_until_done(&mut self, parcel: &Parcel<'_>) -> Result<Outcome, CommandFailure> {
        let waits = self.giving_up.on_failure == OnFailure::Wait;
        let first = FirstTry { at: Instant::now(), give_up_after: self.giving_up.after };
        for attempt in 1.. {
            self.health.turned();
            let (problem, after) = match self.receiver.deliver(parcel, attempt) {
                Ok(()) => {
                    self.set_aside_in_row = 0;
                    return Ok(Outcome::Delivered);
                }
                Err(Undelivered::SetAside(problem)) if self.set_aside_in_row < MOST_SET_ASIDE => {
                    self.set_aside_in_row += 1;
                    self.attempt_failed(&problem);
                    return Ok(Outcome::SetAside(problem));
                }
                Err(Undelivered::SetAside(problem)) => {
                    (format!("{MOST_SET_ASIDE} before it were refused, too: {problem}"), None)
                }
                // The operator may mend it meanwhile.
                Err(Undelivered::Wrong(problem) | Undelivered::Refused(problem)) if waits => (problem, None),
                Err(Undelivered::Wrong(problem)) => return Err(CommandFailure::Input(problem)),
                Err(Undelivered::Refused(problem)) => {
                    self.attempt_failed(&problem);
                    return Ok(Outcome::GivenUp(problem));
                }
                Err(Undelivered::Later { problem, after }) => (problem, after),
            };
            self.attempt_failed(&problem);
            let after = if waits { after.map(|after| after.min(LONGEST_ASKED)) } else { after };
            match first.next(attempt, Instant::now(), after, rand::random()) {
                NextTry::Never(why) => return Ok(Outcome::GivenUp(format!("{problem}; {why}"))),
                NextTry::In(wait) => {
                    // The first failure is printed at once, the following ones when they get rare.
                    if attempt.is_power_of_two() {
                        let seconds = wait.as_secs_f64();
                        let shown = parcel.shown();
                        self.say(&format!("{shown}: {problem}; attempt {} in {seconds:.1} s", attempt + 1));
                    }
                    if !self.waited(wait) {
                        return Ok(Outcome::Stopped);
                    }
                }
            }
        }
        unreachable!("attempts end by the clock");
    }

    /// Reports to the operator: a command on stderr, a receiver of the settings in the log.
    fn say(&self, text: &str) {
        match &self.name {
            Some(receiver) => tracing::warn!(receiver, "{text}"),
            None => eprintln!("recrawl: {text}"),
        }
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
            pause(left.min(TURN), &self.stop);
        }
        false
    }

    /// Notes and counts what was delivered or left out. If the note cannot be written, it is kept for
    /// [`Delivery::note_rest`]: sent again, it would arrive twice.
    fn note(&mut self, done: Done) -> Result<(), CommandFailure> {
        self.unnoted = Some(done);
        self.note_rest()
    }

    /// Notes what could not be noted before.
    fn note_rest(&mut self) -> Result<(), CommandFailure> {
        let Some(Done { cursor, digest, changes, left_out }) = &self.unnoted else { return Ok(()) };
        match digest {
            Some(note) => self.progress.note_digest(&mut self.directory, Some(cursor), note.clone())?,
            None => self.progress.reached(&mut self.directory, cursor)?,
        }
        match left_out {
            Some(problem) => {
                self.done.skipped += changes;
                self.health.left_out(*changes, problem);
            }
            None if *changes > 0 => {
                self.done.delivered += changes;
                self.health.delivered(*changes);
            }
            None => {}
        }
        self.unnoted = None;
        Ok(())
    }

    fn attempt_failed(&mut self, problem: &str) {
        self.done.failed_attempts += 1;
        self.health.failed_attempt(problem);
    }
}

impl RecordSink<PageChange> for Delivery {
    fn take(&mut self, record: TopicRecord<PageChange>) -> Result<bool, CommandFailure> {
        let TopicRecord { message, cursor, .. } = record;
        if !self.follow.wants(message.seen_at) || !self.selection.wants(&message) {
            self.passed_over = Some(cursor);
            return Ok(false);
        }
        let change = PublishedChange::new(self.selection.shown(message), &cursor);
        self.health.is_under_way(1);
        let parcel = Parcel::Change(&change);
        let outcome = self.attempt_until_done(&parcel);
        self.health.is_under_way(0);
        let problem = match outcome? {
            Outcome::Delivered => None,
            Outcome::Stopped => return Ok(false),
            Outcome::SetAside(problem) => Some((problem, true)),
            Outcome::GivenUp(problem) => Some((problem, self.giving_up.on_failure != OnFailure::Stop)),
        };
        if let Some((problem, is_left_out)) = &problem {
            let problem = format!("{} was not delivered: {problem}", parcel.shown());
            if !is_left_out {
                return Err(CommandFailure::World(format!(
                    "{problem}; started again, the command begins with this change"
                )));
            }
            self.say(&format!("{problem}; left out"));
        }
        self.passed_over = None;
        let left_out = problem.map(|(problem, _)| problem);
        self.note(Done { cursor, digest: None, changes: 1, left_out })?;
        Ok(true)
    }

    fn rest(&mut self) -> Result<(), CommandFailure> {
        // Where few changes are wanted, retention must not seem to have deleted some that were not.
        if let Some(cursor) = self.passed_over.take() {
            self.progress.reached(&mut self.directory, &cursor)?;
        }
        self.health.rests();
        Ok(())
    }

    fn looks(&mut self, follower: &TopicFollower<PageChange>) {
        self.health.looks(follower);
    }
}
