//! The estimator's part of the loop: the model of sweeps learns from the looks and tells the frontier its forecasts.

use messages::{ChangeBelief, SweepForecast};
use page::{CanonicalUrl, SiteKey, Timestamp};
use std::collections::BTreeMap;
use sweeps::{OwnEvidence, PagePlace, SweepModel, rules};

/// What is learned of one page.
#[derive(Clone, Copy, Debug, Default)]
struct Learned {
    evidence: OwnEvidence,
    observations: i64,
    changes: i64,
}

/// Learns change rates as the estimator does with `estimator.name = "sweeps"`.
pub(super) struct Learner {
    model: SweepModel,
    pages: Vec<Option<Learned>>,
    /// Sites by hash.
    sites: BTreeMap<u64, SiteKey>,
}

impl Learner {
    pub(super) fn new(pages: usize, now: Timestamp) -> Self {
        Self { model: SweepModel::starting_at(now.as_days()), pages: vec![None; pages], sites: BTreeMap::new() }
    }

    /// Takes in a look at a page and returns the belief. `compared` is the time of the look before, and whether the page has
    /// changed since.
    pub(super) fn look(
        &mut self,
        page: usize,
        url: &CanonicalUrl,
        compared: Option<(Timestamp, bool)>,
        now: Timestamp,
    ) -> ChangeBelief {
        let place = PagePlace::of(url.site_key().as_str(), url.host().as_str(), url.path());
        if self.pages[page].is_none() {
            self.model.insert(&place);
            self.sites.entry(place.site).or_insert_with(|| url.site_key());
        }
        let learned = self.pages[page].get_or_insert_with(Learned::default);
        if let Some((since, changed)) = compared {
            let outcome = if changed { change_rate::LookOutcome::Changed } else { change_rate::LookOutcome::Unchanged };
            self.model.look(&place, &mut learned.evidence, since.as_days(), now.as_days(), outcome);
            learned.observations += 1;
            learned.changes += i64::from(changed);
        }
        let OwnEvidence { own, plain } = learned.evidence;
        let whole = self.model.outlook().priors(place.cell).plain(&learned.evidence);
        ChangeBelief {
            alpha: whole.alpha(),
            beta_days: whole.beta_days(),
            observations: learned.observations,
            changes: learned.changes,
            own_alpha: own.delta_alpha,
            own_beta_days: own.delta_beta_days,
            plain_alpha: plain.delta_alpha,
            plain_beta_days: plain.delta_beta_days,
        }
    }

    /// Advances to the day of `now`, and returns what the frontier must know, site by site.
    pub(super) fn forecasts(&mut self, now: Timestamp) -> Vec<SweepForecast> {
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
