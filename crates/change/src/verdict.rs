//! The verdicts on a page.

use serde::Serialize;

/// The least magnitude of [`VersionVerdict::Major`]: a tenth of all distinct shingles of both versions. Replacing one word
/// touches five shingles, so this is about one word in a hundred, or one paragraph in twenty.
pub const MAJOR_MAGNITUDE: f64 = 0.1;

/// The change of a page since its last accepted version. The order is no ranking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VersionVerdict {
    /// The first version seen.
    First,
    /// The same bytes.
    Unchanged,
    /// Other bytes, but no meaningful difference.
    Cosmetic,
    /// The text changed by less than [`MAJOR_MAGNITUDE`], or only link targets changed.
    Minor,
    /// The text changed by [`MAJOR_MAGNITUDE`] or more.
    Major,
    Gone,
    /// The page is there again after being gone.
    Returned,
}
