//! The words for what became of a page.

use serde::Serialize;

/// From this magnitude on a change is [`Verdict::Major`]: a tenth of all distinct shingles of both versions. One word
/// replaced touches five shingles, so that is about one word in a hundred, or one paragraph in twenty.
pub const MAJOR_MAGNITUDE: f64 = 0.1;

/// What became of a page since its last accepted version. The order is no ranking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Never seen before.
    First,
    /// The same bytes.
    Unchanged,
    /// Other bytes, but nothing that means anything.
    Cosmetic,
    /// The text changed by less than [`MAJOR_MAGNITUDE`], or only link targets changed.
    Minor,
    /// The text changed by [`MAJOR_MAGNITUDE`] or more.
    Major,
    /// The page is no longer there.
    Gone,
    /// The page is there again after it was gone.
    Returned,
}
