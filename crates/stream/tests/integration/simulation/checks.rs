//! Checks the invariants: at every commit, and once all is quiet.

use super::counting::{SEEN, STORES, number, verb};
use super::flight::FLIGHT_STORES;
use super::invariants::{self, BrokenInvariant};
use super::world::{PARTITIONS, World};
use super::{LogKind, Role};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use stream::position::PROGRESS_KEY;
use stream::{Commit, InputRecord, Position, StoreProvider as _, TaskId, TopicPartition};
use stream_testing::MemoryLogStores;

type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

/// Results of one partition, and the state they imply.
#[derive(Default)]
struct ReplayedPartition {
    done: Vec<u64>,
    ticks: BTreeSet<u64>,
    owed_ticks: BTreeSet<u64>,
    seen: u64,
    counts: Entries,
}

fn text(value: Option<&[u8]>) -> String {
    String::from_utf8_lossy(value.unwrap_or_default()).into_owned()
}

impl World {
    /// Checks a successful commit.
    pub(super) fn committed(&self, serial: u64, commit: &Commit) {
        let now = self.elapsed();
        let Some(role) = self.state().seats.get(&serial).map(|seat| seat.role) else {
            return self.violated(format!("member {serial} is in no group and could commit"));
        };
        self.check_writer(role, serial, commit);
        let mut checks = Vec::new();
        {
            let mut state = self.state();
            for (&partition, position) in &commit.positions {
                let before = state.positions.insert((role, partition), position.clone());
                checks.push(invariants::positions_never_go_back(before.as_ref(), position));
                state.progress_at.insert((role, partition), now);
            }
        }
        let progress = commit.outputs.iter().filter(|record| record.key == PROGRESS_KEY);
        for record in progress {
            let next = record.value.as_deref().map(number);
            let committed = self.state().positions.get(&(role, record.to.partition)).cloned();
            checks.push(invariants::progress_not_ahead_of_position(next, committed.as_ref()));
        }
        checks.into_iter().for_each(|check| self.check(check));
        if role == Role::Flight {
            self.check_answers(commit);
        }
    }

    fn check_writer(&self, role: Role, serial: u64, commit: &Commit) {
        let of_changelogs = commit.outputs.iter().filter(|record| record.to.topic.ends_with("-log"));
        let results = commit.outputs.iter().filter(|record| &*record.to.topic == "results");
        let mut touched: BTreeSet<u32> = of_changelogs.chain(results).map(|record| record.to.partition).collect();
        touched.extend(commit.positions.keys());
        touched.extend(commit.state.iter().map(|writes| writes.task.partition));
        for partition in touched {
            let owner = self.state().owners.get(&(role, partition)).copied();
            self.check(invariants::no_foreign_write(partition, &serial, owner.as_ref()));
        }
    }

    /// Requests finished according to the position have their answers, in this commit or an earlier one.
    fn check_answers(&self, commit: &Commit) {
        self.take_stock();
        let mut state = self.state();
        let mut by_id: BTreeMap<String, (u32, u64)> = BTreeMap::new();
        for ((_, partition), requests) in state.inputs.iter().filter(|((role, _), _)| *role == Role::Flight) {
            by_id.extend(requests.values().map(|record| (text(record.value.as_deref()), (*partition, record.offset))));
        }
        for record in &commit.outputs {
            let value = text(record.value.as_deref());
            let of = match &*record.to.topic {
                "dead" => dead(&value).filter(|(stage, ..)| stage == Role::Flight.group()).map(|(_, p, o)| (p, o)),
                _ => by_id.get(&value).copied(),
            };
            let Some((partition, offset)) = of else { continue };
            state.answered.entry(partition).or_default().insert(offset);
        }
        let mut checks = Vec::new();
        for (&partition, position) in &commit.positions {
            let answered = state.answered.get(&partition).cloned().unwrap_or_default();
            let settled = settled(state.inputs.get(&(Role::Flight, partition)), position);
            let lost = |offset| state.at_risk.contains(&(Role::Flight, partition, offset));
            checks.push(invariants::no_output_lost(settled, &answered, lost));
        }
        drop(state);
        checks.into_iter().for_each(|check| self.check(check));
    }

    /// Checks that everything adds up once all work is done.
    pub(super) fn check_all(&self) {
        self.take_stock();
        let mut dead_letters: BTreeMap<(String, u32), Vec<u64>> = BTreeMap::new();
        for record in self.read(&TopicPartition::new("dead", 0), 0) {
            let Some((stage, partition, offset)) = dead(&text(record.value.as_deref())) else { continue };
            dead_letters.entry((stage, partition)).or_default().push(offset);
        }
        for partition in 0..PARTITIONS {
            let of = |role: Role| dead_letters.get(&(role.group().to_owned(), partition)).cloned().unwrap_or_default();
            let replayed = self.check_results(partition, &of(Role::Counting));
            self.check_state(Role::Counting, partition, &STORES, &replayed.state());
            self.check_state(Role::Flight, partition, &FLIGHT_STORES, &[self.answers(partition)]);
            self.check_memory(partition, &replayed);
        }
        self.check_requests(&dead_letters);
    }

    fn inputs(&self, role: Role, partition: u32) -> BTreeMap<u64, InputRecord> {
        self.state().inputs.get(&(role, partition)).cloned().unwrap_or_default()
    }

    /// Replays the results of one partition of the counting stage against its input.
    fn check_results(&self, partition: u32, dead: &[u64]) -> ReplayedPartition {
        let inputs = self.inputs(Role::Counting, partition);
        let mut replayed = ReplayedPartition::default();
        for result in self.read(&TopicPartition::new("results", partition), 0) {
            let said = text(result.value.as_deref());
            let numbers: Vec<u64> = said.split(' ').skip(1).filter_map(|word| word.parse().ok()).collect();
            if said.starts_with("tick") {
                if !replayed.ticks.insert(numbers[0]) {
                    let at = result.timestamp.as_secs() - super::world::BEGAN.as_secs();
                    self.violated(format!("partition {partition} ticked twice for offset {}, at {at} s", numbers[0]));
                }
                continue;
            }
            let Some(input) = inputs.get(&numbers[0]) else {
                self.violated(format!("result {said:?} of partition {partition} comes from nowhere"));
                continue;
            };
            let expected = replayed.take(input);
            if numbers[1..] != expected {
                let what = format!("{said:?} of partition {partition}, offset {}: {expected:?} is due", result.offset);
                self.violated(format!("counts_are_right is broken: {what}"));
            }
        }
        self.check(invariants::every_input_counted_once(replayed.done.iter().copied()));
        let mut dead = dead.to_vec();
        dead.sort_unstable();
        self.check(invariants::every_input_counted_once(dead.iter().copied()));
        if replayed.ticks != replayed.owed_ticks {
            let different: Vec<_> = replayed.ticks.symmetric_difference(&replayed.owed_ticks).collect();
            self.violated(format!("partition {partition} owes ticks, or ticked for nothing: {different:?}"));
        }
        let done: BTreeSet<u64> = replayed.done.iter().chain(&dead).copied().collect();
        if done.len() != replayed.done.len() + dead.len() {
            self.violated(format!("an input of partition {partition} was counted and set aside"));
        }
        let state = self.state();
        let lost = |offset| state.at_risk.contains(&(Role::Counting, partition, offset));
        let nothing_lost = invariants::no_output_lost(inputs.keys().copied(), &done, lost);
        drop(state);
        self.check(nothing_lost);
        replayed
    }

    /// The requests of a partition with an answer, as the stage with work in flight keeps them.
    fn answers(&self, partition: u32) -> Entries {
        let answered = self.state().answered.get(&partition).cloned().unwrap_or_default();
        let requests = self.inputs(Role::Flight, partition).into_iter();
        let answered = requests.filter(|(offset, request)| answered.contains(offset) && verb(request) != "unfit");
        answered
            .map(|(offset, request)| (offset.to_be_bytes().to_vec(), text(request.value.as_deref()).into()))
            .collect()
    }

    /// Offsets of the requests of a partition whose answers are committed.
    pub(super) fn answered(&self, partition: u32) -> BTreeSet<u64> {
        self.answers(partition).into_keys().map(|offset| number(&offset)).collect()
    }

    /// Checks that the stores, the changelogs and the state implied by the results agree.
    fn check_state(&self, role: Role, partition: u32, names: &[&str], expected: &[Entries]) {
        let task = TaskId { stage: role.group().to_owned(), partition };
        if self.kind == LogKind::StateInLog {
            let stores = MemoryLogStores(self.log.backend().clone()).open("", &task, names);
            let stores = stores.expect("state in memory can be opened");
            for (place, expected) in expected.iter().enumerate() {
                let mut entries = Entries::new();
                let visited = stores.scan(place, b"", &mut |key, value| {
                    entries.insert(key.to_vec(), value.to_vec());
                    ControlFlow::Continue(())
                });
                visited.expect("state in memory can be read");
                self.named("state", &task, names[place], invariants::memory_equals_store(expected, &entries));
            }
            return;
        }
        let disk = self.owner(role, partition).map(|(process, _)| self.slot(process).disk.clone());
        let store = disk.and_then(|disk| disk.snapshot(&task));
        let Some(store) = store else { return self.violated(format!("{task} has no owner, or its owner no store")) };
        for (place, expected) in expected.iter().enumerate() {
            let changelog = self.read(&TopicPartition::new(format!("{}-log", names[place]), partition), 0);
            self.named("changelog", &task, names[place], invariants::store_equals_changelog(&changelog, expected));
            self.named(
                "store",
                &task,
                names[place],
                invariants::store_equals_changelog(&changelog, store.entries(place)),
            );
        }
    }

    fn named(&self, what: &str, task: &TaskId, store: &str, result: Result<(), BrokenInvariant>) {
        self.check(result.map_err(|BrokenInvariant { invariant, how }| BrokenInvariant {
            invariant,
            how: format!("{what} {store} of {task}: {how}"),
        }));
    }

    fn check_memory(&self, partition: u32, replayed: &ReplayedPartition) {
        let Some((process, life)) = self.owner(Role::Counting, partition) else { return };
        let (memory, news) = {
            let state = self.state();
            (state.memories.get(&(process, partition)).cloned(), state.news.clone())
        };
        let memory = memory.map(|memory| memory.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone());
        let Some(memory) = memory.filter(|memory| memory.life == life) else {
            return self.violated(format!("the owner of partition {partition} never made its processor"));
        };
        self.check(invariants::memory_equals_store(&memory.counts, &replayed.counts));
        if (memory.seen, &memory.received) != (replayed.seen, &news) {
            let has = (memory.seen, memory.received.as_deref().map(|news| text(Some(news))));
            let due = (replayed.seen, news.as_deref().map(|news| text(Some(news))));
            self.violated(format!(
                "memory_equals_store is broken: partition {partition} remembers {has:?}, not {due:?}"
            ));
        }
    }

    /// Checks that every request is answered or set aside: once, or more often if the group's positions were forgotten.
    fn check_requests(&self, dead_letters: &BTreeMap<(String, u32), Vec<u64>>) {
        let mut answers: BTreeMap<String, u32> = BTreeMap::new();
        for partition in 0..PARTITIONS {
            for record in self.inputs(Role::Counting, partition).values() {
                *answers.entry(text(record.value.as_deref())).or_default() += 1;
            }
        }
        let may_repeat = self.state().forgotten.contains(&Role::Flight);
        for partition in 0..PARTITIONS {
            let dead = dead_letters.get(&(Role::Flight.group().to_owned(), partition));
            for (offset, request) in self.inputs(Role::Flight, partition) {
                let answered = answers.get(&text(request.value.as_deref())).copied().unwrap_or_default() as usize;
                let set_aside = dead.map_or(0, |dead| dead.iter().filter(|of| **of == offset).count());
                let is_lost = self.state().at_risk.contains(&(Role::Flight, partition, offset));
                match answered + set_aside {
                    0 if is_lost => {}
                    0 => self.violated(format!("no_output_lost is broken: request {partition}/{offset} has no answer")),
                    1 => {}
                    _ if may_repeat => {}
                    times => self.violated(format!("request {partition}/{offset} was answered {times} times")),
                }
            }
        }
    }
}

impl ReplayedPartition {
    /// The stores of the counting stage.
    fn state(&self) -> [Entries; 3] {
        let seen = (self.seen > 0).then(|| (SEEN.to_vec(), self.seen.to_be_bytes().to_vec()));
        [seen.into_iter().collect(), self.counts.clone(), Entries::new()]
    }

    /// Counts the next input; returns the expected count and total.
    fn take(&mut self, input: &InputRecord) -> [u64; 2] {
        let count = self.counts.get(&input.key).map_or(0, |count| number(count)) + 1;
        self.seen += 1;
        self.done.push(input.offset);
        match verb(input) {
            "forget" => self.counts.remove(&input.key),
            _ => self.counts.insert(input.key.clone(), count.to_be_bytes().to_vec()),
        };
        if verb(input) == "later" {
            self.owed_ticks.insert(input.offset);
        }
        [count, self.seen]
    }
}

/// Stage, partition and offset of a record that was set aside.
fn dead(value: &str) -> Option<(String, u32, u64)> {
    let mut words = value.split(' ');
    Some((words.next()?.to_owned(), words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

/// Finished offsets according to a position.
fn settled(inputs: Option<&BTreeMap<u64, InputRecord>>, position: &Position) -> Vec<u64> {
    let finished = position.finished();
    let offsets = inputs.into_iter().flat_map(BTreeMap::keys).copied();
    offsets.filter(|offset| *offset < position.next || finished.contains(offset)).collect()
}
