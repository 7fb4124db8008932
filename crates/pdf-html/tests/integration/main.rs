//! PDF documents of a writer of our own, and of some programs.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod edits;
mod programs;
mod reading;
mod writer;
