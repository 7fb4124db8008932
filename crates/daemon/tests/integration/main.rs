//! The port and the pings of a process, over real sockets.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod api_document;
mod crashes;
mod pings;
mod port;
mod port_answers;
mod port_faults;
mod port_lock;
