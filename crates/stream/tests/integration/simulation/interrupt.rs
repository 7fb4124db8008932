//! Decides what happens at a point.

use super::points::{InjectionPoint, PointAction};
use super::world::{Chances, Crashed, Life, SESSION, World};
use rand::RngExt;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stream::{ErrorKind, LogError, StoreError};

impl World {
    /// Runs what happens at this point. Returns the failure of the call, if it is to fail.
    pub(super) fn at(self: &Arc<Self>, life: &Arc<Life>, point: InjectionPoint) -> Option<PointAction> {
        if life.is_dead() {
            resume_unwind(Box::new(Crashed));
        }
        let action = self.choose(point);
        if action != PointAction::Nothing {
            self.trace(|| format!("{} {point:?}: {action:?}", life.name));
        }
        match action {
            PointAction::Nothing => {}
            PointAction::Others => self.run_others(4),
            PointAction::Expire => {
                self.expire(life.role, &life.name);
                let silent = SESSION.mul_f64(self.below(100) as f64 / 50.0);
                self.run_others_for(silent);
            }
            PointAction::World => self.happen(),
            PointAction::Crash => {
                self.disturbed();
                life.end();
                resume_unwind(Box::new(Crashed));
            }
            failure => return Some(failure),
        }
        None
    }

    fn choose(&self, point: InjectionPoint) -> PointAction {
        let mut state = self.state();
        let Chances { fail, others, expire, world, crash } = state.chances;
        let mut left: f64 = state.chance.random_range(0.0..1.0);
        // Rarely reached points are disturbed more often.
        left /= match point {
            InjectionPoint::SetAside
            | InjectionPoint::Empty
            | InjectionPoint::Emptied
            | InjectionPoint::Joined
            | InjectionPoint::Join
            | InjectionPoint::Withdraw => 4.0,
            InjectionPoint::Opened
            | InjectionPoint::Open
            | InjectionPoint::Checkpoint
            | InjectionPoint::Committed
            | InjectionPoint::Applied
            | InjectionPoint::Apply => 2.0,
            InjectionPoint::Get | InjectionPoint::Read => 0.5,
            _ => 1.0,
        };
        let mut action = PointAction::Nothing;
        for (candidate, chance) in [
            (PointAction::Retry, fail),
            (PointAction::Others, others),
            (PointAction::Expire, expire),
            (PointAction::World, world),
            (PointAction::Crash, crash),
        ] {
            if left < chance {
                action = candidate;
                break;
            }
            left -= chance;
        }
        if action == PointAction::Retry {
            let failures = point.failures(self.kind);
            action = match failures.len() {
                0 => PointAction::Nothing,
                count => failures[state.chance.random_range(0..count)],
            };
        }
        if !point.can(action, self.kind) {
            action = PointAction::Nothing;
        }
        state.coverage.note(point, action);
        action
    }

    /// Like `at`, for calls of the log.
    pub(super) fn at_log(self: &Arc<Self>, life: &Arc<Life>, point: InjectionPoint) -> Result<(), LogError> {
        let kind = match self.at(life, point) {
            None => return Ok(()),
            Some(PointAction::Abort) => ErrorKind::Abort,
            Some(PointAction::Rejoin) => ErrorKind::Rejoin,
            Some(_) => ErrorKind::Retry,
        };
        Err(LogError::new(kind, format!("planned: {point:?} fails")))
    }

    /// Like `at`, for calls of a store.
    pub(super) fn at_store(self: &Arc<Self>, life: &Arc<Life>, point: InjectionPoint) -> Result<(), StoreError> {
        match self.at(life, point) {
            None => Ok(()),
            Some(PointAction::Damaged) => {
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
