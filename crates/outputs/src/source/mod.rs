//! Reads a topic from a cursor on, to its end or for ever.

mod cursor;
mod decoded;
mod follower;
mod newest;
mod options;
mod read_budget;
mod removals;

pub use self::cursor::Cursor;
pub use self::decoded::{DecodedRecord, decode};
pub(crate) use self::follower::pause;
pub use self::follower::{FollowedTopic, PartitionProgress, RecordSink, Start, TopicFollower, TopicRecord};
pub use self::newest::{Newest, newest, newest_with_key};
pub use self::options::FollowOptions;
pub use self::read_budget::ReadBudget;
pub(crate) use self::removals::Removals;
pub use self::removals::{PageRecord, Removal, RemovalIndex};
