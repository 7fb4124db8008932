//! Commits the staged work of all tasks as one unit, then applies it to their stores.

use super::StageRunner;
use crate::invariants::positions_never_go_back;
use crate::log::{Commit, ErrorKind, LogError, Receipt, StateIn};
use crate::position::Position;
use crate::record::{OutputRecord, TopicPartition};
use crate::restore::Restoring;
use crate::store::{StoreWrite, TaskWrites};
use crate::task::{TaskError, TaskWork};
use metrics::stage::COMMIT_SECONDS;
use page::Timestamp;
use std::collections::BTreeMap;

/// Part of a commit that belongs to one task.
struct Staged {
    partition: u32,
    /// Writes to apply to its store.
    writes: Vec<StoreWrite>,
    position: Option<Position>,
    /// Number of the commit's outputs that belong to the task; its changelog records follow them.
    outputs: usize,
    records: usize,
}

impl StageRunner {
    /// Returns false if nothing was staged.
    pub(super) fn commit(&mut self, now: Timestamp) -> Result<bool, TaskError> {
        let (commit, staged) = self.gather(now);
        if commit.is_empty() {
            return Ok(false);
        }
        let begun = self.clock.monotonic();
        let (records, bytes) = (commit.outputs.len(), commit.outputs.iter().map(OutputRecord::bytes).sum());
        let receipt = match self.member().commit(&commit) {
            Ok(receipt) => receipt,
            Err(error) => {
                self.batch.failed();
                self.put_back(staged, commit);
                return Err(certain(error).into());
            }
        };
        self.waiting_since = None;
        let took = self.clock.monotonic().saturating_sub(begun);
        self.batch.committed(records, bytes, took);
        self.health.measured(COMMIT_SECONDS, took.as_secs_f64());
        self.health.update(|status| status.commits_total += 1);
        self.committed(staged, &receipt, now)?;
        Ok(true)
    }

    fn gather(&mut self, now: Timestamp) -> (Commit, Vec<Staged>) {
        let mut commit = Commit::default();
        let mut staged = Vec::new();
        let topics = &self.joined.as_ref().expect("a step has joined").topics;
        let progress_in = self.spec.progress_store();
        for (&partition, task) in &mut self.tasks {
            let (writes, position) = (task.take_writes(), task.moved_to());
            if writes.is_empty() && position.is_none() && task.outputs.is_empty() {
                continue;
            }
            let (before, outputs) = (commit.outputs.len(), task.outputs.len());
            commit.tasks.insert(partition);
            commit.positions.extend(position.clone().map(|position| (partition, position)));
            commit.outputs.append(&mut task.outputs);
            let mut to_apply = Vec::new();
            match self.state_in {
                StateIn::Changelogs => {
                    commit.outputs.extend(task.changelog_records(&writes, position.as_ref(), progress_in, topics, now));
                    to_apply = writes;
                }
                StateIn::Log if writes.is_empty() => {}
                StateIn::Log => {
                    let (task, stores) = (task.id.clone(), self.store_names.clone());
                    commit.state.push(TaskWrites { task, stores, writes });
                }
            }
            let records = commit.outputs.len() - before;
            staged.push(Staged { partition, writes: to_apply, position, outputs, records });
        }
        (commit, staged)
    }

    /// After a failed commit. Processors repeat their work; the results of answers in flight wait for the next commit.
    fn put_back(&mut self, staged: Vec<Staged>, commit: Commit) {
        let mut outputs = commit.outputs.into_iter();
        let mut in_log: BTreeMap<u32, Vec<StoreWrite>> =
            commit.state.into_iter().map(|writes| (writes.task.partition, writes.writes)).collect();
        for part in staged {
            let mut own: Vec<_> = outputs.by_ref().take(part.records).collect();
            // Behind them are the records of its changelogs, which are made again.
            own.truncate(part.outputs);
            let Some(task) = self.tasks.get_mut(&part.partition) else { continue };
            if let TaskWork::InFlight(_) = task.work {
                task.outputs = own;
                let writes = in_log.remove(&part.partition).unwrap_or(part.writes);
                writes.into_iter().for_each(|write| task.state.overlay.write(write.store, write.key, write.value));
            }
        }
    }

    /// After a successful commit: applies it to every task, even after the store of one has failed.
    fn committed(&mut self, staged: Vec<Staged>, receipt: &Receipt, now: Timestamp) -> Result<(), TaskError> {
        let (mut result, mut behind, mut spans) = (Ok(()), Vec::new(), Vec::new());
        for Staged { partition, writes, position, .. } in staged {
            let Some(task) = self.tasks.get_mut(&partition) else { continue };
            if let Some(position) = position {
                let before = Position::at(task.input_next);
                self.health.check(positions_never_go_back(Some(&before), &Position::at(position.next)));
                task.input_next = position.next;
                task.is_position_lost = false;
            }
            task.position = None;
            task.held.clear();
            spans.append(&mut task.spans);
            let input_next = task.input_next;
            if let TaskWork::InFlight(window) = &mut task.work {
                window.committed();
            }
            if self.state_in == StateIn::Changelogs && !self.spec.stores.is_empty() {
                let next = |store: usize| {
                    let changelog = TopicPartition::new(self.spec.stores[store].changelog.as_str(), partition);
                    receipt.next_offsets.get(&changelog).copied()
                };
                if let Err(error) = task.state.apply(&writes, input_next, next, now) {
                    behind.push(partition);
                    result = result.and(Err(TaskError::of_store(partition, error)));
                }
            }
            self.panics.retain(|(of, offset), _| *of != partition || *offset >= input_next);
        }
        self.send_spans(spans);
        // A store that missed a commit must not be used: restore it.
        for partition in behind {
            if let Some(id) = self.close(partition) {
                self.restoring.insert(partition, Restoring::new(id, self.clock.monotonic()));
            }
        }
        result
    }
}

/// After a commit without an answer it is unknown whether it succeeded. Only a new member that reads the committed
/// positions finds out.
fn certain(error: LogError) -> LogError {
    match error.kind {
        ErrorKind::Retry => LogError::new(ErrorKind::Rejoin, error.message),
        _ => error,
    }
}
