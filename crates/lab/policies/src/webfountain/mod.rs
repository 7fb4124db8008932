//! Buckets of pages by change rate, planned some periods ahead as a linear program (WebFountain; C7 of the algorithm
//! notes). [`Model`] is the program, [`WebFountain`] the policy.

mod model;
mod policy;

pub use model::{Bucket, Cohort, Model, NewPages, Period, Plan, SolveError};
pub use policy::{WebFountain, WebFountainOptions};
