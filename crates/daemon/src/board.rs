//! Status of the stages of this process, for people and machines.

use crate::backlog::Backlogs;
use crate::backlog::shown::{BacklogReport, ShownBacklog};
use crate::broker_clock::ShownClock;
use crate::disk::DiskSpace;
use crate::freshness::{AuditedFreshness, CalibratedFreshness};
use crate::outcomes::{OutcomeCount, outcome_counts};
use crate::pulse::Pulse;
use crate::receivers::{ReceiverBoard, ReceiverStatus};
use crate::traces::SpanCounts;
use metrics::{Figure, Metric, detector, fetcher, ranker, scheduler};
use page::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use stream::StageStatus;

/// Collects the status handles of the stages.
#[derive(Clone)]
pub struct Board {
    stages: Arc<Mutex<Vec<Arc<Mutex<StageStatus>>>>>,
    started: Instant,
    speed: f64,
    backlogs: Arc<Mutex<Option<BacklogReport>>>,
    pulse: Arc<Mutex<Pulse>>,
    figures: Arc<Mutex<Vec<Figure>>>,
    disk: Arc<Mutex<Option<DiskSpace>>>,
    topic_problems: Arc<Mutex<Vec<String>>>,
    clock: Arc<Mutex<Option<ShownClock>>>,
    spans: Arc<SpanCounts>,
    receivers: ReceiverBoard,
}

/// How well a crawl keeps to its focus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FocusStatus {
    /// Pages judged by the focuses.
    pub judged_pages: u64,
    /// Pages in focus among them.
    pub pages_in_focus: u64,
    /// Share of the judged pages that are in focus, from 0 to 1.
    pub harvest_rate: f64,
    /// Share of the pages that the focuses name as examples which have been found; absent if they name none, or if no detector
    /// of this process knows.
    pub target_recall: Option<f64>,
}

/// The state of a crawl, as shown by `/status` and `recrawl status`. Unknown figures are absent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Status {
    /// Known pages.
    pub pages: Option<u64>,
    pub never_fetched: Option<u64>,
    /// Pages worth a fetch at the current price.
    pub due: Option<u64>,
    /// Fetch requests without an answer so far.
    pub in_flight: Option<u64>,
    /// Fetches of the known pages: requests that were sent and answered, also those of earlier processes.
    pub fetches_total: Option<u64>,
    /// Changes seen on the known pages, also those of earlier processes.
    pub changes_total: Option<u64>,
    /// Fetches per second since this process started, on the clock of the web; absent over Kafka.
    pub fetch_rate_per_s: Option<f64>,
    /// Expected share of pages whose copy is current; absent while nothing is known.
    pub estimated_freshness: Option<f64>,
    /// Expected age in days: time since a copy stopped being current, averaged over all copies, zero for current ones;
    /// absent while there is no copy.
    #[serde(default)]
    pub estimated_age_days: Option<f64>,
    /// Share of current copies according to looks at randomly drawn pages; absent before the first of them.
    #[serde(default)]
    pub audited_freshness: Option<AuditedFreshness>,
    /// The expected share, corrected by recent audits; absent before the first of them.
    #[serde(default)]
    pub calibrated_freshness: Option<CalibratedFreshness>,
    /// How well the crawl keeps to its focus; absent while no page was judged by one.
    #[serde(default)]
    pub focus: Option<FocusStatus>,
    /// Seeds of which no request has brought a copy yet, though one was answered.
    #[serde(default)]
    pub failed_seeds: Option<u64>,
    /// Known seeds that are not in the list with which the running embedded crawl was started.
    #[serde(default)]
    pub unlisted_seeds: Option<u64>,
    /// Pages on which their watch rule sees nothing of something that it watches.
    #[serde(default)]
    pub blind_pages: Option<u64>,
    /// The answers to the requests of this process, counted by kind; requests that were not sent are no fetches.
    #[serde(default)]
    pub outcomes: Vec<OutcomeCount>,
    /// Pages by the outcome of their last request, for a crawl that is not running.
    #[serde(default)]
    pub page_outcomes: Vec<OutcomeCount>,
    pub stages: Vec<StageLag>,
    /// The receivers of changes that this process serves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receivers: Vec<ReceiverStatus>,
    /// The file system that holds the state; absent for all processes over Kafka together, where each has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskSpace>,
    /// Topics on Kafka that somebody has changed, each with the next step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topic_problems: Vec<String>,
    /// Seconds by which the clock of this machine is ahead of the brokers'; below zero if it is behind. Absent if that is not known,
    /// and for all processes over Kafka together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_ahead_s: Option<f64>,
    /// Partitions of stages that were asked over Kafka and have not answered, such as `scheduler/2`. The figures leave
    /// them out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unanswered: Vec<String>,
}

/// Progress of one stage. Unknown figures are absent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StageLag {
    pub name: String,
    /// Records not consumed yet.
    pub lag_records: u64,
    /// Waiting time of the first of them, in seconds on the clock of the web.
    pub lag_s: f64,
    /// Whether it has joined its group and restored its state.
    pub ready: Option<bool>,
    /// Number of assigned partitions.
    pub partitions: Option<usize>,
    /// Records processed since start.
    pub processed_total: Option<u64>,
    /// Records set aside since start.
    pub set_aside_total: Option<u64>,
    /// Last failure, until the stage recovers.
    pub last_error: Option<String>,
    /// The missing schema, while something waits for it.
    #[serde(default)]
    pub waits_for: Option<String>,
    /// How often the figures were computed since start.
    #[serde(default)]
    pub refreshes_total: Option<u64>,
    /// Further figures, by name.
    pub figures: BTreeMap<String, f64>,
}

impl Board {
    /// A board of these stages. `speed`: seconds of the web per real second.
    pub fn new(stages: Vec<Arc<Mutex<StageStatus>>>, speed: f64) -> Self {
        Self {
            stages: Arc::new(Mutex::new(stages)),
            started: Instant::now(),
            speed,
            backlogs: Arc::default(),
            pulse: Arc::default(),
            figures: Arc::default(),
            disk: Arc::default(),
            topic_problems: Arc::default(),
            clock: Arc::default(),
            spans: Arc::default(),
            receivers: ReceiverBoard::default(),
        }
    }

    /// Replaces the stages shown.
    pub fn replace(&self, stages: Vec<Arc<Mutex<StageStatus>>>) {
        *self.stages.lock().unwrap_or_else(PoisonError::into_inner) = stages;
    }

    /// Shows the stages' backlog, as reported by the log at time `now` of the web.
    pub fn show_backlogs(&self, backlogs: Backlogs, now: Timestamp) {
        let report = BacklogReport::new(backlogs, now, Instant::now());
        *self.backlogs.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
    }

    /// The last report, unless it is old.
    pub(crate) fn backlogs(&self) -> Vec<ShownBacklog> {
        let report = self.backlogs.lock().unwrap_or_else(PoisonError::into_inner);
        report.as_ref().map(|report| report.current(Instant::now()).to_vec()).unwrap_or_default()
    }

    /// Names a stage whose steps have all failed for `limit`, though the log has reported backlogs to this process lately. It
    /// would not mend itself.
    pub fn stuck_stage(&self, limit: Duration) -> Option<String> {
        if self.backlogs().is_empty() {
            return None;
        }
        let stuck = |status: &StageStatus| status.failing_for.is_some_and(|span| span >= limit);
        self.stages().into_iter().find(stuck).map(|status| {
            let why = status.last_error.unwrap_or_default();
            format!("stage {} fails, though the log answers this process: {why}", status.name)
        })
    }

    /// Names a stage that has not turned its loop for longer than `limit`, measured from the first call.
    pub fn hung_stage(&self, limit: Duration) -> Option<String> {
        let stages = self.stages();
        self.pulse.lock().unwrap_or_else(PoisonError::into_inner).feel(&stages, Instant::now(), limit)
    }

    pub fn stages(&self) -> Vec<StageStatus> {
        let stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        stages.iter().map(|stage| stage.lock().unwrap_or_else(PoisonError::into_inner).clone()).collect()
    }

    /// Whether all stages have joined and restored their state.
    pub fn is_ready(&self) -> bool {
        self.stages().iter().all(|stage| stage.ready)
    }

    /// Figures of the whole process.
    pub fn status(&self) -> Status {
        let stages = self.stages();
        let figure = |metric: &'static Metric| {
            let stage = stages.iter().find(|status| status.name == metric.stage);
            stage.and_then(|status| status.figures.get(metric)).copied().unwrap_or(0.0)
        };
        let elapsed_s = self.started.elapsed().as_secs_f64() * self.speed;
        let fetch_rate_per_s = figure(scheduler::FETCHES_SEEN) / elapsed_s.max(1e-3);
        let answers = stages.iter().find(|status| status.name == fetcher::OUTCOMES.stage).map(|status| &status.answers);
        let outcomes = outcome_counts(|kind| answers.and_then(|of| of.get(kind.report().name)).copied().unwrap_or(0));
        let backlogs = self.backlogs();
        let status = Status::of_figures(figure);
        let stages = stages.into_iter().map(|stage| StageLag::of(stage, &backlogs)).collect();
        let topic_problems = self.topic_problems();
        let fetch_rate_per_s = Some(fetch_rate_per_s);
        let clock_ahead_s = self.clock().map(|clock| clock.ahead_s);
        let receivers = self.receivers.statuses();
        let disk = self.disk();
        Status { fetch_rate_per_s, outcomes, stages, receivers, disk, topic_problems, clock_ahead_s, ..status }
    }

    /// Replaces the shown figures of the process that belong to no stage.
    pub fn show_figures(&self, figures: Vec<Figure>) {
        *self.figures.lock().unwrap_or_else(PoisonError::into_inner) = figures;
    }

    /// Shows the file system that holds the state of the process.
    pub fn show_disk(&self, disk: DiskSpace) {
        *self.disk.lock().unwrap_or_else(PoisonError::into_inner) = Some(disk);
    }

    pub(crate) fn disk(&self) -> Option<DiskSpace> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The file system that holds the state, if no more work is taken in for want of room.
    pub fn short_disk(&self) -> Option<DiskSpace> {
        self.disk().filter(|disk| disk.is_short)
    }

    /// Shows the topics that somebody has changed.
    pub fn show_topic_problems(&self, problems: Vec<String>) {
        *self.topic_problems.lock().unwrap_or_else(PoisonError::into_inner) = problems;
    }

    pub(crate) fn topic_problems(&self) -> Vec<String> {
        self.topic_problems.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Shows how far this machine's clock is ahead of the brokers'; `None` if that is not known.
    pub fn show_clock(&self, clock: Option<ShownClock>) {
        *self.clock.lock().unwrap_or_else(PoisonError::into_inner) = clock;
    }

    pub(crate) fn clock(&self) -> Option<ShownClock> {
        *self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counters of the process's spans.
    pub fn spans(&self) -> &Arc<SpanCounts> {
        &self.spans
    }

    /// The receivers of changes, to which a delivery adds its own.
    pub fn receivers(&self) -> &ReceiverBoard {
        &self.receivers
    }

    pub(crate) fn figures(&self) -> Vec<Figure> {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Status {
    /// The part of the status that follows from figures. A figure that does not exist is 0.
    pub fn of_figures(figure: impl Fn(&'static Metric) -> f64) -> Self {
        let count = |metric| Some(figure(metric) as u64);
        let (pages, copies) = (figure(scheduler::PAGES), figure(scheduler::COPIES));
        Self {
            pages: count(scheduler::PAGES),
            never_fetched: count(scheduler::NEVER_FETCHED),
            due: count(scheduler::DUE),
            in_flight: count(scheduler::IN_FLIGHT),
            fetches_total: count(scheduler::FETCHES),
            changes_total: count(scheduler::CHANGES),
            failed_seeds: count(scheduler::FAILED_SEEDS),
            unlisted_seeds: count(scheduler::UNLISTED_SEEDS),
            blind_pages: count(detector::BLIND_PAGES),
            estimated_freshness: (pages > 0.0).then(|| figure(scheduler::FRESH_PAGES) / pages),
            estimated_age_days: (copies > 0.0).then(|| figure(scheduler::TOTAL_AGE_SECONDS) / 86_400.0 / copies),
            audited_freshness: AuditedFreshness::of(
                figure(scheduler::AUDIT_LOOKS) as u64,
                figure(scheduler::AUDIT_FRESH) as u64,
            ),
            calibrated_freshness: calibrated(&figure),
            focus: FocusStatus::of(
                figure(ranker::JUDGED_PAGES) as u64,
                figure(ranker::PAGES_IN_FOCUS) as u64,
                figure(detector::FOCUS_TARGETS) as u64,
                figure(ranker::TARGETS_FOUND) as u64,
            ),
            ..Self::default()
        }
    }
}

impl StageLag {
    fn of(status: StageStatus, backlogs: &[ShownBacklog]) -> Self {
        let own = || backlogs.iter().filter(|backlog| backlog.stage == status.name);
        Self {
            figures: shown_figures(&status).map(|(metric, value)| (metric.figure.to_owned(), value)).collect(),
            lag_records: own().map(|backlog| backlog.records).sum(),
            lag_s: own().map(|backlog| backlog.oldest_s).fold(0.0, f64::max),
            name: status.name,
            ready: Some(status.ready),
            partitions: Some(status.partitions.len()),
            processed_total: Some(status.processed_total),
            set_aside_total: Some(status.set_aside_total),
            last_error: status.last_error,
            waits_for: status.waits_for,
            refreshes_total: Some(status.refreshes_total),
        }
    }
}

impl FocusStatus {
    /// The status by its counts; `None` if no page was judged.
    pub fn of(judged_pages: u64, pages_in_focus: u64, focus_targets: u64, targets_found: u64) -> Option<Self> {
        let share = |part: u64, of: u64| (of > 0).then(|| part as f64 / of as f64);
        Some(Self {
            judged_pages,
            pages_in_focus,
            harvest_rate: share(pages_in_focus, judged_pages)?,
            target_recall: share(targets_found, focus_targets),
        })
    }
}

/// The calibrated freshness by the figures of the scheduler.
fn calibrated(figure: impl Fn(&'static Metric) -> f64) -> Option<CalibratedFreshness> {
    let pages = Some(figure(scheduler::PAGES)).filter(|pages| *pages > 0.0)?;
    let (fresh_share, copied_share) = (figure(scheduler::FRESH_PAGES) / pages, figure(scheduler::COPIES) / pages);
    let audits = [scheduler::AUDIT_RECENT_LOOKS, scheduler::AUDIT_RECENT_FRESH, scheduler::AUDIT_RECENT_EXPECTED];
    let [looks, fresh, expected] = audits.map(figure);
    CalibratedFreshness::of(fresh_share, copied_share, looks, fresh, expected)
}

/// The figures of a stage, as its partitions have them together.
pub(crate) fn shown_figures(status: &StageStatus) -> impl Iterator<Item = Figure> {
    let partitions = status.partitions.len();
    status.figures.iter().map(move |(&metric, &sum)| (metric, metric.of_partitions(sum, partitions)))
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Board").field("stages", &self.stages().len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stream::Backlog;

    fn board() -> Board {
        let figures = BTreeMap::from([(scheduler::PAGES, 4.0), (scheduler::FRESH_PAGES, 3.0)]);
        let status = StageStatus { name: "scheduler".to_owned(), ready: true, figures, ..StageStatus::default() };
        Board::new(vec![Arc::new(Mutex::new(status))], 1.0)
    }

    #[test]
    fn a_status_and_the_metrics_show_the_calibrated_freshness() {
        let figures = BTreeMap::from([
            (scheduler::PAGES, 10.0),
            (scheduler::COPIES, 10.0),
            (scheduler::FRESH_PAGES, 9.0),
            (scheduler::AUDIT_RECENT_LOOKS, 20.0),
            (scheduler::AUDIT_RECENT_FRESH, 15.0),
            (scheduler::AUDIT_RECENT_EXPECTED, 18.0),
        ]);
        let status = StageStatus { name: "scheduler".to_owned(), ready: true, figures, ..StageStatus::default() };
        let board = Board::new(vec![Arc::new(Mutex::new(status))], 1.0);
        let calibrated = board.status().calibrated_freshness.unwrap();
        assert!((calibrated.mean - 0.75).abs() < 1e-12 && calibrated.looks == 20.0, "{calibrated:?}");
        let metrics = crate::metrics::text(&board, None, true);
        for line in ["recrawl_scheduler_calibrated_freshness 0.75", "recrawl_scheduler_calibrated_freshness_low 0."] {
            assert!(metrics.contains(line), "{line} in {metrics}");
        }
    }

    #[test]
    fn status_reports_what_requests_came_to() {
        let (answers, figures) = ([("address_refused", 6), ("fetched", 0)].into(), [(fetcher::HOSTS, 2.0)].into());
        let status = StageStatus { name: "fetcher".to_owned(), answers, figures, ..StageStatus::default() };
        let status = Board::new(vec![Arc::new(Mutex::new(status))], 1.0).status();
        let reported: Vec<_> = status.outcomes.iter().map(|of| (of.outcome.as_str(), of.count)).collect();
        assert_eq!(reported, [("address_refused", 6)]);
        assert_eq!(status.stages[0].figures.keys().collect::<Vec<_>>(), ["hosts"]);
    }

    #[test]
    fn a_stage_that_fails_for_long_is_stuck_only_while_the_log_answers_others() {
        let (limit, error) = (Duration::from_secs(300), "no answer".to_owned());
        let failing = StageStatus {
            name: "scheduler".to_owned(),
            failing_for: Some(limit),
            last_error: Some(error),
            ..StageStatus::default()
        };
        let board = Board::new(vec![Arc::new(Mutex::new(failing))], 1.0);
        assert_eq!(board.stuck_stage(limit), None, "the log answers no client");
        let backlog = Backlog { partition: 0, records: 1, oldest: None };
        board.show_backlogs(vec![("scheduler", vec![backlog])], Timestamp::from_secs(100));
        assert!(board.stuck_stage(limit).is_some_and(|why| why.ends_with(": no answer")));
        assert_eq!(board.stuck_stage(limit + Duration::from_secs(1)), None);
    }

    #[test]
    fn status_reports_expected_freshness_as_a_share() {
        assert_eq!(board().status().estimated_freshness, Some(0.75));
        assert_eq!(Board::new(Vec::new(), 1.0).status().estimated_freshness, None);
    }
}
