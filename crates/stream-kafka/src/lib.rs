//! How does a stage work on Apache Kafka as exactly-once, transactional batches?
//!
//! [`KafkaLog`] implements [`stream::Log`]. It is the only crate that names rdkafka, and uses it on plain threads:
//!
//! * a *member* is a consumer of a group (`read_committed`, cooperative-sticky) and a transactional producer. Produced
//!   records wait in memory until `commit`, so a transaction is open for milliseconds only: begin, send, wait for the
//!   broker to have everything, add the input positions with fresh group metadata, commit. A stage that dies elsewhere
//!   leaves no open transaction behind;
//! * partitions newly assigned are paused until the stage has restored their state and says where to start;
//! * an idle member commits its *position*, which lies behind the transaction markers that are never delivered, so that
//!   the lag of an idle group is exactly 0;
//! * a *reader* reads partitions outside all groups, to restore state and to hear broadcasts.
//!
//! Times travel in milliseconds, as Kafka has them: a [`page::Timestamp`] loses its microseconds.
//!
//! This crate never decides what to do about a failure (it says which of the four kinds it is), never uses an async
//! runtime, and never deletes or changes a topic.

mod asking;
mod client;
mod closing;
mod cluster;
mod error;
mod log;
mod member;
mod reader;
mod security;
mod settings;
mod topics;
mod transactions;

pub use crate::log::KafkaLog;
pub use crate::security::{Mechanism, Password, Sasl, Security, Tls};
pub use crate::settings::KafkaSettings;
pub use crate::topics::TopicCheck;
