//! Copies text as long as nothing in it asks for more than copying, 32 bytes at a time.

/// How many bytes are looked at and copied at once; the one behind them is looked at too.
const WIDTH: usize = 32;

/// Appends to `out` the bytes between two places, up to the first that may have to be folded or decoded: white space but
/// for single spaces, `&`, control characters, and the first bytes of characters some of which are white space. Returns how
/// many that were. The last may be a space.
#[inline]
pub(crate) fn copy_plain(out: &mut Vec<u8>, bytes: &[u8], start: usize, end: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: a safe function but for the instructions it needs, which this processor has.
        return unsafe { copy_plain_avx2(out, bytes, start, end) };
    }
    copy_one_by_one(out, bytes, start, end)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn copy_plain_avx2(out: &mut Vec<u8>, bytes: &[u8], start: usize, end: usize) -> usize {
    let mut at = start;
    while at < end {
        let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<{ WIDTH + 1 }>()) else {
            return at - start + copy_one_by_one(out, bytes, at, end);
        };
        let [copied @ .., _] = chunk;
        let plain = (special_avx2(chunk).trailing_zeros() as usize).min(end - at);
        // Copying as many as there could be is faster than copying as many as there are.
        let length = out.len();
        out.extend_from_slice(copied);
        out.truncate(length + plain);
        at += plain;
        if plain < WIDTH {
            break;
        }
    }
    at - start
}

/// A bit for each byte but the last that is not plain.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn special_avx2(chunk: &[u8; WIDTH + 1]) -> u32 {
    use std::arch::x86_64::*;
    let [bytes @ .., _] = chunk;
    let [_, next @ ..] = chunk;
    let (bytes, next) = (crate::lanes::thirty_two(bytes), crate::lanes::thirty_two(next));
    let all = |byte: u8| _mm256_set1_epi8(byte.cast_signed());
    let equal = |byte: u8| _mm256_cmpeq_epi8(bytes, all(byte));
    let at_most = |bytes, most: u8| _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, all(most)), bytes);
    let folded_space = _mm256_and_si256(equal(b' '), at_most(next, b' '));
    let leads = _mm256_or_si256(equal(0xc2), at_most(_mm256_sub_epi8(bytes, all(0xe1)), 2));
    let control = _mm256_or_si256(at_most(bytes, b' ' - 1), equal(b'&'));
    let special = _mm256_or_si256(_mm256_or_si256(folded_space, leads), control);
    _mm256_movemask_epi8(special).cast_unsigned()
}

fn copy_one_by_one(out: &mut Vec<u8>, bytes: &[u8], start: usize, end: usize) -> usize {
    let is_special = |at: &usize| {
        let folds = bytes[*at] == b' ' && bytes.get(at + 1).is_some_and(|&next| next <= b' ');
        folds || matches!(bytes[*at], 0..b' ' | b'&' | 0xc2 | 0xe1..=0xe3)
    };
    let stop = (start..end).find(is_special).unwrap_or(end);
    out.extend_from_slice(&bytes[start..stop]);
    stop - start
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_wide_way_stops_where_the_other_does(text in "([a-zA-Z0-9.,é😀]{0,40}|  ?|\\n|&|’|カ|\u{a0}|\u{1f}){0,10}", start in 0..80usize, behind in 0..90usize) {
            let bytes = text.as_bytes();
            let start = start.min(bytes.len());
            let end = bytes.len().saturating_sub(behind).max(start);
            let (mut wide, mut other) = (vec![7], vec![7]);
            prop_assert_eq!(copy_plain(&mut wide, bytes, start, end), copy_one_by_one(&mut other, bytes, start, end));
            prop_assert_eq!(wide, other);
        }
    }
}
