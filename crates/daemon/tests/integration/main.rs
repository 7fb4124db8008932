//! The port and the pings of a process, over real sockets.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod pings;
mod port;
mod port_lock;
