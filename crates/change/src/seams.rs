//! White space that came or went between two texts, and the words that it joins or parts.

use crate::stand_in_words::is_of_spaced_script;
use crate::typeset::plain;

/// Two words with white space between them in one version and none in the other.
pub(crate) type Seam = (String, String);

/// Whether two texts differ in white space and typeset signs only. Between digits white space counts.
pub(crate) fn says_the_same(one: &str, other: &str) -> bool {
    let squeezed = |text: &str| {
        let text = plain(text).unwrap_or_else(|| text.to_owned());
        let mut squeezed = String::with_capacity(text.len());
        let mut signs = text.chars().peekable();
        while let Some(sign) = signs.next() {
            let is_between_digits = sign == ' '
                && squeezed.ends_with(|before: char| before.is_numeric())
                && signs.peek().is_some_and(|next| next.is_numeric());
            if sign != ' ' || is_between_digits {
                squeezed.push(sign);
            }
        }
        squeezed
    };
    squeezed(one) == squeezed(other)
}

/// Whether a page has joined or parted the same two words in several places, and no others: it spells a name otherwise. A tool
/// that removes white space between elements joins other words, too.
pub(crate) fn are_a_spelling(seams: &[&Seam]) -> bool {
    seams.len() > 1 && seams.iter().all(|seam| *seam == seams[0])
}

/// The words that one of two texts joins. The texts say the same but for white space and typeset signs.
pub(crate) fn seams(one: &str, other: &str) -> Vec<Seam> {
    let [one, other] = [one, other].map(|text| plain(text).unwrap_or_else(|| text.to_owned()));
    let mut seams = Vec::new();
    let (mut left, mut right) = (one.char_indices().peekable(), other.char_indices().peekable());
    loop {
        match (left.peek().copied(), right.peek().copied()) {
            (Some((_, ' ')), Some((_, ' '))) => {
                left.next();
                right.next();
            }
            (Some((at, ' ')), _) => {
                seams.extend(seam(&one, at));
                left.next();
            }
            (_, Some((at, ' '))) => {
                seams.extend(seam(&other, at));
                right.next();
            }
            (Some(_), Some(_)) => {
                left.next();
                right.next();
            }
            (None, _) | (_, None) => return seams,
        }
    }
}

/// The words on both sides of a blank, if both scripts write blanks between words.
fn seam(text: &str, blank: usize) -> Option<Seam> {
    let is_no_sign_of_word = |sign: char| !(sign.is_alphanumeric() && is_of_spaced_script(sign));
    let before = text[..blank].rsplit(is_no_sign_of_word).next().filter(|word| !word.is_empty())?;
    let behind = text[blank + 1..].split(is_no_sign_of_word).next().filter(|word| !word.is_empty())?;
    Some((before.to_owned(), behind.to_owned()))
}
