//! A log that fails as planned by the test.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use stream::log::{
    Backlog, Commit, ErrorKind, Event, Log, LogError, LogReader, Member, MemberSpec, PollLimits, Receipt, StateIn,
    TopicInfo,
};
use stream::position::Position;
use stream::{InputRecord, OffsetBounds, OutputRecord, TopicConfig, TopicPartition};

/// Planned result of one commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommitFault {
    /// Success.
    None,
    /// The transaction is lost; the member is sound.
    Aborted,
    /// The process dies before the commit.
    DeadBefore,
    /// The process dies after the commit, before it is applied to the state.
    DeadAfter,
    /// The commit succeeds, but the answer is lost.
    AnswerLost,
}

/// A log whose commits and reads fail as planned. After the end of the plan they succeed.
#[derive(Clone)]
pub(super) struct FaultyLog {
    inner: Arc<dyn Log>,
    commits: Arc<Mutex<VecDeque<CommitFault>>>,
    failing_reads: Arc<Mutex<u32>>,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FaultyLog {
    pub(super) fn new(inner: Arc<dyn Log>) -> Self {
        Self { inner, commits: Arc::default(), failing_reads: Arc::default() }
    }

    pub(super) fn plan(&self, commits: &[CommitFault]) {
        lock(&self.commits).extend(commits);
    }

    pub(super) fn fail_reads(&self, count: u32) {
        *lock(&self.failing_reads) = count;
    }

    /// Whether all planned faults have happened.
    pub(super) fn is_done(&self) -> bool {
        lock(&self.commits).is_empty() && *lock(&self.failing_reads) == 0
    }
}

impl Log for FaultyLog {
    fn id(&self) -> Result<String, LogError> {
        self.inner.id()
    }

    fn state_in(&self) -> StateIn {
        self.inner.state_in()
    }

    fn marks_commits(&self) -> bool {
        self.inner.marks_commits()
    }

    fn create_topics(&self, topics: &[TopicConfig]) -> Result<(), LogError> {
        self.inner.create_topics(topics)
    }

    fn topic(&self, topic: &str) -> Result<Option<TopicInfo>, LogError> {
        self.inner.topic(topic)
    }

    fn join(&self, spec: &MemberSpec) -> Result<Box<dyn Member>, LogError> {
        Ok(Box::new(FaultyMember { inner: self.inner.join(spec)?, log: self.clone() }))
    }

    fn reader(&self) -> Result<Box<dyn LogReader>, LogError> {
        Ok(Box::new(FaultyReader { inner: self.inner.reader()?, log: self.clone() }))
    }

    fn append(&self, records: &[OutputRecord]) -> Result<Receipt, LogError> {
        self.inner.append(records)
    }

    fn backlog(&self, group: &str, topic: &str) -> Result<Vec<Backlog>, LogError> {
        self.inner.backlog(group, topic)
    }
}

struct FaultyMember {
    inner: Box<dyn Member>,
    log: FaultyLog,
}

impl Member for FaultyMember {
    fn poll(&mut self, limits: PollLimits, timeout: Duration) -> Result<Vec<Event>, LogError> {
        self.inner.poll(limits, timeout)
    }

    fn start(&mut self, partition: u32, offset: u64) -> Result<(), LogError> {
        self.inner.start(partition, offset)
    }

    fn commit(&mut self, commit: &Commit) -> Result<Receipt, LogError> {
        let fault = lock(&self.log.commits).pop_front().unwrap_or(CommitFault::None);
        let failure = |kind| Err(LogError::new(kind, format!("planned: {fault:?}")));
        match fault {
            CommitFault::None => self.inner.commit(commit),
            CommitFault::Aborted => failure(ErrorKind::Abort),
            CommitFault::DeadBefore => failure(ErrorKind::Stop),
            CommitFault::DeadAfter => self.inner.commit(commit).and_then(|_| failure(ErrorKind::Stop)),
            CommitFault::AnswerLost => self.inner.commit(commit).and_then(|_| failure(ErrorKind::Retry)),
        }
    }

    fn committed(&mut self, partitions: &[u32]) -> Result<BTreeMap<u32, Position>, LogError> {
        self.inner.committed(partitions)
    }
}

struct FaultyReader {
    inner: Box<dyn LogReader>,
    log: FaultyLog,
}

impl LogReader for FaultyReader {
    fn bounds(&mut self, partitions: &[TopicPartition]) -> Result<Vec<OffsetBounds>, LogError> {
        self.inner.bounds(partitions)
    }

    fn read(
        &mut self,
        partition: &TopicPartition,
        from: u64,
        max_records: usize,
    ) -> Result<(Vec<InputRecord>, u64), LogError> {
        let mut failing = lock(&self.log.failing_reads);
        if *failing > 0 {
            *failing -= 1;
            return Err(LogError::new(ErrorKind::Retry, "planned: a read failed"));
        }
        drop(failing);
        self.inner.read(partition, from, max_records)
    }
}
