//! The links of a page, stored in two strings. Pages have hundreds of links; a string for every part of each would cost
//! more than reading the page.

/// The links of a page, in page order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// Target and `rel` of each link, concatenated.
    said: String,
    /// The anchors of the links, concatenated.
    anchors: String,
    places: Vec<LinkPosition>,
}

/// A link as written. Its target is neither resolved nor checked, but is not within the page and not a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawLink<'a> {
    /// The target, character references decoded.
    pub href: &'a str,
    /// The text of the link, up to 256 bytes.
    pub anchor: &'a str,
    /// The `rel` attribute as written; empty if absent.
    pub rel: &'a str,
}

impl RawLink<'_> {
    /// Whether the page does not vouch for the target: `rel` has `nofollow`, `ugc` or `sponsored`.
    pub fn is_nofollow(&self) -> bool {
        let unvouched = ["nofollow", "ugc", "sponsored"];
        self.rel.split_whitespace().any(|word| unvouched.iter().any(|other| word.eq_ignore_ascii_case(other)))
    }
}

/// Where the parts of a link begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LinkPosition {
    href: usize,
    rel: usize,
    anchor: usize,
}

impl Links {
    /// No links, with room for this many bytes.
    pub(crate) fn with_room(bytes: usize) -> Self {
        Self { said: String::with_capacity(bytes), places: Vec::with_capacity(bytes / 32), ..Self::default() }
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The link with this number, counted from 0; `None` past the last.
    pub fn get(&self, number: usize) -> Option<RawLink<'_>> {
        let place = self.places.get(number)?;
        let ends = (self.said.len(), self.anchors.len());
        let (end, anchor_end) = self.places.get(number + 1).map_or(ends, |next| (next.href, next.anchor));
        Some(RawLink {
            href: &self.said[place.href..place.rel],
            rel: &self.said[place.rel..end],
            anchor: &self.anchors[place.anchor..anchor_end],
        })
    }

    /// All links, in page order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = RawLink<'_>> {
        (0..self.len()).map(|number| self.get(number).expect("the number is below the length"))
    }

    /// Adds a link without an anchor.
    pub(crate) fn push(&mut self, href: &str, rel: &str) {
        let start = self.said.len();
        self.said.push_str(href);
        self.said.push_str(rel);
        self.places.push(LinkPosition { href: start, rel: start + href.len(), anchor: self.anchors.len() });
    }

    /// Sets the anchors of the links, in order. Line ends become spaces.
    pub(crate) fn set_anchors<'t>(&mut self, anchors: impl Iterator<Item = &'t str>) {
        for (place, anchor) in self.places.iter_mut().zip(anchors) {
            place.anchor = self.anchors.len();
            let mut rest = anchor;
            while let Some(end) = memchr::memchr(b'\n', rest.as_bytes()) {
                self.anchors.push_str(&rest[..end]);
                self.anchors.push(' ');
                rest = &rest[end + 1..];
            }
            self.anchors.push_str(rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_come_back_as_they_went_in() {
        let mut links = Links::default();
        assert!(links.is_empty() && links.get(0).is_none());
        links.push("/a", "");
        links.push("/b", "ugc");
        links.push("/c", "next");
        links.set_anchors(["one\ntwo", "", "é"].into_iter());
        let link = |href, anchor, rel| RawLink { href, anchor, rel };
        let expected = [link("/a", "one two", ""), link("/b", "", "ugc"), link("/c", "é", "next")];
        assert_eq!(links.iter().collect::<Vec<_>>(), expected);
        assert!(links.iter().map(|link| link.is_nofollow()).eq([false, true, false]));
    }
}
