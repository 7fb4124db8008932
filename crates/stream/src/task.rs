//! One stage × one partition at work: its processor, its committed store, its staged writes.

use crate::log::{LogError, Member, Reader};
use crate::overlay::Overlay;
use crate::processor::{Context, OutputTopic, ProcessError, Processor};
use crate::protocol::{RestoreFacts, plan_restore};
use crate::record::{InputRecord, OutputRecord, TopicPartition};
use crate::runner::StageSpec;
use crate::store::{Checkpoint, StateStore, StoreError, StoreWrite, TaskId};
use page::Timestamp;
use std::sync::Arc;

/// Records read from a changelog at a time.
const RESTORE_BATCH: usize = 2_000;

/// A failure while working on a task.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TaskError {
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    Processor(String),
}

pub(crate) struct Task {
    pub(crate) id: TaskId,
    pub(crate) processor: Box<dyn Processor>,
    store: Box<dyn StateStore>,
    overlay: Overlay,
    checkpoint: Checkpoint,
    /// Next input offset as committed.
    pub(crate) input_next: u64,
    /// When the newest record taken in was made.
    pub(crate) heard_at: Option<Timestamp>,
}

impl Task {
    /// Restores a task's state and makes its processor. Returns the task and the number of records replayed.
    pub(crate) fn restore(
        spec: &StageSpec,
        id: TaskId,
        mut store: Box<dyn StateStore>,
        member: &mut dyn Member,
        reader: &mut dyn Reader,
        now: Timestamp,
    ) -> Result<(Self, u64), TaskError> {
        let mut checkpoint = store.checkpoint()?;
        checkpoint.changelog_next.resize(spec.stores.len(), None);
        let changelogs: Vec<_> =
            spec.changelogs().map(|topic| TopicPartition::new(topic.to_owned(), id.partition)).collect();
        let bounds = changelogs.iter().map(|changelog| reader.bounds(changelog)).collect::<Result<Vec<_>, _>>()?;
        let plan = plan_restore(&RestoreFacts {
            checkpoint: &checkpoint,
            changelogs: &bounds,
            committed_input: member.committed(id.partition)?,
            input: reader.bounds(&TopicPartition::new(spec.input.clone(), id.partition))?,
            now,
        });
        if plan.clear {
            store.clear()?;
            checkpoint = Checkpoint { changelog_next: vec![None; spec.stores.len()], ..Checkpoint::default() };
        }
        let mut replayed = 0;
        for (index, (changelog, from)) in changelogs.iter().zip(plan.replay_from).enumerate() {
            let mut next = from;
            loop {
                let (records, after) = reader.read(changelog, next, RESTORE_BATCH)?;
                checkpoint.changelog_next[index] = Some(after);
                if records.is_empty() {
                    break;
                }
                next = after;
                replayed += records.len() as u64;
                checkpoint.written_at = Some(now);
                let writes: Vec<_> = records
                    .into_iter()
                    .map(|record| StoreWrite { store: index, key: record.key, value: record.value })
                    .collect();
                store.apply(&writes, &checkpoint)?;
                member.keep_alive()?;
            }
        }
        let processor = (spec.processor)(&id);
        let overlay = Overlay::new(spec.stores.len());
        let input_next = plan.input_from;
        Ok((Self { id, processor, store, overlay, checkpoint, input_next, heard_at: None }, replayed))
    }

    /// Drops staged writes and makes the processor anew; [`Task::restored`] must follow.
    pub(crate) fn rewind(&mut self, spec: &StageSpec) {
        self.overlay = Overlay::new(spec.stores.len());
        self.processor = (spec.processor)(&self.id);
    }

    /// Runs a piece of the processor's work in a context.
    pub(crate) fn with<T>(
        &mut self,
        now: Timestamp,
        topics: &[OutputTopic],
        outputs: &mut Vec<OutputRecord>,
        origin: Option<(&str, u64)>,
        work: impl FnOnce(&mut dyn Processor, &mut Context<'_>) -> T,
    ) -> T {
        let mut context = Context {
            now,
            task: &self.id,
            store: &*self.store,
            overlay: &mut self.overlay,
            topics,
            outputs,
            origin,
            emitted: 0,
        };
        work(&mut *self.processor, &mut context)
    }

    /// Processes one record. When the record is at fault, what it staged is taken back and the reason returned.
    pub(crate) fn process(
        &mut self,
        record: &InputRecord,
        now: Timestamp,
        topics: &[OutputTopic],
        outputs: &mut Vec<OutputRecord>,
        input: &Arc<str>,
    ) -> Result<Option<String>, TaskError> {
        self.heard_at = Some(record.timestamp);
        self.overlay.begin_record();
        let before = outputs.len();
        let origin = Some((&**input, record.offset));
        match self.with(now, topics, outputs, origin, |processor, context| processor.process(record, context)) {
            Ok(()) => Ok(None),
            Err(ProcessError::SetAside(reason)) => {
                self.overlay.undo();
                outputs.truncate(before);
                Ok(Some(reason))
            }
            Err(ProcessError::Stop(reason)) => Err(TaskError::Processor(reason)),
        }
    }

    /// Takes the staged writes, to be committed to the changelog and then applied.
    pub(crate) fn take_writes(&mut self) -> Vec<StoreWrite> {
        self.overlay.take()
    }

    /// The log has committed: bring the store up to it.
    pub(crate) fn apply(
        &mut self,
        writes: &[StoreWrite],
        changelog_next: impl Fn(usize) -> Option<u64>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        for (store, held) in self.checkpoint.changelog_next.iter_mut().enumerate() {
            if let Some(next) = changelog_next(store) {
                *held = Some(next);
            }
        }
        self.checkpoint.input_next = Some(self.input_next);
        self.checkpoint.written_at = Some(now);
        self.store.apply(writes, &self.checkpoint)
    }
}
