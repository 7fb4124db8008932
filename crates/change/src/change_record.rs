//! A change in words: the units that counted, before and after, cut around the difference. The same for `diff`,
//! `changes` and the change stream.

use crate::pairing::{UnitPair, paired};
use crate::reflow::Reflow;
use crate::reported_facts;
use crate::unit_texts::{ShownUnit, TextKind, UnitTexts};
use crate::version::UnitKey;
use document::prefix;
use page::UrlRules;
use serde::Serialize;
use std::collections::BTreeMap;

/// The most units listed of one change.
pub const MAX_CHANGED_UNITS: usize = 64;
/// A text up to this length is given whole.
const WHOLE_BYTES: usize = 200;
/// The bytes given before and after the difference in a longer text.
const CONTEXT_BYTES: usize = 60;
/// The most bytes given of the difference itself.
const MAX_DIFFERENCE_BYTES: usize = 400;
const CUT: &str = "…";

/// A change in words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ChangeRecord {
    /// The units that counted, in page order.
    pub changes: Vec<ChangedUnit>,
    /// Their new texts, without links.
    pub added: Vec<String>,
    /// Their old texts, without links.
    pub removed: Vec<String>,
    /// Targets of links that came.
    pub links_added: Vec<String>,
    /// Targets of links that went.
    pub links_removed: Vec<String>,
    /// Units that differ and were passed over: noise, the frame, teasers in turn.
    pub passed_over: usize,
    /// Units that counted and are not listed, for their number or length.
    pub left_out: usize,
}

/// One unit that changed: a text, or the target of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedUnit {
    /// The text or target before the change. `None`: the unit is new.
    pub before: Option<String>,
    /// The text or target after the change. `None`: the unit is gone.
    pub after: Option<String>,
    /// Where it is: its row, the text that the link is in, or the heading above. Empty if nothing says so.
    #[serde(rename = "where")]
    pub place: String,
}

impl ChangeRecord {
    /// Describes a change by the units that counted. The rules say which addresses are one page. `reflow` may hold
    /// the comparison of the two versions' texts.
    pub(crate) fn of(
        (old, removed): (&UnitTexts, &[UnitKey]),
        (new, added): (&UnitTexts, &[UnitKey]),
        (passed_over, urls): (usize, &UrlRules),
        reflow: &mut Option<Reflow>,
    ) -> Self {
        let targets = [link_targets(old, removed, urls), link_targets(new, added, urls)];
        let (mut before, mut after) = (shown(old, removed, &targets[0]), shown(new, added, &targets[1]));
        if !removed.is_empty() && !added.is_empty() {
            let reflow = reflow.get_or_insert_with(|| Reflow::between(old, new));
            before.iter_mut().for_each(|unit| unit.text = reflow.old_side().part(unit.key, unit.text));
            after.iter_mut().for_each(|unit| unit.text = reflow.new_side().part(unit.key, unit.text));
        }
        let mut record = Self { passed_over, ..Self::default() };
        record.left_out = removed.len() + added.len() - before.len() - after.len();
        let mut pairs = paired(&before, &after);
        // A cell whose row has another name is the same cell; say so only if there is nothing else to say.
        // One that stands under another heading has the same name.
        let is_same = |pair: &UnitPair<'_>| matches!(pair, (Some(one), Some(other)) if one.text == other.text && one.key.name() != other.key.name());
        if !pairs.iter().all(is_same) {
            pairs.retain(|pair| !is_same(pair));
        }
        reported_facts::leave_out(&mut pairs);
        for (before, after) in pairs {
            if record.changes.len() == MAX_CHANGED_UNITS {
                record.left_out += 1;
                continue;
            }
            record.add(before, after);
        }
        record
    }

    /// The record with at most this many entries in each list. What is dropped is counted.
    pub fn with_at_most(mut self, entries: usize) -> Self {
        self.left_out += self.changes.len().saturating_sub(entries);
        self.changes.truncate(entries);
        for list in [&mut self.added, &mut self.removed, &mut self.links_added, &mut self.links_removed] {
            list.truncate(entries);
        }
        self
    }

    fn add(&mut self, before: Option<ShownUnit<'_>>, after: Option<ShownUnit<'_>>) {
        let Some(unit) = after.or(before) else { return };
        let place = match (before, after) {
            (Some(old), Some(new)) if old.text == new.text && old.section != new.section => {
                format!("{} → {}", old.section, new.section)
            }
            (Some(old), Some(new)) if old.text == new.text && old.place != new.place && !new.key.is_link() => {
                format!("{} → {}", old.place, new.place)
            }
            _ => unit.place.to_owned(),
        };
        let (before, after) = match (before, after) {
            (Some(before), Some(after)) => {
                let (before, after) = around_difference(before.text, after.text);
                (Some(before), Some(after))
            }
            (before, after) => (before.map(|unit| shortened(unit.text)), after.map(|unit| shortened(unit.text))),
        };
        let (came, went) = match unit.key.is_link() {
            true => (&mut self.links_added, &mut self.links_removed),
            false => (&mut self.added, &mut self.removed),
        };
        for (list, text) in [(went, &before), (came, &after)] {
            list.extend(text.iter().filter(|text| !list.contains(text)).cloned().collect::<Vec<_>>());
        }
        self.changes.push(ChangedUnit { before, after, place });
    }
}

/// The targets of the links among these units, by name.
fn link_targets(texts: &UnitTexts, keys: &[UnitKey], urls: &UrlRules) -> BTreeMap<u64, String> {
    let base = texts.link_base(urls);
    let found = keys.iter().filter_map(|key| texts.find(key.name()));
    let links = found.filter(|unit| unit.kind == TextKind::Reference);
    links.filter_map(|unit| Some((unit.key.name(), base.target(unit.text)?))).collect()
}

/// The units in page order, links with their targets.
fn shown<'a>(texts: &'a UnitTexts, keys: &[UnitKey], targets: &'a BTreeMap<u64, String>) -> Vec<ShownUnit<'a>> {
    let resolved = |unit: ShownUnit<'a>| match targets.get(&unit.key.name()) {
        Some(target) => ShownUnit { text: target, ..unit },
        None => unit,
    };
    let mut units: Vec<ShownUnit<'a>> = keys.iter().filter_map(|key| texts.find(key.name())).map(resolved).collect();
    units.sort_by_key(|unit| (unit.block, unit.key.is_link()));
    units
}

/// Two texts, cut around what differs.
fn around_difference(before: &str, after: &str) -> (String, String) {
    let same_start = before.char_indices().zip(after.chars()).find(|((_, one), other)| one != other);
    let start = same_start.map_or(before.len().min(after.len()), |((at, _), _)| at);
    let same_end: usize = before[start..]
        .chars()
        .rev()
        .zip(after[start..].chars().rev())
        .take_while(|(one, other)| one == other)
        .map(|(character, _)| character.len_utf8())
        .sum();
    (cut(before, start, before.len() - same_end), cut(after, start, after.len() - same_end))
}

/// A text around the bytes from `start` to `end`.
fn cut(text: &str, start: usize, end: usize) -> String {
    if text.len() <= WHOLE_BYTES {
        return text.to_owned();
    }
    let from = words_before(text, start.saturating_sub(CONTEXT_BYTES), start);
    let shown_end = end.min(start + MAX_DIFFERENCE_BYTES);
    let to = words_after(text, shown_end, (shown_end + CONTEXT_BYTES).min(text.len()));
    let sign = |is_cut: bool| if is_cut { CUT } else { "" };
    format!("{}{}{}", sign(from > 0), &text[from..to], sign(to < text.len()))
}

/// The start of the first word that begins between two positions; the first position if none does.
fn words_before(text: &str, from: usize, limit: usize) -> usize {
    let from = text.floor_char_boundary(from);
    match text[from..limit.max(from)].find(' ') {
        Some(space) if from > 0 => from + space + 1,
        _ => from,
    }
}

/// The end of the last word that ends between two positions; the second position if none does.
fn words_after(text: &str, from: usize, to: usize) -> usize {
    let (from, to) = (text.floor_char_boundary(from), text.floor_char_boundary(to));
    match text[from..to].rfind(' ') {
        Some(space) if to < text.len() => from + space,
        _ => to,
    }
}

fn shortened(text: &str) -> String {
    let shown = prefix(text, MAX_DIFFERENCE_BYTES);
    if shown.len() < text.len() { format!("{shown}{CUT}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_long_text_is_cut_around_what_differs() {
        let long = "Whoever orders before noon gets it the same day. ".repeat(20);
        let (before, after) = (format!("{long}It costs 5 euros. {long}"), format!("{long}It costs 7 euros. {long}"));
        let (before, after) = around_difference(&before, &after);
        assert_eq!(
            before,
            "…Whoever orders before noon gets it the same day. It costs 5 euros. Whoever orders before noon gets it the same \
             day.…"
        );
        assert_eq!(after, before.replace('5', "7"));
    }

    proptest! {
        #[test]
        fn any_difference_is_shown(start in "[aé ]{0,300}", one in "[bß ]{1,9}", other in "[cç ]{1,9}", end in "[aé ]{0,300}") {
            let (before, after) = around_difference(&format!("{start}{one}{end}"), &format!("{start}{other}{end}"));
            prop_assert!(before != after || one == other);
        }
    }
}
