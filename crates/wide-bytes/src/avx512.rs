//! [`Wide`] with AVX-512: a whole piece of text at a time. It can remove bytes from the middle of a register.

use super::{Folded, Marks, PIECE, Wide, WideWork};
use std::arch::x86_64::*;

pub(super) fn is_here() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vbmi2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

/// Proof that the processor has AVX-512; created only by [`work`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512(());

/// The bytes of a piece that are white space, and those that are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByteMasks {
    spaces: u64,
    kept: u64,
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn work<T: WideWork>(work: T) -> T::Result {
    work.at(Avx512(()))
}

impl Wide for Avx512 {
    #[inline(always)]
    fn marks(self, block: &[u8; 64]) -> Marks {
        // SAFETY: only AVX-512 is required, and an `Avx512` exists only where it is available.
        unsafe { marks(block) }
    }

    #[inline(always)]
    fn equal(self, block: &[u8; 64], byte: u8) -> u64 {
        // SAFETY: as above.
        unsafe { equal(load(block), byte) }
    }

    #[inline(always)]
    fn within(self, block: &[u8; 64], first: u8, last: u8) -> u64 {
        // SAFETY: as above.
        unsafe { within(load(block), first, last) }
    }

    #[inline(always)]
    fn beyond_ascii(self, block: &[u8; 64]) -> u64 {
        // SAFETY: as above.
        unsafe { _mm512_movepi8_mask(load(block)) }
    }

    #[inline(always)]
    fn places(self, bits: u64, first: u32, to: &mut [u32; 64]) -> usize {
        // SAFETY: as above.
        unsafe { places(bits, first, to) }
    }

    type Fold = ByteMasks;

    #[inline(always)]
    fn fold(self, piece: &[u8; PIECE], left: usize, at_ampersands: bool) -> (Folded, ByteMasks) {
        // SAFETY: as above.
        unsafe { fold(piece, left, at_ampersands) }
    }

    #[inline(always)]
    fn write(self, piece: &[u8; PIECE], fold: ByteMasks, to: &mut [u8; PIECE]) {
        // SAFETY: as above.
        unsafe { write(piece, fold, to) }
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: the 64 bytes are readable, and need not be aligned.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx512bw")]
#[inline]
fn equal(bytes: __m512i, byte: u8) -> u64 {
    _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte.cast_signed()))
}

#[target_feature(enable = "avx512bw")]
#[inline]
fn within(bytes: __m512i, first: u8, last: u8) -> u64 {
    let moved = _mm512_sub_epi8(bytes, _mm512_set1_epi8(first.cast_signed()));
    _mm512_cmple_epu8_mask(moved, _mm512_set1_epi8((last - first).cast_signed()))
}

/// The numbers from 0 to 63 whose bits are set are packed together, then widened sixteen at a time.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
#[inline]
fn places(bits: u64, first: u32, to: &mut [u32; 64]) -> usize {
    const NUMBERS: [u8; 64] = {
        let mut numbers = [0; 64];
        let mut number = 0;
        while number < numbers.len() {
            numbers[number] = number as u8;
            number += 1;
        }
        numbers
    };
    let count = bits.count_ones() as usize;
    let mut found = _mm512_maskz_compress_epi8(bits, load(&NUMBERS));
    let first = _mm512_set1_epi32(first.cast_signed());
    let (quarters, _) = to.as_chunks_mut::<16>();
    for quarter in quarters.iter_mut().take(count.div_ceil(16)) {
        let sixteen = _mm512_add_epi32(_mm512_cvtepu8_epi32(_mm512_castsi512_si128(found)), first);
        // SAFETY: there is room for sixteen numbers, which need not be aligned.
        unsafe { _mm512_storeu_si512(quarter.as_mut_ptr().cast(), sixteen) };
        found = _mm512_shuffle_i32x4::<0b00_11_10_01>(found, found);
    }
    count
}

#[target_feature(enable = "avx512bw")]
#[inline]
fn marks(block: &[u8; 64]) -> Marks {
    let bytes = load(block);
    let quotes = equal(bytes, b'"');
    Marks {
        opens: equal(bytes, b'<'),
        stops: quotes | equal(bytes, b'>') | equal(bytes, b'=') | equal(bytes, b'\''),
        quotes,
    }
}

/// Folds all bytes of the piece but the last two, which are read only to recognise white space of three bytes before
/// them.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2")]
#[inline]
fn fold(piece: &[u8; PIECE], left: usize, at_ampersands: bool) -> (Folded, ByteMasks) {
    let bytes = load(piece);
    let spaces = ascii_spaces(bytes);
    let other = if _mm512_movepi8_mask(bytes) == 0 { 0 } else { other_spaces(bytes) };
    let special = if at_ampersands { other | equal(bytes, b'&') } else { other };
    let end = 1_u64 << left.min(PIECE - 2);
    let stop = (special | end).trailing_zeros();
    let within = (1_u64 << stop) - 1;
    let spaces = spaces & within;
    // The first byte of every run of white space is kept, except at the start.
    let kept = within & !(spaces & (spaces << 1 | 1));
    let trails = spaces << 1 >> stop & 1;
    let written = if spaces == within { 0 } else { u64::from(kept.count_ones()) - trails };
    let folded = Folded {
        read: stop as usize,
        written: written as usize,
        leads: spaces & 1 == 1,
        trails: trails == 1,
        is_special: stop < end.trailing_zeros(),
    };
    (folded, ByteMasks { spaces, kept })
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
#[inline]
fn write(piece: &[u8; PIECE], ByteMasks { spaces, kept }: ByteMasks, to: &mut [u8; PIECE]) {
    let bytes = _mm512_mask_mov_epi8(load(piece), spaces, _mm512_set1_epi8(b' '.cast_signed()));
    let bytes = _mm512_maskz_compress_epi8(kept, bytes);
    // SAFETY: there is room for the 64 bytes, which need not be aligned.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), bytes) }
}

/// ASCII white space: the bytes equal to the table's entry for their lowest four bits.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn ascii_spaces(bytes: __m512i) -> u64 {
    const TABLE: i128 = i128::from_le_bytes([b' ', 0, 0, 0, 0, 0, 0, 0, 0, b'\t', b'\n', 0x0b, 0x0c, b'\r', 0, 0]);
    let table = _mm512_broadcast_i32x4(_mm_set_epi64x((TABLE >> 64) as i64, TABLE as i64));
    _mm512_cmpeq_epi8_mask(_mm512_shuffle_epi8(table, bytes), bytes)
}

/// U+0085, U+00A0, U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F and U+3000.
#[target_feature(enable = "avx512f,avx512bw")]
fn other_spaces(bytes: __m512i) -> u64 {
    // Where the second byte, or the third, has this value.
    let (second, third) = (|byte| equal(bytes, byte) >> 1, |byte| equal(bytes, byte) >> 2);
    let up_to_8a = _mm512_cmplt_epi8_mask(bytes, _mm512_set1_epi8(0x8b_u8.cast_signed())) >> 2;
    let of_20 = up_to_8a | third(0xa8) | third(0xa9) | third(0xaf);
    let of_e2 = second(0x80) & of_20 | second(0x81) & third(0x9f);
    equal(bytes, 0xc2) & (second(0x85) | second(0xa0))
        | equal(bytes, 0xe1) & second(0x9a) & third(0x80)
        | equal(bytes, 0xe2) & of_e2
        | equal(bytes, 0xe3) & second(0x80) & third(0x80)
}
