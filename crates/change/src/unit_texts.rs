//! The texts of a version's units: what a change of them is told with.

use crate::state_codec::{StateDecodeError, take};
use crate::version::UnitKey;

/// The most text kept of one version, and of one unit. What is behind is told without its old words.
const MAX_TEXT_BYTES: usize = 256 * 1024;
const MAX_UNIT_BYTES: usize = 16 * 1024;
/// The most kept of the words that say where a unit is.
const MAX_PLACE_BYTES: usize = 120;

/// The place of a fact.
pub(crate) const STRUCTURED_DATA: &str = "structured data";

/// The texts of the units outside the frame, in the order of their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct UnitTexts {
    text: String,
    units: Vec<KeptUnit>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct KeptUnit {
    key: UnitKey,
    /// The number of its block.
    block: u32,
    /// Ends of its text and of its place.
    ends: [u32; 2],
}

/// One unit as it was or is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShownUnit<'a> {
    pub(crate) key: UnitKey,
    pub(crate) block: u32,
    /// The text, or the target of a link.
    pub(crate) text: &'a str,
    /// The row, the heading above, or the words of a link.
    pub(crate) place: &'a str,
}

/// What a unit was, and what it is.
pub(crate) type UnitPair<'a> = (Option<ShownUnit<'a>>, Option<ShownUnit<'a>>);

impl UnitTexts {
    /// Adds a unit; of all units the names must ascend. Returns whether there was room.
    pub(crate) fn push(&mut self, key: UnitKey, block: u32, text: &str, place: &str) -> bool {
        let text = document::prefix(text, MAX_UNIT_BYTES);
        let place = document::prefix(place, MAX_PLACE_BYTES);
        if self.text.len() + text.len() + place.len() > MAX_TEXT_BYTES {
            return false;
        }
        self.text.push_str(text);
        let end = self.text.len() as u32;
        self.text.push_str(place);
        self.units.push(KeptUnit { key, block, ends: [end, self.text.len() as u32] });
        true
    }

    /// The units with the numbers of their blocks.
    pub(crate) fn places(&self) -> impl Iterator<Item = (UnitKey, u32)> {
        self.units.iter().map(|unit| (unit.key, unit.block))
    }

    /// The unit of this name.
    pub(crate) fn find(&self, name: u64) -> Option<ShownUnit<'_>> {
        let index = self.units.binary_search_by_key(&name, |unit| unit.key.name()).ok()?;
        let start = index.checked_sub(1).map_or(0, |before| self.units[before].ends[1] as usize);
        let KeptUnit { key, block, ends: [end, place_end] } = self.units[index];
        let (text, place) = (&self.text[start..end as usize], &self.text[end as usize..place_end as usize]);
        Some(ShownUnit { key, block, text, place })
    }

    /// Appends the bytes: a u32 count; per unit its key, block and ends; then the text. All little-endian.
    pub(crate) fn encode_into(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.units.len() as u32).to_le_bytes());
        for unit in &self.units {
            out.extend_from_slice(&unit.key.0.to_le_bytes());
            [unit.block, unit.ends[0], unit.ends[1]].iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        }
        out.extend_from_slice(&(self.text.len() as u32).to_le_bytes());
        out.extend_from_slice(self.text.as_bytes());
    }

    /// Decodes the bytes written by [`encode_into`](Self::encode_into), and leaves the rest.
    pub(crate) fn decode(rest: &mut &[u8]) -> Result<Self, StateDecodeError> {
        let count = u32::from_le_bytes(take(rest)?);
        let mut units = Vec::new();
        for _ in 0..count {
            let key = UnitKey(u64::from_le_bytes(take(rest)?));
            let [block, end, place_end] =
                [u32::from_le_bytes(take(rest)?), u32::from_le_bytes(take(rest)?), u32::from_le_bytes(take(rest)?)];
            units.push(KeptUnit { key, block, ends: [end, place_end] });
        }
        let length = u32::from_le_bytes(take(rest)?) as usize;
        let (text, after) = rest.split_at_checked(length).ok_or(StateDecodeError::BadLength)?;
        *rest = after;
        let text = std::str::from_utf8(text).map_err(|_| StateDecodeError::BadLength)?.to_owned();
        let ends = units.iter().flat_map(|unit| unit.ends);
        let valid = ends.clone().is_sorted() && ends.clone().all(|end| text.is_char_boundary(end as usize));
        if !valid || !units.is_sorted_by(|one, other| one.key.name() < other.key.name()) {
            return Err(StateDecodeError::NotAscending);
        }
        Ok(Self { text, units })
    }
}
