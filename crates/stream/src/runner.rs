//! One stage thread: poll → process → punctuate → commit → apply, and what happens when a step fails.
//!
//! One poll is one batch is one commit, so nothing uncommitted is ever carried across a change of assignment.

use crate::health::{StageHealth, StageStatus, Stopped};
use crate::log::{ErrorKind, Event, Log, LogError, Member, MemberSpec, Reader, Receipt};
use crate::processor::{Context, OutputTopic, ProcessError, Processor};
use crate::protocol::Recovery;
use crate::record::{InputRecord, OutputRecord, TopicPartition};
use crate::store::{StoreProvider, StoreWrite, TaskId};
use crate::task::{Task, TaskError};
use page::Timestamp;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tracing::{info, warn};

/// Where a stage takes its time from.
pub trait Clock: Send + Sync {
    /// The time of the web: real, scaled for a replay, or set by a test.
    fn now(&self) -> Timestamp;
    /// Real time that only ever grows, for waits and intervals of our own.
    fn monotonic(&self) -> Duration;
    /// Waits in real time.
    fn pause(&self, duration: Duration);
    /// How much real time passes while this much time of the web does.
    fn to_real(&self, duration: Duration) -> Duration {
        duration
    }
}

/// A stage at work: something that turns the loop one step at a time, on one thread.
pub trait Stage: Send {
    /// One turn. Failures of the log are dealt with inside; an error means the stage cannot go on.
    fn step(&mut self) -> Result<Step, Stopped>;
    /// A handle on the stage's status that can be read from other threads.
    fn status(&self) -> Arc<Mutex<StageStatus>>;
    /// Leaves the group. Uncommitted work is dropped; nothing committed is lost.
    fn leave(&mut self);
}

/// A record that could not be processed, with the reason.
#[derive(Debug)]
pub struct DeadLetter<'a> {
    /// Stage that set it aside.
    pub stage: &'a str,
    /// Topic it came from.
    pub topic: &'a str,
    /// The record.
    pub record: &'a InputRecord,
    /// Why.
    pub reason: &'a str,
    /// When.
    pub set_aside_at: Timestamp,
}

/// Where dead letters go and how they are written.
#[derive(Clone)]
pub struct DeadLetters {
    /// Topic.
    pub topic: String,
    /// Wire form.
    pub encode: fn(&DeadLetter<'_>) -> Vec<u8>,
}

/// Makes the processor of a task.
pub type ProcessorFactory = Box<dyn Fn(&TaskId) -> Box<dyn Processor> + Send>;

/// A stage as data: its topics, its stores, and how to make its processors.
pub struct StageSpec {
    /// Name: `scheduler`, `detector` …
    pub name: String,
    /// Consumer group.
    pub group: String,
    /// The one input topic.
    pub input: Arc<str>,
    /// Output topics; a processor names them by place.
    pub outputs: Vec<String>,
    /// Stores with their changelog topics; a processor names them by place.
    pub stores: Vec<(String, String)>,
    /// Topic that every partition of the stage hears in full.
    pub broadcast: Option<String>,
    /// Where records go that cannot be processed.
    pub dead_letters: DeadLetters,
    /// How often processors hear of passing time, on the clock of the web.
    pub punctuate_every: Duration,
    /// Makes the processor of a task.
    pub processor: ProcessorFactory,
}

impl StageSpec {
    pub(crate) fn changelogs(&self) -> impl Iterator<Item = &str> {
        self.stores.iter().map(|(_, changelog)| changelog.as_str())
    }
}

/// How a runner batches.
#[derive(Clone, Copy, Debug)]
pub struct RunnerSettings {
    /// Records per batch, at most.
    pub batch_records: usize,
    /// Longest wait for records.
    pub poll_timeout: Duration,
}

impl RunnerSettings {
    /// For a stage that is to hear of passing time every `punctuate_every` of the web: it must look up that often.
    pub fn new(batch_records: usize, punctuate_every: Duration, clock: &dyn Clock) -> Self {
        let poll_timeout = clock.to_real(punctuate_every).clamp(Duration::from_millis(1), Duration::from_millis(100));
        Self { batch_records, poll_timeout }
    }
}

/// What one step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Something was processed or committed.
    Worked,
    /// There was nothing to do.
    Idle,
    /// The log failed; the stage recovered as far as it could and will go on.
    Failed,
}

struct Joined {
    member: Box<dyn Member>,
    reader: Box<dyn Reader>,
    topics: Vec<OutputTopic>,
    dead_letters: OutputTopic,
}

/// Runs one stage: all partitions assigned to this instance, on the caller's thread.
pub struct StageRunner {
    spec: StageSpec,
    transactional_id: String,
    log: Arc<dyn Log>,
    stores: Arc<dyn StoreProvider>,
    clock: Arc<dyn Clock>,
    settings: RunnerSettings,
    /// Above `joined`, so that a runner that is dropped closes its tasks before others may take them over.
    tasks: BTreeMap<u32, Task>,
    joined: Option<Joined>,
    outputs: Vec<OutputRecord>,
    positions: BTreeMap<u32, u64>,
    broadcast_next: BTreeMap<u32, u64>,
    broadcast_latest: BTreeMap<Vec<u8>, InputRecord>,
    punctuated_at: Timestamp,
    health: StageHealth,
}

impl StageRunner {
    /// A runner that has not joined its group yet; the first step does. `instance` names this process among those
    /// that run the stage; two of one name fence each other.
    pub fn new(
        spec: StageSpec,
        instance: &str,
        log: Arc<dyn Log>,
        stores: Arc<dyn StoreProvider>,
        clock: Arc<dyn Clock>,
        settings: RunnerSettings,
    ) -> Self {
        Self {
            health: StageHealth::new(&spec.name),
            transactional_id: format!("{}-{instance}", spec.group),
            spec,
            log,
            stores,
            clock,
            settings,
            joined: None,
            tasks: BTreeMap::new(),
            outputs: Vec::new(),
            positions: BTreeMap::new(),
            broadcast_next: BTreeMap::new(),
            broadcast_latest: BTreeMap::new(),
            punctuated_at: Timestamp::MIN,
        }
    }

    fn turn(&mut self) -> Result<Step, Stopped> {
        match self.try_step() {
            Ok(step) => {
                self.health.worked();
                self.refresh_status();
                Ok(step)
            }
            Err(TaskError::Log(error)) => self.recover(&error).map(|()| Step::Failed),
            Err(other) => Err(self.health.stopped(other.to_string())),
        }
    }

    fn recover(&mut self, error: &LogError) -> Result<(), Stopped> {
        match self.health.failed(error) {
            Recovery::TryAgain(wait) => self.clock.pause(wait),
            Recovery::Rewind(wait) => {
                self.clock.pause(wait);
                if let Err(error) = self.rewind() {
                    warn!(stage = self.spec.name, %error, "rewinding failed, joining anew");
                    self.drop_membership();
                }
            }
            Recovery::Rejoin(wait) => {
                self.drop_membership();
                self.clock.pause(wait);
            }
            Recovery::Stop => return Err(self.health.stopped(error.message.clone())),
        }
        Ok(())
    }

    /// Leaves the group and closes all tasks.
    fn drop_membership(&mut self) {
        self.drop_staged();
        self.tasks.clear();
        self.joined = None;
        self.health.left();
    }

    fn drop_staged(&mut self) {
        self.outputs.clear();
        self.positions.clear();
    }

    fn rewind(&mut self) -> Result<(), TaskError> {
        self.drop_staged();
        let Some(joined) = &mut self.joined else { return Ok(()) };
        joined.member.abort()?;
        let now = self.clock.now();
        for (&partition, task) in &mut self.tasks {
            task.rewind(&self.spec);
            joined.member.start(partition, task.input_next)?;
            wake(task, now, &joined.topics, &mut self.outputs, &self.broadcast_latest)?;
        }
        Ok(())
    }

    fn join(&mut self) -> Result<(), TaskError> {
        let topic = |name: &str| -> Result<OutputTopic, LogError> {
            let missing = || {
                let message = format!("there is no topic {name}; create the topics first (recrawl topics create)");
                LogError::new(ErrorKind::Stop, message)
            };
            let partitions = self.log.partitions(name)?.ok_or_else(missing)?;
            Ok(OutputTopic { name: name.into(), partitions })
        };
        let topics = self.spec.outputs.iter().map(|name| topic(name)).collect::<Result<Vec<_>, _>>()?;
        let dead_letters = topic(&self.spec.dead_letters.topic)?;
        let member = self.log.join(&MemberSpec {
            group: self.spec.group.clone(),
            input: self.spec.input.to_string(),
            transactional_id: self.transactional_id.clone(),
        })?;
        let reader = self.log.reader()?;
        self.joined = Some(Joined { member, reader, topics, dead_letters });
        Ok(())
    }

    fn try_step(&mut self) -> Result<Step, TaskError> {
        if self.joined.is_none() {
            self.join()?;
        }
        let now = self.clock.now();
        let joined = self.joined.as_mut().expect("joined above");
        let events = joined.member.poll(self.settings.batch_records, self.settings.poll_timeout)?;
        self.work(events, now).map_err(|error| match error {
            // The events were taken and will not come again, and of a commit nobody knows whether it went through. Only
            // a new member, which reads what was committed, can tell.
            TaskError::Log(error) if error.kind == ErrorKind::Retry => {
                TaskError::Log(LogError::new(ErrorKind::Rejoin, error.message))
            }
            error => error,
        })
    }

    /// What a poll has brought, and what is due besides.
    fn work(&mut self, events: Vec<Event>, now: Timestamp) -> Result<Step, TaskError> {
        let mut worked = !events.is_empty();
        for event in events {
            match event {
                Event::Assigned(partitions) => self.assign(&partitions, now)?,
                Event::Revoked(partitions) => self.revoke(&partitions),
                Event::Record(record) => self.process(&record, now)?,
            }
        }
        let now = self.clock.now();
        let punctuate =
            now.saturating_since(self.punctuated_at) >= self.spec.punctuate_every || self.punctuated_at > now;
        if punctuate {
            self.punctuated_at = now;
            self.hear_broadcast(now)?;
            self.tell_tasks(now, |processor, context| processor.punctuate(context))?;
        }
        if worked || punctuate {
            self.tell_tasks(now, |processor, context| processor.flush(context))?;
        }
        worked |= self.commit(now)?;
        Ok(if worked { Step::Worked } else { Step::Idle })
    }

    /// The same for every task, outside of any record.
    fn tell_tasks(
        &mut self,
        now: Timestamp,
        tell: impl Fn(&mut dyn Processor, &mut Context<'_>) -> Result<(), ProcessError>,
    ) -> Result<(), TaskError> {
        let joined = self.joined.as_ref().expect("a step has joined");
        for task in self.tasks.values_mut() {
            task.with(now, &joined.topics, &mut self.outputs, None, &tell).map_err(stop)?;
        }
        Ok(())
    }

    fn assign(&mut self, partitions: &[u32], now: Timestamp) -> Result<(), TaskError> {
        let joined = self.joined.as_mut().expect("events come from a member");
        for &partition in partitions {
            let id = TaskId { stage: self.spec.name.clone(), partition };
            let names: Vec<_> = self.spec.stores.iter().map(|(name, _)| name.as_str()).collect();
            let store = self.stores.open(&id, &names)?;
            let (mut task, restored) =
                Task::restore(&self.spec, id, store, &mut *joined.member, &mut *joined.reader, now)?;
            wake(&mut task, now, &joined.topics, &mut self.outputs, &self.broadcast_latest)?;
            joined.member.start(partition, task.input_next)?;
            info!(stage = self.spec.name, partition, restored, input_next = task.input_next, "task restored");
            self.tasks.insert(partition, task);
            self.health.update(|status| status.restored_records_total += restored);
        }
        Ok(())
    }

    fn revoke(&mut self, partitions: &[u32]) {
        for partition in partitions {
            if self.tasks.remove(partition).is_some() {
                info!(stage = self.spec.name, partition, "task closed");
            }
            self.positions.remove(partition);
        }
    }

    fn process(&mut self, record: &InputRecord, now: Timestamp) -> Result<(), TaskError> {
        let joined = self.joined.as_ref().expect("events come from a member");
        // A record of a partition revoked in the same poll is somebody else's now.
        let Some(task) = self.tasks.get_mut(&record.partition) else { return Ok(()) };
        let reason = task.process(record, now, &joined.topics, &mut self.outputs, &self.spec.input)?;
        self.positions.insert(record.partition, record.offset + 1);
        if let Some(reason) = reason {
            warn!(
                stage = self.spec.name,
                partition = record.partition,
                offset = record.offset,
                reason,
                "record set aside"
            );
            let letter = DeadLetter {
                stage: &self.spec.name,
                topic: &self.spec.input,
                record,
                reason: &reason,
                set_aside_at: now,
            };
            let partition = record.partition % joined.dead_letters.partitions;
            self.outputs.push(OutputRecord {
                to: TopicPartition::new(joined.dead_letters.name.clone(), partition),
                timestamp: now,
                key: record.key.clone(),
                value: Some((self.spec.dead_letters.encode)(&letter)),
            });
            self.health.update(|status| status.set_aside_total += 1);
        }
        self.health.update(|status| status.processed_total += 1);
        Ok(())
    }

    /// Reads what is new on the broadcast topic and tells every task.
    fn hear_broadcast(&mut self, now: Timestamp) -> Result<(), TaskError> {
        let (Some(topic), Some(joined)) = (&self.spec.broadcast, &mut self.joined) else { return Ok(()) };
        let partitions = self.log.partitions(topic)?.unwrap_or(0);
        for partition in 0..partitions {
            let from = TopicPartition::new(topic.as_str(), partition);
            loop {
                let next = self.broadcast_next.entry(partition).or_default();
                let (records, after) = joined.reader.read(&from, *next, self.settings.batch_records)?;
                *next = after;
                if records.is_empty() {
                    break;
                }
                for record in records {
                    for task in self.tasks.values_mut() {
                        task.with(now, &joined.topics, &mut self.outputs, None, |processor, context| {
                            processor.broadcast(&record, context)
                        })
                        .map_err(stop)?;
                    }
                    self.broadcast_latest.insert(record.key.clone(), record);
                }
            }
        }
        Ok(())
    }

    /// Commits what is staged as one unit, then brings the stores up to it. False when nothing was staged.
    fn commit(&mut self, now: Timestamp) -> Result<bool, TaskError> {
        let joined = self.joined.as_mut().expect("a step has joined");
        let mut staged: Vec<(u32, Vec<StoreWrite>)> = Vec::new();
        for (&partition, task) in &mut self.tasks {
            let writes = task.take_writes();
            for write in &writes {
                self.outputs.push(OutputRecord {
                    to: TopicPartition::new(self.spec.stores[write.store].1.as_str(), partition),
                    timestamp: now,
                    key: write.key.clone(),
                    value: write.value.clone(),
                });
            }
            if !writes.is_empty() {
                staged.push((partition, writes));
            }
        }
        if self.outputs.is_empty() && self.positions.is_empty() {
            return Ok(false);
        }
        joined.member.produce(std::mem::take(&mut self.outputs))?;
        let positions: Vec<_> = self.positions.iter().map(|(&partition, &next)| (partition, next)).collect();
        let receipt = joined.member.commit(&positions)?;
        for (partition, next) in std::mem::take(&mut self.positions) {
            if let Some(task) = self.tasks.get_mut(&partition) {
                task.input_next = next;
            }
        }
        self.apply(&staged, &receipt, now)?;
        self.health.update(|status| status.commits_total += 1);
        Ok(true)
    }

    fn apply(&mut self, staged: &[(u32, Vec<StoreWrite>)], receipt: &Receipt, now: Timestamp) -> Result<(), TaskError> {
        for (partition, writes) in staged {
            let task = self.tasks.get_mut(partition).expect("writes were taken from this task");
            let next = |store: usize| {
                let changelog = TopicPartition::new(self.spec.stores[store].1.as_str(), *partition);
                receipt.next_offsets.get(&changelog).copied()
            };
            task.apply(writes, next, now)?;
        }
        Ok(())
    }

    fn refresh_status(&mut self) {
        if !self.health.is_due(&*self.clock) {
            return;
        }
        let Some(joined) = &mut self.joined else { return };
        // A failure to ask for lag is no reason to disturb the work; the figure stays as it was.
        let Ok(lags) = joined.member.lag() else { return };
        let now = self.clock.now();
        let mut lag_s = 0.0_f64;
        for lag in lags.iter().filter(|lag| lag.records > 0) {
            let heard_at = self.tasks.get(&lag.partition).and_then(|task| task.heard_at).unwrap_or(now);
            lag_s = lag_s.max(now.saturating_since(heard_at).as_secs_f64());
        }
        let mut figures = BTreeMap::new();
        for task in self.tasks.values() {
            for (name, value) in task.processor.figures(now) {
                *figures.entry(name).or_insert(0.0) += value;
            }
        }
        let partitions: Vec<u32> = self.tasks.keys().copied().collect();
        self.health.update(|status| {
            status.ready = true;
            status.lag_records = lags.iter().map(|lag| lag.records).sum();
            status.lag_s = lag_s;
            status.partitions = partitions;
            status.figures = figures;
        });
    }
}

impl Stage for StageRunner {
    fn step(&mut self) -> Result<Step, Stopped> {
        self.turn()
    }

    fn status(&self) -> Arc<Mutex<StageStatus>> {
        self.health.status()
    }

    fn leave(&mut self) {
        self.health.make_due();
        self.refresh_status();
        self.drop_membership();
    }
}

fn stop(error: ProcessError) -> TaskError {
    TaskError::Processor(error.to_string())
}

/// Tells a new processor that its stores are restored, and what was last broadcast.
fn wake(
    task: &mut Task,
    now: Timestamp,
    topics: &[OutputTopic],
    outputs: &mut Vec<OutputRecord>,
    broadcast: &BTreeMap<Vec<u8>, InputRecord>,
) -> Result<(), TaskError> {
    task.with(now, topics, outputs, None, |processor, context| {
        processor.restored(context)?;
        broadcast.values().try_for_each(|record| processor.broadcast(record, context))
    })
    .map_err(stop)
}
