//! All hosts of a partition, by number. A host is known while it has pages, an operator's order, or a rest to keep.

use crate::hint_kinds;
use crate::hosts::{HostGate, HostSchedule};
use crate::rules::FrontierRules;
use hashbrown::HashTable;
use page::{CanonicalUrl, HostName, Timestamp};
use politeness::HostBackoff;
use revisit::hints::HintRecord;
use revisit::rows::Rows;
use std::collections::{BTreeSet, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// The most hosts that are forgotten at once because their rest is over.
const FORGOTTEN_AT_ONCE: usize = 1_000;

/// All hosts of this partition, by number.
pub(crate) struct Hosts {
    /// For hosts that are seen for the first time.
    rules: FrontierRules,
    gates: Rows<HostGate>,
    /// The numbers of known hosts, by the hashes of their names.
    numbers: HashTable<u32>,
    hasher: RandomState,
    /// Numbers of hosts that were forgotten.
    vacant: Vec<u32>,
    changed: BTreeSet<u32>,
    /// Hosts that may go, by [`HostGate::idle_until`].
    idle: BTreeSet<(Timestamp, u32)>,
}

impl Hosts {
    pub(crate) fn new(rules: &FrontierRules) -> Self {
        Self {
            rules: rules.clone(),
            gates: Rows::default(),
            numbers: HashTable::new(),
            hasher: RandomState::new(),
            vacant: Vec::new(),
            changed: BTreeSet::new(),
            idle: BTreeSet::new(),
        }
    }

    pub(crate) fn restore(&mut self, host: &HostName, schedule: &HostSchedule) {
        let number = self.number(host.as_str());
        let gate = self.gate_mut(number);
        gate.next_permitted_at = schedule.next_permitted_at;
        gate.crawl_delay = Duration::from_millis(schedule.crawl_delay_ms.max(0) as u64);
        gate.paused = schedule.paused;
        gate.blocked = schedule.blocked;
        gate.backoff = HostBackoff {
            troubles: u32::try_from(schedule.troubles).unwrap_or_default(),
            until: schedule.left_alone_until,
            ..HostBackoff::default()
        };
        let hints = hint_kinds::record_of(schedule);
        if hints != HintRecord::NONE {
            *gate.hints_mut() = hints;
        }
        gate.is_stored = true;
    }

    /// All pages are restored: hosts without any may go.
    pub(crate) fn restored(&mut self) {
        (0..self.gates.len() as u32).for_each(|number| self.leave_idle(number));
    }

    /// A host has one more page.
    pub(crate) fn count(&mut self, number: u32) {
        let gate = self.gate_mut(number);
        gate.pages += 1;
        if let Some(until) = gate.idle_until.take() {
            self.idle.remove(&(until, number));
        }
    }

    /// A host has one page less.
    pub(crate) fn discount(&mut self, number: u32) {
        let gate = self.gate_mut(number);
        gate.pages = gate.pages.saturating_sub(1);
        self.leave_idle(number);
    }

    /// Lets a host go after its rest, if it has no pages and no order of an operator.
    pub(crate) fn leave_idle(&mut self, number: u32) {
        let gate = &mut self.gates[number as usize];
        if gate.is_idle() && gate.idle_until.is_none() {
            let until = gate.rests_until(&self.rules);
            gate.idle_until = Some(until);
            self.idle.insert((until, number));
        }
    }

    /// Forgets hosts without pages: those whose rest is over, and the next ones where more rest than the partition may have
    /// pages. Returns those whose schedule is stored.
    pub(crate) fn forget_idle(&mut self, now: Timestamp) -> Vec<HostName> {
        let mut stored = Vec::new();
        for _ in 0..FORGOTTEN_AT_ONCE {
            let is_crowded = self.idle.len() as u64 > self.rules.max_pages;
            let Some(&(until, number)) = self.idle.first().filter(|(until, _)| is_crowded || *until <= now) else {
                break;
            };
            self.idle.pop_first();
            let gate = &mut self.gates[number as usize];
            gate.idle_until = None;
            // It may have answered a late request, or been stopped.
            if !gate.is_idle() || gate.rests_until(&self.rules) > until && !is_crowded {
                self.leave_idle(number);
                continue;
            }
            stored.extend(gate.is_stored.then(|| gate.host.clone()));
            let hash = self.hasher.hash_one(gate.host.as_str());
            if let Ok(entry) = self.numbers.find_entry(hash, |other| *other == number) {
                entry.remove();
            }
            self.changed.remove(&number);
            self.vacant.push(number);
        }
        stored
    }

    /// Updates a host by an answer, and marks its schedule for storing if that changes it.
    pub(crate) fn book(&mut self, number: u32, update: impl FnOnce(&mut HostGate)) {
        let gate = self.gate_mut(number);
        let before = gate.booked();
        update(gate);
        if gate.booked() != before {
            self.mark_changed(number);
        }
    }

    /// Marks the schedule of a host for storing.
    pub(crate) fn mark_changed(&mut self, number: u32) {
        self.changed.insert(number);
    }

    /// Schedules to store, each once however often it has changed.
    pub(crate) fn take_changed(&mut self) -> impl Iterator<Item = (HostName, HostSchedule)> + '_ {
        let changed = std::mem::take(&mut self.changed);
        changed.into_iter().map(|number| {
            let gate = self.gate_mut(number);
            gate.is_stored = true;
            (gate.host.clone(), gate.schedule())
        })
    }

    /// The numbers of a host and of all below it: `example.org` has `www.example.org` below it.
    pub(crate) fn at_or_below(&self, name: &HostName) -> HashSet<u32> {
        self.numbers.iter().copied().filter(|number| self.gate(*number).host.is_at_or_below(name)).collect()
    }

    /// The number of a URL's host, if it has one.
    pub(crate) fn known(&self, url: &CanonicalUrl) -> Option<u32> {
        self.find(url.host_name())
    }

    /// The gate of a host, if it is known.
    pub(crate) fn named(&self, name: &str) -> Option<&HostGate> {
        self.find(name).map(|number| self.gate(number))
    }

    fn find(&self, name: &str) -> Option<u32> {
        let is_it = |number: &u32| self.gate(*number).host.as_str() == name;
        self.numbers.find(self.hasher.hash_one(name), is_it).copied()
    }

    /// The number of a URL's host, assigned on first sight.
    pub(crate) fn of(&mut self, url: &CanonicalUrl) -> u32 {
        self.number(url.host_name())
    }

    /// The number of the host with a name, assigned on first sight.
    pub(crate) fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.find(name) {
            return number;
        }
        let gate = HostGate::new(HostName::from_name(name), &self.rules);
        let number = self.gates.put(self.vacant.pop(), gate);
        let Self { numbers, gates, hasher, .. } = self;
        let hash_of = |number: &u32| hasher.hash_one(gates[*number as usize].host.as_str());
        numbers.insert_unique(hasher.hash_one(name), number, hash_of);
        number
    }

    pub(crate) fn gate(&self, number: u32) -> &HostGate {
        &self.gates[number as usize]
    }

    pub(crate) fn gate_mut(&mut self, number: u32) -> &mut HostGate {
        &mut self.gates[number as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }
}
