//! The scheduler on its test driver.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod ahead;
mod audit;
mod away;
mod bench;
mod bounds;
mod budget;
mod discovery;
mod extents;
mod failed_seeds;
mod forgetting;
mod listed_seeds;
mod lists;
mod live;
mod mirrors;
mod questions;
mod refusals;
mod room;
mod saved_rules;
mod scope;
mod siblings;
mod stage;
