//! The part of Structured Fields (RFC 9651) that signatures use: dictionaries of items and inner lists.
//!
//! The crate sfv would bring a second version of base64 for these few lines.

use base64::prelude::{BASE64_STANDARD, Engine as _};

/// Most bytes of a field that are parsed. The fields of a request with several signatures take about 2 kB.
const MAX_FIELD: usize = 16 << 10;
/// Most members of a dictionary, and most parameters of one of them: names are searched one by one.
const MAX_NAMES: usize = 64;

/// Why a field is no dictionary of RFC 9651.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no dictionary of structured fields: {0}")]
pub struct StructuredFieldError(&'static str);

/// A value without parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bare {
    Integer(i64),
    Text(String),
    Token(String),
    Bytes(Vec<u8>),
    Boolean(bool),
}

/// Parameters in their order. A name that comes twice keeps its first place and has its last value.
pub(crate) type Parameters = Vec<(String, Bare)>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) value: Bare,
    pub(crate) parameters: Parameters,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Member {
    Item(Item),
    InnerList { items: Vec<Item>, parameters: Parameters },
}

/// Parses a dictionary (RFC 9651 section 4.2.2). Decimals, dates and display strings, which signatures do not use, are refused.
pub(crate) fn dictionary(field: &str) -> Result<Vec<(String, Member)>, StructuredFieldError> {
    if field.len() > MAX_FIELD {
        return Err(StructuredFieldError("it is too long"));
    }
    let mut rest = Rest(field.trim_matches(' '));
    let mut members = Vec::new();
    while !rest.is_empty() {
        let name = rest.name()?;
        let member = match rest.takes('=') {
            true => rest.member()?,
            false => Member::Item(Item { value: Bare::Boolean(true), parameters: rest.parameters()? }),
        };
        put(&mut members, name, member)?;
        rest.skip(&[' ', '\t']);
        if rest.is_empty() {
            break;
        }
        rest.expect(',', "members are separated by commas")?;
        rest.skip(&[' ', '\t']);
        if rest.is_empty() {
            return Err(StructuredFieldError("it ends with a comma"));
        }
    }
    Ok(members)
}

/// A dictionary overwrites, and keeps the place of, a name that comes again.
fn put<T>(members: &mut Vec<(String, T)>, name: String, value: T) -> Result<(), StructuredFieldError> {
    if let Some((_, known)) = members.iter_mut().find(|(known, _)| *known == name) {
        *known = value;
    } else if members.len() < MAX_NAMES {
        members.push((name, value));
    } else {
        return Err(StructuredFieldError("it has too many names"));
    }
    Ok(())
}

/// The part of a field that is not parsed yet.
struct Rest<'a>(&'a str);

impl Rest<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn next_is(&self, test: impl Fn(char) -> bool) -> bool {
        self.0.starts_with(test)
    }

    fn takes(&mut self, sign: char) -> bool {
        let rest = self.0.strip_prefix(sign);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn expect(&mut self, sign: char, otherwise: &'static str) -> Result<(), StructuredFieldError> {
        self.takes(sign).then_some(()).ok_or(StructuredFieldError(otherwise))
    }

    fn skip(&mut self, signs: &[char]) {
        self.0 = self.0.trim_start_matches(signs);
    }

    /// The longest start whose characters pass the test.
    fn run(&mut self, test: impl Fn(char) -> bool) -> &str {
        let end = self.0.find(|sign| !test(sign)).unwrap_or(self.0.len());
        let (run, rest) = self.0.split_at(end);
        self.0 = rest;
        run
    }

    fn name(&mut self) -> Result<String, StructuredFieldError> {
        if !self.next_is(|sign| sign.is_ascii_lowercase() || sign == '*') {
            return Err(StructuredFieldError("a name begins with a small letter"));
        }
        let is_of_name = |sign: char| sign.is_ascii_lowercase() || sign.is_ascii_digit() || "_-.*".contains(sign);
        Ok(self.run(is_of_name).to_owned())
    }

    fn member(&mut self) -> Result<Member, StructuredFieldError> {
        if !self.takes('(') {
            return self.item().map(Member::Item);
        }
        let mut items = Vec::new();
        loop {
            self.skip(&[' ']);
            if self.takes(')') {
                return Ok(Member::InnerList { items, parameters: self.parameters()? });
            }
            items.push(self.item()?);
            if !self.next_is(|sign| matches!(sign, ' ' | ')')) {
                return Err(StructuredFieldError("items of a list are separated by spaces"));
            }
        }
    }

    fn item(&mut self) -> Result<Item, StructuredFieldError> {
        Ok(Item { value: self.bare()?, parameters: self.parameters()? })
    }

    fn parameters(&mut self) -> Result<Parameters, StructuredFieldError> {
        let mut parameters = Vec::new();
        while self.takes(';') {
            self.skip(&[' ']);
            let name = self.name()?;
            let value = if self.takes('=') { self.bare()? } else { Bare::Boolean(true) };
            put(&mut parameters, name, value)?;
        }
        Ok(parameters)
    }

    fn bare(&mut self) -> Result<Bare, StructuredFieldError> {
        match self.0.chars().next() {
            Some('"') => self.text(),
            Some(':') => {
                self.takes(':');
                let encoded = self.run(|sign| sign.is_ascii_alphanumeric() || "+/=".contains(sign)).to_owned();
                self.expect(':', "bytes end with a colon")?;
                let bytes = BASE64_STANDARD.decode(encoded);
                bytes.map(Bare::Bytes).map_err(|_| StructuredFieldError("bytes are not in base64"))
            }
            Some('?') => {
                self.takes('?');
                let is_true = self.takes('1');
                if !is_true {
                    self.expect('0', "a boolean is ?0 or ?1")?;
                }
                Ok(Bare::Boolean(is_true))
            }
            Some(sign) if sign == '-' || sign.is_ascii_digit() => {
                let is_negative = self.takes('-');
                let digits = self.run(|sign| sign.is_ascii_digit());
                if !(1..=15).contains(&digits.len()) {
                    return Err(StructuredFieldError("an integer has 1 to 15 digits"));
                }
                let number: i64 = digits.parse().map_err(|_| StructuredFieldError("no integer"))?;
                if self.next_is(|sign| sign == '.') {
                    return Err(StructuredFieldError("decimals are not used in signatures"));
                }
                Ok(Bare::Integer(if is_negative { -number } else { number }))
            }
            Some(sign) if sign == '*' || sign.is_ascii_alphabetic() => {
                let is_of_token = |sign: char| sign.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~:/".contains(sign);
                Ok(Bare::Token(self.run(is_of_token).to_owned()))
            }
            _ => Err(StructuredFieldError("a value of a kind that signatures do not use")),
        }
    }

    fn text(&mut self) -> Result<Bare, StructuredFieldError> {
        let mut text = String::new();
        let mut signs = self.0.char_indices().skip(1);
        while let Some((place, sign)) = signs.next() {
            match sign {
                '"' => {
                    self.0 = &self.0[place + 1..];
                    return Ok(Bare::Text(text));
                }
                '\\' => match signs.next() {
                    Some((_, escaped @ ('"' | '\\'))) => text.push(escaped),
                    _ => return Err(StructuredFieldError("a backslash before neither quote nor backslash")),
                },
                ' '..='~' => text.push(sign),
                _ => return Err(StructuredFieldError("a string has printable ASCII only")),
            }
        }
        Err(StructuredFieldError("a string does not end"))
    }
}

/// A string with its quotes (RFC 9651 section 4.1.6). The text must be printable ASCII.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for sign in text.chars() {
        if matches!(sign, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(sign);
    }
    quoted.push('"');
    quoted
}

impl Bare {
    fn write(&self, to: &mut String) {
        match self {
            Self::Integer(number) => to.push_str(&number.to_string()),
            Self::Text(text) => to.push_str(&quoted(text)),
            Self::Token(token) => to.push_str(token),
            Self::Bytes(bytes) => {
                to.push(':');
                to.push_str(&BASE64_STANDARD.encode(bytes));
                to.push(':');
            }
            Self::Boolean(value) => to.push_str(if *value { "?1" } else { "?0" }),
        }
    }
}

impl Item {
    /// The item as it is serialised (RFC 9651 section 4.1.3).
    pub(crate) fn serialised(&self) -> String {
        let mut to = String::new();
        self.write(&mut to);
        to
    }

    fn write(&self, to: &mut String) {
        self.value.write(to);
        write_parameters(&self.parameters, to);
    }
}

/// An inner list as it is serialised (RFC 9651 section 4.1.1.1).
pub(crate) fn serialised_list(items: &[Item], parameters: &Parameters) -> String {
    let mut to = String::from("(");
    for (place, item) in items.iter().enumerate() {
        if place > 0 {
            to.push(' ');
        }
        item.write(&mut to);
    }
    to.push(')');
    write_parameters(parameters, &mut to);
    to
}

fn write_parameters(parameters: &Parameters, to: &mut String) {
    for (name, value) in parameters {
        to.push(';');
        to.push_str(name);
        if *value != Bare::Boolean(true) {
            to.push('=');
            value.write(to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn again(field: &str) -> Result<String, StructuredFieldError> {
        let member = |(name, member): (String, Member)| match member {
            Member::Item(item) if item.value == Bare::Boolean(true) => {
                let serialised = item.serialised();
                format!("{name}{}", &serialised[2..])
            }
            Member::Item(item) => format!("{name}={}", item.serialised()),
            Member::InnerList { items, parameters } => format!("{name}={}", serialised_list(&items, &parameters)),
        };
        Ok(dictionary(field)?.into_iter().map(member).collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn a_dictionary_in_canonical_form_is_read_and_written_alike() {
        let check = |field: &str, expected: &str| assert_eq!(again(field).as_deref(), Ok(expected), "{field}");
        check("", "");
        check("a=1", "a=1");
        check(r#"sig1=("@authority" "signature-agent";key="sig1");created;tag="web-bot-auth""#, {
            r#"sig1=("@authority" "signature-agent";key="sig1");created;tag="web-bot-auth""#
        });
        check("a=( 1  b   :aGk=: ); x=?0;y", "a=(1 b :aGk=:);x=?0;y");
        check(r#"a="say \"hi\" \\";b=-15 ,	c"#, r#"a="say \"hi\" \\";b=-15, c"#);
        check("a=1, b=2, a=3", "a=3, b=2");
        check("*k=tok/en:1;q=?1", "*k=tok/en:1;q");
    }

    #[test]
    fn damaged_dictionaries_are_refused() {
        let wrong = [
            "A=1",
            "a=",
            "a=1,",
            "a=1 b=2",
            "a=(1",
            "a=(1\"x\")",
            "a=\"x",
            "a=\"\\n\"",
            "a=\"\u{e9}\"",
            "a=:x",
            "a=:*:",
            "a=?2",
            "a=1.5",
            "a=1234567890123456",
            "a=@1",
            "=1",
            "a=1;",
            "a;B",
            ",",
        ];
        for field in wrong {
            assert!(dictionary(field).is_err(), "{field}");
        }
        assert!(dictionary(&format!("a=\"{}\"", "x".repeat(MAX_FIELD))).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic_and_its_output_is_a_fixed_point(field in "[ -~\t]{0,60}") {
            if let Ok(once) = again(&field) {
                prop_assert_eq!(again(&once), Ok(once.clone()));
            }
        }
    }
}
