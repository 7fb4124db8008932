//! The memberships of a page as numbers of an outlook, so that a look needs no hash lookups.

use crate::place::GroupKind;

/// Numbers of groups, widest group first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupNumbers {
    numbers: [u32; GroupKind::ALL.len()],
    len: u8,
}

impl GroupNumbers {
    /// From these numbers. Those beyond the number of group kinds are ignored.
    pub fn new(numbers: impl IntoIterator<Item = u32>) -> Self {
        let mut groups = Self::default();
        for (to, number) in groups.numbers.iter_mut().zip(numbers) {
            *to = number;
            groups.len += 1;
        }
        groups
    }

    /// The group numbers in use, widest group first.
    #[inline]
    pub fn as_slice(&self) -> &[u32] {
        &self.numbers[..usize::from(self.len)]
    }
}

/// A page's groups, cell and site, by the numbers that [`crate::Outlook`] assigns to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Members {
    /// [`crate::Outlook::group_number`] of each group.
    pub groups: GroupNumbers,
    /// [`crate::Outlook::cell_number`].
    pub cell: u32,
    /// [`crate::Outlook::site_number`].
    pub site: u32,
}
