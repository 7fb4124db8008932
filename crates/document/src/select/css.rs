//! Parses CSS selectors into a program that is run element by element.
//!
//! A program is the compounds of all selectors, one bit each. An element has the bit of a compound if it fits, and the
//! compounds before it in its selector fit the elements around it. So a selector costs one test per element, however
//! deep the page is.

use super::SelectFault;
use super::compound::{Compound, Condition, TestedElement, ValueTest, has_value_in_any_case};

/// The most compounds of a selection: the bits of a number.
const MAX_COMPOUNDS: usize = u128::BITS as usize;
/// The longest selector in bytes.
const MAX_SELECTOR_BYTES: usize = 2_000;

/// A set of compounds of a program.
pub(super) type CompoundSet = u128;

/// The selectors of a selection.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SelectorProgram {
    compounds: Vec<Compound>,
    /// The compounds that begin a selector, and those that stand behind each kind of combinator.
    firsts: CompoundSet,
    descendants: CompoundSet,
    children: CompoundSet,
    next: CompoundSet,
    later: CompoundSet,
    /// The compounds that end a selector, each with the number of its part.
    lasts: Vec<(usize, usize)>,
}

/// The compounds that the ancestors and earlier siblings of an element fit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Surroundings {
    /// Compounds of all ancestors, of the parent, of the sibling before and of all siblings before.
    pub(super) above: CompoundSet,
    pub(super) parent: CompoundSet,
    pub(super) previous: CompoundSet,
    pub(super) earlier: CompoundSet,
}

impl SelectorProgram {
    /// Adds a list of selectors for the part of this number.
    pub(super) fn add(&mut self, text: &str, part: usize) -> Result<(), SelectFault> {
        if text.len() > MAX_SELECTOR_BYTES {
            return Err(SelectFault::new(
                format!("the selector has more than {MAX_SELECTOR_BYTES} bytes"),
                "write a shorter one; an id or a class is usually enough",
            ));
        }
        let selectors = SelectorParser { rest: text }.list()?;
        let compounds: usize = selectors.iter().map(Vec::len).sum();
        if self.compounds.len() + compounds > MAX_COMPOUNDS {
            return Err(SelectFault::new(
                format!("the selectors of the rule have more than {MAX_COMPOUNDS} steps together"),
                "leave the first steps out; an id or a class is usually enough",
            ));
        }
        for selector in selectors {
            for (combinator, compound) in selector {
                let bit = 1 << self.compounds.len();
                match combinator {
                    None => self.firsts |= bit,
                    Some(Combinator::Descendant) => self.descendants |= bit,
                    Some(Combinator::Child) => self.children |= bit,
                    Some(Combinator::Next) => self.next |= bit,
                    Some(Combinator::Later) => self.later |= bit,
                }
                self.compounds.push(compound);
            }
            self.lasts.push((self.compounds.len() - 1, part));
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.compounds.is_empty()
    }

    /// The compounds that an element fits.
    pub(super) fn fitting(&self, element: &TestedElement<'_, '_>, around: &Surroundings) -> CompoundSet {
        let mut open = self.firsts
            | (around.above << 1 & self.descendants)
            | (around.parent << 1 & self.children)
            | (around.previous << 1 & self.next)
            | (around.earlier << 1 & self.later);
        let mut fitting = 0;
        while open != 0 {
            let index = open.trailing_zeros();
            open &= open - 1;
            if self.compounds[index as usize].fits(element) {
                fitting |= 1 << index;
            }
        }
        fitting
    }

    /// The parts that select an element with these compounds.
    pub(super) fn parts(&self, fitting: CompoundSet) -> impl Iterator<Item = usize> {
        self.lasts.iter().filter(move |(last, _)| fitting >> last & 1 == 1).map(|(_, part)| *part)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Combinator {
    Descendant,
    Child,
    Next,
    Later,
}

/// Compounds, each with the combinator before it.
type Selector = Vec<(Option<Combinator>, Compound)>;

struct SelectorParser<'a> {
    rest: &'a str,
}

const EXAMPLE: &str = "write a CSS selector such as #price, .stock or table.offers td:nth-child(2)";

fn fault<T>(problem: impl Into<String>) -> Result<T, SelectFault> {
    Err(SelectFault::new(problem, EXAMPLE))
}

impl SelectorParser<'_> {
    fn list(mut self) -> Result<Vec<Selector>, SelectFault> {
        let mut selectors = vec![self.selector()?];
        while self.eat(',') {
            selectors.push(self.selector()?);
        }
        match self.rest.chars().next() {
            None => Ok(selectors),
            Some(sign) => fault(format!("{sign:?} is not expected here: {:?}", self.rest)),
        }
    }

    fn selector(&mut self) -> Result<Selector, SelectFault> {
        self.skip_blanks();
        let mut selector = vec![(None, self.compound()?)];
        loop {
            let had_blank = self.skip_blanks();
            let combinator = match self.rest.chars().next() {
                Some('>') => Combinator::Child,
                Some('+') => Combinator::Next,
                Some('~') => Combinator::Later,
                None | Some(',') => return Ok(selector),
                Some(_) if had_blank => Combinator::Descendant,
                Some(_) => return Ok(selector),
            };
            if combinator != Combinator::Descendant {
                self.rest = &self.rest[1..];
                self.skip_blanks();
            }
            selector.push((Some(combinator), self.compound()?));
        }
    }

    fn compound(&mut self) -> Result<Compound, SelectFault> {
        let mut conditions = Vec::new();
        let begins_with_star = self.eat('*');
        if !begins_with_star && self.is_at_name() {
            conditions.push(Condition::Name(self.name()?));
        }
        if self.rest.starts_with('|') {
            return Err(SelectFault::new("namespaces are not supported", "leave out the | and what is before it"));
        }
        loop {
            let before = self.rest.len();
            if self.eat('#') {
                conditions.push(Condition::Id(self.name()?));
            } else if self.eat('.') {
                conditions.push(Condition::Class(self.name()?));
            } else if self.eat('[') {
                conditions.push(self.attribute()?);
            } else if self.eat(':') {
                conditions.push(self.pseudo_class()?);
            }
            if self.rest.len() == before {
                break;
            }
        }
        match conditions.is_empty() && !begins_with_star {
            true if self.rest.is_empty() => fault("a selector is missing at the end"),
            true => fault(format!("no selector begins with {:?}", self.rest.chars().next().unwrap_or_default())),
            false => Ok(Compound(conditions)),
        }
    }

    fn attribute(&mut self) -> Result<Condition, SelectFault> {
        self.skip_blanks();
        let name = self.name()?.to_ascii_lowercase();
        self.skip_blanks();
        let tests = [
            ("=", ValueTest::Equals),
            ("~=", ValueTest::HasWord),
            ("|=", ValueTest::IsLanguage),
            ("^=", ValueTest::StartsWith),
            ("$=", ValueTest::EndsWith),
            ("*=", ValueTest::Contains),
        ];
        let test = tests.iter().find(|(sign, _)| self.rest.starts_with(sign));
        let Some((sign, test)) = test else {
            self.expect(']')?;
            return Ok(Condition::Attribute { name, test: ValueTest::Exists, value: String::new(), any_case: false });
        };
        self.rest = &self.rest[sign.len()..];
        self.skip_blanks();
        let value = match self.rest.chars().next() {
            Some(quote @ ('"' | '\'')) => self.quoted(quote)?,
            _ if self.is_at_name() => self.name()?,
            _ => {
                return Err(SelectFault::new(
                    format!("the value of the attribute {name} needs quotes"),
                    format!("write [{name}{sign}'value']"),
                ));
            }
        };
        self.skip_blanks();
        let any_case = self.eat('i') || self.eat('I');
        let this_case = !any_case && (self.eat('s') || self.eat('S'));
        self.skip_blanks();
        self.expect(']')?;
        let any_case = any_case || (!this_case && has_value_in_any_case(&name));
        Ok(Condition::Attribute { name, test: *test, value, any_case })
    }

    fn pseudo_class(&mut self) -> Result<Condition, SelectFault> {
        let refused = |what: String| {
            Err(SelectFault::new(
                format!("{what} is not supported"),
                "write :first-child, :nth-child(2n+1) or :not(.class), or select by id, class or attribute",
            ))
        };
        if self.eat(':') {
            return refused(format!("::{}", self.rest));
        }
        let name = self.name()?.to_ascii_lowercase();
        match name.as_str() {
            "first-child" => Ok(Condition::NthChild(0, 1)),
            "nth-child" if self.eat('(') => {
                let end = self.rest.find(')').unwrap_or(self.rest.len());
                let (step, first) = steps(&self.rest[..end]).ok_or_else(|| {
                    SelectFault::new(
                        format!(":nth-child({}) has no number", &self.rest[..end]),
                        "write a number, odd, even, or a form such as 2n+1",
                    )
                })?;
                self.rest = &self.rest[end..];
                self.expect(')')?;
                Ok(Condition::NthChild(step, first))
            }
            "not" if self.eat('(') => {
                let mut compounds = Vec::new();
                loop {
                    self.skip_blanks();
                    compounds.push(self.compound()?);
                    self.skip_blanks();
                    if !self.eat(',') {
                        break;
                    }
                }
                if self.rest.starts_with(|sign: char| sign != ')') {
                    return refused(":not() of more than one element".to_owned());
                }
                self.expect(')')?;
                Ok(Condition::Not(compounds))
            }
            _ => refused(format!(":{name}")),
        }
    }

    /// Whether a name begins here.
    fn is_at_name(&self) -> bool {
        let mut signs = self.rest.chars();
        let starts = |sign: char| sign.is_ascii_alphabetic() || sign == '_' || !sign.is_ascii() || sign == '\\';
        match signs.next() {
            Some('-') => signs.next().is_some_and(|sign| starts(sign) || sign == '-'),
            Some(sign) => starts(sign),
            None => false,
        }
    }

    /// Reads a name, with its escapes (CSS Syntax, section 4.3.11).
    fn name(&mut self) -> Result<String, SelectFault> {
        if !self.is_at_name() {
            return match self.rest.chars().next() {
                None => fault("a name is missing at the end"),
                Some(sign) if sign.is_ascii_digit() => Err(SelectFault::new(
                    format!("a name cannot begin with the digit {sign}"),
                    format!("write [id='{sign}…'] or [class~='{sign}…'], or escape it: \\3{sign} "),
                )),
                Some(sign) => fault(format!("a name cannot begin with {sign:?}")),
            };
        }
        let mut name = String::new();
        while let Some(sign) = self.rest.chars().next() {
            if sign == '\\' {
                self.rest = &self.rest[1..];
                name.push(self.escaped()?);
            } else if sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_') || !sign.is_ascii() {
                name.push(sign);
                self.rest = &self.rest[sign.len_utf8()..];
            } else {
                break;
            }
        }
        Ok(name)
    }

    /// The character behind a backslash.
    fn escaped(&mut self) -> Result<char, SelectFault> {
        let digits = self.rest.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        if digits == 0 {
            let Some(sign) = self.rest.chars().next().filter(|sign| *sign != '\n') else {
                return fault("nothing is behind the last backslash");
            };
            self.rest = &self.rest[sign.len_utf8()..];
            return Ok(sign);
        }
        let code = u32::from_str_radix(&self.rest[..digits], 16).unwrap_or_default();
        self.rest = &self.rest[digits..];
        // One blank ends the number.
        self.rest = self.rest.strip_prefix(is_blank).unwrap_or(self.rest);
        Ok(char::from_u32(code).filter(|sign| *sign != '\0').unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn quoted(&mut self, quote: char) -> Result<String, SelectFault> {
        let mut value = String::new();
        self.rest = &self.rest[1..];
        loop {
            match self.rest.chars().next() {
                None => return fault(format!("the quote {quote} is not closed")),
                Some('\\') => {
                    self.rest = &self.rest[1..];
                    value.push(self.escaped()?);
                }
                Some(sign) => {
                    self.rest = &self.rest[sign.len_utf8()..];
                    if sign == quote {
                        return Ok(value);
                    }
                    value.push(sign);
                }
            }
        }
    }

    fn eat(&mut self, sign: char) -> bool {
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, sign: char) -> Result<(), SelectFault> {
        if self.eat(sign) { Ok(()) } else { fault(format!("{sign:?} is missing before {:?}", self.rest)) }
    }

    /// Returns whether there were blanks.
    fn skip_blanks(&mut self) -> bool {
        let rest = self.rest.trim_start_matches(is_blank);
        let had_blank = rest.len() < self.rest.len();
        self.rest = rest;
        had_blank
    }
}

fn is_blank(sign: char) -> bool {
    matches!(sign, ' ' | '\t' | '\n' | '\r' | '\x0c')
}

/// Reads `An+B` (CSS Syntax, section 6).
fn steps(text: &str) -> Option<(i64, i64)> {
    let text = text.trim_matches(is_blank).to_ascii_lowercase();
    let number = |text: &str| text.parse::<i32>().ok().map(i64::from);
    match text.as_str() {
        "odd" => return Some((2, 1)),
        "even" => return Some((2, 0)),
        _ => {}
    }
    let Some((step, first)) = text.split_once('n') else { return Some((0, number(&text)?)) };
    let step = match step {
        "" | "+" => 1,
        "-" => -1,
        step => number(step)?,
    };
    let first = first.trim_matches(is_blank);
    let Some(sign) = first.chars().next() else { return Some((step, 0)) };
    let amount = first.strip_prefix(['+', '-'])?.trim_start_matches(is_blank);
    let amount = amount.bytes().all(|byte| byte.is_ascii_digit()).then(|| number(amount))??;
    Some((step, if sign == '-' { -amount } else { amount }))
}
