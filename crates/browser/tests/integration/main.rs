//! Renders pages with the browser of this machine. `make setup` installs one.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod bad_pages;
mod escapes;
mod same_twice;
mod site;
mod what_is_seen;
