//! Reads the values of facts, watched parts and triggers' numbers on one version of a page.

use crate::seen::SeenBlock;
use crate::seen_blocks::SeenBlocks;
use crate::sight::{Reading, Sight};
use crate::value::UnitValue;
use document::blocks::{FactOwner, StatedValue};
use document::numbers::{Amount, AmountKind, unit_name};
use document::select::FactPart;

impl SeenBlocks<'_> {
    /// The value of a fact of the thing that is meant. `None` if nothing states it, or it has several values.
    pub(crate) fn fact(&self, part: &FactPart) -> Option<UnitValue> {
        if part.has_property("price") {
            let Reading { sight, unit } = self.of_facts(part)?;
            return match sight {
                Sight::Number(value) | Sight::Range { low: value, .. } => Some(UnitValue::number(value, unit)),
                Sight::Nothing | Sight::Words(_) | Sight::Unclear | Sight::Several => None,
            };
        }
        let is_meant = |stated: &&StatedValue| match part.item() {
            Some((key, name)) => self.blocks.is_about(stated, key, name),
            None => matches!(self.blocks.owner(stated), FactOwner::Main | FactOwner::Chosen),
        };
        let stated = self.seen.iter().filter_map(|block| block.stated);
        let stated: Vec<&StatedValue> =
            stated.filter(|stated| part.has_property(stated.property())).filter(is_meant).collect();
        let first = stated.iter().map(|stated| self.blocks.source_rank(stated)).min()?;
        let mut texts = stated
            .iter()
            .filter(|stated| self.blocks.source_rank(stated) == first)
            .map(|stated| self.stated_text(stated));
        let text = texts.next()?;
        if texts.all(|other| other == text) { UnitValue::text(text) } else { None }
    }

    /// The value of the only place that a part selects. `None` if it selects none or several.
    pub(crate) fn part(&self, number: usize) -> Option<UnitValue> {
        let is_of_part =
            |block: &&SeenBlock<'_>| block.block.watch_part.is_some_and(|part| usize::from(part) == number);
        let mut selected = self.seen.iter().filter(is_of_part).filter(|block| !block.text.trim().is_empty());
        let block = selected.next().filter(|_| selected.next().is_none())?;
        let data = block.data();
        if let Some(amount) = data.and_then(|stated| self.stated_amount(stated, AmountKind::Price)) {
            let unit = data.and_then(|stated| self.blocks.unit_of(stated)).or(amount.unit);
            return Some(UnitValue::number(amount.low, unit.map(unit_name)));
        }
        let text = block.prose().trim();
        match &self.amounts(text, AmountKind::Price)[..] {
            [amount] if amount.has_currency || is_bare(text, amount) => {
                Some(UnitValue::number(amount.low, amount.unit.map(unit_name)))
            }
            _ => UnitValue::text(text),
        }
    }

    fn stated_text(&self, stated: &StatedValue) -> &str {
        self.blocks.all_text()[stated.place.clone()].trim()
    }
}

/// Whether a text has no word beside its number.
fn is_bare(text: &str, amount: &Amount) -> bool {
    let beside = [&text[..amount.place.start], &text[amount.place.end..]];
    beside.iter().all(|text| !text.contains(char::is_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{MAX_VALUE_BYTES, Value};
    use document::Body;
    use document::select::{PartUse, Selection};

    fn part(selector: &str, html: &str) -> Option<(Value, Option<String>)> {
        let mut selection = Selection::default();
        [selector, "#other"].iter().for_each(|part| selection.add(PartUse::Watch, part).unwrap());
        let blocks = Body::new(html.as_bytes(), Some("text/html"), None).with_selection(&selection).blocks();
        SeenBlocks::new(&blocks).part(0).map(|found| (found.value, found.unit))
    }

    fn number(value: f64, unit: &str) -> Option<(Value, Option<String>)> {
        Some((Value::Number(value), Some(unit.to_owned()).filter(|unit| !unit.is_empty())))
    }

    fn text(text: &str) -> Option<(Value, Option<String>)> {
        Some((Value::Text(text.to_owned()), None))
    }

    #[test]
    fn a_part_with_one_number_is_a_number_with_its_unit() {
        assert_eq!(part(".p", "<p>Now <b class=p>1.299,50 €</b> <b id=other>7"), number(1299.5, "EUR"));
        assert_eq!(part(".p", "<p><b class=p>$19.99</b>"), number(19.99, "$"));
        assert_eq!(part(".p", "<p><b class=p>12 %</b>"), number(12.0, "%"));
        assert_eq!(part(".p", "<p><b class=p>12€99</b>"), number(12.99, "EUR"));
        assert_eq!(part(".p", "<p><b class=p>99p</b>"), number(0.99, "GBP"));
        assert_eq!(part(".p", "<p><b class=p>(41)</b>"), number(41.0, ""));
        assert_eq!(part(".p", "<p><b class=p>Only 3 left</b>"), text("Only 3 left"));
        assert_eq!(part(".p", "<p><b class=p>Sold out</b>"), text("Sold out"));
    }

    #[test]
    fn a_part_in_several_places_or_none_has_no_value() {
        assert_eq!(part(".p", "<p><b class=p>1 €</b> and <b class=p>2 €</b>"), None);
        assert_eq!(part(".p", "<p><b id=other>2 €</b>"), None);
        assert_eq!(part(".p", "<p><b class=p></b>"), None);
    }

    #[test]
    fn a_text_is_cut() {
        let long = "ab ".repeat(200);
        let Some((Value::Text(text), None)) = part(".p", &format!("<p><b class=p>{long}</b>")) else {
            panic!("no text")
        };
        assert!(text.len() <= MAX_VALUE_BYTES && !text.is_empty());
    }
}
