//! Holds the figures of the benchmark as limits, and plays cases that others reported.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod below_the_aim;
mod cases;
mod edits;
mod histories;
mod mirrors;
