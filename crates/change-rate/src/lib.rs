//! How often does this page change?
//!
//! We only ever see a page at our own looks, so between two of them we learn at most that *something* changed:
//! five edits and one look the same, an edit undone is invisible. An estimator turns such [`Outcome`]s into a
//! change rate and a probability that our copy is still current.
//!
//! [`GammaFilter`] is the one the crawler runs: a [`Gamma`] belief about each page's rate in eight bytes, updated in
//! constant time, honest about what it does not know. Its prior is learned from the page's siblings ([`GroupSums`]).
//! [`NaiveRatio`] and [`HalfCount`] are the textbook baselines it
//! is measured against. All follow [`ChangeRateEstimator`].
//!
//! This crate never reads a clock, decides what to fetch, or judges whether a difference counts as a change.

mod baseline;
mod estimator;
mod filter;
mod gamma;
mod pooled;
mod special;

pub use crate::baseline::{CheckCounts, HalfCount, NaiveRatio};
pub use crate::estimator::{ChangeRateEstimator, Outcome};
pub use crate::filter::{GammaFilter, GammaPrior, GammaState};
pub use crate::gamma::{Gamma, InvalidParameter};
pub use crate::pooled::{GroupSums, PRIOR_STRENGTH};
