//! Which page is worth the next fetch?
//!
//! A fetch is worth the freshness it buys: [`value`] puts a number on it, for one page, one belief about its change
//! rate and one time since the last look. [`allocate`] finds the best fetch rate of every page when rates are known;
//! [`histogram`] finds the price at which many shards' pages together spend a budget, without a coordinator, and
//! [`demand_curve`] finds it fast;
//! [`columns`] holds millions of pages in a few bytes each and picks the best of them; [`edf`] and [`chairman`] turn
//! fixed rates into evenly spaced fetches, and [`planned`] runs policies on rates that are planned anew from time to time. [`kernels`] is the mathematics under all of them.
//!
//! This crate never reads a clock, draws a random number, learns a change rate, or asks whether a host may be visited
//! now: it is told.

pub mod allocate;
pub mod catalogue;
pub mod chairman;
pub mod columns;
pub mod demand_curve;
pub mod edf;
pub mod histogram;
pub mod kernels;
pub mod live;
pub mod planned;
mod policy;
mod revisit_policy;
pub mod systems;
pub mod value;

pub use crate::policy::Policy;
pub use crate::revisit_policy::{PolicyLook, PolicyPage, RevisitPolicy, Tick};
