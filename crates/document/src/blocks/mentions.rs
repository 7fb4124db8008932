//! A quick test for the attributes that hide an element, name its part of the page, or state a fact. Only tags that
//! pass it have their attributes read.

use crate::attributes::values_of;
use crate::entities;
use std::ops::Range;
use wide_bytes::{BLOCK, Wide, last_block};

/// Strings that the attributes of a tag may contain. Nearly no tag has any of these, so the test is worth making before reading them.
#[derive(Clone, Copy, Default)]
pub(super) struct Mentions {
    /// `hidd` or `none` occurs: the element may be hidden.
    pub(super) hiding: bool,
    /// `role` occurs.
    pub(super) role: bool,
    /// `item`, `prop` or `peo` occurs: the element may state something in microdata or RDFa (`property`, `typeof`).
    pub(super) item: bool,
}

/// Shorter attributes cannot contain any.
pub(super) const SHORTEST_MENTION: usize = 6;

#[inline(always)]
pub(super) fn mentions(wide: impl Wide, html: &str, attributes: Range<usize>) -> Mentions {
    let bytes = html.as_bytes();
    let (mut at, end) = (attributes.start, attributes.end);
    let mut found = [0; 3];
    while at < end {
        let block = match bytes[at..].first_chunk() {
            Some(block) => block,
            None => &last_block(&bytes[at..]),
        };
        let within = u64::MAX >> (BLOCK - (end - at).min(BLOCK));
        let [d, e, n, o] =
            [wide.equal(block, b'd'), wide.equal(block, b'e'), wide.equal(block, b'n'), wide.equal(block, b'o')];
        let [i, p, r] = [wide.equal(block, b'i'), wide.equal(block, b'p'), wide.equal(block, b'r')];
        let hidd = wide.equal(block, b'h') & i >> 1 & d >> 2 & d >> 3;
        let none = n & o >> 1 & n >> 2 & e >> 3;
        found[0] |= (hidd | none) & within;
        found[1] |= r & o >> 1 & wide.equal(block, b'l') >> 2 & e >> 3 & within;
        let item = i & wide.equal(block, b't') >> 1 & e >> 2 & wide.equal(block, b'm') >> 3;
        found[2] |= (item | p & r >> 1 & o >> 2 & p >> 3 | p & e >> 1 & o >> 2) & within;
        // The last three bytes may begin a word that continues in the next block.
        at += BLOCK - 3;
    }
    let [hiding, role, item] = found.map(|found| found != 0);
    Mentions { hiding, role, item }
}

/// Whether attributes hide their element.
pub(super) fn is_hidden(attributes: &str) -> bool {
    let [hidden, style] = values_of(attributes, ["hidden", "style"]);
    hidden.is_some()
        || style.is_some_and(|style| {
            let style = entities::decode_attribute(style).replace(' ', "");
            style.contains("display:none") || style.contains("visibility:hidden")
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wide_bytes::EightBytes;

    proptest! {
        #[test]
        fn what_is_mentioned_is_what_is_there(
            attributes in "( |x{1,40}|hid|d|no|ne|ro|le|it|em|p|r|o|eo){0,12}",
            rest in "(>hidd none role item)? {0,70}"
        ) {
            let page = format!("<p{attributes}>{rest}");
            let found = mentions(EightBytes, &page, 2..2 + attributes.len());
            let hiding = attributes.contains("hidd") || attributes.contains("none");
            let expected = (hiding, attributes.contains("role"), ["item", "prop", "peo"].iter().any(|word| attributes.contains(word)));
            prop_assert_eq!((found.hiding, found.role, found.item), expected);
        }
    }
}
