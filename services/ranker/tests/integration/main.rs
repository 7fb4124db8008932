//! The ranker on its test driver.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod bench;
mod focus;
mod spam;
mod stage;
mod trust;
