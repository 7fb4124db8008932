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
    /// `>`, `=`, `"` and `'`
    stops: u64,
    /// `"`
    quotes: u64,
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

    /// The next `>`, `=` or quote.
    #[inline]
    pub(crate) fn stop(&mut self, from: usize) -> Option<usize> {
        self.find(from, |marks| marks.stops)
    }

    /// The next quote of a kind.
    #[inline]
    pub(crate) fn quote(&mut self, from: usize, quote: u8) -> Option<usize> {
        match quote {
            b'"' => self.find(from, |marks| marks.quotes),
            _ => memchr::memchr(quote, self.bytes.get(from..)?).map(|length| from + length),
        }
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

#[inline]
fn marks(block: &[u8; BLOCK]) -> Marks {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: a safe function but for the instructions it needs, which this processor has.
        return unsafe { marks_avx2(block) };
    }
    marks_one_by_one(block)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn marks_avx2(block: &[u8; BLOCK]) -> Marks {
    use std::arch::x86_64::{_mm256_cmpeq_epi8, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8};
    let mut marks = Marks::default();
    for (place, half) in block.as_chunks::<32>().0.iter().enumerate() {
        let bytes = crate::lanes::thirty_two(half);
        let equal = |byte: u8| _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte.cast_signed()));
        let bits = |found| u64::from(_mm256_movemask_epi8(found).cast_unsigned()) << (32 * place);
        let quotes = equal(b'"');
        let ends = _mm256_or_si256(equal(b'>'), equal(b'='));
        marks.opens |= bits(equal(b'<'));
        marks.stops |= bits(_mm256_or_si256(ends, _mm256_or_si256(quotes, equal(b'\''))));
        marks.quotes |= bits(quotes);
    }
    marks
}

fn marks_one_by_one(block: &[u8; BLOCK]) -> Marks {
    let mut marks = Marks::default();
    for (place, byte) in block.iter().enumerate() {
        marks.opens |= u64::from(*byte == b'<') << place;
        marks.stops |= u64::from(matches!(byte, b'>' | b'=' | b'"' | b'\'')) << place;
        marks.quotes |= u64::from(*byte == b'"') << place;
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn marks_are_where_the_bytes_are(bytes in proptest::collection::vec(proptest::sample::select(b"<>=\"'ab\xff\0".to_vec()), 0..300)) {
            let mut finder = MarkFinder::new(&bytes);
            for from in (0..bytes.len()).chain((0..bytes.len()).rev()) {
                let next = |is: fn(u8) -> bool| bytes[from..].iter().position(|&byte| is(byte)).map(|at| from + at);
                prop_assert_eq!(finder.open(from), next(|byte| byte == b'<'));
                prop_assert_eq!(finder.stop(from), next(|byte| matches!(byte, b'>' | b'=' | b'"' | b'\'')));
                prop_assert_eq!(finder.quote(from, b'"'), next(|byte| byte == b'"'));
                prop_assert_eq!(finder.quote(from, b'\''), next(|byte| byte == b'\''));
            }
            prop_assert_eq!(finder.open(bytes.len()), None);
            if let Some(block) = bytes.first_chunk() {
                prop_assert_eq!(marks(block), marks_one_by_one(block));
            }
        }
    }
}
