//! Hashes of windows of w tokens (Karp & Rabin 1987), modulo 2³².
//!
//! A window's hash is h = Σ t_{i+j} b^{w−1−j} mod 2³² of its tokens t. Windows are few tokens wide, so each is hashed by
//! itself: a hash that slides would wait for the one before it, and many windows side by side take less time. With this
//! modulus, texts of two symbols can be built to collide. That does not matter here, because tokens are hashes.

use std::num::NonZeroUsize;
use wide_bytes::{Wide, WideWork, at_widest};

/// b, odd.
const BASE: u32 = 0x89AB_CDEF;
/// Windows hashed per pass, few enough to stay in cache.
const STRETCH: usize = 512;

/// Replaces the content of `out` by the hash of every window of a sequence of token hashes, mixed so that it is evenly spread.
/// A sequence shorter than `width` is one window; an empty one has none.
pub(crate) fn windows(tokens: &[u32], width: NonZeroUsize, out: &mut Vec<u32>) {
    out.clear();
    if tokens.is_empty() {
        return;
    }
    let width = width.get().min(tokens.len());
    out.extend_from_slice(&tokens[..=tokens.len() - width]);
    at_widest(Windows { tokens, width, out });
}

struct Windows<'t, 'o> {
    tokens: &'t [u32],
    width: usize,
    /// The first token of each window.
    out: &'o mut [u32],
}

impl WideWork for Windows<'_, '_> {
    type Result = ();

    #[inline(always)]
    fn at(self, _: impl Wide) {
        let Self { tokens, width, out } = self;
        for (hashes, tokens) in out.chunks_mut(STRETCH).zip((0..).step_by(STRETCH).map(|start| &tokens[start..])) {
            for place in 1..width {
                for (hash, token) in hashes.iter_mut().zip(&tokens[place..]) {
                    *hash = hash.wrapping_mul(BASE).wrapping_add(*token);
                }
            }
            for hash in hashes {
                *hash = mixed(*hash);
            }
        }
    }
}

/// The finalizer of MurmurHash3 (Appleby): a well-mixed permutation of 32-bit values.
#[inline(always)]
const fn mixed(mut value: u32) -> u32 {
    value = (value ^ (value >> 16)).wrapping_mul(0x85EB_CA6B);
    value = (value ^ (value >> 13)).wrapping_mul(0xC2B2_AE35);
    value ^ (value >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The sum in the module's description.
    fn by_definition(window: &[u32]) -> u32 {
        let sum = window.iter().rev().zip(0..).map(|(token, power)| token.wrapping_mul(BASE.wrapping_pow(power)));
        mixed(sum.fold(0, u32::wrapping_add))
    }

    #[test]
    fn the_bits_of_the_finalizer_are_those_published() {
        assert_eq!([0, 1, 2].map(mixed), [0, 0x514e_28b7, 0x30f4_c306]);
    }

    proptest! {
        #[test]
        fn windows_agree_with_the_definition(
            tokens in proptest::collection::vec(any::<u32>(), 0..1_200),
            width in 1usize..8,
        ) {
            let expected: Vec<u32> = match tokens.len() {
                0 => vec![],
                length => tokens.windows(width.min(length)).map(by_definition).collect(),
            };
            let mut hashes = vec![7];
            windows(&tokens, NonZeroUsize::new(width).unwrap(), &mut hashes);
            prop_assert_eq!(hashes, expected);
        }
    }
}
