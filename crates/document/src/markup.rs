//! Splits HTML into tokens: text, start tags and end tags, as slices of the page.
//!
//! Implements the states of the HTML standard (section 13.2.5, "Tokenization") that decide what is text: quoted values,
//! comments, raw text, scripts within comments within scripts, CDATA in foreign content. Nothing is copied, and nothing
//! is parsed before it is needed.

use crate::attributes;
use crate::foreign::ForeignContent;
use crate::marks::MarkFinder;
use crate::raw_text::{comment_end, ends_name, raw_end, script_end};
use crate::tag_name::{PerName, TagName, per_name};
pub use crate::token::{StartTag, TakeTokens, TextKind, Token};
pub use wide_bytes::Wide;
use wide_bytes::{EightBytes, WideWork, at_widest};

/// Iterates over the tokens of a page.
pub fn tokens(html: &str) -> MarkupTokens<'_, EightBytes> {
    MarkupTokens::new(html, EightBytes)
}

/// Passes all tokens to a reader: faster than iterating.
pub fn hand_tokens<'a>(html: &'a str, reader: &mut impl TakeTokens<'a>) {
    at_widest(MarkupReading { html, reader });
}

struct MarkupReading<'a, 'r, R> {
    html: &'a str,
    reader: &'r mut R,
}

impl<'a, R: TakeTokens<'a>> WideWork for MarkupReading<'a, '_, R> {
    type Result = ();

    #[inline(always)]
    fn at(self, wide: impl Wide) {
        MarkupTokens::new(self.html, wide).hand_to(self.reader);
    }
}

/// Iterator over the tokens of a page.
pub struct MarkupTokens<'a, W> {
    html: &'a str,
    wide: W,
    marks: MarkFinder<'a, W>,
    at: usize,
    state: TokenizerState,
    foreign: ForeignContent,
}

/// A token as positions in the page. Unlike [`Token`], all kinds have one form, so it stays in registers on its way to
/// the reader.
#[derive(Clone, Copy)]
struct RawToken {
    what: What,
    name: TagName,
    /// Range of a text, or of a start tag's attributes.
    start: usize,
    end: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Text(TextKind),
    Start,
    End,
    /// No token here, or the end of the page.
    Nothing,
}

impl RawToken {
    const NOTHING: Self = Self::tag(What::Nothing, TagName::UNKNOWN, 0, 0);

    #[inline(always)]
    const fn tag(what: What, name: TagName, start: usize, end: usize) -> Self {
        Self { what, name, start, end }
    }
}

#[derive(Clone, Copy)]
enum TokenizerState {
    Data,
    /// Inside text that ends at the end tag of this name.
    Until(TagName, TextKind),
    PlainText,
}

impl<'a, W: Wide> Iterator for MarkupTokens<'a, W> {
    type Item = Token<'a>;

    #[inline]
    fn next(&mut self) -> Option<Token<'a>> {
        let found = self.find();
        Some(match found.what {
            What::Text(kind) => Token::Text(&self.html[found.start..found.end], kind),
            What::Start => Token::Start(self.found_tag(found)),
            What::End => Token::End(found.name),
            What::Nothing => return None,
        })
    }
}

impl<'a, W: Wide> MarkupTokens<'a, W> {
    #[inline(always)]
    fn new(html: &'a str, wide: W) -> Self {
        let marks = MarkFinder::new(html.as_bytes(), wide);
        Self { html, wide, marks, at: 0, state: TokenizerState::Data, foreign: ForeignContent::default() }
    }

    #[inline(always)]
    fn hand_to(mut self, reader: &mut impl TakeTokens<'a>) {
        while self.hand_plain(reader) {
            let found = self.find();
            match found.what {
                What::Text(kind) => reader.text(self.wide, found.start..found.end, kind),
                What::Start => reader.start(self.wide, self.found_tag(found)),
                What::End => reader.end(found.name),
                What::Nothing => return,
            }
        }
    }

    /// Hands over texts and HTML tags, the bulk of nearly every page, up to the first other construct. Returns false at
    /// the end of the page.
    #[inline(always)]
    fn hand_plain(&mut self, reader: &mut impl TakeTokens<'a>) -> bool {
        if !matches!(self.state, TokenizerState::Data) || !self.foreign.is_outside() {
            return true;
        }
        let (html, wide, mut marks, mut at) = (self.html, self.wide, self.marks, self.at);
        let bytes = html.as_bytes();
        while let Some(open) = marks.open(at) {
            let is_end = bytes.get(open + 1) == Some(&b'/');
            let start = open + 1 + usize::from(is_end);
            if !bytes.get(start).is_some_and(u8::is_ascii_alphabetic) {
                break;
            }
            if at < open {
                reader.text(wide, at..open, TextKind::Data);
            }
            let (name, length) = TagName::read(&bytes[start..]);
            // An unterminated tag is dropped and ends the page (WHATWG "eof-in-tag").
            let Some(end) = tag_end(bytes, &mut marks, start, start + length) else { return false };
            at = end + 1;
            if is_end {
                reader.end(name);
                continue;
            }
            let tag = StartTag { name, html, start: start + length, end };
            reader.start(wide, tag);
            if SWITCHES.of(name) {
                self.switch(tag);
                break;
            }
        }
        (self.marks, self.at) = (marks, at);
        true
    }

    fn found_tag(&self, RawToken { name, start, end, .. }: RawToken) -> StartTag<'a> {
        StartTag { name, html: self.html, start, end }
    }

    /// The next token, or `What::Nothing` at the end.
    #[inline(never)]
    fn find(&mut self) -> RawToken {
        let text = match self.state {
            TokenizerState::Data => RawToken::NOTHING,
            TokenizerState::Until(name, kind) => self.raw(name, kind),
            TokenizerState::PlainText => self.text(self.html.len(), TextKind::Verbatim),
        };
        if text.what == What::Nothing { self.data() } else { text }
    }

    #[inline(always)]
    fn data(&mut self) -> RawToken {
        let bytes = self.html.as_bytes();
        let kind = if self.foreign.hides() { TextKind::Raw } else { TextKind::Data };
        let mut search = self.at;
        loop {
            let Some(open) = self.marks.open(search) else {
                return self.text(bytes.len(), kind);
            };
            search = open + 1;
            match bytes.get(search) {
                Some(character) if character.is_ascii_alphabetic() => {}
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
                    let text = self.cdata();
                    if text.what != What::Nothing {
                        return text;
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

    /// The text up to `end`, or nothing if it is empty.
    #[inline(always)]
    fn text(&mut self, end: usize, kind: TextKind) -> RawToken {
        let start = std::mem::replace(&mut self.at, end);
        let what = if start < end { What::Text(kind) } else { What::Nothing };
        RawToken::tag(what, TagName::UNKNOWN, start, end)
    }

    fn cdata(&mut self) -> RawToken {
        let bytes = self.html.as_bytes();
        self.at += "![CDATA[".len();
        let end = memchr::memmem::find(&bytes[self.at..], b"]]>").map(|length| self.at + length);
        let text = self.text(end.unwrap_or(bytes.len()), TextKind::Verbatim);
        self.at = end.map_or(bytes.len(), |end| end + 3);
        text
    }

    #[inline(always)]
    fn start_tag(&mut self) -> RawToken {
        let found = self.tag(What::Start);
        if found.what == What::Start {
            self.switch(self.found_tag(found));
        }
        found
    }

    /// Switches the state after a start tag that changes how the content is read.
    fn switch(&mut self, tag: StartTag<'_>) {
        if !self.foreign.start(&tag) {
            self.state = state_behind(tag.name);
        }
    }

    #[inline(always)]
    fn end_tag(&mut self) -> RawToken {
        self.at += 1;
        let found = self.tag(What::End);
        if found.what == What::End {
            self.foreign.end(found.name);
        }
        found
    }

    /// Reads a tag from the first character of its name. An unterminated tag is dropped (WHATWG "eof-in-tag").
    #[inline(always)]
    fn tag(&mut self, what: What) -> RawToken {
        let bytes = self.html.as_bytes();
        let (name, name_length) = TagName::read(&bytes[self.at..]);
        let start = self.at + name_length;
        let Some(end) = tag_end(bytes, &mut self.marks, self.at, start) else {
            self.at = bytes.len();
            return RawToken::NOTHING;
        };
        self.at = end + 1;
        RawToken::tag(what, name, start, end)
    }

    /// The text up to the end tag of this name.
    fn raw(&mut self, name: TagName, kind: TextKind) -> RawToken {
        self.state = TokenizerState::Data;
        let bytes = self.html.as_bytes();
        let end = match kind {
            TextKind::Script => script_end(bytes, self.at),
            _ => raw_end(bytes, self.at, name.as_bytes()),
        };
        self.text(end, kind)
    }
}

/// The position of the `>` that ends a tag, given where its name begins and ends. Plain attributes, `name="value"` and
/// `name=value`, are skipped by their `=` and their end; any other form is read attribute by attribute.
///
/// The search starts at the name, so that it need not wait for the name to be read.
#[inline(always)]
fn tag_end(bytes: &[u8], marks: &mut MarkFinder<'_, impl Wide>, name: usize, start: usize) -> Option<usize> {
    let mut from = name;
    loop {
        let stop = marks.stop(from)?;
        if bytes[stop] == b'>' {
            return Some(stop);
        }
        // There is no mark between `from` and here, so no value has begun. An `=` after an alphanumeric character of an
        // attribute begins one: a value is followed by a quote or white space.
        let begins_value = bytes[stop] == b'=' && stop > start && bytes[stop - 1] > b'/';
        from = match bytes.get(stop + 1)? {
            &quote @ (b'"' | b'\'') if begins_value => marks.quote(stop + 2, quote)? + 1,
            b'>' if begins_value => stop + 1,
            byte if begins_value && (*byte == b'/' || !ends_name(*byte)) => unquoted_end(bytes, stop + 1),
            _ => return attributes::tag_length(&bytes[start..]).map(|length| start + length - 1),
        };
    }
}

/// The start tags that change how the content is read.
static SWITCHES: PerName<bool> = per_name!(switches);

const fn switches(name: &[u8]) -> bool {
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
            | b"svg"
            | b"math"
    )
}

fn state_behind(name: TagName) -> TokenizerState {
    match name.as_bytes() {
        b"title" | b"textarea" => TokenizerState::Until(name, TextKind::RcData),
        b"script" => TokenizerState::Until(name, TextKind::Script),
        b"style" | b"xmp" | b"iframe" | b"noembed" | b"noframes" | b"noscript" => {
            TokenizerState::Until(name, TextKind::Raw)
        }
        b"plaintext" => TokenizerState::PlainText,
        _ => TokenizerState::Data,
    }
}

/// The end of an unquoted value: at white space or `>`.
fn unquoted_end(bytes: &[u8], start: usize) -> usize {
    let ends = |&byte: &u8| byte != b'/' && ends_name(byte);
    bytes[start..].iter().position(ends).map_or(bytes.len(), |length| start + length)
}

#[cfg(test)]
mod tests;
