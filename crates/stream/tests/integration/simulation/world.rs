//! State shared by all processes of a simulation: the log, the clock, the random numbers, and the trace.

use super::invariants::BrokenInvariant;
use super::points::Coverage;
use super::{LogKind, Mutant, Role};
use page::{DAY, Timestamp};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use stream::{
    Cleanup, InProcessLog, InputRecord, Log, LogBackend as _, Member, PollLimits, Position, TaskId, TopicConfig,
    TopicPartition,
};
use stream_testing::{MemoryBackend, MemoryStore};

/// Partitions of every topic read by a group.
pub(super) const PARTITIONS: u32 = 3;

/// Session timeout: a member silent for this long is thrown out.
pub(super) const SESSION: Duration = Duration::from_secs(10);

/// Start time of the simulation.
pub(super) const BEGAN: Timestamp = Timestamp::from_secs(1_700_000_000);

const TRACED_EVENTS: usize = 20_000;

/// Panic payload with which a process dies. No code of it runs afterwards: its member does not leave the group.
pub(super) struct Crashed;

/// One life of a process, from its start to its death.
#[derive(Debug)]
pub(super) struct Life {
    pub(super) id: u64,
    pub(super) process: usize,
    pub(super) role: Role,
    pub(super) name: String,
    is_dead: AtomicBool,
    /// Set when the stage may stop: a disk failed, or was damaged twice.
    pub(super) may_stop: AtomicBool,
}

impl Life {
    pub(super) fn new(id: u64, process: usize, role: Role, name: &str) -> Arc<Self> {
        let name = name.to_owned();
        Arc::new(Self { id, process, role, name, is_dead: AtomicBool::default(), may_stop: AtomicBool::default() })
    }

    pub(super) fn is_dead(&self) -> bool {
        self.is_dead.load(Ordering::SeqCst)
    }

    pub(super) fn end(&self) {
        self.is_dead.store(true, Ordering::SeqCst);
    }
}

/// Probability of each kind of fault at a point.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chances {
    pub(super) fail: f64,
    pub(super) others: f64,
    pub(super) expire: f64,
    pub(super) world: f64,
    pub(super) crash: f64,
}

/// A member of a group, as the simulation knows it.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) role: Role,
    pub(super) name: String,
    pub(super) life: u64,
    pub(super) process: usize,
    pub(super) polled_at: Duration,
}

/// A member whose process died. Its partitions stay taken until its session expires.
pub(super) struct Grave {
    pub(super) serial: u64,
    pub(super) until: Duration,
    pub(super) member: Box<dyn Member>,
}

/// The memory of a counting processor.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    pub(super) life: u64,
    pub(super) counts: BTreeMap<Vec<u8>, Vec<u8>>,
    pub(super) seen: u64,
    pub(super) received: Option<Vec<u8>>,
}

/// The mutable state of the world.
pub(super) struct WorldState {
    pub(super) chance: Pcg64,
    pub(super) chances: Chances,
    pub(super) depth: usize,
    pub(super) coverage: Coverage,
    pub(super) broken: Option<String>,
    trace: VecDeque<String>,
    pub(super) seats: BTreeMap<u64, Seat>,
    pub(super) owners: BTreeMap<(Role, u32), u64>,
    /// Partitions that a mutant will not start in this life.
    pub(super) never_started: BTreeSet<(u64, u32)>,
    pub(super) graves: Vec<Grave>,
    pub(super) next_id: u64,
    /// Last committed positions; removed when forgotten.
    pub(super) positions: BTreeMap<(Role, u32), Position>,
    pub(super) forgotten: BTreeSet<Role>,
    pub(super) progress_at: BTreeMap<(Role, u32), Duration>,
    /// Time of the last disturbance of a process, a member or the clock.
    pub(super) disturbed_at: Duration,
    /// All records that were ever in the inputs.
    pub(super) inputs: BTreeMap<(Role, u32), BTreeMap<u64, InputRecord>>,
    /// Input that retention dropped before its group consumed it.
    pub(super) at_risk: BTreeSet<(Role, u32, u64)>,
    /// Requests that were answered or set aside in a commit.
    pub(super) answered: BTreeMap<u32, BTreeSet<u64>>,
    pub(super) memories: BTreeMap<(usize, u32), Arc<Mutex<Memory>>>,
    pub(super) snapshots: Vec<(usize, TaskId, MemoryStore)>,
    /// Time at which a record that has to wait was first seen.
    pub(super) held_since: BTreeMap<(Role, u32, u64), Duration>,
    pub(super) sent: u64,
    pub(super) news: Option<Vec<u8>>,
}

pub(super) struct World {
    pub(super) kind: LogKind,
    pub(super) mutant: Option<Mutant>,
    pub(super) log: InProcessLog<MemoryBackend>,
    micros: AtomicU64,
    state: Mutex<WorldState>,
    pub(super) slots: Vec<Mutex<super::processes::ProcessSlot>>,
}

fn topics() -> Vec<TopicConfig> {
    let config = |name: &str, partitions, cleanup| {
        let max_message_bytes = 1 << 20;
        TopicConfig { name: name.into(), partitions, cleanup, max_message_bytes }
    };
    let consumed = Cleanup::Delete { retention: 10_000 * DAY, consumed: true };
    let kept = Cleanup::Delete { retention: 10_000 * DAY, consumed: false };
    let stores = super::counting::STORES.iter().chain(&super::flight::FLIGHT_STORES);
    let changelogs = stores.map(|store| config(&format!("{store}-log"), PARTITIONS, Cleanup::Compact));
    let mut all = vec![
        config("requests", PARTITIONS, consumed),
        config("work", PARTITIONS, consumed),
        config("results", PARTITIONS, kept),
        config("dead", 1, kept),
        config("news", 1, Cleanup::Compact),
    ];
    all.extend(changelogs);
    all
}

impl World {
    pub(super) fn new(seed: u64, kind: LogKind, mutant: Option<Mutant>) -> Arc<Self> {
        let log = InProcessLog::new(match kind {
            LogKind::Changelogs => MemoryBackend::default(),
            LogKind::CommitMarkers => MemoryBackend::with_commit_markers(),
            LogKind::StateInLog => MemoryBackend::with_state(),
        });
        log.create_topics(&topics()).expect("a log in memory can create topics");
        let mut chance = Pcg64::seed_from_u64(seed);
        let slots = super::processes::slots(&mut chance).into_iter().map(Mutex::new).collect();
        let state = WorldState {
            chance,
            chances: Chances::default(),
            depth: 0,
            coverage: Coverage::default(),
            broken: None,
            trace: VecDeque::new(),
            seats: BTreeMap::new(),
            owners: BTreeMap::new(),
            never_started: BTreeSet::new(),
            graves: Vec::new(),
            next_id: 0,
            positions: BTreeMap::new(),
            forgotten: BTreeSet::new(),
            progress_at: BTreeMap::new(),
            disturbed_at: Duration::ZERO,
            inputs: BTreeMap::new(),
            at_risk: BTreeSet::new(),
            answered: BTreeMap::new(),
            memories: BTreeMap::new(),
            snapshots: Vec::new(),
            held_since: BTreeMap::new(),
            sent: 0,
            news: None,
        };
        Arc::new(Self { kind, mutant, log, micros: AtomicU64::new(0), state: Mutex::new(state), slots })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, WorldState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A random number below `limit`.
    pub(super) fn below(&self, limit: u64) -> u64 {
        self.state().chance.random_range(0..limit.max(1))
    }

    pub(super) fn happens(&self, chance: f64) -> bool {
        self.state().chance.random_bool(chance)
    }

    pub(super) fn elapsed(&self) -> Duration {
        Duration::from_micros(self.micros.load(Ordering::SeqCst))
    }

    pub(super) fn now(&self) -> Timestamp {
        BEGAN + self.elapsed()
    }

    pub(super) fn advance(&self, duration: Duration) {
        self.micros.fetch_add(duration.as_micros() as u64, Ordering::SeqCst);
    }

    pub(super) fn new_id(&self) -> u64 {
        let mut state = self.state();
        state.next_id += 1;
        state.next_id
    }

    /// Records that a request about these partitions failed, so that a mutant never starts them.
    pub(super) fn lose(&self, life: &Life, partitions: impl Iterator<Item = u32>) {
        self.state().never_started.extend(partitions.map(|partition| (life.id, partition)));
    }

    pub(super) fn trace(&self, event: impl FnOnce() -> String) {
        let (at, event) = (self.elapsed(), event());
        let mut state = self.state();
        let line = format!("{:>12.3} s {}{event}", at.as_secs_f64(), "  ".repeat(state.depth));
        if state.trace.len() == TRACED_EVENTS {
            state.trace.pop_front();
        }
        state.trace.push_back(line);
    }

    pub(super) fn traced(&self) -> Vec<String> {
        self.state().trace.iter().cloned().collect()
    }

    /// Ends the run at the first violated invariant.
    pub(super) fn check(&self, result: Result<(), BrokenInvariant>) {
        if let Err(broken) = result {
            self.violated(broken.to_string());
        }
    }

    pub(super) fn violated(&self, what: String) {
        self.trace(|| format!("VIOLATED: {what}"));
        self.state().broken.get_or_insert(what);
    }

    pub(super) fn is_broken(&self) -> bool {
        self.state().broken.is_some()
    }

    pub(super) fn disturbed(&self) {
        let now = self.elapsed();
        self.state().disturbed_at = now;
    }

    /// Remembers new input records before something drops them.
    pub(super) fn take_stock(&self) {
        for role in Role::ALL {
            for partition in 0..PARTITIONS {
                let place = TopicPartition::new(role.input(), partition);
                let mut state = self.state();
                let known = state.inputs.entry((role, partition)).or_default();
                let next = known.keys().next_back().map_or(0, |last| last + 1);
                let new = self.read(&place, next);
                known.extend(new.into_iter().map(|record| (record.offset, record)));
            }
        }
    }

    /// Records of a partition from an offset on.
    pub(super) fn read(&self, from: &TopicPartition, offset: u64) -> Vec<InputRecord> {
        let limits = PollLimits { records: usize::MAX, bytes: usize::MAX };
        self.log.backend().read(from, offset, limits).expect("a partition in memory can be read")
    }
}
