//! A run of versions that may not be the page, and when it is long enough to be the page.

/// At least this many suspect versions in a row are held before the next one is accepted as the page.
const MAX_HELD_VERSIONS: u8 = 3;
/// The least seconds from the first to the last of them. A page is looked at several times in the first hours of an outage.
const LEAST_HELD_S: u32 = 18 * 3_600;

/// A run of suspect versions that were not accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HeldVersions {
    /// Their number.
    pub(crate) versions: u8,
    /// Seconds from the first to the last of them. A time between two that is not known counts as long enough.
    pub(crate) lasted_s: u32,
}

impl HeldVersions {
    /// A run after which the next version is accepted.
    pub(crate) const ENOUGH: Self = Self { versions: MAX_HELD_VERSIONS, lasted_s: LEAST_HELD_S };

    pub(crate) fn is_empty(self) -> bool {
        self.versions == 0
    }

    /// Holds another suspect version, seen `since_last_look_s` seconds after the look before. `None` if such versions
    /// have stood there for so long that this one is the page.
    pub(crate) fn hold(self, since_last_look_s: Option<i64>) -> Option<Self> {
        let since_s = since_last_look_s.map_or(LEAST_HELD_S, |since_s| since_s.clamp(0, i64::from(u32::MAX)) as u32);
        let lasted_s = if self.is_empty() { 0 } else { self.lasted_s.saturating_add(since_s) };
        let is_the_page = self.versions >= MAX_HELD_VERSIONS && lasted_s >= LEAST_HELD_S;
        (!is_the_page).then_some(Self { versions: self.versions.saturating_add(1), lasted_s })
    }
}
