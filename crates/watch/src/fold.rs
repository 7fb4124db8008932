//! Texts in one form, so that words are found however they are written: in any case, with or without accents, in
//! full-width signs, with invisible signs between.

use document::is_invisible;
use icu_normalizer::ComposingNormalizerBorrowed;
use icu_normalizer::properties::{CanonicalDecompositionBorrowed, Decomposed};
use std::borrow::Cow;

/// A text in lower case without accents and invisible signs, with single blanks. Hyphens between words are blanks.
pub(crate) fn folded(text: &str) -> String {
    let text = composed(text);
    let mut folded = String::with_capacity(text.len());
    let mut signs = text.chars().filter(|sign| !is_invisible(*sign) && *sign != LENGTHENING).peekable();
    while let Some(sign) = signs.next() {
        let joins_words = is_hyphen(sign)
            && folded.chars().next_back().is_some_and(char::is_alphabetic)
            && signs.peek().is_some_and(|next| next.is_alphabetic());
        if sign.is_whitespace() || joins_words {
            if !folded.is_empty() && !folded.ends_with(' ') {
                folded.push(' ');
            }
        } else {
            push_folded(&mut folded, sign);
        }
    }
    folded.truncate(folded.trim_end().len());
    folded
}

/// Whether a sign is part of a word that blanks end. Chinese, Japanese and Thai words follow each other without any.
pub(crate) fn is_of_word(sign: char) -> bool {
    sign.is_alphanumeric() && u32::from(sign) < 0xe00
}

/// Full-width and half-width signs as the usual ones, and split signs of Kana and Hangul as one. Superscripts stay: a
/// square metre is no 2.
fn composed(text: &str) -> Cow<'_, str> {
    const FULL: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfkc();
    const SPLIT: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfc();
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    if text
        .chars()
        .any(|sign| matches!(sign, '\u{fb00}'..='\u{fdff}' | '\u{fe30}'..='\u{fefc}' | '\u{ff01}'..='\u{ffee}'))
    {
        return FULL.normalize(text);
    }
    match text.chars().any(|sign| matches!(sign, '\u{1100}'..='\u{11ff}' | '\u{3099}' | '\u{309a}')) {
        true => SPLIT.normalize(text),
        false => Cow::Borrowed(text),
    }
}

/// The stroke that lengthens Arabic words.
const LENGTHENING: char = '\u{640}';

fn is_hyphen(sign: char) -> bool {
    matches!(sign, '-' | '\u{2010}' | '\u{2011}')
}

/// Accents, vowel points of Hebrew and Arabic.
fn is_accent(sign: char) -> bool {
    matches!(sign, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}')
}

/// Signs without parts, and the usual ones for them.
const PLAIN: [(char, &str); 26] = [
    ('ß', "ss"),
    ('æ', "ae"),
    ('œ', "oe"),
    ('ø', "o"),
    ('ł', "l"),
    ('đ', "d"),
    ('ð', "d"),
    ('ı', "i"),
    ('ς', "σ"),
    ('ى', "ي"),
    ('ی', "ي"),
    ('ک', "ك"),
    ('\u{2019}', "'"),
    ('\u{2018}', "'"),
    ('\u{2bc}', "'"),
    ('\u{b4}', "'"),
    ('\u{60}', "'"),
    ('\u{2010}', "-"),
    ('\u{2011}', "-"),
    ('؟', "?"),
    ('؛', ";"),
    ('،', ","),
    ('\u{37e}', ";"),
    ('“', "\""),
    ('”', "\""),
    ('„', "\""),
];

fn push_folded(folded: &mut String, sign: char) {
    if sign.is_ascii() && sign != '`' {
        folded.push(sign.to_ascii_lowercase());
        return;
    }
    let digit = match sign {
        '\u{660}'..='\u{669}' => Some(u32::from(sign) - 0x660),
        '\u{6f0}'..='\u{6f9}' => Some(u32::from(sign) - 0x6f0),
        '\u{966}'..='\u{96f}' => Some(u32::from(sign) - 0x966),
        _ => None,
    };
    if let Some(digit) = digit.and_then(|value| char::from_digit(value, 10)) {
        folded.push(digit);
        return;
    }
    for sign in sign.to_lowercase() {
        let sign = without_accents(sign);
        match PLAIN.iter().find(|(written, _)| *written == sign) {
            Some((_, plain)) => folded.push_str(plain),
            None if is_accent(sign) => {}
            None => folded.push(sign),
        }
    }
}

/// The sign below the accents, in scripts whose accents readers leave out.
fn without_accents(sign: char) -> char {
    const PARTS: CanonicalDecompositionBorrowed<'static> = CanonicalDecompositionBorrowed::new();
    let has_accents = matches!(sign, '\u{c0}'..='\u{24f}' | '\u{370}'..='\u{6ff}' | '\u{1e00}'..='\u{1fff}');
    if !has_accents {
        return sign;
    }
    match PARTS.decompose(sign) {
        Decomposed::Default => sign,
        Decomposed::Singleton(other) => other,
        Decomposed::Expansion(base, _) => without_accents(base),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_same_however_they_are_written() {
        let check = |text: &str, expected: &str| assert_eq!(folded(text), expected, "{text:?}");
        check("  In\u{a0}  STOCK ", "in stock");
        check("In-stock", "in stock");
        check("e\u{2010}mail to-5 5-6 -5", "e mail to-5 5-6 -5");
        check("Ｉｎ　ｓｔｏｃｋ：０", "in stock:0");
        check("Épuisé e\u{301}puise\u{301}", "epuise epuise");
        check("lie\u{ad}fer\u{200b}bar", "lieferbar");
        check("Größe İSTANBUL Łódź", "grosse istanbul lodz");
        check("Không còn hàng", "khong con hang");
        check("Διαθέσιμο ΟΧΙ όχι", "διαθεσιμο οχι οχι");
        check("ｶﾞなか\u{3099}", "ガなが");
        check("أُوفِر ٣", "اوفر 3");
        check("12 m²", "12 m²");
        check("isn’t", "isn't");
        check("", "");
    }
}
