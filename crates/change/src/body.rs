//! The body of an answer, to be read as a version of its page, as text and links, or as both at once.

use crate::blocks::Blocks;
use crate::charset::{Decoded, decode};
use crate::digest::{ContentDigest, content_digest};
use crate::extract::{ContentKind, PageText};
use crate::pieces;
use crate::version::Version;
use page::UrlRules;

/// A body and what is known of it. Reading it never fails.
#[derive(Clone, Copy, Debug)]
pub struct Body<'a> {
    bytes: &'a [u8],
    content_type: Option<&'a str>,
    address: Option<&'a str>,
    digest: Option<ContentDigest>,
}

impl<'a> Body<'a> {
    /// A body with its `Content-Type` header and the address it was fetched from.
    pub fn new(bytes: &'a [u8], content_type: Option<&'a str>, address: Option<&'a str>) -> Self {
        Self { bytes, content_type, address, digest: None }
    }

    /// The same, its [`content_digest`] being known already.
    pub fn with_digest(self, digest: ContentDigest) -> Self {
        Self { digest: Some(digest), ..self }
    }

    /// The version of the page that it is; the rules say which addresses are one page.
    pub fn version<'r>(&self, urls: &'r UrlRules) -> Version<'r> {
        let (kind, digest) = (self.kind(), self.digest());
        let blocks = match self.decoded(kind) {
            None => pieces::opaque(&digest),
            Some(decoded) => blocks_of(kind, &decoded.text),
        };
        Version::of_blocks(digest, kind, blocks, self.address, urls)
    }

    /// What it says and where it points to.
    pub fn text(&self) -> PageText {
        let kind = self.kind();
        self.decoded(kind).map_or_else(|| PageText::empty(kind), |decoded| PageText::of(kind, &decoded))
    }

    /// Both, for less than one after the other.
    pub fn version_and_text<'r>(&self, urls: &'r UrlRules) -> (Version<'r>, PageText) {
        let (kind, digest) = (self.kind(), self.digest());
        let (blocks, page) = match self.decoded(kind) {
            None => (pieces::opaque(&digest), PageText::empty(kind)),
            Some(Decoded { text, charset, .. }) if kind == ContentKind::Html => {
                let (blocks, page) = Blocks::and_text_of_html(&text);
                (blocks, PageText { charset: Some(charset), ..page })
            }
            Some(decoded) => (blocks_of(kind, &decoded.text), PageText::of(kind, &decoded)),
        };
        (Version::of_blocks(digest, kind, blocks, self.address, urls), page)
    }

    fn kind(&self) -> ContentKind {
        ContentKind::of(self.content_type, self.bytes)
    }

    fn digest(&self) -> ContentDigest {
        self.digest.unwrap_or_else(|| content_digest(self.bytes))
    }

    /// `None` for what is not text.
    fn decoded(&self, kind: ContentKind) -> Option<Decoded<'a>> {
        (kind != ContentKind::Opaque).then(|| decode(self.bytes, self.content_type))
    }
}

/// The blocks of a text of this kind.
fn blocks_of(kind: ContentKind, text: &str) -> Blocks {
    match kind {
        ContentKind::Html => Blocks::of_html(text),
        ContentKind::Json => pieces::json(text),
        ContentKind::Xml => pieces::xml(text),
        _ => pieces::lines(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Noise, PageState, extract};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_at_once_are_what_each_is_by_itself(
            body in "(<(/?(p|a href=/x|a href='?y' rel=nofollow|li|div hidden|title|script|template|svg|base href=/b/|main|nav|textarea))>|\
                     <meta name=robots content=nofollow>|<link rel=alternate type='application/rss[+]xml' href=/f>|\
                     [a-c ]{1,9}|&amp;|é|<!--|-->|\\{|\"k\":|\n){0,40}",
            content_type in proptest::sample::select(vec!["text/html", "text/plain", "application/json", "text/xml", "x/y"]),
        ) {
            let urls = UrlRules::none();
            let body = Body::new(body.as_bytes(), Some(content_type), Some("https://a.test/d/"));
            let (version, text) = body.version_and_text(&urls);
            prop_assert_eq!(text, extract(Some(content_type), body.bytes));
            let state = |version: &Version<'_>| {
                let mut state = PageState::default();
                state.observe(version, Noise::ByFrequency);
                state
            };
            prop_assert_eq!(state(&version), state(&body.version(&urls)));
            let known = body.with_digest(content_digest(body.bytes));
            prop_assert_eq!(state(&version), state(&known.version(&urls)));
        }
    }
}
