//! The registry of estimators. The settings take their names from it, the estimator stage and the simulator the
//! estimators they run, and `recrawl simulate list` its lines. To add an estimator, add a file in this folder, its
//! `mod` line and its entry here. One with a new kind of state also needs a variant of [`Keeps`] and of the states in
//! `dispatch.rs`.

mod baseline;
mod classes;
mod dispatch;
mod last_modified;
mod likelihood;
mod moments;
mod poisson_looks;

pub use self::baseline::{HalfCount, NaiveRatio};
pub use self::classes::{ClassState, InvalidClasses, RateClasses};
pub use self::dispatch::{EstimatorOptions, EstimatorState, MalformedState, RateEstimator};
pub use self::last_modified::{LastModified, LastModifiedState};
pub use self::likelihood::{LikelihoodState, MaximumLikelihood, Regularisation};
pub use self::moments::{MomentMatching, MomentState};
pub use self::poisson_looks::{ApproximationState, LawOfLargeNumbers, StochasticApproximation};

use crate::counts::{CheckCounts, FromCounts};
use std::fmt;

/// The kind of state that an estimator keeps per page, and how it reads it where several share a kind.
#[derive(Clone, Copy, Debug)]
enum Keeps {
    /// Counts, with the function that converts them to a rate per day.
    Counts(fn(&CheckCounts) -> f64),
    /// Evidence beyond a prior.
    Evidence(PriorFrom),
    LastModified,
    Approximation,
    Likelihood,
    Moments,
    Classes,
}

/// The source of the Gamma filter's belief about a page before its first look.
#[derive(Clone, Copy, Debug)]
enum PriorFrom {
    Operator,
    Siblings,
}

/// Makes [`EstimatorKind`] from the table below it.
macro_rules! estimators {
    ($( $(#[$about:meta])* $Variant:ident: $name:literal, $summary:literal, $keeps:expr; )*) => {
        /// An estimator of the catalogue.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        pub enum EstimatorKind {
            $( $(#[$about])* $Variant, )*
        }

        impl EstimatorKind {
            /// All of them, the simplest first.
            pub const ALL: [EstimatorKind; [$( $name ),*].len()] = [$( EstimatorKind::$Variant ),*];

            /// The name in the configuration.
            pub const fn name(self) -> &'static str {
                match self {
                    $( EstimatorKind::$Variant => $name, )*
                }
            }

            /// A summary in one line.
            pub const fn summary(self) -> &'static str {
                match self {
                    $( EstimatorKind::$Variant => $summary, )*
                }
            }

            fn keeps(self) -> Keeps {
                match self {
                    $( EstimatorKind::$Variant => $keeps, )*
                }
            }
        }
    };
}

// Name, summary, and the state kept per page.
estimators! {
    /// [`NaiveRatio`].
    Naive: "naive", "observed changes per observed \
                     day", Keeps::Counts(|counts| NaiveRatio.rate_of_counts_per_day(counts));
    /// [`HalfCount`].
    HalfCount: "half-count", "log ratio with half counts, unbiased for regular looks",
        Keeps::Counts(|counts| HalfCount.rate_of_counts_per_day(counts));
    /// [`MaximumLikelihood`] with half an interval added.
    MaximumLikelihood: "maximum-likelihood", "maximum likelihood for irregular looks, with half an interval added",
        Keeps::Likelihood;
    /// [`MomentMatching`] with half counts.
    MomentMatching: "moment-matching", "the rate that predicts the observed number of changed looks", Keeps::Moments;
    /// [`LastModified`].
    LastModified: "last-modified", "from the pages' Last-Modified times, bias corrected",
        Keeps::LastModified;
    /// [`RateClasses`]: 32 from one change in 2,700 years to 100 a day, with the probabilities of the prior.
    BayesClasses: "bayes-classes", "posterior over 32 rate classes", Keeps::Classes;
    /// [`GammaFilter`](crate::GammaFilter) with one prior for all pages.
    Gamma: "gamma", "a Gamma belief updated by each look, one prior for all pages", Keeps::Evidence(PriorFrom::Operator);
    /// [`GammaFilter`](crate::GammaFilter) with a prior learned per site and cell ([`GroupSums`](crate::GroupSums)).
    GammaGrouped: "gamma-grouped", "a Gamma belief with a prior learned from site and directory",
        Keeps::Evidence(PriorFrom::Siblings);
    /// [`LawOfLargeNumbers`].
    LawOfLargeNumbers: "lln", "share of changed looks, unbiased only for looks at random times",
        Keeps::Counts(|counts| LawOfLargeNumbers.rate_of_counts_per_day(counts));
    /// [`StochasticApproximation`] from the prior's mean rate.
    StochasticApproximation: "stochastic-approximation",
        "a running rate corrected by each look, for looks at random times", Keeps::Approximation;
}

impl EstimatorKind {
    /// Whether it uses ages ([`LookOutcome::ChangedAt`](crate::LookOutcome::ChangedAt)). The others count such a page as
    /// changed.
    pub fn reads_ages(self) -> bool {
        match self.keeps() {
            Keeps::LastModified => true,
            Keeps::Counts(_)
            | Keeps::Evidence(_)
            | Keeps::Approximation
            | Keeps::Likelihood
            | Keeps::Moments
            | Keeps::Classes => false,
        }
    }

    /// Whether it is the Gamma filter, which keeps evidence beside a prior.
    pub fn keeps_evidence(self) -> bool {
        match self.keeps() {
            Keeps::Evidence(_) => true,
            Keeps::LastModified
            | Keeps::Counts(_)
            | Keeps::Approximation
            | Keeps::Likelihood
            | Keeps::Moments
            | Keeps::Classes => false,
        }
    }

    /// Whether pages take their prior from their siblings ([`GroupSums`](crate::GroupSums)).
    pub fn learns_from_siblings(self) -> bool {
        match self.keeps() {
            Keeps::Evidence(PriorFrom::Siblings) => true,
            Keeps::Evidence(PriorFrom::Operator)
            | Keeps::LastModified
            | Keeps::Counts(_)
            | Keeps::Approximation
            | Keeps::Likelihood
            | Keeps::Moments
            | Keeps::Classes => false,
        }
    }
}

impl fmt::Display for EstimatorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The estimator of change rates that the settings choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EstimatorChoice {
    /// The live default's own: page rates and sweep calendars, learned together.
    Sweeps,
    /// An estimator of the catalogue, which learns each page's rate separately.
    Catalogue(EstimatorKind),
}

impl EstimatorChoice {
    pub fn all() -> impl Iterator<Item = EstimatorChoice> {
        std::iter::once(Self::Sweeps).chain(EstimatorKind::ALL.into_iter().map(Self::Catalogue))
    }

    /// Its name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sweeps => "sweeps",
            Self::Catalogue(kind) => kind.name(),
        }
    }

    /// A summary in one line.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Sweeps => "page rates and sweep calendars, for the policy live",
            Self::Catalogue(kind) => kind.summary(),
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::all().find(|choice| choice.name() == name)
    }

    /// The choices for operators, with their names: first estimators that learn from siblings, then those with a Gamma
    /// belief.
    pub fn for_operators() -> Vec<(&'static str, EstimatorChoice)> {
        let mut catalogue = EstimatorKind::ALL;
        catalogue.sort_by_key(|kind| (!kind.learns_from_siblings(), !kind.keeps_evidence()));
        let all = std::iter::once(Self::Sweeps).chain(catalogue.into_iter().map(Self::Catalogue));
        all.map(|choice| (choice.name(), choice)).collect()
    }
}
