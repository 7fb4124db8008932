//! Buckets of pages by change rate, planned some periods ahead as a linear program (WebFountain; C7 of the algorithm
//! notes). [`WebFountainModel`] is the program, [`WebFountain`] the policy.

mod model;
mod policy;

pub use model::{Bucket, Cohort, NewPages, Period, SolveError, WebFountainModel, WebFountainPlan};
pub use policy::{WebFountain, WebFountainOptions};
