//! One stage thread: poll → restore → process → punctuate → commit → apply, and the recovery when a step fails.
//!
//! Staged work belongs to a task and is dropped with it. A commit names the tasks whose work it contains. The log
//! refuses it for a task that is not owned, so the work of a task that moved elsewhere is never written.

mod assignment;
mod broadcast;
mod commit;
mod in_flight;
mod limits;
mod records;
mod recovery;
mod schemas;
mod traces;

use self::broadcast::Broadcasts;
use crate::batch_size::BatchSize;
use crate::clock::Clock;
use crate::crash_notes::CrashNotes;
use crate::health::{StageHealth, StageStatus, Stopped};
use crate::in_flight::{AnsweredRequest, InFlight, UncommittedAnswer};
use crate::log::{ErrorKind, Event, Log, LogError, LogReader, Member, MemberSpec, PollLimits, StateIn};
use crate::process_error::ProcessError;
use crate::processor::{Context, OutputTopic, Processor, Topics};
use crate::restore::Restoring;
use crate::room::DiskRoom;
use crate::schemas::SchemaReader;
use crate::span::Tracing;
use crate::spec::{ProcessorFactory, RunnerSettings, StageSpec, StageWork};
use crate::store::StoreProvider;
use crate::task::{Task, TaskError};
use metrics::Metric;
use metrics::stage::{BATCH_RECORDS, POLL_TO_COMMIT_SECONDS};
use page::Timestamp;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A running stage, advanced one step at a time on one thread.
pub trait Stage: Send {
    /// One turn of the loop. Failures of the log are handled inside; an error means the stage cannot go on.
    fn step(&mut self) -> Result<StepOutcome, Stopped>;
    /// A handle on the stage's status that can be read from other threads.
    fn status(&self) -> Arc<Mutex<StageStatus>>;
    /// Finishes work in flight, for `patience` at most, and leaves the group. Work not committed by then is dropped;
    /// nothing committed is lost.
    fn leave(&mut self, patience: Duration);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// Something was processed or committed.
    Worked,
    /// There was nothing to do.
    Idle,
    /// The log failed; the stage recovered as far as it could and will go on.
    Failed,
}

struct Joined {
    member: Box<dyn Member>,
    reader: Box<dyn LogReader>,
    topics: Topics,
    log_id: String,
    /// Time of the first assignment, on the monotonic clock.
    assigned_at: Option<Duration>,
}

/// Runs one stage: all partitions assigned to this instance, on the caller's thread.
pub struct StageRunner {
    spec: StageSpec,
    transactional_id: String,
    log: Arc<dyn Log>,
    stores: Arc<dyn StoreProvider>,
    clock: Arc<dyn Clock>,
    settings: RunnerSettings,
    /// How much the next commit may hold.
    batch: BatchSize,
    state_in: StateIn,
    store_names: Arc<[String]>,
    /// Declared before `joined`, so that a dropped runner closes its tasks before other members may take them over.
    tasks: BTreeMap<u32, Task>,
    restoring: BTreeMap<u32, Restoring>,
    joined: Option<Joined>,
    /// Number of assignments of work in flight so far.
    epoch: u64,
    /// Answers to take before the engine is asked for more.
    ready_answers: VecDeque<AnsweredRequest>,
    /// Uncommitted answers of closed tasks by partition, with the time of the closing on the monotonic clock.
    kept_answers: BTreeMap<u32, (Duration, Vec<UncommittedAnswer>)>,
    /// Since when the oldest uncommitted answer waits, on the monotonic clock.
    waiting_since: Option<Duration>,
    /// Totals of closed tasks, because a process's counters must never go back.
    closed_totals: BTreeMap<&'static Metric, f64>,
    /// Records on which a processor panicked: the number of panics and the last message.
    panics: BTreeMap<(u32, u64), (u32, String)>,
    /// Notes of records that may end the process.
    crash_notes: Option<Box<dyn CrashNotes>>,
    /// Partitions whose next record cannot be read yet.
    held: BTreeMap<u32, schemas::HeldPartition>,
    /// Reader of other programs' schemas, once joined.
    schemas: Option<SchemaReader>,
    /// Partitions whose damaged state was refilled. A second damage in one process stops the stage.
    mended: BTreeSet<u32>,
    broadcasts: Broadcasts,
    punctuated_at: Timestamp,
    /// How the stage takes part in traces.
    tracing: Option<Tracing>,
    /// Room on the disk for new work.
    room: DiskRoom,
    /// Whether processors have been called since they were last flushed. A step that fails half-way leaves the flush to
    /// the next step.
    is_flush_due: bool,
    started_at: Duration,
    health: StageHealth,
}

impl StageRunner {
    /// A runner that joins its group in its first step. `instance` names this process among those that run the stage;
    /// two processes with one name fence each other.
    pub fn new(
        spec: StageSpec,
        instance: &str,
        log: Arc<dyn Log>,
        stores: Arc<dyn StoreProvider>,
        clock: Arc<dyn Clock>,
        settings: RunnerSettings,
    ) -> Self {
        let full = BatchSize::new(PollLimits { records: settings.batch_records, bytes: settings.batch_bytes });
        // Answers that are not committed are kept together. A first batch that is too large would be too large for ever.
        let is_cautious = matches!(spec.work, StageWork::InFlight(..)) && log.state_in() == StateIn::Changelogs;
        Self {
            health: StageHealth::new(&spec.name),
            batch: if is_cautious { full.cautious() } else { full },
            transactional_id: format!("{}-{instance}", spec.group),
            store_names: spec.stores.iter().map(|store| store.name.to_owned()).collect(),
            state_in: log.state_in(),
            started_at: clock.monotonic(),
            spec,
            log,
            stores,
            clock,
            settings,
            tasks: BTreeMap::new(),
            restoring: BTreeMap::new(),
            joined: None,
            epoch: 0,
            ready_answers: VecDeque::new(),
            kept_answers: BTreeMap::new(),
            waiting_since: None,
            closed_totals: BTreeMap::new(),
            panics: BTreeMap::new(),
            crash_notes: None,
            held: BTreeMap::new(),
            schemas: None,
            mended: BTreeSet::new(),
            broadcasts: Broadcasts::default(),
            punctuated_at: Timestamp::MIN,
            is_flush_due: false,
            tracing: None,
            room: DiskRoom::default(),
        }
    }

    /// The runner, taking part in traces.
    pub fn traced(self, tracing: Option<Tracing>) -> Self {
        Self { tracing, ..self }
    }

    /// The runner, taking in new work only while there is room on the disk.
    pub fn within(self, room: DiskRoom) -> Self {
        Self { room, ..self }
    }

    fn try_step(&mut self) -> Result<StepOutcome, TaskError> {
        if self.joined.is_none() {
            self.join()?;
        }
        self.drop_old_answers();
        self.take_while_in_flight()?;
        let mut worked = self.take_answers();
        let (limits, wait) = (self.limits(), self.poll_wait());
        let events = self.member().poll(limits, wait)?;
        if self.is_paused() && events.is_empty() {
            // A log that is asked for nothing need not wait.
            self.clock.pause(wait);
        }
        worked |= !events.is_empty();
        self.is_flush_due |= worked;
        let (now, begun) = (self.clock.now(), self.clock.monotonic());
        self.take_events(events, now)?;
        worked |= self.may_write() && self.advance_restores(now)?;
        self.look_at_held()?;
        self.is_flush_due |= worked;
        self.punctuate(now)?;
        if std::mem::take(&mut self.is_flush_due) {
            self.notify_tasks(now, |processor, context| processor.flush(context))?;
        }
        if self.commit_is_due() && self.commit(now)? {
            worked = true;
            let took = self.clock.monotonic().saturating_sub(begun);
            self.health.measured(POLL_TO_COMMIT_SECONDS, took.as_secs_f64());
        }
        Ok(if worked { StepOutcome::Worked } else { StepOutcome::Idle })
    }

    fn joined(&mut self) -> &mut Joined {
        self.joined.as_mut().expect("a step has joined")
    }

    fn member(&mut self) -> &mut dyn Member {
        &mut *self.joined().member
    }

    /// The work in flight, if the stage has any.
    fn engine(&mut self) -> Option<&mut (dyn InFlight + 'static)> {
        match &mut self.spec.work {
            StageWork::InFlight(engine, _) => Some(&mut **engine),
            StageWork::Processors(_) => None,
        }
    }

    /// Handles changes of assignment first: a record may fail the step, and the log reports a change only once.
    fn take_events(&mut self, events: Vec<Event>, now: Timestamp) -> Result<(), TaskError> {
        let mut records = Vec::with_capacity(events.len());
        for event in events {
            match event {
                Event::Assigned(partitions) => self.assign(&partitions),
                Event::Revoked(partitions) => self.revoke(&partitions),
                Event::Record(record) => records.push(record),
            }
        }
        if let Some(latest) = records.iter().map(|record| record.timestamp).max() {
            self.health.measured(BATCH_RECORDS, records.len() as f64);
            let ahead = self.clock.to_real(latest.saturating_since(now));
            self.health.input_ahead(ahead, self.clock.monotonic());
        }
        self.take_records(&records, now)
    }

    fn punctuate(&mut self, now: Timestamp) -> Result<(), TaskError> {
        let is_due = now.saturating_since(self.punctuated_at) >= self.spec.punctuate_every || self.punctuated_at > now;
        if is_due && self.may_write() {
            self.punctuated_at = now;
            self.is_flush_due = true;
            self.take_broadcasts(now)?;
            self.notify_tasks(now, |processor, context| processor.punctuate(context))?;
        }
        Ok(())
    }

    /// Calls every task outside of any record.
    fn notify_tasks(
        &mut self,
        now: Timestamp,
        report: impl Fn(&mut dyn Processor, &mut Context<'_>) -> Result<(), ProcessError>,
    ) -> Result<(), TaskError> {
        let joined = self.joined.as_ref().expect("a step has joined");
        let begins = traces::Beginning::of(&self.spec, self.tracing.as_ref(), &joined.topics);
        self.tasks.values_mut().try_for_each(|task| {
            let before = task.outputs.len();
            task.report(now, &joined.topics, &report)?;
            begins.iter().for_each(|begins| begins.traces_of(task, before));
            Ok(())
        })
    }

    fn join(&mut self) -> Result<(), TaskError> {
        let topic = |name: &str| -> Result<OutputTopic, LogError> {
            let missing = || {
                let message = format!("topic {name} does not exist; create it with recrawl topics create");
                LogError::new(ErrorKind::Stop, message)
            };
            let info = self.log.topic(name)?.ok_or_else(missing)?;
            let (partitions, max_message_bytes) = (info.partitions, info.max_message_bytes);
            Ok(OutputTopic { name: name.into(), partitions, max_message_bytes })
        };
        let topics = Topics {
            outputs: (self.spec.outputs.iter())
                .map(|output| Ok((output.name, topic(&output.topic)?)))
                .collect::<Result<_, LogError>>()?,
            tables: self.spec.stores.iter().map(|store| store.name).collect(),
            changelogs: self.spec.stores.iter().map(|store| topic(&store.changelog)).collect::<Result<_, _>>()?,
            dead_letters: topic(&self.spec.dead_letters.topic)?,
        };
        let log_id = self.log.id()?;
        let reader = self.log.reader()?;
        let member = self.log.join(&MemberSpec {
            group: self.spec.group.clone(),
            input: self.spec.input.to_string(),
            transactional_id: self.transactional_id.clone(),
        })?;
        self.joined = Some(Joined { member, reader, topics, log_id, assigned_at: None });
        // Exchange schemas before the first record is written or read. If that fails, start over with joining: no step
        // may run without it.
        self.exchange_schemas().inspect_err(|_| self.joined = None)
    }

    fn turn(&mut self) -> Result<StepOutcome, Stopped> {
        self.health.turned();
        match self.try_step() {
            Ok(step) => {
                self.health.worked();
                self.refresh_status();
                Ok(step)
            }
            Err(error) => self.recover(error).map(|()| StepOutcome::Failed),
        }
    }

    fn refresh_status(&mut self) {
        if !self.health.is_due(&*self.clock) {
            return;
        }
        let mut figures = self.closed_totals.clone();
        self.tasks.values().for_each(|task| task.add_figures(&mut figures));
        if let StageWork::InFlight(engine, _) = &self.spec.work {
            figures.extend(engine.figures(self.unanswered()));
            let (histograms, answers) = (engine.histograms(), engine.answers());
            self.health.update(|status| {
                status.histograms.extend(histograms);
                status.answers = answers;
            });
        }
        let partitions: Vec<u32> = self.tasks.keys().copied().collect();
        let restoring: Vec<u32> = self.restoring.keys().copied().collect();
        let held = self.held.iter().map(|(partition, held)| (partition, &held.reason));
        let states = self.restoring.iter().filter_map(|(partition, task)| Some((partition, task.waits_for.as_ref()?)));
        let waits_for = held.chain(states).next().map(|(partition, why)| format!("partition {partition}: {why}"));
        let remaining = self.restoring.values().map(Restoring::remaining).sum();
        let is_ready = restoring.is_empty() && self.is_settled();
        if self.health.is_sizing_due(&*self.clock) {
            let state_bytes = self.tasks.values().map(Task::bytes_on_disk).sum();
            self.health.update(|status| status.state_bytes = state_bytes);
        }
        self.health.update(|status| {
            status.ready = is_ready;
            status.partitions = partitions;
            status.restoring = restoring;
            status.restore_remaining_records = remaining;
            status.figures = figures;
            status.refreshes_total += 1;
            status.waits_for = waits_for;
        });
    }

    /// Whether the group has completed its assignment. A member without partitions may still receive some a moment
    /// later.
    fn is_settled(&self) -> bool {
        const SETTLED_AFTER: Duration = Duration::from_secs(10);
        let Some(assigned_at) = self.joined.as_ref().and_then(|joined| joined.assigned_at) else { return false };
        !self.tasks.is_empty() || self.clock.monotonic().saturating_sub(assigned_at) >= SETTLED_AFTER
    }
}

impl Stage for StageRunner {
    fn step(&mut self) -> Result<StepOutcome, Stopped> {
        self.turn()
    }

    fn status(&self) -> Arc<Mutex<StageStatus>> {
        self.health.status()
    }

    fn leave(&mut self, patience: Duration) {
        self.drain(patience);
        self.health.make_due();
        self.refresh_status();
        self.drop_membership();
        self.crash_notes.iter_mut().for_each(|notes| notes.close());
    }
}

fn factory(work: &StageWork) -> Option<&ProcessorFactory> {
    match work {
        StageWork::Processors(make) => Some(make),
        StageWork::InFlight(..) => None,
    }
}
