//! What a new version of a page means beside the last accepted one.

use crate::digest::{ContentDigest, content_digest, links_digest, text_digest};
use crate::extract::{ContentKind, PageText};
use crate::hash::splitmix64;
use crate::shingle::{DEFAULT_SHINGLE_WIDTH, ShingleSet};
use crate::state_codec::DecodeError;
use crate::tokens::tokens;
use serde::Serialize;

/// From this magnitude on a change is [`Verdict::Major`]: a tenth of all distinct shingles of both versions. One word
/// replaced touches five shingles, so that is about one word in a hundred, or one paragraph in twenty.
pub const MAJOR_MAGNITUDE: f64 = 0.1;

/// What became of a page since its last accepted version. The order is no ranking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Never seen before.
    First,
    /// The same bytes.
    Unchanged,
    /// Other bytes, but the same text and the same link targets.
    Cosmetic,
    /// The text changed by less than [`MAJOR_MAGNITUDE`], or only link targets changed.
    Minor,
    /// The text changed by [`MAJOR_MAGNITUDE`] or more.
    Major,
    /// The page is no longer there. Never the answer of [`compare`], which is given two versions.
    Gone,
    /// The page is there again after it was gone; see [`Comparison::returned`].
    Returned,
}

impl Verdict {
    /// Whether a reader or a link follower would notice: everything but [`Verdict::Unchanged`] and [`Verdict::Cosmetic`].
    pub const fn is_noticeable(self) -> bool {
        !matches!(self, Verdict::Unchanged | Verdict::Cosmetic)
    }
}

/// What is kept of a version to compare later ones with: 96 bytes and at most 32 KiB of shingles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// Of the body, byte for byte.
    pub content_digest: ContentDigest,
    /// Of title and visible text; of the body when it has no text.
    pub text_digest: ContentDigest,
    /// Of the set of link targets.
    pub links_digest: ContentDigest,
    /// Of title and visible text; for a body without text one shingle that stands for all of it.
    pub shingles: ShingleSet,
}

impl Fingerprint {
    /// Of a page and the body it was extracted from.
    pub fn of(page: &PageText, body: &[u8]) -> Self {
        let content_digest = content_digest(body);
        let links_digest = links_digest(&page.links);
        if page.kind == ContentKind::Opaque {
            let head = content_digest.first_chunk().expect("a digest has 32 bytes");
            let shingles = ShingleSet::from_hashes(vec![splitmix64(u64::from_le_bytes(*head))]);
            return Self { content_digest, text_digest: content_digest, links_digest, shingles };
        }
        Self {
            content_digest,
            text_digest: text_digest(&page.title, &page.text),
            links_digest,
            shingles: ShingleSet::of_tokens(tokens(&page.title).chain(tokens(&page.text)), DEFAULT_SHINGLE_WIDTH),
        }
    }

    /// As a state value: the three digests, then the shingles as [`ShingleSet::encode_into`] writes them.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(3 * 32 + 8 + 8 * self.shingles.len());
        for digest in [&self.content_digest, &self.text_digest, &self.links_digest] {
            out.extend_from_slice(digest);
        }
        self.shingles.encode_into(&mut out);
        out
    }

    /// Reads what [`encode`](Self::encode) wrote.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let (content_digest, bytes) = bytes.split_first_chunk().ok_or(DecodeError::TooShort)?;
        let (text_digest, bytes) = bytes.split_first_chunk().ok_or(DecodeError::TooShort)?;
        let (links_digest, bytes) = bytes.split_first_chunk().ok_or(DecodeError::TooShort)?;
        Ok(Self {
            content_digest: *content_digest,
            text_digest: *text_digest,
            links_digest: *links_digest,
            shingles: ShingleSet::decode(bytes)?,
        })
    }
}

/// How a new version relates to the last accepted one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// What it means.
    pub verdict: Verdict,
    /// 1 − resemblance, in \[0, 1\]. Zero also when words only changed places or repeated themselves, or when punctuation
    /// or links alone changed.
    pub magnitude: f64,
    /// |old ∩ new| / |old ∪ new| of the shingles.
    pub resemblance: f64,
    /// |old ∩ new| / |old|: how much of the old text is still there.
    pub containment: f64,
}

impl Comparison {
    /// The same comparison for a page that was gone in between.
    #[must_use]
    pub fn returned(self) -> Self {
        Self { verdict: Verdict::Returned, ..self }
    }
}

/// Compares a version with the last accepted one, if there is any.
pub fn compare(old: Option<&Fingerprint>, new: &Fingerprint) -> Comparison {
    let Some(old) = old else {
        return Comparison { verdict: Verdict::First, magnitude: 1.0, resemblance: 0.0, containment: 0.0 };
    };
    let same = |verdict| Comparison { verdict, magnitude: 0.0, resemblance: 1.0, containment: 1.0 };
    if old.content_digest == new.content_digest {
        return same(Verdict::Unchanged);
    }
    if old.text_digest == new.text_digest {
        let same_links = old.links_digest == new.links_digest;
        return same(if same_links { Verdict::Cosmetic } else { Verdict::Minor });
    }
    let resemblance = old.shingles.resemblance(&new.shingles);
    let magnitude = 1.0 - resemblance;
    Comparison {
        verdict: if magnitude >= MAJOR_MAGNITUDE { Verdict::Major } else { Verdict::Minor },
        magnitude,
        resemblance,
        containment: old.shingles.containment_in(&new.shingles),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::extract;
    use proptest::prelude::*;

    fn fingerprint(body: &str) -> Fingerprint {
        Fingerprint::of(&extract(Some("text/html; charset=utf-8"), body.as_bytes()), body.as_bytes())
    }

    fn article(words: usize) -> String {
        (0..words).map(|index| format!("word{index} ")).collect()
    }

    #[test]
    fn the_verdict_follows_from_what_a_reader_sees() {
        let old = format!("<title>T</title><p>{} <a href=/a>more</a>", article(200));
        let check = |new: &str, verdict, least: f64, most: f64| {
            let comparison = compare(Some(&fingerprint(&old)), &fingerprint(new));
            assert_eq!(comparison.verdict, verdict);
            assert!((least..=most).contains(&comparison.magnitude), "{comparison:?}");
        };
        check(&old, Verdict::Unchanged, 0.0, 0.0);
        check(&old.replace("<p>", "<p class=x><!-- 17:03 --><script>token=7</script>"), Verdict::Cosmetic, 0.0, 0.0);
        check(&old.replace("/a", "/b"), Verdict::Minor, 0.0, 0.0);
        check(&old.replace("word7 ", "word7, "), Verdict::Minor, 0.0, 0.0);
        check(&old.replace("word7 ", "other "), Verdict::Minor, 0.02, 0.06);
        check(&old.replace("<title>T", "<title>U"), Verdict::Minor, 0.005, 0.02);
        check(&old.replace("word1", "other"), Verdict::Major, 0.5, 1.0);
        check("", Verdict::Major, 1.0, 1.0);
    }

    #[test]
    fn a_page_without_a_past_is_first_and_one_that_was_gone_is_returned() {
        let new = fingerprint("x");
        assert_eq!(compare(None, &new).verdict, Verdict::First);
        let back = compare(Some(&new), &new).returned();
        assert_eq!((back.verdict, back.magnitude), (Verdict::Returned, 0.0));
    }

    #[test]
    fn a_body_without_text_changes_wholly_or_not_at_all() {
        let fingerprint = |body: &[u8]| Fingerprint::of(&extract(Some("image/png"), body), body);
        let check = |new: &[u8], verdict, magnitude| {
            let comparison = compare(Some(&fingerprint(b"\x89PNG1")), &fingerprint(new));
            assert_eq!((comparison.verdict, comparison.magnitude), (verdict, magnitude));
        };
        check(b"\x89PNG1", Verdict::Unchanged, 0.0);
        check(b"\x89PNG2", Verdict::Major, 1.0);
    }

    proptest! {
        #[test]
        fn a_fingerprint_survives_its_bytes(body in ".{0,300}") {
            let fingerprint = fingerprint(&body);
            prop_assert_eq!(Fingerprint::decode(&fingerprint.encode()), Ok(fingerprint));
        }

        #[test]
        fn magnitudes_are_shares(old in "([a-e] ){0,30}", new in "([a-e] ){0,30}") {
            let comparison = compare(Some(&fingerprint(&old)), &fingerprint(&new));
            for share in [comparison.magnitude, comparison.resemblance, comparison.containment] {
                prop_assert!((0.0..=1.0).contains(&share));
            }
        }

        #[test]
        fn any_bytes_are_a_fingerprint_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..150)) {
            let _ = Fingerprint::decode(&bytes);
        }
    }
}
