//! Phrases, whose appearance or disappearance can be a trigger.

use crate::fold::{folded, is_of_word};
use crate::passages::Passages;
use crate::sight::Sight;
use crate::stock::{is_in_stock, says_words};

/// Words to be found in texts, however they are written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Phrase {
    words: String,
    /// Whether the words say that something is in stock. Then all words that say so count, in any language.
    is_in_stock: bool,
}

impl Phrase {
    pub(crate) fn new(words: &str) -> Self {
        let words = folded(words);
        Self { is_in_stock: is_in_stock(&words), words }
    }

    /// Whether passages say the phrase.
    pub(crate) fn sight(&self, passages: &Passages<'_>) -> Sight {
        if self.is_in_stock {
            return passages.stock_sight(&self.words);
        }
        let mut is_unclear = false;
        for text in passages.texts() {
            let places: Vec<usize> = self.places(text).collect();
            if places.is_empty() {
                continue;
            }
            match says_words(text, &places, self.words.len()) {
                Some(true) => return Sight::Words(true),
                Some(false) => {}
                None => is_unclear = true,
            }
        }
        if is_unclear { Sight::Unclear } else { Sight::Words(false) }
    }

    /// Whether a folded text has the phrase, as whole words.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.places(text).next().is_some()
    }

    /// The folded text behind the first occurrence of the phrase, if it is there.
    pub(crate) fn behind<'t>(&self, text: &'t str) -> Option<&'t str> {
        self.places(text).next().map(|place| &text[place + self.words.len()..])
    }

    /// Where the phrase is in a folded text.
    fn places<'t>(&'t self, text: &'t str) -> impl Iterator<Item = usize> {
        text.match_indices(&self.words).map(|(place, _)| place).filter(|place| {
            let inside = |edge: Option<char>, beside: Option<char>| {
                [edge, beside].iter().all(|sign| sign.is_some_and(is_of_word))
            };
            let (before, behind) = (&text[..*place], &text[place + self.words.len()..]);
            !inside(self.words.chars().next(), before.chars().next_back())
                && !inside(self.words.chars().next_back(), behind.chars().next())
        })
    }
}
