//! Dictionaries of structured fields (RFC 9651, section 4.2.2), as far as preferences need them: tokens are kept, other values are only
//! checked. A dictionary with a fault is no dictionary.

use std::collections::BTreeMap;

/// A value of a dictionary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Token(&'a str),
    Other,
}

/// Parses a dictionary. The last of values with the same key counts. `None` if it is broken.
pub(crate) fn parse(field: &[u8]) -> Option<BTreeMap<&str, Value<'_>>> {
    let mut input = Input { rest: field.trim_ascii() };
    let mut members = BTreeMap::new();
    if field.iter().any(|byte| !byte.is_ascii()) {
        return None;
    }
    while !input.rest.is_empty() {
        let key = input.key()?;
        let value = if input.take(b'=') { input.item_or_list()? } else { Value::Other };
        input.parameters()?;
        members.insert(key, value);
        input.skip(b" \t");
        if input.rest.is_empty() {
            return Some(members);
        }
        if !input.take(b',') {
            return None;
        }
        input.skip(b" \t");
        if input.rest.is_empty() {
            return None;
        }
    }
    Some(members)
}

struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    fn take(&mut self, wanted: u8) -> bool {
        match self.rest.split_first() {
            Some((first, rest)) if *first == wanted => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    fn skip(&mut self, bytes: &[u8]) {
        self.take_while(|byte| bytes.contains(&byte));
    }

    fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &'a str {
        let length = self.rest.iter().position(|byte| !wanted(*byte)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        // The field is ASCII.
        str::from_utf8(taken).unwrap_or_default()
    }

    fn key(&mut self) -> Option<&'a str> {
        self.rest.first().filter(|first| first.is_ascii_lowercase() || **first == b'*')?;
        Some(self.take_while(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-' | b'.' | b'*')
        }))
    }

    fn item_or_list(&mut self) -> Option<Value<'a>> {
        if !self.take(b'(') {
            return self.bare_item();
        }
        loop {
            self.skip(b" ");
            if self.take(b')') {
                return Some(Value::Other);
            }
            self.bare_item()?;
            self.parameters()?;
            if !matches!(self.rest.first(), Some(b' ' | b')')) {
                return None;
            }
        }
    }

    fn parameters(&mut self) -> Option<()> {
        while self.take(b';') {
            self.skip(b" ");
            self.key()?;
            if self.take(b'=') {
                self.bare_item()?;
            }
        }
        Some(())
    }

    fn bare_item(&mut self) -> Option<Value<'a>> {
        match self.rest.first()? {
            b'-' | b'0'..=b'9' => self.number(true),
            b'@' => {
                self.take(b'@');
                self.number(false)
            }
            b'"' => self.string(),
            b'%' => {
                self.take(b'%');
                self.display_string()
            }
            b':' => {
                self.take(b':');
                self.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
                self.take(b':').then_some(Value::Other)
            }
            b'?' => {
                self.take(b'?');
                (self.take(b'0') || self.take(b'1')).then_some(Value::Other)
            }
            b'*' | b'a'..=b'z' | b'A'..=b'Z' => Some(Value::Token(
                self.take_while(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~:/".contains(&byte)),
            )),
            _ => None,
        }
    }

    fn number(&mut self, may_be_decimal: bool) -> Option<Value<'a>> {
        self.take(b'-');
        let whole = self.take_while(|byte| byte.is_ascii_digit()).len();
        if !(1..=15).contains(&whole) {
            return None;
        }
        if may_be_decimal && self.take(b'.') {
            let fraction = self.take_while(|byte| byte.is_ascii_digit()).len();
            return ((1..=3).contains(&fraction) && whole <= 12).then_some(Value::Other);
        }
        Some(Value::Other)
    }

    fn string(&mut self) -> Option<Value<'a>> {
        self.take(b'"');
        loop {
            self.take_while(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\'));
            if self.take(b'"') {
                return Some(Value::Other);
            }
            if !self.take(b'\\') || !(self.take(b'"') || self.take(b'\\')) {
                return None;
            }
        }
    }

    fn display_string(&mut self) -> Option<Value<'a>> {
        if !self.take(b'"') {
            return None;
        }
        loop {
            self.take_while(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'%'));
            if self.take(b'"') {
                return Some(Value::Other);
            }
            let is_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            if !self.take(b'%') || self.rest.len() < 2 || !self.rest[..2].iter().all(is_hex) {
                return None;
            }
            self.rest = &self.rest[2..];
        }
    }
}
