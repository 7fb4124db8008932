//! How deliveries are doing, shown as stages show it: `/healthz /readyz /metrics /status`.

use crate::source::{Cursor, PartitionProgress, TopicFollower, pause};
use daemon::http::{self, Door, HttpSite, TlsFiles};
use daemon::{Background, Board, CommandFailure, ReceiverHandle, StopSignal, TopicReader, WebClock};
use messages::PageChange;
use metrics::delivery::{FAILED_ATTEMPTS, LEFT_OUT};
use page::Timestamp;
use settings::Settings;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};
use stream::protocol::wait_after;
use stream::{Backlog, Clock, StageStatus};

/// Name of the delivery among the stages.
const STAGE: &str = "delivery";
/// Interval between looks at the ends of the topic, in this process and over Kafka.
const LOOK_EVERY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(5));
/// Longest time of one turn besides an attempt: each partition may have an open transaction, which is waited for.
const LONGEST_LOOK: Duration = Duration::from_secs(300);

/// The figures of a delivery. Clones share them.
#[derive(Clone)]
pub(super) struct Health {
    /// Deliveries of one process share it.
    status: Arc<Mutex<StageStatus>>,
    progress: Arc<Mutex<Vec<PartitionProgress>>>,
    /// Changes that are being delivered, which the progress leaves out.
    under_way: Arc<AtomicU64>,
    /// Whether it collects changes for a digest, so that their waiting is as it should be.
    collects: Arc<AtomicBool>,
    /// Changes that were lost before the position at which it has opened the topic last.
    lost_before: Arc<AtomicU64>,
    /// The receiver of the settings, if it is one.
    receiver: ReceiverHandle,
}

impl Default for Health {
    fn default() -> Self {
        let figures = BTreeMap::from([(FAILED_ATTEMPTS, 0.0), (LEFT_OUT, 0.0)]);
        let status = StageStatus { name: STAGE.to_owned(), figures, ..StageStatus::default() };
        Self {
            status: Arc::new(Mutex::new(status)),
            progress: Arc::default(),
            under_way: Arc::default(),
            collects: Arc::default(),
            lost_before: Arc::default(),
            receiver: ReceiverHandle::default(),
        }
    }
}

impl Health {
    /// The figures of another delivery of this process.
    pub(super) fn of_receiver(&self, receiver: ReceiverHandle) -> Self {
        Self { status: self.status.clone(), receiver, ..Self::default() }
    }

    pub(super) fn receiver(&self) -> &ReceiverHandle {
        &self.receiver
    }

    fn update(&self, update: impl FnOnce(&mut StageStatus)) {
        update(&mut self.status.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The delivery goes on, if only by another attempt.
    pub(super) fn turned(&self) {
        self.update(|status| status.turns_total += 1);
    }

    /// A look for the next change begins.
    pub(super) fn looks(&self, follower: &TopicFollower<PageChange>) {
        let progress = follower.progress();
        self.update(|status| {
            status.turns_total += 1;
            status.ready = true;
            if status.partitions.len() != progress.len() {
                status.partitions = (0..).take(progress.len()).collect();
            }
            status.input_lost_total = follower.lost();
            status.waits_for = follower.waits_for();
            status.failures_total += u64::from(follower.problem().is_some());
            status.last_error = follower.problem().map(str::to_owned);
        });
        let lost = self.lost_before.load(Ordering::Relaxed) + follower.lost();
        self.receiver.update(|receiver| receiver.lost_total = lost);
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = progress;
    }

    /// It opens the topic at a further position, from which losses are counted anew.
    pub(super) fn came_further(&self) {
        self.lost_before.store(self.receiver.status().lost_total, Ordering::Relaxed);
    }

    /// Attempts at changes begin, or are over.
    pub(super) fn is_under_way(&self, changes: u64) {
        self.under_way.store(changes, Ordering::Relaxed);
    }

    pub(super) fn delivered(&self, changes: u64) {
        self.update(|status| status.processed_total += changes);
        self.receiver.update(|receiver| {
            receiver.delivered_total += changes;
            receiver.last_delivered_at = Some(now());
            (receiver.failing_since, receiver.problem, receiver.failed_in_row) = (None, None, 0);
        });
    }

    pub(super) fn failed_attempt(&self, problem: &str) {
        self.update(|status| *status.figures.entry(FAILED_ATTEMPTS).or_default() += 1.0);
        self.receiver.update(|receiver| {
            receiver.failed_attempts_total += 1;
            receiver.failed_in_row += 1;
            receiver.failing_since.get_or_insert_with(now);
            receiver.problem = Some(problem.to_owned());
        });
    }

    pub(super) fn left_out(&self, changes: u64, problem: &str) {
        self.update(|status| *status.figures.entry(LEFT_OUT).or_default() += changes as f64);
        self.receiver.update(|receiver| {
            receiver.left_out_total += changes;
            receiver.failed_in_row = 0;
            (receiver.failing_since, receiver.problem) = (None, Some(problem.to_owned()));
        });
    }

    /// It does not come to deliver anything, and why.
    pub(super) fn is_held(&self, problem: &str) {
        self.receiver.update(|receiver| {
            receiver.failed_in_row += 1;
            receiver.failing_since.get_or_insert_with(now);
            receiver.problem = Some(problem.to_owned());
        });
    }

    /// It stands at a position, and reads nothing until its next digest. `ends` is the position behind all records.
    pub(super) fn stands_at(&self, cursor: &Cursor, ends: &Cursor) {
        let waiting = cursor.0.iter().zip(&ends.0).map(|(next, end)| end.saturating_sub(*next)).sum();
        self.receiver.update(|receiver| receiver.waiting = Some(waiting));
        let progress: Vec<_> = cursor.0.iter().map(|next| PartitionProgress { next: *next, oldest: None }).collect();
        self.update(|status| {
            status.ready = true;
            status.partitions = (0..).take(progress.len()).collect();
        });
        self.collects.store(true, Ordering::Relaxed);
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = progress;
    }

    /// All that is there is delivered.
    pub(super) fn rests(&self) {
        self.receiver.update(|receiver| {
            receiver.rests_total += 1;
            receiver.failed_in_row = 0;
            if receiver.failing_since.take().is_some() {
                receiver.problem = None;
            }
        });
    }

    /// Undelivered changes per partition.
    fn backlogs(&self, ends: &[u64], unread_since: &mut [Option<Timestamp>], now: Timestamp) -> Vec<Backlog> {
        let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let backlogs = backlogs(&progress, ends, unread_since, now);
        let waiting: u64 = backlogs.iter().map(|backlog| backlog.records).sum();
        if !progress.is_empty() {
            let waiting = waiting + self.under_way.load(Ordering::Relaxed);
            self.receiver.update(|receiver| receiver.waiting = Some(waiting));
        }
        backlogs
    }
}

/// Real time, as it is shown.
fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// The port that shows a delivery. It is closed with this value.
pub struct HealthPort {
    health: Health,
    board: Board,
    clock: Arc<WebClock>,
    stop: StopSignal,
    background: Background,
}

impl HealthPort {
    /// Opens `http.bind`. `door` says who sees where changes go. `timeout` is the longest time of an attempt.
    pub fn open(settings: &Settings, door: Door, timeout: Duration, stop: &StopSignal) -> Result<Self, CommandFailure> {
        let (health, clock) = (Health::default(), Arc::new(WebClock::new(&settings.clock)));
        let board = Board::new(vec![health.status.clone()], clock.speed());
        let mut background = Background::new(stop);
        let site = HttpSite {
            board: board.clone(),
            tasks: None,
            refusals: None,
            door,
            hints: None,
            names: settings.http.names.clone(),
            hung_after: LONGEST_LOOK + timeout,
            step_timeout: http::STEP_TIMEOUT,
        };
        let bind = settings.http.bind;
        let address = http::serve(bind, site, TlsFiles::of(&settings.http)?, stop, &mut background)
            .map_err(|error| CommandFailure::Input(http::cannot_listen(bind, &error)))?;
        eprintln!("recrawl: health and metrics are at http://{address}/");
        Ok(Self { health, board, clock, stop: stop.clone(), background })
    }

    pub(super) fn health(&self) -> Health {
        self.health.clone()
    }

    /// Tries something of the log until the log answers, and shows meanwhile why it does not. `None` if stopped.
    pub fn patiently<T>(
        &self,
        attempt_once: impl Fn() -> Result<T, CommandFailure>,
    ) -> Result<Option<T>, CommandFailure> {
        for attempt in 1.. {
            if self.stop.is_stopped() {
                return Ok(None);
            }
            let problem = match attempt_once() {
                Ok(value) => {
                    self.health.update(|status| status.last_error = None);
                    return Ok(Some(value));
                }
                Err(CommandFailure::World(problem)) => problem,
                Err(failure) => return Err(failure),
            };
            let wait = wait_after(attempt);
            if attempt.is_power_of_two() {
                eprintln!("recrawl: {problem}; attempt {} in {:.1} s", attempt + 1, wait.as_secs_f64());
            }
            self.health.update(|status| {
                status.failures_total += 1;
                status.last_error = Some(problem);
            });
            pause(wait, &self.stop);
        }
        unreachable!("attempts end by the signal");
    }

    /// Shows the undelivered changes, also while the delivery waits for its receiver.
    pub fn watch(&mut self, reader: TopicReader) -> std::io::Result<()> {
        self.watch_all(reader, vec![self.health.clone()])
    }

    /// The same of several deliveries.
    pub(super) fn watch_all(&mut self, reader: TopicReader, deliveries: Vec<Health>) -> std::io::Result<()> {
        let (clock, board) = (self.clock.clone(), Some(self.board.clone()));
        self.background.add(watch_backlogs(reader, deliveries, board, clock, self.stop.clone())?);
        Ok(())
    }

    /// The board of the port.
    pub fn board(&self) -> &Board {
        &self.board
    }
}

/// Counts what each delivery has still to deliver, on a thread of its own. A board shows the one that is behind most.
pub(super) fn watch_backlogs(
    mut reader: TopicReader,
    deliveries: Vec<Health>,
    board: Option<Board>,
    clock: Arc<WebClock>,
    stop: StopSignal,
) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name("backlog".to_owned()).spawn(move || {
        let partitions = reader.partitions();
        let mut ends = vec![0; partitions as usize];
        let mut unread_since = vec![vec![None; ends.len()]; deliveries.len()];
        let mut first = 0;
        let every = if reader.is_over_kafka() { LOOK_EVERY.1 } else { LOOK_EVERY.0 };
        while !stop.is_stopped() {
            // While the log does not answer, its last known state counts.
            let refreshed = reader.refresh().is_ok();
            for partition in (first..partitions).chain(0..first).take_while(|_| refreshed) {
                match reader.bounds(partition) {
                    Ok(bounds) => ends[partition as usize] = bounds.end,
                    // Brokers that are away take ten seconds to be so. The others have their turn first next time.
                    Err(_) => {
                        first = (partition + 1) % partitions;
                        break;
                    }
                }
            }
            let now = clock.now();
            let counted =
                deliveries.iter().zip(&mut unread_since).map(|(of, since)| (of, of.backlogs(&ends, since, now)));
            // All are counted, and those that collect are shown nowhere as late.
            let counted: Vec<_> = counted.collect();
            let behind = counted.into_iter().filter(|(of, _)| !of.collects.load(Ordering::Relaxed));
            let behind = behind.map(|(_, backlogs)| backlogs);
            let behind = behind.max_by_key(|backlogs| backlogs.iter().map(|of| of.records).sum::<u64>());
            if let (Some(board), Some(backlogs)) = (&board, behind.filter(|backlogs| !backlogs.is_empty())) {
                board.show_backlogs(vec![(STAGE, backlogs)], now);
            }
            pause(every, &stop);
        }
    })
}

/// Undelivered changes per partition. The age of changes that were not read yet counts from when they were first seen.
fn backlogs(
    progress: &[PartitionProgress],
    ends: &[u64],
    unread_since: &mut [Option<Timestamp>],
    now: Timestamp,
) -> Vec<Backlog> {
    let partitions = progress.iter().zip(ends).zip(unread_since);
    let backlogs = (0..).zip(partitions).map(|(partition, ((progress, end), unread_since))| {
        let records = end.saturating_sub(progress.next).max(u64::from(progress.oldest.is_some()));
        *unread_since = (records > 0).then(|| unread_since.unwrap_or(now));
        let oldest = progress.oldest.or(*unread_since);
        Backlog { partition, records, oldest }
    });
    backlogs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_backlog_is_what_is_not_delivered_and_as_old_as_its_first_change() {
        let at = Timestamp::from_secs;
        let progress = [
            PartitionProgress { next: 5, oldest: Some(at(10)) },
            PartitionProgress { next: 7, oldest: None },
            PartitionProgress { next: 3, oldest: None },
        ];
        let mut unread = vec![None; 3];
        let mut reported = |ends: [u64; 3], now| {
            let of = backlogs(&progress, &ends, &mut unread, at(now));
            of.into_iter().map(|of| (of.records, of.oldest)).collect::<Vec<_>>()
        };
        // The end of the first is older than what was read.
        assert_eq!(reported([0, 7, 4], 100), [(1, Some(at(10))), (0, None), (1, Some(at(100)))]);
        assert_eq!(reported([9, 9, 4], 105), [(4, Some(at(10))), (2, Some(at(105))), (1, Some(at(100)))]);
        assert_eq!(reported([9, 7, 3], 110), [(4, Some(at(10))), (0, None), (0, None)]);
    }
}
