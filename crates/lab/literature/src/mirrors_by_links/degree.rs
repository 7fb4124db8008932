//! Out-degrees of pages: which are worth comparing, and how many comparisons that takes.

use mirrors::Threshold;

/// With fewer links, shared menus alone would make unrelated pages mirrors.
pub(crate) const LEAST_DEGREE: usize = mirrors::LEAST_LINKS;
/// The least upper bound of degrees, used for small sets of pages.
const USUAL_LARGEST_DEGREE: usize = 150;
/// A degree with fewer pages than this belongs to the tail.
const TAIL_PAGES: u64 = 10;
/// A full [`LinkSet`](super::LinkSet) may have dropped links, so its degree is unknown and its page is left out.
const GREATEST_DEGREE: usize = super::link_set::MAX_LINKS - 1;

/// The range of degrees compared, ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DegreeBounds {
    /// D_min, the least degree.
    pub least: usize,
    /// D_max, the greatest degree.
    pub greatest: usize,
}

impl DegreeBounds {
    /// Whether pages of this degree are compared.
    pub fn admits(self, degree: usize) -> bool {
        (self.least..=self.greatest).contains(&degree)
    }
}

/// The number of pages per degree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DegreeHistogram {
    pages: Vec<u64>,
}

impl FromIterator<usize> for DegreeHistogram {
    fn from_iter<I: IntoIterator<Item = usize>>(degrees: I) -> Self {
        let mut pages = vec![0; GREATEST_DEGREE + 1];
        for degree in degrees {
            pages[degree.min(GREATEST_DEGREE)] += 1;
        }
        Self { pages }
    }
}

impl DegreeHistogram {
    /// c_m: the number of pages with `degree` links.
    pub fn pages(&self, degree: usize) -> u64 {
        self.pages.get(degree).copied().unwrap_or(0)
    }

    /// The bounds for these pages. D_min is 10. D_max is where the tail begins: the smallest degree from which on every
    /// degree has fewer than 10 pages, but at least 150. (In seed 004 it is 150, although some lower degrees have fewer
    /// than 10 pages, too.)
    pub fn bounds(&self) -> DegreeBounds {
        let tail = self.pages.iter().rposition(|&pages| pages >= TAIL_PAGES).map_or(0, |degree| degree + 1);
        DegreeBounds { least: LEAST_DEGREE, greatest: tail.clamp(USUAL_LARGEST_DEGREE, GREATEST_DEGREE) }
    }

    /// The number of pairs of one page with m links and one with n.
    pub fn pairs(&self, m: usize, n: usize) -> u64 {
        if m == n { self.pages(m) * self.pages(m).saturating_sub(1) / 2 } else { self.pages(m) * self.pages(n) }
    }

    /// The number of comparisons under the degree bound when no page is a mirror: Σ_m \[c_m (c_m − 1) / 2 + c_m Σ_{n =
    /// lo(m)}^{m − 1} c_n\] (Section E7).
    pub fn comparisons(&self, bounds: DegreeBounds, threshold: Threshold) -> u64 {
        let of_degree = |m| {
            let lowest = threshold.lowest_partner_degree(m).max(bounds.least);
            (lowest..=m).map(|n| self.pairs(m, n)).sum::<u64>()
        };
        (bounds.least..=bounds.greatest).map(of_degree).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The counts printed by seed 004.
    fn seed() -> DegreeHistogram {
        let tail = [12, 9, 16, 22, 12, 9, 21, 10, 9, 10, 11, 17, 15, 10, 9];
        let counts = [(10, 3171), (11, 2748), (12, 2445)].into_iter().chain((136..=150).zip(tail));
        counts.flat_map(|(degree, pages)| std::iter::repeat_n(degree, pages)).collect()
    }

    #[test]
    fn the_rows_are_those_of_the_seed() {
        let check = |m, n, pairs| assert_eq!(seed().pairs(m, n), pairs, "({m}, {n})");
        check(10, 10, 5_026_035);
        check(11, 10, 8_713_908);
        check(11, 11, 3_774_378);
        check(12, 11, 6_718_860);
        check(12, 12, 2_987_790);
        check(150, 150, 36);
        let above = Threshold::above(9, 10).unwrap();
        assert_eq!((above.lowest_partner_degree(150)..150).map(|n| seed().pairs(150, n)).sum::<u64>(), 1647);
        // Degrees 10 to 12 together: 12 has no partners among 10.
        let bounds = DegreeBounds { least: 10, greatest: 12 };
        assert_eq!(seed().comparisons(bounds, above), 5_026_035 + 8_713_908 + 3_774_378 + 6_718_860 + 2_987_790);
        let bounds = DegreeBounds { least: 10, greatest: 150 };
        let without_the_last = DegreeBounds { greatest: 149, ..bounds };
        assert_eq!(seed().comparisons(bounds, above) - seed().comparisons(without_the_last, above), 1683);
        // All pages of the seed with all others.
        let together = DegreeHistogram { pages: vec![270_000] };
        assert_eq!(together.pairs(0, 0), 36_449_865_000);
    }

    #[test]
    fn bounds_follow_the_tail_of_the_histogram() {
        assert_eq!(seed().bounds(), DegreeBounds { least: 10, greatest: 150 });
        let check = |degrees: Vec<usize>, greatest| {
            assert_eq!(degrees.into_iter().collect::<DegreeHistogram>().bounds().greatest, greatest);
        };
        check(vec![], 150);
        check(vec![400; 9], 150);
        check(vec![400; 10], 401);
        check(vec![5_000; 10], GREATEST_DEGREE);
    }

    proptest! {
        #[test]
        fn comparisons_are_the_pairs_within_the_bound(degrees in proptest::collection::vec(8usize..60, 0..60)) {
            let threshold = Threshold::default();
            let bounds = DegreeBounds { least: 10, greatest: 50 };
            let admitted: Vec<usize> = degrees.iter().copied().filter(|&degree| bounds.admits(degree)).collect();
            let mut pairs = 0;
            for (index, &a) in admitted.iter().enumerate() {
                let partners = |b: &&usize| **b.min(&&a) >= threshold.lowest_partner_degree(**b.max(&&a));
                pairs += admitted[..index].iter().filter(partners).count() as u64;
            }
            prop_assert_eq!(degrees.into_iter().collect::<DegreeHistogram>().comparisons(bounds, threshold), pairs);
        }
    }
}
