//! The runner on logs that fail, the flush of a batch, and the seeded simulation of stages.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod flush;
mod overlay;
mod publish;
mod runner;
mod simulation;
