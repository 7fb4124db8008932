//! Tag names as small numbers.
//!
//! A page has hundreds of tags, and every reader tests each of them several times. So a name is looked up once, and is
//! an index from then on.

use crate::raw_text::{characters, ends_name};

/// The names that some reader knows. The first stands for all others.
#[rustfmt::skip]
const NAMES: [&[u8]; 146] = [
    b"", b"a", b"abbr", b"acronym", b"address", b"annotation-xml", b"area", b"article", b"aside", b"audio", b"b",
    b"base", b"bdi", b"bdo", b"big", b"blockquote", b"body", b"br", b"button", b"canvas", b"caption", b"center",
    b"circle", b"cite", b"code", b"col", b"colgroup", b"data", b"datalist", b"dd", b"del", b"desc", b"details", b"dfn", b"dialog",
    b"dir", b"div", b"dl", b"dt", b"em", b"embed", b"fieldset", b"figcaption", b"figure", b"font", b"footer",
    b"foreignobject", b"form", b"frame", b"frameset", b"g", b"h1", b"h2", b"h3", b"h4", b"h5", b"h6", b"head",
    b"header", b"hgroup", b"hr", b"html", b"i", b"iframe", b"img", b"input", b"ins", b"kbd", b"label", b"legend", b"li",
    b"line", b"link", b"listing", b"main", b"map", b"mark", b"math", b"menu", b"meta", b"metadata", b"meter", b"mi", b"mn",
    b"mo", b"ms", b"mtext", b"nav", b"nobr", b"noembed", b"noframes", b"noscript", b"object", b"ol", b"optgroup",
    b"option", b"output", b"p", b"param", b"path", b"picture", b"plaintext", b"polygon", b"pre", b"progress", b"q", b"rb", b"rect", b"rp",
    b"rt", b"ruby", b"s", b"samp", b"script", b"section", b"select", b"small", b"source", b"span", b"strike", b"strong",
    b"style", b"sub", b"summary", b"sup", b"svg", b"table", b"tbody", b"td", b"template", b"textarea", b"tfoot", b"th",
    b"thead", b"time", b"title", b"tr", b"track", b"tt", b"u", b"ul", b"use", b"var", b"video", b"wbr", b"xmp",
];
/// The bytes of the names, as numbers.
const KEYS: [u128; NAMES.len()] = per_name_key();
/// The index of each key in [`NAMES`], by its hash. No two keys share a hash.
static PLACES: [u8; 1 << HASH_BITS] = places();
const HASH_BITS: u32 = 10;

/// A tag name in lower case. All unknown names are equal, and empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TagName(u8);

impl TagName {
    /// Any name that no reader knows.
    pub const UNKNOWN: Self = Self(0);

    /// The name with these bytes. Panics for an unknown name: a compile-time error in a constant.
    pub const fn named(name: &[u8]) -> Self {
        let mut place = 1;
        while place < NAMES.len() {
            let mut index = 0;
            while index < name.len() && name.len() == NAMES[place].len() && name[index] == NAMES[place][index] {
                index += 1;
            }
            if index == name.len() {
                return Self(place as u8);
            }
            place += 1;
        }
        panic!("the list of names contains this name");
    }

    /// The name in the first `length` bytes, in any case.
    #[inline]
    fn at_start(text: &[u8], length: usize) -> Self {
        if length > 16 {
            return Self::default();
        }
        // Reading sixteen bytes at once and clearing those after the name costs less than reading a few one by one.
        let bytes = text.first_chunk().copied().unwrap_or_else(|| {
            let mut last = [0; 16];
            last[..text.len()].copy_from_slice(text);
            last
        });
        let kept = u128::MAX.unbounded_shr(8 * (16 - length as u32));
        Self::of_key(lower_case(u128::from_le_bytes(bytes) & kept))
    }

    #[inline(always)]
    fn of_key(key: u128) -> Self {
        let place = PLACES[hash(folded(key))];
        Self(if KEYS[usize::from(place)] == key { place } else { 0 })
    }

    /// The name at the start of a text, and its length in bytes. A name ends at white space, `/` or `>`.
    #[inline(always)]
    pub fn read(text: &[u8]) -> (Self, usize) {
        let short = text.first_chunk().and_then(|word| Self::read_short(u64::from_le_bytes(*word)));
        short.unwrap_or_else(|| Self::read_any(text))
    }

    /// Reads a name from eight bytes; `None` if it may be longer.
    #[inline(always)]
    fn read_short(word: u64) -> Option<(Self, usize)> {
        let characters = 8 * characters(word);
        let bits = if characters < 64 && ends_name((word >> characters) as u8) {
            characters
        } else {
            behind_digit(word, characters)?
        };
        let kept = (1 << bits) - 1;
        Some((Self::of_key(u128::from((word | 0x2020_2020_2020_2020) & kept)), bits / 8))
    }

    /// Reads any name, in any case.
    #[cold]
    fn read_any(text: &[u8]) -> (Self, usize) {
        let length = text.iter().position(|&byte| ends_name(byte)).unwrap_or(text.len());
        (Self::at_start(text, length), length)
    }

    #[inline]
    /// The name in lower case; empty for an unknown one.
    pub fn as_bytes(self) -> &'static [u8] {
        NAMES[usize::from(self.0)]
    }

    /// Whether the element has no content and no end tag (HTML standard, section 13.1.2).
    pub fn is_void(self) -> bool {
        matches!(
            self.as_bytes(),
            b"area"
                | b"base"
                | b"br"
                | b"col"
                | b"embed"
                | b"hr"
                | b"img"
                | b"input"
                | b"link"
                | b"meta"
                | b"param"
                | b"source"
                | b"track"
                | b"wbr"
        )
    }
}

/// Length in bits of a name that ends in a digit after its alphabetic characters (`h1`…`h6`); `None` for any other. Only headings are
/// common among the names with a digit, and the digit comes last.
#[cold]
fn behind_digit(word: u64, characters: usize) -> Option<usize> {
    let bits = characters + 8;
    (bits < 64 && ((word >> characters) as u8).is_ascii_digit() && ends_name((word >> bits) as u8)).then_some(bits)
}

/// A table with one value per tag name.
pub(crate) struct PerName<T: 'static>(pub(crate) [T; NAMES.len()]);

impl<T: Copy> PerName<T> {
    #[inline]
    pub(crate) fn of(&self, name: TagName) -> T {
        self.0[usize::from(name.0)]
    }

    pub(crate) fn of_mut(&mut self, name: TagName) -> &mut T {
        &mut self.0[usize::from(name.0)]
    }
}

/// Builds a [`PerName`] from a constant function of a name's bytes.
macro_rules! per_name {
    ($function:path) => {{
        let mut values = [$function(b""); $crate::tag_name::COUNT];
        let mut place = 0;
        while place < values.len() {
            values[place] = $function($crate::tag_name::name_at(place));
            place += 1;
        }
        $crate::tag_name::PerName(values)
    }};
}
pub(crate) use per_name;

pub(crate) const COUNT: usize = NAMES.len();

pub(crate) const fn name_at(place: usize) -> &'static [u8] {
    NAMES[place]
}

const fn per_name_key() -> [u128; NAMES.len()] {
    let mut keys = [0; NAMES.len()];
    let mut place = 0;
    while place < NAMES.len() {
        let mut index = 0;
        while index < NAMES[place].len() {
            keys[place] |= (NAMES[place][index] as u128) << (8 * index);
            index += 1;
        }
        place += 1;
    }
    keys
}

const fn places() -> [u8; 1 << HASH_BITS] {
    let mut places = [0; 1 << HASH_BITS];
    let mut place = 1;
    while place < NAMES.len() {
        let hash = hash(folded(KEYS[place]));
        assert!(places[hash] == 0, "two tag names have the same hash; choose another factor");
        places[hash] = place as u8;
        place += 1;
    }
    places
}

/// The 64 bits of a key that are hashed. A short key is kept whole.
const fn folded(key: u128) -> u64 {
    key as u64 ^ (key >> 64) as u64
}

/// The factor was found by trial: with it, no two names share a hash.
#[inline(always)]
const fn hash(key: u64) -> usize {
    (key.wrapping_mul(0x3af0_3b3f_df87_17dd) >> (u64::BITS - HASH_BITS)) as usize
}

/// Converts sixteen bytes to lower case at once, for ASCII only. A byte is a capital if adding `0x80 - b'A'` sets its
/// highest bit and adding `0x7f - b'Z'` does not.
#[inline]
fn lower_case(bytes: u128) -> u128 {
    const ONES: u128 = u128::from_ne_bytes([1; 16]);
    let low = bytes & (0x7f * ONES);
    let capital = (low + u128::from(0x80 - b'A') * ONES) ^ (low + u128::from(0x7f - b'Z') * ONES);
    bytes | ((capital & !bytes & (0x80 * ONES)) >> 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_known_name_is_found_in_any_case() {
        for name in NAMES {
            let text = [name, b" class"].concat();
            assert_eq!(TagName::at_start(&text, name.len()).as_bytes(), name);
            assert_eq!(TagName::at_start(&text.to_ascii_uppercase(), name.len()).as_bytes(), name);
            assert_eq!(TagName::read(&text.to_ascii_uppercase()), (TagName::at_start(&text, name.len()), name.len()));
        }
        assert_eq!(TagName::at_start(b"unheard-of", 10).as_bytes(), b"");
        assert_eq!(TagName::at_start(b"a-name-beyond-all-length", 24).as_bytes(), b"");
    }

    proptest! {
        #[test]
        fn names_end_at_white_space_slash_or_greater(
            text in "[aAsS1ZpP@\\[_.-]{0,2}(b|SPAN|p|a|td|li|blockquote|é)?[ />\n\x0b!-]{0,2}[a >/]{0,12}"
        ) {
            let length = text.bytes().position(ends_name).unwrap_or(text.len());
            let expected = (TagName::at_start(text.as_bytes(), length), length);
            prop_assert_eq!(TagName::read(text.as_bytes()), expected);
        }

        #[test]
        fn lower_case_is_that_of_the_standard_library(bytes in any::<[u8; 16]>()) {
            prop_assert_eq!(lower_case(u128::from_le_bytes(bytes)).to_le_bytes().to_vec(), bytes.to_ascii_lowercase());
        }
    }
}
