//! The hosts' gates: when the next request may go to each host. The next permitted time is stored, so neither a restart
//! nor a rebalance causes a burst.

use crate::hint_record::HintRecord;
use crate::rules::FrontierRules;
use messages::{ContentEvidence, Look, impl_message};
use page::{Host, Timestamp};
use politeness::HostBackoff;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

/// The stored record of a host. The schema describes the fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct HostSchedule {
    pub next_permitted_at: Timestamp,
    pub crawl_delay_ms: i64,
    pub paused: bool,
    pub troubles: i32,
    pub left_alone_until: Timestamp,
    pub hints_right: Vec<f32>,
    pub hints_wrong: Vec<f32>,
    pub changes_hinted: Vec<f32>,
    pub changes_unhinted: Vec<f32>,
    pub rests_unhinted: Vec<f32>,
}

impl_message!(HostSchedule, "HostSchedule", include_str!("../../../schemas/state/HostSchedule.avsc"));

/// The gate of one host.
pub(crate) struct HostGate {
    pub(crate) host: Host,
    pub(crate) next_permitted_at: Timestamp,
    pub(crate) crawl_delay: Duration,
    pub(crate) paused: bool,
    pub(crate) in_flight: u32,
    /// Time the host took for its last answer, on the clock of the web. Lost at a restart; the delay learned from it is
    /// stored.
    pub(crate) response_time: Duration,
    pub(crate) backoff: HostBackoff,
    /// How often hints about its pages were right.
    pub(crate) hints: HintRecord,
}

impl HostGate {
    /// Pause between the end of a request to the host and the start of the next.
    pub(crate) fn delay(&self, rules: &FrontierRules) -> Duration {
        let configured = rules.delay.delay_after(None, Duration::ZERO).as_duration();
        self.crawl_delay.max(configured).max(rules.host_interval)
    }

    /// How long one request keeps the host busy: it answers, and is then left alone.
    pub(crate) fn time_per_request(&self, rules: &FrontierRules) -> Duration {
        self.delay(rules) + self.response_time
    }

    /// Books an answer that the host gave at `answered_at`.
    pub(crate) fn answered(&mut self, look: &Look, answered_at: Timestamp, now: Timestamp, rules: &FrontierRules) {
        let meaning = look.outcome.meaning();
        if meaning.host_trouble.is_shown_by(look.status, look.retry_after_s) {
            let retry_after = look.retry_after_s.map(|seconds| Duration::from_secs(seconds.max(0) as u64));
            let chance = f64::from(look.page_id.0[0]) / 256.0;
            self.backoff = self.backoff.after_trouble(&rules.backoff, retry_after, chance, now);
            if let Some(until) = self.backoff.pause_until(now) {
                self.next_permitted_at = self.next_permitted_at.max(until);
            }
        } else if meaning.content != ContentEvidence::Nothing {
            self.backoff = self.backoff.after_answer(now);
        }
        self.next_permitted_at = self.next_permitted_at.max(answered_at + self.crawl_delay);
    }

    /// Books a redirect to another host.
    pub(crate) fn redirected(&mut self, answered_at: Timestamp, now: Timestamp) {
        self.backoff = self.backoff.after_answer(now);
        self.next_permitted_at = self.next_permitted_at.max(answered_at + self.crawl_delay);
    }

    /// What is stored of the host and changes with an answer.
    fn booked(&self) -> (Timestamp, Duration, HostBackoff) {
        (self.next_permitted_at, self.crawl_delay, self.backoff)
    }

    /// The host's schedule as it is stored.
    fn schedule(&self) -> HostSchedule {
        let mut schedule = HostSchedule {
            next_permitted_at: self.next_permitted_at,
            crawl_delay_ms: self.crawl_delay.as_millis() as i64,
            paused: self.paused,
            troubles: i32::try_from(self.backoff.troubles).unwrap_or(i32::MAX),
            left_alone_until: self.backoff.until.max(Timestamp::from_secs(0)),
            hints_right: Vec::new(),
            hints_wrong: Vec::new(),
            changes_hinted: Vec::new(),
            changes_unhinted: Vec::new(),
            rests_unhinted: Vec::new(),
        };
        self.hints.keep(&mut schedule);
        schedule
    }
}

/// All hosts of this partition, by number.
#[derive(Default)]
pub(crate) struct Hosts {
    gates: Vec<HostGate>,
    numbers: HashMap<Host, u32>,
    changed: BTreeSet<u32>,
}

impl Hosts {
    /// Restores a host from its record.
    pub(crate) fn restore(&mut self, host: &Host, schedule: &HostSchedule) {
        let number = self.number(host);
        let gate = self.gate_mut(number);
        gate.next_permitted_at = schedule.next_permitted_at;
        gate.crawl_delay = Duration::from_millis(schedule.crawl_delay_ms.max(0) as u64);
        gate.paused = schedule.paused;
        gate.backoff = HostBackoff {
            troubles: u32::try_from(schedule.troubles).unwrap_or_default(),
            until: schedule.left_alone_until,
        };
        gate.hints = HintRecord::from_kept(schedule);
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
    pub(crate) fn take_changed(&mut self) -> impl Iterator<Item = (Host, HostSchedule)> + '_ {
        let changed = std::mem::take(&mut self.changed);
        changed.into_iter().map(|number| {
            let gate = self.gate(number);
            (gate.host.clone(), gate.schedule())
        })
    }

    /// The number of a host that has one.
    pub(crate) fn known(&self, host: &Host) -> Option<u32> {
        self.numbers.get(host).copied()
    }

    /// The number of a host, assigned on first sight.
    pub(crate) fn number(&mut self, host: &Host) -> u32 {
        if let Some(&number) = self.numbers.get(host) {
            return number;
        }
        let number = u32::try_from(self.gates.len()).expect("a partition has fewer than 2^32 hosts");
        self.gates.push(HostGate {
            host: host.clone(),
            next_permitted_at: Timestamp::MIN,
            crawl_delay: Duration::ZERO,
            paused: false,
            in_flight: 0,
            response_time: Duration::ZERO,
            backoff: HostBackoff::default(),
            hints: HintRecord::default(),
        });
        self.numbers.insert(host.clone(), number);
        number
    }

    pub(crate) fn gate(&self, number: u32) -> &HostGate {
        &self.gates[number as usize]
    }

    pub(crate) fn gate_mut(&mut self, number: u32) -> &mut HostGate {
        &mut self.gates[number as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.gates.len()
    }
}
