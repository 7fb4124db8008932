//! Rolling hashes of windows of w tokens (Karp & Rabin 1987), over the field of p = 2⁶¹ − 1.
//!
//! A window's hash is h = Σ t_{i+j} b^{w−1−j} mod p of its tokens t mod p. It slides in constant time: h' = h b + t_in
//! − t_out b^w. The usual widths, 3 and 5, are not slid: each hash would wait for the one before it, and computing
//! several windows side by side takes less time.

use std::num::NonZeroUsize;
use wide_bytes::{Wide, WideWork, at_widest};

/// p, a Mersenne prime: a number is reduced by folding it at bit 61.
const MODULUS: u64 = (1 << 61) - 1;
/// b, below 2⁵⁷.
const BASE: u64 = 0x0123_4567_89AB_CDEF;

/// The widest windows that are hashed independently.
const NARROW: usize = 5;
/// Windows hashed per pass, few enough that their tokens stay in cache.
const STRETCH: usize = 128;
/// Bits in the lower half of a number.
const HALF: u32 = 31;

/// Appends the hash of every window of a sequence of token hashes. A sequence shorter than `width` is one window; an
/// empty one has none.
pub(crate) fn windows(tokens: &[u64], width: NonZeroUsize, out: &mut Vec<u64>) {
    if tokens.is_empty() {
        return;
    }
    let width = width.get().min(tokens.len());
    let first = out.len();
    out.resize(first + tokens.len() - width + 1, 0);
    at_widest(Windows { tokens, width, out: &mut out[first..] });
}

struct Windows<'t, 'o> {
    tokens: &'t [u64],
    width: usize,
    out: &'o mut [u64],
}

impl WideWork for Windows<'_, '_> {
    type Result = ();

    #[inline(always)]
    fn at(self, _: impl Wide) {
        let Self { tokens, width, out } = self;
        match width {
            3 => each_by_itself::<3>(tokens, out),
            5 => each_by_itself::<5>(tokens, out),
            _ => slide(tokens, width, out),
        }
    }
}

/// Hashes windows of W ≤ [`NARROW`] tokens independently. Numbers are multiplied in two halves, the lower of 31 bits,
/// because processors multiply 32 bits of many numbers at once.
#[inline(always)]
fn each_by_itself<const W: usize>(tokens: &[u64], out: &mut [u64]) {
    const { assert!(W <= NARROW) };
    let mut powers = [1; W];
    for place in (1..W).rev() {
        powers[place - 1] = multiply(powers[place], BASE);
    }
    let powers = powers.map(halves);
    let (mut low, mut high) = ([0; STRETCH + NARROW], [0; STRETCH + NARROW]);
    for (number, hashes) in out.chunks_mut(STRETCH).enumerate() {
        let tokens = &tokens[STRETCH * number..][..hashes.len() + W - 1];
        for ((low, high), &token) in low.iter_mut().zip(&mut high).zip(tokens) {
            (*low, *high) = halves(fold(token.into()));
        }
        for (place, hash) in hashes.iter_mut().enumerate() {
            // A product of halves in three multiplications (Karatsuba). A folded token is below 2⁶¹ + 8, so its upper
            // half is 2³⁰ at most. No sum reaches 2⁶⁴ except `middle`, which wraps until the other two are subtracted.
            let (mut lowest, mut middle, mut highest) = (0, 0_u64, 0);
            for (token, (low_power, high_power)) in powers[..W - 1].iter().enumerate() {
                let (low, high) = (low[place + token], high[place + token]);
                lowest += times(low, *low_power);
                middle = middle.wrapping_add(times(low + high, low_power + high_power));
                highest += times(high, *high_power);
            }
            let middle = middle.wrapping_sub(lowest).wrapping_sub(highest);
            let last = low[place + W - 1] + (high[place + W - 1] << HALF);
            // 2³¹ times the middle: its lowest 30 bits stay below 2⁶¹, and its higher bits return at bit 0, since 2⁶¹
            // is congruent to 1. The highest counts twice, since 2⁶² is congruent to 2.
            let middle = ((middle & ((1 << 30) - 1)) << HALF) + (middle >> 30);
            *hash = reduce(fold(lowest.into()) + fold((2 * highest).into()) + middle + last);
        }
    }
}

/// Hashes windows of any width by sliding.
fn slide(tokens: &[u64], width: usize, out: &mut [u64]) {
    let leaving_power = (0..width).fold(1, |power, _| multiply(power, BASE));
    let mut hash = hash_of(&tokens[..width]);
    for (place, (leaving, coming)) in out.iter_mut().zip(tokens.iter().zip(tokens[width..].iter().chain([&0]))) {
        *place = hash;
        let kept = multiply(hash, BASE) + MODULUS - multiply(reduce(*leaving), leaving_power);
        hash = reduce(kept + reduce(*coming));
    }
}

/// The hash of one window.
fn hash_of(window: &[u64]) -> u64 {
    window.iter().fold(0, |hash, &token| reduce(multiply(hash, BASE) + reduce(token)))
}

/// Returns a congruent number: the lowest 61 bits plus all higher bits, whose sum must fit. For a 64-bit value the
/// result is below 2⁶¹ + 8.
#[inline(always)]
const fn fold(value: u128) -> u64 {
    (value as u64 & MODULUS) + (value >> 61) as u64
}

/// The lowest 31 bits, and the remaining ones.
#[inline(always)]
const fn halves(value: u64) -> (u64, u64) {
    (value & ((1 << HALF) - 1), value >> HALF)
}

/// The product of two numbers below 2³².
#[inline(always)]
const fn times(a: u64, b: u64) -> u64 {
    (a & 0xffff_ffff) * (b & 0xffff_ffff)
}

#[inline(always)]
const fn reduce(value: u64) -> u64 {
    let folded = fold(value as u128);
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
