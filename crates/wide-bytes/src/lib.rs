//! What is looked for in many bytes at once, with the instructions that the processor has for it: AVX-512, AVX2, or arithmetic
//! on eight bytes.
//!
//! The processor is asked once a page. What is generic over [`Wide`] and inlined into [`at_widest`] is compiled for each.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod utf8;

pub use self::utf8::text_of;

/// How many bytes are looked at for marks and letters at once.
pub const BLOCK: usize = 64;

/// What is left of a text behind its last whole block, and zeros.
#[cold]
pub fn last_block(rest: &[u8]) -> [u8; BLOCK] {
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    last
}

/// How many bytes of text are looked at and copied at once, at most.
pub const PIECE: usize = 64;

/// What was found in a block: one bit a byte, the first byte the lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// `<`
    pub opens: u64,
    /// `>`, `=`, `"` and `'`
    pub stops: u64,
    /// `"`
    pub quotes: u64,
}

/// A way to look at many bytes at once.
pub trait Wide: Copy {
    /// Where markup begins and ends in a block.
    fn marks(self, block: &[u8; 64]) -> Marks;

    /// Where a byte stands in a block: a bit a byte, the first byte's the lowest.
    fn equal(self, block: &[u8; 64], byte: u8) -> u64;

    /// Where bytes from one to another stand in a block, both of ASCII.
    fn within(self, block: &[u8; 64], first: u8, last: u8) -> u64;

    /// Where bytes beyond ASCII stand in a block.
    fn beyond_ascii(self, block: &[u8; 64]) -> u64;

    /// Writes at which places bits are set, counted from `first`, and anything behind them. Returns how many are.
    fn places(self, bits: u64, first: u32, to: &mut [u32; 64]) -> usize;

    /// What [`write`](Self::write) needs to know of a piece.
    type Fold: Copy;

    /// Looks at what a piece of text begins with, at most `left` bytes: to be written without white space at either end, and
    /// with one space for what ASCII white space is within. Ends before other white space (as `char::is_whitespace` has
    /// it), before `&` if asked to, and wherever it suits.
    fn fold(self, piece: &[u8; PIECE], left: usize, at_ampersands: bool) -> (Folded, Self::Fold);

    /// Writes it, and anything behind it.
    fn write(self, piece: &[u8; PIECE], fold: Self::Fold, to: &mut [u8; PIECE]);
}

/// What is folded of a piece of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Folded {
    /// How many bytes it is long as it stands.
    pub read: usize,
    /// How many bytes of it are to be written; none if there is only white space.
    pub written: usize,
    /// Whether it begins with white space.
    pub leads: bool,
    /// Whether it ends in white space.
    pub trails: bool,
    /// Whether what comes next is other white space or `&`.
    pub is_special: bool,
}

/// Something to do, at any width.
pub trait Work {
    /// What comes of it.
    type Result;
    /// To be inlined.
    fn at(self, wide: impl Wide) -> Self::Result;
}

/// Does it as wide as the processor can.
#[inline]
pub fn at_widest<T: Work>(work: T) -> T::Result {
    #[cfg(target_arch = "x86_64")]
    {
        if avx512::is_here() {
            // SAFETY: a safe function but for the instructions it needs, which this processor has.
            return unsafe { avx512::work(work) };
        }
        if avx2::is_here() {
            // SAFETY: as above.
            return unsafe { avx2::work(work) };
        }
    }
    work.at(EightBytes)
}

/// How many bytes of text are looked at by [`fold_up_to_a_fold`].
const HALF: usize = PIECE / 2;

/// White space, and what else needs more than copying, in half a piece of text: a bit a byte, the first byte the lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Spaces {
    /// ASCII white space.
    ascii: u32,
    /// The first byte of any other white space.
    other: u32,
    /// `&`
    ampersands: u32,
}

/// [`Wide::fold`] where bytes cannot be dropped from the middle of a register: stops where white space is folded.
///
/// All of it is arithmetic, because what comes next in a page is what a processor guesses worst.
#[inline(always)]
fn fold_up_to_a_fold(spaces: Spaces, left: usize, at_ampersands: bool) -> (Folded, usize) {
    let special = if at_ampersands { spaces.other | spaces.ampersands } else { spaces.other };
    let end = 1_u64 << left.min(HALF);
    let ascii = u64::from(spaces.ascii) & (end - 1);
    let lead = (!ascii).trailing_zeros();
    // What is behind the last byte is not known.
    let stops = ascii & (ascii >> 1 | 1 << (HALF - 1)) | u64::from(special) | end;
    let stop = (stops >> lead).trailing_zeros() + lead;
    let trails = ascii << 1 >> stop & 1;
    let written = if stop > lead { u64::from(stop - lead) - trails } else { 0 };
    let folded = Folded {
        read: stop as usize,
        written: written as usize,
        leads: lead > 0,
        trails: trails == 1,
        is_special: u64::from(special) & (end - 1) & (1 << stop) != 0,
    };
    (folded, lead as usize)
}

/// Eight bytes at a time, on any processor.
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
            // The highest bit of each byte is set from its first on, and from behind its last.
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

    type Fold = usize;

    fn fold(self, piece: &[u8; PIECE], left: usize, at_ampersands: bool) -> (Folded, usize) {
        fold_up_to_a_fold(spaces(piece), left, at_ampersands)
    }

    fn write(self, piece: &[u8; PIECE], lead: usize, to: &mut [u8; PIECE]) {
        for (to, &from) in to.iter_mut().zip(&piece[lead..lead + HALF]) {
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

/// A bit a byte, of what is found in eight at a time.
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

/// A bit for each of eight bytes that is the one given.
#[inline]
fn equal(word: u64, byte: u8) -> u8 {
    let differing = word ^ (ONES * u64::from(byte));
    // The highest bit of each byte is set where no bit of the byte is.
    highest_bits(!(((differing & LOW) + LOW) | differing))
}

/// The highest bits of eight bytes.
#[inline]
fn highest_bits(word: u64) -> u8 {
    // Multiplying moves bit 8 i of the sum to bit 56 + i.
    ((word >> 7 & ONES).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

#[cfg(test)]
mod tests;
