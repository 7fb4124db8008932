//! The simulated web as a client sees it.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod corpus;
mod serving;
mod tls;
