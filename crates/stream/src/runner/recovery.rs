//! Recovery from a failed step: drops and repeats as much as needed.

use super::{StageRunner, assignment};
use crate::health::Stopped;
use crate::log::{ErrorKind, LogError, StateIn};
use crate::protocol::Recovery;
use crate::restore::Restoring;
use crate::spec::StageWork;
use crate::task::{TaskError, TaskWork};
use tracing::{error, warn};

impl StageRunner {
    pub(super) fn recover(&mut self, error: TaskError) -> Result<(), Stopped> {
        match error {
            TaskError::Log(error) => self.recover_from(&error),
            TaskError::Damaged { partition, what } => self.mend(partition, &what),
            TaskError::Panicked { partition, offset, reason } => {
                error!(stage = self.spec.name, partition, offset, reason, "a record made the processor panic");
                let panics = self.panics.entry((partition, offset)).or_insert((0, reason));
                panics.0 += 1;
                self.rewind_or_rejoin();
                Ok(())
            }
            TaskError::Awaits { partition, why } => {
                self.wait_for_schema(partition, why);
                Ok(())
            }
            TaskError::Stop(why) => Err(self.health.stopped(why)),
        }
    }

    /// The schema of restored state is missing here: the task goes back to those being restored, until it arrives.
    fn wait_for_schema(&mut self, partition: u32, why: String) {
        if let Some(id) = self.close(partition) {
            let mut restoring = Restoring::new(id, self.clock.monotonic());
            restoring.lacks_schema(why, self.clock.monotonic());
            self.restoring.insert(partition, restoring);
            self.health.update(|status| status.held_total += 1);
        }
        self.rewind_or_rejoin();
    }

    fn recover_from(&mut self, error: &LogError) -> Result<(), Stopped> {
        let age = self.clock.monotonic().saturating_sub(self.started_at);
        match self.health.failed(error, age) {
            Recovery::TryAgain(wait) => self.clock.pause(wait),
            Recovery::Rewind(wait) => {
                self.clock.pause(wait);
                self.rewind_or_rejoin();
            }
            Recovery::Rejoin(wait) => {
                // After a fencing, another process with this name has already begun.
                if error.kind != ErrorKind::Fenced {
                    self.finish_under_way();
                }
                self.give_up_membership();
                self.clock.pause(wait);
            }
            Recovery::Stop if error.kind == ErrorKind::Fenced => {
                let name = &self.transactional_id;
                let message = format!(
                    "another {} is running under the name {name}; give this one its own name with --instance",
                    self.spec.name
                );
                return Err(self.health.stopped(message));
            }
            Recovery::Stop => return Err(self.health.stopped(error.message.clone())),
        }
        Ok(())
    }

    /// The local state is damaged: sets it aside and restores the task from its changelog.
    fn mend(&mut self, partition: u32, what: &str) -> Result<(), Stopped> {
        warn!(stage = self.spec.name, partition, what, "local state is damaged");
        if self.state_in == StateIn::Log {
            return Err(self.health.stopped(format!("{what}; run recrawl state check")));
        }
        if !self.mended.insert(partition) {
            let message = format!("{what}, even after a refill from its changelog; run recrawl state check");
            return Err(self.health.stopped(message));
        }
        // Dropping the task closes its store. A restore in progress is dropped too, since it may lack the write that
        // failed.
        let task = self.close(partition);
        let restoring = self.restoring.remove(&partition).map(|restoring| restoring.id);
        let Some(id) = task.or(restoring) else { return Ok(()) };
        let kept_as = self.stores.set_aside(&id).map_err(|error| self.health.stopped(error.to_string()))?;
        warn!(task = %id, kept_as, "local state is set aside and will be refilled from its changelog");
        self.health.update(|status| status.state_set_aside_total += 1);
        self.restoring.insert(partition, Restoring::new(id, self.clock.monotonic()));
        self.rewind_or_rejoin();
        Ok(())
    }

    fn rewind_or_rejoin(&mut self) {
        if let Err(error) = self.rewind() {
            warn!(stage = self.spec.name, %error, "rewinding failed; joining the group again");
            self.give_up_membership();
        }
    }

    /// Drops what processors have staged and reads on from the committed offsets. Work in flight is not affected: its
    /// answers stay valid. Its requests are read on from the first that was not accepted, because those behind a
    /// failure in a batch were not.
    fn rewind(&mut self) -> Result<(), TaskError> {
        let Some(joined) = &mut self.joined else { return Ok(()) };
        let StageWork::Processors(make) = &self.spec.work else {
            for (&partition, task) in &self.tasks {
                if let TaskWork::InFlight(window) = &task.work {
                    joined.member.start(partition, window.read_on)?;
                }
            }
            return Ok(());
        };
        self.held.clear();
        let now = self.clock.now();
        for (&partition, task) in &mut self.tasks {
            task.rewind(|id| make(id));
            joined.member.start(partition, task.input_next)?;
            assignment::wake(task, now, &joined.topics, self.broadcasts.latest())?;
        }
        Ok(())
    }

    /// Leaves the group in order to join again.
    fn give_up_membership(&mut self) {
        if self.joined.is_some() {
            self.health.rejoins();
        }
        self.drop_membership();
    }

    /// Leaves the group and closes all tasks.
    pub(super) fn drop_membership(&mut self) {
        let partitions: Vec<u32> = self.tasks.keys().copied().collect();
        self.revoke(&partitions);
        self.restoring.clear();
        self.held.clear();
        self.waiting_since = None;
        self.joined = None;
        self.health.left();
    }
}
