//! How often does this page change?
//!
//! We see a page only at our own looks, so between two of them we learn at most that *something* changed: five edits
//! and one look the same, and an edit that was undone is invisible. An estimator turns such [`LookOutcome`]s into a
//! change rate and a probability that our copy is still current.
//!
//! [`GammaFilter`] is the one the crawler runs: a [`Gamma`] belief about each page's rate in eight bytes, updated in
//! constant time, with its uncertainty. Its prior is learned from the page's siblings ([`GroupSums`], or [`HostPriors`]
//! from the beliefs). The estimators of the literature are here for comparison and for other uses: [`NaiveRatio`],
//! [`HalfCount`], [`MaximumLikelihood`], [`MomentMatching`], [`LastModified`], [`RateClasses`], [`LawOfLargeNumbers`],
//! [`StochasticApproximation`]. All implement [`ChangeRateEstimator`]; [`RateEstimator`] is any of them by its name.
//! [`DateTrust`] judges the dates that pages give. [`memoryless`] tests whether the times between changes are exponential at all.
//! [`DateTrust`] judges the dates that pages give. [`ExtentPrior`] and [`ExtentEvidence`] are the belief about how much a
//! page's changes change.
//!
//! This crate never reads a clock, decides what to fetch, or judges whether a difference counts as a change.

mod catalogue;
mod counts;
mod date_trust;
mod estimator;
mod extent;
mod filter;
mod forgetting;
mod gamma;
mod hierarchy;
mod intervals;
pub mod memoryless;
mod pooled;
mod special;

pub use crate::catalogue::{
    ApproximationState, ClassState, EstimatorChoice, EstimatorKind, EstimatorOptions, EstimatorState, HalfCount,
    InvalidClasses, LastModified, LastModifiedState, LawOfLargeNumbers, LikelihoodState, MalformedState,
    MaximumLikelihood, MomentMatching, MomentState, NaiveRatio, RateClasses, RateEstimator, Regularisation,
    StochasticApproximation,
};
pub use crate::counts::CheckCounts;
pub use crate::date_trust::DateTrust;
pub use crate::estimator::{ChangeRateEstimator, LookOutcome};
pub use crate::extent::{ExtentEvidence, ExtentPrior, LEAST_EXTENT, ORDINARY_EXTENT};
pub use crate::filter::{GammaFilter, GammaPrior, GammaState};
pub use crate::forgetting::{Forgetting, best_forgetting_days, effective_looks};
pub use crate::gamma::{Gamma, InvalidParameter};
pub use crate::hierarchy::{BeliefSums, HostPriors};
pub use crate::intervals::IntervalHistogram;
pub use crate::pooled::{GroupSums, PRIOR_STRENGTH};
pub use crate::special::{exp_minus, ln_1p_ratio};
