//! The fetcher as a stage: against a web on loopback that behaves, and against one that does not.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod addresses;
mod bench;
mod hostile;
mod http2;
mod identity;
mod kept_robots;
mod odd_answers;
mod one_host;
mod per_site;
mod recorded;
mod recovery;
mod refusals;
mod rendered;
mod scope;
mod server_view;
mod sessions;
mod stage;
mod tls;
mod troubled_host;
mod work;
