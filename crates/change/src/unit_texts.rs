//! The texts of a version's units, by which a change of them is reported.

use crate::spread_sort::sorted_evenly_spread;
use crate::state_codec::{StateDecodeError, put_number, take_bytes, take_number, take_text};
use crate::targets::LinkBase;
use crate::version::UnitKey;
use document::prefix;
use page::UrlRules;

/// The most text kept of one version, and of one unit. A change of the text behind is reported without its old words.
const MAX_TEXT_BYTES: usize = 256 * 1024;
pub(crate) const MAX_UNIT_BYTES: usize = 16 * 1024;
/// The most kept of the words that say where a unit is.
const MAX_PLACE_BYTES: usize = 120;

/// The place under which a fact is reported.
pub(crate) const STRUCTURED_DATA: &str = "structured data";

/// The texts of the units outside the frame, in page order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct UnitTexts {
    /// The addresses of [`LinkBase::addresses`]. Links are kept as written, which is shorter, and resolved when they are
    /// reported.
    link_base: [String; 2],
    text: String,
    units: Vec<KeptUnit>,
    /// Name and index of each unit, sorted.
    by_name: Vec<(u64, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct KeptUnit {
    key: UnitKey,
    /// The number of its block.
    block: u32,
    kind: TextKind,
    /// Where its text and the words of its place are. Units share their place, or have the text of another as place.
    text: Span,
    place: Span,
    /// The number of the unit that is its heading, from 1; 0 for none.
    section: u32,
}

/// How a unit's text is reported and paired. Its number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// A text as the page shows it, or the address of an image.
    Words,
    /// The target of a link, which is resolved before it is reported.
    Reference,
    /// A value in a row that another text names: "Sold out" beside "Tin lamp". Its row says which value it replaced.
    Cell,
}

impl TextKind {
    const ALL: [Self; 3] = [Self::Words, Self::Reference, Self::Cell];
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Span {
    start: u32,
    end: u32,
}

/// One unit as it was or is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShownUnit<'a> {
    pub(crate) key: UnitKey,
    pub(crate) block: u32,
    /// The text, or the target of a link, as written.
    pub(crate) text: &'a str,
    pub(crate) kind: TextKind,
    /// The row, the heading above, or the text that a link is in.
    pub(crate) place: &'a str,
    /// The heading of the section that it is in.
    pub(crate) section: &'a str,
}

/// How the bytes give the place of a unit: the place of the unit before, the text of the last unit that is no link, or
/// words, whose length is added to the number.
const PLACE_AS_BEFORE: u64 = 0;
const PLACE_IS_LAST_TEXT: u64 = 1;
const PLACE_IN_WORDS: u64 = 2;

/// The spans that the place of the next unit may share.
#[derive(Clone, Copy, Debug, Default)]
struct SharedPlaces {
    /// The text of the last unit that is no link.
    text: Span,
    /// The place of the last unit.
    place: Span,
}

impl SharedPlaces {
    fn pass(&mut self, unit: &KeptUnit) {
        if !unit.key.is_link() {
            self.text = unit.text;
        }
        self.place = unit.place;
    }
}

/// Collects units in page order.
#[derive(Debug, Default)]
pub(crate) struct UnitTextsBuilder {
    texts: UnitTexts,
    last: SharedPlaces,
}

impl UnitTextsBuilder {
    /// No units yet, of a page whose links are resolved against these addresses, with room for some.
    pub(crate) fn with_room(base: &LinkBase<'_>, units: usize, bytes: usize) -> Self {
        let texts = UnitTexts {
            link_base: base.addresses().map(|address| address.unwrap_or_default().to_owned()),
            text: String::with_capacity(bytes.min(MAX_TEXT_BYTES)),
            units: Vec::with_capacity(units),
            by_name: Vec::new(),
        };
        Self { texts, ..Self::default() }
    }

    /// Adds a unit of a section, unless there is no room. Returns its number, from 1; 0 if it is not kept.
    pub(crate) fn push(
        &mut self,
        kind: TextKind,
        (key, block, section): (UnitKey, u32, u32),
        text: &str,
        place: &str,
    ) -> u32 {
        let (text, place) = (prefix(text, MAX_UNIT_BYTES), prefix(place, MAX_PLACE_BYTES));
        if self.texts.text.len() + text.len() + place.len() <= MAX_TEXT_BYTES {
            let text = self.texts.add(text);
            let place = match () {
                () if place == self.texts.words(self.last.place) => self.last.place,
                () if place == self.texts.words(self.last_text_as_place()) => self.last_text_as_place(),
                () => self.texts.add(place),
            };
            self.add(KeptUnit { key, block, kind, text, place, section });
            return self.texts.units.len() as u32;
        }
        0
    }

    fn last_text_as_place(&self) -> Span {
        let length = prefix(self.texts.words(self.last.text), MAX_PLACE_BYTES).len() as u32;
        Span { end: self.last.text.start + length, ..self.last.text }
    }

    fn add(&mut self, unit: KeptUnit) {
        self.last.pass(&unit);
        self.texts.units.push(unit);
    }

    /// The units, indexed by name.
    pub(crate) fn finish(self) -> UnitTexts {
        let names = self.texts.units.iter().map(|unit| unit.key.name()).zip(0..).collect();
        let by_name = sorted_evenly_spread(names, |(name, _)| name << UnitKey::NAME_SHIFT);
        self.finish_with(by_name)
    }

    /// The units, with the name and index of each, sorted.
    pub(crate) fn finish_with(self, by_name: Vec<(u64, u32)>) -> UnitTexts {
        UnitTexts { by_name, ..self.texts }
    }
}

impl UnitTexts {
    fn add(&mut self, text: &str) -> Span {
        let start = self.text.len() as u32;
        self.text.push_str(text);
        Span { start, end: self.text.len() as u32 }
    }

    fn words(&self, span: Span) -> &str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// The units in page order, with the numbers of their blocks. The texts of a block come before its links.
    pub(crate) fn places(&self) -> impl Iterator<Item = (UnitKey, u32)> {
        self.units.iter().map(|unit| (unit.key, unit.block))
    }

    /// Whether some unit stands under another heading in the other version.
    pub(crate) fn any_under_other_heading(&self, other: &Self) -> bool {
        let mut others = other.by_name.iter().peekable();
        self.by_name.iter().any(|(name, index)| {
            while others.next_if(|(other, _)| other < name).is_some() {}
            let same = others.next_if(|(other, _)| other == name);
            let headings = same.map(|(_, there)| (self.heading(*index), other.heading(*there)));
            matches!(headings, Some((Some(here), Some(there))) if here != there)
        })
    }

    /// The name of a unit's heading, by the unit's index.
    fn heading(&self, index: u32) -> Option<u64> {
        let heading = self.units[index as usize].section.checked_sub(1)?;
        Some(self.units[heading as usize].key.name())
    }

    /// The texts under a heading: their index and that of the heading, the heading's name, their key, and the text.
    pub(crate) fn in_sections(&self) -> impl Iterator<Item = (usize, usize, u64, UnitKey, &str)> {
        let units = self.units.iter().enumerate();
        let texts = units.filter(|(_, unit)| unit.section > 0 && !unit.key.is_link() && !unit.key.is_order());
        texts.map(|(index, unit)| {
            let heading = unit.section as usize - 1;
            (index, heading, self.units[heading].key.name(), unit.key, self.words(unit.text))
        })
    }

    /// For each unit, in page order, whether the other version has it, too.
    pub(crate) fn shared_with(&self, other: &Self) -> Vec<bool> {
        let mut shared = vec![false; self.units.len()];
        let mut others = other.by_name.iter().map(|(name, _)| *name).peekable();
        for (name, index) in &self.by_name {
            while others.next_if(|other| other < name).is_some() {}
            shared[*index as usize] = others.peek() == Some(name);
        }
        shared
    }

    /// The keys of the units, in order of their names.
    pub(crate) fn keys(&self) -> impl Iterator<Item = UnitKey> {
        self.by_name.iter().map(|(_, index)| self.units[*index as usize].key)
    }

    pub(crate) fn find(&self, name: u64) -> Option<ShownUnit<'_>> {
        let index = self.by_name.binary_search_by_key(&name, |(name, _)| *name).ok()?;
        let unit = &self.units[self.by_name[index].1 as usize];
        Some(ShownUnit {
            key: unit.key,
            block: unit.block,
            kind: unit.kind,
            text: self.words(unit.text),
            place: self.words(unit.place),
            section: match unit.section {
                0 => "",
                number => self.words(self.units[number as usize - 1].text),
            },
        })
    }

    /// Base addresses against which links of the page are resolved.
    pub(crate) fn link_base<'r>(&self, rules: &'r UrlRules) -> LinkBase<'r> {
        let [own, base] = self.link_base.each_ref().map(|address| Some(address.as_str()).filter(|it| !it.is_empty()));
        LinkBase::new(own, base, rules)
    }

    /// Appends the bytes: the two addresses of links, each with its length; the count of units; their keys as u64,
    /// little-endian; per unit four times the number of blocks it is behind the one before plus its kind, the length of its text, its place, and its heading if that is another than before, plus one, else 0; the
    /// length of all texts, and the texts. Numbers are variable in length.
    pub(crate) fn encode_into(&self, out: &mut Vec<u8>) {
        for address in &self.link_base {
            put_number(out, address.len() as u64);
            out.extend_from_slice(address.as_bytes());
        }
        put_number(out, self.units.len() as u64);
        self.units.iter().for_each(|unit| out.extend_from_slice(&unit.key.0.to_le_bytes()));
        let (mut last, mut last_block, mut last_section) = (SharedPlaces::default(), 0, 0);
        for unit in &self.units {
            put_number(out, u64::from(unit.block - last_block) << 2 | unit.kind as u64);
            put_number(out, u64::from(unit.text.end - unit.text.start));
            put_number(
                out,
                match () {
                    () if unit.place == last.place => PLACE_AS_BEFORE,
                    () if unit.place.start == last.text.start && unit.place.end <= last.text.end => PLACE_IS_LAST_TEXT,
                    () => PLACE_IN_WORDS + u64::from(unit.place.end - unit.place.start),
                },
            );
            put_number(out, if unit.section == last_section { 0 } else { u64::from(unit.section) + 1 });
            last.pass(unit);
            (last_block, last_section) = (unit.block, unit.section);
        }
        put_number(out, self.text.len() as u64);
        out.extend_from_slice(self.text.as_bytes());
    }

    /// Decodes the bytes written by [`encode_into`](Self::encode_into), and leaves the rest.
    pub(crate) fn decode(rest: &mut &[u8]) -> Result<Self, StateDecodeError> {
        let link_base = [take_text(rest)?, take_text(rest)?];
        let count = usize::try_from(take_number(rest)?).map_err(|_| StateDecodeError::BadLength)?;
        let keys = take_bytes(rest, count.checked_mul(8).ok_or(StateDecodeError::BadLength)?)?;
        let mut numbers = Vec::with_capacity(count);
        for _ in 0..count {
            numbers.push([take_number(rest)?, take_number(rest)?, take_number(rest)?, take_number(rest)?]);
        }
        let texts = Self { link_base, text: take_text(rest)?, ..Self::default() };
        let mut builder = UnitTextsBuilder { texts, ..UnitTextsBuilder::default() };
        let (mut block, mut at, mut section) = (0_u32, 0_u32, 0_u32);
        for (key, [blocks, text_length, place, heading]) in keys.as_chunks().0.iter().zip(numbers) {
            let kind = *TextKind::ALL.get(blocks as usize & 3).ok_or(StateDecodeError::BadLength)?;
            let blocks = u32::try_from(blocks >> 2).map_err(|_| StateDecodeError::BadLength)?;
            block = block.checked_add(blocks).ok_or(StateDecodeError::BadLength)?;
            let text = builder.texts.take_span(&mut at, text_length)?;
            let place = match place {
                PLACE_AS_BEFORE => builder.last.place,
                PLACE_IS_LAST_TEXT => builder.last_text_as_place(),
                length => builder.texts.take_span(&mut at, length - PLACE_IN_WORDS)?,
            };
            if heading > 0 {
                let is_known = heading <= builder.texts.units.len() as u64 + 1;
                section = if is_known { heading as u32 - 1 } else { return Err(StateDecodeError::BadLength) };
            }
            builder.add(KeptUnit { key: UnitKey(u64::from_le_bytes(*key)), block, kind, text, place, section });
        }
        if at as usize != builder.texts.text.len() {
            return Err(StateDecodeError::BadLength);
        }
        let texts = builder.finish();
        match texts.by_name.is_sorted_by(|one, other| one.0 < other.0) {
            true => Ok(texts),
            false => Err(StateDecodeError::NotAscending),
        }
    }

    /// The span of `length` bytes that starts at `at`. Advances `at` to its end.
    fn take_span(&self, at: &mut u32, length: u64) -> Result<Span, StateDecodeError> {
        let end = u64::from(*at).checked_add(length).filter(|end| *end <= self.text.len() as u64);
        let end = end.and_then(|end| u32::try_from(end).ok()).ok_or(StateDecodeError::BadLength)?;
        if !self.text.is_char_boundary(end as usize) {
            return Err(StateDecodeError::BadLength);
        }
        let start = std::mem::replace(at, end);
        Ok(Span { start, end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(name: u64, is_link: bool) -> UnitKey {
        UnitKey(name << 24 | u64::from(is_link) << 2 | 1)
    }

    #[test]
    fn places_that_repeat_take_a_byte() {
        let mut builder = UnitTextsBuilder::default();
        let heading = builder.push(TextKind::Words, (key(9, false), 0, 0), "Opening hours", "");
        builder.push(TextKind::Words, (key(2, false), 1, heading), "Monday", "Opening hours");
        builder.push(TextKind::Words, (key(5, false), 1, heading), "9 to 5", "Opening hours");
        builder.push(TextKind::Reference, (key(1, true), 1, heading), "https://a.test/", "9 to 5");
        let texts = builder.finish();
        let found = texts.find(1).unwrap();
        assert_eq!((found.text, found.place, found.block), ("https://a.test/", "9 to 5", 1));
        assert_eq!(texts.find(5).unwrap().place, "Opening hours");
        assert!(texts.find(3).is_none());
        assert_eq!(texts.text, "Opening hoursMonday9 to 5https://a.test/");
        let mut bytes = Vec::new();
        texts.encode_into(&mut bytes);
        assert_eq!(bytes.len(), 2 + 1 + 4 * (8 + 4) + 1 + texts.text.len());
        // The fourth kind, which there is not.
        bytes[2 + 1 + 4 * 8] |= 3;
        assert_eq!(UnitTexts::decode(&mut &bytes[..]), Err(StateDecodeError::BadLength));
    }

    proptest! {
        #[test]
        fn texts_survive_their_bytes(units in proptest::collection::vec(
            ("[aé]{0,3}", "[aé]{0,3}|x{130}", any::<bool>(), 0..3_u32), 0..20
        )) {
            let (mut builder, mut block) = (UnitTextsBuilder::default(), 0);
            for (number, (text, place, is_link, blocks)) in units.iter().enumerate() {
                block += blocks;
                // Names in another order than units.
                let kind = TextKind::ALL[number % 3];
                let section = number as u32 / 3;
                builder.push(kind, (key((number as u64 * 7_919) % 1_009, *is_link), block, section), text, place);
            }
            let texts = builder.finish();
            let mut bytes = Vec::new();
            texts.encode_into(&mut bytes);
            let mut rest = &bytes[..];
            let decoded = UnitTexts::decode(&mut rest).unwrap();
            prop_assert!(rest.is_empty());
            for (number, (text, place, ..)) in units.iter().enumerate() {
                let [before, after] = [&texts, &decoded].map(|texts| texts.find((number as u64 * 7_919) % 1_009).unwrap());
                prop_assert_eq!((before.text, before.place), (text.as_str(), document::prefix(place, MAX_PLACE_BYTES)));
                prop_assert_eq!((after.text, after.place, after.block), (before.text, before.place, before.block));
                prop_assert_eq!((after.section, after.kind), (before.section, before.kind));
            }
            let mut again = Vec::new();
            decoded.encode_into(&mut again);
            prop_assert_eq!(again, bytes);
        }

        #[test]
        fn any_bytes_are_texts_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = UnitTexts::decode(&mut &bytes[..]);
        }
    }
}
