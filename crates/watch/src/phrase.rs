//! Phrases, whose appearance or disappearance can be a trigger.

use document::stated::folded;

/// Words before a phrase that turn it into its opposite.
const NEGATIONS: &[&str] =
    &["not", "no", "no longer", "non", "nicht", "nicht mehr", "kein", "keine", "pas", "plus", "niet"];

/// Words to be found in texts, whatever their case and the blanks between them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Phrase(String);

impl Phrase {
    pub(crate) fn new(words: &str) -> Self {
        Self(folded(words))
    }

    /// Whether a folded text says the phrase: as whole words, and not with a "not" before it.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.places(text).any(|place| !is_negated(&text[..place]))
    }

    /// The folded text behind the first occurrence of the phrase, if it is there.
    pub(crate) fn behind<'t>(&self, text: &'t str) -> Option<&'t str> {
        self.places(text).next().map(|place| &text[place + self.0.len()..])
    }

    /// Where the phrase is in a folded text.
    fn places<'t>(&'t self, text: &'t str) -> impl Iterator<Item = usize> {
        text.match_indices(&self.0).map(|(place, _)| place).filter(|place| {
            let inside = |edge: Option<char>, beside: Option<char>| {
                [edge, beside].iter().all(|sign| sign.is_some_and(is_of_word))
            };
            let (before, behind) = (&text[..*place], &text[place + self.0.len()..]);
            !inside(self.0.chars().next(), before.chars().next_back())
                && !inside(self.0.chars().next_back(), behind.chars().next())
        })
    }
}

/// Whether a sign is part of a word that blanks end. Chinese, Japanese and Thai words follow each other without any.
fn is_of_word(sign: char) -> bool {
    sign.is_alphanumeric() && u32::from(sign) < 0xe00
}

fn is_negated(before: &str) -> bool {
    let before = before.trim_end();
    NEGATIONS
        .iter()
        .any(|word| before.strip_suffix(word).is_some_and(|rest| !rest.chars().next_back().is_some_and(is_of_word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_whole_words_without_a_not_before_it() {
        let check =
            |words: &str, text: &str, expected| assert_eq!(Phrase::new(words).is_in(&folded(text)), expected, "{text}");
        check("in stock", "In  STOCK: 3 left", true);
        check("in stock", "in stocks", false);
        check("in stock", "Not in stock", false);
        check("in stock", "no longer in stock.", false);
        check("in stock", "A knot in stock", true);
        check("in stock", "Not in stock here, in stock there", true);
        check("not in stock", "not in stock", true);
        check("auf Lager", "Nicht auf Lager", false);
        check("sold out", "Sold out!", true);
        check("在庫あり", "現在在庫ありです", true);
        check("c++", "written in C++, again", true);
    }
}
