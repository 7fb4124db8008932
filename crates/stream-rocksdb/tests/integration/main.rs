//! The RocksDB log and stores: conformance, crashes, damage, reopening.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod check;
mod common;
mod conformance;
mod damage;
mod kill;
mod log;
mod reopening;
mod stores;
mod throughput;
mod transient;
