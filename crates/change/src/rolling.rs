//! Rolling hashes of windows of w tokens (Karp & Rabin 1987), over the field of p = 2⁶¹ − 1.
//!
//! A window's hash is h = Σ t_{i+j} b^{w−1−j} mod p of its tokens t mod p, slid in constant time:
//! h' = h b + t_in − t_out b^w.

use std::num::NonZeroUsize;

/// p, a Mersenne prime: a number folds onto itself at bit 61.
const MODULUS: u64 = (1 << 61) - 1;
/// b, below 2⁵⁷.
const BASE: u64 = 0x0123_4567_89AB_CDEF;

/// Appends the hash of every window of a sequence of token hashes. A sequence shorter than `width` is one window, an
/// empty one has none.
pub(crate) fn windows(tokens: &[u64], width: NonZeroUsize, out: &mut Vec<u64>) {
    let (head, incoming) = tokens.split_at(width.get().min(tokens.len()));
    if head.is_empty() {
        return;
    }
    let mut hash = head.iter().fold(0, |hash, &token| reduce(multiply(hash, BASE) + reduce(token)));
    out.reserve(incoming.len() + 1);
    out.push(hash);
    let leaving_power = (0..width.get()).fold(1, |power, _| multiply(power, BASE));
    out.extend(tokens.iter().zip(incoming).map(|(&leaving, &coming)| {
        // Numbers stay congruent and small, but are reduced only at the end: the two below 2⁶¹ + 8 make a product below
        // 2¹²³, which is below 2⁶³ − 4 once folded.
        let product = u128::from(fold(leaving.into())) * u128::from(leaving_power);
        let difference = fold(coming.into()) + (4 * MODULUS - fold(product));
        // `hash` is below 2⁶², so the sum is below 2¹¹⁹ + 2⁶⁴, and below 2⁶¹ + 2⁵⁹ once folded.
        hash = fold(u128::from(hash) * u128::from(BASE) + u128::from(difference));
        reduce(hash)
    }));
}

/// A number to a congruent one, the sum of its lowest 61 bits and of all others, which must fit.
#[inline(always)]
const fn fold(value: u128) -> u64 {
    (value as u64 & MODULUS) + (value >> 61) as u64
}

#[inline(always)]
const fn reduce(value: u64) -> u64 {
    let folded = (value & MODULUS) + (value >> 61);
    if folded >= MODULUS { folded - MODULUS } else { folded }
}

#[inline(always)]
const fn multiply(a: u64, b: u64) -> u64 {
    reduce(fold(a as u128 * b as u128))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The sum in the module's description, without sliding.
    fn by_definition(window: &[u64]) -> u64 {
        let modulus = u128::from(MODULUS);
        window.iter().fold(0, |hash, &token| (hash * u128::from(BASE) + u128::from(token)) % modulus) as u64
    }

    fn sliding(tokens: &[u64], width: usize) -> Vec<u64> {
        let mut hashes = Vec::new();
        windows(tokens, NonZeroUsize::new(width).unwrap(), &mut hashes);
        hashes
    }

    #[test]
    fn tokens_at_the_modulus_are_zeros() {
        assert_eq!(sliding(&[MODULUS, 0, u64::MAX, 7], 3), [by_definition(&[0, 0, 7]), by_definition(&[0, 7, 7])]);
    }

    proptest! {
        #[test]
        fn sliding_agrees_with_the_definition(
            tokens in proptest::collection::vec(prop_oneof![any::<u64>(), Just(u64::MAX), Just(MODULUS)], 0..60),
            width in 1usize..8,
        ) {
            let expected: Vec<u64> = match tokens.len() {
                0 => vec![],
                length => tokens.windows(width.min(length)).map(by_definition).collect(),
            };
            prop_assert_eq!(sliding(&tokens, width), expected);
        }
    }
}
