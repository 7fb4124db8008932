//! The decision whether two pages are mirrors, from their texts and links together.

use crate::mirror_sketch::MirrorSketch;
use crate::packed_sketch::BandKey;
use crate::threshold::Threshold;

/// One in a hundred pairs of texts of resemblance 0.9 has a lower estimate.
const LEAST_TEXT: f64 = 0.9 - 2.33 * 0.0275;
/// The least estimate for texts of pages with the same links. Pages of one template have the same links and other
/// texts; copies under another name, in another charset or with comments of their own keep this much. From 0.2 to 0.4 the
/// number of wrong pairs on real pages is the same (docs/MEASUREMENTS.md), and a translation has less.
const LEAST_TEXT_BESIDE_LINKS: f64 = 0.3;

/// The most pages per bucket. A text or a set of links found in more pages is a template, not a mirror; the first pages
/// stand for the others.
pub const MAX_BUCKET_PAGES: usize = 64;

/// A page in a bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SketchEntry<P> {
    /// Identifies the page.
    pub page: P,
    /// The authority of the page's host.
    pub host: String,
    pub sketch: MirrorSketch,
}

/// The evidence that makes two pages mirrors. Pages of one host are often made from one template and share its menus, so
/// between them only equal sketches of texts match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MirrorRule {
    /// Texts with 0.9 of their shingles in common.
    Texts,
    /// As above; or links alike from the threshold on, in the estimate and by their numbers, and texts that do not
    /// contradict it. Pages of which one has no text to speak of are no mirrors: shops of one maker have the same menu.
    TextsAndLinks(Threshold),
    /// Links alone, as the paper compares pages. For measurements: every page of a copied site is then a mirror of every
    /// other with its menus.
    Links(Threshold),
}

/// How alike two mirrors are: estimated resemblance of their texts, then of their links.
type Likeness = (f64, f64);

impl MirrorRule {
    /// The index of the page in a bucket that is most like `page`, if one is its mirror. A pair that shares several
    /// buckets is left to the first of them. Among pages equally alike the smallest is chosen.
    pub fn best_match<P: Ord>(self, page: &SketchEntry<P>, bucket: &[SketchEntry<P>], band: &BandKey) -> Option<usize> {
        let candidates = bucket.iter().enumerate().filter(|(_, other)| {
            other.page != page.page && page.sketch.first_common_band(&other.sketch).as_ref() == Some(band)
        });
        let mirrors = candidates.filter_map(|(place, other)| Some((self.likeness(page, other)?, place)));
        let order = |((text, links), place): &(Likeness, usize), other: &(Likeness, usize)| {
            let ((other_text, other_links), other_place) = other;
            text.total_cmp(other_text)
                .then_with(|| links.total_cmp(other_links))
                .then_with(|| bucket[*other_place].page.cmp(&bucket[*place].page))
        };
        mirrors.max_by(order).map(|(_, place)| place)
    }

    /// How alike two pages are, if they are mirrors.
    fn likeness<P>(self, page: &SketchEntry<P>, other: &SketchEntry<P>) -> Option<Likeness> {
        let texts = page.sketch.text().zip(other.sketch.text());
        let text = texts.map_or(0.0, |(ours, theirs)| ours.resemblance(theirs));
        if page.host == other.host {
            return (text == 1.0 && !matches!(self, Self::Links(_))).then_some((text, 0.0));
        }
        let links = |threshold: Threshold| {
            let (ours, theirs) = page.sketch.links().zip(other.sketch.links())?;
            // The numbers of links are exact, and refuse most pairs before they are compared.
            let links = ours.degrees_allow(theirs, threshold).then(|| ours.resemblance(theirs))?;
            (links >= threshold.share()).then_some(links)
        };
        match self {
            Self::Texts => (text >= LEAST_TEXT).then_some((text, 0.0)),
            Self::TextsAndLinks(threshold) => match links(threshold) {
                Some(links) => (text >= LEAST_TEXT_BESIDE_LINKS).then_some((text, links)),
                None => (text >= LEAST_TEXT).then_some((text, 0.0)),
            },
            Self::Links(threshold) => links(threshold).map(|links| (0.0, links)),
        }
    }
}

#[cfg(test)]
#[path = "rule_tests.rs"]
mod tests;
