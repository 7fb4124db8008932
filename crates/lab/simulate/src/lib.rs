//! Simulates what a policy would have achieved: policies and estimators against populations and recorded change times.
//!
//! [`engine`] runs one policy with one [`learner`] against the [`changes`] of the pages of a [`population`] (or of a
//! recorded [`trace`]) and integrates the state of the copies exactly ([`metrics`]). [`study`] runs many and averages
//! over seeds. [`versus`] computes what other crawlers pay for the same freshness. [`reproduce`] prints published
//! figures beside ours. [`focus`] and [`grow`] crawl webs that are found link by link, with the stages of a crawl. [`own_crawl`] gives another
//! budget to a crawl as it is. A [`contender`] is a policy of the registry (`policies`), or a published system as its preset
//! runs live, with estimator and options. [`young_pages`] judges which young pages became important.
//!
//! Everything is a function of its seed: [`streams`] ties each random number to a page and a purpose, so that all
//! policies meet the same changes, and results are the same to the last bit on any number of threads. Nothing here
//! reads a clock or keeps anything on disk; only [`trace`] reads files.

pub mod changes;
pub mod contender;
pub mod engine;
mod error;
pub mod focus;
pub mod grow;
pub mod learner;
pub mod lists;
pub mod metrics;
mod moments;
pub mod own_crawl;
pub mod parallel;
pub mod population;
pub mod reproduce;
pub mod setup;
mod stages;
pub mod streams;
pub mod study;
pub mod trace;
pub mod versus;
pub mod young_pages;

pub use crate::error::SimulationError;
