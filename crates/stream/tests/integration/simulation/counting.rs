//! The synchronous stage: it counts, and its results reveal anything lost, repeated or forgotten.

use super::Role;
use super::invariants;
use super::points::InjectionPoint;
use super::world::{Life, Memory, World};
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};
use stream::{Context, InputRecord, ProcessError, Processor, Table};
use stream_testing::RawRecord;
use wire::{Topic, TopicName};

pub(super) const STORES: [&str; 3] = ["totals", "counts", "pending"];
const TOTALS: Table<Vec<u8>, Vec<u8>> = Table::new("totals");
const COUNTS: Table<Vec<u8>, Vec<u8>> = Table::new("counts");
const PENDING: Table<Vec<u8>, Vec<u8>> = Table::new("pending");
pub(super) const RESULTS: Topic<RawRecord> = Topic::new("results");

/// Key of the number of records seen.
pub(super) const SEEN: &[u8] = b"seen";

pub(super) fn number(bytes: &[u8]) -> u64 {
    bytes.try_into().map(u64::from_be_bytes).unwrap_or_default()
}

/// The command in a value: its first word.
pub(super) fn verb(record: &InputRecord) -> &str {
    let text = std::str::from_utf8(record.value.as_deref().unwrap_or_default()).unwrap_or_default();
    text.split(' ').next().unwrap_or_default()
}

/// Counts records by key in a store and in memory. The total is kept in memory alone until the batch is complete.
pub(super) struct SimulationCounter {
    world: Arc<World>,
    life: Arc<Life>,
    memory: Arc<Mutex<Memory>>,
    seen_written: u64,
}

impl SimulationCounter {
    pub(super) fn new(world: &Arc<World>, life: &Arc<Life>, partition: u32) -> Self {
        world.at(life, InjectionPoint::Make);
        let memory = Arc::new(Mutex::new(Memory { life: life.id, ..Memory::default() }));
        world.state().memories.insert((life.process, partition), memory.clone());
        Self { world: world.clone(), life: life.clone(), memory, seen_written: 0 }
    }

    fn remember<T>(&self, change: impl FnOnce(&mut Memory) -> T) -> T {
        change(&mut self.memory.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A member that was thrown out and has not learned of it may see the owner's writes.
    fn owns(&self, partition: u32) -> bool {
        self.world.owner(Role::Counting, partition) == Some((self.life.process, self.life.id))
    }

    fn check_memory(&self, partition: u32, key: &[u8], stored: Option<&Vec<u8>>) {
        let known = self.remember(|memory| memory.counts.get(key).cloned());
        let entry = |count: Option<Vec<u8>>| count.map(|count| (key.to_vec(), count)).into_iter().collect();
        let (known, stored): (BTreeMap<_, _>, BTreeMap<_, _>) = (entry(known), entry(stored.cloned()));
        if known != stored && self.owns(partition) {
            self.world.check(invariants::memory_equals_store(&known, &stored));
        }
    }
}

impl Processor for SimulationCounter {
    fn restored(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let mut counts = BTreeMap::new();
        context.scan(COUNTS, b"", &mut |key, count| {
            counts.insert(key, count);
            Ok(())
        })?;
        let seen = context.get(TOTALS, &SEEN.to_vec())?.as_deref().map_or(0, number);
        self.seen_written = seen;
        self.remember(|memory| {
            // It adds, so it is right only for a new processor.
            memory.counts.extend(counts);
            memory.seen += seen;
        });
        self.world.at(&self.life, InjectionPoint::Restored);
        Ok(())
    }

    fn process(&mut self, record: &InputRecord, context: &mut Context<'_>) -> Result<(), ProcessError> {
        self.world.at(&self.life, InjectionPoint::Process);
        let (partition, offset, key) = (record.partition, record.offset, record.key.clone());
        let verb = verb(record);
        if verb == "slow" && self.world.has_to_wait(Role::Counting, partition, offset) {
            context.put(COUNTS, &key, &b"rubbish".to_vec());
            return Err(ProcessError::Await("it has to wait".to_owned()));
        }
        let stored = context.get(COUNTS, &key)?;
        self.check_memory(partition, &key, stored.as_ref());
        let count = stored.as_deref().map_or(0, number) + 1;
        let seen = self.remember(|memory| memory.seen) + 1;
        context.put(COUNTS, &key, &count.to_be_bytes().to_vec());
        context.emit(RESULTS, RawRecord::new(key.clone(), format!("done {offset} {count} {seen}")));
        match verb {
            "bad" => return Err(ProcessError::SetAside("it is bad".to_owned())),
            "poison" => resume_unwind(Box::new("it is poison")),
            "later" => context.put(PENDING, &offset.to_be_bytes().to_vec(), &key),
            "forget" => context.delete(COUNTS, &key),
            _ => {}
        }
        self.remember(|memory| {
            memory.seen = seen;
            match verb {
                "forget" => memory.counts.remove(&key),
                _ => memory.counts.insert(key, count.to_be_bytes().to_vec()),
            };
        });
        Ok(())
    }

    fn punctuate(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        self.world.at(&self.life, InjectionPoint::Punctuate);
        let mut pending = Vec::new();
        context.scan(PENDING, b"", &mut |offset, key| {
            pending.push((offset, key));
            Ok(())
        })?;
        for (offset, key) in pending {
            context.emit(RESULTS, RawRecord::new(key, format!("tick {}", number(&offset))));
            context.delete(PENDING, &offset);
        }
        Ok(())
    }

    fn flush(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        self.world.at(&self.life, InjectionPoint::Flush);
        let seen = self.remember(|memory| memory.seen);
        if seen != self.seen_written {
            self.seen_written = seen;
            context.put(TOTALS, &SEEN.to_vec(), &seen.to_be_bytes().to_vec());
        }
        Ok(())
    }

    fn broadcast(&mut self, _: TopicName, record: &InputRecord, _: &mut Context<'_>) -> Result<(), ProcessError> {
        self.remember(|memory| memory.received = record.value.clone().map(Vec::from));
        Ok(())
    }
}

impl World {
    /// Whether the record's dependency is still missing. It arrives some time after the record was first seen.
    pub(super) fn has_to_wait(&self, role: Role, partition: u32, offset: u64) -> bool {
        const WAIT: std::time::Duration = std::time::Duration::from_millis(1_500);
        let now = self.elapsed();
        now - *self.state().held_since.entry((role, partition, offset)).or_insert(now) < WAIT
    }
}
