//! Signs that cannot be seen. A reader sees the same text with and without them, and the same accent however it is put
//! together.

use icu_normalizer::ComposingNormalizerBorrowed;
use std::borrow::Cow;
use wide_bytes::{BLOCK, Wide, WideWork, at_widest, last_block};

/// Whether a sign shows nothing and takes no room: soft hyphens, zero widths, marks of direction, joiners, variation
/// selectors. These are the signs that Unicode calls default ignorable, and the control characters of ISO 8859.
pub fn is_invisible(sign: char) -> bool {
    match sign {
        '\0'..'\u{80}' => false,
        '\u{85}' => false,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' => true,
        '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' => true,
        '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' => true,
        '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

/// Whether an invisible sign shapes the signs beside it: joiners and what keeps signs apart, variation selectors, the tags
/// of flags. They are no part of what a text says, and without them it would look otherwise.
pub fn is_shaping(sign: char) -> bool {
    matches!(sign, '\u{200c}' | '\u{200d}' | '\u{180b}'..='\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}')
}

/// The text as it is shown: with accents in one piece (Unicode's normal form C), and without the invisible signs that
/// shape nothing. White space that was on both sides of such a sign is one space.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !may_hold_unseen(text) {
        return Cow::Borrowed(text);
    }
    const COMPOSING: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfc();
    let is_left_out = |sign: char| is_invisible(sign) && !is_shaping(sign);
    if !text.chars().any(is_left_out) {
        return COMPOSING.normalize(text);
    }
    let mut seen = String::with_capacity(text.len());
    for sign in text.chars().filter(|sign| !is_left_out(*sign)) {
        if sign != ' ' || !(seen.is_empty() || seen.ends_with(' ')) {
            seen.push(sign);
        }
    }
    match COMPOSING.normalize(&seen) {
        Cow::Borrowed(_) => Cow::Owned(seen),
        Cow::Owned(composed) => Cow::Owned(composed),
    }
}

/// Whether [`shown`] may change a text. Nearly no text needs a closer look, so 64 bytes are looked at at once.
pub(crate) fn may_hold_unseen(text: &str) -> bool {
    at_widest(Search(text.as_bytes()))
}

/// The first bytes of signs that may be invisible or put together.
const FIRST_BYTES: [u8; 14] = [0xc2, 0xcc, 0xcd, 0xd6, 0xd7, 0xd8, 0xd9, 0xdb, 0xe0, 0xe1, 0xe2, 0xe3, 0xef, 0xf0];

struct Search<'t>(&'t [u8]);

impl WideWork for Search<'_> {
    type Result = bool;

    #[inline(always)]
    fn at(self, wide: impl Wide) -> bool {
        let (blocks, rest) = self.0.as_chunks::<BLOCK>();
        let last = last_block(rest);
        for (number, block) in blocks.iter().chain([&last]).enumerate() {
            if wide.beyond_ascii(block) == 0 {
                continue;
            }
            let mut found = FIRST_BYTES.iter().fold(0, |found, byte| found | wide.equal(block, *byte));
            while found != 0 {
                let at = BLOCK * number + found.trailing_zeros() as usize;
                if is_unseen_or_part(&self.0[at..]) {
                    return true;
                }
                found &= found - 1;
            }
        }
        false
    }
}

/// Whether a text may begin with an invisible sign, or one that another form of the text has in other pieces. True for all
/// signs of scripts whose marks come in several orders.
fn is_unseen_or_part(bytes: &[u8]) -> bool {
    let byte = |at: usize| bytes.get(at).copied().unwrap_or_default();
    let (second, third) = (byte(1), byte(2));
    match byte(0) {
        0xc2 => second == 0xad || (second < 0xa0 && second != 0x85),
        0xcc => true,
        0xcd => second <= 0xaf || matches!(second, 0xb4 | 0xbe),
        0xd6 => second >= 0x91,
        0xd7 => second <= 0x87,
        0xd8 => (0x90..=0x9c).contains(&second),
        0xd9 => (0x8b..=0x9f).contains(&second) || second == 0xb0,
        0xdb => (0x96..=0xad).contains(&second),
        0xe0 => true,
        0xe1 => matches!(second, 0x80 | 0x84..=0x87 | 0x9e..=0xa0 | 0xac | 0xad | 0xbc..=0xbf),
        0xe2 => match second {
            0x80 => matches!(third, 0x8b..=0x8f | 0xaa..=0xae),
            0x81 => (0xa0..=0xaf).contains(&third),
            0x84 => matches!(third, 0xa6 | 0xaa | 0xab),
            _ => false,
        },
        0xe3 => (second == 0x82 && matches!(third, 0x99 | 0x9a)) || (second == 0x85 && third == 0xa4),
        0xef => match second {
            0xa4..=0xab | 0xad => true,
            0xac => third >= 0x9d,
            0xbb => third == 0xbf,
            0xbe => third == 0xa0,
            0xbf => (0xb0..=0xb8).contains(&third),
            _ => false,
        },
        0xf0 => {
            matches!(second, 0x91 | 0x96 | 0xaf)
                || (second == 0x9b && third == 0xb2)
                || (second == 0x9d && matches!(third, 0x85..=0x87))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_cannot_be_seen_is_left_out() {
        let check = |text: &str, expected: &str| assert_eq!(shown(text), expected, "{text:?}");
        check("Kaf\u{ad}fee\u{ad}haus", "Kaffeehaus");
        check("a\u{200b} \u{feff}b \u{2060} c", "a b c");
        check("\u{200e}12\u{200f} \u{202b}x\u{202c}\u{2066}y\u{2069}\u{61c}", "12 xy");
        check("cre\u{300}me bru\u{302}le\u{301}e", "crème brûlée");
        check("e\u{ad}\u{301}", "é");
        check("\u{212b} \u{2126} \u{1100}\u{1161} か\u{3099}", "Å Ω 가 が");
        check("Größe … – “a” 网页 слово", "Größe … – “a” 网页 слово");
    }

    #[test]
    fn what_shapes_its_neighbours_stays_in_the_text() {
        for text in ["می\u{200c}خواهم", "\u{1f469}\u{200d}\u{1f527}", "\u{260e}\u{fe0f}"] {
            assert_eq!(shown(text), text);
            assert!(text.chars().any(|sign| is_invisible(sign) && is_shaping(sign)));
        }
    }

    #[test]
    fn the_search_finds_every_sign_that_is_shown_otherwise() {
        use icu_normalizer::DecomposingNormalizerBorrowed;
        const COMPOSING: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfc();
        const SPLITTING: DecomposingNormalizerBorrowed<'static> = DecomposingNormalizerBorrowed::new_nfd();
        // A space, two Greek signs, and brackets of mathematics: rare, and beside signs that are common.
        let is_left = |sign: char| {
            sign.is_whitespace() || matches!(sign, '\u{374}' | '\u{387}' | '\u{2329}' | '\u{232a}' | '\u{2adc}')
        };
        let is_found = |sign: &char| {
            let text = sign.to_string();
            let split = SPLITTING.normalize(&text);
            let is_left_out = is_invisible(*sign) && !is_shaping(*sign);
            let is_other = is_left_out || COMPOSING.normalize(&text) != text;
            (may_hold_unseen(&text) || !is_other) && (split == text || is_other || may_hold_unseen(&split))
        };
        let missed: Vec<char> = ('\u{80}'..=char::MAX).filter(|sign| !is_left(*sign) && !is_found(sign)).collect();
        assert!(missed.is_empty(), "{missed:?}");
    }

    proptest! {
        #[test]
        fn what_is_shown_is_shown_as_it_is(text in "[a é\u{301}\u{ad}\u{200b}\u{200d}\u{fe0f}か\u{3099}ก\u{e38}\u{e48}]{0,20}") {
            let once = shown(&text).into_owned();
            prop_assert_eq!(shown(&once), once.as_str());
        }
    }
}
