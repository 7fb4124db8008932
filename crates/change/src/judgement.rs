//! What is said of one version of a page, and by what.

use crate::verdict::Verdict;
use serde::Serialize;

/// What one version of a page means beside the last accepted one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// Of the page as a whole.
    pub verdict: Verdict,
    /// Whether what the page says changed: always so with [`Verdict::Minor`] and [`Verdict::Major`], and with
    /// [`Verdict::Returned`] and [`Verdict::Gone`] when it is not what it was.
    pub meaningful: bool,
    /// 1 − resemblance, in \[0, 1\]; how much, not whether. Zero also for a change of punctuation or of links alone.
    pub magnitude: f64,
    /// |old ∩ new| / |old ∪ new| of the region's shingles (E2).
    pub resemblance: f64,
    /// |old ∩ new| / |old| of the same: how much of the old text is still there.
    pub containment: f64,
    /// Of the text of the region.
    pub content: PartVerdict,
    /// Of the links of the region.
    pub links: PartVerdict,
    /// Of all that lies outside the region, and of what is volatile: never meaningful.
    pub structure: PartVerdict,
    /// Whether the version looks like an error in the page's place and is not believed yet.
    pub held: bool,
    /// Whether a second look right after this one would tell noise from news ([`Noise::ByDoubleFetch`]).
    pub wants_second_look: bool,
    /// What became of the change reported before this version, if that was still open.
    pub earlier: Option<Confirmation>,
    /// Whether changes of this page are usually there to stay, as far as is known: more were confirmed than withdrawn.
    pub changes_last: bool,
    /// Names of the units that came and counted; for [`crate::HostEvents`].
    pub units_added: Vec<u64>,
    /// Names of the units that went and counted.
    pub units_removed: Vec<u64>,
    /// The texts of the blocks that came or whose links did, each up to 512 bytes, at most 64.
    pub added: Vec<String>,
}

/// What became of one part of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PartVerdict {
    /// The same.
    Unchanged,
    /// Something came or went.
    Changed,
}

impl PartVerdict {
    pub(crate) fn of(changed: bool) -> Self {
        if changed { Self::Changed } else { Self::Unchanged }
    }
}

/// By what a place that merely differs at every look is told from one that truly changes as often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// By how often it differs: all that a recorded history can tell.
    ByFrequency,
    /// By two looks with hardly any time between them. Until there were such two, nothing is passed over.
    ByDoubleFetch {
        /// Seconds since the look before; `None` for the first.
        since_last_look_s: Option<i64>,
    },
}

/// The longest time in seconds between two looks that are as good as one: what differs between them differs by itself.
pub const BACK_TO_BACK_S: i64 = 120;

impl Noise {
    /// Whether this look and the one before are as good as one.
    pub(crate) fn is_back_to_back(self) -> bool {
        matches!(self, Self::ByDoubleFetch { since_last_look_s: Some(0..=BACK_TO_BACK_S) })
    }
}

/// What the next version says of a change. A word beside the verdict, never a condition of it: on real pages a third of
/// the true edits are undone or replaced before the next look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confirmation {
    /// Most of what came is still there, and most of what went is still gone.
    Confirmed,
    /// Most of it was undone.
    Withdrawn,
}

impl Judgement {
    /// Nothing to tell.
    pub fn quiet(verdict: Verdict) -> Self {
        Self {
            verdict,
            meaningful: false,
            magnitude: 0.0,
            resemblance: 1.0,
            containment: 1.0,
            content: PartVerdict::Unchanged,
            links: PartVerdict::Unchanged,
            structure: PartVerdict::Unchanged,
            held: false,
            wants_second_look: false,
            earlier: None,
            changes_last: true,
            units_added: Vec::new(),
            units_removed: Vec::new(),
            added: Vec::new(),
        }
    }
}
