//! Rank correlations.

/// Spearman's rank correlation: that of the ranks, where equal numbers share the mean of their ranks. 0 where all numbers of a side
/// are equal.
///
/// # Panics
/// When the two have different lengths.
pub fn spearman(one: &[f64], other: &[f64]) -> f64 {
    assert_eq!(one.len(), other.len(), "each page has two numbers");
    let (a, b) = (ranks(one), ranks(other));
    let mean = (one.len() as f64 + 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
    let spread = (product(&a, &a) * product(&b, &b)).sqrt();
    if spread > 0.0 { product(&a, &b) / spread } else { 0.0 }
}

/// Kendall's tau-b: pairs in the same order less pairs in the opposite one, corrected for equal numbers. Takes time with the square
/// of the length. 0 where all numbers of a side are equal.
///
/// # Panics
/// When the two have different lengths.
pub fn kendall(one: &[f64], other: &[f64]) -> f64 {
    assert_eq!(one.len(), other.len(), "each page has two numbers");
    let (mut agree, mut of_one, mut of_other) = (0i64, 0i64, 0i64);
    for j in 1..one.len() {
        for i in 0..j {
            let (a, b) = (sign(one[i], one[j]), sign(other[i], other[j]));
            agree += a * b;
            of_one += a * a;
            of_other += b * b;
        }
    }
    let pairs = (of_one as f64 * of_other as f64).sqrt();
    if pairs > 0.0 { agree as f64 / pairs } else { 0.0 }
}

fn sign(one: f64, other: f64) -> i64 {
    i64::from(one < other) - i64::from(one > other)
}

/// Ranks from 1.
fn ranks(numbers: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|one, other| numbers[*one].total_cmp(&numbers[*other]));
    let mut ranks = vec![0.0; numbers.len()];
    let mut first = 0;
    for equal in order.chunk_by(|one, other| numbers[*one] == numbers[*other]) {
        for page in equal {
            ranks[*page] = first as f64 + (equal.len() as f64 + 1.0) / 2.0;
        }
        first += equal.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_share_their_ranks() {
        let check = |one: &[f64], other: &[f64], rho: f64, tau: f64| {
            assert!((spearman(one, other) - rho).abs() < 1e-12, "{}", spearman(one, other));
            assert!((kendall(one, other) - tau).abs() < 1e-12, "{}", kendall(one, other));
        };
        check(&[1.0, 2.0, 3.0], &[10.0, 20.0, 30.0], 1.0, 1.0);
        check(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0], -1.0, -1.0);
        check(&[1.0, 1.0, 1.0], &[3.0, 2.0, 1.0], 0.0, 0.0);
        // Kendall's is that of SciPy's manual.
        check(&[12.0, 2.0, 1.0, 12.0, 2.0], &[1.0, 4.0, 7.0, 1.0, 0.0], SPEARMAN_TIES, KENDALL_TIES);
    }

    const SPEARMAN_TIES: f64 = -0.5407380704358752;
    const KENDALL_TIES: f64 = -0.47140452079103173;
}
