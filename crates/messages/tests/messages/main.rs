//! The structs keep to their schemas, and the schemas to their promises.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod audit_samples;
/// Every record type, and how to try things on all of them.
mod every;
mod question_samples;
mod rank_samples;
/// Two values per record type: one with everything, one with as little as possible.
mod samples;
/// Samples of the messages that the scheduler receives and sends.
mod scheduler_samples;
mod validators;

/// The topic catalogue is what `schemas/README.md` says.
mod catalogue;
/// Every schema stays compatible with its released versions.
mod compatibility;
/// New and old versions read each other.
mod evolution;
/// Changes in the forms that readers want.
mod forms;
/// Bytes written by released versions stay readable, here and elsewhere.
mod golden;
/// No bytes make a panic or a large allocation.
mod hostile;
/// Any datum that follows the schema survives the struct; bytes are never taken apart.
mod round_trip;
