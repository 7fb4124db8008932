//! The part of the extent of changes in the value of a fetch.
//!
//! A stale copy costs in proportion to the extent of what it misses: with a mean extent m and the survival S(t) of the copy,
//! D(t) = m (1 - S(t)) of it is expected to differ after t days. The value of a fetch, U(t) = t D(t) - ∫ D (Olston & Pandey,
//! WWW 2008), is linear in D, so it is m times the value that counts every change alike: the extent is a factor on the
//! weight, and takes no byte of its own in the columns. It holds where later changes hit the same part of a page
//! as the first, such as a date, a price or a version number; where they hit other parts, D is larger (`docs/MEASUREMENTS.md`).
//!
//! Extent alone gives up freshness that a reader of small changes misses. An objective of both, where a share κ of a
//! change's value follows its extent, has the weight (1 - κ) + κ m / m0: every best compromise of the two is the optimum for
//! some κ.

use change_rate::ORDINARY_EXTENT;

/// Factor on the weight of a page whose changes have this mean extent, in (0, 1], where a share of a change's value, in 0..=1,
/// follows its extent. A page of ordinary changes ([`ORDINARY_EXTENT`], m0) keeps its weight, so that first copies, of whose
/// changes nothing is known, compete as before; so does one whose extent, from elsewhere, is no such share.
#[inline]
pub fn worth_of_changes(extent_share: f64, mean_extent: f64) -> f64 {
    let mean_extent = if mean_extent > 0.0 && mean_extent <= 1.0 { mean_extent } else { ORDINARY_EXTENT };
    1.0 + extent_share * (mean_extent / ORDINARY_EXTENT - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{crawl_value, due_after_days};
    use change_rate::Gamma;

    #[test]
    fn ordinary_changes_keep_the_weight_and_others_count_by_their_extent() {
        assert_eq!(worth_of_changes(0.0, 0.01), 1.0);
        assert_eq!(worth_of_changes(1.0, ORDINARY_EXTENT), 1.0);
        assert!((worth_of_changes(1.0, 0.3) / worth_of_changes(1.0, 0.03) - 10.0).abs() < 1e-12);
        assert_eq!([f64::NAN, 0.0, -1.0, 7.0].map(|extent| worth_of_changes(0.5, extent)), [1.0; 4]);
        // (1 - .5) + .5 × .3 / .15
        assert!((worth_of_changes(0.5, 0.3) - 1.5).abs() < 1e-12);
    }

    /// U of D(t) = m (1 - S(t)) by quadrature of its definition, beside m times the closed form.
    #[test]
    fn the_value_of_a_fetch_is_that_of_the_part_it_renews() {
        let belief = Gamma::new(1.7, 12.0).expect("a belief");
        for (extent, days) in [(0.02, 3.0), (0.3, 20.0), (1.0, 80.0)] {
            let divergence = |days: f64| extent * (1.0 - belief.fresh_probability(days));
            let steps = 20_000;
            let step = days / f64::from(steps);
            let integral: f64 = (0..steps).map(|k| step * divergence(step * (f64::from(k) + 0.5))).sum();
            let value = crawl_value(belief, days, 0.0, extent, 1.0);
            assert!((days * divergence(days) - integral - value).abs() < 1e-6 * value, "{extent} {days}");
        }
    }

    #[test]
    fn a_page_of_small_changes_is_due_later() {
        let belief = Gamma::new(4.0, 40.0).expect("a belief");
        let due = |extent| due_after_days(belief, 0.01, worth_of_changes(0.5, extent), 1.0, 0.2);
        assert!(due(0.5) < due(0.15) && due(0.15) < due(0.05), "{} {} {}", due(0.5), due(0.15), due(0.05));
    }
}
