//! Which page is worth the next fetch?
//!
//! A fetch is worth the freshness it buys: [`value`] puts a number on it, for one page, one belief about its change
//! rate and one time since the last look. [`allocate`] finds the best fetch rate of every page when rates are known;
//! [`histogram`] finds the price at which many shards' pages together spend a budget, without a coordinator, and
//! [`demand_curve`] finds it fast; [`columns`] holds millions of pages in a few bytes each and picks the best of them.
//! [`live`] is the default as one policy, for simulations. [`kernels`] is the mathematics under all of them. The policies
//! of others are `crates/lab/policies`.
//!
//! This crate never reads a clock, draws a random number, learns a change rate, or asks whether a host may be visited
//! now: it is told.

pub mod allocate;
pub mod columns;
pub mod demand_curve;
pub mod histogram;
pub mod kernels;
pub mod live;
mod policy;
mod revisit_policy;
pub mod value;

pub use crate::policy::Policy;
pub use crate::revisit_policy::{PolicyLook, PolicyPage, RevisitPolicy, Tick};
