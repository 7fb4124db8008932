//! Members and readers of the in-process log.

use super::{InProcessState, LogBackend, SharedLog};
use crate::group::{ConsumerGroup, MemberId, OwnershipChange, Synced};
use crate::log::{Commit, ErrorKind, Event, LogError, LogReader, Member, PollLimits, Receipt};
use crate::position::Position;
use crate::record::{InputRecord, OffsetBounds, TopicPartition};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

pub(super) struct InProcessMember<B: LogBackend> {
    pub(super) shared: Arc<SharedLog<B>>,
    pub(super) group: String,
    pub(super) input: Arc<str>,
    pub(super) transactional_id: String,
    pub(super) id: MemberId,
    /// Next offset to deliver for each started partition.
    pub(super) positions: BTreeMap<u32, u64>,
    /// The partition to serve first, or the next started one after it.
    pub(super) turn: u32,
}

impl<B: LogBackend> InProcessMember<B> {
    fn key(&self) -> (String, Arc<str>) {
        (self.group.clone(), self.input.clone())
    }

    /// The error for a member that is no longer in its group.
    fn thrown_out(&self, group: Option<&ConsumerGroup>) -> LogError {
        let name = &self.transactional_id;
        if group.is_some_and(|group| group.has_member_named(name)) {
            return LogError::new(ErrorKind::Fenced, format!("{name} was fenced by a newer instance of the same name"));
        }
        LogError::new(ErrorKind::Rejoin, format!("group {} went on without {name}", self.group))
    }

    /// Events to deliver now.
    fn take_events(&mut self, state: &mut InProcessState, limits: PollLimits) -> Result<Vec<Event>, LogError> {
        let mut events = self.changes(state)?;
        let mut room = limits;
        // Partitions take turns, each with the remaining room. The last one served comes last in the next round, so
        // that a long backlog in one does not hold up the others.
        let order = self.positions.range(self.turn..).chain(self.positions.range(..self.turn));
        let order: Vec<u32> = order.map(|(&partition, _)| partition).collect();
        for partition in order {
            if room.records == 0 || room.bytes == 0 {
                break;
            }
            let next = self.positions.get_mut(&partition).expect("listed above");
            let from = TopicPartition::new(self.input.clone(), partition);
            let records = self.shared.backend.read(&from, *next, room)?;
            room.records = room.records.saturating_sub(records.len());
            room.bytes = room.bytes.saturating_sub(records.iter().map(InputRecord::bytes).sum());
            if let Some(last) = records.last() {
                *next = last.offset + 1;
                self.turn = partition + 1;
            }
            events.extend(records.into_iter().map(Event::Record));
        }
        Ok(events)
    }

    /// Changes of assignment, or an error if the member is out of its group.
    fn changes(&mut self, state: &mut InProcessState) -> Result<Vec<Event>, LogError> {
        let key = self.key();
        if !state.groups.get(&key).is_some_and(|group| group.contains(self.id)) {
            return Err(self.thrown_out(state.groups.get(&key)));
        }
        let group = state.groups.get_mut(&key).expect("found above");
        let Synced { changes, released } = group.sync(self.id);
        if released {
            self.shared.changed.notify_all();
        }
        let mut events = Vec::with_capacity(changes.len());
        for change in changes {
            match change {
                OwnershipChange::Revoked(partitions) => {
                    self.positions.retain(|partition, _| !partitions.contains(partition));
                    events.push(Event::Revoked(partitions));
                }
                OwnershipChange::Assigned(partitions) => events.push(Event::Assigned(partitions)),
            }
        }
        Ok(events)
    }
}

impl<B: LogBackend> Member for InProcessMember<B> {
    fn poll(&mut self, limits: PollLimits, timeout: Duration) -> Result<Vec<Event>, LogError> {
        let shared = self.shared.clone();
        let mut state = shared.lock();
        let mut events = self.take_events(&mut state, limits)?;
        if events.is_empty() && !timeout.is_zero() {
            // Commits take this lock, so none can happen between the check and the wait.
            state = shared.changed.wait_timeout(state, timeout).unwrap_or_else(PoisonError::into_inner).0;
            events = self.take_events(&mut state, limits)?;
        }
        Ok(events)
    }

    fn start(&mut self, partition: u32, offset: u64) -> Result<(), LogError> {
        let owns = self.shared.lock().groups.get(&self.key()).is_some_and(|group| group.owns(self.id, partition));
        if owns {
            self.positions.insert(partition, offset);
        }
        Ok(())
    }

    fn commit(&mut self, commit: &Commit) -> Result<Receipt, LogError> {
        let state = self.shared.lock();
        let group = state.groups.get(&self.key());
        let Some(group) = group.filter(|group| group.contains(self.id)) else { return Err(self.thrown_out(group)) };
        let mut touched = commit.tasks.iter().chain(commit.positions.keys());
        if let Some(partition) = touched.find(|partition| !group.owns(self.id, **partition)) {
            let message = format!("partition {partition} of {} now belongs to another member", self.input);
            return Err(LogError::new(ErrorKind::Abort, message));
        }
        let positions: Vec<_> = commit
            .positions
            .iter()
            .map(|(&partition, position)| (TopicPartition::new(self.input.clone(), partition), position.clone()))
            .collect();
        let receipt = self.shared.write(&commit.outputs, &self.group, &positions, &commit.state)?;
        self.shared.touch(state);
        Ok(receipt)
    }

    fn committed(&mut self, partitions: &[u32]) -> Result<BTreeMap<u32, Position>, LogError> {
        let mut committed = BTreeMap::new();
        for &partition in partitions {
            let place = TopicPartition::new(self.input.clone(), partition);
            if let Some(position) = self.shared.backend.committed(&self.group, &place)? {
                committed.insert(partition, position);
            }
        }
        Ok(committed)
    }
}

impl<B: LogBackend> Drop for InProcessMember<B> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        let key = (self.group.clone(), self.input.clone());
        if let Some(group) = state.groups.get_mut(&key) {
            group.leave(self.id);
        }
        self.shared.touch(state);
    }
}

pub(super) struct InProcessReader<B>(pub(super) Arc<SharedLog<B>>);

impl<B: LogBackend> LogReader for InProcessReader<B> {
    fn bounds(&mut self, partitions: &[TopicPartition]) -> Result<Vec<OffsetBounds>, LogError> {
        partitions.iter().map(|partition| self.0.backend.bounds(partition)).collect()
    }

    fn read(
        &mut self,
        partition: &TopicPartition,
        from: u64,
        max_records: usize,
    ) -> Result<(Vec<InputRecord>, u64), LogError> {
        let end = self.0.backend.bounds(partition)?.end;
        let records = self.0.backend.read(partition, from, PollLimits::records(max_records))?;
        // An empty read means the last records were dropped: the reader is past everything up to the end taken before
        // the read.
        let next = records.last().map_or(from.max(end), |record| record.offset + 1);
        Ok((records, next))
    }
}
