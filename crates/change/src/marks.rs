//! Where the bytes are that divide text from tags, found 64 bytes at a time.
//!
//! A page has a tag every few dozen bytes. Calls that each look for one byte would spend their time beginning and ending;
//! so a block is looked at once for all of them, and what was found is kept as bits.

const BLOCK: usize = 64;

/// What was found in a block: one bit a byte, the first byte the lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Marks {
    /// `<`
    opens: u64,
    /// `>`, `"` and `'`
    stops: u64,
}

/// Finds marks in a page, moving forwards or not far back.
pub(crate) struct MarkFinder<'a> {
    bytes: &'a [u8],
    /// Where the block begins that `marks` are of.
    block: usize,
    marks: Marks,
}

impl<'a> MarkFinder<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let mut finder = Self { bytes, block: 0, marks: Marks::default() };
        finder.load(0);
        finder
    }

    /// The next `<`.
    #[inline]
    pub(crate) fn open(&mut self, from: usize) -> Option<usize> {
        self.find(from, |marks| marks.opens)
    }

    /// The next `>` or quote.
    #[inline]
    pub(crate) fn stop(&mut self, from: usize) -> Option<usize> {
        self.find(from, |marks| marks.stops)
    }

    #[inline]
    fn find(&mut self, from: usize, which: impl Fn(&Marks) -> u64) -> Option<usize> {
        let block = from - from % BLOCK;
        if block != self.block {
            self.load(block);
        }
        let mut found = which(&self.marks) & (u64::MAX << (from % BLOCK));
        while found == 0 {
            let next = self.block + BLOCK;
            if next >= self.bytes.len() {
                return None;
            }
            self.load(next);
            found = which(&self.marks);
        }
        Some(self.block + found.trailing_zeros() as usize)
    }

    #[inline]
    fn load(&mut self, block: usize) {
        let rest = self.bytes.get(block..).unwrap_or_default();
        self.block = block;
        self.marks = match rest.first_chunk() {
            Some(bytes) => marks(bytes),
            None => {
                let mut last = [0; BLOCK];
                last[..rest.len()].copy_from_slice(rest);
                marks(&last)
            }
        };
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn marks(block: &[u8; BLOCK]) -> Marks {
    // SAFETY: the function asks for SSE2 alone, which is part of x86-64 itself.
    unsafe { marks_sse2(block) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
#[inline]
fn marks_sse2(block: &[u8; BLOCK]) -> Marks {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8};
    let mut marks = Marks::default();
    for (place, quarter) in block.as_chunks::<16>().0.iter().enumerate() {
        let words = quarter.as_chunks::<8>().0;
        let bytes = _mm_set_epi64x(i64::from_le_bytes(words[1]), i64::from_le_bytes(words[0]));
        let opens = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'<'.cast_signed()));
        let greater = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'>'.cast_signed()));
        let double = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'"'.cast_signed()));
        let single = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\''.cast_signed()));
        let stops = _mm_or_si128(greater, _mm_or_si128(double, single));
        marks.opens |= u64::from(_mm_movemask_epi8(opens).cast_unsigned()) << (16 * place);
        marks.stops |= u64::from(_mm_movemask_epi8(stops).cast_unsigned()) << (16 * place);
    }
    marks
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn marks(block: &[u8; BLOCK]) -> Marks {
    marks_one_by_one(block)
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn marks_one_by_one(block: &[u8; BLOCK]) -> Marks {
    let mut marks = Marks::default();
    for (place, byte) in block.iter().enumerate() {
        marks.opens |= u64::from(*byte == b'<') << place;
        marks.stops |= u64::from(matches!(byte, b'>' | b'"' | b'\'')) << place;
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn marks_are_where_the_bytes_are(bytes in proptest::collection::vec(proptest::sample::select(b"<>\"'ab\xff\0".to_vec()), 0..300)) {
            let mut finder = MarkFinder::new(&bytes);
            for from in (0..bytes.len()).chain((0..bytes.len()).rev()) {
                let next = |is: fn(u8) -> bool| bytes[from..].iter().position(|&byte| is(byte)).map(|at| from + at);
                prop_assert_eq!(finder.open(from), next(|byte| byte == b'<'));
                prop_assert_eq!(finder.stop(from), next(|byte| matches!(byte, b'>' | b'"' | b'\'')));
            }
            prop_assert_eq!(finder.open(bytes.len()), None);
            if let Some(block) = bytes.first_chunk() {
                prop_assert_eq!(marks(block), marks_one_by_one(block));
            }
        }
    }
}
