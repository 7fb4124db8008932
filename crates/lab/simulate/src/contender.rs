//! Contenders in a comparison: a policy with its estimator and the options of both, chosen by name or by the preset of a
//! published system.
//!
//! Presets and their constants are read by the settings, and the stages of a crawl make policy and estimator of them
//! ([`scheduler::FrontierRules::policy`], [`estimator::chosen`]), so that a system is here what it is live.

use crate::error::SimulationError;
use crate::learner::Learner;
use crate::population::Pages;
use crate::setup;
use change_rate::{EstimatorChoice, EstimatorOptions};
use policies::{Filled, PolicyKind, PolicyOptions};
use revisit::RevisitPolicy;
use scheduler::FrontierRules;
use settings::{Layers, Preset, Settings};

/// A policy as it takes part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contender {
    /// The published system that it is; `None` for a policy chosen by name.
    pub preset: Option<Preset>,
    pub policy: PolicyKind,
    /// `None`: the true rates.
    pub estimator: Option<EstimatorChoice>,
    pub options: Options,
    /// Whether idle slots of a policy that waits for due dates go to the page due earliest.
    pub fill: bool,
}

/// Options of a policy and of its estimator.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    pub policy: PolicyOptions,
    pub estimator: EstimatorOptions,
}

/// Sections of the settings that a simulation reads.
const SECTIONS: [&str; 2] = ["policy", "estimator"];
/// Settings in these sections that arguments of their own choose.
const CHOSEN: [&str; 2] = ["policy.name", "estimator.name"];

impl Options {
    /// The options that the running system takes from these settings, as (`section.key`, value), over the defaults.
    ///
    /// # Errors
    /// On settings that are not valid, or that no simulation reads.
    pub fn from_settings(overrides: &[(String, String)]) -> Result<Self, SimulationError> {
        let settings = read(None, overrides)?;
        Ok(Self { policy: policy(&settings).1, estimator: estimator::chosen(&settings).1 })
    }
}

impl Contender {
    /// A policy with its usual estimator and default options.
    pub fn usual(policy: PolicyKind) -> Self {
        let estimator = policy.beliefs().usual_estimator();
        Self { preset: None, policy, estimator, options: Options::default(), fill: false }
    }

    /// The same with an estimator, if it goes with the policy.
    #[must_use]
    pub fn with_estimator(self, asked: Option<EstimatorChoice>) -> Self {
        let fits = |asked: &EstimatorChoice| {
            self.estimator.is_some() && setup::check_estimator(self.policy, Some(*asked)).is_ok()
        };
        Self { estimator: asked.filter(fits).or(self.estimator), ..self }
    }

    /// A published system with the policy, estimator, prior and constants of its preset, below these settings. Idle slots are filled,
    /// as the running scheduler does.
    ///
    /// # Errors
    /// On settings that are not valid or that no simulation reads, and on a system that needs more than pages that change.
    pub fn of_preset(preset: Preset, overrides: &[(String, String)]) -> Result<Self, SimulationError> {
        match preset {
            Preset::SkyReach => {
                return Err(SimulationError::Combination(format!(
                    "preset {} chooses pages by the words of links, and the pages here have none; `recrawl simulate \
                     focus` crawls by its rule",
                    preset.name()
                )));
            }
            Preset::Tianwang | Preset::Chile | Preset::WebFountain | Preset::SiteRank | Preset::Classified => {}
        }
        let settings = read(Some(preset), overrides)?;
        let (policy, policy_options) = policy(&settings);
        let (estimator, estimator_options) = estimator::chosen(&settings);
        setup::check_estimator(policy, policy.beliefs().is_asked().then_some(estimator))?;
        Ok(Self {
            preset: Some(preset),
            policy,
            estimator: Some(estimator),
            options: Options { policy: policy_options, estimator: estimator_options },
            fill: true,
        })
    }

    /// Presets of which [`Contender::of_preset`] makes a contender.
    pub fn presets() -> impl Iterator<Item = Preset> {
        Preset::ALL.into_iter().filter(|preset| Self::of_preset(*preset, &[]).is_ok())
    }

    /// Name of the policy, with `+fill` where idle slots are filled.
    pub fn name(&self) -> String {
        self.policy.filled_name(self.fill)
    }

    /// Name of the preset, if it is a published system.
    pub fn preset_name(&self) -> Option<&'static str> {
        self.preset.map(Preset::name)
    }

    /// Name of the estimator; `known` for true rates, `none` where the policy uses none.
    pub fn estimator_name(&self) -> &'static str {
        setup::learner_name(self.policy, self.estimator)
    }

    /// Makes the learner for these pages, whose true rates are given.
    ///
    /// # Errors
    /// On invalid options.
    pub fn learner(&self, pages: &Pages, change_rates_per_day: &[f64]) -> Result<Box<dyn Learner>, SimulationError> {
        setup::learner(self.policy, self.estimator, pages, change_rates_per_day, self.options.estimator)
    }

    /// Makes the policy, without pages.
    pub fn build(&self) -> Box<dyn RevisitPolicy> {
        self.filled(setup::build(self.policy, &self.options.policy))
    }

    /// This policy, with its idle slots filled if that is asked for.
    pub(crate) fn filled(&self, policy: Box<dyn RevisitPolicy>) -> Box<dyn RevisitPolicy> {
        if self.fill && self.policy.waits() { Box::new(Filled::new(policy)) } else { policy }
    }
}

/// The policy that the scheduler follows by these settings, and its options. A simulation has no politeness, so the limit per host
/// does not follow from the hosts' delays. The frontier weighs pages by the extent of their changes itself; here the policy does.
fn policy(settings: &Settings) -> (PolicyKind, PolicyOptions) {
    let (policy, options) = FrontierRules::new(settings, 1).policy();
    let host_limit_per_day = PolicyOptions::default().host_limit_per_day;
    (policy, PolicyOptions { host_limit_per_day, extent_share: settings.policy.extent_share, ..options })
}

/// The settings of a preset, or the defaults, below these.
fn read(preset: Option<Preset>, overrides: &[(String, String)]) -> Result<Settings, SimulationError> {
    for (key, _) in overrides {
        let fault = |text: String| Err(SimulationError::Combination(text));
        if CHOSEN.contains(&key.as_str()) {
            return fault(format!(
                "{key} cannot be set here; choose policies, estimators and presets by their own arguments"
            ));
        }
        if !SECTIONS.iter().any(|section| key.split_once('.').is_some_and(|(of, _)| of == *section)) {
            return fault(format!(
                "{key} has no effect here; a simulation reads settings of {}",
                SECTIONS.join(" and ")
            ));
        }
    }
    let file = preset.map(|preset| (preset.name(), preset.toml()));
    let layers = Layers { files: file.as_slice(), environment: [], overrides };
    Settings::from_layers(layers).map_err(|faults| SimulationError::Combination(faults.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use change_rate::EstimatorKind;

    fn set(key: &str, value: &str) -> Vec<(String, String)> {
        vec![(key.to_owned(), value.to_owned())]
    }

    #[test]
    fn a_preset_brings_its_policy_estimator_prior_and_constants() {
        let tianwang = Contender::of_preset(Preset::Tianwang, &[]).expect("a system");
        let half_count = EstimatorChoice::Catalogue(EstimatorKind::HalfCount);
        assert_eq!((tianwang.policy, tianwang.estimator), (PolicyKind::Tianwang, Some(half_count)));
        assert!((tianwang.options.estimator.prior.belief().mean() - 0.1).abs() < 1e-12);
        assert_eq!((tianwang.name().as_str(), tianwang.preset_name()), ("tianwang+fill", Some("tianwang")));
        let changed = Contender::of_preset(Preset::Tianwang, &set("policy.new_page_share", "0.4")).expect("a system");
        assert_eq!(changed.options.policy, PolicyOptions { new_page_share: 0.4, ..tianwang.options.policy });
    }

    #[test]
    fn what_is_not_set_is_as_in_the_running_system() {
        assert_eq!(Options::from_settings(&[]).expect("the defaults"), Options::default());
        let prior = Options::from_settings(&set("estimator.prior_beta_days", "4")).expect("a prior").estimator.prior;
        assert!((prior.belief().mean() - 0.1).abs() < 1e-12);
    }

    #[test]
    fn systems_and_settings_without_meaning_here_are_refused_with_the_next_step() {
        let names: Vec<_> = Contender::presets().map(Preset::name).collect();
        assert_eq!(names, ["tianwang", "chile", "webfountain", "site-rank", "classified"]);
        let refused = Contender::of_preset(Preset::SkyReach, &[]).expect_err("has no words").to_string();
        assert!(refused.contains("skyreach") && refused.contains("recrawl simulate focus"), "{refused}");
        for (key, value, words) in [
            ("policy.name", "live", "their own arguments"),
            ("fetch.timeout", "1s", "policy and estimator"),
            ("policy.thet", "1", "policy.theta"),
            ("estimator.prior_alpha", "-1", "prior_alpha"),
        ] {
            let refused = Options::from_settings(&set(key, value)).expect_err("is refused").to_string();
            assert!(refused.contains(words), "{refused}");
        }
    }
}
