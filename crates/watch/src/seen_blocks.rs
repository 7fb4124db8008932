//! Finds the number or the words of a trigger on a page.

use crate::fold::is_of_word;
use crate::passages::Passages;
use crate::phrase::Phrase;
use crate::seen::{SeenBlock, is_owned};
use crate::sight::{Reading, Sight, names_price};
use crate::trigger::{Condition, Subject, Trigger};
use document::blocks::{Blocks, FactOwner, StatedForm, StatedValue};
use document::numbers::{Amount, AmountKind, NumberFormat, amounts, data, unit_name};
use document::select::FactPart;
use std::cell::OnceCell;

/// The most text of a page that is read to find out how it writes numbers.
const MAX_EVIDENCE_BYTES: usize = 128 * 1024;

/// The blocks of a page that triggers see: those that are watched, or all.
pub(crate) struct SeenBlocks<'b> {
    pub(crate) blocks: &'b Blocks,
    pub(crate) seen: Vec<SeenBlock<'b>>,
    /// How the page writes numbers; read only if a number may be read in two ways.
    format: OnceCell<NumberFormat>,
}

impl<'b> SeenBlocks<'b> {
    pub(crate) fn new(blocks: &'b Blocks) -> Self {
        let seen = blocks.list.iter().enumerate().filter(|(_, block)| block.watched || !blocks.is_watched);
        let seen = seen.map(|(index, block)| SeenBlock::new(blocks, index, block)).collect();
        Self { blocks, seen, format: OnceCell::new() }
    }

    /// The number or the words that a trigger finds here.
    pub(crate) fn reading(&self, trigger: &Trigger) -> Reading {
        match &trigger.condition {
            // A page without text, or without the watched parts, shows nothing to a trigger.
            _ if self.seen.is_empty() => Sight::Nothing.into(),
            Condition::Come(phrase) | Condition::Go(phrase) => self.words(phrase).into(),
            Condition::Number(subject, _) => self.number(subject),
        }
    }

    fn words(&self, phrase: &Phrase) -> Sight {
        let of_page = phrase.sight(&self.passages(is_owned));
        if of_page != Sight::Words(false) {
            return of_page;
        }
        // Of several equal things, one may be what the page is about.
        let of_several = phrase.sight(&self.passages(|owner| owner == FactOwner::Unclear));
        if of_several == Sight::Words(false) { of_page } else { Sight::Several }
    }

    /// The texts of the things with these owners.
    fn passages(&self, is_chosen: impl Fn(FactOwner) -> bool) -> Passages<'_> {
        let chosen = self.seen.iter().filter(|block| is_chosen(block.owner()));
        Passages::new(chosen.map(SeenBlock::passage), self.blocks.is_watched)
    }

    /// The number of a subject: of a fact of this name, behind these words, in a row that begins with them, or, of a price,
    /// the first with a currency. If nothing has the name, it is the only number that is watched.
    fn number(&self, subject: &Subject) -> Reading {
        let kind = kind_of(subject);
        if let Some(part) = &subject.fact {
            let of_facts = self.of_facts(part);
            if let Some(reading) = of_facts.or(part.item().map(|_| Sight::Nothing.into())) {
                return reading;
            }
        }
        let mut owned = self.seen.iter().filter(|block| is_owned(block.owner()));
        let found = if subject.name.is_empty() {
            owned.find_map(|block| self.first(block, kind))
        } else {
            let behind_words = owned.find_map(|block| self.behind_words(block, subject, kind));
            behind_words.or_else(|| self.with_currency(subject, kind)).or_else(|| self.only(kind))
        };
        found.as_ref().map_or(Sight::Nothing.into(), Reading::of_amount)
    }

    /// The value of a fact: of the thing that the name means, that the rule has chosen, or that the page is about. `None` if
    /// no data of the page says it of such a thing.
    pub(crate) fn of_facts(&self, part: &FactPart) -> Option<Reading> {
        let facts =
            self.seen.iter().filter_map(|block| block.stated).filter(|stated| part.has_property(stated.property()));
        let facts: Vec<&StatedValue> = facts.collect();
        let of =
            |owner| facts.iter().copied().filter(move |stated| self.blocks.owner(stated) == owner).collect::<Vec<_>>();
        if let Some((key, name)) = part.item() {
            let about = facts.iter().copied().filter(|stated| self.blocks.is_about(stated, key, name)).collect();
            return self.range_of(about);
        }
        let chosen = of(FactOwner::Chosen);
        if !chosen.is_empty() {
            // Things that a rule names one by one are several.
            return self.range_of(chosen).map(|reading| match reading.sight {
                Sight::Range { .. } => Sight::Several.into(),
                _ => reading,
            });
        }
        let of_main = self.range_of(of(FactOwner::Main));
        of_main.or_else(|| (!of(FactOwner::Unclear).is_empty()).then_some(Sight::Several.into()))
    }

    /// The lowest and the highest of values, in the form of data that counts most.
    fn range_of(&self, facts: Vec<&StatedValue>) -> Option<Reading> {
        let amounts: Vec<(u8, &StatedValue, Amount)> = facts
            .into_iter()
            .filter_map(|stated| {
                let amount = self.stated_amount(stated, AmountKind::Price)?;
                Some((self.blocks.source_rank(stated), stated, amount))
            })
            .collect();
        let first = amounts.iter().map(|(rank, ..)| *rank).min()?;
        let counted = || amounts.iter().filter(|(rank, ..)| *rank == first);
        let low = counted().map(|(.., amount)| amount.low).fold(f64::INFINITY, f64::min);
        let high = counted().map(|(.., amount)| amount.high).fold(f64::NEG_INFINITY, f64::max);
        let unit = counted().find_map(|(_, stated, amount)| self.blocks.unit_of(stated).or(amount.unit));
        Some(Reading { sight: Sight::of_range(low, high), unit: unit.map(unit_name) })
    }

    /// The number behind the words of a subject, or the first one in a row that begins with them.
    fn behind_words(&self, block: &SeenBlock<'_>, subject: &Subject, kind: AmountKind) -> Option<Amount> {
        let is_in_row = block.row.as_ref().is_some_and(|row| subject.words.is_in(row));
        if let Some(stated) = block.data()
            && (is_in_row || subject.words.behind(&block.name()).is_some())
        {
            return self.stated_amount(stated, kind);
        }
        let behind = subject.words.behind(&block.said).and_then(|text| self.first_in(text, kind));
        behind.or_else(|| self.first(block, kind).filter(|_| is_in_row))
    }

    fn with_currency(&self, subject: &Subject, kind: AmountKind) -> Option<Amount> {
        let mut owned = self.seen.iter().filter(|block| is_owned(block.owner()));
        let priced =
            |block: &SeenBlock<'_>| self.amounts(block.prose(), kind).into_iter().find(|amount| amount.has_currency);
        if subject.name == "price" { owned.find_map(priced) } else { None }
    }

    /// The only number of all watched parts.
    fn only(&self, kind: AmountKind) -> Option<Amount> {
        let owned = self.seen.iter().filter(|block| is_owned(block.owner()));
        let mut all = owned.flat_map(|block| match block.data() {
            Some(stated) => self.stated_amount(stated, kind).into_iter().collect(),
            None => self.amounts(&block.text, kind),
        });
        let amount = all.next().filter(|_| self.blocks.is_watched)?;
        all.next().is_none().then_some(amount)
    }

    /// The first number of a block.
    fn first(&self, block: &SeenBlock<'_>, kind: AmountKind) -> Option<Amount> {
        match block.data() {
            Some(stated) => self.stated_amount(stated, kind),
            None => self.first_in(&block.text, kind),
        }
    }

    fn first_in(&self, text: &str, kind: AmountKind) -> Option<Amount> {
        let is_rate = |amount: &Amount| text[amount.place.end..].trim_start().starts_with('%');
        self.amounts(text, kind).into_iter().find(|amount| kind == AmountKind::Any || !is_rate(amount))
    }

    /// The number of a stated value: of data by the grammar of data, and of what is shown as people write it.
    pub(crate) fn stated_amount(&self, stated: &StatedValue, kind: AmountKind) -> Option<Amount> {
        let text = &self.blocks.all_text()[stated.place.clone()];
        let of_data = match stated.form {
            StatedForm::Data(value) if value.may_be_number() => data::value(text),
            StatedForm::Data(_) => return None,
            StatedForm::Shown => None,
        };
        match of_data {
            Some(value) => Some(Amount::of_value(value)),
            None => self.first_in(text, kind),
        }
    }

    /// The numbers of a text that are words of their own. Evidence of the page is searched only where a number may be read in
    /// two ways.
    pub(crate) fn amounts(&self, text: &str, kind: AmountKind) -> Vec<Amount> {
        let mut all = amounts(text, &NumberFormat::default(), kind);
        if all.iter().any(|amount| amount.otherwise.is_some()) {
            all = amounts(text, self.format(), kind);
        }
        let is_whole = |amount: &Amount| amount.has_currency || !is_within_word(text, amount.place.start);
        // A watched part may join a label and its number: `<b>Seats</b><b>12</b>`.
        if !self.blocks.is_watched || all.iter().any(is_whole) {
            all.retain(is_whole);
        }
        all
    }

    fn format(&self) -> &NumberFormat {
        self.format.get_or_init(|| {
            let mut format = NumberFormat::of_language(self.blocks.language.as_deref());
            let mut read = 0;
            for (index, block) in self.blocks.list.iter().enumerate() {
                let stated = self.blocks.stated(index).filter(|stated| stated.form != StatedForm::Shown);
                match stated {
                    Some(stated) => {
                        let value = data::value(&self.blocks.all_text()[stated.place.clone()]);
                        value.into_iter().for_each(|value| format.take_value(value));
                    }
                    None if read < MAX_EVIDENCE_BYTES => {
                        format.take_text(self.blocks.text(block));
                        read += block.byte_length();
                    }
                    None => {}
                }
            }
            format
        })
    }
}

/// Whether a word goes on at a place in a text: at the 3 of "USB3" and of "USB-3", but not of "v3" and "x3".
fn is_within_word(text: &str, place: usize) -> bool {
    let joins = |sign: char| sign.is_alphabetic() && is_of_word(sign);
    let mut before = text[..place].chars().rev();
    match (before.next(), before.next()) {
        (Some('v' | 'V' | 'x' | 'X'), other) => other.is_some_and(joins),
        (Some('-'), Some(sign)) => joins(sign),
        (Some(sign), _) => joins(sign),
        (None, _) => false,
    }
}

/// The numbers of a price are read as prices; so are those of a part that has no name.
fn kind_of(subject: &Subject) -> AmountKind {
    let is_price = subject.name.is_empty() || names_price(&subject.name);
    if is_price { AmountKind::Price } else { AmountKind::Any }
}

#[cfg(test)]
#[path = "seen_blocks_tests.rs"]
mod cases;

#[cfg(test)]
mod tests {
    use super::*;
    use document::Body;
    use document::select::{PartUse, Selection};

    fn sight(trigger: &str, watch: &[&str], html: &str) -> Sight {
        let mut selection = Selection::default();
        watch.iter().for_each(|part| selection.add(PartUse::Watch, part).unwrap());
        let blocks = Body::new(html.as_bytes(), Some("text/html"), None).with_selection(&selection).blocks();
        SeenBlocks::new(&blocks).reading(&Trigger::parse(trigger).unwrap()).sight
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
    fn a_number_within_a_word_is_none() {
        let check = |trigger, watch: &[&str], html: &str, expected: Option<f64>| {
            let expected = expected.map_or(Sight::Nothing, Sight::Number);
            assert_eq!(sight(trigger, watch, html), expected, "{html}");
        };
        check("seats below 1", &[], "<p>Seats in hall B2: 7", Some(7.0));
        check("seats below 1", &[], "<p>Seats beside Ä1-COVID-19, hall É2", None);
        check("price below 1", &[], "<p>Price of the USB3 hub: 19", Some(19.0));
        check("price below 1", &[], "<p>Price12,90 € for two", Some(12.9));
        check("price below 1", &[], "<p>Preis EUR12", Some(12.0));
        check("version above 1", &[], "<p>Version v3 of the mp4 player", Some(3.0));
        check("version above 1", &[], "<p>Version of the mp4 player", None);
        check("points above 1", &[], "<p>Points 残り5点", Some(5.0));
        check("below 1", &["b"], "<p><b>USB3 hub 19</b>", Some(19.0));
        check("below 1", &["b"], "<p><b><i>Seats</i><i>12</i></b>", Some(12.0));
    }

    #[test]
    fn a_word_for_a_price_is_a_word_of_the_name() {
        let check = |name: &str, expected| assert_eq!(kind_of(&Subject::new(name)), expected, "{name}");
        for name in
            ["price", "Prices of lamps", "Endpreis", "fact: price", "entrance fee", "fares", "totalpris", "販売価格"]
        {
            check(name, AmountKind::Price);
        }
        for name in ["coffee", "costumes", "enterprise", "welfare", "feel", "seats"] {
            check(name, AmountKind::Any);
        }
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
