//! The section `[estimator]`.

use crate::form::{Named, Number, OrWord};
use change_rate::EstimatorChoice;

section! {
    /// Estimation of change rates.
    estimator: Estimator {
        /// The estimator.
        name: EstimatorChoice = Named(EstimatorChoice::for_operators),
        /// Shape of the prior: the number of changes assumed before the first observation.
        prior_alpha: f64 = Number(0.001, 1_000.0),
        /// Rate parameter of the prior, in days.
        prior_beta_days: f64 = Number(0.001, 1_000_000.0),
        /// Days after which an observation has 1/e of its weight. `None` means that nothing is forgotten.
        forgetting_days: Option<f64> = OrWord("off", Number(0.001, 1_000_000.0)),
    }
}
