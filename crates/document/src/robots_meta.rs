//! `<meta>` elements by which owners speak to robots, as written. `crates/preferences` knows what they mean.

use crate::attributes::values_of;
use crate::entities;
use crate::markup::{StartTag, TakeTokens, TextKind, hand_tokens};
use crate::tag_name::TagName;
use std::ops::Range;
use wide_bytes::Wide;

/// The most elements that are kept of a page.
pub const MAX_ROBOTS_META: usize = 64;
/// The most bytes of one content that are kept: the whole pieces before.
const MAX_CONTENT_BYTES: usize = 1_024;
/// The longest name of a crawler.
const MAX_NAME_BYTES: usize = 64;
/// Names for all robots.
const NAMES: [&str; 3] = ["robots", "tdm-reservation", "tdm-policy"];
/// Beginnings of directives. Under any other name, which may be a crawler's, only a content with one of them is kept.
const DIRECTIVES: [&str; 3] = ["no", "unavailable_after", "max-snippet"];

/// Names and contents of `<meta>` elements, references decoded, in page order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RobotsMeta(Vec<(String, String)>);

impl RobotsMeta {
    /// Reads an HTML page. Elements in comments and scripts do not count.
    pub fn of_html(html: &str) -> Self {
        let mut reader = MetaReader::default();
        hand_tokens(html, &mut reader);
        reader.found
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Pairs of name and content.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, content)| (name.as_str(), content.as_str()))
    }

    /// Takes a `<meta>` with these attributes, if it speaks to robots.
    pub(crate) fn take(&mut self, attributes: &str) {
        let [Some(name), Some(content)] = values_of(attributes, ["name", "content"]) else { return };
        let name = name.trim();
        if name.len() > MAX_NAME_BYTES || self.0.len() == MAX_ROBOTS_META {
            return;
        }
        let is_named = NAMES.iter().any(|known| known.eq_ignore_ascii_case(name));
        let is_token = || name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        if is_named || (!name.is_empty() && is_token()) {
            let content = entities::decode_attribute(content);
            let content = whole_pieces(&content);
            if (is_named || has_directive(content)) && !self.iter().any(|known| known == (name, content)) {
                self.0.push((name.to_owned(), content.to_owned()));
            }
        }
    }
}

fn has_directive(content: &str) -> bool {
    let begins =
        |piece: &str, word: &str| piece.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    content.split(',').any(|piece| DIRECTIVES.iter().any(|word| begins(piece.trim_start(), word)))
}

fn whole_pieces(content: &str) -> &str {
    if content.len() <= MAX_CONTENT_BYTES {
        return content;
    }
    let cut = crate::prefix(content, MAX_CONTENT_BYTES);
    cut.rfind(',').map_or("", |comma| &cut[..comma])
}

#[derive(Default)]
struct MetaReader {
    found: RobotsMeta,
}

impl<'a> TakeTokens<'a> for MetaReader {
    #[inline(always)]
    fn text(&mut self, _: impl Wide, _: Range<usize>, _: TextKind) {}

    #[inline(always)]
    fn start(&mut self, _: impl Wide, tag: StartTag<'a>) {
        if tag.name.as_bytes() == b"meta" {
            self.found.take(tag.attributes());
        }
    }

    #[inline(always)]
    fn end(&mut self, _: TagName) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Body;

    fn read(html: &str) -> Vec<(String, String)> {
        let found = RobotsMeta::of_html(html);
        let blocks = Body::new(html.as_bytes(), Some("text/html"), None).blocks();
        assert_eq!(blocks.robots_meta, found, "both readers find the same in {html}");
        found.0
    }

    #[test]
    fn elements_for_robots_are_kept_as_written() {
        let check = |html: &str, expected: &[(&str, &str)]| {
            let found = read(html);
            let found: Vec<_> = found.iter().map(|(name, content)| (name.as_str(), content.as_str())).collect();
            assert_eq!(found, expected, "{html}");
        };
        check("<meta name=robots content='NoIndex, follow'>", &[("robots", "NoIndex, follow")]);
        check("<META NAME=' ExampleBot ' CONTENT=noindex>", &[("ExampleBot", "noindex")]);
        check("<meta name=tdm-reservation content=1>", &[("tdm-reservation", "1")]);
        check("<meta name=robots content='no&#105;ndex'>", &[("robots", "noindex")]);
        check("<p>Late.<meta name=robots content=none>", &[("robots", "none")]);
        check("<meta name=examplebot content='follow, max-snippet:0'>", &[("examplebot", "follow, max-snippet:0")]);
        for html in [
            "<meta name=description content=noindex-like>",
            "<meta name=examplebot content='index, follow'>",
            "<meta name='twitter:card' content=none>",
            "<meta property=robots content=noindex>",
            "<meta name=robots>",
            "<!-- <meta name=robots content=noindex> -->",
            "<script>'<meta name=robots content=noindex>'</script>",
            "<noscript><meta name=robots content=noindex></noscript>",
        ] {
            let found = read(html);
            assert!(found.iter().all(|(name, _)| name == "description"), "{html}: {found:?}");
        }
    }

    #[test]
    fn few_and_short_ones_are_kept() {
        let many: String = (0..1_000).map(|number| format!("<meta name=bot{number} content=noindex>")).collect();
        assert_eq!(read(&many).len(), MAX_ROBOTS_META);
        assert_eq!(read(&"<meta name=robots content=noindex>".repeat(1_000)).len(), 1);
        let long = format!("<meta name=robots content='noindex, {}nofollow'>", "x, ".repeat(1_000));
        let found = read(&long);
        assert!(found[0].1.len() <= MAX_CONTENT_BYTES && found[0].1.ends_with('x'), "{found:?}");
    }
}
