//! Many processes of both kinds of stage in one thread, on virtual time, with everything going wrong that can.
//!
//! Every call that a stage makes, of its log, its stores or its own work, is a *point* ([`points`]). By the seed, nothing
//! happens there, or the call fails, others take whole steps meanwhile, the member's session ends, something happens to
//! the log or to time, or the process dies. What must hold all the same is in [`crate::invariants`]. Now and then the
//! faults stop: then everything must get done, and add up.
//!
//! A seed is a run: it does the same whenever it is repeated. Mutants show that a mistake would be found.

mod checks;
mod counting;
mod faults;
mod flight;
mod groups;
mod interrupt;
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

/// What the log is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// State in changelogs.
    Changelogs,
    /// The same, with an offset lost to the marker of each transaction, as in Kafka.
    CommitMarkers,
    /// State kept by the log itself.
    StateInLog,
}

/// A mistake, made by the wrappers around the log and the stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mutant {
    /// A commit is refused for positions of another's partitions only, and the member hears of changes too late.
    ZombieCommit,
    /// Where a question about an assignment failed, the partition is never started.
    LostAssignment,
    /// The same where the question was what there is to restore.
    LostRestore,
    /// A commit writes the first position again that was ever known of some partition.
    StaleCommit,
    /// A restore that is interrupted says that what it has so far is complete.
    YoungRestore,
    /// A store comes back empty, and its checkpoint says it is full.
    EmptyFamily,
}

/// A stage, as a part in the play.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    /// Work in flight: takes requests, and sends its answers to the counting stage.
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

/// What came of a run.
struct Outcome {
    broken: Option<String>,
    trace: Vec<String>,
    coverage: Coverage,
}

const ROUNDS: u32 = 5;
/// Time that passes at a stretch while nobody has anything to do, at most.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// Once faults stop, everything is done within this time: a backlog of some hundred requests, of which few may be in flight
/// and each takes up to two seconds.
const LONGEST_CALM: Duration = Duration::from_secs(300);
/// Steps without work, of every process in turn, after which nothing is left to do: longer than the longest wait
/// between two tries.
const IDLE_STEPS: u32 = 130;

/// One run.
fn run(seed: u64, kind: Kind, mutant: Option<Mutant>) -> Outcome {
    let world = World::new(seed, kind, mutant);
    // A mutant gets more time: it is to be found by few seeds.
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
    Outcome { broken: state.broken.clone(), trace, coverage: state.coverage.clone() }
}

/// Work comes in, and things go wrong.
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
            150..155 => world.tell(),
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

/// Nothing goes wrong any more: everything gets done.
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
    /// Some process of every stage is up again.
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
