//! A stage as data: its topics, stores and work.

use crate::clock::Clock;
use crate::crash_notes::SubjectOf;
use crate::in_flight::InFlight;
use crate::processor::Processor;
use crate::record::InputRecord;
use crate::store::TaskId;
use page::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use wire::TopicName;
use wire::schemas::SchemaRecord;

/// A record that could not be processed, with the reason.
#[derive(Debug)]
pub struct FailedRecord<'a> {
    /// Stage that set it aside.
    pub stage: &'a str,
    /// Topic it came from.
    pub topic: &'a str,
    pub record: &'a InputRecord,
    pub reason: &'a str,
    pub set_aside_at: Timestamp,
}

/// Topic and encoding of records that are set aside.
#[derive(Clone)]
pub struct DeadLetters {
    /// Full topic name.
    pub topic: String,
    /// Encodes a record that is set aside.
    pub encode: fn(&FailedRecord<'_>) -> Vec<u8>,
}

/// The topic of schemas: compacted, keyed by fingerprint, or by the id of a schema registry.
#[derive(Clone)]
pub struct SchemaTopic {
    /// Full topic name.
    pub topic: String,
    /// Schemas of all records this program writes, state included.
    pub own: Vec<SchemaRecord>,
    /// Those that a schema registry knows by an id, which records name instead of the fingerprint.
    pub registered: Vec<(u32, SchemaRecord)>,
}

/// Makes the processor of a task.
pub type ProcessorFactory = Box<dyn Fn(&TaskId) -> Box<dyn Processor> + Send>;

/// The work a stage does with its input.
pub enum StageWork {
    /// One processor for each task: synchronous and deterministic.
    Processors(ProcessorFactory),
    /// Asynchronous work, shared by all tasks, with at most this many requests in flight.
    InFlight(Box<dyn InFlight>, usize),
}

/// A topic that a stage writes to or reads in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTopic {
    /// The topic as declared.
    pub name: TopicName,
    /// Its full name.
    pub topic: String,
}

/// A table of a stage. Each task has one store for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreSpec {
    pub name: &'static str,
    /// Full name of its changelog topic.
    pub changelog: String,
    /// Whether readers outside the stage read the changelog too: then it may hold nothing but the store's entries.
    pub is_public: bool,
}

/// Makes the record that is processed in place of one that is set aside, if there is one.
pub type StandInOf = fn(&InputRecord) -> Option<InputRecord>;

/// A stage as data: its topics with their full names, its stores, and its work. Everything but the work follows from a
/// [`StageTopology`](crate::StageTopology).
pub struct StageSpec {
    /// Stage name: `scheduler`, `detector` …
    pub name: String,
    /// Name of the consumer group.
    pub group: String,
    /// The one input topic.
    pub input: Arc<str>,
    /// Output topics, with their full names.
    pub outputs: Vec<NamedTopic>,
    /// One store specification per table.
    pub stores: Vec<StoreSpec>,
    /// Topics that every partition of the stage reads in full.
    pub broadcasts: Vec<NamedTopic>,
    /// Destination of records that cannot be processed.
    pub dead_letters: DeadLetters,
    /// The topic of schemas; `None` in tests whose records have no schema.
    pub schemas: Option<SchemaTopic>,
    /// Interval between calls of `punctuate`, in the time of the web.
    pub punctuate_every: Duration,
    /// The output whose records begin a trace each, unless they are made of a record that has one.
    pub begins_traces: Option<TopicName>,
    /// Finds the subject of a record, by which it is recognised after a crash; `None` if its place is enough. For a stage whose
    /// input is made again after a crash, at another place.
    pub subject: Option<SubjectOf>,
    /// Makes a record that is processed in place of one that is set aside, so that later stages receive a failure and not
    /// nothing; `None` for a stage without such records.
    pub stand_in: Option<StandInOf>,
    /// The stage's work.
    pub work: StageWork,
}

impl StageSpec {
    /// The store whose changelog also records the input offset.
    pub(crate) fn progress_store(&self) -> Option<usize> {
        progress_store(&self.stores)
    }
}

pub(crate) fn progress_store(stores: &[StoreSpec]) -> Option<usize> {
    stores.iter().position(|store| !store.is_public)
}

/// How a runner batches.
#[derive(Clone, Copy, Debug)]
pub struct RunnerSettings {
    /// Records per batch, at most.
    pub batch_records: usize,
    /// Soft limit on bytes per batch; a batch may exceed it by one record.
    pub batch_bytes: usize,
    /// How long answers of work in flight wait for others before they are committed together.
    pub batch_interval: Duration,
    /// Longest wait for records in one poll.
    pub poll_timeout: Duration,
}

impl RunnerSettings {
    /// Settings for a stage that punctuates every `punctuate_every` of the web: a poll must not wait longer than that.
    pub fn new(
        batch_records: usize,
        batch_bytes: usize,
        batch_interval: Duration,
        punctuate_every: Duration,
        clock: &dyn Clock,
    ) -> Self {
        let poll_timeout = clock.to_real(punctuate_every).clamp(Duration::from_millis(1), Duration::from_millis(100));
        Self { batch_records, batch_bytes, batch_interval, poll_timeout }
    }
}
