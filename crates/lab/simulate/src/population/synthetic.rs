//! Synthetic populations: rates and weights of pages drawn from distributions in the literature.

use super::Pages;
use crate::error::SimulationError;
use crate::streams::{Draws, Purpose, RandomStream};

/// Minimum and maximum change rate per day that is drawn.
const RATES_PER_DAY: (f64, f64) = (1e-5, 24.0);
/// Maximum weight that is drawn.
const WEIGHT_MAX: f64 = 1e3;

/// Pages with their true rates of own changes.
#[derive(Clone, Debug)]
pub struct SyntheticPopulation {
    /// The pages, without their change rates.
    pub pages: Pages,
    /// True change rate of each page, per day.
    pub change_rates_per_day: Vec<f64>,
}

/// A population that can be drawn. Names and parameters: F2 of the algorithm notes; `wide`, `gamma` and `coupled` are
/// those of the comparison with other crawlers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PopulationKind {
    /// P1: ln rate normal (ln 0.1, 1.8), weights Pareto 1.2, one site.
    Lognormal,
    /// P2: ln rate of a host normal (ln 0.15, 1.2), of its pages around it with 0.7, weights Pareto 1.2, 50 pages a
    /// host.
    Hosts,
    /// P3: the web in five classes (Cho & Garcia-Molina, TODS 2003): changing every day, week, month, four months and
    /// year, with 23, 15, 16, 16 and 30 % of the pages; equal weights, one site.
    WebClasses,
    /// L: ln rate normal (ln 1/30, 2), weights Pareto 1.5, one site.
    Wide,
    /// G: rates Gamma with shape 0.4 and mean 0.1, many pages nearly static, weights Pareto 1.5, one site.
    Gamma,
    /// C: as L, with weights multiplied by the root of the rate: important pages change more.
    Coupled,
}

impl PopulationKind {
    /// All of them.
    pub const ALL: [PopulationKind; 6] = [
        PopulationKind::Lognormal,
        PopulationKind::Hosts,
        PopulationKind::WebClasses,
        PopulationKind::Wide,
        PopulationKind::Gamma,
        PopulationKind::Coupled,
    ];

    pub fn name(self) -> &'static str {
        match self {
            PopulationKind::Lognormal => "lognormal",
            PopulationKind::Hosts => "hosts",
            PopulationKind::WebClasses => "web-classes",
            PopulationKind::Wide => "wide",
            PopulationKind::Gamma => "gamma",
            PopulationKind::Coupled => "coupled",
        }
    }

    /// Its short name in the notes.
    pub fn short_name(self) -> &'static str {
        match self {
            PopulationKind::Lognormal => "p1",
            PopulationKind::Hosts => "p2",
            PopulationKind::WebClasses => "p3",
            PopulationKind::Wide => "l",
            PopulationKind::Gamma => "g",
            PopulationKind::Coupled => "c",
        }
    }

    /// A summary in one line.
    pub fn summary(self) -> &'static str {
        match self {
            PopulationKind::Lognormal => "one site, ln rate normal (ln 0.1 per day, 1.8), weights Pareto 1.2",
            PopulationKind::Hosts => "hosts of 50 pages, ln rate of a host normal (ln 0.15, 1.2), within it 0.7",
            PopulationKind::WebClasses => "five classes, changing daily to yearly (Cho & Garcia-Molina 2003)",
            PopulationKind::Wide => "one site, ln rate normal (ln 1/30 per day, 2), weights Pareto 1.5",
            PopulationKind::Gamma => "one site, rates Gamma (shape 0.4, mean 0.1 per day), weights Pareto 1.5",
            PopulationKind::Coupled => "as wide, with weights multiplied by the square root of the rate",
        }
    }

    /// The population with this name, short or long.
    pub fn parse(name: &str) -> Result<Self, SimulationError> {
        let wanted = name.to_ascii_lowercase();
        Self::ALL.into_iter().find(|kind| kind.name() == wanted || kind.short_name() == wanted).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|kind| kind.name()).collect();
            SimulationError::Unknown { what: "population", name: name.into(), known: known.join(", ") }
        })
    }

    /// Draws this many pages. A page with the same number and seed is the same, however many are drawn.
    pub fn draw(self, pages: usize, seed: u64) -> Result<SyntheticPopulation, SimulationError> {
        let sections = match self {
            PopulationKind::WebClasses => WEB_CLASSES.map(|class| class.0.to_string()).to_vec(),
            _ => vec!["all".to_string()],
        };
        let mut columns = Pages { sections, ..Pages::default() };
        let mut change_rates_per_day = Vec::with_capacity(pages);
        for page in 0..pages as u64 {
            let mut rates = RandomStream::new(seed, page, Purpose::ChangeRate);
            let mut importance = RandomStream::new(seed, page, Purpose::Importance);
            let (mut host, mut section) = (0, 0);
            let rate = match self {
                PopulationKind::Lognormal => 0.1 * (1.8 * rates.normal()).exp(),
                PopulationKind::Hosts => {
                    host = page / PAGES_PER_HOST;
                    let of_host = 1.2 * RandomStream::new(seed, host, Purpose::Host).normal();
                    0.15 * (of_host + 0.7 * rates.normal()).exp()
                }
                PopulationKind::WebClasses => {
                    let draw = rates.uniform();
                    let mut share = 0.0;
                    section = WEB_CLASSES
                        .iter()
                        .position(|class| {
                            share += class.2;
                            draw < share
                        })
                        .unwrap_or(WEB_CLASSES.len() - 1);
                    1.0 / WEB_CLASSES[section].1
                }
                PopulationKind::Wide | PopulationKind::Coupled => (2.0 * rates.normal()).exp() / 30.0,
                PopulationKind::Gamma => 0.25 * rates.gamma(0.4),
            };
            let rate = rate.clamp(RATES_PER_DAY.0, RATES_PER_DAY.1);
            let weight = match self {
                PopulationKind::Lognormal | PopulationKind::Hosts => importance.pareto(1.2).min(WEIGHT_MAX),
                PopulationKind::WebClasses => 1.0,
                PopulationKind::Wide | PopulationKind::Gamma => importance.pareto(1.5).min(WEIGHT_MAX),
                PopulationKind::Coupled => importance.pareto(1.5).min(WEIGHT_MAX) * rate.sqrt(),
            };
            columns.push(weight, 1.0, host as u32, section as u16)?;
            change_rates_per_day.push(rate);
        }
        Ok(SyntheticPopulation { pages: columns.checked()?, change_rates_per_day })
    }
}

const PAGES_PER_HOST: u64 = 50;

/// Name, mean days between changes, and share of the pages.
const WEB_CLASSES: [(&str, f64, f64); 5] = [
    ("day", 1.0, 0.23),
    ("week", 7.0, 0.15),
    ("month", 30.0, 0.16),
    ("four-months", 120.0, 0.16),
    ("year", 365.0, 0.30),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn median(mut numbers: Vec<f64>) -> f64 {
        numbers.sort_by(f64::total_cmp);
        numbers[numbers.len() / 2]
    }

    #[test]
    fn populations_are_what_they_are_said_to_be() {
        let draw = |kind: PopulationKind| kind.draw(20_000, 3).expect("a population");
        let near = |value: f64, expected: f64, share: f64| {
            assert!((value / expected - 1.0).abs() < share, "{value}, not {expected}");
        };
        near(median(draw(PopulationKind::Lognormal).change_rates_per_day), 0.1, 0.06);
        near(median(draw(PopulationKind::Wide).change_rates_per_day), 1.0 / 30.0, 0.06);
        let gamma = draw(PopulationKind::Gamma);
        near(gamma.change_rates_per_day.iter().sum::<f64>() / 20_000.0, 0.1, 0.06);
        let classes = draw(PopulationKind::WebClasses);
        let daily = (0..20_000).filter(|&page| classes.pages.section(page) == 0).count();
        near(daily as f64, 0.23 * 20_000.0, 0.04);
        let weights: Vec<f64> = (0..20_000).map(|page| gamma.pages.weight(page)).collect();
        // Pareto 1.5: the median is 2^(1/1.5).
        near(median(weights), 2f64.powf(1.0 / 1.5), 0.03);
    }

    #[test]
    fn pages_of_a_host_are_alike() {
        let population = PopulationKind::Hosts.draw(50_000, 1).expect("a population");
        let ln: Vec<f64> = population.change_rates_per_day.iter().map(|rate| rate.ln()).collect();
        let spread = |numbers: &[f64]| {
            let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
            (numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / numbers.len() as f64).sqrt()
        };
        let within = ln.chunks(50).map(spread).sum::<f64>() / 1000.0;
        assert!((within - 0.7).abs() < 0.03, "{within}");
        assert!((spread(&ln) - 1.2f64.hypot(0.7)).abs() < 0.08, "{}", spread(&ln));
        assert_eq!(population.pages.hosts(), 1000);
    }

    #[test]
    fn a_page_is_the_same_however_many_are_drawn() {
        for kind in PopulationKind::ALL {
            let (few, many) = (kind.draw(10, 5).expect("pages"), kind.draw(1000, 5).expect("pages"));
            assert_eq!(few.change_rates_per_day, many.change_rates_per_day[..10]);
            assert_eq!(few.pages.info(9), many.pages.info(9));
            assert_eq!(PopulationKind::parse(kind.name()), Ok(kind));
            assert_eq!(PopulationKind::parse(&kind.short_name().to_uppercase()), Ok(kind));
        }
        assert_eq!(PopulationKind::Wide.draw(0, 1).err(), Some(SimulationError::NoPages));
        let unknown = PopulationKind::parse("x").expect_err("no such population").to_string();
        assert!(unknown.contains("'x'") && unknown.contains("web-classes"), "{unknown}");
    }
}
