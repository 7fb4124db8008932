//! Words near to those of a focus: with 帆船 (sailing boat), a link that says 游艇 (yacht) is worth following.
//!
//! The published weight of a link (RW, its formula 1) compares each word of the link with the focus by a similarity: 1 for
//! synonyms, .5 to 1 for near words, less for far ones. Looking for the focus's own words alone misses links. Near words are
//! written in the file of a focus, or learned from the texts in which both stand ([`CoOccurrence`](crate::CoOccurrence)).

use std::collections::BTreeMap;

/// The most near words of a focus.
pub const MAX_NEAR_WORDS: usize = 1000;
/// The similarity of near words that a file lists without one: the middle of what was published for near words.
pub const LISTED_SIMILARITY: f64 = 0.75;

/// Near words, and how similar each is to words of the focus.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NearWords {
    /// By near word, the similarities by word of the focus: above 0 and up to 1.
    similarities: BTreeMap<String, BTreeMap<String, f64>>,
}

impl NearWords {
    /// Adds a near word of a focus's word. The larger similarity of two for one pair is kept, and never more than 1. Returns
    /// false, and adds nothing, for one that is not positive or for a word beyond [`MAX_NEAR_WORDS`].
    pub fn add(&mut self, near: &str, of: &str, similarity: f64) -> bool {
        let is_known = self.similarities.contains_key(near);
        if similarity.is_nan() || similarity <= 0.0 || !is_known && self.similarities.len() == MAX_NEAR_WORDS {
            return false;
        }
        let known = self.similarities.entry(near.to_owned()).or_default().entry(of.to_owned()).or_default();
        *known = known.max(similarity.min(1.0));
        true
    }

    /// The closeness of a word by the closeness of the focus's words: the largest product of a similarity and the closeness
    /// of its word. 0 for a word that is near to none.
    pub fn closeness(&self, word: &str, of_focus: impl Fn(&str) -> f64) -> f64 {
        let near = self.similarities.get(word).into_iter().flatten();
        near.map(|(of, similarity)| similarity * of_focus(of)).fold(0.0, f64::max)
    }

    /// The near words in alphabetical order, each with the words of the focus that it is near to and the similarities.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &BTreeMap<String, f64>)> {
        self.similarities.iter().map(|(near, of)| (near.as_str(), of))
    }

    pub fn len(&self) -> usize {
        self.similarities.len()
    }

    pub fn is_empty(&self) -> bool {
        self.similarities.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closeness_is_the_largest_of_all_ways() {
        let mut near = NearWords::default();
        assert!(near.add("yacht", "boat", 0.5) && near.add("yacht", "sail", 0.9) && near.add("yacht", "sail", 0.2));
        assert!(near.add("vessel", "boat", 7.0));
        assert!(!near.add("car", "boat", 0.0) && !near.add("car", "boat", f64::NAN) && !near.add("car", "boat", -1.0));
        let of_focus = |word: &str| if word == "boat" { 1.0 } else { 0.5 };
        let closeness = |word| near.closeness(word, of_focus);
        assert_eq!((closeness("yacht"), closeness("vessel"), closeness("car")), (0.5, 1.0, 0.0));
    }

    #[test]
    fn the_number_of_near_words_is_bounded() {
        let mut near = NearWords::default();
        let added = (0..2 * MAX_NEAR_WORDS).filter(|number| near.add(&format!("w{number}"), "boat", 0.5)).count();
        assert_eq!((added, near.len()), (MAX_NEAR_WORDS, MAX_NEAR_WORDS));
        assert!(near.add("w0", "sail", 0.5), "a known word may be near to another");
    }
}
