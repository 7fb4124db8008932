//! Decides whether a URL may be fetched, and when.
//!
//! * [`RobotsFile`]: the rules of a robots.txt file (RFC 9309).
//! * [`UsageLines`]: its lines on the use of what is fetched, as written.
//! * [`PathPattern`]: the paths of such rules, for other files that have the same.
//! * [`RobotsCacheEntry`]: the rules in force, also when the file is absent or unreachable, and when they expire.
//! * [`DelayRule`]: the delay between two fetches of a host.
//! * [`retry_after`] and [`HostBackoff`]: the pause that a host asks for, or that its failures call for.
//! * [`fresh_for`]: how long an answer is current by its server's word.
//!
//! This crate never fetches, sleeps, reads a clock or draws a random number. Facts, times and randomness are arguments.

mod backoff;
mod delay;
mod freshness;
mod pattern;
mod retry_after;
mod robots;
mod robots_cache;

pub use crate::backoff::{BackoffProblem, BackoffRule, CHALLENGES, HostBackoff, WEEK};
pub use crate::delay::{CrawlDelay, DelayProblem, DelayRule};
pub use crate::freshness::{FreshnessHeaders, fresh_for};
pub use crate::pattern::PathPattern;
pub use crate::retry_after::{MAX_RETRY_AFTER, retry_after};
pub use crate::robots::{MAX_ROBOTS_BYTES, RobotsFile, RobotsVerdict, UsageLines, whole_lines};
pub use crate::robots_cache::{MAX_ROBOTS_REDIRECTS, RobotsCacheEntry, RobotsFetch, RobotsRules, UNREACHABLE_GRACE};
