//! HTML to tokens: text, start tags and end tags, as slices of the page.
//!
//! The states of the HTML standard (section 13.2.5, "Tokenization") that decide what is text: quoted values, comments with
//! all their ends, raw text, scripts within comments within scripts, `<plaintext>`, CDATA in foreign content. Nothing is
//! copied and nothing is parsed that nobody asks for: attributes stay one slice, character references stay as written.

use crate::attributes;
use crate::foreign::ForeignContent;
use crate::marks::MarkFinder;
use crate::raw_text::{comment_end, ends_name, raw_end, script_end};
use crate::tag_name::{PerName, TagName, per_name};

/// A piece of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// Text as written.
    Text(&'a str, TextKind),
    /// A start tag.
    Start(Tag<'a>),
    /// An end tag.
    End(TagName),
}

/// What a text is, by the tag before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// Text with character references.
    Data,
    /// `<title>` and `<textarea>`: text with character references and without tags.
    RcData,
    /// `<style>`, `<iframe>`, `<noscript>` and their like: nothing to see.
    Raw,
    /// A script: nothing to see.
    Script,
    /// Behind `<plaintext>`, or CDATA within SVG or MathML: text without character references.
    Verbatim,
}

/// A start tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag<'a> {
    pub(crate) name: TagName,
    /// What stands between the name and the `>`, for [`crate::attributes`].
    pub(crate) attributes: &'a str,
}

impl Tag<'_> {
    pub(crate) fn is_self_closing(&self) -> bool {
        self.attributes.ends_with('/')
    }
}

/// The tokens of a page.
pub(crate) fn tokens(html: &str) -> Tokens<'_> {
    let marks = MarkFinder::new(html.as_bytes());
    Tokens { html, marks, at: 0, state: State::Data, foreign: ForeignContent::default() }
}

/// See [`tokens`].
pub(crate) struct Tokens<'a> {
    html: &'a str,
    marks: MarkFinder<'a>,
    at: usize,
    state: State,
    foreign: ForeignContent,
}

#[derive(Clone, Copy)]
enum State {
    Data,
    /// Text up to the end tag of this name.
    Until(TagName, TextKind),
    PlainText,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        match self.state {
            State::Data => self.data(),
            State::Until(name, kind) => self.raw(name, kind).or_else(|| self.data()),
            State::PlainText => self.text(self.html.len(), TextKind::Verbatim),
        }
    }
}

impl<'a> Tokens<'a> {
    fn data(&mut self) -> Option<Token<'a>> {
        let bytes = self.html.as_bytes();
        let kind = if self.foreign.hides() { TextKind::Raw } else { TextKind::Data };
        let mut search = self.at;
        loop {
            let Some(open) = self.marks.open(search) else {
                return self.text(bytes.len(), kind);
            };
            search = open + 1;
            match bytes.get(search) {
                Some(letter) if letter.is_ascii_alphabetic() => {}
                Some(b'/') if bytes.get(search + 1).is_some_and(|&next| next != b'>') => {}
                Some(b'/') if search + 1 == bytes.len() => continue,
                Some(b'/' | b'!' | b'?') => {}
                _ => continue,
            }
            if open > self.at {
                return self.text(open, kind);
            }
            self.at = search;
            match bytes[search] {
                b'/' if bytes[search + 1].is_ascii_alphabetic() => return self.end_tag(),
                b'!' if bytes[search..].starts_with(b"![CDATA[") && self.foreign.is_inside() => {
                    if let Some(text) = self.cdata() {
                        return Some(text);
                    }
                }
                b'!' if bytes[search..].starts_with(b"!--") => self.at = comment_end(bytes, search + 3),
                b'/' | b'!' | b'?' => {
                    self.at = memchr::memchr(b'>', &bytes[search..]).map_or(bytes.len(), |length| search + length + 1);
                }
                _ => return self.start_tag(),
            }
            search = self.at;
        }
    }

    /// Text from here to a place; `None` when that is nothing.
    fn text(&mut self, end: usize, kind: TextKind) -> Option<Token<'a>> {
        let text = &self.html[self.at..end];
        self.at = end;
        (!text.is_empty()).then_some(Token::Text(text, kind))
    }

    fn cdata(&mut self) -> Option<Token<'a>> {
        let bytes = self.html.as_bytes();
        self.at += "![CDATA[".len();
        let end = memchr::memmem::find(&bytes[self.at..], b"]]>").map(|length| self.at + length);
        let text = self.text(end.unwrap_or(bytes.len()), TextKind::Verbatim);
        self.at = end.map_or(bytes.len(), |end| end + 3);
        text
    }

    fn start_tag(&mut self) -> Option<Token<'a>> {
        let (name, attributes) = self.tag()?;
        let tag = Tag { name, attributes };
        if !self.foreign.start(&tag) && CHANGES_STATE.of(name) {
            self.state = state_behind(name);
        }
        Some(Token::Start(tag))
    }

    fn end_tag(&mut self) -> Option<Token<'a>> {
        self.at += 1;
        let (name, _) = self.tag()?;
        self.foreign.end(name);
        Some(Token::End(name))
    }

    /// A tag's name and what follows, from the name's first letter on. A tag that does not end is none.
    fn tag(&mut self) -> Option<(TagName, &'a str)> {
        let bytes = self.html.as_bytes();
        let rest = &bytes[self.at..];
        let name_length = rest.iter().position(|&byte| ends_name(byte)).unwrap_or(rest.len());
        let name = TagName::at_start(rest, name_length);
        let start = self.at + name_length;
        let Some(end) = self.tag_end(start) else {
            self.at = bytes.len();
            return None;
        };
        self.at = end + 1;
        Some((name, &self.html[start..end]))
    }

    /// The place of the `>` that ends a tag, given where its name ends. Values are skipped from quote to quote; what is not
    /// plainly `name="value"` is read attribute by attribute.
    fn tag_end(&mut self, start: usize) -> Option<usize> {
        let bytes = self.html.as_bytes();
        let mut from = start;
        loop {
            let stop = self.marks.stop(from)?;
            let quote = bytes[stop];
            if quote == b'>' {
                return Some(stop);
            }
            if !plainly_opens_value(&bytes[from..stop]) {
                return attributes::tag_length(&bytes[start..]).map(|length| start + length - 1);
            }
            let mut close = self.marks.stop(stop + 1)?;
            while bytes[close] != quote {
                close = self.marks.stop(close + 1)?;
            }
            from = close + 1;
        }
    }

    /// The text up to an end tag.
    fn raw(&mut self, name: TagName, kind: TextKind) -> Option<Token<'a>> {
        self.state = State::Data;
        let bytes = self.html.as_bytes();
        let end = match kind {
            TextKind::Script => script_end(bytes, self.at),
            _ => raw_end(bytes, self.at, name.as_bytes()),
        };
        self.text(end, kind)
    }
}

/// The start tags behind which text is no markup.
static CHANGES_STATE: PerName<bool> = per_name!(changes_state);

const fn changes_state(name: &[u8]) -> bool {
    matches!(
        name,
        b"title"
            | b"textarea"
            | b"script"
            | b"style"
            | b"xmp"
            | b"iframe"
            | b"noembed"
            | b"noframes"
            | b"noscript"
            | b"plaintext"
    )
}

fn state_behind(name: TagName) -> State {
    match name.as_bytes() {
        b"title" | b"textarea" => State::Until(name, TextKind::RcData),
        b"script" => State::Until(name, TextKind::Script),
        b"style" | b"xmp" | b"iframe" | b"noembed" | b"noframes" | b"noscript" => State::Until(name, TextKind::Raw),
        b"plaintext" => State::PlainText,
        _ => State::Data,
    }
}

/// Whether what stands between the end of a value or name and a quote is, at its end, a space, a name and `=`. Then the
/// quote opens a value, unless it is within an unquoted one; that is left open here, as is all that is rarer.
fn plainly_opens_value(before: &[u8]) -> bool {
    let Some((b'=', before)) = before.split_last() else { return false };
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':');
    let name_start = before.iter().rposition(|byte| !is_part(byte)).map_or(0, |space| space + 1);
    let space = before[..name_start].trim_ascii_end();
    name_start < before.len()
        && before[..name_start].last().is_none_or(u8::is_ascii_whitespace)
        && space.last() != Some(&b'=')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Tokens in short: texts as they are, scripts and what is not seen in brackets, tags by name.
    fn shown(html: &str) -> String {
        let show = |token: Token<'_>| match token {
            Token::Text(text, TextKind::Raw | TextKind::Script) => format!("[{text}]"),
            Token::Text(text, _) => text.to_owned(),
            Token::Start(tag) => format!("{{{}}}", String::from_utf8_lossy(tag.name.as_bytes())),
            Token::End(name) => format!("{{/{}}}", String::from_utf8_lossy(name.as_bytes())),
        };
        tokens(html).map(show).collect()
    }

    #[test]
    fn text_is_told_from_markup_as_the_standard_says() {
        let check = |html: &str, expected: &str| assert_eq!(shown(html), expected, "{html}");
        check("a<B Class='>'>b</b >c", "a{b}b{/b}c");
        check("a < b <3 <>c</>d</ x>e", "a < b <3 <>cde");
        check("a<p title=x=\"y>z\"q", "a{p}z\"q");
        check("a<p ='>'b>c", "a{p}'b>c");
        check("a<p id=\"unclosed>b", "a");
        check("a<!-->b<!--->c<!-- > -- > --!>d<!--!>e-->f<!-- never", "abcdf");
        check("<!doctype html>a<?php x?>b<!x>c<![CDATA[d>e", "abce");
        check("<svg><![CDATA[<b>]]></svg><![CDATA[x]]>", "{svg}<b>{/svg}");
        check(
            "<svg><style>a<g>b</style></svg><style>a<b></style>",
            "{svg}{style}[a]{g}[b]{/style}{/svg}{style}[a<b>]{/style}",
        );
        check("<svg><title>a<g>b</g></title>c</svg>d", "{svg}{title}[a]{g}[b]{/g}{/title}c{/svg}d");
        check("<title>a<b>&amp;</TITLE >b", "{title}a<b>&amp;{/title}b");
        check("<textarea></p></textareas></textarea>", "{textarea}</p></textareas>{/textarea}");
        check("<plaintext>a</plaintext>", "{plaintext}a</plaintext>");
    }

    #[test]
    fn scripts_end_where_browsers_end_them() {
        let check = |html: &str, expected: &str| assert_eq!(shown(html), expected, "{html}");
        check("<script>a<b</script>c", "{script}[a<b]{/script}c");
        check("<script><!-- </script>c", "{script}[<!-- ]{/script}c");
        check("<script><!-- <script> </script> --></script>c", "{script}[<!-- <script> </script> -->]{/script}c");
        check("<script><!--><script></script>c", "{script}[<!--><script>]{/script}c");
        check("<script></scripty></script/x>c", "{script}[</scripty>]{/script}c");
    }

    proptest! {
        #[test]
        fn any_soup_has_tokens(soup in "(<|>|/|!--|--|=|\"|'| |a|é|title|script|style|svg|math|mi|<!\\[CDATA\\[|\\]\\]>|\\?){0,60}") {
            let length: usize = tokens(&soup).map(|token| match token {
                Token::Text(text, _) => text.len(),
                Token::Start(tag) => tag.attributes.len(),
                Token::End(_) => 0,
            }).sum();
            prop_assert!(length <= soup.len());
        }
    }
}
