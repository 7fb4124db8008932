//! A stage as data: its topics, its stores, its work.

use crate::in_flight::InFlight;
use crate::processor::Processor;
use crate::record::InputRecord;
use crate::runner::Clock;
use crate::store::TaskId;
use messages::schemas::SchemaRecord;
use messages::topics::TopicName;
use page::Timestamp;
use std::sync::Arc;
use std::time::Duration;

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

/// How the schemas of records travel: a compacted topic by fingerprint.
#[derive(Clone)]
pub struct SchemaTopic {
    /// Topic.
    pub topic: String,
    /// The schemas of the records that this program writes, state included.
    pub own: Vec<SchemaRecord>,
}

/// Makes the processor of a task.
pub type ProcessorFactory = Box<dyn Fn(&TaskId) -> Box<dyn Processor> + Send>;

/// What a stage does with its input.
pub enum StageWork {
    /// One processor for each task: synchronous and deterministic.
    Processors(ProcessorFactory),
    /// Work that takes its time, for all tasks together, with this many requests unanswered at most.
    InFlight(Box<dyn InFlight>, usize),
}

/// An output of a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSpec {
    /// The topic as it is declared.
    pub name: TopicName,
    /// Its full name.
    pub topic: String,
}

/// A table of a stage, with the store that each task has for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreSpec {
    /// Name of the table.
    pub name: &'static str,
    /// Full name of its changelog topic.
    pub changelog: String,
    /// Whether readers outside read the changelog too: nothing but the store's entries may be in it.
    pub is_public: bool,
}

/// A stage as data: its topics with their full names, its stores, and its work. All but the work follows from a
/// [`StageTopology`](crate::StageTopology).
pub struct StageSpec {
    /// Name: `scheduler`, `detector` …
    pub name: String,
    /// Consumer group.
    pub group: String,
    /// The one input topic.
    pub input: Arc<str>,
    /// Output topics.
    pub outputs: Vec<OutputSpec>,
    /// Tables.
    pub stores: Vec<StoreSpec>,
    /// Topic that every partition of the stage hears in full.
    pub broadcast: Option<String>,
    /// Where records go that cannot be processed.
    pub dead_letters: DeadLetters,
    /// Where schemas travel; none in tests whose records have none.
    pub schemas: Option<SchemaTopic>,
    /// How often processors hear of passing time, on the clock of the web.
    pub punctuate_every: Duration,
    /// The work.
    pub work: StageWork,
}

impl StageSpec {
    /// The store whose changelog also says how far the input is.
    pub(crate) fn progress_store(&self) -> Option<usize> {
        self.stores.iter().position(|store| !store.is_public)
    }
}

/// How a runner batches.
#[derive(Clone, Copy, Debug)]
pub struct RunnerSettings {
    /// Records per batch, at most.
    pub batch_records: usize,
    /// Bytes per batch, give or take a record.
    pub batch_bytes: usize,
    /// How long answers of work in flight wait for company before they are committed.
    pub batch_interval: Duration,
    /// Longest wait for records.
    pub poll_timeout: Duration,
}

impl RunnerSettings {
    /// For a stage that is to hear of passing time every `punctuate_every` of the web: it must look up that often.
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
