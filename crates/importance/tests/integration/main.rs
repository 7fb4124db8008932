//! Link analysis against references, another library, and the live ranking in shards.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod behaviour;
mod networkx;
mod reference;
mod sharded;
