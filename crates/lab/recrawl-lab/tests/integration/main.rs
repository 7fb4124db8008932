//! The program's commands, run as a user runs them.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod detect;
mod mirrors;
mod rank;
mod simulate;
mod simweb;
