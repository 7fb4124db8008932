//! Assignment, restore and revocation of partitions.

use super::broadcast::LatestBroadcasts;
use super::{StageRunner, factory};
use crate::in_flight::RequestWindow;
use crate::log::ErrorKind;
use crate::processor::Topics;
use crate::restore::{RestoreContext, Restored, Restoring};
use crate::store::TaskId;
use crate::task::{Task, TaskError, TaskState, TaskWork};
use metrics::MetricKind;
use metrics::stage::RESTORE_SECONDS;
use page::Timestamp;
use std::collections::BTreeMap;
use tracing::info;

impl StageRunner {
    pub(super) fn assign(&mut self, partitions: &[u32]) {
        let now = self.clock.monotonic();
        self.joined().assigned_at.get_or_insert(now);
        for &partition in partitions {
            let id = TaskId { stage: self.spec.name.clone(), partition };
            self.restoring.insert(partition, Restoring::new(id, now));
        }
        self.health.rebalanced();
        self.health.make_due();
    }

    /// Gives up partitions, with their uncommitted work. When it returns, none of their work is in flight: the next
    /// owner may begin.
    pub(super) fn revoke(&mut self, partitions: &[u32]) {
        self.health.rebalanced();
        self.withdraw_partitions(partitions);
        let mut totals = BTreeMap::new();
        for &partition in partitions {
            self.restoring.remove(&partition);
            self.held.remove(&partition);
            let Some(task) = self.tasks.remove(&partition) else { continue };
            task.add_figures(&mut totals);
            self.keep_answers(task);
            info!(stage = self.spec.name, partition, "task closed");
        }
        for (metric, total) in totals.into_iter().filter(|(metric, _)| metric.kind == MetricKind::Counter) {
            *self.closed_totals.entry(metric).or_insert(0.0) += total;
        }
        if self.tasks.values().all(|task| task.outputs.is_empty() && task.moved_to().is_none()) {
            self.waiting_since = None;
        }
        self.health.make_due();
    }

    /// Closes a task whose store cannot be used any more. Its requests come again once it is restored.
    pub(super) fn close(&mut self, partition: u32) -> Option<TaskId> {
        self.withdraw_partitions(&[partition]);
        let task = self.tasks.remove(&partition)?;
        let id = task.id.clone();
        self.keep_answers(task);
        Some(id)
    }

    fn withdraw_partitions(&mut self, partitions: &[u32]) {
        let tasks = partitions.iter().filter_map(|partition| self.tasks.get(partition));
        let epochs: Vec<u64> = tasks.filter_map(|task| task.epoch()).collect();
        self.withdraw(&epochs);
    }

    /// Advances one restore by a slice. A failed request to the log is repeated later; the other tasks keep running.
    pub(super) fn advance_restores(&mut self, now: Timestamp) -> Result<bool, TaskError> {
        if !self.restoring.is_empty() && !self.know_broadcasts(now)? {
            return Ok(false);
        }
        let monotonic = self.clock.monotonic();
        let due = self.restoring.iter_mut().find(|(_, restoring)| restoring.is_due(monotonic));
        let Some((&partition, restoring)) = due else { return Ok(false) };
        let joined = self.joined.as_mut().expect("partitions come from a member");
        let mut ground = RestoreContext {
            spec: &self.spec,
            stores: &*self.stores,
            log_id: &joined.log_id,
            state_in: self.state_in,
            marks_commits: self.log.marks_commits(),
            member: &mut *joined.member,
            reader: &mut *joined.reader,
            now,
        };
        let advanced = restoring.advance(&mut ground);
        let begun = advanced.and_then(|restored| match restored {
            None => Ok(()),
            Some(restored) => self.begin(partition, restored, now),
        });
        match begun {
            Ok(()) => Ok(true),
            Err(TaskError::Log(error)) if error.kind == ErrorKind::Retry => {
                if let Some(restoring) = self.restoring.get_mut(&partition) {
                    restoring.failed(&error, monotonic);
                }
                self.health.update(|status| {
                    status.failures_total += 1;
                    status.last_error = Some(error.message.clone());
                });
                Ok(false)
            }
            Err(TaskError::Awaits { why, .. }) => {
                if let Some(restoring) = self.restoring.get_mut(&partition) {
                    self.health.update(|status| status.held_total += u64::from(restoring.waits_for.is_none()));
                    restoring.lacks_schema(why, monotonic);
                }
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Starts a restored task. If that fails, it stays among the tasks to restore.
    fn begin(&mut self, partition: u32, restored: Restored, now: Timestamp) -> Result<(), TaskError> {
        // The previous owner may be of another version. It wrote its schemas before its state and writes nothing more,
        // so they are on the topic by now.
        self.learn_schemas()?;
        let Some(restoring) = self.restoring.get(&partition) else { return Ok(()) };
        let Restored { store, checkpoint, input, finished, checked } = restored;
        self.health.check(checked);
        let work = match factory(&self.spec.work) {
            Some(make) => TaskWork::Processor(make(&restoring.id)),
            None => {
                self.epoch += 1;
                let mut window = RequestWindow::new(self.epoch, input.from, finished);
                window.has_moved = input.from_state;
                TaskWork::InFlight(window)
            }
        };
        let mut task = Task::new(restoring.id.clone(), work, TaskState::new(store, checkpoint), input.from)
            .within(self.room.clone());
        task.is_position_lost = input.from_state;
        let joined = self.joined.as_mut().expect("partitions come from a member");
        wake(&mut task, now, &joined.topics, self.broadcasts.latest())?;
        joined.member.start(partition, input.from)?;
        if let TaskWork::InFlight(window) = &mut task.work {
            let kept = self.kept_answers.remove(&partition);
            window.keep(kept.map(|(_, answers)| answers).unwrap_or_default(), self.clock.monotonic());
            self.engine().into_iter().for_each(|engine| engine.begin(window.epoch));
        }
        let Some(restoring) = self.restoring.remove(&partition) else { return Ok(()) };
        let replayed = restoring.replayed;
        let took = self.clock.monotonic().saturating_sub(restoring.assigned_at);
        self.health.measured(RESTORE_SECONDS, took.as_secs_f64());
        info!(stage = self.spec.name, partition, replayed, input_next = input.from, "task restored");
        self.tasks.insert(partition, task);
        if input.from_state {
            // The position is committed although no answer moves it.
            self.answer_waits();
        }
        self.health.make_due();
        self.health.update(|status| {
            status.restored_records_total += replayed;
            status.stores_refilled_total += restoring.refilled;
            status.state_set_aside_total += restoring.set_aside;
            status.input_lost_total += input.lost;
        });
        Ok(())
    }
}

/// Notifies a new processor that its stores are restored, and passes on the latest broadcast records.
pub(super) fn wake(
    task: &mut Task,
    now: Timestamp,
    topics: &Topics,
    broadcasts: &LatestBroadcasts,
) -> Result<(), TaskError> {
    task.report(now, topics, |processor, context| {
        processor.restored(context)?;
        broadcasts.iter().try_for_each(|((topic, _), record)| processor.broadcast(*topic, record, context))
    })
}
