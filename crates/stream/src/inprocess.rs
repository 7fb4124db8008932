//! Groups, transactions, fencing and wake-ups for logs inside this process.
//!
//! [`InProcessLog`] does everything except storage, which is a [`LogBackend`]. One lock orders all commits, so offsets
//! become visible in the order in which they were assigned.

use crate::group::{Change, Group, MemberId, Synced};
use crate::log::{
    Backlog, Commit, ErrorKind, Event, Log, LogError, Member, MemberSpec, PollLimits, Reader, Receipt, StateIn,
    TopicInfo,
};
use crate::position::Position;
use crate::record::{Bounds, InputRecord, OutputRecord, TopicConfig, TopicPartition};
use crate::store::TaskWrites;
use page::Timestamp;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The changes of one commit, written as one unit.
#[derive(Debug)]
pub struct WriteBatch<'a> {
    /// Records with their offsets, ascending within each partition.
    pub records: &'a [(u64, &'a OutputRecord)],
    /// Group whose positions move; empty if `positions` is empty.
    pub group: &'a str,
    /// Next input positions.
    pub positions: &'a [(TopicPartition, Position)],
    /// Writes to the stores of tasks; empty if the backend keeps no state ([`LogBackend::state_in`]).
    pub state: &'a [TaskWrites],
}

/// Storage of records, topics and positions. [`InProcessLog`] serialises calls to `write`; reads may run concurrently.
pub trait LogBackend: Send + Sync + 'static {
    /// Permanent id of this log.
    fn id(&self) -> Result<String, LogError>;
    /// Where the state of tasks is kept.
    fn state_in(&self) -> StateIn;
    /// See [`Log::marks_commits`].
    fn marks_commits(&self) -> bool {
        false
    }
    /// Configurations of all topics.
    fn topics(&self) -> Result<Vec<TopicConfig>, LogError>;
    /// Adds a topic. An existing one keeps its records and takes the new settings; a different number of partitions is
    /// refused, because keys would move.
    fn create_topic(&self, topic: &TopicConfig) -> Result<(), LogError>;
    /// Bounds of a partition.
    fn bounds(&self, partition: &TopicPartition) -> Result<Bounds, LogError>;
    /// Records from an offset on, in order and within the limits. Fewer than asked for only at the end or at the byte
    /// limit; never empty if records exist.
    fn read(&self, partition: &TopicPartition, from: u64, limits: PollLimits) -> Result<Vec<InputRecord>, LogError>;
    /// Number of records from an offset on; an upper bound if offsets have gaps.
    fn count(&self, partition: &TopicPartition, from: u64) -> Result<u64, LogError> {
        let bounds = self.bounds(partition)?;
        Ok(bounds.end.saturating_sub(from.max(bounds.start)))
    }
    /// Writes a batch, all or nothing, durably.
    fn write(&self, batch: WriteBatch<'_>) -> Result<(), LogError>;
    /// Committed next input position of a group.
    fn committed(&self, group: &str, partition: &TopicPartition) -> Result<Option<Position>, LogError>;
    /// Applies retention and compaction as configured by the topics.
    fn maintain(&self, now: Timestamp) -> Result<(), LogError>;
}

struct Shared<B> {
    backend: Arc<B>,
    state: Mutex<State>,
    /// Notified whenever a commit happened or a group changed.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    next_member: MemberId,
    groups: HashMap<(String, Arc<str>), Group>,
}

/// A log inside this process, over a backend. Clones share it.
pub struct InProcessLog<B>(Arc<Shared<B>>);

impl<B> Clone for InProcessLog<B> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<B: LogBackend> InProcessLog<B> {
    /// A log over a backend. The backend may be shared, for example with stores in the same database.
    pub fn new(backend: impl Into<Arc<B>>) -> Self {
        Self(Arc::new(Shared { backend: backend.into(), state: Mutex::default(), changed: Condvar::new() }))
    }

    /// The storage below the log.
    pub fn backend(&self) -> &Arc<B> {
        &self.0.backend
    }

    /// Throws a member out of its group, as after a session timeout. Its partitions are free at once; the member learns
    /// of it at its next call.
    pub fn expire(&self, group: &str, topic: &str, transactional_id: &str) {
        let mut state = self.0.lock();
        if let Some(group) = state.groups.get_mut(&(group.to_owned(), topic.into())) {
            group.expire(transactional_id);
        }
        self.0.touch(state);
    }

    /// Transactional id of the member that owns a partition.
    pub fn owner(&self, group: &str, topic: &str, partition: u32) -> Option<String> {
        let state = self.0.lock();
        state.groups.get(&(group.to_owned(), topic.into()))?.owner(partition).map(str::to_owned)
    }
}

impl<B: LogBackend> Shared<B> {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self, state: MutexGuard<'_, State>) {
        drop(state);
        self.changed.notify_all();
    }

    fn topic(&self, topic: &str) -> Result<Option<TopicInfo>, LogError> {
        let topics = self.backend.topics()?;
        let found = topics.iter().find(|config| &*config.name == topic);
        Ok(found.map(|config| TopicInfo { partitions: config.partitions, max_message_bytes: config.max_message_bytes }))
    }

    /// Every log enforces the size limit of a topic, so that a record refused by one log is refused by all.
    fn check_sizes(&self, records: &[OutputRecord]) -> Result<(), LogError> {
        let topics = self.backend.topics()?;
        let limits: HashMap<&str, u32> = topics.iter().map(|topic| (&*topic.name, topic.max_message_bytes)).collect();
        for record in records {
            let limit = limits.get(&*record.to.topic).copied().unwrap_or(u32::MAX);
            if record.bytes() > limit as usize {
                let (bytes, topic) = (record.bytes(), &record.to.topic);
                let message = format!("a record of {bytes} bytes is larger than topic {topic} allows ({limit})");
                return Err(LogError::new(ErrorKind::Stop, message));
            }
        }
        Ok(())
    }

    /// Assigns offsets to records and writes everything as one unit. The caller holds the lock.
    fn write(
        &self,
        records: &[OutputRecord],
        group: &str,
        positions: &[(TopicPartition, Position)],
        state: &[TaskWrites],
    ) -> Result<Receipt, LogError> {
        self.check_sizes(records)?;
        let mut receipt = Receipt::default();
        let mut numbered = Vec::with_capacity(records.len());
        for record in records {
            let next = match receipt.next_offsets.get_mut(&record.to) {
                Some(next) => next,
                None => {
                    let end = self.backend.bounds(&record.to)?.end;
                    receipt.next_offsets.entry(record.to.clone()).or_insert(end)
                }
            };
            numbered.push((*next, record));
            *next += 1;
        }
        self.backend.write(WriteBatch { records: &numbered, group, positions, state })?;
        Ok(receipt)
    }
}

impl<B: LogBackend> Log for InProcessLog<B> {
    fn id(&self) -> Result<String, LogError> {
        self.0.backend.id()
    }

    fn state_in(&self) -> StateIn {
        self.0.backend.state_in()
    }

    fn marks_commits(&self) -> bool {
        self.0.backend.marks_commits()
    }

    fn create_topics(&self, topics: &[TopicConfig]) -> Result<(), LogError> {
        topics.iter().try_for_each(|topic| self.0.backend.create_topic(topic))
    }

    fn topic(&self, topic: &str) -> Result<Option<TopicInfo>, LogError> {
        self.0.topic(topic)
    }

    fn join(&self, spec: &MemberSpec) -> Result<Box<dyn Member>, LogError> {
        let topic = self.0.topic(&spec.input)?.ok_or_else(|| {
            LogError::new(ErrorKind::Stop, format!("there is no topic {}; create the topics first", spec.input))
        })?;
        let input: Arc<str> = spec.input.as_str().into();
        let mut state = self.0.lock();
        state.next_member += 1;
        let id = state.next_member;
        let group =
            state.groups.entry((spec.group.clone(), input.clone())).or_insert_with(|| Group::new(topic.partitions));
        group.join(id, &spec.transactional_id);
        self.0.touch(state);
        Ok(Box::new(InProcessMember {
            shared: self.0.clone(),
            group: spec.group.clone(),
            input,
            transactional_id: spec.transactional_id.clone(),
            id,
            positions: BTreeMap::new(),
            turn: 0,
        }))
    }

    fn reader(&self) -> Result<Box<dyn Reader>, LogError> {
        Ok(Box::new(InProcessReader(self.0.clone())))
    }

    fn append(&self, records: &[OutputRecord]) -> Result<Receipt, LogError> {
        let state = self.0.lock();
        let receipt = self.0.write(records, "", &[], &[])?;
        self.0.touch(state);
        Ok(receipt)
    }

    fn backlog(&self, group: &str, topic: &str) -> Result<Vec<Backlog>, LogError> {
        let partitions = self.0.topic(topic)?.map_or(0, |topic| topic.partitions);
        (0..partitions).map(|partition| self.0.backlog(group, &TopicPartition::new(topic, partition))).collect()
    }
}

impl<B: LogBackend> Shared<B> {
    fn backlog(&self, group: &str, partition: &TopicPartition) -> Result<Backlog, LogError> {
        let start = self.backend.bounds(partition)?.start;
        let next = self.backend.committed(group, partition)?.map_or(0, |position| position.next).max(start);
        let records = self.backend.count(partition, next)?;
        let first = match records {
            0 => None,
            _ => self.backend.read(partition, next, PollLimits::records(1))?.pop(),
        };
        let oldest = first.map(|record| record.timestamp);
        Ok(Backlog { partition: partition.partition, records, oldest })
    }
}

struct InProcessMember<B: LogBackend> {
    shared: Arc<Shared<B>>,
    group: String,
    input: Arc<str>,
    transactional_id: String,
    id: MemberId,
    /// Next offset to deliver for each started partition.
    positions: BTreeMap<u32, u64>,
    /// The partition to serve first, or the next started one after it.
    turn: u32,
}

impl<B: LogBackend> InProcessMember<B> {
    fn key(&self) -> (String, Arc<str>) {
        (self.group.clone(), self.input.clone())
    }

    /// The error for a member that is no longer in its group.
    fn thrown_out(&self, group: Option<&Group>) -> LogError {
        let name = &self.transactional_id;
        if group.is_some_and(|group| group.has_member_named(name)) {
            return LogError::new(ErrorKind::Fenced, format!("{name} was fenced by a newer instance of the same name"));
        }
        LogError::new(ErrorKind::Rejoin, format!("group {} went on without {name}", self.group))
    }

    /// Events to deliver now.
    fn take_events(&mut self, state: &mut State, limits: PollLimits) -> Result<Vec<Event>, LogError> {
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
    fn changes(&mut self, state: &mut State) -> Result<Vec<Event>, LogError> {
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
                Change::Revoked(partitions) => {
                    self.positions.retain(|partition, _| !partitions.contains(partition));
                    events.push(Event::Revoked(partitions));
                }
                Change::Assigned(partitions) => events.push(Event::Assigned(partitions)),
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
            let message = format!("partition {partition} of {} belongs to another member now", self.input);
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

struct InProcessReader<B>(Arc<Shared<B>>);

impl<B: LogBackend> Reader for InProcessReader<B> {
    fn bounds(&mut self, partitions: &[TopicPartition]) -> Result<Vec<Bounds>, LogError> {
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
