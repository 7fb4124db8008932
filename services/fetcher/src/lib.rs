//! Fetches pages without being a burden to their hosts.
//!
//! Each host has a worker. It asks for one page at a time over one connection, after robots.txt has allowed it and no
//! earlier than the host's gate says. Whatever a host answers becomes an outcome that travels the loop: a bad page is
//! never an error of this crate.
//!
//! The rules of robots.txt are kept in a table, so that they are known after a restart and wherever the site's partition goes.
//! All other state (connections, gates) is rebuilt. Results are at-least-once: a request is read again after a crash, and
//! the detector drops the duplicate by its number.
//!
//! The fetcher does not decide which pages are worth fetching, and does not interpret a body beyond its digest.

mod address;
mod answers;
mod body;
mod browsers;
mod challenge;
mod codings;
mod connection;
mod crashes;
mod epochs;
mod exchange;
mod first_failures;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod gate;
mod heads;
mod host;
mod http1;
mod identity;
mod job;
mod kept_robots;
mod many;
mod memory;
mod meter;
mod network;
mod one;
mod outcome;
mod over_http1;
mod over_http2;
mod parts;
mod places;
mod pool;
mod proxy;
mod recorder;
mod request;
mod resolver;
mod response;
mod robots;
mod route;
mod rules;
mod sentinels;
mod sniff;
mod stage;
mod state;
mod steps;
mod traffic;

pub use crate::address::is_public;
pub use crate::many::{FetchedPage, PageFetcher};
pub use crate::one::{fetch_one, fetch_robots};
pub use crate::response::Response;
pub use crate::rules::{FetcherRules, RulesError};
pub use crate::stage::{stage, topology};
pub use crate::state::{OriginRobots, ROBOTS, RobotsKey};
