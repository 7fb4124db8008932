//! Models of change beyond the rate.

use super::clock::WeeklyCycle;
use crate::error::SimulationError;

/// Distribution of the gaps between a page's own changes; the mean is always 1 / change rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Gaps {
    /// Without memory.
    #[default]
    Poisson,
    /// A Weibull renewal process: bursty for a shape below 1, nearly regular for one well above.
    Weibull {
        /// Positive; 1 is Poisson.
        shape: f64,
    },
    /// A renewal process with Gamma gaps: nearly regular for a large shape.
    Gamma {
        /// Positive; 1 is Poisson.
        shape: f64,
    },
    /// Changes come in bursts: a geometric number of them at short gaps, then a long pause.
    Bursts {
        /// Mean changes in a burst; at least 1.
        changes: f64,
        /// Mean days between changes of a burst. Pages with a mean gap no longer than this change without memory.
        gap_days: f64,
    },
}

/// Bulk changes of many pages of a host (templates, footers, deployments), in addition to the pages' own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bulks {
    /// Pushes per host and day, as a Poisson process.
    pub pushes_per_day: f64,
    /// Probability that a push changes a given page of the host.
    pub page_share: f64,
}

/// Pages whose habits change: after a spell of exponential length, the rate is multiplied by a new factor, lognormal
/// with mean 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regimes {
    /// Mean days of a spell.
    pub spell_days: f64,
    /// Standard deviation of the logarithm of the factor.
    pub ln_sd: f64,
}

/// Pages on which a look finds a difference although nothing changed (nonces, advertisements).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CosmeticNoise {
    /// Share of the pages that do this.
    pub page_share: f64,
    /// Probability that a look at such a page is misled.
    pub probability: f64,
}

/// The change behaviour of pages. All parts can be combined.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangeModel {
    /// Gaps between a page's own changes.
    pub gaps: Gaps,
    /// Changes of many pages at once.
    pub bulks: Option<Bulks>,
    /// Changes of habit.
    pub regimes: Option<Regimes>,
    pub cycle: Option<WeeklyCycle>,
    /// Differences mistaken for changes.
    pub cosmetic_noise: Option<CosmeticNoise>,
}

impl ChangeModel {
    /// The names that [`ChangeModel::parse`] knows, with their meanings.
    pub const NAMES: [(&'static str, &'static str); 9] = [
        ("poisson", "changes without memory"),
        ("weibull-0.6", "renewal process with Weibull gaps, shape 0.6: bursty"),
        (
            "weibull-3",
            "renewal process with Weibull gaps, shape 3: nearly regular; other shapes are written the same way",
        ),
        ("gamma-30", "renewal process with Gamma gaps, shape 30: regular; other shapes are written the same way"),
        ("bursts", "five changes on average at mean gaps of an hour, then a pause"),
        ("bulks", "every 20 days on average, half of a host's pages change at once, in addition to their own changes"),
        ("regimes", "after 25 days on average, the rate of a page is multiplied by a new lognormal factor (ln sd 1.2)"),
        ("cycles", "ten times as many changes in office hours as at night, three times as many on weekdays"),
        ("cosmetic", "on a tenth of the pages, every other look finds a change that did not happen"),
    ];

    /// Reads names joined by `+`, such as `weibull-0.6+bulks+cosmetic`.
    pub fn parse(names: &str) -> Result<Self, SimulationError> {
        let unknown = || SimulationError::Unknown {
            what: "change model",
            name: names.into(),
            known: format!("{}, joined by +", Self::NAMES.map(|name| name.0).join(", ")),
        };
        let mut model = Self::default();
        for name in names.split('+') {
            match name.trim() {
                "poisson" => model.gaps = Gaps::Poisson,
                "bursts" => model.gaps = Gaps::Bursts { changes: 5.0, gap_days: 1.0 / 24.0 },
                "bulks" => model.bulks = Some(Bulks { pushes_per_day: 0.05, page_share: 0.5 }),
                "regimes" => model.regimes = Some(Regimes { spell_days: 25.0, ln_sd: 1.2 }),
                "cycles" => model.cycle = Some(WeeklyCycle::new(10.0, 3.0)),
                "cosmetic" => model.cosmetic_noise = Some(CosmeticNoise { page_share: 0.1, probability: 0.5 }),
                other => {
                    let shape_of = |family: &str| other.strip_prefix(family).and_then(|shape| shape.parse().ok());
                    model.gaps = match (shape_of("weibull-"), shape_of("gamma-")) {
                        (Some(shape), _) => Gaps::Weibull { shape },
                        (_, Some(shape)) => Gaps::Gamma { shape },
                        (None, None) => return Err(unknown()),
                    };
                }
            }
        }
        model.check()?;
        Ok(model)
    }

    /// Below these shapes, single gaps are astronomically long; above, all are alike.
    fn check_shape(field: &'static str, shape: f64) -> Result<(), SimulationError> {
        if (0.1..=100.0).contains(&shape) {
            Ok(())
        } else {
            Err(SimulationError::Setting { field, value: shape, expected: "0.1 to 100" })
        }
    }

    /// Fails on an invalid number.
    pub fn check(&self) -> Result<(), SimulationError> {
        match self.gaps {
            Gaps::Poisson => {}
            Gaps::Weibull { shape } => Self::check_shape("Weibull shape", shape)?,
            Gaps::Gamma { shape } => Self::check_shape("Gamma shape", shape)?,
            Gaps::Bursts { changes, gap_days } => {
                if !(changes >= 1.0 && changes.is_finite()) {
                    let expected = "finite and at least 1";
                    return Err(SimulationError::Setting { field: "changes per burst", value: changes, expected });
                }
                SimulationError::positive("gap in a burst, in days", gap_days)?;
            }
        }
        if let Some(bulks) = self.bulks {
            SimulationError::positive("pushes per day", bulks.pushes_per_day)?;
            SimulationError::share("share of pages changed by a push", bulks.page_share)?;
        }
        if let Some(regimes) = self.regimes {
            SimulationError::positive("days of a spell", regimes.spell_days)?;
            SimulationError::positive("standard deviation of the ln factor", regimes.ln_sd)?;
        }
        if let Some(noise) = self.cosmetic_noise {
            SimulationError::share("share of noisy pages", noise.page_share)?;
            SimulationError::share("probability of noise", noise.probability)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_combined() {
        for (name, _) in ChangeModel::NAMES {
            ChangeModel::parse(name).expect("a listed name");
        }
        let model = ChangeModel::parse("weibull-0.6+bulks+cosmetic").expect("a combination");
        assert_eq!(model.gaps, Gaps::Weibull { shape: 0.6 });
        assert_eq!(ChangeModel::parse("gamma-2.5").expect("a shape").gaps, Gaps::Gamma { shape: 2.5 });
        assert!(model.bulks.is_some() && model.cosmetic_noise.is_some() && model.cycle.is_none());
    }

    #[test]
    fn faults_name_what_is_wrong() {
        let fault = |names: &str| ChangeModel::parse(names).expect_err("a fault").to_string();
        assert!(fault("poison").contains("'poison'") && fault("poison").contains("regimes"));
        assert!(fault("weibull-x").contains("unknown change model"));
        assert_eq!(fault("weibull--1"), "Weibull shape is -1; it must be 0.1 to 100");
        assert_eq!(fault("gamma-0"), "Gamma shape is 0; it must be 0.1 to 100");
        assert!(fault("weibull-NaN").starts_with("Weibull shape is NaN"));
    }
}
