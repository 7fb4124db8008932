//! [`Wide`] with AVX2: 32 bytes, half a piece of text, at a time.

use super::{Folded, HALF, Marks, PIECE, Spaces, Wide, WideWork, fold_up_to_a_fold};
use std::arch::x86_64::*;

pub(super) fn is_here() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

/// Proof that the processor has AVX2; created only by [`work`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2(());

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn work<T: WideWork>(work: T) -> T::Result {
    work.at(Avx2(()))
}

impl Wide for Avx2 {
    #[inline(always)]
    fn marks(self, block: &[u8; 64]) -> Marks {
        // SAFETY: only AVX2 is required, and an `Avx2` exists only where it is available.
        unsafe { marks(block) }
    }

    #[inline(always)]
    fn equal(self, block: &[u8; 64], byte: u8) -> u64 {
        // SAFETY: as above.
        unsafe { in_halves(block, |half| equal(half, byte)) }
    }

    #[inline(always)]
    fn within(self, block: &[u8; 64], first: u8, last: u8) -> u64 {
        // SAFETY: as above.
        unsafe { in_halves(block, |half| within(half, first, last)) }
    }

    #[inline(always)]
    fn beyond_ascii(self, block: &[u8; 64]) -> u64 {
        // SAFETY: as above.
        unsafe { in_halves(block, |half| half) }
    }

    #[inline(always)]
    fn places(self, bits: u64, first: u32, to: &mut [u32; 64]) -> usize {
        // SAFETY: as above.
        unsafe { places(bits, first, to) }
    }

    #[inline(always)]
    fn fold(self, piece: &[u8; PIECE], left: usize, at_ampersands: bool) -> Folded {
        // SAFETY: as above.
        unsafe { fold(piece, left, at_ampersands) }
    }

    #[inline(always)]
    fn write(self, piece: &[u8; PIECE], start: usize, to: &mut [u8; PIECE]) {
        // SAFETY: as above.
        unsafe { write(piece, start, to) }
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: the 32 bytes are readable, and need not be aligned.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn equal(bytes: __m256i, byte: u8) -> __m256i {
    _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte.cast_signed()))
}

#[target_feature(enable = "avx2")]
#[inline]
fn or(one: __m256i, other: __m256i) -> __m256i {
    _mm256_or_si256(one, other)
}

#[target_feature(enable = "avx2")]
#[inline]
fn bits(found: __m256i) -> u32 {
    _mm256_movemask_epi8(found).cast_unsigned()
}

/// One bit per byte: the highest bit of each byte that `find` returns for the two halves.
#[target_feature(enable = "avx2")]
#[inline]
fn in_halves(block: &[u8; 64], find: impl Fn(__m256i) -> __m256i) -> u64 {
    let [low, high] = block.as_chunks::<32>().0 else { return 0 };
    u64::from(bits(find(load(low)))) | u64::from(bits(find(load(high)))) << 32
}

/// AVX2 has no unsigned comparison: a byte is at most a bound if the minimum of both is the byte.
#[target_feature(enable = "avx2")]
#[inline]
fn within(bytes: __m256i, first: u8, last: u8) -> __m256i {
    let moved = _mm256_sub_epi8(bytes, _mm256_set1_epi8(first.cast_signed()));
    _mm256_cmpeq_epi8(_mm256_min_epu8(moved, _mm256_set1_epi8((last - first).cast_signed())), moved)
}

/// Writes eight positions at a time, set or not, because a branch on the number of set bits would be mispredicted.
#[target_feature(enable = "avx2,popcnt")]
#[inline]
fn places(bits: u64, first: u32, to: &mut [u32; 64]) -> usize {
    /// The set bits of each byte value.
    static SET: [[u8; 8]; 256] = {
        let mut set = [[0; 8]; 256];
        let mut byte = 0;
        while byte < set.len() {
            let (mut bit, mut count) = (0, 0);
            while bit < 8 {
                if byte >> bit & 1 == 1 {
                    set[byte][count] = bit as u8;
                    count += 1;
                }
                bit += 1;
            }
            byte += 1;
        }
        set
    };
    let mut count = 0;
    for (number, byte) in bits.to_le_bytes().into_iter().enumerate() {
        let set = _mm_cvtsi64_si128(i64::from_le_bytes(SET[usize::from(byte)]));
        let first = _mm256_set1_epi32((first + 8 * number as u32).cast_signed());
        let eight = _mm256_add_epi32(_mm256_cvtepu8_epi32(set), first);
        let room: &mut [u32; 8] = to[count..].first_chunk_mut().expect("no byte before has more than eight bits");
        // SAFETY: there is room for eight numbers, which need not be aligned.
        unsafe { _mm256_storeu_si256(room.as_mut_ptr().cast(), eight) }
        count += byte.count_ones() as usize;
    }
    count
}

#[target_feature(enable = "avx2")]
#[inline]
fn marks(block: &[u8; 64]) -> Marks {
    let [low, high] = block.as_chunks::<32>().0 else { return Marks::default() };
    let (low, high) = (load(low), load(high));
    let both = |low, high| u64::from(bits(low)) | u64::from(bits(high)) << 32;
    let stops = |bytes, quotes| or(or(equal(bytes, b'>'), equal(bytes, b'=')), or(quotes, equal(bytes, b'\'')));
    let quotes = (equal(low, b'"'), equal(high, b'"'));
    Marks {
        opens: both(equal(low, b'<'), equal(high, b'<')),
        stops: both(stops(low, quotes.0), stops(high, quotes.1)),
        quotes: both(quotes.0, quotes.1),
    }
}

/// ASCII white space: the bytes equal to the table's entry for their lowest four bits.
#[target_feature(enable = "avx2")]
#[inline]
fn ascii_spaces(bytes: __m256i) -> __m256i {
    const TABLE: i128 = i128::from_le_bytes([b' ', 0, 0, 0, 0, 0, 0, 0, 0, b'\t', b'\n', 0x0b, 0x0c, b'\r', 0, 0]);
    let table = _mm256_set_epi64x((TABLE >> 64) as i64, TABLE as i64, (TABLE >> 64) as i64, TABLE as i64);
    _mm256_cmpeq_epi8(_mm256_shuffle_epi8(table, bytes), bytes)
}

#[target_feature(enable = "avx2")]
#[inline]
fn spaces(piece: &[u8; PIECE]) -> Spaces {
    let bytes = load(half(piece, 0));
    let other = if bits(bytes) == 0 { 0 } else { other_spaces(piece) };
    Spaces { ascii: bits(ascii_spaces(bytes)), other, ampersands: bits(equal(bytes, b'&')) }
}

/// U+0085, U+00A0, U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F and U+3000.
#[target_feature(enable = "avx2")]
fn other_spaces(piece: &[u8; PIECE]) -> u32 {
    let (first, second, third) = (load(half(piece, 0)), load(half(piece, 1)), load(half(piece, 2)));
    let and = |one, other| _mm256_and_si256(one, other);
    let up_to_8a = _mm256_cmpgt_epi8(_mm256_set1_epi8(0x8b_u8.cast_signed()), third);
    let of_20 = or(up_to_8a, or(or(equal(third, 0xa8), equal(third, 0xa9)), equal(third, 0xaf)));
    let of_e2 = or(and(equal(second, 0x80), of_20), and(equal(second, 0x81), equal(third, 0x9f)));
    let of_e1 = and(equal(second, 0x9a), equal(third, 0x80));
    let of_e3 = and(equal(second, 0x80), equal(third, 0x80));
    let of_c2 = or(equal(second, 0x85), equal(second, 0xa0));
    let three_bytes =
        or(or(and(equal(first, 0xe1), of_e1), and(equal(first, 0xe2), of_e2)), and(equal(first, 0xe3), of_e3));
    bits(or(and(equal(first, 0xc2), of_c2), three_bytes))
}

#[target_feature(enable = "avx2")]
#[inline]
fn fold(piece: &[u8; PIECE], left: usize, at_ampersands: bool) -> Folded {
    fold_up_to_a_fold(spaces(piece), left, at_ampersands)
}

#[target_feature(enable = "avx2")]
#[inline]
fn write(piece: &[u8; PIECE], start: usize, to: &mut [u8; PIECE]) {
    let bytes = load(half(piece, start));
    let bytes = _mm256_blendv_epi8(bytes, _mm256_set1_epi8(b' '.cast_signed()), ascii_spaces(bytes));
    // SAFETY: there is room for twice as many bytes, which need not be aligned.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), bytes) }
}

#[inline(always)]
fn half(piece: &[u8; PIECE], start: usize) -> &[u8; HALF] {
    piece[start..].first_chunk().expect("a half piece starts in the first half")
}
