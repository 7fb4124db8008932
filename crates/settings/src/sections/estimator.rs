//! The section `[estimator]`.

use crate::form::{Named, Number, OrWord};
use change_rate::EstimatorChoice;

section! {
    /// How often a page changes.
    estimator: Estimator {
        /// The estimator.
        name: EstimatorChoice = Named(EstimatorChoice::for_operators),
        /// Shape of the prior: changes seen before the first look, so to speak.
        prior_alpha: f64 = Number(0.001, 1_000.0),
        /// Rate parameter of the prior, in days.
        prior_beta_days: f64 = Number(0.001, 1_000_000.0),
        /// Days after which an observation counts 1/e as much; `None` when nothing is forgotten.
        forgetting_days: Option<f64> = OrWord("off", Number(0.001, 1_000_000.0)),
    }
}
