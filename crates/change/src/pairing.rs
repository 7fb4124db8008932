//! Pairs the units that went with those that came, so that an edited unit is reported once, with its text before and after.

use crate::token_hashes::{Scratch, token_hashes};
use crate::unit_texts::{ShownUnit, TextKind};
use std::collections::BTreeMap;

/// The most units of each side that are paired by their words.
const MAX_COMPARED: usize = 64;
/// Two texts with at least this share of words in common are versions of each other.
const MIN_COMMON: f64 = 0.4;

/// The longest text that is taken for the value of a row.
const MAX_VALUE_BYTES: usize = 80;

/// A unit before and after. One of them is `None` if it came or went.
pub(crate) type UnitPair<'a> = (Option<ShownUnit<'a>>, Option<ShownUnit<'a>>);

/// Pairs units: the only ones of a row first, then in the same slot, then by the words in common. Both sides and the
/// pairs are in page order.
pub(crate) fn paired<'a>(before: &[ShownUnit<'a>], after: &[ShownUnit<'a>]) -> Vec<UnitPair<'a>> {
    let (partners, taken) = (vec![None; before.len()], vec![false; after.len()]);
    let mut pairing = Pairing { before, after, partners, taken };
    pairing.by_row();
    pairing.by_slot();
    pairing.by_words();
    pairing.pairs()
}

struct Pairing<'u, 'a> {
    before: &'u [ShownUnit<'a>],
    after: &'u [ShownUnit<'a>],
    /// For each unit that went, the unit that replaced it.
    partners: Vec<Option<usize>>,
    /// For each unit that came, whether it has a partner.
    taken: Vec<bool>,
}

impl<'a> Pairing<'_, 'a> {
    /// Pairs the first units of a slot, then the second, and so on.
    fn by_slot(&mut self) {
        let group = |unit: &ShownUnit<'_>| (unit.key.slot(), unit.key.is_link());
        let by_group = |units: &[ShownUnit<'_>], is_free: &dyn Fn(usize) -> bool| {
            let mut order: Vec<usize> = (0..units.len()).filter(|index| is_free(*index)).collect();
            order.sort_by_key(|index| group(&units[*index]));
            order
        };
        let mut came = by_group(self.after, &|index| !self.taken[index]).into_iter().peekable();
        for index in by_group(self.before, &|index| self.partners[index].is_none()) {
            let wanted = group(&self.before[index]);
            while came.next_if(|other| group(&self.after[*other]) < wanted).is_some() {}
            if let Some(other) = came.next_if(|other| group(&self.after[*other]) == wanted) {
                self.pair(index, other);
            }
        }
    }

    /// Pairs short texts of which one went and one came in a row.
    fn by_row(&mut self) {
        let mut alone: BTreeMap<&str, [(usize, usize); 2]> = BTreeMap::new();
        for (side, units) in [self.before, self.after].into_iter().enumerate() {
            for (index, unit) in units.iter().enumerate().filter(|(_, unit)| is_value(unit)) {
                let (count, last) = &mut alone.entry(unit.place).or_default()[side];
                (*count, *last) = (*count + 1, index);
            }
        }
        for [went, came] in alone.into_values().filter(|[went, came]| went.0 == 1 && came.0 == 1) {
            self.pair(went.1, came.1);
        }
    }

    /// Pairs each of the remaining units with the one that has the most words in common.
    fn by_words(&mut self) {
        let mut scratch = Scratch::default();
        let mut words_after: Vec<Option<Vec<u32>>> = vec![None; self.after.len()];
        let alone = (0..self.before.len()).filter(|index| self.partners[*index].is_none());
        for index in alone.take(MAX_COMPARED).collect::<Vec<_>>() {
            let unit = &self.before[index];
            let words_before = words(unit, &mut scratch);
            let mut best = (0.0, None);
            let is_free = |other: &usize| !self.taken[*other] && self.after[*other].key.is_link() == unit.key.is_link();
            for other in (0..self.after.len()).filter(is_free).take(MAX_COMPARED) {
                let candidate = &self.after[other];
                let words_after = words_after[other].get_or_insert_with(|| words(candidate, &mut scratch));
                let common = match unit.key.is_link() {
                    true => f64::from(u8::from(unit.place == candidate.place)),
                    false => in_common(&words_before, words_after),
                };
                if common >= MIN_COMMON && common > best.0 {
                    best = (common, Some(other));
                }
            }
            if let (_, Some(other)) = best {
                self.pair(index, other);
            }
        }
    }

    fn pair(&mut self, before: usize, after: usize) {
        self.partners[before] = Some(after);
        self.taken[after] = true;
    }

    fn pairs(self) -> Vec<UnitPair<'a>> {
        let went = self.before.iter().zip(&self.partners);
        let mut pairs: Vec<UnitPair<'a>> =
            went.map(|(unit, partner)| (Some(*unit), partner.map(|index| self.after[index]))).collect();
        let came = self.after.iter().zip(&self.taken).filter(|(_, taken)| !**taken);
        pairs.extend(came.map(|(unit, _)| (None, Some(*unit))));
        pairs.sort_by_key(|(before, after)| after.or(*before).map(|unit| unit.block));
        pairs
    }
}

/// Whether a unit may be the value of a row.
fn is_value(unit: &ShownUnit<'_>) -> bool {
    unit.kind == TextKind::Cell && unit.text.len() <= MAX_VALUE_BYTES
}

/// Hashes of the words of a text in lower case, ascending: pairs of characters where a script has no spaces. A link has
/// none, because it is paired by its text.
fn words(unit: &ShownUnit<'_>, scratch: &mut Scratch) -> Vec<u32> {
    let mut hashes = Vec::new();
    if !unit.key.is_link() {
        token_hashes(&unit.text.to_lowercase(), scratch, &mut hashes);
    }
    hashes.sort_unstable();
    hashes
}

/// 2 |A ∩ B| / (|A| + |B|) of two ascending lists.
fn in_common(one: &[u32], other: &[u32]) -> f64 {
    let (mut common, mut rest) = (0_u32, other);
    for word in one {
        while rest.first().is_some_and(|theirs| theirs < word) {
            rest = &rest[1..];
        }
        if rest.first() == Some(word) {
            (common, rest) = (common + 1, &rest[1..]);
        }
    }
    2.0 * f64::from(common) / (one.len() + other.len()).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::UnitKey;

    /// A unit in a slot. The block is its place on the page.
    fn unit<'a>(block: u32, slot: u64, text: &'a str) -> ShownUnit<'a> {
        ShownUnit { key: UnitKey(slot << 3 | 1), block, text, kind: TextKind::Words, place: "", section: "" }
    }

    fn link<'a>(block: u32, slot: u64, text: &'a str, place: &'a str) -> ShownUnit<'a> {
        ShownUnit { key: UnitKey(slot << 3 | 1 << 2 | 1), block, text, kind: TextKind::Reference, place, section: "" }
    }

    fn texts<'a>(before: &[ShownUnit<'a>], after: &[ShownUnit<'a>]) -> Vec<(&'a str, &'a str)> {
        let text = |unit: Option<ShownUnit<'a>>| unit.map_or("", |unit| unit.text);
        paired(before, after).into_iter().map(|(before, after)| (text(before), text(after))).collect()
    }

    #[test]
    fn units_are_paired_in_their_slots_whatever_they_say() {
        let before = [unit(0, 7, "red"), unit(1, 7, "green"), unit(2, 8, "gone")];
        let after = [link(0, 7, "/a", ""), unit(1, 7, "one"), unit(2, 7, "two"), unit(3, 7, "three")];
        assert_eq!(texts(&before, &after), [("", "/a"), ("red", "one"), ("green", "two"), ("gone", ""), ("", "three")]);
    }

    #[test]
    fn the_value_of_a_row_is_paired_with_the_one_before() {
        let value = |block, slot, text, place| ShownUnit { place, kind: TextKind::Cell, ..unit(block, slot, text) };
        let before = [value(0, 1, "sold out", "Tin lamp"), value(1, 2, "14 euro", "Paper lamp")];
        let after = [value(0, 3, "14 euro", "Tin lamp"), value(1, 4, "sold out", "Paper lamp")];
        assert_eq!(texts(&before, &after), [("sold out", "14 euro"), ("14 euro", "sold out")]);
    }

    #[test]
    fn units_that_moved_are_paired_by_their_words_in_any_script() {
        let before = [unit(0, 1, "本店九点开始营业"), unit(1, 2, "明天有雨和风"), unit(2, 3, "We open at nine")];
        let after = [unit(0, 4, "we OPEN at ten"), unit(1, 5, "明天有雪和风"), unit(2, 6, "本店十点开始营业")];
        let pairs = [(2, 0), (1, 1), (0, 2)].map(|(one, other)| (before[one].text, after[other].text));
        assert_eq!(texts(&before, &after), pairs);
        let before = [link(0, 1, "/old", "the map"), link(1, 2, "/gone", "the shop")];
        assert_eq!(texts(&before, &[link(0, 3, "/new", "the map")]), [("/old", "/new"), ("/gone", "")]);
    }

    fn common(one: &str, other: &str) -> f64 {
        let words = |text: &str| {
            let mut hashes = Vec::new();
            token_hashes(&text.to_lowercase(), &mut Scratch::default(), &mut hashes);
            hashes.sort_unstable();
            hashes
        };
        in_common(&words(one), &words(other))
    }

    #[test]
    fn words_in_common_are_counted_in_any_script() {
        assert_eq!(common("Open from nine to five", "open from Nine to six."), 0.8);
        assert_eq!(common("a a b", "a b b"), 2.0 / 3.0);
        assert_eq!(common("", ""), 0.0);
        assert_eq!(common("one two", "three four"), 0.0);
        // One character of eight is another: two of seven pairs differ.
        assert_eq!(common("本店九点开始营业", "本店十点开始营业"), 5.0 / 7.0);
        assert!(common("ร้านเปิดเก้าโมงเช้า", "ร้านเปิดสิบโมงเช้า") > MIN_COMMON);
        assert!(common("本店九点开始营业", "天气预报说明天有雨") < MIN_COMMON);
    }
}
