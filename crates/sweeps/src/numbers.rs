//! Numbers of what comes and goes, so that rows of it can be found by number.

use crate::hash_keys::HashMapByHash;

/// The numbers of hashes. The number of one that is removed is given to the next new one, so there are never more rows than
/// there were hashes at one time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    numbers: HashMapByHash<u32>,
    vacant: Vec<u32>,
}

impl Numbers {
    pub(crate) fn get(&self, hash: u64) -> Option<u32> {
        self.numbers.get(&hash).copied()
    }

    /// The number of a hash, and whether it is new.
    pub(crate) fn assign(&mut self, hash: u64) -> (u32, bool) {
        if let Some(number) = self.get(hash) {
            return (number, false);
        }
        let number = self.vacant.pop().unwrap_or(self.numbers.len() as u32);
        self.numbers.insert(hash, number);
        (number, true)
    }

    pub(crate) fn remove(&mut self, hash: u64) -> Option<u32> {
        let number = self.numbers.remove(&hash)?;
        self.vacant.push(number);
        Some(number)
    }

    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The numbers in use, in order.
    pub(crate) fn in_use(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = self.numbers.values().copied().collect();
        numbers.sort_unstable();
        numbers
    }
}

/// Puts a row at its number: in the place of an earlier one, or at the end.
pub(crate) fn put_at<T>(rows: &mut Vec<T>, number: u32, row: T) {
    match rows.get_mut(number as usize) {
        Some(place) => *place = row,
        None => rows.push(row),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_what_was_removed_are_given_again() {
        let mut numbers = Numbers::default();
        assert_eq!([7, 8, 9, 8].map(|hash| numbers.assign(hash)), [(0, true), (1, true), (2, true), (1, false)]);
        assert_eq!((numbers.remove(8), numbers.remove(8), numbers.get(8)), (Some(1), None, None));
        assert_eq!((numbers.len(), numbers.in_use()), (2, vec![0, 2]));
        assert_eq!([6, 5].map(|hash| numbers.assign(hash)), [(1, true), (3, true)]);
    }
}
