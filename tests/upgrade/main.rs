//! Programs of two versions side by side, in an upgrade and when it is taken back.
//!
//! A test program of its own, because it compiles the other version: nothing that is timed runs beside that.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod counts;
mod embedded;
mod rolling;
