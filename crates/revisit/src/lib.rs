//! Which page is worth the next fetch?
//!
//! A fetch is worth the freshness it buys. [`value`] computes it for one page, from the belief about its change rate
//! and the time since the last look; [`worth_of_changes`] is what the extent of its changes adds. [`allocate`] finds the
//! best fetch rate of every page when rates are known;
//! [`histogram`] finds the price at which the pages of many shards together spend a budget, without a coordinator, and
//! [`demand_curve`] makes that fast, and
//! [`budget_curve`] says what any budget would give. [`columns`] holds millions of pages in a few bytes each and picks the best of
//! them; [`rows`] are what they lie in. [`hints`] has statements of others about changes. [`live`] is the default as one policy, for simulations.
//! [`kernels`] is the mathematics under all of them. Policies from the literature are in `crates/policies`.
//!
//! This crate never reads a clock, draws a random number, learns a change rate, or decides whether a host may be
//! visited now: callers pass all that in.

pub mod allocate;
pub mod budget_curve;
pub mod columns;
pub mod demand_curve;
mod extent;
pub mod hints;
pub mod histogram;
pub mod kernels;
pub mod live;
mod plan_standing;
mod plan_values;
mod policy;
mod revisit_policy;
pub mod rows;
pub mod value;

pub use crate::extent::worth_of_changes;
pub use crate::plan_standing::PlanStanding;
pub use crate::plan_values::PlanValues;
pub use crate::policy::Policy;
pub use crate::revisit_policy::{PolicyLook, PolicyPage, PolicyTick, RevisitPolicy};
