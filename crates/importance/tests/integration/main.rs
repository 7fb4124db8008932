//! Importance against references, and in shards beside the solution of the whole graph.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod behaviour;
mod reference;
mod sharded;
