//! A change in words: the units that counted, before and after, cut around the difference. The same for `diff`,
//! `changes` and the change stream.

use crate::told_facts;
use crate::unit_texts::{ShownUnit, UnitPair, UnitTexts};
use crate::version::UnitKey;
use document::prefix;
use serde::Serialize;

/// The most units listed of one change.
pub const MAX_CHANGED_UNITS: usize = 64;
/// A text up to this length is given whole.
const WHOLE_BYTES: usize = 200;
/// The bytes given before and after the difference in a longer text.
const CONTEXT_BYTES: usize = 60;
/// The most bytes given of the difference itself.
const MAX_DIFFERENCE_BYTES: usize = 400;
/// The most units of each side that are paired by their words.
const MAX_COMPARED: usize = 64;
/// The share of words in common from which one text is another version of the other.
const MIN_COMMON: f64 = 0.4;
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
    /// What it was. `None`: it is new.
    pub before: Option<String>,
    /// What it is. `None`: it is gone.
    pub after: Option<String>,
    /// Where it is: its row, the words of the link, or the heading above. Empty if nothing says so.
    #[serde(rename = "where")]
    pub place: String,
}

impl ChangeRecord {
    /// Describes a change by the units that counted.
    pub(crate) fn of(
        (old, removed): (&UnitTexts, &[UnitKey]),
        (new, added): (&UnitTexts, &[UnitKey]),
        passed_over: usize,
    ) -> Self {
        let before = shown(old, removed);
        let after = shown(new, added);
        let mut record = Self { passed_over, ..Self::default() };
        record.left_out = removed.len() + added.len() - before.len() - after.len();
        let mut pairs = paired(before, after);
        // A cell whose row has another name is the same cell; say so only if there is nothing else to say.
        let is_same = |pair: &UnitPair<'_>| matches!(pair, (Some(one), Some(other)) if one.text == other.text);
        if !pairs.iter().all(is_same) {
            pairs.retain(|pair| !is_same(pair));
        }
        told_facts::leave_out(&mut pairs);
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
        self.changes.push(ChangedUnit { before, after, place: unit.place.to_owned() });
    }
}

/// The units in page order.
fn shown<'a>(texts: &'a UnitTexts, keys: &[UnitKey]) -> Vec<ShownUnit<'a>> {
    let mut units: Vec<ShownUnit<'a>> = keys.iter().filter_map(|key| texts.find(key.name())).collect();
    units.sort_by_key(|unit| (unit.block, unit.key.is_link()));
    units
}

/// Pairs what went with what came: in the same place first, then by the words in common.
fn paired<'a>(before: Vec<ShownUnit<'a>>, after: Vec<ShownUnit<'a>>) -> Vec<UnitPair<'a>> {
    let mut partners: Vec<Option<usize>> = vec![None; before.len()];
    let mut taken = vec![false; after.len()];
    let mut by_slot: Vec<usize> = (0..after.len()).collect();
    by_slot.sort_by_key(|index| (after[*index].key.slot(), *index));
    for (index, unit) in before.iter().enumerate() {
        let first = by_slot.partition_point(|index| after[*index].key.slot() < unit.key.slot());
        let candidates = by_slot[first..].iter().take_while(|index| after[**index].key.slot() == unit.key.slot());
        let mut free = candidates.filter(|index| !taken[**index] && after[**index].key.is_link() == unit.key.is_link());
        if let Some(&partner) = free.next() {
            partners[index] = Some(partner);
            taken[partner] = true;
        }
    }
    for index in (0..before.len()).filter(|index| partners[*index].is_none()).take(MAX_COMPARED).collect::<Vec<_>>() {
        let unit = &before[index];
        let free = (0..after.len()).filter(|other| !taken[*other] && after[*other].key.is_link() == unit.key.is_link());
        let common = |other: usize| match unit.key.is_link() {
            true => f64::from(u8::from(unit.place == after[other].place)),
            false => words_in_common(unit.text, after[other].text),
        };
        let best = free.take(MAX_COMPARED).map(|other| (common(other), other)).max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, other)) = best.filter(|(common, _)| *common >= MIN_COMMON) {
            partners[index] = Some(other);
            taken[other] = true;
        }
    }
    let mut pairs: Vec<UnitPair<'a>> =
        before.iter().zip(&partners).map(|(unit, partner)| (Some(*unit), partner.map(|index| after[index]))).collect();
    pairs.extend(after.iter().zip(&taken).filter(|(_, taken)| !**taken).map(|(unit, _)| (None, Some(*unit))));
    pairs.sort_by_key(|(before, after)| after.or(*before).map(|unit| unit.block));
    pairs
}

/// 2 |A ∩ B| / (|A| + |B|) of the words of two texts.
fn words_in_common(one: &str, other: &str) -> f64 {
    let sorted = |text: &str| {
        let mut words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        words.sort_unstable();
        words
    };
    let (one, other) = (sorted(one), sorted(other));
    let (mut common, mut at) = (0, 0);
    for word in &one {
        at += other[at..].partition_point(|theirs| theirs < word);
        if other.get(at) == Some(word) {
            (common, at) = (common + 1, at + 1);
        }
    }
    2.0 * f64::from(common) / (one.len() + other.len()).max(1) as f64
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
        .map(|(letter, _)| letter.len_utf8())
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
