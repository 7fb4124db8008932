//! Is a page bursty or regular? A belief about the shape of the gaps between its changes, learned from its looks.
//!
//! Gaps are Weibull with one of a few shapes. Each look is predicted under every shape, by the belief about the rate before it: with
//! θ x^k the integrated hazard and θ Gamma distributed, a version of age a survives t more days with probability
//! ((B + a^k) / (B + (a + t)^k))^α, which for k = 1 is the belief's own curve. The logarithms of these probabilities add up, so
//! that the evidence of a page is a few numbers, and the uncertainty of the rate is not taken for a burst.
//!
//! One page has few gaps. So its prior is the mean of its group, which counts as [`GROUP_STRENGTH`] pages of the general prior.

use crate::gamma::Gamma;
use libm::lgamma;

/// Number of shapes.
pub const SHAPES: usize = 6;
/// The Weibull shapes between which evidence decides; exponential is one of them.
pub const SHAPE_VALUES: [f64; SHAPES] = [0.4, 0.65, 1.0, 1.6, 2.6, 5.0];
/// Index of the exponential shape.
pub const EXPONENTIAL: usize = 2;
/// Probabilities before any evidence: changes have no memory unless there is reason to believe otherwise.
const PRIOR: [f64; SHAPES] = [0.1, 0.15, 0.5, 0.1, 0.1, 0.05];
/// Pages for which the prior of a page without siblings counts in a group.
pub const GROUP_STRENGTH: f64 = 4.0;
/// A look is mistaken with this probability, so that one wrong change or missed one does not decide.
const MISTAKEN: f64 = 0.01;

/// Evidence of one page about the shape of its gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ShapeEvidence {
    ln_likelihoods: [f32; SHAPES],
}

/// Probabilities of the shapes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapeBelief([f64; SHAPES]);

/// Beliefs of the pages of a group, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ShapeSums {
    sums: [f64; SHAPES],
}

impl ShapeEvidence {
    /// Takes in a look at a page whose version was `age_days` old at the look before, `interval_days` earlier. `belief` is that about the
    /// rate before this look.
    pub fn look(&mut self, belief: Gamma, age_days: f64, interval_days: f64, changed: bool) {
        let (age, later) = (belief.mean() * age_days.max(0.0), belief.mean() * (age_days + interval_days).max(0.0));
        for (shape, sum) in SHAPE_VALUES.into_iter().zip(&mut self.ln_likelihoods) {
            // B in mean gaps: the mean hazard is that of a gap of mean 1.
            let scale = belief.alpha() * (-shape * lgamma(1.0 + 1.0 / shape)).exp();
            let ln_survival =
                belief.alpha() * ((age.powf(shape) / scale).ln_1p() - (later.powf(shape) / scale).ln_1p());
            let probability = if changed { -ln_survival.exp_m1() } else { ln_survival.exp() };
            *sum += (MISTAKEN + (1.0 - 2.0 * MISTAKEN) * probability).ln() as f32;
        }
    }

    /// The probabilities of the shapes after this evidence.
    pub fn belief(&self, prior: &ShapeBelief) -> ShapeBelief {
        let best = self.ln_likelihoods.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let mut posterior = prior.0;
        for (probability, ln) in posterior.iter_mut().zip(self.ln_likelihoods) {
            *probability *= f64::from(ln - best).exp();
        }
        ShapeBelief::normalised(posterior)
    }
}

impl ShapeBelief {
    fn normalised(weights: [f64; SHAPES]) -> Self {
        let sum: f64 = weights.iter().sum();
        Self(weights.map(|weight| weight / sum))
    }

    /// By shape, in the order of [`SHAPE_VALUES`]; they add up to 1.
    pub fn probabilities(&self) -> &[f64; SHAPES] {
        &self.0
    }

    /// Mean and standard deviation of the logarithm of the shape: 0 is exponential, below it changes come in bursts.
    pub fn ln_shape(&self) -> (f64, f64) {
        let moment = |power: i32| self.0.iter().zip(SHAPE_VALUES).map(|(p, k)| p * k.ln().powi(power)).sum::<f64>();
        let mean = moment(1);
        (mean, (moment(2) - mean * mean).max(0.0).sqrt())
    }
}

/// The general prior.
impl Default for ShapeBelief {
    fn default() -> Self {
        Self::normalised(PRIOR)
    }
}

impl ShapeSums {
    pub fn add(&mut self, belief: &ShapeBelief) {
        self.sums.iter_mut().zip(belief.0).for_each(|(sum, probability)| *sum += probability);
    }

    /// Takes back what was added before.
    pub fn remove(&mut self, belief: &ShapeBelief) {
        self.sums.iter_mut().zip(belief.0).for_each(|(sum, probability)| *sum = (*sum - probability).max(0.0));
    }

    /// The prior of a page of the group.
    pub fn prior(&self) -> ShapeBelief {
        let mut weights = PRIOR.map(|probability| GROUP_STRENGTH * probability);
        weights.iter_mut().zip(self.sums).for_each(|(weight, sum)| *weight += sum);
        ShapeBelief::normalised(weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chance::{Draws, SplitMix64};

    /// Evidence of a page with Weibull gaps of mean 1 day, looked at every `interval` days; the rate is believed as an estimator would.
    fn evidence(shape: f64, interval: f64, looks: u32, seed: u64) -> ShapeEvidence {
        let mut draws = SplitMix64(seed);
        let scale = (-lgamma(1.0 + 1.0 / shape)).exp();
        let mut gap = || scale * draws.exponential().powf(1.0 / shape);
        let (mut next, mut age) = (gap(), None);
        let mut evidence = ShapeEvidence::default();
        let mut belief = (1.0, 1.0);
        for look in 1..=looks {
            let now = interval * f64::from(look);
            let changed = next <= now;
            let before = Gamma::new(belief.0, belief.1).expect("positive");
            if let Some(age) = age {
                evidence.look(before, age, interval, changed);
            }
            while next <= now {
                next += gap();
            }
            age = if changed { Some(0.5 * interval) } else { age.map(|age| age + interval) };
            belief =
                if changed { (belief.0 + 1.0, belief.1 + 0.5 * interval) } else { (belief.0, belief.1 + interval) };
        }
        evidence
    }

    #[test]
    fn bursts_chance_and_regularity_are_distinguished() {
        for (shape, expected) in [(0.5, -0.69), (1.0, 0.0), (4.0, 1.39)] {
            let mut group = ShapeSums::default();
            for seed in 0..40 {
                group.add(&evidence(shape, 0.2, 200, 7 + seed).belief(&group.prior()));
            }
            let (mean, _) = group.prior().ln_shape();
            assert!((mean - expected).abs() < 0.35, "shape {shape}: {mean}");
        }
    }

    #[test]
    fn a_page_without_evidence_is_believed_to_be_as_its_group() {
        let mut group = ShapeSums::default();
        assert_eq!(group.prior(), ShapeBelief::default());
        let regular = evidence(5.0, 0.2, 400, 1).belief(&ShapeBelief::default());
        (0..40).for_each(|_| group.add(&regular));
        let unknown = ShapeEvidence::default().belief(&group.prior());
        assert!(unknown.ln_shape().0 > 1.0 && ShapeBelief::default().ln_shape().0.abs() < 0.2);
        // Evidence narrows the belief.
        assert!(regular.ln_shape().1 < ShapeBelief::default().ln_shape().1);
        (0..40).for_each(|_| group.remove(&regular));
        let (mean, deviation) = group.prior().ln_shape();
        assert!((mean - ShapeBelief::default().ln_shape().0).abs() < 1e-9 && deviation > 0.5);
    }

    #[test]
    fn shape_1_is_predicted_by_the_belief_itself() {
        let belief = Gamma::new(2.0, 30.0).expect("positive");
        let mut evidence = ShapeEvidence::default();
        evidence.look(belief, 0.0, 12.0, false);
        let expected = (MISTAKEN + (1.0 - 2.0 * MISTAKEN) * belief.fresh_probability(12.0)).ln();
        assert!((f64::from(evidence.ln_likelihoods[EXPONENTIAL]) - expected).abs() < 1e-6);
    }
}
