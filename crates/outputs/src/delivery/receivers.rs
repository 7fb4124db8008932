//! Runs the receivers of the settings, each on a thread of its own: a fault of one holds no other.

use super::configured::{Lane, lanes};
use super::digests::DigestPlan;
use super::health::{Health, watch_backlogs};
use super::{Delivery, GivingUp, HealthPort, OnFailure};
use crate::record::{ChangeSelection, quoted};
use crate::source::{Cursor, FollowOptions, pause};
use daemon::{Background, Board, CommandFailure, ReceiverStatus, StopSignal, TopicReader, WebClock};
use messages::topics;
use settings::{Begin, Settings};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};
use stream::protocol::wait_after;
use topology::LogNames;

/// The remedy if another process delivers to a receiver.
const ELSEWHERE: &str = "give this receiver another name";
/// How often a receiver must be seen to have all, before it counts as idle. Something may come between two looks.
const IDLE_RESTS: u64 = 2;
/// Attempts in a row that fail before a receiver is not waited for: the first failures often pass.
const IDLE_FAILURES: u64 = 4;
/// A receiver that has failed for so long is not waited for either: it may have asked for an hour.
const IDLE_FAILING: Duration = Duration::from_secs(30);

/// The receivers of the settings, opened and not yet started.
pub struct Receivers {
    lanes: Vec<Delivery>,
    clock: Arc<WebClock>,
    stop: StopSignal,
}

/// Opens the topic of changes once more.
pub type OpenChanges = dyn Fn() -> Result<TopicReader, CommandFailure> + Send + Sync;

impl Receivers {
    /// Opens the receivers of the settings, or those of these names, with their positions in a directory. A new one
    /// begins here, so that no later change is missed. They are shown on a board.
    ///
    /// # Errors
    /// A receiver cannot be as it is written, a file that it names cannot be read, or another process delivers to it.
    pub fn open(
        settings: &Settings,
        names: &[String],
        directory: &Path,
        changes: &OpenChanges,
        (board, clock): (&Board, &Arc<WebClock>),
        stop: &StopSignal,
    ) -> Result<Self, CommandFailure> {
        let mut opened = Self { lanes: Vec::new(), clock: clock.clone(), stop: stop.clone() };
        let wanted = |name: &String| names.is_empty() || names.contains(name);
        let topic = LogNames::new(settings).topic(topics::PAGE_CHANGES);
        let health = Health::default();
        for receiver in settings.receivers.iter().filter(|receiver| wanted(&receiver.name)) {
            let named = |problem: String| CommandFailure::Input(format!("deliver {:?}: {problem}", receiver.name));
            let selection = ChangeSelection::of_receiver(&receiver.choice, settings.preferences.nosnippet)
                .map_err(|faults| named(faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")))?;
            let (after, on_failure) = match receiver.give_up_after {
                Some(after) => (after, OnFailure::Skip),
                None => (Duration::MAX, OnFailure::Wait),
            };
            let follow = FollowOptions { follow: true, ..FollowOptions::default() };
            for Lane { file, shown, receiver: target } in lanes(receiver).map_err(named)? {
                let giving_up = GivingUp { after, on_failure };
                let path = directory.join(file);
                let mut lane =
                    Delivery::open(target, &path, &topic, ELSEWHERE, (&follow, &selection), giving_up, stop)?;
                if lane.progress.cursor().is_none() && receiver.begin == Begin::New {
                    lane.progress.reached(&mut lane.directory, &Cursor::at_end(&mut changes()?)?)?;
                }
                lane.name = Some(receiver.name.clone());
                match &receiver.digest {
                    Some(schedule) => {
                        let schedule = schedule.parse().map_err(|problem| named(format!("digest: {problem}")))?;
                        lane.begin_digests(DigestPlan { schedule, clock: clock.clone(), command: command(settings) })?;
                    }
                    None => lane.progress.end_digests(&mut lane.directory)?,
                }
                lane.health = health.of_receiver(board.receivers().add(&receiver.name, &shown));
                tracing::info!(receiver = receiver.name, "delivering to {shown} {}", lane.progress.continues());
                opened.lanes.push(lane);
            }
        }
        Ok(opened)
    }

    /// Whether there are none.
    pub fn are_none(&self) -> bool {
        self.lanes.is_empty()
    }

    /// Starts them in a process that shows its stages itself.
    ///
    /// # Errors
    /// A thread cannot be started, or the log cannot be read.
    pub fn start(self, changes: Arc<OpenChanges>, background: &mut Background) -> Result<(), CommandFailure> {
        if self.are_none() {
            return Ok(());
        }
        let (clock, stop) = (self.clock.clone(), self.stop.clone());
        background.add(watch_backlogs(changes()?, self.healths(), None, clock, stop)?);
        for thread in self.spawn(&changes)? {
            background.add(thread);
        }
        Ok(())
    }

    /// The same with a port that shows them as the stage `delivery`.
    ///
    /// # Errors
    /// Those of [`Receivers::start`].
    pub fn start_at(
        mut self,
        port: &mut HealthPort,
        changes: Arc<OpenChanges>,
        background: &mut Background,
    ) -> Result<(), CommandFailure> {
        let health = port.health();
        for lane in &mut self.lanes {
            lane.health = health.of_receiver(lane.health.receiver().clone());
        }
        port.watch_all(changes()?, self.healths())?;
        for thread in self.spawn(&changes)? {
            background.add(thread);
        }
        Ok(())
    }

    fn healths(&self) -> Vec<Health> {
        self.lanes.iter().map(|lane| lane.health.clone()).collect()
    }

    fn spawn(self, changes: &Arc<OpenChanges>) -> Result<Vec<JoinHandle<()>>, CommandFailure> {
        let spawn = |lane: Delivery| {
            let changes = changes.clone();
            let name = format!("deliver {}", lane.name.as_deref().unwrap_or_default());
            Ok(std::thread::Builder::new().name(name).spawn(move || lane.run(&*changes))?)
        };
        self.lanes.into_iter().map(spawn).collect()
    }
}

/// The beginning of the command that shows the changes of a crawl.
fn command(settings: &Settings) -> String {
    match &settings.crawl.data {
        Some(data) => format!("recrawl changes --data {}", quoted(&data.display().to_string())),
        None => "recrawl changes".to_owned(),
    }
}

/// Whether every receiver has all that was there since some earlier statuses, or fails and will not have it soon.
pub fn are_idle(before: &[ReceiverStatus], now: &[ReceiverStatus]) -> bool {
    let at = SystemTime::now();
    before.iter().zip(now).all(|(before, now)| is_idle(before, now, at))
}

fn is_idle(before: &ReceiverStatus, now: &ReceiverStatus, at: SystemTime) -> bool {
    let since = now.failing_since.as_deref().and_then(|since| humantime::parse_rfc3339(since).ok());
    let failing = since.and_then(|since| at.duration_since(since).ok());
    now.failed_in_row >= IDLE_FAILURES
        || failing.is_some_and(|failing| failing >= IDLE_FAILING)
        || now.rests_total >= before.rests_total + IDLE_RESTS
}

impl Delivery {
    /// Delivers until it is stopped. What goes wrong holds this delivery, and is tried again.
    fn run(mut self, changes: &OpenChanges) {
        let (mut failures, mut delivered) = (0, 0);
        while !self.stop.is_stopped() {
            let done = self.note_rest().and_then(|()| {
                if self.plan.is_some() { self.send_digests(changes) } else { self.follow_once(changes) }
            });
            let Err(failure) = done else { continue };
            if self.done.delivered > delivered {
                (failures, delivered) = (0, self.done.delivered);
            }
            failures += 1;
            let (problem, wait) = (failure.to_string(), wait_after(failures));
            self.health.is_held(&problem);
            if failures.is_power_of_two() {
                self.say(&format!("{problem}; again in {:.1} s", wait.as_secs_f64()));
            }
            pause(wait, &self.stop);
        }
        if let Err(failure) = self.note_rest() {
            self.say(&format!("{failure}; what was delivered last is delivered again after the next start"));
        }
    }

    fn follow_once(&mut self, changes: &OpenChanges) -> Result<(), CommandFailure> {
        self.passed_over = None;
        let mut follower = self.follower(changes)?;
        let (follow, stop) = (self.follow.clone(), self.stop.clone());
        follow.each(&mut follower, &stop, self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_is_waited_for_until_it_has_all_or_fails_often_or_for_long() {
        let since = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let before = ReceiverStatus { rests_total: 5, ..ReceiverStatus::default() };
        let is_idle = |now: &ReceiverStatus, passed| is_idle(&before, now, since + passed);
        let rests = |rests_total| ReceiverStatus { rests_total, ..ReceiverStatus::default() };
        assert!(!is_idle(&rests(6), IDLE_FAILING) && is_idle(&rests(7), Duration::ZERO));
        let fails = |failed_in_row| ReceiverStatus {
            failed_in_row,
            failing_since: Some(humantime::format_rfc3339_seconds(since).to_string()),
            ..ReceiverStatus::default()
        };
        assert!(!is_idle(&fails(3), Duration::ZERO) && is_idle(&fails(4), Duration::ZERO));
        // It asked to be tried again in an hour.
        assert!(!is_idle(&fails(1), IDLE_FAILING / 2) && is_idle(&fails(1), IDLE_FAILING));
    }
}
