//! Numbers for names: the text of all names in one piece, and 12 bytes beside each.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher as _;

/// Names by their numbers, in the order in which they first came.
#[derive(Default)]
pub(super) struct Names {
    text: String,
    /// Where each name ends in the text.
    ends: Vec<usize>,
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

/// There are more names than numbers.
#[derive(Debug)]
pub(super) struct TooManyNames;

impl Names {
    /// The number of a name, a new one if it was not there yet.
    pub(super) fn number(&mut self, name: &str) -> Result<u32, TooManyNames> {
        if let Some(number) = self.find(name) {
            return Ok(number);
        }
        let number = u32::try_from(self.ends.len()).ok().filter(|number| *number < u32::MAX).ok_or(TooManyNames)?;
        self.text.push_str(name);
        self.ends.push(self.text.len());
        let Self { text, ends, numbers, hasher } = self;
        let hash = hasher.hash_one(name);
        numbers.insert_unique(hash, number, |number| hasher.hash_one(named(text, ends, *number)));
        Ok(number)
    }

    /// The number of a name that has one.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        let hash = self.hasher.hash_one(name);
        self.numbers.find(hash, |number| self.name(*number) == name).copied()
    }

    /// The name that has this number.
    pub(super) fn name(&self, number: u32) -> &str {
        named(&self.text, &self.ends, number)
    }

    /// How many there are.
    pub(super) fn len(&self) -> u32 {
        self.ends.len() as u32
    }
}

fn named<'t>(text: &'t str, ends: &[usize], number: u32) -> &'t str {
    let number = number as usize;
    let start = number.checked_sub(1).map_or(0, |before| ends[before]);
    &text[start..ends[number]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_number() {
        let mut names = Names::default();
        for round in 0..2 {
            for number in 0..10_000 {
                let name = if number == 7 { String::new() } else { format!("https://a.test/{number}") };
                assert_eq!(names.number(&name).unwrap(), number, "round {round}");
                assert_eq!(names.name(number), name);
            }
        }
        assert_eq!((names.len(), names.find("https://b.test/")), (10_000, None));
    }
}
