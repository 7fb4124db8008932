//! The estimator on its test driver.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod bench;
mod bounds;
mod extents;
mod stage;
