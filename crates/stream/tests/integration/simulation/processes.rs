//! Processes: they start, run one step at a time, die, and restart.

use super::log::SimLog;
use super::stores::SimStores;
use super::world::{Crashed, Grave, Life, SESSION, World};
use super::{LogKind, Role};
use page::{DAY, Timestamp};
use rand::RngExt;
use rand_pcg::Pcg64;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;
use stream::{Clock, RunnerSettings, Stage as _, StageRunner, StepOutcome, StoreProvider};
use stream_testing::{MemoryLogStores, MemoryStores};

/// Maximum nesting of steps within steps.
const DEEPEST: usize = 3;

const POLL_TIMEOUT: Duration = Duration::from_millis(50);

/// The slot of a process: its name and its disk outlive it.
pub(super) struct ProcessSlot {
    pub(super) role: Role,
    pub(super) name: String,
    pub(super) disk: MemoryStores,
    settings: RunnerSettings,
    in_flight: usize,
    /// `None` while the process is down.
    pub(super) life: Option<Arc<Life>>,
    /// `None` while the process is down or inside a step.
    pub(super) runner: Option<StageRunner>,
    /// Time of its next step, or of its start.
    pub(super) wake_at: Duration,
    /// Steps in a row without work.
    pub(super) idle: u32,
}

/// The processes of a world: both kinds of stage, two to four processes in all.
pub(super) fn slots(chance: &mut Pcg64) -> Vec<ProcessSlot> {
    let (flights, countings) = [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2)][chance.random_range(0..5)];
    let roles = std::iter::repeat_n(Role::Flight, flights).chain(std::iter::repeat_n(Role::Counting, countings));
    let settings = RunnerSettings {
        batch_records: chance.random_range(1..6),
        batch_bytes: if chance.random_bool(0.3) { 30 } else { usize::MAX },
        batch_interval: Duration::from_millis(chance.random_range(0..100)),
        poll_timeout: POLL_TIMEOUT,
    };
    let in_flight = chance.random_range(3..20);
    let slot = |(number, role): (usize, Role)| ProcessSlot {
        role,
        name: format!("{}-{number}", role.group()),
        disk: MemoryStores::default(),
        settings,
        in_flight,
        life: None,
        runner: None,
        wake_at: Duration::ZERO,
        idle: 0,
    };
    roles.enumerate().map(slot).collect()
}

impl World {
    pub(super) fn slot(&self, process: usize) -> MutexGuard<'_, ProcessSlot> {
        self.slots[process].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(self: &Arc<Self>, process: usize) {
        let id = self.new_id();
        let (role, name, disk) = {
            let slot = self.slot(process);
            (slot.role, slot.name.clone(), slot.disk.clone())
        };
        self.spoil_disk(process, &disk);
        self.trace(|| format!("{name} starts"));
        let life = Life::new(id, process, role, &name);
        let log = Arc::new(SimLog { world: self.clone(), life: life.clone() });
        let inner: Arc<dyn StoreProvider> = match self.kind {
            LogKind::StateInLog => Arc::new(MemoryLogStores(self.log.backend().clone())),
            LogKind::Changelogs | LogKind::CommitMarkers => Arc::new(disk),
        };
        let stores = Arc::new(SimStores { world: self.clone(), life: life.clone(), inner });
        let clock = Arc::new(SimClock { world: self.clone(), process });
        let now = self.elapsed();
        let mut slot = self.slot(process);
        let spec = self.spec(&life, slot.in_flight);
        slot.runner = Some(StageRunner::new(spec, &name, log, stores, clock, slot.settings));
        (slot.life, slot.wake_at, slot.idle) = (Some(life), now, 0);
    }

    /// Runs one step of one process.
    pub(super) fn step(self: &Arc<Self>, process: usize) {
        let (mut runner, life) = {
            let mut slot = self.slot(process);
            let (Some(runner), Some(life)) = (slot.runner.take(), slot.life.clone()) else { return };
            slot.wake_at = self.elapsed();
            (runner, life)
        };
        self.advance(Duration::from_micros(self.below(3_000)));
        self.state().depth += 1;
        let stepped = catch_unwind(AssertUnwindSafe(|| runner.step()));
        self.state().depth -= 1;
        self.check_counted(&runner, &life.name);
        match stepped {
            // The runner may have taken the crash for a panic of the processor and gone on.
            Ok(_) if life.is_dead() => self.buried(process, runner),
            Ok(Ok(step)) => {
                let idle_until = self.elapsed() + POLL_TIMEOUT;
                let mut slot = self.slot(process);
                slot.runner = Some(runner);
                slot.idle = if step == StepOutcome::Idle { slot.idle + 1 } else { 0 };
                if step == StepOutcome::Idle {
                    slot.wake_at = slot.wake_at.max(idle_until);
                }
            }
            Ok(Err(stopped)) => {
                if !life.may_stop.load(Ordering::SeqCst) {
                    self.violated(format!("{} stopped for no reason: {stopped}", life.name));
                }
                self.trace(|| format!("{} stops: {}", life.name, stopped.message));
                self.buried(process, runner);
            }
            Err(payload) if payload.is::<Crashed>() => self.buried(process, runner),
            Err(payload) => {
                let text = payload.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
                self.violated(format!("{} panicked: {text}", life.name));
                life.end();
                self.buried(process, runner);
            }
        }
    }

    /// The invariants checked by the stage itself hold too.
    fn check_counted(&self, runner: &StageRunner, name: &str) {
        let status = runner.status();
        let status = status.lock().unwrap_or_else(PoisonError::into_inner);
        for (invariant, _) in status.violations.iter().filter(|(_, count)| **count > 0) {
            self.violated(format!("{name} has found {invariant} broken"));
        }
    }

    /// Handles the end of a process: a crash, after which its member stays in the group, or an orderly exit.
    fn buried(&self, process: usize, runner: StageRunner) {
        drop(runner);
        self.disturbed();
        let role = self.slot(process).role;
        let down = match self.below(if self.is_up(role) { 10 } else { 7 }) {
            0..4 => Duration::from_millis(self.below(1_000)),
            4..7 => Duration::from_secs(self.below(20)),
            _ => DAY.mul_f64(self.below(80) as f64 / 10.0),
        };
        let until = self.elapsed() + down;
        let mut slot = self.slot(process);
        (slot.life, slot.wake_at, slot.idle) = (None, until, 0);
    }

    /// Kills a process between two steps, or lets it leave in good order.
    pub(super) fn end(self: &Arc<Self>, process: usize, politely: bool) {
        let (mut runner, life) = {
            let mut slot = self.slot(process);
            let (Some(runner), Some(life)) = (slot.runner.take(), slot.life.clone()) else { return };
            (runner, life)
        };
        self.trace(|| format!("{} {}", life.name, if politely { "leaves" } else { "is killed" }));
        if politely {
            self.state().depth += 1;
            let patience = Duration::from_millis(self.below(5_000));
            let left = catch_unwind(AssertUnwindSafe(|| runner.leave(patience)));
            self.state().depth -= 1;
            if left.is_err_and(|payload| !payload.is::<Crashed>()) {
                self.violated(format!("{} panicked while leaving", life.name));
            }
        } else {
            life.end();
        }
        self.buried(process, runner);
    }

    /// Expires sessions and starts processes that are due.
    pub(super) fn tick(self: &Arc<Self>) {
        let now = self.elapsed();
        let over: Vec<Grave> = {
            let mut state = self.state();
            let (over, kept) = std::mem::take(&mut state.graves).into_iter().partition(|grave| grave.until <= now);
            state.graves = kept;
            over
        };
        for Grave { serial, member, .. } in over {
            self.left(serial);
            drop(member);
        }
        let silent: Vec<(Role, String)> = {
            let state = self.state();
            let buried: Vec<u64> = state.graves.iter().map(|grave| grave.serial).collect();
            let seats = state
                .seats
                .iter()
                .filter(|(serial, seat)| !buried.contains(serial) && now.saturating_sub(seat.polled_at) >= SESSION);
            seats.map(|(_, seat)| (seat.role, seat.name.clone())).collect()
        };
        for (role, name) in silent {
            self.trace(|| format!("the session of {name} is over"));
            self.expire(role, &name);
        }
        for process in 0..self.slots.len() {
            let is_due = {
                let slot = self.slot(process);
                slot.life.is_none() && slot.wake_at <= now
            };
            if is_due {
                self.start(process);
            }
        }
    }

    /// Processes that could run a step now.
    fn runnable(&self) -> Vec<usize> {
        let now = self.elapsed();
        let is_due = |process: &usize| {
            let slot = self.slot(*process);
            slot.runner.is_some() && slot.wake_at <= now
        };
        (0..self.slots.len()).filter(is_due).collect()
    }

    /// Runs a step of some process, or lets a limited time pass until one can run.
    pub(super) fn turn(self: &Arc<Self>, longest: Duration) {
        self.tick();
        let runnable = self.runnable();
        if !runnable.is_empty() {
            return self.step(runnable[self.below(runnable.len() as u64) as usize]);
        }
        let now = self.elapsed();
        let due = (0..self.slots.len()).map(|process| self.slot(process).wake_at).filter(|at| *at > now).min();
        let wait = due.map_or(POLL_TIMEOUT, |due| due - now);
        self.advance(wait.min(longest));
    }

    /// Runs other processes during a call. The calling process is out of its slot, so it is skipped.
    pub(super) fn run_others(self: &Arc<Self>, most: u64) {
        if self.state().depth > DEEPEST {
            return;
        }
        for _ in 0..=self.below(most) {
            self.turn(Duration::from_millis(5));
        }
    }

    /// Runs other processes for a while.
    pub(super) fn run_others_for(self: &Arc<Self>, duration: Duration) {
        if self.state().depth > DEEPEST {
            return;
        }
        let until = self.elapsed() + duration;
        for _ in 0..60 {
            if self.elapsed() >= until {
                return;
            }
            self.turn(Duration::from_secs(1));
        }
    }
}

/// The clock as one process sees it. Its waits do not move the time: other processes run meanwhile.
struct SimClock {
    world: Arc<World>,
    process: usize,
}

impl Clock for SimClock {
    fn now(&self) -> Timestamp {
        self.world.now()
    }

    fn monotonic(&self) -> Duration {
        self.world.elapsed()
    }

    fn pause(&self, duration: Duration) {
        let until = self.world.elapsed() + duration;
        self.world.slot(self.process).wake_at = until;
    }
}
