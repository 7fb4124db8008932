//! What a page is a member of, by the numbers of an outlook: no hash has to be looked up for a look.

use crate::place::GroupKind;

/// Numbers of groups, widest group first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    numbers: [u32; GroupKind::ALL.len()],
    len: u8,
}

impl Groups {
    /// These; as many as there are kinds of groups, what is beyond does not count.
    pub fn new(numbers: impl IntoIterator<Item = u32>) -> Self {
        let mut groups = Self::default();
        for (to, number) in groups.numbers.iter_mut().zip(numbers) {
            *to = number;
            groups.len += 1;
        }
        groups
    }

    /// The numbers.
    #[inline]
    pub fn as_slice(&self) -> &[u32] {
        &self.numbers[..usize::from(self.len)]
    }
}

/// A page's groups that count, its cell and its site, by the numbers that [`crate::Outlook`] gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Members {
    /// [`crate::Outlook::group_number`] of each group.
    pub groups: Groups,
    /// [`crate::Outlook::cell_number`].
    pub cell: u32,
    /// [`crate::Outlook::site_number`].
    pub site: u32,
}
