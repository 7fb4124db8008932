//! May I fetch this, and when?
//!
//! * [`Robots`]: what a robots.txt file says (RFC 9309), and [`RobotsCacheEntry`]: what holds when there is none, when it
//!   cannot be had, and for how long.
//! * [`DelayRule`]: how long to leave a host alone between two fetches.
//! * [`retry_after`] and [`HostBackoff`]: how long to leave it alone when it says so, or shows that it is in trouble.
//!
//! This crate never fetches, sleeps, reads a clock or draws a random number: facts, moments and chance are arguments.

mod backoff;
mod delay;
mod pattern;
mod retry_after;
mod robots;
mod robots_cache;

pub use crate::backoff::{BackoffProblem, BackoffRule, HostBackoff};
pub use crate::delay::{CrawlDelay, DelayProblem, DelayRule};
pub use crate::retry_after::{MAX_RETRY_AFTER, retry_after};
pub use crate::robots::{MAX_ROBOTS_BYTES, Robots, Verdict};
pub use crate::robots_cache::{MAX_ROBOTS_REDIRECTS, RobotsCacheEntry, RobotsFetch, UNREACHABLE_GRACE};
