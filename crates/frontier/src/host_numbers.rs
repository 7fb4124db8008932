//! All hosts of a partition, by number. A host is known while it has pages, an operator's order, or a rest to keep.

use crate::hint_kinds;
use crate::hosts::{HostGate, HostSchedule};
use crate::rules::FrontierRules;
use page::{CanonicalUrl, HostName, Timestamp};
use politeness::HostBackoff;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

/// The most hosts that are forgotten at once because their rest is over.
const FORGOTTEN_AT_ONCE: usize = 1_000;

/// All hosts of this partition, by number.
pub(crate) struct Hosts {
    /// For hosts that are seen for the first time.
    rules: FrontierRules,
    gates: Vec<HostGate>,
    numbers: HashMap<HostName, u32>,
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
            gates: Vec::new(),
            numbers: HashMap::new(),
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
        };
        gate.hints = hint_kinds::record_of(schedule);
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
            let host = gate.host.clone();
            self.numbers.remove(&host);
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
        let found = self.numbers.iter().filter(|(host, _)| host.is_at_or_below(name));
        found.map(|(_, number)| *number).collect()
    }

    /// The number of a URL's host, if it has one.
    pub(crate) fn known(&self, url: &CanonicalUrl) -> Option<u32> {
        self.numbers.get(url.host_name()).copied()
    }

    /// The gate of a host, if it is known.
    pub(crate) fn named(&self, name: &str) -> Option<&HostGate> {
        self.numbers.get(name).map(|number| self.gate(*number))
    }

    /// The number of a URL's host, assigned on first sight.
    pub(crate) fn of(&mut self, url: &CanonicalUrl) -> u32 {
        self.number(url.host_name())
    }

    /// The number of the host with a name, assigned on first sight.
    pub(crate) fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let host = HostName::from_name(name);
        let gate = HostGate::new(host.clone(), &self.rules);
        let number = match self.vacant.pop() {
            Some(number) => {
                self.gates[number as usize] = gate;
                number
            }
            None => {
                self.gates.push(gate);
                u32::try_from(self.gates.len() - 1).expect("a partition has fewer than 2^32 hosts")
            }
        };
        self.numbers.insert(host, number);
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
