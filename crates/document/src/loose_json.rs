//! JSON as people write it into pages, with the faults that other readers repair: raw line breaks in strings, comments,
//! wrappers of CDATA and HTML, commas too many or missing, several values one after the other, quotes within strings.
//!
//! Each byte is read at most twice, and nesting is bounded, so that any text is read in linear time.

mod scalars;
mod space;
#[cfg(test)]
mod tests;

use self::scalars::{Bare, bare, string};
use self::space::skip_space;
use std::borrow::Cow;

/// Deeper values are not read.
const MAX_DEPTH: usize = 64;

/// A value with its type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LooseValue<'a> {
    Null,
    Bool(bool),
    /// As written, in the grammar of numbers of data.
    Number(&'a str),
    Text(Cow<'a, str>),
    List(Vec<LooseValue<'a>>),
    /// The members in their order.
    Object(Vec<(Cow<'a, str>, LooseValue<'a>)>),
}

impl<'a> LooseValue<'a> {
    /// The member of this name. Of several, the last counts.
    pub(crate) fn get(&self, name: &str) -> Option<&LooseValue<'a>> {
        let Self::Object(members) = self else { return None };
        members.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The text, if it is one.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::List(_) | Self::Object(_) => None,
        }
    }
}

/// The objects and lists of a text, one after the other. Everything between them is passed over.
pub(crate) fn read(text: &str) -> Vec<LooseValue<'_>> {
    let mut reader = LooseReader { text, at: 0 };
    let mut values = Vec::new();
    loop {
        reader.skip();
        match reader.peek() {
            None => return values,
            Some(b'{' | b'[') => values.extend(reader.value(0, false)),
            Some(_) => reader.pass(),
        }
    }
}

struct LooseReader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> LooseReader<'a> {
    fn skip(&mut self) {
        self.at = skip_space(self.text, self.at);
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Passes over one character.
    fn pass(&mut self) {
        self.at = self.text.ceil_char_boundary(self.at + 1);
    }

    /// Reads the value here. `None` if there is none, or it is too deep.
    fn value(&mut self, depth: usize, is_member: bool) -> Option<LooseValue<'a>> {
        match self.peek()? {
            b'{' | b'[' if depth >= MAX_DEPTH => {
                self.pass_over_nested();
                None
            }
            b'{' => Some(self.object(depth)),
            b'[' => Some(self.list(depth)),
            quote @ (b'"' | b'\'') => {
                let (text, end) = string(self.text, self.at, quote, false);
                self.at = end;
                Some(LooseValue::Text(text))
            }
            b'}' | b']' | b',' | b':' => None,
            _ => {
                let (value, end) = bare(self.text, self.at, is_member);
                self.at = end;
                value.map(LooseValue::from)
            }
        }
    }

    fn list(&mut self, depth: usize) -> LooseValue<'a> {
        let mut values = Vec::new();
        self.at += 1;
        loop {
            self.skip();
            match self.peek() {
                None => return LooseValue::List(values),
                Some(b']') => {
                    self.at += 1;
                    return LooseValue::List(values);
                }
                // The list was not closed.
                Some(b'}') => return LooseValue::List(values),
                Some(b',' | b':' | b';') => self.at += 1,
                Some(_) => values.extend(self.value(depth + 1, false)),
            }
        }
    }

    fn object(&mut self, depth: usize) -> LooseValue<'a> {
        let mut members = Vec::new();
        self.at += 1;
        loop {
            self.skip();
            match self.peek() {
                None => return LooseValue::Object(members),
                Some(b'}') => {
                    self.at += 1;
                    return LooseValue::Object(members);
                }
                // The object was not closed.
                Some(b']') => return LooseValue::Object(members),
                Some(b',' | b':' | b';') => self.at += 1,
                Some(b'{' | b'[') => drop(self.value(depth + 1, false)),
                Some(_) => members.extend(self.member(depth)),
            }
        }
    }

    fn member(&mut self, depth: usize) -> Option<(Cow<'a, str>, LooseValue<'a>)> {
        let key = self.key();
        self.skip();
        if self.peek() != Some(b':') {
            return None;
        }
        self.at += 1;
        self.skip();
        Some((key, self.value(depth + 1, true)?))
    }

    /// Reads the name of a member, which may lack its quotes.
    fn key(&mut self) -> Cow<'a, str> {
        if let Some(quote @ (b'"' | b'\'')) = self.peek() {
            let (key, end) = string(self.text, self.at, quote, true);
            self.at = end;
            return key;
        }
        let rest = &self.text[self.at..];
        let is_end = |sign: char| sign.is_whitespace() || ":,;{}[]\"'".contains(sign);
        let length = rest.find(is_end).unwrap_or(rest.len());
        // A sign that begins no name is passed over.
        let length = if length == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { length };
        self.at += length;
        Cow::Borrowed(&rest[..length])
    }

    /// Passes over a value that is nested too deep.
    fn pass_over_nested(&mut self) {
        let mut open = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'{' | b'[' => open += 1,
                b'}' | b']' => open -= 1,
                quote @ (b'"' | b'\'') => {
                    self.at = string(self.text, self.at, quote, false).1;
                    continue;
                }
                _ => {}
            }
            self.pass();
            if open == 0 {
                return;
            }
        }
    }
}

impl<'a> From<Bare<'a>> for LooseValue<'a> {
    fn from(bare: Bare<'a>) -> Self {
        match bare {
            Bare::Null => Self::Null,
            Bare::Bool(value) => Self::Bool(value),
            Bare::Number(written) => Self::Number(written),
            Bare::Text(text) => Self::Text(Cow::Borrowed(text)),
        }
    }
}
