//! A table of equal rows that grows without copying them.
//!
//! A vector that doubles holds up to twice its rows, and three times while it moves. With a hundred million pages those
//! are gigabytes.

use std::ops::{Index, IndexMut};

/// Bytes of a part: a size of which allocators waste nothing.
const PART_BYTES: usize = 1 << 16;

/// Rows by number. Memory for at most one part is spare.
#[derive(Clone, Debug)]
pub struct Rows<T> {
    /// All are full but the last.
    parts: Vec<Vec<T>>,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self { parts: Vec::new() }
    }
}

impl<T> Rows<T> {
    /// Rows of a part: a power of two, so that places are found by shifts.
    const PART: usize = {
        let most = PART_BYTES / if size_of::<T>() > 0 { size_of::<T>() } else { 1 };
        1 << if most > 0 { most.ilog2() } else { 0 }
    };

    #[inline]
    pub fn len(&self) -> usize {
        self.parts.last().map_or(0, |last| (self.parts.len() - 1) * Self::PART + last.len())
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub fn push(&mut self, row: T) {
        match self.parts.last_mut() {
            Some(last) if last.len() < Self::PART => last.push(row),
            // The first part grows with its rows: a small crawl has many tables.
            None => self.parts.push(vec![row]),
            Some(_) => {
                let mut part = Vec::with_capacity(Self::PART);
                part.push(row);
                self.parts.push(part);
            }
        }
    }

    /// Puts a row at a vacant number if one is given, and at the end otherwise. Returns its number.
    pub fn put(&mut self, vacant: Option<u32>, row: T) -> u32 {
        match vacant {
            Some(number) => self[number as usize] = row,
            None => self.push(row),
        }
        vacant.unwrap_or_else(|| u32::try_from(self.len() - 1).expect("a table has fewer than 2^32 rows"))
    }

    #[inline]
    pub fn get(&self, number: usize) -> Option<&T> {
        self.parts.get(number / Self::PART)?.get(number % Self::PART)
    }

    #[inline]
    pub fn get_mut(&mut self, number: usize) -> Option<&mut T> {
        self.parts.get_mut(number / Self::PART)?.get_mut(number % Self::PART)
    }

    /// The rows in order, in slices of `rows` rows and a shorter one at the end.
    ///
    /// # Panics
    /// If `rows` does not divide the rows of a part: use a small power of two.
    pub fn chunks(&self, rows: usize) -> impl Iterator<Item = &[T]> {
        assert!(Self::PART.is_multiple_of(rows), "{rows} rows at once would cross from one part to the next");
        self.parts.iter().flat_map(move |part| part.chunks(rows))
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.parts.iter().flatten()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.parts.iter_mut().flatten()
    }
}

impl<T: Clone> Rows<T> {
    /// The row with this number. Rows up to it are added with this value if there are fewer.
    pub fn at(&mut self, number: usize, value: T) -> &mut T {
        while self.len() <= number {
            self.push(value.clone());
        }
        &mut self[number]
    }
}

impl<T> Index<usize> for Rows<T> {
    type Output = T;

    #[inline]
    fn index(&self, number: usize) -> &T {
        &self.parts[number / Self::PART][number % Self::PART]
    }
}

impl<T> IndexMut<usize> for Rows<T> {
    #[inline]
    fn index_mut(&mut self, number: usize) -> &mut T {
        &mut self.parts[number / Self::PART][number % Self::PART]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_their_numbers_in_any_part() {
        const PART: usize = Rows::<u64>::PART;
        let mut rows = Rows::default();
        assert!(rows.is_empty() && rows.get(0).is_none());
        for number in 0..PART as u64 * 2 + 5 {
            rows.push(number);
        }
        assert_eq!(rows.len(), PART * 2 + 5);
        assert!([0, PART - 1, PART, PART * 2 + 4].iter().all(|number| rows[*number] == *number as u64));
        assert_eq!(rows.get(PART * 2 + 5), None);
        assert!(rows.iter().copied().eq(0..PART as u64 * 2 + 5));
        let chunks: Vec<usize> = rows.chunks(PART / 2).map(<[u64]>::len).collect();
        assert_eq!(chunks, [PART / 2, PART / 2, PART / 2, PART / 2, 5]);
        assert_eq!((rows.put(Some(3), 9), rows[3]), (3, 9));
        assert_eq!((rows.put(None, 8), rows[PART * 2 + 5]), (PART as u32 * 2 + 5, 8));
        *rows.at(PART * 3, 7) += 1;
        assert_eq!((rows.len(), rows[PART * 3], rows[PART * 3 - 1]), (PART * 3 + 1, 8, 7));
    }
}
