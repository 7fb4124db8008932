//! The seam to a log of transactional batches.
//!
//! A stage thread owns one [`Member`]: a consumer in a group and a transactional producer in one. The protocol is
//! `poll → commit`: a [`Commit`] names the tasks it is the work of, and becomes visible as a whole, or never. It is refused
//! for a task that the member does not own.

use crate::position::Position;
use crate::record::{Bounds, InputRecord, OutputRecord, TopicConfig, TopicPartition};
use crate::store::TaskWrites;
use page::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What the stage should do about a failure of its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Nothing was changed; the same call may work later (broker unreachable while polling, say).
    Retry,
    /// The commit did not happen but the member is sound: drop staged work, rewind.
    Abort,
    /// The member is no longer to be trusted (thrown out of its group, timed out in a commit): drop it, join anew, read
    /// what was committed.
    Rejoin,
    /// A newer member has taken this one's name.
    Fenced,
    /// Carrying on cannot help: configuration, permissions, a full or failing disk.
    Stop,
}

/// A failure of the log, with what to do about it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct LogError {
    /// What to do.
    pub kind: ErrorKind,
    /// What happened, for an operator.
    pub message: String,
}

impl LogError {
    /// A failure with what to do about it.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

/// Who joins which group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberSpec {
    /// Consumer group, shared by all instances of a stage.
    pub group: String,
    /// The stage's one input topic.
    pub input: String,
    /// Name of this instance's transactions. A second member of the same name fences the first.
    pub transactional_id: String,
}

/// How much a poll may deliver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollLimits {
    /// Records, at most. With 0 the poll serves the membership and delivers changes of assignment only.
    pub records: usize,
    /// Bytes of keys and values after which no further record is added.
    pub bytes: usize,
}

impl PollLimits {
    /// Serves the membership, takes no record.
    pub const NONE: Self = Self { records: 0, bytes: 0 };

    /// At most this many records, of any size.
    pub fn records(records: usize) -> Self {
        Self { records, bytes: usize::MAX }
    }
}

/// What a poll brings, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// These partitions are now ours; nothing of them is delivered before [`Member::start`] is called for them.
    Assigned(Vec<u32>),
    /// These partitions belong to somebody else now; work on them that is not committed must be dropped.
    Revoked(Vec<u32>),
    /// A record of an assigned, started partition, in offset order within its partition.
    Record(InputRecord),
}

/// One transaction: everything that becomes visible together.
#[derive(Debug, Default)]
pub struct Commit {
    /// The tasks, by partition, whose work this is: those with outputs, writes or positions. The commit is refused with
    /// [`ErrorKind::Abort`] when one of them is not owned.
    pub tasks: BTreeSet<u32>,
    /// Next input positions; those not named stay as they are.
    pub positions: BTreeMap<u32, Position>,
    /// Records, changelogs included where the log keeps state in them.
    pub outputs: Vec<OutputRecord>,
    /// Writes to the tasks' stores, where the log keeps state itself ([`StateIn::Log`]); empty otherwise.
    pub state: Vec<TaskWrites>,
}

impl Commit {
    /// Whether there is nothing to commit.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty() && self.outputs.is_empty() && self.state.is_empty()
    }
}

/// What a commit did: for every partition produced to, the offset after the last record of this transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// Next offset by partition produced to.
    pub next_offsets: BTreeMap<TopicPartition, u64>,
}

/// What a group has not taken in yet on one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// The partition.
    pub partition: u32,
    /// Records between the committed position and the end of what a reader may see.
    pub records: u64,
    /// When the first of them was written; `None` without a backlog.
    pub oldest: Option<Timestamp>,
}

/// Where the state of tasks is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateIn {
    /// In changelog topics. A local store is a head start, brought up to the changelog after each commit.
    Changelogs,
    /// In the log's own database, written by the commit itself: a store can be neither ahead nor behind.
    Log,
}

/// What a stage needs to know of a topic that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopicInfo {
    /// Number of partitions.
    pub partitions: u32,
    /// Largest record, key and value, in bytes.
    pub max_message_bytes: u32,
}

/// A connection to a log.
pub trait Log: Send + Sync {
    /// Identifies this log among all others, for good: what was learned from another one does not belong to it.
    fn id(&self) -> Result<String, LogError>;

    /// Where the state of tasks is kept.
    fn state_in(&self) -> StateIn {
        StateIn::Changelogs
    }

    /// Whether each transaction takes an offset of its own behind its records in every partition it writes to, as Kafka's
    /// markers do. Behind what a task has written last there is then one offset that never held a record.
    fn marks_commits(&self) -> bool {
        false
    }

    /// Makes the topics that are missing. Existing ones keep their records; a changed retention is applied where the log
    /// can, a changed number of partitions is refused.
    fn create_topics(&self, topics: &[TopicConfig]) -> Result<(), LogError>;

    /// What a topic is like; `None` when there is no such topic.
    fn topic(&self, topic: &str) -> Result<Option<TopicInfo>, LogError>;

    /// Joins a group and gets ready for transactions, fencing any older member with the same transactional id.
    fn join(&self, spec: &MemberSpec) -> Result<Box<dyn Member>, LogError>;

    /// A reader outside all groups that sees committed records only.
    fn reader(&self) -> Result<Box<dyn Reader>, LogError>;

    /// Appends records as one unit, outside any group (commands from a tool).
    fn append(&self, records: &[OutputRecord]) -> Result<Receipt, LogError>;

    /// Backlog of a whole group on a topic, by partition, whether or not the group has members.
    fn backlog(&self, group: &str, topic: &str) -> Result<Vec<Backlog>, LogError>;
}

/// One member of a group with its transactional producer. Dropping it leaves the group.
pub trait Member: Send {
    /// Waits up to `timeout` for events and gives what there is within the limits. Keeps the membership alive.
    fn poll(&mut self, limits: PollLimits, timeout: Duration) -> Result<Vec<Event>, LogError>;

    /// Starts (or restarts) delivery of an assigned partition from an offset. Does nothing for a partition that is not
    /// owned any more: the event that says so is on its way.
    fn start(&mut self, partition: u32, offset: u64) -> Result<(), LogError>;

    /// Makes a transaction visible as a whole. Afterwards everything in it is visible, or nothing is and the error says
    /// what to do; [`ErrorKind::Rejoin`] and [`ErrorKind::Retry`] leave open which of the two.
    fn commit(&mut self, commit: &Commit) -> Result<Receipt, LogError>;

    /// Committed input positions of the group; partitions where nothing was committed yet are absent.
    fn committed(&mut self, partitions: &[u32]) -> Result<BTreeMap<u32, Position>, LogError>;
}

/// Reads partitions without being in a group.
pub trait Reader: Send {
    /// What partitions hold for a reader of committed records, in the order asked for.
    fn bounds(&mut self, partitions: &[TopicPartition]) -> Result<Vec<Bounds>, LogError>;

    /// Up to `max_records` committed records from `from` on, and the offset to go on from. An empty answer means the
    /// end was reached. Offsets may have gaps (compaction, transaction markers).
    fn read(
        &mut self,
        partition: &TopicPartition,
        from: u64,
        max_records: usize,
    ) -> Result<(Vec<InputRecord>, u64), LogError>;
}
