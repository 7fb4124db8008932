//! The estimators against references, properties and each other.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod baselines;
mod catalogue;
mod fresh_hosts;
mod groups;
mod properties;
mod reference;
mod sample_sizes;
