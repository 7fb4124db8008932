//! The memory of the last look at a page by its rule, in few bytes.

use crate::memory_codec::{decode, encode};
use crate::rule::WatchRule;
use crate::sight::Sight;
use crate::trigger::Trigger;
use crate::value::SubjectMemory;
use document::text_hash;
use thiserror::Error;

/// The values that the rule of a page saw last. Empty for a page without a rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WatchMemory {
    /// [`WatchRule::selection_id`] of the rule by which the page's version was read.
    pub(crate) selection: u64,
    /// The value that each trigger compares with, by the hash of its text: the one it saw last, or the highest or lowest
    /// since it fired. Words that are there are 1; not a number: nothing yet.
    pub(crate) seen: Vec<(u64, f64)>,
    /// The watched parts and the numbers of triggers that were ever there.
    pub(crate) subjects: Vec<SubjectMemory>,
}

/// The bytes are no encoded memory.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the stored sights of the page's rule are damaged; fetch the page again to make new ones")]
pub struct MemoryDecodeError;

impl WatchMemory {
    /// Whether the page's version was read by this rule, and each of its triggers has looked at it.
    pub fn knows(&self, rule: Option<&WatchRule>) -> bool {
        self.is_of(rule) && rule.is_none_or(|rule| rule.triggers().iter().all(|trigger| self.has_looked(trigger)))
    }

    /// Whether a trigger has looked at a version of the page.
    pub fn has_looked(&self, trigger: &Trigger) -> bool {
        self.find(trigger).is_some()
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
        let selection = rule.map_or(0, WatchRule::selection_id);
        if self.selection != selection {
            // Another selection sees other things: what it lacks was not lost.
            self.subjects.clear();
        }
        self.selection = selection;
        if rule.is_none() {
            self.seen.clear();
            self.subjects.clear();
        }
    }

    /// Whether a trigger's condition held when it was last seen. `None` if it is about an event, or has seen nothing yet.
    pub fn held(&self, trigger: &Trigger) -> Option<bool> {
        let known = self.find(trigger).filter(|known| !known.is_nan())?;
        trigger.holds(if trigger.subject().is_some() { Sight::Number(known) } else { Sight::Words(known != 0.0) })
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
            let fires = trigger.fires(before, now);
            if fires {
                fired.push(trigger.text().to_owned());
            }
            let value = match now {
                Sight::Nothing | Sight::Several => known,
                // Words that are not understood are not said. So they fire when they are said clearly.
                Sight::Unclear if known.is_nan() => 0.0,
                Sight::Unclear => known,
                Sight::Number(_) | Sight::Range { .. } => {
                    trigger.number(now).map_or(known, |now| trigger.kept(known, now, fires))
                }
                Sight::Words(there) => f64::from(u8::from(there)),
            };
            seen.push((key_of(trigger), value));
        }
        self.seen = seen;
        fired
    }

    /// Encodes the memory. Nothing for a page without a rule.
    pub fn encode(&self) -> Vec<u8> {
        encode(self)
    }

    /// Decodes the bytes written by [`encode`](Self::encode).
    ///
    /// # Errors
    /// The bytes are not of this form.
    pub fn decode(bytes: &[u8]) -> Result<Self, MemoryDecodeError> {
        decode(bytes)
    }
}

fn key_of(trigger: &Trigger) -> u64 {
    text_hash(trigger.text().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
