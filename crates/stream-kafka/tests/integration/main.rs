//! The Kafka backend against a real Kafka.

mod common;
mod conformance;
mod created_topics;
mod frozen;
mod hanging;
mod log;
mod members;
mod security;
mod static_members;
