//! Numbers of links that unusually many sites have in common. Pages of one program have exactly as many links, where
//! those of people spread along a power law: Fetterly, Manasse & Najork (2004) found most of the degrees far above it
//! to be spam.

use crate::shape::{Signal, SpamShape};
use std::collections::BTreeMap;

/// Degrees below this one are shared by many sites by chance.
const LEAST_DEGREE: u32 = 10;
/// Fewer sites than this are no crowd.
const LEAST_SITES: u32 = 10;
/// A degree is compared with those that differ from it by this share at most.
const NEAR: f64 = 0.25;

/// Sites by the numbers of links that their pages have. A site counts once for a number, however many of its pages have
/// it: those of one template are alike everywhere.
#[derive(Clone, Debug, Default)]
pub struct DegreeCounts {
    sites: BTreeMap<u32, u32>,
}

impl DegreeCounts {
    /// Counts the numbers of links that the pages of one site have.
    pub fn add_site(&mut self, degrees: impl IntoIterator<Item = u32>) {
        let mut degrees: Vec<u32> = degrees.into_iter().filter(|degree| *degree >= LEAST_DEGREE).collect();
        degrees.sort_unstable();
        degrees.dedup();
        for degree in degrees {
            *self.sites.entry(degree).or_default() += 1;
        }
    }

    /// Sites with this number over the sites that are expected, which is the median of the numbers near it, one at
    /// least. `None` of few sites and of few links.
    pub fn excess(&self, degree: u32) -> Option<f64> {
        let sites = self.sites.get(&degree).copied().filter(|sites| *sites >= LEAST_SITES)?;
        let reach = ((f64::from(degree) * NEAR) as u32).max(2);
        let near = degree.saturating_sub(reach).max(LEAST_DEGREE)..=degree.saturating_add(reach);
        let mut others: Vec<u32> =
            self.sites.range(near.clone()).filter(|(it, _)| **it != degree).map(|(_, n)| *n).collect();
        // Numbers that no site has count as well.
        others.resize((near.end() - near.start()) as usize, 0);
        others.sort_unstable();
        let expected = others.get(others.len() / 2).copied().unwrap_or(0).max(1);
        Some(f64::from(sites) / f64::from(expected))
    }

    /// The judgement of a site by the numbers of links of its pages. Pages with other numbers lower it.
    pub fn shape(&self, degrees: &[u32]) -> SpamShape {
        let mut shape = SpamShape::default();
        let unusual = degrees.iter().filter_map(|degree| Some((self.excess(*degree)?, *degree)));
        if let Some((excess, most)) = unusual.max_by(|one, other| one.0.total_cmp(&other.0)) {
            let pages = degrees.iter().filter(|degree| **degree == most).count();
            shape.add(Signal::CommonDegree, excess, pages as f64 / degrees.len() as f64);
        }
        shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thousand sites whose degrees follow a power law.
    fn web() -> DegreeCounts {
        let mut counts = DegreeCounts::default();
        for degree in 10..200u32 {
            (0..(20_000.0 / f64::from(degree).powi(2)) as u32).for_each(|_| counts.add_site([degree]));
        }
        counts
    }

    #[test]
    fn a_degree_far_above_the_law_is_an_outlier_and_those_on_it_are_not() {
        let mut counts = web();
        assert!((10..200).all(|degree| counts.excess(degree).is_none_or(|excess| excess < 3.0)));
        (0..100).for_each(|_| counts.add_site([37; 50]));
        assert!(counts.excess(37).unwrap() > 7.0, "{:?}", counts.excess(37));
        assert!(counts.shape(&[37, 37, 37]).score() > 0.05);
        assert_eq!(counts.shape(&[12, 40, 80]), SpamShape::default());
        assert!(counts.shape(&[37, 12, 40, 80]).score() < counts.shape(&[37]).score());
    }

    #[test]
    fn pages_of_one_site_count_once() {
        let mut counts = DegreeCounts::default();
        counts.add_site(vec![50; 10_000]);
        assert_eq!(counts.excess(50), None);
    }
}
