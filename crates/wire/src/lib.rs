//! How records are written and read, and by which schemas.
//!
//! * A record value is an Avro *single object*: `C3 01`, the schema's fingerprint, the datum ([`Codec`]).
//! * [`Message`] connects a struct with its schema. [`impl_message!`] implements it. Values that are not Avro are
//!   [`Encoded`] all the same.
//! * [`schemas`] is the registry of schemas that other versions of the program publish.
//! * [`Topic`] is a topic with its record type, and [`Keyed`] gives the record key of a message.
//!
//! This crate knows no record of recrawl: they are in `messages`. It never talks to a broker or a schema registry, and no
//! input makes it panic.

mod codec;
mod compatibility;
mod encoded;
mod error;
mod fingerprint;
mod key;
mod resolution;
mod schema_record;
mod shape;
mod topic;
mod union;
mod writer;

pub mod confluent;
pub mod schemas;

pub use crate::codec::{Codec, Message};
pub use crate::encoded::Encoded;
pub use crate::error::DecodeError;
pub use crate::fingerprint::Fingerprint;
pub use crate::key::{KeyKind, Keyed};
pub use crate::topic::{CleanupPolicy, Partitions, Topic, TopicName, TopicSpec};
