//! Times between the changes of a page whose changes are a renewal process: any distribution, not only the exponential one.
//!
//! All times here are in mean gaps, so a distribution has mean 1, and a page with change rate λ is at time λt. With G the distribution
//! function of a gap, a copy taken at a moment that has nothing to do with the changes is still current after x with probability
//! S(x) = ∫ (1 - G(v)) dv over x..∞ (the life that is left, Cox, Renewal Theory, 1962, 5.2). One less it is the inner part of equation 36
//! of Meng et al. 2006 (Wolf et al., WWW 2002), which integrates it between looks.
//!
//! Every integral that is needed has a closed form in the incomplete gamma function, so there is no quadrature: errors are those of
//! that function, below 1e-13 for shapes of 0.2 to 20.

use crate::gamma::InvalidParameter;
use crate::special::regularised_lower_gamma;
use libm::lgamma;

/// Shapes that are allowed. Below, single gaps are astronomically long; above, all are alike.
const SHAPES: std::ops::RangeInclusive<f64> = 0.1..=100.0;

#[derive(Clone, Copy, Debug, PartialEq)]
enum GapFamily {
    Exponential,
    Weibull { shape: f64, scale: f64 },
    Gamma { shape: f64 },
}

/// Distribution of the gaps between changes, with mean 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GapDistribution {
    family: GapFamily,
    /// Half the mean square of a gap.
    half_square: f64,
}

impl GapDistribution {
    /// Changes without memory.
    pub const EXPONENTIAL: Self = Self { family: GapFamily::Exponential, half_square: 1.0 };

    /// Weibull gaps: hazard rising as age^(shape - 1). Bursty for a shape below 1, nearly regular for one well above.
    ///
    /// # Errors
    /// On a shape outside 0.1 to 100.
    pub fn weibull(shape: f64) -> Result<Self, InvalidParameter> {
        let shape = checked(shape)?;
        let scale = (-lgamma(1.0 + 1.0 / shape)).exp();
        let half_square = 0.5 * scale * scale * lgamma(1.0 + 2.0 / shape).exp();
        Ok(Self { family: GapFamily::Weibull { shape, scale }, half_square })
    }

    /// Gamma gaps: each is the sum of `shape` exponential steps, where that is a whole number.
    ///
    /// # Errors
    /// On a shape outside 0.1 to 100.
    pub fn gamma(shape: f64) -> Result<Self, InvalidParameter> {
        let shape = checked(shape)?;
        Ok(Self { family: GapFamily::Gamma { shape }, half_square: 0.5 * (1.0 + 1.0 / shape) })
    }

    /// 1 - G(x): probability that a gap is longer than x.
    pub fn survival(&self, x: f64) -> f64 {
        let x = x.max(0.0);
        match self.family {
            GapFamily::Exponential => (-x).exp(),
            GapFamily::Weibull { shape, scale } => (-(x / scale).powf(shape)).exp(),
            GapFamily::Gamma { shape } => 1.0 - lower_gamma(shape, shape * x),
        }
    }

    /// Probability that a version of this age lasts for x more.
    pub fn residual_survival(&self, age: f64, x: f64) -> f64 {
        let (age, x) = (age.max(0.0), x.max(0.0));
        match self.family {
            GapFamily::Exponential => (-x).exp(),
            GapFamily::Weibull { shape, scale } => ((age / scale).powf(shape) - ((age + x) / scale).powf(shape)).exp(),
            GapFamily::Gamma { shape } => {
                let there = self.survival(age);
                // Where hardly any gap lasts so long, the hazard is nearly constant.
                if there < 1e-9 { (-shape * x).exp() } else { self.survival(age + x) / there }
            }
        }
    }

    /// S(x): probability that a copy taken at a random moment is still current after x.
    pub fn fresh_probability(&self, x: f64) -> f64 {
        let x = x.max(0.0);
        match self.family {
            GapFamily::Exponential => (-x).exp(),
            GapFamily::Weibull { shape, scale } => 1.0 - lower_gamma(1.0 / shape, (x / scale).powf(shape)),
            GapFamily::Gamma { shape } => {
                let longer = 1.0 - lower_gamma(shape + 1.0, shape * x);
                (longer - x * self.survival(x)).max(0.0)
            }
        }
    }

    /// ∫ S over 0..x: expected time for which a copy taken at a random moment is current within x.
    pub fn fresh_time(&self, x: f64) -> f64 {
        let x = x.max(0.0);
        match self.family {
            GapFamily::Exponential => -(-x).exp_m1(),
            _ => x * self.fresh_probability(x) + self.look_value(x),
        }
    }

    /// Expected time for which a copy of a version of this age is current within x of the look.
    pub fn fresh_time_at(&self, age: f64, x: f64) -> f64 {
        let (age, x) = (age.max(0.0), x.max(0.0));
        let there = self.survival(age);
        match self.family {
            GapFamily::Exponential => -(-x).exp_m1(),
            // So old a version changes at a nearly constant hazard.
            _ if there < 1e-9 => {
                let hazard = -self.residual_survival(age, 1e-3).ln() / 1e-3;
                -(-hazard * x).exp_m1() / hazard
            }
            _ => (self.fresh_probability(age) - self.fresh_probability(age + x)) / there,
        }
    }

    /// Value of a look x after the last: ∫ v (1 - G(v)) dv over 0..x, which is [`GapDistribution::fresh_time`] less x times
    /// [`GapDistribution::fresh_probability`]. It rises from 0, at the slope x (1 - G(x)), to [`GapDistribution::highest_value`]. So
    /// among schedules that ignore the results of looks, every page is best looked at evenly, and when this value reaches one price
    /// for all pages: for any hazard (Meng et al., eq 28 with 36).
    pub fn look_value(&self, x: f64) -> f64 {
        let x = x.max(0.0);
        // ∫ v² dG over 0..x, halved.
        let ended = match self.family {
            GapFamily::Exponential => lower_gamma(3.0, x),
            GapFamily::Weibull { shape, scale } => {
                self.half_square * lower_gamma(1.0 + 2.0 / shape, (x / scale).powf(shape))
            }
            GapFamily::Gamma { shape } => self.half_square * lower_gamma(shape + 2.0, shape * x),
        };
        0.5 * x * x * self.survival(x) + ended
    }

    /// The most that a look is worth, however long ago the last was: half the mean square of a gap. At this price a page is given up.
    pub fn highest_value(&self) -> f64 {
        self.half_square
    }

    /// The x at which a look is worth this; infinite from [`GapDistribution::highest_value`] on.
    pub fn time_of_value(&self, value: f64) -> f64 {
        if value <= 0.0 {
            return 0.0;
        }
        if value.is_nan() || value >= self.half_square {
            return f64::INFINITY;
        }
        // The value is at most x²/2.
        let (mut low, mut high) = ((2.0 * value).sqrt(), (2.0 * value).sqrt().max(1.0));
        while self.look_value(high) < value && high < 1e9 {
            (low, high) = (high, 2.0 * high);
        }
        let mut x = low;
        for _ in 0..100 {
            let excess = self.look_value(x) - value;
            if excess > 0.0 {
                high = x;
            } else {
                low = x;
            }
            let newton = x - excess / (x * self.survival(x));
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - x).abs() <= 4.0 * f64::EPSILON * x {
                return next;
            }
            x = next;
        }
        x
    }

    /// Share of the time that a page is fresh if it is looked at every x; 1 for x = 0.
    pub fn average_freshness(&self, x: f64) -> f64 {
        if x <= 0.0 {
            1.0
        } else if x.is_infinite() {
            0.0
        } else {
            self.fresh_time(x) / x
        }
    }

    /// Share of the time that a page is stale in a horizon (in mean gaps) with `looks` evenly spaced looks and a fresh start: equation 36
    /// of Meng et al. at its best spacing, with upper limit x_i for x_j.
    pub fn staleness(&self, horizon: f64, looks: u32) -> f64 {
        1.0 - self.average_freshness(horizon / (f64::from(looks) + 1.0))
    }
}

/// P(a, x) for a up to 102, also where x is too large for its terms.
fn lower_gamma(a: f64, x: f64) -> f64 {
    if x > 1e6 { 1.0 } else { regularised_lower_gamma(a, x) }
}

fn checked(shape: f64) -> Result<f64, InvalidParameter> {
    if SHAPES.contains(&shape) {
        Ok(shape)
    } else {
        Err(InvalidParameter::new("the shape of gaps between changes", shape, "0.1 to 100"))
    }
}

#[cfg(test)]
mod tests;
