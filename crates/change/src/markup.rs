//! HTML to tokens: text, start tags and end tags, as slices of the page.
//!
//! The states of the HTML standard (section 13.2.5, "Tokenization") that decide what is text: quoted values, comments with
//! all their ends, raw text, scripts within comments within scripts, `<plaintext>`, CDATA in foreign content. Nothing is
//! copied and nothing is parsed that nobody asks for: attributes stay one slice, character references stay as written.

use crate::attributes;
use crate::foreign::ForeignContent;

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

/// A tag's name in lower case, cut after sixteen bytes: none that matters is longer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct TagName {
    bytes: [u8; 16],
    length: u8,
}

impl TagName {
    pub(crate) fn new(name: &[u8]) -> Self {
        let mut bytes = [0; 16];
        let length = name.len().min(bytes.len());
        for (lower, &byte) in bytes.iter_mut().zip(name) {
            *lower = byte.to_ascii_lowercase();
        }
        Self { bytes, length: length as u8 }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// The tokens of a page.
pub(crate) fn tokens(html: &str) -> Tokens<'_> {
    Tokens { html, at: 0, state: State::Data, foreign: ForeignContent::default() }
}

/// See [`tokens`].
pub(crate) struct Tokens<'a> {
    html: &'a str,
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
            let Some(found) = memchr::memchr(b'<', &bytes[search..]) else {
                return self.text(bytes.len(), kind);
            };
            let open = search + found;
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
        self.state = if self.foreign.start(&tag) { State::Data } else { state_behind(name) };
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
        let name = TagName::new(&rest[..name_length]);
        let start = self.at + name_length;
        let Some(length) = attributes::tag_length(&bytes[start..]) else {
            self.at = bytes.len();
            return None;
        };
        self.at = start + length;
        Some((name, &self.html[start..self.at - 1]))
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

fn state_behind(name: TagName) -> State {
    match name.as_bytes() {
        b"title" | b"textarea" => State::Until(name, TextKind::RcData),
        b"script" => State::Until(name, TextKind::Script),
        b"style" | b"xmp" | b"iframe" | b"noembed" | b"noframes" | b"noscript" => State::Until(name, TextKind::Raw),
        b"plaintext" => State::PlainText,
        _ => State::Data,
    }
}

fn ends_name(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ' | b'/' | b'>')
}

/// Where a comment ends, given where its content starts. The end of the page ends it too.
fn comment_end(bytes: &[u8], start: usize) -> usize {
    let content = &bytes[start..];
    if content.starts_with(b">") {
        return start + 1;
    }
    if content.starts_with(b"->") {
        return start + 2;
    }
    memchr::memchr_iter(b'>', content)
        .find(|&at| content[..at].ends_with(b"--") || content[..at].ends_with(b"--!"))
        .map_or(bytes.len(), |at| start + at + 1)
}

/// Where the end tag `</name` begins, or the end of the page.
fn raw_end(bytes: &[u8], start: usize, name: &[u8]) -> usize {
    memchr::memchr_iter(b'<', &bytes[start..])
        .map(|at| start + at)
        .find(|&at| bytes.get(at + 1) == Some(&b'/') && is_name_at(bytes, at + 2, name))
        .unwrap_or(bytes.len())
}

fn is_name_at(bytes: &[u8], at: usize, name: &[u8]) -> bool {
    bytes.get(at..at + name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name))
        && bytes.get(at + name.len()).is_some_and(|&byte| ends_name(byte))
}

/// Where a script ends. Within `<!--` a `<script>` opens another, whose end tag is not the end ("script data double
/// escaped" in the standard).
fn script_end(bytes: &[u8], start: usize) -> usize {
    let (mut escaped, mut nested) = (false, false);
    let mut at = start;
    while let Some(found) = find_script_mark(bytes, at, escaped) {
        at = found + 1;
        let rest = &bytes[found..];
        if rest[0] == b'>' {
            if bytes[start..found].ends_with(b"--") {
                (escaped, nested) = (false, false);
            }
        } else if !escaped && rest.starts_with(b"<!--") {
            escaped = true;
            // The two dashes may already be those of `-->`.
            at = found + 2;
        } else if rest.get(1) == Some(&b'/') && is_name_at(bytes, found + 2, b"script") {
            if !nested {
                return found;
            }
            nested = false;
        } else if escaped && !nested && is_name_at(bytes, found + 1, b"script") {
            nested = true;
        }
    }
    bytes.len()
}

fn find_script_mark(bytes: &[u8], at: usize, escaped: bool) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let found = if escaped { memchr::memchr2(b'<', b'>', rest) } else { memchr::memchr(b'<', rest) };
    found.map(|found| at + found)
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
            "<svg><style>a<i2>b</style></svg><style>a<b></style>",
            "{svg}{style}[a]{i2}[b]{/style}{/svg}{style}[a<b>]{/style}",
        );
        check("<svg><title>a<i2>b</i2></title>c</svg>d", "{svg}{title}[a]{i2}[b]{/i2}{/title}c{/svg}d");
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
