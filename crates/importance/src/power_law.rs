//! How heavy is the tail of degrees or importance? The exponent of a power law by maximum likelihood (Clauset, Shalizi & Newman,
//! SIAM Review 2009): p(x) ~ x^-α from some value on.
//!
//! The value from which the law holds is the one at which the law is nearest to the data, by the distance of Kolmogorov and Smirnov
//! (their section 3.3). That a law was fitted does not say that it is true.

/// Values that a tail needs at least.
const LEAST_IN_TAIL: usize = 50;
/// Beginnings of the tail that are tried at most.
const MOST_BEGINNINGS: usize = 100;

/// A fitted tail.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct PowerLawTail {
    /// The exponent α of the density.
    pub exponent: f64,
    /// Its standard error, (α - 1) / √n.
    pub standard_error: f64,
    /// The smallest value of the tail.
    pub from: f64,
    /// Number of values in it.
    pub values: usize,
    /// The largest difference between the two distribution functions.
    pub distance: f64,
}

/// The tail of whole numbers, such as degrees, by their equation 3.7, α ≈ 1 + n / Σ ln(x / (x_min - 1/2)), which is good from
/// x_min = 6 on. Zeros are left out. `None` if fewer than 50 values are not.
pub fn tail_of_counts(counts: &[u64]) -> Option<PowerLawTail> {
    best_tail(counts.iter().filter(|count| **count > 0).map(|count| *count as f64).collect(), 0.5)
}

/// The tail of real numbers, such as importance, by their equation 3.1, α = 1 + n / Σ ln(x / x_min). Those that are not positive are left
/// out. `None` if fewer than 50 are not, or all are the same.
pub fn tail_of_values(values: &[f64]) -> Option<PowerLawTail> {
    best_tail(values.iter().copied().filter(|value| *value > 0.0 && value.is_finite()).collect(), 0.0)
}

/// `below` is how far the tail begins below its smallest value.
fn best_tail(mut values: Vec<f64>, below: f64) -> Option<PowerLawTail> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(LEAST_IN_TAIL)?;
    let is_first = |place: &usize| *place == 0 || values[*place] > values[*place - 1];
    let beginnings: Vec<usize> = (0..=last).filter(is_first).collect();
    let step = beginnings.len().div_ceil(MOST_BEGINNINGS).max(1);
    let tails = beginnings.iter().step_by(step).filter_map(|place| tail(&values[*place..], below));
    tails.min_by(|one, other| one.distance.total_cmp(&other.distance))
}

/// The tail of sorted values from the first one on.
fn tail(sorted: &[f64], below: f64) -> Option<PowerLawTail> {
    let (from, count) = (*sorted.first()?, sorted.len() as f64);
    let start = from - below;
    let logarithms: f64 = sorted.iter().map(|value| (value / start).ln()).sum();
    let exponent = 1.0 + count / logarithms;
    if !(exponent.is_finite() && sorted.last()? > &from) {
        return None;
    }
    let mut distance = 0.0f64;
    let mut place = 0;
    while place < sorted.len() {
        let value = sorted[place];
        let after = place + sorted[place..].partition_point(|other| *other <= value);
        // The share of values at least this large.
        let modelled = ((value - below) / start).powf(1.0 - exponent);
        distance = distance.max((modelled - (1.0 - place as f64 / count)).abs());
        if below == 0.0 {
            distance = distance.max((modelled - (1.0 - after as f64 / count)).abs());
        }
        place = after;
    }
    let standard_error = (exponent - 1.0) / count.sqrt();
    Some(PowerLawTail { exponent, standard_error, from, values: sorted.len(), distance })
}

#[cfg(test)]
mod tests {
    use super::*;
    use chance::{Draws, SplitMix64};

    #[test]
    fn the_exponent_of_a_drawn_tail_is_found() {
        let mut draws = SplitMix64(11);
        let values: Vec<f64> = (0..20_000).map(|_| 3.0 * draws.pareto(1.5)).collect();
        let tail = tail_of_values(&values).expect("there are values enough");
        assert!((tail.exponent - 2.5).abs() < 4.0 * tail.standard_error + 0.01, "{tail:?}");
        assert!(tail.distance < 0.02 && tail.from < 30.0, "{tail:?}");
        // Rounded to whole numbers, as their appendix D makes them.
        let counts: Vec<u64> = values.iter().map(|value| (value * 2.0 - 0.5).round() as u64).collect();
        let tail = tail_of_counts(&counts).expect("there are values enough");
        assert!((tail.exponent - 2.5).abs() < 4.0 * tail.standard_error + 0.02, "{tail:?}");
    }

    #[test]
    fn values_below_the_tail_do_not_count() {
        let mut draws = SplitMix64(5);
        let tail = (0..10_000).map(|_| 10.0 * draws.pareto(1.2));
        let mut values: Vec<f64> = tail.collect();
        values.extend((0..10_000).map(|number| 1.0 + 8.0 * f64::from(number) / 10_000.0));
        let tail = tail_of_values(&values).expect("there are values enough");
        assert!((tail.exponent - 2.2).abs() < 0.15 && tail.from > 8.0, "{tail:?}");
    }

    #[test]
    fn the_estimate_is_the_published_formula() {
        // From 1 on, the logarithms of 1 and e in equal parts sum to 25.
        let values: Vec<f64> = (0..50).map(|number| if number % 2 == 0 { 1.0 } else { std::f64::consts::E }).collect();
        let tail = tail_of_values(&values).expect("there are values enough");
        assert!((tail.exponent - 3.0).abs() < 1e-12 && tail.values == 50, "{tail:?}");
        assert!((tail.standard_error - 2.0 / 50f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn too_few_values_and_equal_ones_have_no_tail() {
        assert_eq!(tail_of_counts(&[0, 1, 2, 3]), None);
        assert_eq!(tail_of_counts(&[0; 100]), None);
        assert_eq!(tail_of_values(&[2.0; 100]), None);
        assert_eq!(tail_of_values(&[f64::NAN; 100]), None);
    }
}
