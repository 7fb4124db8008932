//! Learns the change rate of each page with any estimator of the catalogue. One of them learns its prior from the
//! page's groups.

use crate::groups::{self, PartitionGroups};
use crate::state::PageBelief;
use change_rate::{EstimatorState, Gamma, GammaState, LookOutcome, RateEstimator};
use messages::SweepForecast;
use messages::topics::SCHEDULER_EVENTS;
use page::{CanonicalUrl, Timestamp};
use stream::{Context, ProcessError};
use sweeps::{CellChange, CellPriors, PagePlace};

/// The most cells per forecast: a record of 150 KB.
const CELLS_PER_FORECAST: usize = 5_000;

pub(crate) struct RateLearner {
    estimator: RateEstimator,
    /// The groups of pages, if the estimator learns from siblings.
    groups: Option<PartitionGroups>,
    /// The day (UTC, since 1970) on which the priors learned from siblings were last sent to the scheduler.
    reported_on_day: i64,
}

impl RateLearner {
    pub(crate) fn load(estimator: RateEstimator, context: &Context<'_>) -> Result<Self, ProcessError> {
        let groups = estimator.kind().learns_from_siblings().then(|| PartitionGroups::load(context)).transpose()?;
        Ok(Self { estimator, groups, reported_on_day: day_of(context.now()) })
    }

    /// Number of known groups.
    pub(crate) fn groups(&self) -> usize {
        self.groups.as_ref().map_or(0, PartitionGroups::len)
    }

    /// Processes an observation of a page. `look` is the days since the previous fetch and the outcome, if the
    /// observation is evidence. Returns the belief about the page's change rate.
    pub(crate) fn observe(
        &mut self,
        url: &CanonicalUrl,
        belief: &mut PageBelief,
        look: Option<(f64, LookOutcome)>,
        context: &mut Context<'_>,
    ) -> Gamma {
        let keys = groups::keys_of(url);
        let operators = self.estimator.prior();
        let name = self.estimator.kind().name();
        let prior = self.groups.as_mut().map_or(operators, |groups| {
            if belief.estimator != name {
                name.clone_into(&mut belief.estimator);
                belief.numbers.clear();
                groups.add(&keys, context);
            }
            groups.touch(&keys, &url.site_key());
            groups.prior(operators, &keys)
        });
        let mut state = self.state(belief);
        if let Some((interval_days, outcome)) = look {
            // Ages go to the estimators that use them.
            let outcome = match outcome {
                LookOutcome::ChangedAt { .. } if !self.estimator.kind().reads_ages() => LookOutcome::Changed,
                outcome => outcome,
            };
            let before = state.evidence();
            self.estimator.update_from(prior, &mut state, interval_days, outcome);
            if let (Some(groups), Some(before), Some(after)) = (&mut self.groups, before, state.evidence()) {
                groups.learn(&keys, &before, &after, context);
            }
            match state.evidence() {
                Some(evidence) => {
                    (belief.delta_alpha, belief.delta_beta_days) = (evidence.delta_alpha, evidence.delta_beta_days);
                }
                None => {
                    name.clone_into(&mut belief.estimator);
                    belief.numbers = state.to_numbers();
                }
            }
        }
        self.estimator.belief_from(prior, &state)
    }

    /// Takes a removed page out of its groups. What is without pages then is deleted, here and in the scheduler.
    pub(crate) fn remove(&mut self, url: &CanonicalUrl, belief: &PageBelief, context: &mut Context<'_>) {
        let Some(groups) = self.groups.as_mut().filter(|_| belief.estimator == self.estimator.kind().name()) else {
            return;
        };
        if let Some(cell) = groups.remove(&groups::keys_of(url), context) {
            let gone = vec![cell.cast_signed()];
            context.emit(SCHEDULER_EVENTS, SweepForecast { gone, ..SweepForecast::new(url.site_key(), context.now()) });
        }
    }

    /// On a new day, sends the scheduler the priors that have moved through observations of sibling pages.
    pub(crate) fn report(&mut self, context: &mut Context<'_>) {
        let (made_at, today) = (context.now(), day_of(context.now()));
        let Some(groups) = self.groups.as_mut().filter(|_| today > self.reported_on_day) else { return };
        self.reported_on_day = today;
        for moved in groups.moved(self.estimator.prior()) {
            let site = PagePlace::of(moved.site.as_str(), "", "/").site;
            for cells in moved.cells.chunks(CELLS_PER_FORECAST) {
                let forecast_of = |&(cell, beta_days): &(u64, f64)| CellChange {
                    cell,
                    site,
                    priors: CellPriors { own_beta_days: beta_days, plain_beta_days: beta_days },
                };
                let forecast = SweepForecast {
                    cells: cells.iter().map(forecast_of).collect(),
                    ..SweepForecast::new(moved.site.clone(), made_at)
                };
                context.emit(SCHEDULER_EVENTS, forecast);
            }
        }
    }

    /// The stored state for this estimator. Numbers stored by another estimator are ignored.
    fn state(&self, belief: &PageBelief) -> EstimatorState {
        let kind = self.estimator.kind();
        let evidence = GammaState { delta_alpha: belief.delta_alpha, delta_beta_days: belief.delta_beta_days };
        let numbers = if kind.keeps_evidence() {
            vec![evidence.delta_alpha, evidence.delta_beta_days]
        } else if belief.estimator == kind.name() {
            belief.numbers.clone()
        } else {
            return self.estimator.start();
        };
        EstimatorState::from_numbers(kind, &numbers).unwrap_or_else(|_| self.estimator.start())
    }
}

fn day_of(at: Timestamp) -> i64 {
    at.as_days().floor() as i64
}
