//! Shingles: the overlapping windows of w tokens in a text, as a set of hashes.
//!
//! Broder, Glassman, Manasse & Zweig 1997, "Syntactic clustering of the Web": resemblance r = |A ∩ B| / |A ∪ B|,
//! containment c = |A ∩ B| / |A|. A token is hashed by [`document::text_hash`], and a window of tokens by the hash of
//! Karp & Rabin, mixed so that shingles are evenly spread (Section E2). A shingle has 32 bits: two of a page share one too
//! rarely to matter.
//!
//! State is bounded: of a text with more than [`MAX_SHINGLES`], the smallest are kept. They are an even sample. Two
//! sets are compared over the range of values that both hold in full. The standard deviation of r is then at most
//! sqrt(r (1 − r) / 512), which is 0.013 at r = 0.9.

use crate::rolling::windows;
use crate::spread_sort::sorted_evenly_spread;
use crate::token_hashes::{Scratch, token_hashes};
use document::text_hash;
use std::num::NonZeroUsize;

/// Tokens per shingle of text.
pub const DEFAULT_SHINGLE_WIDTH: NonZeroUsize = NonZeroUsize::new(5).expect("5 is not 0");

/// Shingles compared at once.
const STRETCH: usize = 8;

/// The most shingles kept of one text.
pub const MAX_SHINGLES: usize = 512;

/// How many of the smallest shingles are sorted at first, to find [`MAX_SHINGLES`] different ones.
const TRIED_SHINGLES: usize = MAX_SHINGLES + MAX_SHINGLES / 2;

/// Computes the shingles of one page after another, reusing its buffers.
#[derive(Clone, Debug, Default)]
pub struct Shingler {
    scratch: Scratch,
    tokens: Vec<u32>,
    shingles: Vec<u32>,
}

impl Shingler {
    /// The shingles of texts read as one, in order and with repetitions. Fewer than `width` tokens in all are one
    /// shingle; no tokens have none.
    pub fn shingles<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>, width: NonZeroUsize) -> &[u32] {
        self.tokens.clear();
        for text in texts {
            token_hashes(text, &mut self.scratch, &mut self.tokens);
        }
        self.finish(width)
    }

    fn finish(&mut self, width: NonZeroUsize) -> &[u32] {
        windows(&self.tokens, width, &mut self.shingles);
        &self.shingles
    }
}

/// The shingles of one text: distinct, ascending, bounded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShingleSet {
    pub(crate) hashes: Vec<u32>,
    /// Whether there were more than [`MAX_SHINGLES`]; only the smallest are kept then.
    pub(crate) truncated: bool,
}

impl ShingleSet {
    /// The shingles of a sequence of tokens. A sequence shorter than `width` is one shingle; an empty one has none.
    pub fn of_tokens<'a>(tokens: impl IntoIterator<Item = &'a str>, width: NonZeroUsize) -> Self {
        let tokens = tokens.into_iter().map(|token| text_hash(token.as_bytes()) as u32).collect();
        Self::from_hashes(Shingler { tokens, ..Shingler::default() }.finish(width))
    }

    /// Builds a set from evenly spread hashes.
    pub fn from_hashes(all: &[u32]) -> Self {
        let mut tried = TRIED_SHINGLES;
        loop {
            // Of a long text, only the hashes below a limit are sorted. Shingles may repeat, so more are tried if needed.
            let is_all = tried >= all.len();
            let smallest = match is_all {
                true => all.to_vec(),
                false => below((((tried as u64) << 32) / all.len() as u64) as u32, all),
            };
            let mut hashes = sorted_evenly_spread(smallest, |hash| u64::from(*hash) << 32);
            hashes.dedup();
            if is_all || hashes.len() > MAX_SHINGLES {
                let truncated = hashes.len() > MAX_SHINGLES;
                hashes.truncate(MAX_SHINGLES);
                hashes.shrink_to_fit();
                return Self { hashes, truncated };
            }
            tried *= 2;
        }
    }

    /// The hashes, ascending.
    pub fn hashes(&self) -> &[u32] {
        &self.hashes
    }

    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Whether the text had no token.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// |A ∩ B| / |A ∪ B|: 1 for equal sets, two empty ones included.
    pub fn resemblance(&self, other: &ShingleSet) -> f64 {
        let overlap = self.overlap(other);
        overlap.share_of(overlap.ours + overlap.theirs - overlap.common)
    }

    /// |A ∩ B| / |A|: the share of this text that is in the other. 1 for two empty sets, 0 when just one is empty.
    pub fn containment_in(&self, other: &ShingleSet) -> f64 {
        let overlap = self.overlap(other);
        if overlap.ours == 0 && overlap.theirs > 0 { 0.0 } else { overlap.share_of(overlap.ours) }
    }

    /// Counts shingles over the range of values that both sets hold in full.
    fn overlap(&self, other: &ShingleSet) -> Overlap {
        let limit = self.known_up_to().min(other.known_up_to());
        let ours = &self.hashes[..self.hashes.partition_point(|&hash| hash <= limit)];
        let theirs = &other.hashes[..other.hashes.partition_point(|&hash| hash <= limit)];
        let (mut i, mut j, mut common) = (0, 0, 0);
        while i < ours.len() && j < theirs.len() {
            // Fast path: most of two versions is equal.
            let stretches = ours[i..].first_chunk::<STRETCH>().zip(theirs[j..].first_chunk());
            if stretches.is_some_and(|(ours, theirs)| ours == theirs) {
                (i, j, common) = (i + STRETCH, j + STRETCH, common + STRETCH);
                continue;
            }
            let (a, b) = (ours[i], theirs[j]);
            common += usize::from(a == b);
            i += usize::from(a <= b);
            j += usize::from(b <= a);
        }
        Overlap { ours: ours.len(), theirs: theirs.len(), common }
    }

    fn known_up_to(&self) -> u32 {
        match self.hashes.last() {
            Some(&last) if self.truncated => last,
            _ => u32::MAX,
        }
    }
}

/// The numbers below a limit, in order. Written without a branch: whether a hash is below it cannot be foreseen.
fn below(limit: u32, numbers: &[u32]) -> Vec<u32> {
    let mut kept = vec![0; numbers.len()];
    let mut count = 0;
    for number in numbers {
        kept[count] = *number;
        count += usize::from(*number < limit);
    }
    kept.truncate(count);
    kept
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokens;
    use chance::splitmix64;
    use proptest::prelude::*;

    const QUICK_FOX: &str = "the quick brown fox jumps over the lazy dog near the river bank";

    fn shingles(text: &str, width: usize) -> ShingleSet {
        ShingleSet::of_tokens(tokens(text), NonZeroUsize::new(width).unwrap())
    }

    #[test]
    fn a_rose_is_a_rose_is_a_rose_has_three_shingles() {
        let expected = [0x0427_c9f3, 0xcbe7_a93f, 0xf756_21d9];
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
        let hashes = |range: std::ops::Range<u64>| {
            ShingleSet::from_hashes(&range.map(|number| (splitmix64(number) >> 32) as u32).collect::<Vec<_>>())
        };
        let (a, b) = (hashes(0..100_000), hashes(50_000..150_000));
        assert_eq!((a.len(), a.truncated), (MAX_SHINGLES, true));
        // sd = sqrt(1/3 · 2/3 / 4096) = 0.0074
        assert!((a.resemblance(&b) - 1.0 / 3.0).abs() < 0.03, "{}", a.resemblance(&b));
        assert!((a.containment_in(&b) - 0.5).abs() < 0.04, "{}", a.containment_in(&b));
        // A small page that lost most of a big one.
        let small = hashes(0..1_000);
        assert!((small.resemblance(&a) - 0.01).abs() < 0.005, "{}", small.resemblance(&a));
        assert_eq!(small.containment_in(&a), 1.0);
    }

    #[test]
    fn one_shingler_makes_page_after_page() {
        let mut shingler = Shingler::default();
        for (text, width) in [(QUICK_FOX, 5), ("", 5), ("two words", 5), (QUICK_FOX, 3)] {
            let width = NonZeroUsize::new(width).unwrap();
            let made = ShingleSet::from_hashes(shingler.shingles([text], width));
            assert_eq!(made, ShingleSet::of_tokens(tokens(text), width), "{text}");
        }
    }

    proptest! {
        #[test]
        fn texts_are_read_as_one(texts in proptest::collection::vec("([a-dé] ){0,9}", 0..4), width in 1usize..7) {
            let width = NonZeroUsize::new(width).unwrap();
            let mut shingler = Shingler::default();
            let shingles = shingler.shingles(texts.iter().map(String::as_str), width).to_vec();
            prop_assert_eq!(&shingles, shingler.shingles([texts.concat().as_str()], width));
            let by_tokens = ShingleSet::of_tokens(texts.iter().flat_map(|text| tokens(text)), width);
            prop_assert_eq!(ShingleSet::from_hashes(&shingles), by_tokens);
        }

        #[test]
        fn resemblance_is_symmetric_and_containment_both_ways_bounds_it(a in sets(), b in sets()) {
            let r = a.resemblance(&b);
            prop_assert_eq!(r, b.resemblance(&a));
            prop_assert!((0.0..=1.0).contains(&r));
            prop_assert_eq!(r == 1.0, a == b);
            prop_assert!(r <= a.containment_in(&b).min(b.containment_in(&a)));
        }
    }

    fn sets() -> impl Strategy<Value = ShingleSet> {
        proptest::collection::vec(0u32..30, 0..30).prop_map(|hashes| ShingleSet::from_hashes(&hashes))
    }
}
