//! Events that a member has received and not yet delivered.

use std::collections::VecDeque;
use stream::{Event, InputRecord, PollLimits};

/// Records kept for a member without room before its partitions are paused. Resuming does not wake the fetch thread, so
/// a member that is full now and then is better served from kept records.
const KEPT_RECORDS: usize = 1_000;
const KEPT_BYTES: usize = 8 << 20;

/// Events in the order of their arrival.
#[derive(Debug, Default)]
pub(crate) struct KeptEvents {
    events: VecDeque<Event>,
    /// Total size of the records.
    bytes: usize,
}

impl KeptEvents {
    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    pub(crate) fn push_record(&mut self, record: InputRecord) {
        self.bytes += record.bytes();
        self.events.push_back(Event::Record(record));
    }

    /// Adds a change of assignment.
    pub(crate) fn push_change(&mut self, change: Event) {
        self.events.push_back(change);
    }

    pub(crate) fn ends_with_change(&self) -> bool {
        self.events.back().is_some_and(is_change)
    }

    /// Drops the records of a partition.
    pub(crate) fn forget(&mut self, partition: u32) {
        self.events.retain(|event| match event {
            Event::Record(record) if record.partition == partition => {
                self.bytes -= record.bytes();
                false
            }
            _ => true,
        });
    }

    /// Whether a poll with these limits can take more.
    pub(crate) fn has_room(&self, limits: PollLimits) -> bool {
        self.events.len() < limits.records && self.bytes < limits.bytes
    }

    /// Whether fetching should pause: from the limits on, until half of the records are gone.
    pub(crate) fn should_pause(&self, is_paused: bool) -> bool {
        let share = if is_paused { 2 } else { 1 };
        self.events.len() > KEPT_RECORDS / share || self.bytes > KEPT_BYTES / share
    }

    /// Takes the oldest events, records within the limits.
    pub(crate) fn take(&mut self, limits: PollLimits) -> Vec<Event> {
        let mut room = limits;
        let mut taken = Vec::with_capacity(self.events.len().min(limits.records));
        while let Some(event) = self.events.front() {
            if let Event::Record(record) = event {
                if room.records == 0 || room.bytes == 0 {
                    break;
                }
                room.records -= 1;
                room.bytes = room.bytes.saturating_sub(record.bytes());
                self.bytes -= record.bytes();
            }
            taken.extend(self.events.pop_front());
        }
        taken
    }

    /// Takes the changes of assignment and leaves the records.
    pub(crate) fn take_changes(&mut self) -> Vec<Event> {
        let (changes, records): (Vec<_>, _) = std::mem::take(&mut self.events).into_iter().partition(is_change);
        self.events = records.into();
        changes
    }
}

fn is_change(event: &Event) -> bool {
    matches!(event, Event::Assigned(_) | Event::Revoked(_))
}
