//! Numbers drawn by a seed: the same seed gives the same pages, places and values.

use chance::splitmix64;
use document::text_hash;

/// A sequence of drawn numbers. A copy repeats the rest of the sequence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draw(u64);

impl Draw {
    /// The sequence of a seed and a name.
    pub(crate) fn of(seed: u64, name: &str) -> Self {
        Self(splitmix64(seed) ^ text_hash(name.as_bytes()))
    }

    /// Another sequence for each number.
    pub(crate) fn nth(self, number: usize) -> Self {
        Self(splitmix64(self.0 ^ splitmix64(number as u64)))
    }

    /// Another sequence for each name.
    pub(crate) fn of_kind(self, name: &str) -> Self {
        Self(splitmix64(self.0 ^ text_hash(name.as_bytes())))
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0 = splitmix64(self.0);
        self.0
    }

    /// A number below the limit, or 0 if that is 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.number().checked_rem(limit as u64).map_or(0, |number| number as usize)
    }

    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        list.get(self.below(list.len()))
    }

    /// Two different numbers below the limit, which is at least 2.
    pub(crate) fn two_below(&mut self, limit: usize) -> (usize, usize) {
        let first = self.below(limit);
        (first, (first + 1 + self.below(limit - 1)) % limit)
    }

    /// A text of `length` random characters of the alphabet.
    pub(crate) fn token(&mut self, length: usize, alphabet: &str) -> String {
        let characters: Vec<char> = alphabet.chars().collect();
        (0..length).map(|_| characters[self.below(characters.len())]).collect()
    }
}

/// Digits of a checksum.
pub(crate) const HEX: &str = "0123456789abcdef";
pub(crate) const DIGITS: &str = "0123456789";
/// Characters of an order number: capitals and digits without I, O, 0 and 1.
pub(crate) const CAPITALS: &str = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_are_never_the_same_and_a_copy_repeats() {
        let mut draw = Draw::of(1, "a");
        let mut copy = draw;
        for limit in 2..50 {
            let (first, second) = draw.two_below(limit);
            assert!(first != second && first < limit && second < limit, "{limit}");
            assert_eq!(copy.two_below(limit), (first, second));
        }
        assert_eq!(draw.below(0), 0);
        assert_ne!(draw.token(12, HEX), draw.token(12, HEX));
    }
}
