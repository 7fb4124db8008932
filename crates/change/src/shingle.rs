//! Shingles: the overlapping windows of w tokens a text consists of, as a set of hashes.
//!
//! Broder, Glassman, Manasse & Zweig 1997, "Syntactic clustering of the Web": resemblance r = |A ∩ B| / |A ∪ B|,
//! containment c = |A ∩ B| / |A|. Tokens t are FNV-1a hashes modulo p = 2⁶¹ − 1; a window's hash is
//! h = Σ t_{i+j} b^{w−1−j} mod p (Karp & Rabin), slid in constant time: h' = (h − t_out b^{w−1}) b + t_in. The shingle is
//! splitmix64(h), so its values are evenly spread.
//!
//! State is bounded: of a text with more than [`MAX_SHINGLES`] the smallest are kept. They are an even sample, and two
//! sets are compared over the range of values that both have in full. The standard deviation of r is then at most
//! sqrt(r (1 − r) / 4096), which is 0.002 at r = 0.98.

use crate::extract::Link;
use crate::tokens::tokens;
use std::num::NonZeroUsize;
use thiserror::Error;

/// Tokens per shingle of text.
pub const DEFAULT_SHINGLE_WIDTH: NonZeroUsize = NonZeroUsize::new(5).expect("5 is not 0");

/// The most shingles kept of one text.
pub const MAX_SHINGLES: usize = 4096;

/// splitmix64 (Steele, Lea & Flood 2014): a well-mixed permutation of 64-bit values.
#[inline]
pub const fn splitmix64(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// FNV-1a, 64 bits. Not keyed: pages can be made to collide on purpose, which costs their owner a change not noticed.
#[inline]
pub const fn fnv1a64(bytes: &[u8]) -> u64 {
    let mut hash = 0xCBF2_9CE4_8422_2325;
    let mut index = 0;
    while index < bytes.len() {
        hash = (hash ^ bytes[index] as u64).wrapping_mul(0x0000_0100_0000_01B3);
        index += 1;
    }
    hash
}

/// The shingles of one text: distinct, ascending, bounded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShingleSet {
    hashes: Vec<u64>,
    /// Whether there were more than [`MAX_SHINGLES`], of which the smallest are here.
    truncated: bool,
}

impl ShingleSet {
    /// The shingles of a text, [`DEFAULT_SHINGLE_WIDTH`] tokens each.
    pub fn of_text(text: &str) -> Self {
        Self::of_tokens(tokens(text), DEFAULT_SHINGLE_WIDTH)
    }

    /// The shingles of a sequence of tokens. A sequence shorter than `width` is one shingle; an empty one has none.
    pub fn of_tokens<'a>(tokens: impl IntoIterator<Item = &'a str>, width: NonZeroUsize) -> Self {
        let mut window = Window::new(width);
        let mut hashes = Vec::with_capacity(1024);
        for token in tokens {
            hashes.extend(window.slide(fnv1a64(token.as_bytes())));
        }
        hashes.extend(window.short());
        Self::from_hashes(hashes)
    }

    /// A set of hashes that are evenly spread already.
    pub fn from_hashes(mut hashes: Vec<u64>) -> Self {
        sort_evenly_spread(&mut hashes);
        hashes.dedup();
        let truncated = hashes.len() > MAX_SHINGLES;
        hashes.truncate(MAX_SHINGLES);
        hashes.shrink_to_fit();
        Self { hashes, truncated }
    }

    /// The hashes, ascending.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Whether the text had no token.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Whether all shingles of the text are here, so that comparisons are exact.
    pub fn is_complete(&self) -> bool {
        !self.truncated
    }

    /// |A ∩ B| / |A ∪ B|: 1 for equal sets, two empty ones included.
    pub fn resemblance(&self, other: &ShingleSet) -> f64 {
        let overlap = self.overlap(other);
        overlap.share_of(overlap.ours + overlap.theirs - overlap.common)
    }

    /// |A ∩ B| / |A|: how much of this text is in the other. 1 for two empty sets, 0 when just one is empty.
    pub fn containment_in(&self, other: &ShingleSet) -> f64 {
        let overlap = self.overlap(other);
        if overlap.ours == 0 && overlap.theirs > 0 { 0.0 } else { overlap.share_of(overlap.ours) }
    }

    /// Counts over the range of values that both sets have in full.
    fn overlap(&self, other: &ShingleSet) -> Overlap {
        let limit = self.known_up_to().min(other.known_up_to());
        let ours = &self.hashes[..self.hashes.partition_point(|&hash| hash <= limit)];
        let theirs = &other.hashes[..other.hashes.partition_point(|&hash| hash <= limit)];
        let (mut i, mut j, mut common) = (0, 0, 0);
        while i < ours.len() && j < theirs.len() {
            let (a, b) = (ours[i], theirs[j]);
            common += usize::from(a == b);
            i += usize::from(a <= b);
            j += usize::from(b <= a);
        }
        Overlap { ours: ours.len(), theirs: theirs.len(), common }
    }

    fn known_up_to(&self) -> u64 {
        match self.hashes.last() {
            Some(&last) if self.truncated => last,
            _ => u64::MAX,
        }
    }

    /// Appends the set to a state value: a version byte, a byte that is 1 when truncated, the count as u32, the hashes as
    /// u64, all little-endian. Evenly spread hashes do not compress, so nothing is tried.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        out.reserve(HEADER_BYTES + 8 * self.hashes.len());
        out.push(CODEC_VERSION);
        out.push(u8::from(self.truncated));
        let count = u32::try_from(self.hashes.len()).expect("a set has at most MAX_SHINGLES hashes");
        out.extend_from_slice(&count.to_le_bytes());
        for hash in &self.hashes {
            out.extend_from_slice(&hash.to_le_bytes());
        }
    }

    /// Reads what [`encode_into`](Self::encode_into) wrote, the whole of it.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let (header, body) = bytes.split_first_chunk::<HEADER_BYTES>().ok_or(DecodeError::TooShort)?;
        let [version, truncated, count @ ..] = *header;
        if version != CODEC_VERSION {
            return Err(DecodeError::UnknownVersion(version));
        }
        let count = u32::from_le_bytes(count) as usize;
        let (words, rest) = body.as_chunks::<8>();
        if truncated > 1 || count > MAX_SHINGLES || words.len() != count || !rest.is_empty() {
            return Err(DecodeError::BadLength);
        }
        let hashes: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        if !hashes.is_sorted_by(|a, b| a < b) {
            return Err(DecodeError::NotAscending);
        }
        Ok(Self { hashes, truncated: truncated == 1 })
    }
}

/// The link targets of a page as a set: shingles of width 1.
pub fn link_shingles(links: &[Link]) -> ShingleSet {
    ShingleSet::from_hashes(links.iter().map(|link| splitmix64(fnv1a64(link.href.as_bytes()))).collect())
}

const CODEC_VERSION: u8 = 1;
const HEADER_BYTES: usize = 6;

/// Why bytes are not a state value of this crate.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum DecodeError {
    /// The bytes end before the value does.
    #[error("fingerprint is cut short; fetch the page again to make a new one")]
    TooShort,
    /// Written by a later version of this crate.
    #[error("fingerprint has version {0}, which this program does not know; was it downgraded?")]
    UnknownVersion(u8),
    /// The bytes do not add up to the number of shingles they claim.
    #[error("fingerprint does not have the length it claims; fetch the page again to make a new one")]
    BadLength,
    /// The shingles are out of order.
    #[error("fingerprint has shingles out of order; fetch the page again to make a new one")]
    NotAscending,
}

struct Overlap {
    ours: usize,
    theirs: usize,
    common: usize,
}

impl Overlap {
    fn share_of(&self, whole: usize) -> f64 {
        if whole == 0 { 1.0 } else { self.common as f64 / whole as f64 }
    }
}

/// p = 2⁶¹ − 1, a Mersenne prime.
const MODULUS: u64 = (1 << 61) - 1;
const BASE: u64 = 0x0123_4567_89AB_CDEF % MODULUS;

#[inline(always)]
const fn reduce(value: u64) -> u64 {
    let folded = (value & MODULUS) + (value >> 61);
    if folded >= MODULUS { folded - MODULUS } else { folded }
}

#[inline(always)]
const fn multiply(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    reduce((product as u64 & MODULUS) + (product >> 61) as u64)
}

/// The last w token hashes and their polynomial.
struct Window {
    ring: Vec<u64>,
    next: usize,
    seen: usize,
    hash: u64,
    /// b^(w−1) mod p.
    top_power: u64,
}

impl Window {
    fn new(width: NonZeroUsize) -> Self {
        let top_power = (1..width.get()).fold(1, |power, _| multiply(power, BASE));
        Self { ring: vec![0; width.get()], next: 0, seen: 0, hash: 0, top_power }
    }

    /// Takes the next token in and, once the window is full, gives its shingle. The places of a window not yet full hold
    /// zeros, which add nothing.
    #[inline]
    fn slide(&mut self, token_hash: u64) -> Option<u64> {
        let incoming = reduce(token_hash);
        let outgoing = std::mem::replace(&mut self.ring[self.next], incoming);
        self.next = if self.next + 1 == self.ring.len() { 0 } else { self.next + 1 };
        let rest = reduce(self.hash + MODULUS - multiply(outgoing, self.top_power));
        self.hash = reduce(multiply(rest, BASE) + incoming);
        self.seen += 1;
        (self.seen >= self.ring.len()).then(|| splitmix64(self.hash))
    }

    /// The one shingle of a text that never filled the window.
    fn short(&self) -> Option<u64> {
        (1..self.ring.len()).contains(&self.seen).then(|| splitmix64(self.hash))
    }
}

/// Sorts values that are evenly spread: by their first byte into 256 drawers, then each drawer, which holds a few. Values
/// that are not evenly spread are sorted all the same, only slower.
fn sort_evenly_spread(hashes: &mut Vec<u64>) {
    if hashes.len() < 256 {
        return hashes.sort_unstable();
    }
    let drawer = |hash: u64| (hash >> 56) as usize;
    let mut ends = [0usize; 257];
    for &hash in hashes.iter() {
        ends[drawer(hash) + 1] += 1;
    }
    for index in 1..ends.len() {
        ends[index] += ends[index - 1];
    }
    let mut sorted = vec![0; hashes.len()];
    let mut next = ends;
    for &hash in hashes.iter() {
        let place = &mut next[drawer(hash)];
        sorted[*place] = hash;
        *place += 1;
    }
    for bounds in ends.windows(2) {
        sorted[bounds[0]..bounds[1]].sort_unstable();
    }
    *hashes = sorted;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const QUICK_FOX: &str = "the quick brown fox jumps over the lazy dog near the river bank";

    fn shingles(text: &str, width: usize) -> ShingleSet {
        ShingleSet::of_tokens(tokens(text), NonZeroUsize::new(width).unwrap())
    }

    #[test]
    fn the_hashes_are_pinned() {
        let check = |value, expected| assert_eq!(splitmix64(value), expected, "{value}");
        check(0, 0xe220_a839_7b1d_cdaf);
        check(1, 0x910a_2dec_8902_5cc1);
        check(2, 0x9758_35de_1c97_56ce);
        check(12_345_678_901_234_567, 0xbad6_664b_e58d_2ada);
        let check = |text: &str, expected| assert_eq!(fnv1a64(text.as_bytes()), expected, "{text}");
        check("", 0xcbf2_9ce4_8422_2325);
        check("a", 0xaf63_dc4c_8601_ec8c);
        check("rose", 0xa3b3_ec1f_f114_df66);
        check("网页", 0x2f24_a278_03ff_0001);
    }

    #[test]
    fn a_rose_is_a_rose_is_a_rose_has_three_shingles() {
        let expected = [0x1288_593b_2402_f01a, 0xb9ab_493e_3822_55b9, 0xff80_e709_66ba_99a2];
        assert_eq!(shingles("a rose is a rose is a rose", 4).hashes(), expected);
    }

    #[test]
    fn one_word_replaced_moves_resemblance_and_containment_as_far_as_broder_says() {
        let leaping = QUICK_FOX.replace("jumps", "leaps");
        let check = |width, resemblance: f64, containment: f64| {
            let (a, b) = (shingles(QUICK_FOX, width), shingles(&leaping, width));
            assert!((a.resemblance(&b) - resemblance).abs() < 1e-12, "w = {width}");
            assert!((a.containment_in(&b) - containment).abs() < 1e-12, "w = {width}");
        };
        check(3, 8.0 / 14.0, 8.0 / 11.0);
        check(1, 10.0 / 12.0, 10.0 / 11.0);
    }

    #[test]
    fn short_and_empty_texts_are_sets_too() {
        let (empty, short) = (shingles("", 5), shingles("two words", 5));
        assert_eq!((empty.len(), short.len()), (0, 1));
        assert_eq!((empty.resemblance(&empty), empty.containment_in(&empty)), (1.0, 1.0));
        assert_eq!(
            (empty.resemblance(&short), empty.containment_in(&short), short.containment_in(&empty)),
            (0.0, 0.0, 0.0)
        );
        assert_ne!(short, shingles("two", 5));
    }

    #[test]
    fn a_text_with_more_shingles_than_are_kept_is_still_compared_fairly() {
        let hashes = |range: std::ops::Range<u64>| ShingleSet::from_hashes(range.map(splitmix64).collect());
        let (a, b) = (hashes(0..100_000), hashes(50_000..150_000));
        assert_eq!((a.len(), a.is_complete()), (MAX_SHINGLES, false));
        // sd = sqrt(1/3 · 2/3 / 4096) = 0.0074
        assert!((a.resemblance(&b) - 1.0 / 3.0).abs() < 0.03, "{}", a.resemblance(&b));
        assert!((a.containment_in(&b) - 0.5).abs() < 0.04, "{}", a.containment_in(&b));
        // A small page that lost most of a big one.
        let small = hashes(0..1_000);
        assert!((small.resemblance(&a) - 0.01).abs() < 0.005, "{}", small.resemblance(&a));
        assert_eq!(small.containment_in(&a), 1.0);
    }

    #[test]
    fn bytes_that_are_no_set_are_refused() {
        let mut bytes = Vec::new();
        shingles(QUICK_FOX, 5).encode_into(&mut bytes);
        assert_eq!(ShingleSet::decode(&bytes[..3]), Err(DecodeError::TooShort));
        assert_eq!(ShingleSet::decode(&bytes[..bytes.len() - 1]), Err(DecodeError::BadLength));
        let mut other = bytes.clone();
        other[0] = 9;
        assert_eq!(ShingleSet::decode(&other), Err(DecodeError::UnknownVersion(9)));
        let mut other = bytes.clone();
        other[HEADER_BYTES..HEADER_BYTES + 8].fill(0xff);
        assert_eq!(ShingleSet::decode(&other), Err(DecodeError::NotAscending));
    }

    /// The definition of E2, without sliding.
    fn by_definition(tokens: &[&str], width: usize) -> Vec<u64> {
        let hash = |window: &[&str]| {
            let term = |hash, token: &&str| {
                (hash * u128::from(BASE) + u128::from(fnv1a64(token.as_bytes()))) % u128::from(MODULUS)
            };
            splitmix64(window.iter().fold(0u128, term) as u64)
        };
        let mut hashes: Vec<u64> = match tokens.len() {
            0 => vec![],
            length if length < width => vec![hash(tokens)],
            _ => tokens.windows(width).map(hash).collect(),
        };
        hashes.sort_unstable();
        hashes.dedup();
        hashes
    }

    proptest! {
        #[test]
        fn sliding_agrees_with_the_definition(text in "([a-d]{1,2} ){0,40}", width in 1usize..7) {
            let tokens: Vec<&str> = tokens(&text).collect();
            let set = shingles(&text, width);
            prop_assert_eq!(set.hashes(), by_definition(&tokens, width));
        }

        #[test]
        fn a_set_survives_its_bytes(hashes in proptest::collection::vec(any::<u64>(), 0..5_000)) {
            let set = ShingleSet::from_hashes(hashes);
            let mut bytes = Vec::new();
            set.encode_into(&mut bytes);
            prop_assert_eq!(ShingleSet::decode(&bytes), Ok(set));
        }

        #[test]
        fn any_bytes_decode_or_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = ShingleSet::decode(&bytes);
        }

        #[test]
        fn sorting_agrees_with_the_standard_library(mut hashes in proptest::collection::vec(any::<u64>(), 0..600)) {
            let mut expected = hashes.clone();
            expected.sort();
            sort_evenly_spread(&mut hashes);
            prop_assert_eq!(hashes, expected);
        }
    }
}
