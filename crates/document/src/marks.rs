//! Finds the bytes that separate text from tags, 64 bytes at a time.
//!
//! A page has a tag every few dozen bytes. Searches for one byte at a time would spend their time starting and
//! stopping. So each block is searched once for all marks, and the matches are kept as bits.

use wide_bytes::{BLOCK, Marks, Wide, last_block};

/// Finds marks in a page. Efficient for searches that move forwards, or back by little.
#[derive(Clone, Copy)]
pub(crate) struct MarkFinder<'a, W> {
    bytes: &'a [u8],
    wide: W,
    /// Where the block of `marks` begins.
    block: usize,
    marks: Marks,
}

impl<'a, W: Wide> MarkFinder<'a, W> {
    pub(crate) fn new(bytes: &'a [u8], wide: W) -> Self {
        let mut finder = Self { bytes, wide, block: 0, marks: Marks::default() };
        finder.load(0);
        finder
    }

    /// The position of the next `<`.
    #[inline(always)]
    pub(crate) fn open(&mut self, from: usize) -> Option<usize> {
        self.find(from, |marks| marks.opens)
    }

    /// The position of the next `>`, `=` or quote.
    #[inline(always)]
    pub(crate) fn stop(&mut self, from: usize) -> Option<usize> {
        self.find(from, |marks| marks.stops)
    }

    /// The position of the next quote of this kind.
    #[inline(always)]
    pub(crate) fn quote(&mut self, from: usize, quote: u8) -> Option<usize> {
        match quote {
            b'"' => self.find(from, |marks| marks.quotes),
            _ => memchr::memchr(quote, self.bytes.get(from..)?).map(|length| from + length),
        }
    }

    #[inline(always)]
    fn find(&mut self, from: usize, which: impl Fn(&Marks) -> u64) -> Option<usize> {
        if from.wrapping_sub(self.block) >= BLOCK {
            self.load(from - from % BLOCK);
        }
        let found = which(&self.marks) >> (from - self.block);
        if found != 0 {
            return Some(from + found.trailing_zeros() as usize);
        }
        loop {
            let next = self.block + BLOCK;
            if next >= self.bytes.len() {
                return None;
            }
            self.load(next);
            let found = which(&self.marks);
            if found != 0 {
                return Some(next + found.trailing_zeros() as usize);
            }
        }
    }

    #[inline(always)]
    fn load(&mut self, block: usize) {
        let rest = self.bytes.get(block..).unwrap_or_default();
        self.block = block;
        self.marks = match rest.first_chunk() {
            Some(bytes) => self.wide.marks(bytes),
            None => self.wide.marks(&last_block(rest)),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wide_bytes::EightBytes;

    proptest! {
        #[test]
        fn marks_are_where_the_bytes_are(bytes in proptest::collection::vec(proptest::sample::select(b"<>=\"'ab\xff\0".to_vec()), 0..300)) {
            let mut finder = MarkFinder::new(&bytes, EightBytes);
            for from in (0..bytes.len()).chain((0..bytes.len()).rev()) {
                let next = |is: fn(u8) -> bool| bytes[from..].iter().position(|&byte| is(byte)).map(|at| from + at);
                prop_assert_eq!(finder.open(from), next(|byte| byte == b'<'));
                prop_assert_eq!(finder.stop(from), next(|byte| matches!(byte, b'>' | b'=' | b'"' | b'\'')));
                prop_assert_eq!(finder.quote(from, b'"'), next(|byte| byte == b'"'));
                prop_assert_eq!(finder.quote(from, b'\''), next(|byte| byte == b'\''));
            }
            prop_assert_eq!(finder.open(bytes.len()), None);
        }
    }
}
