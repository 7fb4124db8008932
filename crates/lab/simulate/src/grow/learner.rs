//! The estimator's part of the loop: it learns from looks, and the model of sweeps sends its forecasts to the frontier.

use crate::error::SimulationError;
use crate::learner::{CatalogueLearner, Learner};
use change_rate::{EstimatorChoice, EstimatorOptions, GammaPrior, LookOutcome};
use messages::{ChangeBelief, SweepForecast};
use page::{CanonicalUrl, SiteKey, Timestamp};
use settings::Estimator;
use std::collections::BTreeMap;
use sweeps::{OwnEvidence, PagePlace, SweepModel, rules};

/// Learns change rates as the estimator of the settings does.
pub(super) enum GrowthLearner {
    /// With the sweeps of sites.
    Sweeps(Box<SweepLearner>),
    /// Each page separately, with the observations and changes of each.
    Catalogue(CatalogueLearner, Vec<(i64, i64)>),
}

impl GrowthLearner {
    pub(super) fn new(estimator: &Estimator, pages: usize, now: Timestamp) -> Result<Self, SimulationError> {
        let choice = EstimatorChoice::parse(&estimator.name);
        let Some(EstimatorChoice::Catalogue(kind)) = choice else {
            return Ok(Self::Sweeps(Box::new(SweepLearner::new(pages, now))));
        };
        let invalid = |fault: &dyn std::fmt::Display| SimulationError::Combination(fault.to_string());
        let prior =
            GammaPrior::new(estimator.prior_alpha, estimator.prior_beta_days).map_err(|fault| invalid(&fault))?;
        let options = EstimatorOptions { prior, forgetting_days: estimator.forgetting_days };
        Ok(Self::Catalogue(CatalogueLearner::new(kind, pages, options)?, vec![(0, 0); pages]))
    }

    /// Takes in a look at a page, compared with the one before, if there was one. Returns the belief.
    pub(super) fn look(
        &mut self,
        page: usize,
        url: &CanonicalUrl,
        compared: Option<(Timestamp, LookOutcome)>,
        now: Timestamp,
    ) -> ChangeBelief {
        match self {
            Self::Sweeps(learner) => learner.look(page, url, compared, now),
            Self::Catalogue(learner, counts) => {
                let mut belief = learner.belief(page);
                if let Some((since, outcome)) = compared {
                    belief = learner.look(page, now.days_since(since), outcome);
                    counts[page].0 += 1;
                    counts[page].1 += i64::from(outcome.is_change());
                }
                let (observations, changes) = counts[page];
                ChangeBelief { observations, changes, ..ChangeBelief::new(belief.alpha(), belief.beta_days()) }
            }
        }
    }

    /// Forecasts that the frontier needs before its tick; none without the model of sweeps.
    pub(super) fn forecasts(&mut self, now: Timestamp) -> Vec<SweepForecast> {
        match self {
            Self::Sweeps(learner) => learner.forecasts(now),
            Self::Catalogue(..) => Vec::new(),
        }
    }
}

/// The evidence on one page: its looks, and how many of them found a change.
#[derive(Clone, Copy, Debug, Default)]
struct Learned {
    evidence: OwnEvidence,
    observations: i64,
    changes: i64,
}

/// Learns with the model of sweeps.
pub(super) struct SweepLearner {
    model: SweepModel,
    pages: Vec<Option<Learned>>,
    /// Sites by hash.
    sites: BTreeMap<u64, SiteKey>,
}

impl SweepLearner {
    fn new(pages: usize, now: Timestamp) -> Self {
        Self { model: SweepModel::starting_at(now.as_days()), pages: vec![None; pages], sites: BTreeMap::new() }
    }

    fn look(
        &mut self,
        page: usize,
        url: &CanonicalUrl,
        compared: Option<(Timestamp, LookOutcome)>,
        now: Timestamp,
    ) -> ChangeBelief {
        let place = PagePlace::of(url.site_key().as_str(), url.host().as_str(), url.path());
        if self.pages[page].is_none() {
            self.model.insert(&place);
            self.sites.entry(place.site).or_insert_with(|| url.site_key());
        }
        let learned = self.pages[page].get_or_insert_with(Learned::default);
        if let Some((since, outcome)) = compared {
            self.model.look(&place, &mut learned.evidence, since.as_days(), now.as_days(), outcome);
            learned.observations += 1;
            learned.changes += i64::from(outcome.is_change());
        }
        let OwnEvidence { own, plain } = learned.evidence;
        let whole = self.model.outlook().priors(place.cell).plain(&learned.evidence);
        ChangeBelief {
            observations: learned.observations,
            changes: learned.changes,
            own_alpha: own.delta_alpha,
            own_beta_days: own.delta_beta_days,
            plain_alpha: plain.delta_alpha,
            plain_beta_days: plain.delta_beta_days,
            ..ChangeBelief::new(whole.alpha(), whole.beta_days())
        }
    }

    /// Advances to the day of `now`. Returns what has changed, site by site.
    fn forecasts(&mut self, now: Timestamp) -> Vec<SweepForecast> {
        while self.model.today() < now.as_days().floor() as i32 {
            let tomorrow = self.model.today() + 1;
            self.model.advance(f64::from(tomorrow), rules::SETTLED_BINS);
        }
        let changes = self.model.take_significant_changes();
        let mut forecasts: BTreeMap<u64, SweepForecast> = BTreeMap::new();
        let mut of = |site: u64, add: &mut dyn FnMut(&mut SweepForecast)| {
            let Some(site_key) = self.sites.get(&site).cloned() else { return };
            let new = || SweepForecast { site_key, made_at: now, lead: None, groups: Vec::new(), cells: Vec::new() };
            add(forecasts.entry(site).or_insert_with(new));
        };
        for change in changes.sites {
            of(change.site, &mut |forecast| forecast.lead = Some(change.lead));
        }
        for change in changes.cells {
            of(change.site, &mut |forecast| forecast.cells.push(change));
        }
        for change in changes.groups {
            of(change.site, &mut |forecast| forecast.groups.push(change.clone()));
        }
        forecasts.into_values().collect()
    }
}
