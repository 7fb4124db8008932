//! The entries of the table of policies.

use crate::chile::Exponents;
use crate::classified::ClassifiedRule;
use change_rate::{EstimatorChoice, EstimatorKind};
use revisit::{Policy, RevisitPolicy};

/// Options of policies; each reads those it uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolicyOptions {
    /// Share of the harmonic penalty in the objective of the live default, of crawl-value and of host-capped.
    pub theta: f64,
    /// Time between two plans; the cycle of tianwang and the period of chile.
    pub replan_days: f64,
    /// Share of a cycle of tianwang for pages never fetched.
    pub new_page_share: f64,
    /// Share of a change's value that follows its extent, for the live default.
    pub extent_share: f64,
    /// Maximum budget that host-capped spends on one host per day.
    pub host_limit_per_day: f64,
    /// The parameters f' and f of classified.
    pub classified: ClassifiedRule,
    /// The exponents a, b, c of chile.
    pub chile: Exponents,
    /// Cost of a page never fetched, beside that of an obsolete copy, for webfountain.
    pub new_page_cost: f64,
    /// Weight of a period of webfountain, beside that of the period before it.
    pub period_growth: f64,
}

/// The running system's theta, plans of a day, a fifth for new pages, a fetch every five seconds from one host, and the
/// parameters of published systems as published.
impl Default for PolicyOptions {
    fn default() -> Self {
        Self {
            theta: Policy::DEFAULT_THETA,
            replan_days: crate::planned::PlannedPolicy::REPLAN_DAYS,
            new_page_share: crate::tianwang::TianwangOptions::default().cycle.new_share,
            extent_share: 0.0,
            host_limit_per_day: 17_280.0,
            classified: ClassifiedRule::default(),
            chile: Exponents::default(),
            new_page_cost: 1.0,
            period_growth: 1.0,
        }
    }
}

pub(crate) struct PolicyEntry {
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) at_work: Option<PolicyAtWork>,
    pub(crate) beliefs: BeliefSource,
    pub(crate) build: fn(&PolicyOptions) -> Box<dyn RevisitPolicy>,
}

/// How the running scheduler follows a policy, and how partitions compete for the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyAtWork {
    /// It scores every page at each tick by the value of a fetch, own rate and sweeps together. Partitions compete by
    /// that value.
    Live,
    /// It scores every page at each tick by the crawl value of its belief. Partitions compete by their pages' rates.
    CrawlValue,
    /// It scores every page at each tick by the time since the last look. Partitions compete by their numbers of pages.
    Uniform,
    /// The policy keeps its own account of pages. Partitions compete by their pages' rates, as its optimum does.
    PlannedByRates(PlanObjective),
    /// The policy keeps its own account of pages. Partitions compete by their numbers of pages.
    PlannedByNumber,
}

/// The objective of a planned optimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanObjective {
    /// The share of stale copies.
    Staleness,
    /// The harmonic penalty.
    HarmonicPenalty,
    /// Both, weighted by the operator's theta.
    Mixed,
}

impl PlanObjective {
    /// The share of the harmonic penalty; `operators` is the operator's setting.
    pub fn theta(self, operators: f64) -> f64 {
        match self {
            PlanObjective::Staleness => 0.0,
            PlanObjective::HarmonicPenalty => 1.0,
            PlanObjective::Mixed => operators,
        }
    }
}

/// The source of a policy's beliefs about change rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeliefSource {
    /// The policy itself learns rates and sweeps.
    Itself,
    /// An estimator of change rates learns them.
    Estimator,
    /// No beliefs: intervals follow from the outcomes of looks.
    LooksAlone,
    /// No beliefs: looks have no effect.
    Nothing,
    /// Rates learned once from a recorded history.
    History,
    /// The true rates.
    Truth,
    /// The changes themselves, which a simulation supplies.
    Future,
}

impl BeliefSource {
    /// Whether the policy uses beliefs about change rates. The others behave the same for any beliefs.
    pub fn is_asked(self) -> bool {
        match self {
            BeliefSource::Itself | BeliefSource::Estimator | BeliefSource::History | BeliefSource::Truth => true,
            BeliefSource::LooksAlone | BeliefSource::Nothing | BeliefSource::Future => false,
        }
    }

    /// Whether the beliefs may change while the policy runs, so that it has to plan again.
    pub fn moves(self) -> bool {
        match self {
            BeliefSource::Itself | BeliefSource::Estimator | BeliefSource::LooksAlone => true,
            BeliefSource::Nothing | BeliefSource::History | BeliefSource::Truth | BeliefSource::Future => false,
        }
    }

    /// The default estimator of a policy; `None` where rates are given from outside.
    pub fn usual_estimator(self) -> Option<EstimatorChoice> {
        match self {
            BeliefSource::Itself => Some(EstimatorChoice::Sweeps),
            BeliefSource::Estimator | BeliefSource::LooksAlone | BeliefSource::Nothing => {
                Some(EstimatorChoice::Catalogue(EstimatorKind::GammaGrouped))
            }
            BeliefSource::History | BeliefSource::Truth | BeliefSource::Future => None,
        }
    }
}

/// Makes [`PolicyKind`](crate::PolicyKind) from the table in `lib.rs`.
macro_rules! policies {
    ($( $Variant:ident: $name:literal, $summary:literal, $at_work:expr, $beliefs:expr, $build:expr; )*) => {
        /// A revisit policy by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum PolicyKind {
            $( #[doc = $summary] $Variant, )*
        }

        impl PolicyKind {
            /// All of them, in the order of the table.
            pub const ALL: [PolicyKind; [$( $name ),*].len()] = [$( PolicyKind::$Variant ),*];

            fn entry(self) -> &'static PolicyEntry {
                match self {
                    $( PolicyKind::$Variant => {
                        const ENTRY: PolicyEntry = PolicyEntry {
                            name: $name,
                            summary: $summary,
                            at_work: $at_work,
                            beliefs: $beliefs,
                            build: $build,
                        };
                        &ENTRY
                    } )*
                }
            }
        }
    };
}
pub(crate) use policies;
