//! Searches in many bytes at once, with AVX2 where the processor has it, and else by arithmetic on eight bytes.
//!
//! The processor is queried once per page. Code that is generic over [`Wide`] and inlined into [`at_widest`] is
//! compiled for each of them.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod utf8;

pub use self::utf8::text_of;

/// Bytes searched at once for marks and alphabetic characters.
pub const BLOCK: usize = 64;

/// The bytes after the last whole block of a text, padded with zeros.
#[cold]
pub fn last_block(rest: &[u8]) -> [u8; BLOCK] {
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    last
}

/// The most bytes of text that are folded and copied at once.
pub const PIECE: usize = 64;

/// Matches in a block: one bit per byte, the lowest for the first byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// `<`
    pub opens: u64,
    /// `>`, `=`, `"` and `'`
    pub stops: u64,
    /// `"`
    pub quotes: u64,
}

/// A set of instructions for many bytes at once. Bits are one per byte, the lowest for the first byte.
pub trait Wide: Copy {
    /// The bytes of a block where markup begins and ends.
    fn marks(self, block: &[u8; 64]) -> Marks;

    /// The bytes of a block that equal `byte`.
    fn equal(self, block: &[u8; 64], byte: u8) -> u64;

    /// The bytes of a block from `first` to `last`, both of ASCII.
    fn within(self, block: &[u8; 64], first: u8, last: u8) -> u64;

    /// The bytes of a block that are not ASCII.
    fn beyond_ascii(self, block: &[u8; 64]) -> u64;

    /// Writes the positions of the set bits, counted from `first`. The rest of `to` is arbitrary. Returns the number of
    /// positions.
    fn places(self, bits: u64, first: u32, to: &mut [u32; 64]) -> usize;

    /// Measures the folding of the start of a piece, at most `left` bytes: without white space at either end, and with
    /// a space for each other white space of ASCII. Stops where a run of white space is folded, before other white space
    /// (as defined by `char::is_whitespace`), and before `&` if `at_ampersands`. May stop earlier.
    fn fold(self, piece: &[u8; PIECE], left: usize, at_ampersands: bool) -> Folded;

    /// Writes the folded text that begins at byte `start` of the piece. The rest of `to` is arbitrary.
    fn write(self, piece: &[u8; PIECE], start: usize, to: &mut [u8; PIECE]);
}

/// The folding of the start of a piece of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Folded {
    /// Bytes read from the piece.
    pub read: usize,
    /// Bytes to write; none if there is only white space.
    pub written: usize,
    /// Bytes of white space at the start, which are not written.
    pub start: usize,
    /// Whether the bytes read end in white space.
    pub trails: bool,
    /// Whether it stopped before other white space or `&`.
    pub is_special: bool,
}

/// A computation at any width.
pub trait WideWork {
    /// The result of the computation.
    type Result;
    /// Runs the computation with these instructions. Implementations should be inlined.
    fn at(self, wide: impl Wide) -> Self::Result;
}

/// Runs the computation with the widest instructions of the processor.
#[inline]
pub fn at_widest<T: WideWork>(work: T) -> T::Result {
    #[cfg(target_arch = "x86_64")]
    {
        if avx2::is_here() {
            // SAFETY: only the instructions are required, and this processor has them.
            return unsafe { avx2::work(work) };
        }
    }
    work.at(EightBytes)
}

/// Words of eight bytes that [`find_near`] looks at itself.
const NEAR_WORDS: usize = 4;

/// The position of a byte in a text that is usually short, such as an address or the value of an attribute. The call of a
/// wider search would cost more than the search.
#[inline(always)]
pub fn find_near(byte: u8, bytes: &[u8]) -> Option<usize> {
    let within = |word: &[u8; 8]| {
        let differing = u64::from_le_bytes(*word) ^ (ONES * u64::from(byte));
        // The highest bit of the lowest byte that is 0 is set, and none below it.
        let found = differing.wrapping_sub(ONES) & !differing & !LOW;
        (found != 0).then(|| found.trailing_zeros() as usize / 8)
    };
    let (words, rest) = bytes.as_chunks::<8>();
    for (number, word) in words.iter().take(NEAR_WORDS).enumerate() {
        if let Some(at) = within(word) {
            return Some(8 * number + at);
        }
    }
    if words.len() > NEAR_WORDS {
        return memchr::memchr(byte, &bytes[8 * NEAR_WORDS..]).map(|at| 8 * NEAR_WORDS + at);
    }
    match bytes.last_chunk() {
        // The last word covers the rest, and more that does not contain the byte.
        Some(last) => within(last).map(|at| bytes.len() - 8 + at),
        None => rest.iter().position(|other| *other == byte),
    }
}

/// Bytes of text examined by [`fold_up_to_a_fold`].
const HALF: usize = PIECE / 2;

/// White space and other special bytes in half a piece of text: one bit per byte, the lowest for the first byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Spaces {
    /// ASCII white space.
    ascii: u32,
    /// The first byte of any other white space.
    other: u32,
    /// `&`
    ampersands: u32,
}

/// [`Wide::fold`], once the white space is found. It has no branches, because the next byte of a page is hard to predict.
#[inline(always)]
fn fold_up_to_a_fold(spaces: Spaces, left: usize, at_ampersands: bool) -> Folded {
    let special = if at_ampersands { spaces.other | spaces.ampersands } else { spaces.other };
    let end = 1_u64 << left.min(HALF);
    let ascii = u64::from(spaces.ascii) & (end - 1);
    let lead = (!ascii).trailing_zeros();
    // The byte after the last one is unknown.
    let stops = ascii & (ascii >> 1 | 1 << (HALF - 1)) | u64::from(special) | end;
    let stop = (stops >> lead).trailing_zeros() + lead;
    let trails = ascii << 1 >> stop & 1;
    let written = if stop > lead { u64::from(stop - lead) - trails } else { 0 };
    Folded {
        read: stop as usize,
        written: written as usize,
        start: lead as usize,
        trails: trails == 1,
        is_special: u64::from(special) & (end - 1) & (1 << stop) != 0,
    }
}

/// Eight bytes at a time with plain arithmetic, on any processor.
#[derive(Clone, Copy, Debug)]
pub struct EightBytes;

impl Wide for EightBytes {
    fn marks(self, block: &[u8; 64]) -> Marks {
        let (words, _) = block.as_chunks::<8>();
        words.iter().enumerate().fold(Marks::default(), |marks, (place, word)| {
            let word = u64::from_le_bytes(*word);
            let bits = |byte| u64::from(equal(word, byte)) << (8 * place);
            let quotes = bits(b'"');
            Marks {
                opens: marks.opens | bits(b'<'),
                stops: marks.stops | quotes | bits(b'>') | bits(b'=') | bits(b'\''),
                quotes: marks.quotes | quotes,
            }
        })
    }

    fn equal(self, block: &[u8; 64], byte: u8) -> u64 {
        in_words(block, |word| equal(word, byte))
    }

    fn within(self, block: &[u8; 64], first: u8, last: u8) -> u64 {
        in_words(block, |word| {
            let low = word & LOW;
            // The highest bit is set in `from` for bytes from `first` on, and in `behind` for bytes after `last`.
            let (from, behind) = (low + ONES * u64::from(0x80 - first), low + ONES * u64::from(0x7f - last));
            highest_bits(from & !behind & !word)
        })
    }

    fn beyond_ascii(self, block: &[u8; 64]) -> u64 {
        in_words(block, highest_bits)
    }

    fn places(self, bits: u64, first: u32, to: &mut [u32; 64]) -> usize {
        places(bits, first, to)
    }

    fn fold(self, piece: &[u8; PIECE], left: usize, at_ampersands: bool) -> Folded {
        fold_up_to_a_fold(spaces(piece), left, at_ampersands)
    }

    fn write(self, piece: &[u8; PIECE], start: usize, to: &mut [u8; PIECE]) {
        for (to, &from) in to.iter_mut().zip(&piece[start..start + HALF]) {
            *to = if matches!(from, b'\t'..=b'\r') { b' ' } else { from };
        }
    }
}

fn spaces(piece: &[u8; PIECE]) -> Spaces {
    let mut spaces = Spaces::default();
    let (words, _) = piece[..HALF].as_chunks::<8>();
    for (place, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let ascii = [b'\t', b'\n', 0x0b, 0x0c, b'\r', b' '].map(|byte| equal(word, byte));
        spaces.ascii |= u32::from(ascii.into_iter().fold(0, |one, other| one | other)) << (8 * place);
        spaces.ampersands |= u32::from(equal(word, b'&')) << (8 * place);
    }
    if !piece.is_ascii() {
        let is_space = |three: &[u8]| {
            matches!(
                three,
                [0xc2, 0x85 | 0xa0, _]
                    | [0xe1, 0x9a, 0x80]
                    | [0xe2, 0x80, 0x80..=0x8a | 0xa8 | 0xa9 | 0xaf]
                    | [0xe2, 0x81, 0x9f]
                    | [0xe3, 0x80, 0x80]
            )
        };
        let threes = piece[..HALF + 2].windows(3).enumerate();
        spaces.other = threes.fold(0, |bits, (place, three)| bits | u32::from(is_space(three)) << place);
    }
    spaces
}

/// One bit per byte, from the results of `find` on eight bytes at a time.
#[inline]
fn in_words(block: &[u8; 64], find: impl Fn(u64) -> u8) -> u64 {
    let (words, _) = block.as_chunks::<8>();
    words.iter().rev().fold(0, |bits, word| bits << 8 | u64::from(find(u64::from_le_bytes(*word))))
}

#[inline(always)]
fn places(bits: u64, first: u32, to: &mut [u32; 64]) -> usize {
    let (mut rest, mut count) = (bits, 0);
    while rest != 0 {
        to[count] = first + rest.trailing_zeros();
        count += 1;
        rest &= rest - 1;
    }
    count
}

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const LOW: u64 = 0x7f * ONES;

/// One bit for each of eight bytes that equals `byte`.
#[inline]
fn equal(word: u64, byte: u8) -> u8 {
    let differing = word ^ (ONES * u64::from(byte));
    // The highest bit of each byte is set where all bits of the byte are zero.
    highest_bits(!(((differing & LOW) + LOW) | differing))
}

/// The highest bit of each of eight bytes.
#[inline]
fn highest_bits(word: u64) -> u8 {
    // The multiplication moves bit 8 i of the sum to bit 56 + i.
    ((word >> 7 & ONES).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

#[cfg(test)]
mod tests;
