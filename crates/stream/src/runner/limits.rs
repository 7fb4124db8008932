//! How much the next poll takes, and how long it waits.

use super::StageRunner;
use crate::log::{PollLimits, StateIn};
use crate::spec::StageWork;
use std::time::Duration;

impl StageRunner {
    pub(super) fn limits(&self) -> PollLimits {
        // Requests are no part of a commit before their answers.
        let batch = match &self.spec.work {
            StageWork::Processors(_) => self.batch.limits(),
            StageWork::InFlight(..) => self.batch.full(),
        };
        let room = if self.is_paused() { 0 } else { self.room_in_flight() };
        PollLimits { records: batch.records.min(room), ..batch }
    }

    /// Whether the stage leaves its input alone because the disk has no room for what would come of it. Where the log is on
    /// that disk, only work in flight pauses: through it all content comes in, and the other stages finish what there is,
    /// commands included.
    pub(super) fn is_paused(&self) -> bool {
        let is_entrance = matches!(self.spec.work, StageWork::InFlight(..));
        !self.room.is_left() && (is_entrance || self.state_in != StateIn::Log)
    }

    /// Whether restores and work outside of records may go on.
    pub(super) fn may_write(&self) -> bool {
        self.room.is_left() || self.state_in == StateIn::Log
    }

    pub(super) fn poll_wait(&self) -> Duration {
        // Restores continue between polls, and a step has already waited for answers in flight.
        let now = self.clock.monotonic();
        let is_restoring = self.restoring.values().any(|restoring| restoring.is_due(now));
        let is_busy = is_restoring || self.unanswered() > 0 || self.waiting_since.is_some();
        if is_busy { Duration::ZERO } else { self.settings.poll_timeout }
    }
}
