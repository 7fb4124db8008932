//! How well a focused crawl does: harvest rate and target recall.

/// Share of relevant pages among the first `fetched` pages of a crawl. `None` if it did not fetch so many.
pub fn harvest_rate(relevant: &[bool], fetched: usize) -> Option<f64> {
    let first = relevant.get(..fetched).filter(|first| !first.is_empty())?;
    Some(found(first) / fetched as f64)
}

/// Share of the known relevant pages that are among the first `fetched` pages of a crawl. `None` if it did not fetch so
/// many, or if none are known.
pub fn target_recall(relevant: &[bool], fetched: usize, known_relevant: usize) -> Option<f64> {
    let first = relevant.get(..fetched).filter(|_| known_relevant > 0)?;
    Some(found(first) / known_relevant as f64)
}

fn found(relevant: &[bool]) -> f64 {
    relevant.iter().filter(|is_relevant| **is_relevant).count() as f64
}

/// The numbers of fetches at which the published system was measured: 500, 1,000, …, 4,000.
pub const MEASURED_AT: [usize; 8] = [500, 1000, 1500, 2000, 2500, 3000, 3500, 4000];

/// The mean height of a curve over its range: the area under it by the trapezoidal rule, divided by the range. `points`
/// are sorted by the first number. `None` without a range.
pub fn mean_height(points: &[(usize, f64)]) -> Option<f64> {
    let (first, last) = (points.first()?, points.last()?);
    let range = last.0.checked_sub(first.0).filter(|range| *range > 0)? as f64;
    let pieces = points.windows(2).map(|pair| (pair[1].0 - pair[0].0) as f64 * (pair[0].1 + pair[1].1) / 2.0);
    Some(pieces.sum::<f64>() / range)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section G3 of the specification.
    #[test]
    fn the_reference_values_are_met() {
        let relevant = [1, 0, 1, 1, 0, 0, 1, 0].map(|flag| flag == 1);
        for (fetched, harvest, recall) in [(1, 1.0, 0.1), (2, 0.5, 0.1), (4, 0.75, 0.3), (8, 0.5, 0.4)] {
            assert_eq!(harvest_rate(&relevant, fetched), Some(harvest));
            assert!((target_recall(&relevant, fetched, 10).unwrap() - recall).abs() < 1e-12);
        }
    }

    #[test]
    fn what_was_not_measured_has_no_value() {
        assert_eq!((harvest_rate(&[true], 2), harvest_rate(&[true], 0)), (None, None));
        assert_eq!((target_recall(&[true], 2, 1), target_recall(&[true], 1, 0)), (None, None));
        assert_eq!((mean_height(&[]), mean_height(&[(3, 1.0)])), (None, None));
    }

    #[test]
    fn the_height_of_a_curve_is_its_mean() {
        assert_eq!(mean_height(&[(10, 0.5), (20, 0.5)]), Some(0.5));
        assert_eq!(mean_height(&[(0, 1.0), (10, 0.0), (40, 0.0)]), Some(0.125));
    }
}
