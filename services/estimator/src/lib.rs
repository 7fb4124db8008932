//! How often does this page change?
//!
//! Takes one observation at a time into the page's belief ([`change_rate::GammaFilter`]), whose prior is learned from the
//! page's site and directory, and tells the scheduler. What
//! the scheduler needs of the look itself (validators, digest, latency) travels along.
//!
//! It never decides when to fetch, and never looks at content: "changed or not, over how long" is all it hears.

mod groups;
mod state;

pub use crate::state::{GROUPS, GroupBelief, PAGES, PageBelief};

use crate::groups::Groups;

use change_rate::{ChangeRateEstimator, GammaFilter, GammaPrior, GammaState, Outcome};
use messages::{ChangeEstimate, Message, PageObservation, Verdict, topics};
use page::Timestamp;
use settings::Settings;
use stream::{Context, InputRecord, OutputId, ProcessError, Processor, StageSpec};
use topology::Names;

const SCHEDULER_EVENTS: OutputId = OutputId(0);

/// The stage as data.
pub fn stage(settings: &Settings, names: &Names) -> StageSpec {
    let filter = filter(settings);
    StageSpec {
        name: "estimator".to_owned(),
        group: names.group("estimator"),
        input: names.topic(topics::PAGE_OBSERVATIONS).into(),
        outputs: vec![names.topic(topics::SCHEDULER_EVENTS)],
        stores: names.stores("estimator", &["pages", "groups"]),
        broadcast: None,
        dead_letters: names.dead_letters(),
        punctuate_every: page::DAY,
        processor: Box::new(move |_| Box::new(Estimator::new(filter))),
    }
}

/// The filter that the settings ask for.
pub fn filter(settings: &Settings) -> GammaFilter {
    let estimator = &settings.estimator;
    let prior = GammaPrior::new(estimator.prior_alpha, estimator.prior_beta_days);
    prior
        .and_then(|prior| GammaFilter::new(prior, estimator.forgetting_days))
        .expect("the settings allow positive numbers only")
}

/// One partition of the estimator.
pub struct Estimator {
    filter: GammaFilter,
    groups: Groups,
    observations: u64,
    changes: u64,
}

impl Estimator {
    /// An estimator with this filter.
    pub fn new(filter: GammaFilter) -> Self {
        Self { filter, groups: Groups::default(), observations: 0, changes: 0 }
    }
}

impl Processor for Estimator {
    fn restored(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        self.groups = Groups::load(context)?;
        Ok(())
    }

    fn process(&mut self, record: &InputRecord, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let Some(value) = &record.value else {
            return Err(ProcessError::SetAside("a tombstone is no observation".to_owned()));
        };
        let seen = PageObservation::decode(value).map_err(|error| ProcessError::SetAside(error.to_string()))?;
        let mut belief = match context.get(PAGES, &seen.page_id.0)? {
            Some(bytes) => PageBelief::decode(&bytes)
                .map_err(|error| ProcessError::Stop(format!("page {} in the state store: {error}", seen.page_id)))?,
            None => PageBelief::default(),
        };
        belief.fetches += 1;
        let before = GammaState { delta_alpha: belief.delta_alpha, delta_beta_days: belief.delta_beta_days };
        let mut state = before;
        let keys = groups::keys_of(&seen.url);
        let filter = self.filter.with_prior(self.groups.prior(self.filter.prior(), &keys));
        if let (Some(outcome), Some(previous)) = (outcome_of(seen.verdict), seen.previous_fetched_at) {
            filter.update(&mut state, seen.fetched_at.days_since(previous).max(0.0), outcome);
            self.groups.learn(&keys, &before, &state, context);
            belief.observations += 1;
            belief.changes += i64::from(outcome.is_change());
            self.observations += 1;
            self.changes += u64::from(outcome.is_change());
        }
        (belief.delta_alpha, belief.delta_beta_days) = (state.delta_alpha, state.delta_beta_days);
        context.put(PAGES, seen.page_id.0, belief.encode());
        let posterior = filter.posterior(&state);
        let estimate = ChangeEstimate {
            page_id: seen.page_id,
            url: seen.url,
            site_key: seen.site_key,
            attempt: seen.attempt,
            outcome: seen.outcome,
            status: seen.status,
            fetched_at: seen.fetched_at,
            verdict: seen.verdict,
            alpha: posterior.alpha(),
            beta_days: posterior.beta_days(),
            change_rate_per_day: posterior.mean(),
            observations: belief.observations,
            changes: belief.changes,
            etag: seen.etag,
            last_modified: seen.last_modified,
            content_digest: seen.content_digest,
            body_length: seen.body_length,
            latency_ms: seen.latency_ms,
            retry_after_s: seen.retry_after_s,
            robots_crawl_delay_ms: seen.robots_crawl_delay_ms,
        };
        context.emit(SCHEDULER_EVENTS, estimate.site_key.as_str(), estimate.encode());
        Ok(())
    }

    fn figures(&self, _now: Timestamp) -> Vec<(&'static str, f64)> {
        vec![
            ("observations_total", self.observations as f64),
            ("changes_total", self.changes as f64),
            ("groups", self.groups.len() as f64),
        ]
    }
}

/// What a verdict says about the change process; `None` when it says nothing.
fn outcome_of(verdict: Verdict) -> Option<Outcome> {
    match verdict {
        // What no reader notices is no change: counting it would spend the budget on noise.
        Verdict::Unchanged | Verdict::Cosmetic => Some(Outcome::Unchanged),
        Verdict::Minor | Verdict::Major | Verdict::Gone | Verdict::Returned => Some(Outcome::Changed),
        Verdict::First | Verdict::Unknown => None,
    }
}
