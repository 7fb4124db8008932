//! Finds the number or the words of a trigger on a page.

use crate::trigger::{Condition, Subject, Trigger};
use document::blocks::{Block, Blocks, STRUCK};
use document::numbers::{Number, numbers};
use document::select::is_fact;
use document::stated::{folded, words_of_value};
use std::borrow::Cow;

/// Signs and codes beside a number that make it a price.
const CURRENCIES: &[&str] = &[
    "€", "$", "£", "¥", "₹", "₽", "₩", "₺", "zł", "kč", "kr", "eur", "usd", "gbp", "chf", "jpy", "cny", "sek", "nok",
    "dkk", "pln", "czk", "cad", "aud", "inr", "brl", "元", "円",
];

/// The number or the words that a trigger finds on a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sight {
    /// The page has nothing that the trigger is about.
    Nothing,
    /// Its number.
    Number(f64),
    /// Whether its words are there.
    Words(bool),
}

/// The blocks of a page that triggers see: those that are watched, or all.
pub(crate) struct SeenBlocks<'b> {
    is_watched: bool,
    seen: Vec<SeenBlock<'b>>,
}

/// A block, read for triggers.
struct SeenBlock<'b> {
    /// Without struck-through text, which does not hold any more.
    text: Cow<'b, str>,
    /// In lower case, with single blanks: the text, or the words of a fact's value.
    said: String,
    /// The name and the value of a fact.
    fact: Option<(&'b str, &'b str)>,
    /// The first text of the row that the block is in, if that is another block.
    row: Option<String>,
}

impl<'b> SeenBlocks<'b> {
    pub(crate) fn new(blocks: &'b Blocks) -> Self {
        let is_watched = blocks.is_watched;
        let seen = blocks.list.iter().enumerate().filter(|(_, block)| block.watched || !is_watched);
        Self { is_watched, seen: seen.map(|(index, block)| SeenBlock::new(blocks, index, block)).collect() }
    }

    /// The number or the words that a trigger finds here.
    pub(crate) fn sight(&self, trigger: &Trigger) -> Sight {
        match &trigger.condition {
            // A page without text, or without the watched parts, shows nothing to a trigger.
            _ if self.seen.is_empty() => Sight::Nothing,
            Condition::Come(phrase) | Condition::Go(phrase) => {
                Sight::Words(self.seen.iter().any(|block| phrase.is_in(&block.said)))
            }
            Condition::Number(subject, _) => self.number(subject).map_or(Sight::Nothing, Sight::Number),
        }
    }

    /// The number of a subject: of a fact of this name, behind these words, in a row that begins with them, or, of a price,
    /// the first with a currency. If nothing has the name, it is the only number that is watched.
    fn number(&self, subject: &Subject) -> Option<f64> {
        let first = |text: &str| numbers(text).next().map(|number| number.value);
        let mut seen = self.seen.iter();
        if subject.name.is_empty() {
            return seen.find_map(|block| first(&block.text));
        }
        let of_facts = || {
            let facts = self.seen.iter().filter_map(|block| block.fact);
            facts.filter(|(name, _)| is_fact(&subject.name, name)).find_map(|(_, value)| first(value))
        };
        let behind_words = || {
            self.seen.iter().find_map(|block| {
                let is_in_row = block.row.as_ref().is_some_and(|row| subject.words.is_in(row));
                let behind = subject.words.behind(&block.said).and_then(first);
                behind.or_else(|| first(&block.text).filter(|_| is_in_row))
            })
        };
        let with_currency = || {
            let priced =
                |text: &str| numbers(text).find(|number| has_currency(text, number)).map(|number| number.value);
            (subject.name == "price").then(|| self.seen.iter().find_map(|block| priced(&block.text))).flatten()
        };
        let only = || {
            let mut all = self.seen.iter().flat_map(|block| numbers(&block.text));
            let number = all.next().filter(|_| self.is_watched)?;
            all.next().is_none().then_some(number.value)
        };
        of_facts().or_else(behind_words).or_else(with_currency).or_else(only)
    }
}

impl<'b> SeenBlock<'b> {
    fn new(blocks: &'b Blocks, index: usize, block: &'b Block) -> Self {
        let text = blocks.text(block);
        let unstruck = without_struck(text);
        let fact = if block.part.fact { text.split_once(": ") } else { None };
        let said = match fact {
            Some((_, value)) => folded(&format!("{} {value}", words_of_value(value))),
            None => folded(&unstruck),
        };
        Self { text: unstruck, said, fact, row: row_name(blocks, index).map(folded) }
    }
}

/// A text without its struck-through parts, each between two marks.
fn without_struck(text: &str) -> Cow<'_, str> {
    if !text.contains(STRUCK) {
        return Cow::Borrowed(text);
    }
    let mut parts: Vec<&str> = text.split(STRUCK).collect();
    // A mark without its pair is no mark.
    let rest = if parts.len().is_multiple_of(2) { parts.pop() } else { None };
    let kept = parts.into_iter().step_by(2).collect::<String>();
    Cow::Owned(kept + rest.unwrap_or_default())
}

/// The first text of the row that a block is in, if it is not the block's own.
fn row_name(blocks: &Blocks, index: usize) -> Option<&str> {
    let row = blocks.list[index].row;
    let mut before = blocks.list[..index].iter().rev().take_while(|other| row > 0 && other.row == row);
    let first = before.by_ref().take(MAX_ROW_BLOCKS).last()?;
    let name = blocks.text(first);
    (before.next().is_none() && name.len() <= MAX_ROW_NAME_BYTES).then_some(name)
}

/// A row with more blocks lays out a page, and its first text says nothing of the others.
const MAX_ROW_BLOCKS: usize = 16;
/// The longest text that names a row.
const MAX_ROW_NAME_BYTES: usize = 200;

fn has_currency(text: &str, number: &Number) -> bool {
    let before = text[..number.place.start].trim_end().to_lowercase();
    let behind = text[number.place.end..].trim_start_matches(['.', ',', '-', '–']).trim_start().to_lowercase();
    let is_word = |sign: Option<char>| sign.is_some_and(char::is_alphabetic);
    CURRENCIES.iter().any(|currency| {
        let starts_word = currency.starts_with(char::is_alphabetic);
        let is_before =
            before.strip_suffix(currency).is_some_and(|rest| !starts_word || !is_word(rest.chars().next_back()));
        let is_behind = behind.strip_prefix(currency).is_some_and(|rest| !starts_word || !is_word(rest.chars().next()));
        is_before || is_behind
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::Body;
    use document::select::{PartUse, Selection};

    fn sight(trigger: &str, watch: &[&str], html: &str) -> Sight {
        let mut selection = Selection::default();
        watch.iter().for_each(|part| selection.add(PartUse::Watch, part).unwrap());
        let blocks = Body::new(html.as_bytes(), Some("text/html"), None).with_selection(&selection).blocks();
        SeenBlocks::new(&blocks).sight(&Trigger::parse(trigger).unwrap())
    }

    #[test]
    fn what_is_struck_through_is_not_seen() {
        let price = |html| sight("price below 20", &[], html);
        assert_eq!(price("<p>Now <s>29,90 €</s> 19,90 €"), Sight::Number(19.9));
        assert_eq!(price("<p>Price: <del>$30</del> <b>$15</b>"), Sight::Number(15.0));
        assert_eq!(sight("in stock", &[], "<p>Lamp <s>in stock</s>"), Sight::Words(false));
        assert_eq!(price("<p>A ~~ sign, for 5 €"), Sight::Number(5.0));
    }

    #[test]
    fn a_number_is_found_by_its_name() {
        let check = |trigger, watch: &[&str], html: &str, expected: Option<f64>| {
            let expected = expected.map_or(Sight::Nothing, Sight::Number);
            assert_eq!(sight(trigger, watch, html), expected, "{html}");
        };
        check("price below 1", &[], "<p>2 lamps<p>Price: 19,90 €", Some(19.9));
        check("price below 1", &[], "<p>2 lamps for 19,90 €", Some(19.9));
        check("seats below 1", &[], "<table><tr><td>Rows<td>7<tr><td>Seats<td>12</table>", Some(12.0));
        check("seats below 1", &[], "<p>12 rows", None);
        check("price below 1", &["b"], "<p>2 lamps <b>19.90</b>", Some(19.9));
        check("price below 1", &["b"], "<p><b>2 lamps</b> <b>19.90</b>", None);
        check("below 1", &["b"], "<p>1 of <b>2 lamps</b> <b>19.90</b>", Some(2.0));
        let json_ld = "<script type=application/ld+json>{\"name\":\"Lamp\",\"offers\":{\"price\":\"18.50\"}}</script>";
        check("price below 1", &[], &format!("{json_ld}<p>Price 20 €"), Some(18.5));
        check("price below 1", &["fact:price"], &format!("{json_ld}<p>Price 20 €"), Some(18.5));
    }

    #[test]
    fn words_are_found_in_texts_and_in_values_of_facts() {
        let check =
            |watch: &[&str], html: &str, expected| assert_eq!(sight("in stock", watch, html), expected, "{html}");
        let json_ld = "<script type=application/ld+json>{\"availability\":\"https://schema.org/InStock\"}</script>";
        check(&[], "<p>In stock", Sight::Words(true));
        check(&[], "<p>Sold out", Sight::Words(false));
        check(&[], json_ld, Sight::Words(true));
        check(&["b"], "<p>In stock <b>not here</b>", Sight::Words(false));
        check(&["b"], "<p>In stock", Sight::Nothing);
    }
}
