//! B12: bias and root mean square error of the estimators, as multiples of the true rate.

mod measured;

use self::measured::{EXPONENTIAL, REGULAR};
use super::row::Measurements;
use super::{Effort, ReproductionRow};
use crate::streams::{Draws, RandomStream};
use change_rate::{
    ChangeRateEstimator, CheckCounts, Gamma, GammaPrior, HalfCount, LastModified, LawOfLargeNumbers, LookOutcome,
    MaximumLikelihood, MomentMatching, NaiveRatio, RateClasses, Regularisation, StochasticApproximation,
};

/// Interval, and what was seen after it.
type TimedOutcome = (f64, LookOutcome);

/// An estimator with the parameters of the measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
enum EstimatorContestant {
    Naive,
    HalfCount,
    /// Maximum likelihood, at most ten changes per mean interval.
    Likeliest,
    /// The same with a prior of 1 in half a mean interval.
    LikeliestWithPrior,
    /// Moment matching, at most ten changes per mean interval.
    Moments,
    /// Maximum likelihood with two looks of half an interval.
    PseudoLooks,
    LargeNumbers,
    Approximation,
    /// 48 rates from .001 to 100, equally likely.
    Classes,
    /// Gamma filter from (1, 1), mean.
    GammaMean,
    /// Gamma filter from (1, ½), mode.
    GammaMode,
    LastModified,
    /// Gamma from (½, ½) with known times of the last change.
    LastModifiedGamma,
}

impl EstimatorContestant {
    fn name(self) -> &'static str {
        match self {
            EstimatorContestant::Naive => "naive ratio",
            EstimatorContestant::HalfCount => "half counts",
            EstimatorContestant::Likeliest => "maximum likelihood",
            EstimatorContestant::LikeliestWithPrior => "maximum likelihood, Gamma(1, .5)",
            EstimatorContestant::Moments => "moment matching",
            EstimatorContestant::PseudoLooks => "maximum likelihood, pseudo looks of .5",
            EstimatorContestant::LargeNumbers => "law of large numbers",
            EstimatorContestant::Approximation => "stochastic approximation",
            EstimatorContestant::Classes => "48 rate classes",
            EstimatorContestant::GammaMean => "Gamma filter from (1, 1), mean",
            EstimatorContestant::GammaMode => "Gamma filter from (1, .5), mode",
            EstimatorContestant::LastModified => "Last-Modified, corrected",
            EstimatorContestant::LastModifiedGamma => "Last-Modified, Gamma from (.5, .5)",
        }
    }

    /// Its name in the catalogue, where it has one.
    fn catalogue_name(self) -> Option<&'static str> {
        match self {
            EstimatorContestant::Naive => Some("naive"),
            EstimatorContestant::HalfCount => Some("half-count"),
            EstimatorContestant::Likeliest
            | EstimatorContestant::LikeliestWithPrior
            | EstimatorContestant::PseudoLooks => Some("maximum-likelihood"),
            EstimatorContestant::Moments => Some("moment-matching"),
            EstimatorContestant::LargeNumbers => Some("lln"),
            EstimatorContestant::Approximation => Some("stochastic-approximation"),
            EstimatorContestant::Classes => Some("bayes-classes"),
            EstimatorContestant::GammaMean => Some("gamma"),
            EstimatorContestant::LastModified => Some("last-modified"),
            EstimatorContestant::GammaMode | EstimatorContestant::LastModifiedGamma => None,
        }
    }

    /// Whether, after regular looks, only the number of changed ones matters.
    fn counts_only(self) -> bool {
        use EstimatorContestant as C;
        matches!(
            self,
            C::Naive | C::HalfCount | C::Likeliest | C::Moments | C::PseudoLooks | C::LargeNumbers | C::Classes
        )
    }

    /// The reference's number of replicates.
    fn reference_replicates(self, looks: usize) -> usize {
        match self {
            _ if looks < 50 => 20_000,
            EstimatorContestant::LikeliestWithPrior | EstimatorContestant::GammaMode => 6_000,
            _ => 8_000,
        }
    }
}

/// Estimators with their parameters, built once.
struct Estimators {
    likeliest: MaximumLikelihood,
    likeliest_with_prior: MaximumLikelihood,
    pseudo_looks: MaximumLikelihood,
    classes: RateClasses,
    flat: Gamma,
    vague: Gamma,
    weak: Gamma,
}

impl Estimators {
    fn new() -> Self {
        let gamma = |alpha, beta| Gamma::new(alpha, beta).expect("the parameters below are positive");
        let likelihood = |rule| MaximumLikelihood::new(rule).expect("the prior's alpha and the look's days fit");
        let prior = GammaPrior::new(1.0, 0.5).expect("positive");
        Self {
            likeliest: likelihood(Regularisation::None),
            likeliest_with_prior: likelihood(Regularisation::Prior(prior)),
            pseudo_looks: likelihood(Regularisation::PseudoLooks { days: 0.5 }),
            classes: RateClasses::log_spaced(48, 1e-3, 1e2, None).expect("48 rates ascend from .001 to 100"),
            flat: gamma(1.0, 1.0),
            vague: gamma(1.0, 0.5),
            weak: gamma(0.5, 0.5),
        }
    }

    /// The rate from these looks: interval, and age of the last change where it is within the interval.
    fn rate(&self, contestant: EstimatorContestant, looks: &[TimedOutcome], timed: &[TimedOutcome]) -> f64 {
        let filtered = |prior: Gamma, looks: &[TimedOutcome]| {
            looks.iter().fold(prior, |belief, &(interval, outcome)| belief.after(interval, outcome))
        };
        let mut counts = CheckCounts::default();
        looks.iter().for_each(|&(interval, outcome)| counts.add(interval, outcome));
        let (number, changed) = (f64::from(counts.looks), f64::from(counts.changed_looks));
        let look_rate = number / f64::from(counts.watched_days);
        match contestant {
            EstimatorContestant::Naive => NaiveRatio.change_rate_per_day(&counts),
            EstimatorContestant::HalfCount => HalfCount.change_rate_per_day(&counts),
            EstimatorContestant::Likeliest => self.likeliest.rate_of_looks(looks).min(10.0),
            EstimatorContestant::LikeliestWithPrior => self.likeliest_with_prior.rate_of_looks(looks),
            EstimatorContestant::Moments => MomentMatching { half_counts: false }.rate_of_looks(looks).min(10.0),
            EstimatorContestant::PseudoLooks => self.pseudo_looks.rate_of_looks(looks),
            EstimatorContestant::LargeNumbers => LawOfLargeNumbers::rate_per_day(look_rate, number, changed),
            EstimatorContestant::Approximation => {
                // The look rate is known beforehand.
                let steps = looks.iter().zip(1..);
                steps.fold(1.0, |rate, ((_, outcome), k)| {
                    StochasticApproximation::step(rate, look_rate, f64::from(k).powf(-0.75), outcome.is_change())
                })
            }
            EstimatorContestant::Classes => {
                let probabilities = self.classes.probabilities_after(looks);
                probabilities.iter().zip(self.classes.rates_per_day()).map(|(p, rate)| p * rate).sum()
            }
            EstimatorContestant::GammaMean => filtered(self.flat, looks).mean(),
            EstimatorContestant::GammaMode => filtered(self.vague, looks).mode(),
            EstimatorContestant::LastModified => {
                let exposure = timed.iter().map(|&(interval, outcome)| match outcome {
                    LookOutcome::ChangedAt { age_days } => age_days,
                    _ => interval,
                });
                LastModified::rate_per_day(number, changed, exposure.sum())
            }
            EstimatorContestant::LastModifiedGamma => filtered(self.weak, timed).mean(),
        }
    }
}

/// Every cell of both tables.
pub(super) fn bias_and_error(effort: &Effort) -> Vec<ReproductionRow> {
    let estimators = Estimators::new();
    let mut rows = Vec::new();
    for (order, table) in [("regular", REGULAR), ("exponential", EXPONENTIAL)] {
        let references: Vec<Vec<(f64, f64)>> = table.iter().map(|(_, cells)| parse(cells)).collect();
        let mut by_contestant = vec![Vec::new(); table.len()];
        let columns = [5, 10, 50].into_iter().flat_map(|looks| [0.1, 0.5, 1.0, 2.0].map(|rate| (looks, rate)));
        for (column, (looks, rate)) in columns.enumerate() {
            let regular = order == "regular";
            let replicates = effort.replicates(if looks < 50 { 20_000 } else { 8_000 }, 300);
            let mut errors = vec![(Measurements::default(), Measurements::default()); table.len()];
            let mut stream = effort.stream(column);
            for _ in 0..replicates {
                let (seen, timed) = draw(&mut stream, rate, looks, regular);
                for ((contestant, _), (bias, square)) in table.iter().zip(&mut errors) {
                    if !(regular && contestant.counts_only()) {
                        let error = estimators.rate(*contestant, &seen, &timed) / rate - 1.0;
                        bias.add(error);
                        square.add(error * error);
                    }
                }
            }
            for (row, ((contestant, _), (bias, square))) in table.iter().zip(&errors).enumerate() {
                let others = contestant.reference_replicates(looks);
                let [bias, square] = if regular && contestant.counts_only() {
                    let error = |seen: &[TimedOutcome]| estimators.rate(*contestant, seen, seen) / rate - 1.0;
                    exact(error, rate, looks, others)
                } else {
                    [bias, square].map(|sample| (sample.mean(), sample.standard_error_of_difference(others)))
                };
                let (reference_bias, reference_error) = references[row][column];
                let what = |measure: &str| {
                    format!("{measure}, {}, {looks} {order} looks, {rate} changes per look", contestant.name())
                };
                let error = square.0.sqrt();
                // An interval is a day.
                let measured = |measure, reference, ours, standard_error| {
                    let row = ReproductionRow::measured("B12", what(measure), reference, ours, standard_error, 0.005)
                        .budget(1.0);
                    match contestant.catalogue_name() {
                        Some(name) => row.estimator(name),
                        None => row,
                    }
                };
                by_contestant[row].extend([
                    measured("bias", reference_bias, bias.0, bias.1),
                    measured("error", reference_error, error, square.1 / (2.0 * error)),
                ]);
            }
        }
        rows.extend(by_contestant.into_iter().flatten());
    }
    rows
}

/// Means of the error and of its square over all numbers of changed looks, by their binomial probabilities, and their
/// standard errors over as many replicates as the reference had. Chance is left on its side only.
fn exact(error: impl Fn(&[TimedOutcome]) -> f64, rate: f64, looks: usize, replicates: usize) -> [(f64, f64); 2] {
    let unchanged = (-rate).exp();
    // The probability of one more changed look, starting at none.
    let mut probability = unchanged.powf(looks as f64);
    let mut moments = [0.0; 4];
    for changed in 0..=looks {
        let seen: Vec<TimedOutcome> = (0..looks)
            .map(|look| (1.0, if look < changed { LookOutcome::Changed } else { LookOutcome::Unchanged }))
            .collect();
        let error = error(&seen);
        let mut power = probability;
        for moment in &mut moments {
            power *= error;
            *moment += power;
        }
        probability *= (looks - changed) as f64 / (changed + 1) as f64 * (1.0 - unchanged) / unchanged;
    }
    let spread = |mean: f64, square: f64| ((square - mean * mean).max(0.0) / replicates as f64).sqrt();
    [(moments[0], spread(moments[0], moments[1])), (moments[1], spread(moments[1], moments[3]))]
}

/// Looks at a page, as seen without and with the time of the last change.
fn draw(stream: &mut RandomStream, rate: f64, looks: usize, regular: bool) -> (Vec<TimedOutcome>, Vec<TimedOutcome>) {
    let one = |_| {
        let interval = if regular { 1.0 } else { stream.exponential() };
        // Seen backwards from the look, changes form the same process.
        let age_days = stream.exponential() / rate;
        let changed = age_days < interval;
        let seen = if changed { LookOutcome::Changed } else { LookOutcome::Unchanged };
        let timed = if changed { LookOutcome::ChangedAt { age_days } } else { LookOutcome::Unchanged };
        ((interval, seen), (interval, timed))
    };
    (0..looks).map(one).unzip()
}

fn parse(cells: &str) -> Vec<(f64, f64)> {
    let number = |text: &str| text.parse().expect("the tables above hold numbers");
    let cell = |cell: &str| cell.split_once('/').map(|(bias, error)| (number(bias), number(error)));
    cells.split(' ').map(|text| cell(text).expect("every cell above is bias/error")).collect()
}
