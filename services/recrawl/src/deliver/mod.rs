//! Delivers changes to a program or a web server: each at least once, in order, across restarts.

mod arguments;
mod cursor_file;
mod health;
mod program;
mod retry;
mod signature;
mod template;
mod webhook;

pub(crate) use self::arguments::DeliveryArguments;

use self::cursor_file::CursorFile;
use self::health::Health;
use self::retry::{FirstTry, NextTry};
use crate::CommandFailure;
use crate::cursor::Cursor;
use crate::follow::{FollowArguments, Followed, Start, Take, TopicFollower, pause};
use crate::output::{Format, answer};
use crate::told_change::{ToldChange, VerdictArguments};
use daemon::StopSignal;
use messages::PageChange;
use serde::Serialize;
use std::time::{Duration, Instant};

/// A wait is made of turns of this length, so that it does not look as if the delivery hung.
const TURN: Duration = Duration::from_secs(1);

/// Takes changes in.
pub(crate) trait Receiver {
    /// Delivers a change once. `attempt` counts from 1.
    fn deliver(&mut self, change: &ToldChange, attempt: u32) -> Result<(), Undelivered>;
}

/// Why a change was not delivered.
#[derive(Debug)]
pub(crate) enum Undelivered {
    /// It may go better later, and not before this time if the receiver says one.
    Later { problem: String, after: Option<Duration> },
    /// The same would be refused again.
    Refused(String),
    /// The arguments are wrong, for any change.
    Wrong(String),
}

impl Undelivered {
    fn later(problem: impl Into<String>) -> Self {
        Self::Later { problem: problem.into(), after: None }
    }
}

/// How the command treats a change that is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum OnFailure {
    /// The command ends with an error. Started again, it begins with this change.
    Stop,
    /// It is reported on stderr and left out.
    Skip,
}

/// Delivers changes to a receiver, and notes how far it came.
pub(crate) struct Delivery<'a> {
    follow: &'a FollowArguments,
    verdicts: &'a VerdictArguments,
    receiver: Box<dyn Receiver>,
    cursor: CursorFile,
    /// Position after changes that are not wanted, as far as it is not noted yet.
    passed_over: Option<Cursor>,
    give_up_after: Duration,
    on_failure: OnFailure,
    stop: &'a StopSignal,
    done: Summary,
    health: Health,
}

#[derive(Debug, Default, Serialize)]
struct Summary {
    delivered: u64,
    /// Given up and left out.
    skipped: u64,
    /// Attempts that failed.
    failed_attempts: u64,
    /// Position after the last change that was delivered or left out. Null: nothing was, ever.
    cursor: Option<String>,
}

enum Outcome {
    Delivered,
    GivenUp(String),
    Stopped,
}

impl Delivery<'_> {
    /// Where to go on.
    pub(crate) fn start(&self) -> Start {
        let kept = self.cursor.cursor().cloned();
        if kept.is_some() {
            return Start { cursor: kept, named: format!("the cursor in {}", self.cursor.name()) };
        }
        self.follow.start()
    }

    /// Prints what was done. Changes that were left out are a failure.
    pub(crate) fn finish(mut self, format: Format) -> Result<(), CommandFailure> {
        self.done.cursor = self.cursor.cursor().map(ToString::to_string);
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

    fn attempt_until_done(&mut self, change: &ToldChange) -> Result<Outcome, CommandFailure> {
        let first = FirstTry { at: Instant::now(), give_up_after: self.give_up_after };
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

impl Take<PageChange> for Delivery<'_> {
    fn take(&mut self, record: Followed<PageChange>) -> Result<bool, CommandFailure> {
        let Followed { message, cursor, .. } = record;
        if !self.follow.wants(message.seen_at) || !self.verdicts.want(message.verdict) {
            self.passed_over = Some(cursor);
            return Ok(false);
        }
        let change = ToldChange::new(message, &cursor);
        match self.attempt_until_done(&change)? {
            Outcome::Delivered => {
                self.done.delivered += 1;
                self.health.delivered();
            }
            Outcome::Stopped => return Ok(false),
            Outcome::GivenUp(problem) => {
                let (id, url) = (&change.change_id, &change.url);
                let problem = format!("change {id} of {url} was not delivered: {problem}");
                if self.on_failure == OnFailure::Stop {
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
        self.cursor.write(cursor)?;
        Ok(true)
    }

    fn rest(&mut self) -> Result<(), CommandFailure> {
        // Where few changes are wanted, retention must not seem to have deleted some that were not.
        self.passed_over.take().map_or(Ok(()), |cursor| self.cursor.write(cursor))
    }

    fn turned(&mut self, follower: &TopicFollower<PageChange>) {
        self.health.looks(follower);
    }
}
