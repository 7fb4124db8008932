//! The rate that makes the looks at a page, however irregular, most likely.
//!
//! With c changed looks of interval I each, k changes at known times and E days known to be without another:
//!
//! ```text
//! sum over changed looks of I / (e^(λ I) - 1)  +  k / λ  =  E
//! ```
//!
//! No change gives zero, and no day without one gives infinity, so in practice something is added to either side
//! ([`Regularisation`]). To solve it, both sides are multiplied by λ. Then the difference is convex and falls from c +
//! k. It is above zero at (c + k) / (E + half the changed intervals), where Newton's method starts.
//!
//! Source: Cho & Garcia-Molina, *Estimating frequency of change*, TOIT 2003, on irregular accesses; Kolobov et al.,
//! NeurIPS 2019, for the pseudo looks; B3 of the algorithm notes. Known times and counts are our extension.

use crate::estimator::{
    ChangeRateEstimator, LookOutcome, sane_age_days, sane_interval_days, sane_rate_per_day, sane_share,
};
use crate::filter::GammaPrior;
use crate::gamma::InvalidParameter;
use crate::intervals::{IntervalHistogram, zero_of_falling_convex};

/// Additional looks, so that a few real ones do not give an extreme rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Regularisation {
    /// Nothing: zero before the first change, at most ten changes a look while every look found one.
    None,
    /// Half a mean interval without change. For regular looks exactly the half counts of
    /// [`HalfCount`](crate::HalfCount), and their proper extension to irregular ones.
    #[default]
    HalfInterval,
    /// One changed and one unchanged look of this many days (Kolobov et al. use half a day).
    PseudoLooks {
        /// Length of each look.
        days: f64,
    },
    /// A prior Gamma belief with alpha of at least 1: the result is the most likely rate given both.
    Prior(GammaPrior),
}

/// Maximum likelihood for irregular looks; with a prior, the most likely rate a posteriori.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MaximumLikelihood {
    regularisation: Regularisation,
}

/// Statistics of the looks at one page that the likelihood needs: the changed intervals, by length, and sums.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LikelihoodState {
    /// Looks that found a change at an unknown time.
    pub changed: IntervalHistogram,
    /// Changes with a known time or number.
    pub known_changes: f32,
    /// Days known to be without a change other than the known ones.
    pub exposure_days: f32,
    pub looks: f32,
    pub watched_days: f32,
}

#[derive(Clone, Copy)]
struct LikelihoodSums {
    known_changes: f64,
    exposure_days: f64,
    looks: f64,
    watched_days: f64,
}

impl MaximumLikelihood {
    /// With [`Regularisation::HalfInterval`].
    pub const HALF_INTERVAL: Self = Self { regularisation: Regularisation::HalfInterval };

    pub fn new(regularisation: Regularisation) -> Result<Self, InvalidParameter> {
        match regularisation {
            Regularisation::PseudoLooks { days } => {
                InvalidParameter::check("days", days)?;
            }
            Regularisation::Prior(prior) if prior.alpha() < 1.0 => {
                return Err(InvalidParameter::new(
                    "alpha",
                    prior.alpha(),
                    "at least 1; otherwise the most likely rate is 0",
                ));
            }
            Regularisation::Prior(_) | Regularisation::None | Regularisation::HalfInterval => {}
        }
        Ok(Self { regularisation })
    }

    /// The exact rate from a list of looks (interval in days, outcome). Infinite where nothing bounds it, which only
    /// [`Regularisation::None`] allows.
    pub fn rate_of_looks(&self, looks: &[(f64, LookOutcome)]) -> f64 {
        let (changed, sums) = gather(looks);
        self.solve(changed.iter().copied(), sums)
    }

    /// One standard deviation of the rate from a list of looks, where `rate_per_day` is the most likely one: from the
    /// curvature of the likelihood. Infinite if no look found a change.
    pub fn standard_error_of_looks(&self, looks: &[(f64, LookOutcome)], rate_per_day: f64) -> f64 {
        let (changed, sums) = gather(looks);
        standard_error(changed.iter().copied(), sums.known_changes, rate_per_day)
    }

    fn solve(&self, changed: impl Iterator<Item = (f64, f64)> + Clone, mut sums: LikelihoodSums) -> f64 {
        let mut pseudo = None;
        match self.regularisation {
            Regularisation::None => {}
            Regularisation::HalfInterval if sums.looks > 0.0 => {
                sums.exposure_days += 0.5 * sums.watched_days / sums.looks;
            }
            Regularisation::HalfInterval => {}
            Regularisation::PseudoLooks { days } => {
                pseudo = Some((1.0, days));
                sums.exposure_days += days;
            }
            Regularisation::Prior(prior) => {
                sums.known_changes += prior.alpha() - 1.0;
                sums.exposure_days += prior.beta_days();
            }
        }
        likeliest(changed.chain(pseudo), sums.known_changes, sums.exposure_days)
    }
}

impl ChangeRateEstimator for MaximumLikelihood {
    type State = LikelihoodState;

    fn update(&self, state: &mut LikelihoodState, interval_days: f64, outcome: LookOutcome) {
        let interval_days = sane_interval_days(interval_days);
        state.looks += 1.0;
        state.watched_days += interval_days as f32;
        match contribution(interval_days, outcome) {
            Contribution::SomeChange => state.changed.add(interval_days),
            Contribution::Known { changes, exposure_days } => {
                state.known_changes += changes as f32;
                state.exposure_days += exposure_days as f32;
            }
        }
    }

    fn fade(&self, state: &mut LikelihoodState, kept: f64) {
        state.changed.fade(kept);
        let kept = sane_share(kept) as f32;
        state.known_changes *= kept;
        state.exposure_days *= kept;
        state.looks *= kept;
        state.watched_days *= kept;
    }

    /// Exact: the state of all looks together.
    fn merge(&self, state: &mut LikelihoodState, other: &LikelihoodState) {
        state.changed.merge(&other.changed);
        state.known_changes += other.known_changes;
        state.exposure_days += other.exposure_days;
        state.looks += other.looks;
        state.watched_days += other.watched_days;
    }

    fn change_rate_per_day(&self, state: &LikelihoodState) -> f64 {
        let sums = LikelihoodSums {
            known_changes: f64::from(state.known_changes),
            exposure_days: f64::from(state.exposure_days),
            looks: f64::from(state.looks),
            watched_days: f64::from(state.watched_days),
        };
        let rate = self.solve(state.changed.means(), sums);
        match self.regularisation {
            Regularisation::None => {
                sane_rate_per_day(rate.min(10.0 * (sums.looks + sums.known_changes) / sums.watched_days))
            }
            _ => sane_rate_per_day(rate),
        }
    }
}

/// Terms that one look adds to the equation.
enum Contribution {
    /// An interval, on the left side.
    SomeChange,
    /// Changes on the left side, days on the right.
    Known { changes: f64, exposure_days: f64 },
}

fn contribution(interval_days: f64, outcome: LookOutcome) -> Contribution {
    match outcome {
        LookOutcome::Changed => Contribution::SomeChange,
        LookOutcome::Unchanged => Contribution::Known { changes: 0.0, exposure_days: interval_days },
        LookOutcome::ChangedAt { age_days } => {
            Contribution::Known { changes: 1.0, exposure_days: sane_age_days(age_days, interval_days) }
        }
        LookOutcome::ChangeCount(count) => {
            Contribution::Known { changes: f64::from(count), exposure_days: interval_days }
        }
    }
}

fn gather(looks: &[(f64, LookOutcome)]) -> (Vec<(f64, f64)>, LikelihoodSums) {
    let mut changed = Vec::new();
    let mut sums =
        LikelihoodSums { known_changes: 0.0, exposure_days: 0.0, looks: looks.len() as f64, watched_days: 0.0 };
    for &(interval_days, outcome) in looks {
        let interval_days = sane_interval_days(interval_days);
        sums.watched_days += interval_days;
        match contribution(interval_days, outcome) {
            Contribution::SomeChange => changed.push((1.0, interval_days)),
            Contribution::Known { changes, exposure_days } => {
                sums.known_changes += changes;
                sums.exposure_days += exposure_days;
            }
        }
    }
    (changed, sums)
}

/// Solves the equation; `changed` gives number and interval.
fn likeliest(changed: impl Iterator<Item = (f64, f64)> + Clone, known_changes: f64, exposure_days: f64) -> f64 {
    let (count, days) = changed.clone().fold((0.0, 0.0), |(n, sum), (count, days)| (n + count, sum + count * days));
    let changes = count + known_changes;
    if changes <= 0.0 {
        return 0.0;
    }
    if exposure_days <= 0.0 {
        return f64::INFINITY;
    }
    zero_of_falling_convex(changes / (exposure_days + 0.5 * days), changes / exposure_days, |rate| {
        let start = (known_changes - rate * exposure_days, -exposure_days);
        changed.clone().fold(start, |(value, slope), (count, days)| {
            let (h, h_slope) = x_over_exp_m1(rate * days);
            (value + count * h, slope + count * days * h_slope)
        })
    })
}

/// x / (e^x - 1) and its slope.
fn x_over_exp_m1(x: f64) -> (f64, f64) {
    if x < 1e-4 {
        return (1.0 - x / 2.0 + x * x / 12.0, x / 6.0 - 0.5);
    }
    if x > 700.0 {
        return (0.0, 0.0);
    }
    let m1 = x.exp_m1();
    (x / m1, (1.0 - x - x / m1) / m1)
}

fn standard_error(changed: impl Iterator<Item = (f64, f64)>, known_changes: f64, rate_per_day: f64) -> f64 {
    // Times the rate squared, I² e^x / (e^x - 1)² is (x / (2 sinh (x / 2)))², which is 1 at 0.
    let information: f64 = changed
        .map(|(count, days)| {
            let half = 0.5 * rate_per_day * days;
            let ratio = if half < 1e-8 { 1.0 } else { half / half.sinh() };
            count * ratio * ratio
        })
        .sum();
    let information = information + known_changes;
    if information > 0.0 { rate_per_day / information.sqrt() } else { f64::INFINITY }
}
