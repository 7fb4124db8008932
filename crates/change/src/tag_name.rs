//! Names of tags, as small numbers.
//!
//! A page has hundreds of tags, and every reader asks each of them several times whether it is one of its own. So a name is
//! looked up once, and known by its place in [`NAMES`] from then on.

/// The names that some reader knows. The first stands for all others.
#[rustfmt::skip]
const NAMES: [&[u8]; 142] = [
    b"", b"a", b"abbr", b"acronym", b"address", b"annotation-xml", b"area", b"article", b"aside", b"audio", b"b",
    b"base", b"bdi", b"bdo", b"big", b"blockquote", b"body", b"br", b"button", b"canvas", b"caption", b"center",
    b"cite", b"code", b"col", b"colgroup", b"data", b"datalist", b"dd", b"del", b"desc", b"details", b"dfn", b"dialog",
    b"dir", b"div", b"dl", b"dt", b"em", b"embed", b"fieldset", b"figcaption", b"figure", b"font", b"footer",
    b"foreignobject", b"form", b"frame", b"frameset", b"g", b"h1", b"h2", b"h3", b"h4", b"h5", b"h6", b"head",
    b"header", b"hgroup", b"hr", b"html", b"i", b"iframe", b"img", b"input", b"ins", b"kbd", b"label", b"legend", b"li",
    b"link", b"listing", b"main", b"map", b"mark", b"math", b"menu", b"meta", b"metadata", b"meter", b"mi", b"mn",
    b"mo", b"ms", b"mtext", b"nav", b"nobr", b"noembed", b"noframes", b"noscript", b"object", b"ol", b"optgroup",
    b"option", b"output", b"p", b"param", b"path", b"picture", b"plaintext", b"pre", b"progress", b"q", b"rb", b"rp",
    b"rt", b"ruby", b"s", b"samp", b"script", b"section", b"select", b"small", b"source", b"span", b"strike", b"strong",
    b"style", b"sub", b"summary", b"sup", b"svg", b"table", b"tbody", b"td", b"template", b"textarea", b"tfoot", b"th",
    b"thead", b"time", b"title", b"tr", b"track", b"tt", b"u", b"ul", b"use", b"var", b"video", b"wbr", b"xmp",
];
/// Their bytes as numbers.
const KEYS: [u128; NAMES.len()] = per_name_key();
/// Where a key is in [`NAMES`], at its hash or the next places; 0 where there is none.
const PLACES: [u8; SLOTS] = places();
const SLOTS: usize = 1024;

/// The name of a tag, in lower case; one of which nobody knows anything is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct TagName(u8);

impl TagName {
    /// The name that is the first bytes of something, in any case.
    #[inline]
    pub(crate) fn at_start(text: &[u8], length: usize) -> Self {
        if length > 16 {
            return Self::default();
        }
        // Sixteen bytes at once, of which those behind the name are cleared, cost less than a few one by one.
        let bytes = text.first_chunk().copied().unwrap_or_else(|| {
            let mut last = [0; 16];
            last[..text.len()].copy_from_slice(text);
            last
        });
        let kept = u128::MAX.unbounded_shr(8 * (16 - length as u32));
        let key = lower_case(u128::from_le_bytes(bytes) & kept);
        let mut slot = slot(key);
        loop {
            match PLACES[slot] {
                0 => return Self::default(),
                place if KEYS[usize::from(place)] == key => return Self(place),
                _ => slot = (slot + 1) % SLOTS,
            }
        }
    }

    #[inline]
    pub(crate) fn as_bytes(self) -> &'static [u8] {
        NAMES[usize::from(self.0)]
    }
}

/// What each name has of something, so that it can be asked for by number.
pub(crate) struct PerName<T: 'static>(pub(crate) [T; NAMES.len()]);

impl<T: Copy> PerName<T> {
    #[inline]
    pub(crate) fn of(&self, name: TagName) -> T {
        self.0[usize::from(name.0)]
    }
}

/// A [`PerName`] of a constant function of a name's bytes.
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

const fn places() -> [u8; SLOTS] {
    let mut places = [0; SLOTS];
    let mut place = 1;
    while place < NAMES.len() {
        let mut slot = slot(KEYS[place]);
        while places[slot] != 0 {
            slot = (slot + 1) % SLOTS;
        }
        places[slot] = place as u8;
        place += 1;
    }
    places
}

#[inline]
const fn slot(key: u128) -> usize {
    let mixed = ((key >> 64) as u64 ^ key as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 48) as usize % SLOTS
}

/// Sixteen bytes of ASCII in lower case at once: letters between `A` and `Z` are those where adding what lifts `A`, but not
/// what lifts the byte behind `Z`, to 128 sets the highest bit. Bytes beyond ASCII stay.
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
        }
        assert_eq!(TagName::at_start(b"unheard-of", 10).as_bytes(), b"");
        assert_eq!(TagName::at_start(b"a-name-beyond-all-length", 24).as_bytes(), b"");
    }

    proptest! {
        #[test]
        fn lower_case_is_that_of_the_standard_library(bytes in any::<[u8; 16]>()) {
            prop_assert_eq!(lower_case(u128::from_le_bytes(bytes)).to_le_bytes().to_vec(), bytes.to_ascii_lowercase());
        }
    }
}
