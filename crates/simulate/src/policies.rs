//! Every revisit policy by its name in the configuration.

use crate::error::SimulationError;
use crate::learner::{EstimatorChoice, KnownRates, Learner};
use crate::population::Pages;
use change_rate::{EstimatorKind, EstimatorOptions};
use policies::catalogue::planning_policy;
use revisit::RevisitPolicy;
use revisit::live::{CrawlValue, Live};

pub use policies::catalogue::PolicyOptions;

/// A revisit policy by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PolicyKind {
    /// The live default: own rates, sweep calendars, sentinels.
    Live,
    /// Every page equally often (C1).
    Uniform,
    /// In proportion to change rates (C2).
    Proportional,
    /// Two classes of pages (Wen & Lu, C3).
    Classified,
    /// Two classes with the best split and rates (C3).
    ClassifiedTuned,
    /// Sites in ranks by link value (Ni et al., C4).
    SiteRanks,
    /// The Tianwang cycle (C5).
    Tianwang,
    /// Univ. Chile's long-term and short-term scheduler (C6).
    Chile,
    /// WebFountain's buckets and periods (C7).
    WebFountain,
    /// The optimum for freshness (Cho & Garcia-Molina, C8).
    OptimalFreshness,
    /// The optimum for age (C9).
    OptimalAge,
    /// The optimum for the harmonic penalty (C9).
    OptimalHarmonic,
    /// The polling model (Coffman, Liu & Weber, C10).
    Polling,
    /// The marked point process with whole numbers of looks (Wolf et al., C11).
    MarkedPoint,
    /// Groups of similar pages (Carney, Lee & Zdonik, C12).
    Partitioned,
    /// The optimum for looks at random moments, spaced by the chairman assignment (Azar et al., C13).
    Azar,
    /// The optimum for the harmonic penalty of looks at random moments (Kolobov et al., C14).
    LambdaCrawl,
    /// In proportion to importance (C14).
    LambdaCrawlApprox,
    /// The optimum for the mixed objective with a limit for every host (C15).
    HostCapped,
    /// The page whose fetch is worth most now, by the Gamma belief and the mixed objective (C18).
    CrawlValue,
    /// StormCrawler's adaptive scheduler.
    StormCrawler,
    /// Nutch's adaptive fetch schedule.
    Nutch,
    /// The same with `sync_delta` off.
    NutchNoSync,
    /// StormCrawler's with news-crawl's settings.
    NewsCrawl,
    /// The static optimum for freshness with rates learned from a history, (changes + 0.5) / (days + 30).
    Smoothed,
    /// The static optimum for freshness with the true rates: what a policy is measured against.
    Oracle,
}

impl PolicyKind {
    /// All of them.
    pub const ALL: [PolicyKind; 26] = [
        PolicyKind::Live,
        PolicyKind::Uniform,
        PolicyKind::Proportional,
        PolicyKind::Classified,
        PolicyKind::ClassifiedTuned,
        PolicyKind::SiteRanks,
        PolicyKind::Tianwang,
        PolicyKind::Chile,
        PolicyKind::WebFountain,
        PolicyKind::OptimalFreshness,
        PolicyKind::OptimalAge,
        PolicyKind::OptimalHarmonic,
        PolicyKind::Polling,
        PolicyKind::MarkedPoint,
        PolicyKind::Partitioned,
        PolicyKind::Azar,
        PolicyKind::LambdaCrawl,
        PolicyKind::LambdaCrawlApprox,
        PolicyKind::HostCapped,
        PolicyKind::CrawlValue,
        PolicyKind::StormCrawler,
        PolicyKind::Nutch,
        PolicyKind::NutchNoSync,
        PolicyKind::NewsCrawl,
        PolicyKind::Smoothed,
        PolicyKind::Oracle,
    ];

    /// Its name in the configuration.
    pub fn name(self) -> &'static str {
        self.name_and_summary().0
    }

    /// What it does, in a line.
    pub fn summary(self) -> &'static str {
        self.name_and_summary().1
    }

    fn name_and_summary(self) -> (&'static str, &'static str) {
        match self {
            Self::Live => ("live", "the live default: own rates, sweep calendars, sentinels"),
            Self::Uniform => ("uniform", "every page equally often"),
            Self::Proportional => ("proportional", "as often as a page changes"),
            Self::Classified => ("classified", "two classes, fast pages more often (Wen & Lu)"),
            Self::ClassifiedTuned => ("classified-tuned", "two classes with the best split and rates"),
            Self::SiteRanks => ("site-ranks", "sites in ranks 4, 2, 1 by link value (Ni et al.)"),
            Self::Tianwang => ("tianwang", "the Tianwang cycle"),
            Self::Chile => ("chile", "daily batch by gain, then by host (Univ. Chile)"),
            Self::WebFountain => ("webfountain", "buckets and periods by linear programming (WebFountain)"),
            Self::OptimalFreshness => ("optimal-freshness", "best rates for freshness (Cho & Garcia-Molina)"),
            Self::OptimalAge => ("optimal-age", "best rates for age (Cho & Garcia-Molina)"),
            Self::OptimalHarmonic => ("optimal-harmonic", "best rates for the harmonic penalty"),
            Self::Polling => ("polling", "the polling model (Coffman, Liu & Weber)"),
            Self::MarkedPoint => ("marked-point", "whole numbers of looks (Wolf et al.)"),
            Self::Partitioned => ("partitioned", "one rate for each group of pages (Carney, Lee & Zdonik)"),
            Self::Azar => ("azar", "best rates for random moments, spaced evenly (Azar et al.)"),
            Self::LambdaCrawl => {
                ("lambda-crawl", "best rates for the harmonic penalty at random moments (Kolobov et al.)")
            }
            Self::LambdaCrawlApprox => ("lambda-crawl-approx", "in proportion to importance (Kolobov et al.)"),
            Self::HostCapped => ("host-capped", "best rates under a limit for every host (Kolobov et al.)"),
            Self::CrawlValue => ("crawl-value", "the fetch worth most now, by Gamma belief"),
            Self::StormCrawler => ("stormcrawler", "StormCrawler's adaptive scheduler"),
            Self::Nutch => ("nutch", "Nutch's adaptive fetch schedule"),
            Self::NutchNoSync => ("nutch-nosync", "Nutch's adaptive fetch schedule, sync_delta off"),
            Self::NewsCrawl => ("news-crawl", "StormCrawler's scheduler with news-crawl's settings"),
            Self::Smoothed => ("smoothed", "best rates for freshness, learned once from a history"),
            Self::Oracle => ("oracle", "best rates for freshness, true rates known"),
        }
    }

    /// The policy of this name.
    pub fn parse(name: &str) -> Result<Self, SimulationError> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| SimulationError::Unknown {
            what: "policy",
            name: name.into(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }

    /// Whether it uses what an estimator believes; the others get the same result whatever it says.
    pub fn asks_for_beliefs(self) -> bool {
        !matches!(
            self,
            Self::Uniform
                | Self::SiteRanks
                | Self::LambdaCrawlApprox
                | Self::StormCrawler
                | Self::Nutch
                | Self::NutchNoSync
                | Self::NewsCrawl
        )
    }

    /// The estimator it runs with unless another is asked for; `None`: rates are told from outside (from a history, or
    /// the truth).
    pub fn usual_estimator(self) -> Option<EstimatorChoice> {
        match self {
            Self::Oracle | Self::Smoothed => None,
            Self::Live => Some(EstimatorChoice::Sweeps),
            _ => Some(EstimatorChoice::Catalogue(EstimatorKind::GammaGrouped)),
        }
    }

    /// Fails where an estimator (`None`: the true rates) does not go with the policy.
    pub fn check_estimator(self, estimator: Option<EstimatorChoice>) -> Result<(), SimulationError> {
        let fault = |text: String| Err(SimulationError::Combination(text));
        match (self, estimator) {
            (Self::Smoothed, _) => fault("policy smoothed learns from a history; only recorded traces have one".into()),
            (Self::Live, Some(EstimatorChoice::Catalogue(kind))) => {
                fault(format!("policy live learns by itself; use estimator sweeps with it, not {}", kind.name()))
            }
            (policy, Some(EstimatorChoice::Sweeps)) if policy != Self::Live && policy.asks_for_beliefs() => {
                fault(format!("estimator sweeps belongs to policy live; choose another one for {}", policy.name()))
            }
            _ => Ok(()),
        }
    }

    /// Who learns for it: the estimator, or whoever believes the true rates where that is `None`. A policy that asks for
    /// no beliefs gets none, which saves the work.
    pub fn learner(
        self,
        estimator: Option<EstimatorChoice>,
        pages: &Pages,
        change_rates_per_day: &[f64],
        options: EstimatorOptions,
    ) -> Result<Box<dyn Learner>, SimulationError> {
        match estimator {
            None => Ok(Box::new(KnownRates::new(change_rates_per_day.iter().copied()))),
            Some(_) if !self.asks_for_beliefs() => EstimatorChoice::Sweeps.learner(pages, options),
            Some(estimator) => estimator.learner(pages, options),
        }
    }

    /// The policy, without pages yet.
    pub fn build(self, options: &PolicyOptions) -> Box<dyn RevisitPolicy> {
        // Rates that never change are planned once.
        let once = PolicyOptions { replan_days: f64::INFINITY, ..*options };
        let (name, options) = match self {
            Self::Live => return Box::new(Live::new(options.theta)),
            Self::CrawlValue => return Box::new(CrawlValue::new(options.theta)),
            Self::Oracle | Self::Smoothed => (Self::OptimalFreshness.name(), &once),
            Self::Uniform | Self::LambdaCrawlApprox => (self.name(), &once),
            planning => (planning.name(), options),
        };
        planning_policy(name, options).expect("every other policy is in the catalogue; a test builds all of them")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for kind in PolicyKind::ALL {
            assert_eq!(PolicyKind::parse(kind.name()), Ok(kind));
            kind.build(&PolicyOptions::default());
            if kind != PolicyKind::Smoothed {
                assert_eq!(kind.check_estimator(kind.usual_estimator()), Ok(()));
            }
        }
        let unknown = PolicyKind::parse("optimal").expect_err("no such policy").to_string();
        assert!(unknown.starts_with("unknown policy 'optimal'; one of: live, uniform"), "{unknown}");
    }

    #[test]
    fn what_does_not_go_together_is_said() {
        let gamma = Some(EstimatorChoice::Catalogue(EstimatorKind::Gamma));
        let fault = |kind: PolicyKind, estimator| kind.check_estimator(estimator).expect_err("a fault").to_string();
        assert!(fault(PolicyKind::Live, gamma).contains("use estimator sweeps"));
        assert!(fault(PolicyKind::CrawlValue, Some(EstimatorChoice::Sweeps)).contains("for crawl-value"));
        assert!(fault(PolicyKind::Smoothed, None).contains("history"));
        assert_eq!(PolicyKind::Uniform.check_estimator(Some(EstimatorChoice::Sweeps)), Ok(()));
    }
}
