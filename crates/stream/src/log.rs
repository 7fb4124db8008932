//! The seam to a log of transactional batches.
//!
//! A stage thread owns one [`Member`]: a consumer in a group and a transactional producer in one. The protocol is
//! `poll → produce* → commit` or `poll → produce* → abort`; what was produced becomes visible at `commit`, together
//! with the input positions, or never.

use crate::record::{Bounds, InputRecord, OutputRecord, TopicConfig, TopicPartition};
use std::collections::BTreeMap;
use std::time::Duration;

/// What the stage should do about a failure of its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Nothing was changed; the same call may work later (broker unreachable while polling, say).
    Retry,
    /// The open transaction is lost but the member is sound: abort, drop staged work, rewind.
    Abort,
    /// The member is no longer to be trusted (fenced by a newer instance, timed out in a commit): drop it, join anew,
    /// restore, rewind.
    Rejoin,
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

/// How far behind a member is on one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionLag {
    /// The partition.
    pub partition: u32,
    /// Records between the committed position and the end of what a reader may see.
    pub records: u64,
}

/// What a commit did: for every partition produced to, the offset after the last record of this transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// Next offset by partition produced to.
    pub next_offsets: BTreeMap<TopicPartition, u64>,
}

/// A connection to a log.
pub trait Log: Send + Sync {
    /// Makes the topics that are missing. Existing ones are left as they are.
    fn create_topics(&self, topics: &[TopicConfig]) -> Result<(), LogError>;

    /// The number of partitions of a topic; `None` when there is no such topic.
    fn partitions(&self, topic: &str) -> Result<Option<u32>, LogError>;

    /// Joins a group and gets ready for transactions, fencing any older member with the same transactional id.
    fn join(&self, spec: &MemberSpec) -> Result<Box<dyn Member>, LogError>;

    /// A reader outside all groups that sees committed records only.
    fn reader(&self) -> Result<Box<dyn Reader>, LogError>;

    /// Appends records as one unit, outside any group (commands from a tool).
    fn append(&self, records: &[OutputRecord]) -> Result<Receipt, LogError>;

    /// Lag of a whole group on a topic, by partition, whoever its members are.
    fn group_lag(&self, group: &str, topic: &str) -> Result<Vec<PartitionLag>, LogError>;
}

/// One member of a group with its transactional producer. Dropping it leaves the group.
pub trait Member: Send {
    /// Waits up to `timeout` for events and gives what there is, records limited to `max_records`.
    fn poll(&mut self, max_records: usize, timeout: Duration) -> Result<Vec<Event>, LogError>;

    /// Starts (or restarts) delivery of an assigned partition from an offset.
    fn start(&mut self, partition: u32, offset: u64) -> Result<(), LogError>;

    /// Keeps the membership alive during long work without delivering records. Events are kept for the next poll.
    fn keep_alive(&mut self) -> Result<(), LogError>;

    /// Adds records to the open transaction, opening one when there is none.
    fn produce(&mut self, records: Vec<OutputRecord>) -> Result<(), LogError>;

    /// Commits the open transaction together with the next input offsets; both may be empty. Afterwards everything
    /// produced is visible, or nothing is and the error says what to do.
    fn commit(&mut self, next_offsets: &[(u32, u64)]) -> Result<Receipt, LogError>;

    /// Drops the open transaction; nothing of it is ever visible.
    fn abort(&mut self) -> Result<(), LogError>;

    /// Committed next input offset of the group; `None` where nothing was committed yet.
    fn committed(&mut self, partition: u32) -> Result<Option<u64>, LogError>;

    /// How far the group is behind, for the partitions assigned to this member.
    fn lag(&mut self) -> Result<Vec<PartitionLag>, LogError>;
}

/// Reads partitions without being in a group.
pub trait Reader: Send {
    /// What the partition holds for a reader of committed records.
    fn bounds(&mut self, partition: &TopicPartition) -> Result<Bounds, LogError>;

    /// Up to `max_records` committed records from `from` on, and the offset to go on from. An empty answer means the
    /// end was reached. Offsets may have gaps (compaction, transaction markers).
    fn read(
        &mut self,
        partition: &TopicPartition,
        from: u64,
        max_records: usize,
    ) -> Result<(Vec<InputRecord>, u64), LogError>;
}
