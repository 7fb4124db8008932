//! Simulates many processes of both kinds of stage in one thread, on virtual time, with injected faults.
//!
//! Every call that a stage makes to its log, its stores or its own work is a *point* ([`points`]). The seed decides
//! what happens there: nothing; the call fails; others run whole steps meanwhile; the member's session expires; the log
//! or the time changes; the process dies. [`invariants`] must hold throughout. Now and then the faults stop:
//! then all work must finish, and add up.
//!
//! A seed determines a run completely. Mutants show that the simulation finds mistakes.

mod checks;
mod counting;
mod faults;
mod flight;
mod groups;
mod interrupt;
mod invariants;
mod log;
mod points;
mod processes;
mod stages;
mod stores;
mod tests;
mod world;

use self::points::Coverage;
use self::world::{Chances, World};
use std::sync::Arc;
use std::time::Duration;

/// Kind of log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LogKind {
    /// State in changelogs.
    Changelogs,
    /// State in changelogs, and one offset lost to the marker of each transaction, as in Kafka.
    CommitMarkers,
    /// State kept by the log itself.
    StateInLog,
}

/// A deliberate mistake, made by the wrappers around the log and the stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mutant {
    /// A commit is refused only for positions of foreign partitions, and the member learns of changes too late.
    ZombieCommit,
    /// If a request after an assignment fails, the partition is never started.
    LostAssignment,
    /// The same for a request during a restore.
    LostRestore,
    /// A commit also writes the first known position of some partition again.
    StaleCommit,
    /// An interrupted restore claims that its partial state is complete.
    YoungRestore,
    /// A store comes back empty, and its checkpoint claims it is full.
    EmptyFamily,
}

/// The kind of stage a process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    /// Work in flight: takes requests and sends its answers to the counting stage.
    Flight,
    /// Synchronous.
    Counting,
}

impl Role {
    const ALL: [Role; 2] = [Role::Flight, Role::Counting];

    fn group(self) -> &'static str {
        match self {
            Role::Flight => "flight",
            Role::Counting => "counting",
        }
    }

    fn input(self) -> &'static str {
        match self {
            Role::Flight => "requests",
            Role::Counting => "work",
        }
    }
}

/// Result of a run.
struct RunOutcome {
    broken: Option<String>,
    trace: Vec<String>,
    coverage: Coverage,
}

const ROUNDS: u32 = 5;
/// Longest time that passes at once while no process has work.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// Once faults stop, all work must finish within this time: a backlog of some hundred requests, of which few may be in
/// flight and each takes up to two seconds.
const LONGEST_CALM: Duration = Duration::from_secs(300);
/// After this many idle steps of every process in turn, no work is left: longer than the longest back-off.
const IDLE_STEPS: u32 = 130;

fn run(seed: u64, kind: LogKind, mutant: Option<Mutant>) -> RunOutcome {
    let world = World::new(seed, kind, mutant);
    // A mutant gets more time, so that fewer seeds suffice to find it.
    for _ in 0..if mutant.is_some() { 2 * ROUNDS } else { ROUNDS } {
        rage(&world);
        calm(&world);
        if world.is_broken() {
            break;
        }
        if world.happens(0.7) {
            world.jump(page::DAY.mul_f64(world.below(50) as f64 / 10.0));
        }
        if world.happens(0.7) {
            world.maintain();
        }
    }
    let (trace, state) = (world.traced(), world.state());
    RunOutcome { broken: state.broken.clone(), trace, coverage: state.coverage.clone() }
}

/// Work arrives while faults happen.
fn rage(world: &Arc<World>) {
    let one_of = |choices: [f64; 3]| choices[world.below(3) as usize];
    let chances = Chances {
        fail: one_of([0.0, 0.01, 0.04]),
        others: one_of([0.01, 0.05, 0.1]),
        expire: one_of([0.0, 0.001, 0.005]),
        world: one_of([0.0, 0.001, 0.004]),
        crash: one_of([0.0, 0.001, 0.005]),
    };
    world.state().chances = chances;
    world.trace(|| format!("a round with {chances:?}"));
    let source = world.source();
    for turn in 0..100 + world.below(200) {
        if world.is_broken() {
            return;
        }
        match world.below(1_000) {
            0..150 => world.send(&source),
            150..155 => world.report(),
            155..160 if chances.crash > 0.0 => world.end(world.below(world.slots.len() as u64) as usize, false),
            160..164 => world.end(world.below(world.slots.len() as u64) as usize, true),
            164..166 if chances.world > 0.0 => world.happen(),
            _ => world.turn(LONGEST_WAIT),
        }
        if turn % 16 == 0 {
            world.check_progress();
        }
    }
}

/// Faults stop: all work gets done.
fn calm(world: &Arc<World>) {
    world.state().chances = Chances::default();
    world.trace(|| "nothing goes wrong from now on".to_owned());
    world.disturbed();
    let began = world.elapsed();
    for role in Role::ALL {
        world.bring_up(role, began);
    }
    for turn in 0_u32.. {
        if world.is_broken() {
            return;
        }
        world.turn(LONGEST_WAIT);
        if turn.is_multiple_of(64) {
            world.check_progress();
            if world.is_quiet() {
                break;
            }
        }
        if world.elapsed() - began > LONGEST_CALM {
            let backlog = Role::ALL.map(|role| world.backlog(role));
            return world.violated(format!("everything_is_drained is broken: {backlog:?} after {LONGEST_CALM:?}"));
        }
    }
    world.check_all();
}

impl World {
    /// Ensures that some process of this stage is up.
    fn bring_up(&self, role: Role, now: Duration) {
        let first = (0..self.slots.len()).find(|process| self.slot(*process).role == role);
        if let Some(process) = first.filter(|_| !self.is_up(role)) {
            self.slot(process).wake_at = now;
        }
    }

    fn is_quiet(&self) -> bool {
        let is_idle = |process: usize| {
            let slot = self.slot(process);
            slot.life.is_none() || slot.idle >= IDLE_STEPS
        };
        self.state().graves.is_empty()
            && (0..self.slots.len()).all(is_idle)
            && Role::ALL.iter().all(|role| self.backlog(*role).iter().all(|backlog| *backlog == 0))
    }
}
