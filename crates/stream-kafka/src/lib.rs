//! Runs stages on Apache Kafka, in exactly-once transactional batches.
//!
//! [`KafkaLog`] implements [`stream::Log`]. This crate alone uses rdkafka, on plain threads:
//!
//! * a *member* is a group consumer (`read_committed`, cooperative-sticky) and a transactional producer. Produced
//!   records stay in memory until `commit`, so a transaction is open only for milliseconds: begin, send, wait until the
//!   broker has all records, add the input positions with fresh group metadata, commit. A stage that dies outside of
//!   `commit` leaves no open transaction;
//! * a static member, if asked for, is known to its group by its transactional id: one that is back within a session has its
//!   partitions again, and no other member notices;
//! * newly assigned partitions are paused until the stage has restored their state and sets their start offset;
//! * an idle member commits its *position*, which is past the transaction markers that are never delivered, so that the
//!   lag of an idle group is exactly 0;
//! * a *reader* reads partitions outside all groups, to restore state and to read broadcasts;
//! * the *clock check* reads the brokers' clock;
//! * a client that gets no answer for half a minute, while others do, is replaced by a new one.
//!
//! Kafka keeps times in milliseconds: a [`page::Timestamp`] loses its microseconds.
//!
//! This crate never decides how to recover from a failure (it only classifies it by [`stream::ErrorKind`]), never uses
//! an async runtime, and never deletes or changes a topic.

mod asking;
mod client;
mod clock_check;
mod closing;
mod cluster;
mod complaints;
mod error;
mod kept_events;
mod log;
mod member;
mod new_topics;
mod reader;
mod rebalances;
mod records;
mod security;
mod settings;
mod silence;
mod topics;
mod transactions;
mod view;

pub use crate::clock_check::ClockReading;
pub use crate::log::KafkaLog;
pub use crate::settings::KafkaSettings;
pub use crate::topics::TopicCheck;
