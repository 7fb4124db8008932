//! A task: one stage on one partition.

use crate::in_flight::{HeldByAnswer, RequestWindow};
use crate::log::LogError;
use crate::overlay::Overlay;
use crate::position::PROGRESS_KEY;
use crate::position::Position;
use crate::process_error::ProcessError;
use crate::processor::{Context, Processor, Topics};
use crate::publish::REMEDY;
use crate::record::{InputRecord, OutputRecord, TopicPartition};
use crate::room::DiskRoom;
use crate::span::Span;
use crate::store::{CHANGELOG_LOST, Checkpoint, StateStore, StoreError, StoreWrite, TaskId};
use bytes::Bytes;
use metrics::Metric;
use page::Timestamp;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A failure while working on a task.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TaskError {
    #[error(transparent)]
    Log(#[from] LogError),
    #[error("{what}")]
    Damaged { partition: u32, what: String },
    /// The processor panicked over a record.
    #[error("{reason}")]
    Panicked { partition: u32, offset: u64, reason: String },
    /// The task's state is of a newer version whose schema has not arrived here yet.
    #[error("{why}")]
    Awaits { partition: u32, why: String },
    #[error("{0}")]
    Stop(String),
}

impl TaskError {
    pub(crate) fn of_store(partition: u32, error: StoreError) -> Self {
        match error {
            StoreError::Damaged(what) => TaskError::Damaged { partition, what },
            StoreError::Failed(why) => TaskError::Stop(why),
        }
    }

    pub(crate) fn of_process(partition: u32, error: ProcessError) -> Self {
        match error {
            ProcessError::Damaged(what) => TaskError::Damaged { partition, what },
            // Outside of a record, the task has to wait.
            ProcessError::Await(why) => TaskError::Awaits { partition, why },
            // Outside of a record, there is nothing to set aside.
            ProcessError::SetAside(why) | ProcessError::Stop(why) => TaskError::Stop(why),
        }
    }
}

/// Result of processing a record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Processed {
    Done,
    /// The record is invalid, for this reason; its staged work is rolled back.
    SetAside(String),
    /// The record cannot be read yet; its staged work is rolled back.
    Await(String),
}

pub(crate) struct Task {
    pub(crate) id: TaskId,
    pub(crate) work: TaskWork,
    pub(crate) state: TaskState,
    /// Output records of this task that wait for the next commit.
    pub(crate) outputs: Vec<OutputRecord>,
    /// Spans of records of traces, which are sent after the next commit.
    pub(crate) spans: Vec<Span>,
    /// Resources of answers, such as shares of memory, which are freed after the next commit.
    pub(crate) held: Vec<HeldByAnswer>,
    /// Committed next input offset.
    pub(crate) input_next: u64,
    /// Last input offset processed since the task began or was rewound.
    pub(crate) input_last: Option<u64>,
    /// Next input position to commit; `None` if it has not moved.
    pub(crate) position: Option<Position>,
    /// Whether the group lost its position, so that the task's own is committed even if it does not move.
    pub(crate) is_position_lost: bool,
    room: DiskRoom,
}

/// The kind of work a task does.
pub(crate) enum TaskWork {
    Processor(Box<dyn Processor>),
    InFlight(RequestWindow),
}

/// The committed store of a task and its staged writes.
pub(crate) struct TaskState {
    pub(crate) store: Box<dyn StateStore>,
    pub(crate) overlay: Overlay,
    pub(crate) checkpoint: Checkpoint,
}

impl TaskState {
    pub(crate) fn new(store: Box<dyn StateStore>, checkpoint: Checkpoint) -> Self {
        let overlay = Overlay::new(checkpoint.stores.len());
        Self { store, overlay, checkpoint }
    }

    /// Brings the store up to date after the log has committed.
    pub(crate) fn apply(
        &mut self,
        writes: &[StoreWrite],
        input_next: u64,
        changelog_next: impl Fn(usize) -> Option<u64>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut has_lost_changelog = false;
        for (place, held) in self.checkpoint.stores.iter_mut().enumerate() {
            if let Some(next) = changelog_next(place) {
                // Offsets go back only where somebody has made the topic anew.
                let is_lost = held.changelog_next.is_some_and(|held| next < held);
                has_lost_changelog |= is_lost;
                held.changelog_next = Some(if is_lost { CHANGELOG_LOST } else { next });
            }
            // The owner of a task is the only writer of its changelog, so it has seen everything in it.
            held.complete_as_of = Some(now);
        }
        self.checkpoint.input_next = Some(input_next);
        self.store.apply(writes, &self.checkpoint)?;
        match has_lost_changelog {
            false => Ok(()),
            true => {
                Err(StoreError::Failed(format!("a changelog was deleted and made anew while the stage ran; {REMEDY}")))
            }
        }
    }
}

impl Task {
    pub(crate) fn new(id: TaskId, work: TaskWork, state: TaskState, input_next: u64) -> Self {
        Self {
            id,
            work,
            state,
            outputs: Vec::new(),
            spans: Vec::new(),
            held: Vec::new(),
            input_next,
            input_last: None,
            position: None,
            is_position_lost: false,
            room: DiskRoom::default(),
        }
    }

    /// The task, which asks here for room on the disk.
    pub(crate) fn within(self, room: DiskRoom) -> Self {
        Self { room, ..self }
    }

    /// Drops staged work and replaces the processor with a new one.
    pub(crate) fn rewind(&mut self, processor: impl FnOnce(&TaskId) -> Box<dyn Processor>) {
        if let TaskWork::Processor(current) = &mut self.work {
            self.outputs.clear();
            self.spans.clear();
            self.input_last = None;
            self.position = None;
            self.state.overlay = Overlay::new(self.state.checkpoint.stores.len());
            *current = processor(&self.id);
        }
    }

    /// Runs part of the processor's work in a context; does nothing for a task without a processor. Returns the reason
    /// if something staged is too large to be written.
    pub(crate) fn with(
        &mut self,
        now: Timestamp,
        topics: &Topics,
        origin: Option<(&str, u64)>,
        work: impl FnOnce(&mut dyn Processor, &mut Context<'_>) -> Result<(), ProcessError>,
    ) -> Result<Option<String>, ProcessError> {
        let TaskWork::Processor(processor) = &mut self.work else { return Ok(None) };
        let mut context = Context {
            now,
            task: &self.id,
            store: &*self.state.store,
            overlay: &mut self.state.overlay,
            topics,
            outputs: &mut self.outputs,
            has_room: self.room.is_left(),
            origin,
            emitted: 0,
            refusal: None,
        };
        work(&mut **processor, &mut context)?;
        Ok(context.refusal)
    }

    /// Like [`Self::with`], outside of any record, where there is nothing to set aside.
    pub(crate) fn report(
        &mut self,
        now: Timestamp,
        topics: &Topics,
        work: impl FnOnce(&mut dyn Processor, &mut Context<'_>) -> Result<(), ProcessError>,
    ) -> Result<(), TaskError> {
        let partition = self.id.partition;
        match self.with(now, topics, None, work) {
            Ok(None) => Ok(()),
            Ok(Some(refusal)) => Err(TaskError::Stop(format!("task {} cannot commit: {refusal}", self.id))),
            Err(error) => Err(TaskError::of_process(partition, error)),
        }
    }

    /// Processes one record. Rolls back its staged work unless it is done.
    pub(crate) fn process(
        &mut self,
        record: &InputRecord,
        now: Timestamp,
        topics: &Topics,
        input: &Arc<str>,
    ) -> Result<Processed, TaskError> {
        let (partition, offset) = (record.partition, record.offset);
        let before = self.outputs.len();
        self.state.overlay.begin_record();
        let origin = Some((&**input, offset));
        let work = || self.with(now, topics, origin, |processor, context| processor.process(record, context));
        // The caller rebuilds the processor after a panic, so no half-changed state is used again.
        let processed = catch_unwind(AssertUnwindSafe(work)).map_err(|panic| TaskError::Panicked {
            partition,
            offset,
            reason: message_of(&*panic),
        })?;
        let processed = match processed {
            Ok(None) => return Ok(Processed::Done),
            Ok(Some(reason)) | Err(ProcessError::SetAside(reason)) => Processed::SetAside(reason),
            Err(ProcessError::Await(reason)) => Processed::Await(reason),
            Err(error) => return Err(TaskError::of_process(partition, error)),
        };
        self.state.overlay.undo();
        self.outputs.truncate(before);
        Ok(processed)
    }

    /// The epoch of its work in flight, if it has any.
    pub(crate) fn epoch(&self) -> Option<u64> {
        match &self.work {
            TaskWork::InFlight(window) => Some(window.epoch),
            TaskWork::Processor(_) => None,
        }
    }

    /// Takes the staged writes, to be committed and then applied.
    pub(crate) fn take_writes(&mut self) -> Vec<StoreWrite> {
        self.state.overlay.take()
    }

    /// Next input position to commit; `None` if it has not moved since the last commit.
    pub(crate) fn moved_to(&self) -> Option<Position> {
        match &self.work {
            TaskWork::Processor(_) => {
                let lost = self.is_position_lost.then(|| Position::at(self.input_next));
                self.position.clone().or(lost)
            }
            TaskWork::InFlight(window) => window.position(),
        }
    }

    /// Changelog records for the writes and for the input offset.
    pub(crate) fn changelog_records(
        &self,
        writes: &[StoreWrite],
        position: Option<&Position>,
        progress_in: Option<usize>,
        topics: &Topics,
        now: Timestamp,
    ) -> Vec<OutputRecord> {
        let record = |store: usize, key: Vec<u8>, value: Option<Vec<u8>>| {
            let to = TopicPartition::new(topics.changelogs[store].name.clone(), self.id.partition);
            OutputRecord { to, timestamp: now, key, value: value.map(Bytes::from), trace: None }
        };
        let mut records: Vec<_> =
            writes.iter().map(|write| record(write.store, write.key.clone(), write.value.clone())).collect();
        if let (Some(store), Some(position)) = (progress_in, position) {
            records.push(record(store, PROGRESS_KEY.to_vec(), Some(position.next.to_be_bytes().to_vec())));
        }
        records
    }

    /// Bytes that its state takes on disk.
    pub(crate) fn bytes_on_disk(&self) -> u64 {
        self.state.store.bytes_on_disk()
    }

    /// Adds the processor's figures.
    pub(crate) fn add_figures(&self, figures: &mut BTreeMap<&'static Metric, f64>) {
        if let TaskWork::Processor(processor) = &self.work {
            for (metric, value) in processor.figures() {
                *figures.entry(metric).or_insert(0.0) += value;
            }
        }
    }
}

fn message_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("processing it panicked: {}", text.unwrap_or("no message"))
}
