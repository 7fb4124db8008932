//! Discovery beside refresh: how soon are new pages copied, and how fresh are the copies, at one budget?
//!
//! [`web`] grows: pages are born, and index pages link to them. [`crawl`] runs the stages of a crawl on it.

pub mod crawl;
mod scores;
pub mod web;

pub use self::crawl::{GrowthPolicy, GrowthRun};
pub use self::scores::GrowthScores;

#[cfg(test)]
mod tests;
