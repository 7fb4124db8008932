//! FNV-1a of up to eight bytes, of many pieces at once, with AVX2, which cannot multiply numbers of 64 bits.
//!
//! A step is h' = (h ⊕ b) p mod 2⁶⁴. The byte b meets only the lowest byte l of h, so h ⊕ b = h + d with d = (l ⊕ b) − l
//! between −255 and 255, and n steps come to
//!
//! > (h + Σ dᵢ p⁻ⁱ) pⁿ, i = 0, …, n − 1,
//!
//! with p⁻¹ mod 2⁶⁴. The lowest bytes follow from each other alone, l' = (l ⊕ b) p mod 2⁸: eight steps in numbers of 16 bits, for
//! sixteen pieces side by side. The sum is four sums of products of 16 bits, one for each digit of p⁻ⁱ. What is left is one
//! multiplication a piece.

use crate::hash::fnv1a64_step;
use crate::lanes::LANES;
use std::arch::x86_64::*;

/// Bytes taken in at once.
const STEPS: usize = 8;
/// p
const PRIME: u64 = fnv1a64_step(1, 0);
/// Pieces worked on at once.
const GROUP: usize = 16;
/// Added to sums so that none is below 0: each is of eight products of up to 255 and 2¹⁵.
const BIAS: i32 = 1 << 26;

/// pⁿ at the place n mod 8, for n from 1 to 8.
const POWERS: [u64; STEPS] = {
    let (mut powers, mut step, mut power) = ([0; STEPS], 1, 1);
    while step <= STEPS {
        power = fnv1a64_step(power, 0);
        powers[step % STEPS] = power;
        step += 1;
    }
    powers
};

/// p⁻ⁱ in digits to the base 2¹⁶, from −2¹⁵ to 2¹⁵ − 1, the lowest first.
const DIGITS: [[i16; 4]; STEPS] = {
    // Each round doubles how many of the lowest bits are those of 1 / p; of any odd number three are its own.
    let (mut inverse, mut round) = (PRIME, 0);
    while round < 5 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(PRIME.wrapping_mul(inverse)));
        round += 1;
    }
    assert!(inverse.wrapping_mul(PRIME) == 1);
    let (mut digits, mut power, mut step) = ([[0; 4]; STEPS], 1_u64, 0);
    while step < STEPS {
        let (mut rest, mut digit) = (power, 0);
        while digit < 4 {
            digits[step][digit] = rest as i16;
            rest = (rest.wrapping_sub(digits[step][digit] as u64) as i64 >> 16) as u64;
            digit += 1;
        }
        power = power.wrapping_mul(inverse);
        step += 1;
    }
    digits
};

/// [`super::Wide::fnv1a64_steps`].
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn steps(hashes: &mut [u64; LANES], bytes: &[u64; LANES], lengths: &[u64; LANES]) {
    let groups = hashes.as_chunks_mut::<GROUP>().0.iter_mut().zip(bytes.as_chunks().0).zip(lengths.as_chunks().0);
    for ((hashes, bytes), lengths) in groups {
        let lengths = quarters(lengths).map(|four| _mm256_min_epu32(four, _mm256_set1_epi64x(STEPS as i64)));
        let begun = quarters(hashes);
        let sums = sums(begun, quarters(bytes), lengths);
        let (quarters, _) = hashes.as_chunks_mut::<4>();
        for (number, quarter) in quarters.iter_mut().enumerate() {
            let ended = times_power(sums[number], lengths[number]);
            let is_none = _mm256_cmpeq_epi64(lengths[number], _mm256_setzero_si256());
            let ended = _mm256_blendv_epi8(ended, begun[number], is_none);
            // SAFETY: there is room for four numbers, which need not be aligned.
            unsafe { _mm256_storeu_si256(quarter.as_mut_ptr().cast(), ended) }
        }
    }
}

/// Each number times pⁿ, n from 1 to 8.
#[target_feature(enable = "avx2")]
#[inline]
fn times_power(numbers: __m256i, n: __m256i) -> __m256i {
    let halves = |shift: u32| {
        let half = |place: usize| (POWERS[place] >> shift) as i32;
        _mm256_setr_epi32(half(0), half(1), half(2), half(3), half(4), half(5), half(6), half(7))
    };
    // Of the places only the lowest three bits count.
    let (low, high) = (_mm256_permutevar8x32_epi32(halves(0), n), _mm256_permutevar8x32_epi32(halves(32), n));
    let crossed =
        _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64::<32>(numbers), low), _mm256_mul_epu32(numbers, high));
    _mm256_add_epi64(_mm256_mul_epu32(numbers, low), _mm256_slli_epi64::<32>(crossed))
}

/// h + Σ dᵢ p⁻ⁱ of each.
#[target_feature(enable = "avx2")]
#[inline]
fn sums(hashes: [__m256i; 4], bytes: [__m256i; 4], lengths: [__m256i; 4]) -> [__m256i; 4] {
    let low_byte = _mm256_set1_epi16(0xff);
    let low_bytes = hashes.map(|four| _mm256_and_si256(four, _mm256_set1_epi64x(0xff)));
    let (mut low, lengths) = (side_by_side(low_bytes), side_by_side(lengths));
    let places = transposed(bytes);
    let mut differences = [_mm256_setzero_si256(); STEPS];
    for (step, difference) in differences.iter_mut().enumerate() {
        let met = _mm256_xor_si256(low, places[step]);
        let is_there = _mm256_cmpgt_epi16(lengths, _mm256_set1_epi16(step as i16));
        *difference = _mm256_and_si256(_mm256_sub_epi16(met, low), is_there);
        low = _mm256_and_si256(_mm256_mullo_epi16(met, _mm256_set1_epi16(i16::from(PRIME as u8))), low_byte);
    }
    // Of eight pieces each.
    let mut halves = [[_mm256_set1_epi32(BIAS); 4]; 2];
    for (pair, digits) in differences.as_chunks::<2>().0.iter().zip(DIGITS.as_chunks::<2>().0) {
        let pairs = [_mm256_unpacklo_epi16(pair[0], pair[1]), _mm256_unpackhi_epi16(pair[0], pair[1])];
        for (half, pair) in halves.iter_mut().zip(pairs) {
            for (digit, sum) in half.iter_mut().enumerate() {
                let two = i32::from(digits[0][digit].cast_unsigned()) | i32::from(digits[1][digit]) << 16;
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pair, _mm256_set1_epi32(two)));
            }
        }
    }
    let [even, odd] = halves.map(|half| together(half));
    let in_order = [
        _mm256_unpacklo_epi64(even[0], odd[0]),
        _mm256_unpackhi_epi64(even[0], odd[0]),
        _mm256_unpacklo_epi64(even[1], odd[1]),
        _mm256_unpackhi_epi64(even[1], odd[1]),
    ];
    std::array::from_fn(|four| _mm256_add_epi64(in_order[four], hashes[four]))
}

/// Sums of digits to numbers of 64 bits: of eight pieces, the four that come first in each half of a register, and the others.
#[target_feature(enable = "avx2")]
#[inline]
fn together([first, second, third, fourth]: [__m256i; 4]) -> [__m256i; 2] {
    // Only the lowest 32 bits count of what begins at bit 32; its bias is taken from it with the others.
    let upper = _mm256_add_epi32(third, _mm256_slli_epi32::<16>(fourth));
    let bias = i64::from(BIAS).wrapping_mul(1 + (1 << 16) + (1 << 32) + (1 << 48));
    let zero = _mm256_setzero_si256();
    let add = |one, other| {
        let sum = _mm256_add_epi64(one, _mm256_slli_epi64::<16>(other));
        _mm256_sub_epi64(sum, _mm256_set1_epi64x(bias))
    };
    [
        add(_mm256_unpacklo_epi32(first, upper), _mm256_unpacklo_epi32(second, zero)),
        add(_mm256_unpackhi_epi32(first, upper), _mm256_unpackhi_epi32(second, zero)),
    ]
}

#[target_feature(enable = "avx2")]
#[inline]
fn quarters(numbers: &[u64; GROUP]) -> [__m256i; 4] {
    let (fours, _) = numbers.as_chunks::<4>();
    // SAFETY: four numbers are there, and need not be aligned.
    std::array::from_fn(|number| unsafe { _mm256_loadu_si256(fours[number].as_ptr().cast()) })
}

/// Sixteen numbers below 2¹⁵ as numbers of 16 bits, in the order 0, 4, 8, 12, 1, 5, 9, 13, …
#[target_feature(enable = "avx2")]
#[inline]
fn side_by_side([first, second, third, fourth]: [__m256i; 4]) -> __m256i {
    let lower = _mm256_or_si256(first, _mm256_slli_epi64::<16>(second));
    let upper = _mm256_or_si256(_mm256_slli_epi64::<32>(third), _mm256_slli_epi64::<48>(fourth));
    _mm256_or_si256(lower, upper)
}

/// The first bytes of sixteen numbers, their second bytes and so on, as numbers of 16 bits in the order of [`side_by_side`].
#[target_feature(enable = "avx2")]
#[inline]
fn transposed([first, second, third, fourth]: [__m256i; 4]) -> [__m256i; STEPS] {
    let lower = [_mm256_unpacklo_epi8(first, second), _mm256_unpacklo_epi8(third, fourth)];
    let upper = [_mm256_unpackhi_epi8(first, second), _mm256_unpackhi_epi8(third, fourth)];
    let fours = |[one, other]: [__m256i; 2]| [_mm256_unpacklo_epi16(one, other), _mm256_unpackhi_epi16(one, other)];
    let ([one, two], [three, four]) = (fours(lower), fours(upper));
    let eights = [
        _mm256_unpacklo_epi32(one, three),
        _mm256_unpackhi_epi32(one, three),
        _mm256_unpacklo_epi32(two, four),
        _mm256_unpackhi_epi32(two, four),
    ];
    let zero = _mm256_setzero_si256();
    std::array::from_fn(|place| match place % 2 {
        0 => _mm256_unpacklo_epi8(eights[place / 2], zero),
        _ => _mm256_unpackhi_epi8(eights[place / 2], zero),
    })
}
