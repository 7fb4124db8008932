//! The section `[estimator]`.

use crate::form::{AnyName, Number, OrWord};

section! {
    /// Estimation of change rates.
    estimator: Estimator {
        /// Name of the estimator, from the catalogue in the crate `change-rate`.
        name: String = AnyName,
        /// Shape of the prior: the number of changes assumed before the first observation.
        prior_alpha: f64 = Number(0.001, 1_000.0),
        /// Rate parameter of the prior, in days.
        prior_beta_days: f64 = Number(0.001, 1_000_000.0),
        /// Days after which an observation has 1/e of its weight. `None` means that nothing is forgotten.
        forgetting_days: Option<f64> = OrWord("off", Number(0.001, 1_000_000.0)),
    }
}
