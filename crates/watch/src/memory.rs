//! The values that a rule saw at the last look at a page, in few bytes.

use crate::rule::WatchRule;
use crate::sight::Sight;
use crate::trigger::Trigger;
use document::text_hash;
use thiserror::Error;

const MEMORY_VERSION: u8 = 1;

/// The values that the rule of a page saw last. Empty for a page without a rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WatchMemory {
    /// [`WatchRule::selection_id`] of the rule by which the page's version was read.
    selection: u64,
    /// The value that each trigger saw last, by the hash of its text. Words that are there are 1; not a number: nothing yet.
    seen: Vec<(u64, f64)>,
}

/// The bytes are no encoded memory.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the stored sights of the page's rule are damaged; fetch the page again to make new ones")]
pub struct MemoryDecodeError;

impl WatchMemory {
    /// Whether the page's version was read by this rule, and each of its triggers has looked at it.
    pub fn knows(&self, rule: Option<&WatchRule>) -> bool {
        let has_looked = |trigger: &Trigger| self.find(trigger).is_some();
        self.is_of(rule) && rule.is_none_or(|rule| rule.triggers().iter().all(has_looked))
    }

    /// Whether the page's version was read by the selection of this rule, or by none.
    pub fn is_of(&self, rule: Option<&WatchRule>) -> bool {
        self.selection == rule.map_or(0, WatchRule::selection_id)
    }

    /// Whether the page's version was read without selecting anything.
    pub fn is_without_selection(&self) -> bool {
        self.selection == 0
    }

    /// Notes that the page's version is read by this rule from now on.
    pub fn begin(&mut self, rule: Option<&WatchRule>) {
        self.selection = rule.map_or(0, WatchRule::selection_id);
        if rule.is_none() {
            self.seen.clear();
        }
    }

    fn find(&self, trigger: &Trigger) -> Option<f64> {
        let key = key_of(trigger);
        self.seen.iter().find(|(known, _)| *known == key).map(|(_, value)| *value)
    }

    /// Notes the sights of the triggers, and returns the triggers that fire. A trigger that sees nothing keeps its last
    /// sight; a new trigger has none and does not fire.
    pub(crate) fn note<'t>(&mut self, sights: impl Iterator<Item = (&'t Trigger, Sight)>) -> Vec<String> {
        let mut fired = Vec::new();
        let mut seen = Vec::new();
        for (trigger, now) in sights {
            let known = self.find(trigger).unwrap_or(f64::NAN);
            let before = match now {
                _ if known.is_nan() => Sight::Nothing,
                Sight::Words(_) | Sight::Unclear => Sight::Words(known != 0.0),
                Sight::Nothing | Sight::Number(_) | Sight::Range { .. } | Sight::Several => Sight::Number(known),
            };
            if trigger.fires(before, now) {
                fired.push(trigger.text().to_owned());
            }
            let value = match now {
                Sight::Nothing | Sight::Several => known,
                // Words that are not understood are not said. So they fire when they are said clearly.
                Sight::Unclear if known.is_nan() => 0.0,
                Sight::Unclear => known,
                Sight::Number(_) | Sight::Range { .. } => trigger.number(now).unwrap_or(known),
                Sight::Words(there) => f64::from(u8::from(there)),
            };
            seen.push((key_of(trigger), value));
        }
        self.seen = seen;
        fired
    }

    /// Encodes the memory: a version byte, the selection, then the key and the value of each sight; all little-endian.
    /// Nothing for a page without a rule.
    pub fn encode(&self) -> Vec<u8> {
        if *self == Self::default() {
            return Vec::new();
        }
        let mut bytes = vec![MEMORY_VERSION];
        bytes.extend_from_slice(&self.selection.to_le_bytes());
        for (key, value) in &self.seen {
            bytes.extend_from_slice(&key.to_le_bytes());
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        bytes
    }

    /// Decodes the bytes written by [`encode`](Self::encode).
    ///
    /// # Errors
    /// The bytes are not of this form.
    pub fn decode(bytes: &[u8]) -> Result<Self, MemoryDecodeError> {
        let Some((version, rest)) = bytes.split_first() else { return Ok(Self::default()) };
        let (selection, rest) = rest.split_first_chunk().ok_or(MemoryDecodeError)?;
        let (sights, rest) = rest.as_chunks::<16>();
        if *version != MEMORY_VERSION || !rest.is_empty() {
            return Err(MemoryDecodeError);
        }
        let word = |sight: &[u8; 16], at: usize| u64::from_le_bytes(std::array::from_fn(|byte| sight[at + byte]));
        let seen = sights.iter().map(|sight| (word(sight, 0), f64::from_bits(word(sight, 8)))).collect();
        Ok(Self { selection: u64::from_le_bytes(*selection), seen })
    }
}

fn key_of(trigger: &Trigger) -> u64 {
    text_hash(trigger.text().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn note(memory: &mut WatchMemory, triggers: &[&str], sights: &[Sight]) -> Vec<String> {
        let triggers: Vec<_> = triggers.iter().map(|text| Trigger::parse(text).unwrap()).collect();
        memory.note(triggers.iter().zip(sights.iter().copied()))
    }

    #[test]
    fn a_trigger_that_sees_nothing_for_a_while_remembers_what_it_saw() {
        let mut memory = WatchMemory::default();
        let trigger = ["price below 20"];
        let mut at = |sight| note(&mut memory, &trigger, &[sight]).len();
        assert_eq!([at(Sight::Number(25.0)), at(Sight::Nothing), at(Sight::Number(15.0))], [0, 0, 1]);
        assert_eq!([at(Sight::Nothing), at(Sight::Number(12.0)), at(Sight::Number(25.0))], [0, 0, 0]);
    }

    #[test]
    fn another_trigger_beside_it_changes_nothing() {
        let mut memory = WatchMemory::default();
        note(&mut memory, &["price below 20"], &[Sight::Number(25.0)]);
        let both = ["in stock", "price below 20"];
        assert_eq!(note(&mut memory, &both, &[Sight::Words(true), Sight::Number(15.0)]), ["price below 20"]);
        assert_eq!(note(&mut memory, &both, &[Sight::Words(false), Sight::Number(15.0)]), [""; 0]);
        assert_eq!(note(&mut memory, &both, &[Sight::Words(true), Sight::Number(15.0)]), ["in stock"]);
    }

    proptest! {
        #[test]
        fn a_memory_is_read_back(selection in any::<u64>(), seen in proptest::collection::vec((any::<u64>(), -1e9..1e9), 0..5)) {
            let memory = WatchMemory { selection, seen };
            prop_assert_eq!(WatchMemory::decode(&memory.encode()), Ok(memory));
        }

        #[test]
        fn any_bytes_are_a_memory_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = WatchMemory::decode(&bytes);
        }
    }
}
