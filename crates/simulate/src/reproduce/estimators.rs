//! B12: bias and root mean square error of the estimators, as multiples of the true rate.

use super::row::Sample;
use super::{Effort, Row};
use crate::chance::Stream;
use change_rate::{
    ChangeRateEstimator, CheckCounts, Gamma, GammaPrior, HalfCount, LastModified, LawOfLargeNumbers, MaximumLikelihood,
    MomentMatching, NaiveRatio, Outcome, RateClasses, Regularisation, StochasticApproximation,
};

/// Interval, and what was seen after it.
type Look = (f64, Outcome);

/// By row the bias / error of one estimator; columns: 5, 10 and 50 looks, for each .1, .5, 1 and 2 changes per look.
const REGULAR: &[(Contestant, &str)] = &[
    (
        Contestant::Naive,
        "-.06/1.31 -.21/.49 -.37/.43 -.57/.57 -.05/.93 -.21/.38 -.37/.40 -.57/.57 \
         -.05/.42 -.21/.25 -.37/.38 -.57/.57",
    ),
    (
        Contestant::HalfCount,
        "-.01/1.46 +.01/.77 -.01/.58 -.12/.35 .00/1.03 .00/.52 .00/.44 -.03/.34 \
         .00/.46 .00/.23 .00/.19 .00/.19",
    ),
    (
        Contestant::Likeliest,
        "+.11/1.66 +.33/2.10 +.90/2.87 +1.76/2.78 +.05/1.09 +.08/.63 +.17/1.00 +.88/1.94 \
         +.01/.46 +.02/.23 +.02/.19 +.04/.22",
    ),
    (
        Contestant::Moments,
        "+.11/1.66 +.33/2.10 +.90/2.87 +1.76/2.78 +.05/1.09 +.08/.63 +.17/1.00 +.88/1.94 \
         +.01/.46 +.02/.23 +.02/.19 +.04/.22",
    ),
    (
        Contestant::PseudoLooks,
        "+1.78/2.35 +.42/.92 +.23/.67 +.03/.36 +.95/1.42 +.22/.58 +.13/.47 +.06/.37 \
         +.20/.50 +.05/.23 +.02/.19 +.02/.19",
    ),
    (
        Contestant::LargeNumbers,
        "+.04/1.64 +.30/1.38 +.54/1.40 +.65/1.06 +.05/1.15 +.30/.97 +.69/1.45 +1.45/2.08 \
         +.05/.51 +.30/.49 +.71/.88 +2.21/2.69",
    ),
    (
        Contestant::Approximation,
        "+.16/1.87 +.39/1.31 +.49/1.08 +.35/.62 +.09/1.26 +.34/.94 +.56/1.00 +.61/.81 \
         +.05/.62 +.31/.51 +.67/.81 +1.21/1.31",
    ),
    (
        Contestant::Classes,
        "+.37/1.57 +.72/5.52 +2.66/8.31 +5.94/8.78 +.15/1.02 +.10/1.01 +.38/2.82 +3.18/6.62 \
         +.01/.46 +.02/.23 +.02/.19 +.06/.38",
    ),
    (
        Contestant::GammaMean,
        "+1.63/2.17 +.33/.83 +.14/.58 -.06/.31 +.88/1.35 +.17/.55 +.09/.45 +.01/.32 \
         +.18/.49 +.04/.23 +.02/.19 +.02/.19",
    ),
    (
        Contestant::GammaMode,
        "-.09/1.37 -.05/.78 -.01/.68 -.05/.42 -.04/.99 -.05/.52 -.01/.50 +.05/.46 \
         -.01/.45 -.01/.23 .00/.19 +.01/.20",
    ),
    (
        Contestant::LastModified,
        "-.01/1.47 +.01/.76 +.01/.62 .00/.57 .00/1.03 .00/.52 +.01/.41 +.01/.36 \
         .00/.46 .00/.23 .00/.18 +.01/.16",
    ),
    (
        Contestant::LastModifiedGamma,
        "+.95/1.80 +.23/.80 +.12/.60 +.02/.43 +.49/1.16 +.12/.53 +.06/.41 +.02/.33 \
         +.10/.47 +.03/.23 +.01/.18 +.01/.15",
    ),
];

const EXPONENTIAL: &[(Contestant, &str)] = &[
    (
        Contestant::Naive,
        "-.08/1.43 -.29/.57 -.45/.54 -.62/.64 -.09/.94 -.31/.44 -.47/.51 -.64/.65 \
         -.09/.41 -.33/.36 -.49/.50 -.66/.66",
    ),
    (
        Contestant::HalfCount,
        "-.04/1.53 -.15/.69 -.27/.54 -.41/.53 -.05/1.01 -.18/.46 -.28/.42 -.43/.49 \
         -.04/.44 -.19/.26 -.30/.32 -.45/.46",
    ),
    (
        Contestant::LikeliestWithPrior,
        "+.09/1.74 +.03/.86 -.05/.59 -.22/.43 +.05/1.15 +.03/.62 +.01/.50 -.09/.38 \
         +.01/.48 +.02/.26 .00/.22 -.01/.22",
    ),
    (
        Contestant::Likeliest,
        "+.28/2.36 +.47/2.03 +.65/2.10 +.77/1.73 +.12/1.25 +.15/.77 +.22/.87 +.33/1.01 \
         +.02/.49 +.02/.27 +.04/.24 +.05/.25",
    ),
    (
        Contestant::Moments,
        "+.23/2.26 +.39/1.91 +.55/2.00 +.65/1.66 +.10/1.23 +.13/.75 +.19/.83 +.27/.95 \
         +.02/.49 +.02/.27 +.04/.25 +.04/.26",
    ),
    (
        Contestant::PseudoLooks,
        "+2.25/3.08 +.60/1.14 +.28/.71 -.02/.38 +1.14/1.71 +.32/.74 +.19/.57 +.02/.38 \
         +.23/.54 +.06/.27 +.05/.24 +.02/.22",
    ),
    (
        Contestant::LargeNumbers,
        ".00/1.65 +.01/.96 -.02/.83 -.10/.69 .00/1.10 .00/.63 +.01/.62 -.01/.67 \
         .00/.48 -.01/.27 +.01/.25 .00/.27",
    ),
    (
        Contestant::Approximation,
        "+.11/1.87 +.12/1.01 +.03/.74 -.13/.52 +.04/1.23 +.04/.66 +.02/.54 -.10/.43 \
         +.01/.60 .00/.30 +.01/.26 -.04/.24",
    ),
    (
        Contestant::GammaMean,
        "+2.04/2.81 +.48/.99 +.16/.58 -.14/.32 +1.05/1.60 +.27/.70 +.14/.51 -.05/.32 \
         +.21/.53 +.05/.27 +.05/.24 +.01/.21",
    ),
    (
        Contestant::GammaMode,
        "-.06/1.63 -.02/.91 -.04/.68 -.18/.46 -.05/1.09 -.02/.64 +.01/.55 -.04/.43 \
         -.02/.47 -.01/.26 +.01/.23 +.01/.23",
    ),
    (
        Contestant::LastModified,
        "+.11/1.88 +.12/1.03 +.09/.84 +.08/.71 +.05/1.17 +.05/.62 +.05/.50 +.04/.44 \
         +.01/.48 .00/.25 +.01/.21 +.01/.18",
    ),
];

/// An estimator, with what the measurement gave it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Contestant {
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

impl Contestant {
    fn name(self) -> &'static str {
        match self {
            Contestant::Naive => "naive ratio",
            Contestant::HalfCount => "half counts",
            Contestant::Likeliest => "maximum likelihood",
            Contestant::LikeliestWithPrior => "maximum likelihood, Gamma(1, .5)",
            Contestant::Moments => "moment matching",
            Contestant::PseudoLooks => "maximum likelihood, pseudo looks of .5",
            Contestant::LargeNumbers => "law of large numbers",
            Contestant::Approximation => "stochastic approximation",
            Contestant::Classes => "48 rate classes",
            Contestant::GammaMean => "Gamma filter from (1, 1), mean",
            Contestant::GammaMode => "Gamma filter from (1, .5), mode",
            Contestant::LastModified => "Last-Modified, corrected",
            Contestant::LastModifiedGamma => "Last-Modified, Gamma from (.5, .5)",
        }
    }

    /// Whether after regular looks only the number of changed ones counts.
    fn counts_only(self) -> bool {
        use Contestant as C;
        matches!(
            self,
            C::Naive | C::HalfCount | C::Likeliest | C::Moments | C::PseudoLooks | C::LargeNumbers | C::Classes
        )
    }

    /// How many replicates the reference had.
    fn reference_replicates(self, looks: usize) -> usize {
        match self {
            _ if looks < 50 => 20_000,
            Contestant::LikeliestWithPrior | Contestant::GammaMode => 6_000,
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
    fn rate(&self, contestant: Contestant, looks: &[Look], timed: &[Look]) -> f64 {
        let filtered = |prior: Gamma, looks: &[Look]| {
            looks.iter().fold(prior, |belief, &(interval, outcome)| belief.after(interval, outcome))
        };
        let mut counts = CheckCounts::default();
        looks.iter().for_each(|&(interval, outcome)| counts.add(interval, outcome));
        let (number, changed) = (f64::from(counts.looks), f64::from(counts.changed_looks));
        let look_rate = number / f64::from(counts.watched_days);
        match contestant {
            Contestant::Naive => NaiveRatio.change_rate_per_day(&counts),
            Contestant::HalfCount => HalfCount.change_rate_per_day(&counts),
            Contestant::Likeliest => self.likeliest.rate_of_looks(looks).min(10.0),
            Contestant::LikeliestWithPrior => self.likeliest_with_prior.rate_of_looks(looks),
            Contestant::Moments => MomentMatching { half_counts: false }.rate_of_looks(looks).min(10.0),
            Contestant::PseudoLooks => self.pseudo_looks.rate_of_looks(looks),
            Contestant::LargeNumbers => LawOfLargeNumbers::rate_per_day(look_rate, number, changed),
            Contestant::Approximation => {
                // The look rate is known beforehand.
                let steps = looks.iter().zip(1..);
                steps.fold(1.0, |rate, ((_, outcome), k)| {
                    StochasticApproximation::step(rate, look_rate, f64::from(k).powf(-0.75), outcome.is_change())
                })
            }
            Contestant::Classes => {
                let probabilities = self.classes.probabilities_after(looks);
                probabilities.iter().zip(self.classes.rates_per_day()).map(|(p, rate)| p * rate).sum()
            }
            Contestant::GammaMean => filtered(self.flat, looks).mean(),
            Contestant::GammaMode => filtered(self.vague, looks).mode(),
            Contestant::LastModified => {
                let exposure = timed.iter().map(|&(interval, outcome)| match outcome {
                    Outcome::ChangedAt { age_days } => age_days,
                    _ => interval,
                });
                LastModified::rate_per_day(number, changed, exposure.sum())
            }
            Contestant::LastModifiedGamma => filtered(self.weak, timed).mean(),
        }
    }
}

/// Every cell of both tables.
pub(super) fn bias_and_error(effort: &Effort) -> Vec<Row> {
    let estimators = Estimators::new();
    let mut rows = Vec::new();
    for (order, table) in [("regular", REGULAR), ("exponential", EXPONENTIAL)] {
        let references: Vec<Vec<(f64, f64)>> = table.iter().map(|(_, cells)| parse(cells)).collect();
        let mut by_contestant = vec![Vec::new(); table.len()];
        let columns = [5, 10, 50].into_iter().flat_map(|looks| [0.1, 0.5, 1.0, 2.0].map(|rate| (looks, rate)));
        for (column, (looks, rate)) in columns.enumerate() {
            let regular = order == "regular";
            let replicates = effort.replicates(if looks < 50 { 20_000 } else { 8_000 }, 300);
            let mut errors = vec![(Sample::default(), Sample::default()); table.len()];
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
                    let error = |seen: &[Look]| estimators.rate(*contestant, seen, seen) / rate - 1.0;
                    exact(error, rate, looks, others)
                } else {
                    [bias, square].map(|sample| (sample.mean(), sample.standard_error_of_difference(others)))
                };
                let (reference_bias, reference_error) = references[row][column];
                let what = |measure: &str| {
                    format!("{measure}, {}, {looks} {order} looks, {rate} changes per look", contestant.name())
                };
                by_contestant[row].push(Row::measured("B12", what("bias"), reference_bias, bias.0, bias.1, 0.005));
                let error = square.0.sqrt();
                let standard_error = square.1 / (2.0 * error);
                by_contestant[row].push(Row::measured(
                    "B12",
                    what("error"),
                    reference_error,
                    error,
                    standard_error,
                    0.005,
                ));
            }
        }
        rows.extend(by_contestant.into_iter().flatten());
    }
    rows
}

/// Means of the error and of its square over all numbers of changed looks, by their binomial probabilities, and their
/// standard errors over as many replicates as the reference had. Chance is left on its side only.
fn exact(error: impl Fn(&[Look]) -> f64, rate: f64, looks: usize, replicates: usize) -> [(f64, f64); 2] {
    let unchanged = (-rate).exp();
    // The probability of one changed look more, from none on.
    let mut probability = unchanged.powf(looks as f64);
    let mut moments = [0.0; 4];
    for changed in 0..=looks {
        let seen: Vec<Look> =
            (0..looks).map(|look| (1.0, if look < changed { Outcome::Changed } else { Outcome::Unchanged })).collect();
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
fn draw(stream: &mut Stream, rate: f64, looks: usize, regular: bool) -> (Vec<Look>, Vec<Look>) {
    let one = |_| {
        let interval = if regular { 1.0 } else { stream.exponential() };
        // Seen backwards from the look, changes form the same process.
        let age_days = stream.exponential() / rate;
        let changed = age_days < interval;
        let seen = if changed { Outcome::Changed } else { Outcome::Unchanged };
        let timed = if changed { Outcome::ChangedAt { age_days } } else { Outcome::Unchanged };
        ((interval, seen), (interval, timed))
    };
    (0..looks).map(one).unzip()
}

fn parse(cells: &str) -> Vec<(f64, f64)> {
    let number = |text: &str| text.parse().expect("the tables above hold numbers");
    let cell = |cell: &str| cell.split_once('/').map(|(bias, error)| (number(bias), number(error)));
    cells.split(' ').map(|text| cell(text).expect("every cell above is bias/error")).collect()
}
