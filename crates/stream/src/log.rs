//! The interface to a log of transactional batches.
//!
//! A stage thread owns one [`Member`]: a group consumer and a transactional producer in one. The protocol is
//! `poll → commit`: a [`Commit`] names the tasks whose work it contains and becomes visible as a whole, or never. It is
//! refused if the member does not own one of these tasks.

use crate::position::Position;
use crate::record::{InputRecord, OffsetBounds, OutputRecord, TopicConfig, TopicPartition};
use crate::store::TaskWrites;
use page::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The reaction of a stage to a failure of its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Nothing was changed; the same call may work later (for example, the broker is unreachable while polling).
    Retry,
    /// The commit did not happen but the member is sound: drop staged work, rewind.
    Abort,
    /// The member is unsound (thrown out of its group, timed out in a commit): drop it, join again, read what was
    /// committed.
    Rejoin,
    /// A newer member uses the same transactional id.
    Fenced,
    /// Retrying cannot help: configuration, permissions, a full or failing disk.
    Stop,
}

impl ErrorKind {
    /// Number of kinds.
    pub const COUNT: usize = Self::Stop as usize + 1;
}

/// A failure of the log, with what to do about it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct LogError {
    /// How to recover.
    pub kind: ErrorKind,
    /// Cause of the failure, for an operator.
    pub message: String,
}

impl LogError {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

/// Identity of a member and its group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberSpec {
    /// Consumer group, shared by all instances of a stage.
    pub group: String,
    /// The stage's one input topic.
    pub input: String,
    /// Transactional id of this instance. A second member with the same id fences the first.
    pub transactional_id: String,
}

/// Limits on what one poll delivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollLimits {
    /// Maximum number of records. With 0 the poll maintains the membership and delivers only changes of assignment.
    pub records: usize,
    /// Bytes of keys and values after which no further record is added.
    pub bytes: usize,
}

impl PollLimits {
    /// Maintains the membership, takes no records.
    pub const NONE: Self = Self { records: 0, bytes: 0 };

    /// At most `records` records, of any size.
    pub fn records(records: usize) -> Self {
        Self { records, bytes: usize::MAX }
    }

    /// How many of these records, in order, one poll delivers.
    pub fn fitting<'a>(&self, records: impl IntoIterator<Item = &'a InputRecord>) -> usize {
        let mut bytes = 0;
        let fitting = records.into_iter().take(self.records).take_while(|record| {
            let is_fitting = bytes < self.bytes;
            bytes += record.bytes();
            is_fitting
        });
        fitting.count()
    }
}

/// An event delivered by a poll, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// These partitions are now ours; none of their records is delivered before [`Member::start`] is called for them.
    Assigned(Vec<u32>),
    /// These partitions belong to another member now; drop their uncommitted work.
    Revoked(Vec<u32>),
    /// A record of an assigned and started partition, in offset order within its partition.
    Record(InputRecord),
}

/// One transaction: everything that becomes visible together.
#[derive(Debug, Default)]
pub struct Commit {
    /// Partitions of the tasks whose work this is: those with outputs, writes or positions. The commit is refused with
    /// [`ErrorKind::Abort`] if one of them is not owned.
    pub tasks: BTreeSet<u32>,
    /// Next input positions; positions not named stay unchanged.
    pub positions: BTreeMap<u32, Position>,
    /// Output records, including changelog records if the log keeps state in changelogs.
    pub outputs: Vec<OutputRecord>,
    /// Writes to the tasks' stores if the log keeps state itself ([`StateIn::Log`]); otherwise empty.
    pub state: Vec<TaskWrites>,
}

impl Commit {
    /// Whether there is nothing to commit.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty() && self.outputs.is_empty() && self.state.is_empty()
    }
}

/// Result of a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// For every partition produced to, the offset after the last record of this transaction.
    pub next_offsets: BTreeMap<TopicPartition, u64>,
}

/// Records of one partition that a group has not consumed yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Partition number, counted from 0.
    pub partition: u32,
    /// Number of records between the committed position and the end visible to readers.
    pub records: u64,
    /// Timestamp of the first of them; `None` if the backlog is empty.
    pub oldest: Option<Timestamp>,
}

/// Where the log keeps the state of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateIn {
    /// In changelog topics. A local store is a cache, brought up to date with the changelog after each commit.
    Changelogs,
    /// In the log's own database, written by the commit itself: a store is never ahead or behind.
    Log,
}

/// Properties of an existing topic that a stage needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopicInfo {
    pub partitions: u32,
    /// Largest record, key and value, in bytes.
    pub max_message_bytes: u32,
}

/// A connection to a log.
pub trait Log: Send + Sync {
    /// Permanent id of this log. State learned from a log with another id does not belong to it.
    fn id(&self) -> Result<String, LogError>;

    /// Where the state of tasks is kept.
    fn state_in(&self) -> StateIn {
        StateIn::Changelogs
    }

    /// Whether each transaction takes one offset after its records in every partition it writes to, like Kafka's
    /// markers. Then the last offset of a partition may never have held a record.
    fn marks_commits(&self) -> bool {
        false
    }

    /// Creates missing topics. Existing topics keep their records; a changed retention is applied if the log supports
    /// it, a changed number of partitions is refused.
    fn create_topics(&self, topics: &[TopicConfig]) -> Result<(), LogError>;

    /// Properties of a topic; `None` if it does not exist.
    fn topic(&self, topic: &str) -> Result<Option<TopicInfo>, LogError>;

    /// Joins a group and prepares for transactions, fencing any older member with the same transactional id.
    fn join(&self, spec: &MemberSpec) -> Result<Box<dyn Member>, LogError>;

    /// A reader outside all groups that sees only committed records.
    fn reader(&self) -> Result<Box<dyn LogReader>, LogError>;

    /// Appends records as one unit, outside any group (commands from a tool).
    fn append(&self, records: &[OutputRecord]) -> Result<Receipt, LogError>;

    /// Backlog of a whole group on a topic, by partition, even if the group has no members.
    fn backlog(&self, group: &str, topic: &str) -> Result<Vec<Backlog>, LogError>;
}

/// One member of a group with its transactional producer. Dropping it leaves the group.
pub trait Member: Send {
    /// Waits up to `timeout` for events and returns those available within the limits. Keeps the membership alive.
    fn poll(&mut self, limits: PollLimits, timeout: Duration) -> Result<Vec<Event>, LogError>;

    /// Starts (or restarts) delivery of an assigned partition from an offset. Does nothing if the partition is no
    /// longer owned: the revocation event is on its way.
    fn start(&mut self, partition: u32, offset: u64) -> Result<(), LogError>;

    /// Commits a transaction. Afterwards all of it is visible, or none of it and the error says what to do. After
    /// [`ErrorKind::Rejoin`] and [`ErrorKind::Retry`] either may be the case.
    fn commit(&mut self, commit: &Commit) -> Result<Receipt, LogError>;

    /// Committed input positions of the group; partitions without a commit are absent.
    fn committed(&mut self, partitions: &[u32]) -> Result<BTreeMap<u32, Position>, LogError>;
}

/// Reads partitions without joining a group.
pub trait LogReader: Send {
    /// Bounds of the committed records in these partitions, in the order asked for.
    fn bounds(&mut self, partitions: &[TopicPartition]) -> Result<Vec<OffsetBounds>, LogError>;

    /// Up to `max_records` committed records from `from` on, and the next offset to read. An empty result means the end
    /// was reached. Offsets may have gaps (compaction, transaction markers).
    fn read(
        &mut self,
        partition: &TopicPartition,
        from: u64,
        max_records: usize,
    ) -> Result<(Vec<InputRecord>, u64), LogError>;
}
