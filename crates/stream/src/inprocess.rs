//! Groups, transactions, fencing and wake-ups for logs inside this process.
//!
//! [`InProcessLog`] does everything except storage, which is a [`LogBackend`]. One lock orders all commits, so offsets
//! become visible in the order in which they were assigned.

mod member;

use self::member::{InProcessMember, InProcessReader};
use crate::group::{ConsumerGroup, MemberId};
use crate::log::{
    Backlog, ErrorKind, Log, LogError, LogReader, Member, MemberSpec, PollLimits, Receipt, StateIn, TopicInfo,
};
use crate::position::Position;
use crate::record::{InputRecord, OffsetBounds, OutputRecord, TopicConfig, TopicPartition};
use crate::store::TaskWrites;
use page::Timestamp;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

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
    fn bounds(&self, partition: &TopicPartition) -> Result<OffsetBounds, LogError>;
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

struct SharedLog<B> {
    backend: Arc<B>,
    state: Mutex<InProcessState>,
    /// Notified whenever a commit happened or a group changed.
    changed: Condvar,
}

#[derive(Default)]
struct InProcessState {
    next_member: MemberId,
    groups: HashMap<(String, Arc<str>), ConsumerGroup>,
}

/// A log inside this process, over a backend. Clones share it.
pub struct InProcessLog<B>(Arc<SharedLog<B>>);

impl<B> Clone for InProcessLog<B> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<B: LogBackend> InProcessLog<B> {
    /// A log over a backend. The backend may be shared, for example with stores in the same database.
    pub fn new(backend: impl Into<Arc<B>>) -> Self {
        Self(Arc::new(SharedLog { backend: backend.into(), state: Mutex::default(), changed: Condvar::new() }))
    }

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

impl<B: LogBackend> SharedLog<B> {
    fn lock(&self) -> MutexGuard<'_, InProcessState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self, state: MutexGuard<'_, InProcessState>) {
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
            LogError::new(ErrorKind::Stop, format!("topic {} does not exist; create the topics first", spec.input))
        })?;
        let input: Arc<str> = spec.input.as_str().into();
        let mut state = self.0.lock();
        state.next_member += 1;
        let id = state.next_member;
        let group = state
            .groups
            .entry((spec.group.clone(), input.clone()))
            .or_insert_with(|| ConsumerGroup::new(topic.partitions));
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

    fn reader(&self) -> Result<Box<dyn LogReader>, LogError> {
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

impl<B: LogBackend> SharedLog<B> {
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
