//! Groups, transactions, fencing and waking for logs that live in this process.
//!
//! [`InProcessLog`] does everything but keep the bytes; a [`LogBackend`] keeps them. One lock orders all commits, so
//! offsets become visible in the order they were given.

use crate::group::{Change, Group, MemberId, Synced};
use crate::log::{ErrorKind, Event, Log, LogError, Member, MemberSpec, PartitionLag, Reader, Receipt};
use crate::record::{Bounds, InputRecord, OutputRecord, TopicConfig, TopicPartition};
use page::Timestamp;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What one commit changes, as one unit.
#[derive(Debug)]
pub struct WriteBatch<'a> {
    /// Records with the offsets they get, rising within each partition.
    pub records: &'a [(u64, OutputRecord)],
    /// The group whose positions move; empty when `positions` is.
    pub group: &'a str,
    /// Next input offsets.
    pub positions: &'a [(TopicPartition, u64)],
}

/// Keeps records, topics and positions. Calls to `write` are serialised by [`InProcessLog`]; reads may run beside them.
pub trait LogBackend: Send + Sync + 'static {
    /// All topics.
    fn topics(&self) -> Result<Vec<TopicConfig>, LogError>;
    /// Adds a topic; keeps the records of an existing one.
    fn create_topic(&self, topic: &TopicConfig) -> Result<(), LogError>;
    /// What a partition holds.
    fn bounds(&self, partition: &TopicPartition) -> Result<Bounds, LogError>;
    /// Up to `max_records` records from an offset on, in order; fewer only at the end or at a bound of bytes, never
    /// none when there are any.
    fn read(&self, partition: &TopicPartition, from: u64, max_records: usize) -> Result<Vec<InputRecord>, LogError>;
    /// Writes a batch, all or nothing, surviving the death of the process.
    fn write(&self, batch: WriteBatch<'_>) -> Result<(), LogError>;
    /// Committed next input offset of a group.
    fn committed(&self, group: &str, partition: &TopicPartition) -> Result<Option<u64>, LogError>;
    /// Retention and compaction, as the topics ask for.
    fn maintain(&self, now: Timestamp) -> Result<(), LogError>;
}

struct Shared<B> {
    backend: B,
    state: Mutex<State>,
    /// Told whenever something was committed or a group changed.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    next_member: MemberId,
    groups: HashMap<(String, Arc<str>), Group>,
}

/// A log in this process over a backend. Clones share it.
pub struct InProcessLog<B>(Arc<Shared<B>>);

impl<B> Clone for InProcessLog<B> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<B: LogBackend> InProcessLog<B> {
    /// A log over a backend.
    pub fn new(backend: B) -> Self {
        Self(Arc::new(Shared { backend, state: Mutex::default(), changed: Condvar::new() }))
    }

    /// The backend.
    pub fn backend(&self) -> &B {
        &self.0.backend
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

    fn partitions(&self, topic: &str) -> Result<Option<u32>, LogError> {
        Ok(self.backend.topics()?.iter().find(|config| &*config.name == topic).map(|config| config.partitions))
    }

    /// Gives offsets to records and writes everything as one unit. The caller holds the lock.
    fn write(
        &self,
        records: Vec<OutputRecord>,
        group: &str,
        positions: &[(TopicPartition, u64)],
    ) -> Result<Receipt, LogError> {
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
        self.backend.write(WriteBatch { records: &numbered, group, positions })?;
        Ok(receipt)
    }
}

impl<B: LogBackend> Log for InProcessLog<B> {
    fn create_topics(&self, topics: &[TopicConfig]) -> Result<(), LogError> {
        let existing = self.0.backend.topics()?;
        for topic in topics.iter().filter(|topic| existing.iter().all(|known| known.name != topic.name)) {
            self.0.backend.create_topic(topic)?;
        }
        Ok(())
    }

    fn partitions(&self, topic: &str) -> Result<Option<u32>, LogError> {
        self.0.partitions(topic)
    }

    fn join(&self, spec: &MemberSpec) -> Result<Box<dyn Member>, LogError> {
        let partitions = self.0.partitions(&spec.input)?.ok_or_else(|| {
            LogError::new(ErrorKind::Stop, format!("there is no topic {}; create the topics first", spec.input))
        })?;
        let input: Arc<str> = spec.input.as_str().into();
        let mut state = self.0.lock();
        state.next_member += 1;
        let id = state.next_member;
        let group = state.groups.entry((spec.group.clone(), input.clone())).or_insert_with(|| Group::new(partitions));
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
            kept: Vec::new(),
            open: Vec::new(),
        }))
    }

    fn reader(&self) -> Result<Box<dyn Reader>, LogError> {
        Ok(Box::new(InProcessReader(self.0.clone())))
    }

    fn append(&self, records: &[OutputRecord]) -> Result<Receipt, LogError> {
        let state = self.0.lock();
        let receipt = self.0.write(records.to_vec(), "", &[])?;
        self.0.touch(state);
        Ok(receipt)
    }

    fn group_lag(&self, group: &str, topic: &str) -> Result<Vec<PartitionLag>, LogError> {
        let partitions = self.0.partitions(topic)?.unwrap_or(0);
        (0..partitions).map(|partition| self.0.lag(group, &TopicPartition::new(topic, partition))).collect()
    }
}

impl<B: LogBackend> Shared<B> {
    fn lag(&self, group: &str, partition: &TopicPartition) -> Result<PartitionLag, LogError> {
        let bounds = self.backend.bounds(partition)?;
        let next = self.backend.committed(group, partition)?.unwrap_or(0).max(bounds.start);
        Ok(PartitionLag { partition: partition.partition, records: bounds.end.saturating_sub(next) })
    }
}

struct InProcessMember<B: LogBackend> {
    shared: Arc<Shared<B>>,
    group: String,
    input: Arc<str>,
    transactional_id: String,
    id: MemberId,
    /// Next offset to deliver, of the partitions that were started.
    positions: BTreeMap<u32, u64>,
    /// The partition whose turn it is, or the next one there is.
    turn: u32,
    /// Events seen while keeping alive.
    kept: Vec<Event>,
    /// Records of the open transaction.
    open: Vec<OutputRecord>,
}

impl<B: LogBackend> InProcessMember<B> {
    fn key(&self) -> (String, Arc<str>) {
        (self.group.clone(), self.input.clone())
    }

    fn fenced(&self) -> LogError {
        let message = format!("{} was fenced by a newer instance of the same name", self.transactional_id);
        LogError::new(ErrorKind::Rejoin, message)
    }

    /// What there is to deliver right now.
    fn take_events(&mut self, state: &mut State, max_records: usize) -> Result<Vec<Event>, LogError> {
        let mut events = std::mem::take(&mut self.kept);
        events.extend(self.changes(state)?);
        let mut room = max_records;
        // Partitions take turns, each with what room is left. The last one served is last in the next round, so that a
        // long backlog in one does not hold up the others.
        let order = self.positions.range(self.turn..).chain(self.positions.range(..self.turn));
        let order: Vec<u32> = order.map(|(&partition, _)| partition).collect();
        for partition in order {
            if room == 0 {
                break;
            }
            let next = self.positions.get_mut(&partition).expect("listed above");
            let from = TopicPartition::new(self.input.clone(), partition);
            let records = self.shared.backend.read(&from, *next, room)?;
            room -= records.len();
            if let Some(last) = records.last() {
                *next = last.offset + 1;
                self.turn = partition + 1;
            }
            events.extend(records.into_iter().map(Event::Record));
        }
        Ok(events)
    }

    /// Ownership changes, or an error when fenced.
    fn changes(&mut self, state: &mut State) -> Result<Vec<Event>, LogError> {
        let fenced = self.fenced();
        let group = state.groups.get_mut(&self.key()).filter(|group| group.contains(self.id)).ok_or(fenced)?;
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
    fn poll(&mut self, max_records: usize, timeout: Duration) -> Result<Vec<Event>, LogError> {
        let shared = self.shared.clone();
        let mut state = shared.lock();
        let mut events = self.take_events(&mut state, max_records)?;
        if events.is_empty() && !timeout.is_zero() {
            // Commits happen under this lock, so none can slip in between looking and waiting.
            state = shared.changed.wait_timeout(state, timeout).unwrap_or_else(PoisonError::into_inner).0;
            events = self.take_events(&mut state, max_records)?;
        }
        Ok(events)
    }

    fn start(&mut self, partition: u32, offset: u64) -> Result<(), LogError> {
        self.positions.insert(partition, offset);
        Ok(())
    }

    fn keep_alive(&mut self) -> Result<(), LogError> {
        let shared = self.shared.clone();
        let mut state = shared.lock();
        let events = self.changes(&mut state)?;
        self.kept.extend(events);
        Ok(())
    }

    fn produce(&mut self, records: Vec<OutputRecord>) -> Result<(), LogError> {
        self.open.extend(records);
        Ok(())
    }

    fn commit(&mut self, next_offsets: &[(u32, u64)]) -> Result<Receipt, LogError> {
        let records = std::mem::take(&mut self.open);
        let state = self.shared.lock();
        let group =
            state.groups.get(&self.key()).filter(|group| group.contains(self.id)).ok_or_else(|| self.fenced())?;
        if let Some((partition, _)) = next_offsets.iter().find(|(partition, _)| !group.owns(self.id, *partition)) {
            let message = format!("partition {partition} of {} belongs to another member now", self.input);
            return Err(LogError::new(ErrorKind::Abort, message));
        }
        let positions: Vec<_> = next_offsets
            .iter()
            .map(|&(partition, next)| (TopicPartition::new(self.input.clone(), partition), next))
            .collect();
        let receipt = self.shared.write(records, &self.group, &positions)?;
        self.shared.touch(state);
        Ok(receipt)
    }

    fn abort(&mut self) -> Result<(), LogError> {
        self.open.clear();
        Ok(())
    }

    fn committed(&mut self, partition: u32) -> Result<Option<u64>, LogError> {
        self.shared.backend.committed(&self.group, &TopicPartition::new(self.input.clone(), partition))
    }

    fn lag(&mut self) -> Result<Vec<PartitionLag>, LogError> {
        let owned = self.shared.lock().groups.get(&self.key()).map(|group| group.owned(self.id)).unwrap_or_default();
        let of = |partition| self.shared.lag(&self.group, &TopicPartition::new(self.input.clone(), partition));
        owned.into_iter().map(of).collect()
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
    fn bounds(&mut self, partition: &TopicPartition) -> Result<Bounds, LogError> {
        self.0.backend.bounds(partition)
    }

    fn read(
        &mut self,
        partition: &TopicPartition,
        from: u64,
        max_records: usize,
    ) -> Result<(Vec<InputRecord>, u64), LogError> {
        let end = self.0.backend.bounds(partition)?.end;
        let records = self.0.backend.read(partition, from, max_records)?;
        // Nothing left means that the last records were dropped: whoever has seen that has seen everything up to the
        // end there was before reading.
        let next = records.last().map_or(from.max(end), |record| record.offset + 1);
        Ok((records, next))
    }
}
