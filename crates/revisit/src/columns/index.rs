//! The value of a fetch.

use super::entry::{NEVER_FETCHED, PageRecord};
use super::{PageColumns, Slot};
use change_rate::{Gamma, GammaState, exp_minus, ln_1p_ratio};
use page::Timestamp;
use sweeps::{Outlook, OwnEvidence};

/// The score by which pages compete for fetches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Index {
    /// Days since the last look. The baseline of every comparison.
    Uniform,
    /// Weight × crawl value of the page's whole belief (Olston & Pandey 2008; C18 of the algorithm notes).
    CrawlValue {
        /// Share of the harmonic penalty in the objective, 0..=1.
        theta: f64,
    },
    /// Weight × crawl value with sweeps, plus the value of a first look into groups not looked into for long.
    Live {
        /// Share of the harmonic penalty in the objective, 0..=1.
        theta: f64,
        /// Weight of such first looks ([`sweeps::rules::SENTINEL_WEIGHT`]).
        sentinel_weight: f64,
    },
}

/// The live default, with the theta that abandons no page and costs nothing ([`crate::Policy::DEFAULT_THETA`]).
impl Default for Index {
    fn default() -> Self {
        Index::Live { theta: crate::Policy::DEFAULT_THETA, sentinel_weight: sweeps::rules::SENTINEL_WEIGHT }
    }
}

/// Converts a whole belief to the form that the columns keep for [`Index::CrawlValue`].
pub fn whole_belief(belief: Gamma) -> OwnEvidence {
    let narrow = |number: f64| (number as f32).clamp(f32::MIN_POSITIVE, f32::MAX);
    let own = GammaState { delta_alpha: narrow(belief.alpha()), delta_beta_days: narrow(belief.beta_days()) };
    OwnEvidence { own, plain: GammaState::default() }
}

/// The value of a fetch of one page, part by part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worth {
    /// Days since the last look.
    pub days: f64,
    /// The belief about the page's own changes.
    pub own: Gamma,
    /// The belief about all its changes, without sweeps.
    pub plain: Gamma,
    /// Summed sweep hazard of its groups since the last look.
    pub sweep_hazard: f64,
    /// Expected sweeps of the page per day from now on.
    pub sweeps_per_day: f64,
    /// Trust in sweeps at its site.
    pub trust: f64,
    /// Importance divided by cost.
    pub weight: f64,
    /// Weight × days of freshness that the page gains.
    pub value: f64,
    /// Additional value of a first look into its groups.
    pub sentinel_value: f64,
    /// Probability that the copy is still current.
    pub fresh_probability: f64,
}

/// The crawl value with sweeps, in days of freshness: a mixture of two beliefs, weighted by trust. With sweeps it is
/// P2(x) — at theta above 0 the mixed kernel — over the mean rate. Without sweeps it is the exact one of the Gamma
/// belief (B7 of the algorithm notes), which abandons no page that may be slow. On synthetic populations without
/// sweeps, this closes up to a tenth more of the gap between uniform and known rates; on recorded change times it is as
/// good.
#[inline]
pub fn live_value(
    own: Gamma,
    plain: Gamma,
    days: f64,
    sweep_hazard: f64,
    sweeps_per_day: f64,
    trust: f64,
    theta: f64,
) -> f64 {
    if days <= 0.0 {
        return 0.0;
    }
    let swept = kernel(hazard(own, days) + sweep_hazard, theta) / (own.mean() + sweeps_per_day);
    trust * swept + (1.0 - trust) * plain.crawl_value(days, theta)
}

/// Cap on the days of freshness that a first copy counts for.
const LONGEST_FIRST_DAYS: f64 = 30.0;
/// Under [`Index::Uniform`], pages never fetched come before all others.
pub(super) const BEFORE_ALL_DAYS: f64 = 1e9;

/// The value of a first copy per weight: the days that it is expected to stay current, and those that the page has
/// waited. So it competes with others, and none waits for ever (C5 of the algorithm notes, with a linear penalty as in
/// A5). After a month the wait counts by its logarithm only. Otherwise a flood of new pages, which must wait long, would
/// raise the price from day to day, until nothing else is fetched.
pub(super) fn first_copy_value(first_days: f64, waited_days: f64) -> f64 {
    let months = waited_days / LONGEST_FIRST_DAYS;
    first_days + if months <= 1.0 { waited_days } else { LONGEST_FIRST_DAYS * (1.0 + months.ln()) }
}

/// Days that a first copy is expected to stay current, from the change rates with sweeps and without.
pub(super) fn first_copy_days(swept_per_day: f64, plain_per_day: f64, trust: f64) -> f64 {
    let days = |rate: f64| rate.recip().min(LONGEST_FIRST_DAYS);
    trust * days(swept_per_day) + (1.0 - trust) * days(plain_per_day)
}

/// -ln of the probability of no change within `days`.
#[inline]
pub(super) fn hazard(belief: Gamma, days: f64) -> f64 {
    belief.alpha() * ln_1p_ratio(days, belief.beta_days())
}

/// (1 - theta) P2(x) + theta (x - 1 + e^-x), with one exponential.
#[inline]
pub(super) fn kernel(x: f64, theta: f64) -> f64 {
    if x < 0.03 {
        let square = x * x;
        let binary = square * (0.5 - x / 3.0 + square / 8.0);
        let harmonic = square * (0.5 - x / 6.0 + square / 24.0);
        binary + theta * (harmonic - binary)
    } else {
        let exp = exp_minus(x);
        let binary = 1.0 - (1.0 + x) * exp;
        binary + theta * (x - 1.0 + exp - binary)
    }
}

impl PageColumns {
    /// The value of a fetch now. `None` for an unknown page, or one never fetched.
    pub fn worth(&self, slot: Slot, index: &Index, outlook: &Outlook, now: Timestamp) -> Option<Worth> {
        let i = slot.index();
        self.get(slot)?;
        if self.flags[i] & NEVER_FETCHED != 0 {
            return None;
        }
        let now_days = now.as_days();
        let page = &self.pages[i];
        let days = (now_days - page.last_look_days()).max(0.0);
        let membership = &self.memberships.rows()[page.membership as usize];
        let priors = self.priors(membership, outlook);
        let weight = f64::from(page.weight);
        let value = self.value(i, index, outlook, now_days);
        Some(match *index {
            Index::Live { sentinel_weight, .. } => {
                let (own, plain) = (priors.own(&page.belief), priors.plain(&page.belief));
                let (sweep_hazard, sweeps_per_day) = self.sweeps(page, outlook, now_days);
                let trust = self.trust(membership, outlook);
                let swept = own.fresh_probability(days) * (-sweep_hazard).exp();
                let fresh_probability = trust * swept + (1.0 - trust) * plain.fresh_probability(days);
                let sentinel_value = sentinel_weight * self.sentinel(page.membership, outlook, now_days);
                Worth {
                    days,
                    own,
                    plain,
                    sweep_hazard,
                    sweeps_per_day,
                    trust,
                    weight,
                    value,
                    sentinel_value,
                    fresh_probability,
                }
            }
            _ => {
                let own = page.whole();
                Worth {
                    days,
                    own,
                    plain: own,
                    sweep_hazard: 0.0,
                    sweeps_per_day: 0.0,
                    trust: 0.0,
                    weight,
                    value,
                    sentinel_value: 0.0,
                    fresh_probability: own.fresh_probability(days),
                }
            }
        })
    }

    /// The value of the first fetch of a page never fetched. `None` for any other.
    pub fn first_copy_value(&self, slot: Slot, index: &Index, outlook: &Outlook, now: Timestamp) -> Option<f64> {
        self.get(slot)?;
        let never_fetched = self.flags[slot.index()] & NEVER_FETCHED != 0;
        never_fetched.then(|| self.value(slot.index(), index, outlook, now.as_days()))
    }

    /// The value of page `i` without that of a first look into its groups.
    pub(super) fn value(&self, i: usize, index: &Index, outlook: &Outlook, now_days: f64) -> f64 {
        let page = &self.pages[i];
        let days = (now_days - page.last_look_days()).max(0.0);
        let never_fetched = self.flags[i] & NEVER_FETCHED != 0;
        match *index {
            Index::Uniform if never_fetched => BEFORE_ALL_DAYS + days,
            Index::Uniform => days,
            Index::CrawlValue { .. } if never_fetched => {
                let rate = page.whole().mean();
                f64::from(page.weight) * first_copy_value(first_copy_days(rate, rate, 0.0), days)
            }
            Index::CrawlValue { theta } => f64::from(page.weight) * page.whole().crawl_value(days, theta),
            Index::Live { theta, .. } => {
                let membership = &self.memberships.rows()[page.membership as usize];
                let (priors, trust) = (self.priors(membership, outlook), self.trust(membership, outlook));
                let (sweep_hazard, sweeps_per_day) = self.sweeps(page, outlook, now_days);
                if never_fetched {
                    let nothing = OwnEvidence::default();
                    let (own, plain) = (priors.own(&nothing), priors.plain(&nothing));
                    let first_days = first_copy_days(own.mean() + sweeps_per_day, plain.mean(), trust);
                    return f64::from(page.weight) * first_copy_value(first_days, days);
                }
                let (own, plain) = (priors.own(&page.belief), priors.plain(&page.belief));
                f64::from(page.weight) * live_value(own, plain, days, sweep_hazard, sweeps_per_day, trust, theta)
            }
        }
    }

    /// Summed sweep hazard of a page since its last look, and per day from now on.
    fn sweeps(&self, page: &PageRecord, outlook: &Outlook, now_days: f64) -> (f64, f64) {
        let last_days = page.last_look_days();
        let (mut hazard, mut per_day) = (0.0, 0.0);
        for &group in self.memberships.rows()[page.membership as usize].groups() {
            if let Some(group) = outlook.group_at(self.memberships.groups()[group as usize].number) {
                hazard += group.hazard.between(last_days, now_days);
                per_day += group.hazard.per_day();
            }
        }
        (hazard, per_day)
    }

    /// Value of a first look into the groups of a membership. An unnoticed sweep makes more of their pages stale each
    /// day, so the value grows with the square of the silence (A5's linear penalty).
    pub(super) fn sentinel(&self, membership: u32, outlook: &Outlook, now_days: f64) -> f64 {
        let groups = self.memberships.rows()[membership as usize].groups().iter();
        groups.map(|group| self.group_sentinel(*group, outlook, now_days)).sum()
    }

    pub(super) fn group_sentinel(&self, group: u32, outlook: &Outlook, now_days: f64) -> f64 {
        let group = &self.memberships.groups()[group as usize];
        let since_days = group.silent_since_days();
        let silence_days = now_days - since_days;
        // Without a copy there is no freshness to keep.
        if silence_days <= 0.0 || silence_days.is_infinite() {
            return 0.0;
        }
        let hazard = outlook.group_at(group.number).map_or(0.0, |known| known.hazard.between(since_days, now_days));
        // Rounding may leave a tiny negative weight.
        0.5 * group.weight.max(0.0) * -(-hazard).exp_m1() * silence_days
    }
}
