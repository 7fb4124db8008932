//! Rolling hashes of windows of w tokens (Karp & Rabin 1987), over the field of p = 2⁶¹ − 1.
//!
//! A window's hash is h = Σ t_{i+j} b^{w−1−j} mod p of its tokens t mod p, slid in constant time:
//! h' = h b + t_in − t_out b^w.

use crate::wide::{Wide, Work, at_widest};
use std::num::NonZeroUsize;

/// p, a Mersenne prime: a number folds onto itself at bit 61.
const MODULUS: u64 = (1 << 61) - 1;
/// b, below 2⁵⁷.
const BASE: u64 = 0x0123_4567_89AB_CDEF;

/// How many stretches of a sequence are slid over side by side: each hash waits for the one before it.
const STRETCHES: usize = 4;

/// Appends the hash of every window of a sequence of token hashes. A sequence shorter than `width` is one window, an
/// empty one has none.
pub(crate) fn windows(tokens: &[u64], width: NonZeroUsize, out: &mut Vec<u64>) {
    if tokens.is_empty() {
        return;
    }
    let width = width.get().min(tokens.len());
    let count = tokens.len() - width + 1;
    let length = count / STRETCHES;
    let (first, rest) = (out.len(), out.len() + STRETCHES * length);
    out.resize(rest, 0);
    if length > 0 {
        slide(tokens, width, length, &mut out[first..]);
    }
    out.extend(tokens[STRETCHES * length..].windows(width).map(hash_of));
}

/// The hashes of as many stretches of windows, each as long as the others, one behind the other.
fn slide(tokens: &[u64], width: usize, length: usize, out: &mut [u64]) {
    at_widest(Slide { tokens, width, length, out });
}

struct Slide<'t, 'o> {
    tokens: &'t [u64],
    width: usize,
    length: usize,
    out: &'o mut [u64],
}

impl Work for Slide<'_, '_> {
    type Result = ();

    #[inline(always)]
    fn at(self, _: impl Wide) {
        let Self { tokens, width, length, out } = self;
        let leaving_power = (0..width).fold(1, |power, _| multiply(power, BASE));
        let starts: [usize; STRETCHES] = std::array::from_fn(|stretch| stretch * length);
        let mut pairs = starts.map(|start| tokens[start..].iter().zip(&tokens[start + width..]));
        let mut hashes = starts.map(|start| hash_of(&tokens[start..start + width]));
        let (one, rest) = out.split_at_mut(length);
        let (two, rest) = rest.split_at_mut(length);
        let (three, four) = rest.split_at_mut(length);
        for (((one, two), three), four) in one.iter_mut().zip(two).zip(three).zip(four) {
            for (place, (hash, pairs)) in [one, two, three, four].into_iter().zip(hashes.iter_mut().zip(&mut pairs)) {
                *place = reduce(*hash);
                // Behind the last window of all there is none.
                let (leaving, coming) = pairs.next().unwrap_or((&0, &0));
                // Numbers stay congruent and small, but are reduced only at the end: the two below 2⁶¹ + 8 make a product
                // below 2¹²³, which is below 2⁶³ − 4 once folded.
                let product = u128::from(fold((*leaving).into())) * u128::from(leaving_power);
                let difference = fold((*coming).into()) + (4 * MODULUS - fold(product));
                // A hash is below 2⁶², so the sum is below 2¹¹⁹ + 2⁶⁴, and below 2⁶¹ + 2⁵⁹ once folded.
                *hash = fold(u128::from(*hash) * u128::from(BASE) + u128::from(difference));
            }
        }
    }
}

/// The hash of a window by itself.
fn hash_of(window: &[u64]) -> u64 {
    window.iter().fold(0, |hash, &token| reduce(multiply(hash, BASE) + reduce(token)))
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
