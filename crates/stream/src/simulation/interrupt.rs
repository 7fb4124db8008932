//! Decides what happens at a point.

use super::points::{Action, Point};
use super::world::{Chances, Crashed, Life, SESSION, World};
use crate::log::{ErrorKind, LogError};
use crate::store::StoreError;
use rand::RngExt;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl World {
    /// Runs what happens at this point. Returns the failure of the call, if it is to fail.
    pub(super) fn at(self: &Arc<Self>, life: &Arc<Life>, point: Point) -> Option<Action> {
        if life.is_dead() {
            resume_unwind(Box::new(Crashed));
        }
        let action = self.choose(point);
        if action != Action::Nothing {
            self.trace(|| format!("{} {point:?}: {action:?}", life.name));
        }
        match action {
            Action::Nothing => {}
            Action::Others => self.run_others(4),
            Action::Expire => {
                self.expire(life.role, &life.name);
                let silent = SESSION.mul_f64(self.below(100) as f64 / 50.0);
                self.run_others_for(silent);
            }
            Action::World => self.happen(),
            Action::Crash => {
                self.disturbed();
                life.end();
                resume_unwind(Box::new(Crashed));
            }
            failure => return Some(failure),
        }
        None
    }

    fn choose(&self, point: Point) -> Action {
        let mut state = self.state();
        let Chances { fail, others, expire, world, crash } = state.chances;
        let mut left: f64 = state.chance.random_range(0.0..1.0);
        // Rarely reached points are disturbed more often.
        left /= match point {
            Point::SetAside | Point::Empty | Point::Emptied | Point::Joined | Point::Join | Point::Withdraw => 4.0,
            Point::Opened | Point::Open | Point::Checkpoint | Point::Committed | Point::Applied | Point::Apply => 2.0,
            Point::Get | Point::Read => 0.5,
            _ => 1.0,
        };
        let mut action = Action::Nothing;
        for (candidate, chance) in [
            (Action::Retry, fail),
            (Action::Others, others),
            (Action::Expire, expire),
            (Action::World, world),
            (Action::Crash, crash),
        ] {
            if left < chance {
                action = candidate;
                break;
            }
            left -= chance;
        }
        if action == Action::Retry {
            let failures = point.failures(self.kind);
            action = match failures.len() {
                0 => Action::Nothing,
                count => failures[state.chance.random_range(0..count)],
            };
        }
        if !point.can(action, self.kind) {
            action = Action::Nothing;
        }
        state.coverage.note(point, action);
        action
    }

    /// Like `at`, for calls of the log.
    pub(super) fn at_log(self: &Arc<Self>, life: &Arc<Life>, point: Point) -> Result<(), LogError> {
        let kind = match self.at(life, point) {
            None => return Ok(()),
            Some(Action::Abort) => ErrorKind::Abort,
            Some(Action::Rejoin) => ErrorKind::Rejoin,
            Some(_) => ErrorKind::Retry,
        };
        Err(LogError::new(kind, format!("planned: {point:?} fails")))
    }

    /// Like `at`, for calls of a store.
    pub(super) fn at_store(self: &Arc<Self>, life: &Arc<Life>, point: Point) -> Result<(), StoreError> {
        match self.at(life, point) {
            None => Ok(()),
            Some(Action::Damaged) => {
                // The first damage of a task in one process is repaired; a second one stops the stage.
                life.may_stop.store(true, Ordering::SeqCst);
                Err(StoreError::Damaged(format!("planned: {point:?} finds damage")))
            }
            Some(_) => {
                life.may_stop.store(true, Ordering::SeqCst);
                Err(StoreError::Failed(format!("planned: {point:?} fails")))
            }
        }
    }
}
