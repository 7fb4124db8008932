//! Discovery beside refresh: how soon are new pages copied, and how fresh are the copies, at one budget?
//!
//! [`web`] grows: pages are born, and index pages link to them. [`crawl`] runs the stages of a crawl on it. A crawl that begins with
//! the front pages alone shows how much of the web's importance each order of fetches has copied, and when.

mod citations;
mod coverage;
pub mod crawl;
mod scores;
pub mod web;

pub use self::coverage::CoveragePoint;
pub use self::crawl::{GrowthPolicy, GrowthRun};
pub use self::scores::GrowthScores;

#[cfg(test)]
mod tests;
