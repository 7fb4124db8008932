//! One number per page.

/// Stored once while all pages have the same value.
#[derive(Clone, Debug)]
pub(super) enum PageColumn<T> {
    Alike(T, usize),
    Each(Vec<T>),
}

impl<T: Default> Default for PageColumn<T> {
    fn default() -> Self {
        Self::Alike(T::default(), 0)
    }
}

impl<T: Copy + PartialEq> PageColumn<T> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Alike(_, len) => *len,
            Self::Each(numbers) => numbers.len(),
        }
    }

    pub(super) fn push(&mut self, number: T) {
        match self {
            Self::Alike(_, 0) => *self = Self::Alike(number, 1),
            Self::Alike(alike, len) if *alike == number => *len += 1,
            Self::Alike(alike, len) => {
                let mut numbers = vec![*alike; *len];
                numbers.push(number);
                *self = Self::Each(numbers);
            }
            Self::Each(numbers) => numbers.push(number),
        }
    }

    /// The number of a page, below [`PageColumn::len`].
    #[inline]
    pub(super) fn get(&self, page: usize) -> T {
        match self {
            Self::Alike(alike, _) => *alike,
            Self::Each(numbers) => numbers[page],
        }
    }

    /// All distinct numbers, each at least once.
    pub(super) fn values(&self) -> impl Iterator<Item = T> {
        let (alike, each) = match self {
            Self::Alike(alike, len) => ((*len > 0).then_some(*alike), &[][..]),
            Self::Each(numbers) => (None, &numbers[..]),
        };
        alike.into_iter().chain(each.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_a_list_of_numbers(numbers in prop::collection::vec(0..2_u32, 0..12)) {
            let mut column = PageColumn::default();
            numbers.iter().for_each(|number| column.push(*number));
            prop_assert_eq!(column.len(), numbers.len());
            prop_assert_eq!((0..numbers.len()).map(|page| column.get(page)).collect::<Vec<_>>(), numbers.clone());
            prop_assert_eq!(column.values().max(), numbers.iter().copied().max());
            let alike = numbers.windows(2).all(|pair| pair[0] == pair[1]);
            prop_assert_eq!(matches!(column, PageColumn::Alike(..)), alike);
        }
    }
}
