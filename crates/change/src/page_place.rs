//! The place that a page leads to, as it is remembered.

/// The place that a page leads to, and whether people know it. Addresses are hashes; 0 is none yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PagePlace {
    /// Where the page led at the last look.
    pub(crate) now: u32,
    /// Where it led before the redirect.
    pub(crate) usual: u32,
    pub(crate) redirect: Redirect,
    /// Whether the page has led elsewhere since it was first seen, as the address of a newest issue does. What it leads to
    /// next is then its next version.
    pub(crate) is_pointer: bool,
}

/// The knowledge of a redirect that a page did not have at first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Redirect {
    #[default]
    None,
    /// The page leads elsewhere, and no version from there is accepted yet.
    New { is_reported: bool },
    /// The text there is accepted as the page.
    Accepted { is_reported: bool },
}

/// Where a look led, compared with the look before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lead {
    /// To the same place.
    Same,
    /// To another page than before. `is_reported` is false for a page that leads elsewhere every few looks.
    Elsewhere { is_reported: bool },
    /// Back to where the page led before a redirect, or to itself.
    Back,
}

impl Redirect {
    const ALL: [Self; 5] = [
        Self::None,
        Self::New { is_reported: false },
        Self::New { is_reported: true },
        Self::Accepted { is_reported: false },
        Self::Accepted { is_reported: true },
    ];

    /// Its byte in stored state.
    pub(crate) fn code(self) -> u8 {
        Self::ALL.iter().position(|other| *other == self).unwrap_or_default() as u8
    }

    pub(crate) fn of_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }
}

impl PagePlace {
    pub(crate) fn is_redirected(self) -> bool {
        self.redirect != Redirect::None
    }

    /// Whether the page leads to another page than the one whose version was accepted.
    pub(crate) fn leads_elsewhere(self) -> bool {
        matches!(self.redirect, Redirect::New { .. })
    }

    pub(crate) fn accept(&mut self) {
        if let Redirect::New { is_reported } = self.redirect {
            self.redirect = Redirect::Accepted { is_reported };
        }
    }
}
