//! The runner on logs that fail, and the flush of a batch.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod flush;
mod runner;
