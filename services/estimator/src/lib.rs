//! How often does this page change, and when do pages change together?
//!
//! Adds each observation to the belief about its page and its siblings, and sends the scheduler the page's change rate
//! ([`messages::ChangeEstimate`]), and when groups of pages were or will be swept ([`messages::SweepForecast`]). What
//! the scheduler needs of the fetch itself (validators, digest, latency) travels along.
//!
//! It never decides when to fetch, and never looks at content: its only input is "changed or not, over how long, and how
//! much", and the dates that are claimed for a page ([`DatesOfHost`] counts how often they were right).

mod dates;
mod groups;
mod others;
mod rate_learner;
mod state;
mod sweep_learner;
mod sweep_state;

pub use crate::state::{
    DatesOfHost, GROUPS, GroupBelief, GroupKey, HOSTS, PAGES, PageBelief, SWEEPS, SweepKey, SweepRecord,
};
pub use crate::sweep_state::{SweepCell, SweepDay, SweepGroup, SweepSite, SweepSize};

use crate::rate_learner::RateLearner;
use crate::sweep_learner::{SweepLearner, SweepLook};
use change_rate::{EstimatorChoice, EstimatorOptions, ExtentPrior, GammaPrior, LookOutcome, RateEstimator};
use messages::topics::{ANSWERS, PAGE_OBSERVATIONS, SCHEDULER_EVENTS};
use messages::{
    ChangeBelief, ChangeEstimate, EstimatorEvent, LookJudgement, PageObservation, PageRemoval, Question, QuestionDesk,
    QuestionKind, Verdict,
};
use metrics::{Figure, estimator as figure};
use page::Timestamp;
use settings::Settings;
use stream::{Context, InputRecord, ProcessError, Processor, StageSpec, StageTopology, StageWork};
use topology::LogNames;

/// The topics and tables of the stage.
pub fn topology() -> StageTopology {
    let tables =
        StageTopology::new("estimator", PAGE_OBSERVATIONS).keeps(PAGES).keeps(GROUPS).keeps(SWEEPS).keeps(HOSTS);
    tables.writes(SCHEDULER_EVENTS).writes(ANSWERS)
}

/// The stage, ready to run.
pub fn stage(settings: &Settings, names: &LogNames) -> StageSpec {
    let rates = rates(settings);
    let work = StageWork::Processors(Box::new(move |_| Box::new(Estimator::new(rates.clone()))));
    // Announcements of a new day should not wait for the next observation.
    names.stage(&topology(), page::HOUR, work)
}

/// The estimator chosen in the settings, which are already checked, and its options.
pub fn chosen(settings: &Settings) -> (EstimatorChoice, EstimatorOptions) {
    let estimator = &settings.estimator;
    let choice = EstimatorChoice::parse(&estimator.name).expect("the name was checked when the settings were loaded");
    let prior = GammaPrior::new(estimator.prior_alpha, estimator.prior_beta_days);
    let prior = prior.expect("the settings allow positive numbers only");
    (choice, EstimatorOptions { prior, forgetting_days: estimator.forgetting_days })
}

/// The rate estimator chosen in the settings; `None` for `sweeps`, which has its own model.
fn rates(settings: &Settings) -> Option<RateEstimator> {
    let (EstimatorChoice::Catalogue(kind), options) = chosen(settings) else { return None };
    Some(RateEstimator::new(kind, options).expect("the settings allow positive numbers only"))
}

/// One partition of the estimator.
pub struct Estimator {
    rates: Option<RateEstimator>,
    learner: Option<PartitionLearner>,
    observations: u64,
    changes: u64,
    questions: QuestionDesk,
}

enum PartitionLearner {
    Sweeps(Box<SweepLearner>),
    Rates(Box<RateLearner>),
}

impl Estimator {
    /// An estimator that learns with `rates`, or by sweeps if there is none. [`Processor::restored`] loads its state.
    pub fn new(rates: Option<RateEstimator>) -> Self {
        Self { rates, learner: None, observations: 0, changes: 0, questions: QuestionDesk::default() }
    }

    fn answer(&mut self, question: &Question, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let task = context.task();
        let answer = self.questions.open(question, &task.stage, task.partition, context.now());
        let Some(mut answer) = answer else { return Ok(()) };
        match (question.about, &question.url) {
            (QuestionKind::Page, Some(url)) => {
                answer.add(PAGES.name(), context.get(PAGES, &url.page_id())?.as_ref());
            }
            (QuestionKind::Figures, _) => {
                answer.set_figures(&self.figures()).map_err(ProcessError::SetAside)?;
            }
            _ => return Err(ProcessError::SetAside(QuestionDesk::refusal(question))),
        }
        context.emit(ANSWERS, answer);
        Ok(())
    }

    /// Deletes a page, and what only it kept.
    fn remove(&mut self, removal: PageRemoval, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let (url, id) = (&removal.url, removal.url.page_id());
        if let Some(mut belief) = context.get(PAGES, &id)? {
            dates::remove(url, &belief, context)?;
            others::leave(url, &mut belief, self.name(), context)?;
            match self.learner() {
                PartitionLearner::Sweeps(learner) => learner.remove(url, &belief),
                PartitionLearner::Rates(learner) => learner.remove(url, &belief, context),
            }
            context.delete(PAGES, &id);
        }
        context.emit(SCHEDULER_EVENTS, removal);
        Ok(())
    }

    /// The name of the estimator in use.
    fn name(&self) -> &'static str {
        self.rates.as_ref().map_or(sweep_learner::NAME, |rates| rates.kind().name())
    }

    fn learner(&mut self) -> &mut PartitionLearner {
        self.learner.as_mut().expect("a processor is told that it is restored before anything else")
    }
}

impl Processor for Estimator {
    fn restored(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        self.learner = Some(match &self.rates {
            Some(rates) => PartitionLearner::Rates(Box::new(RateLearner::load(rates.clone(), context)?)),
            None => PartitionLearner::Sweeps(Box::new(SweepLearner::load(context)?)),
        });
        Ok(())
    }

    fn process(&mut self, record: &InputRecord, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let seen = match record.read(PAGE_OBSERVATIONS)? {
            EstimatorEvent::Observation(seen) => seen,
            EstimatorEvent::Removal(removal) => return self.remove(removal, context),
            EstimatorEvent::Question(question) => return self.answer(&question, context),
        };
        let mut belief = context.get(PAGES, &seen.look.page_id)?.unwrap_or_default();
        belief.fetches += i64::from(seen.look.is_fetch());
        let changed_at = dates::believed(&seen, &mut belief, context)?;
        let look = match (outcome_of(&seen, changed_at), seen.judgement.previous_fetched_at) {
            (Some(outcome), Some(previous)) => Some((previous, seen.look.fetched_at, outcome)),
            _ => None,
        };
        if let Some((_, _, outcome)) = look {
            belief.observations += 1;
            belief.changes += i64::from(outcome.is_change());
            self.observations += 1;
            self.changes += u64::from(outcome.is_change());
        }
        others::leave(&seen.look.url, &mut belief, self.name(), context)?;
        let extent = look.and_then(|_| extent_of(&seen.judgement));
        let (posterior, extents) = match self.learner() {
            PartitionLearner::Sweeps(learner) => {
                learner.advance(context.now());
                let first = changed_at.filter(|_| seen.judgement.verdict == Verdict::First);
                let look = match (look, first) {
                    (Some((from, to, outcome)), _) => Some(SweepLook::Later { from, to, outcome }),
                    (None, Some(changed_at)) => Some(SweepLook::First { at: seen.look.fetched_at, changed_at }),
                    (None, None) => None,
                };
                learner.observe(&seen.look.url, &mut belief, look, extent)
            }
            PartitionLearner::Rates(learner) => {
                let look = look.map(|(from, to, outcome)| (to.days_since(from).max(0.0), outcome));
                (learner.observe(&seen.look.url, &mut belief, look, context), ExtentPrior::default())
            }
        };
        belief.observe_extent(extent);
        let mean_extent = extents.mean_after(&belief.extents());
        context.put(PAGES, &seen.look.page_id, &belief);
        let belief = ChangeBelief {
            alpha: posterior.alpha(),
            beta_days: posterior.beta_days(),
            observations: belief.observations,
            changes: belief.changes,
            own_alpha: belief.own_alpha,
            own_beta_days: belief.own_beta_days,
            plain_alpha: belief.delta_alpha,
            plain_beta_days: belief.delta_beta_days,
            mean_extent: mean_extent as f32,
        };
        let estimate = ChangeEstimate { look: seen.look, judgement: seen.judgement, belief };
        context.emit(SCHEDULER_EVENTS, estimate);
        Ok(())
    }

    fn punctuate(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        match self.learner() {
            PartitionLearner::Sweeps(learner) => learner.advance(context.now()),
            PartitionLearner::Rates(learner) => learner.report(context),
        }
        Ok(())
    }

    fn flush(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        if let PartitionLearner::Sweeps(learner) = self.learner() {
            learner.flush(context);
        }
        Ok(())
    }

    fn figures(&self) -> Vec<Figure> {
        let groups = self.learner.as_ref().map_or(0, |learner| match learner {
            PartitionLearner::Sweeps(learner) => learner.groups(),
            PartitionLearner::Rates(learner) => learner.groups(),
        });
        let own = [
            (figure::OBSERVATIONS, self.observations as f64),
            (figure::CHANGES, self.changes as f64),
            (figure::GROUPS, groups as f64),
        ];
        own.into_iter().chain(self.questions.figures()).collect()
    }
}

/// The evidence of an observation about the change process, if it has any. `changed_at` is the time of the page's last
/// change, if it is known.
fn outcome_of(seen: &PageObservation, changed_at: Option<Timestamp>) -> Option<LookOutcome> {
    match seen.judgement.verdict {
        // A difference that no reader notices is no change: counting it would spend the budget on noise.
        Verdict::Unchanged | Verdict::Cosmetic => Some(LookOutcome::Unchanged),
        Verdict::Minor | Verdict::Major => {
            let since =
                changed_at.filter(|at| seen.judgement.previous_fetched_at.is_none_or(|previous| previous < *at));
            Some(since.map_or(LookOutcome::Changed, |at| LookOutcome::ChangedAt {
                age_days: seen.look.fetched_at.days_since(at),
            }))
        }
        Verdict::Gone | Verdict::Returned => Some(LookOutcome::Changed),
        Verdict::First | Verdict::Missing | Verdict::Unknown | Verdict::Unwatched | Verdict::Watched => None,
        Verdict::Obscured | Verdict::Redirected | Verdict::Forgotten | Verdict::Failed => None,
    }
}

/// The extent of the change that a look found, if it found one. A page that is gone or back has changed wholly, whatever its
/// text.
fn extent_of(judgement: &LookJudgement) -> Option<f64> {
    match judgement.verdict {
        Verdict::Gone | Verdict::Returned => Some(1.0),
        verdict => (verdict.is_change() == Some(true)).then_some(judgement.magnitude),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_estimator_of_the_settings_can_be_made() {
        for (name, estimator) in EstimatorChoice::for_operators() {
            let mut settings = Settings::default();
            settings.estimator.name = estimator.name().to_owned();
            let made = rates(&settings).map(|rates| rates.kind().name());
            assert_eq!(made, (name != "sweeps").then_some(name));
        }
    }
}
