//! The judgement on one version of a page, with its evidence.

use crate::change_record::ChangeRecord;
use crate::stand_in_kind::StandIn;
use crate::verdict::VersionVerdict;
use serde::Serialize;

/// The judgement on one version of a page, compared with the last accepted version.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// The verdict on the page as a whole.
    pub verdict: VersionVerdict,
    /// Whether the content of the page changed. Always true for [`VersionVerdict::Minor`] and [`VersionVerdict::Major`]; true for
    /// [`VersionVerdict::Returned`] and [`VersionVerdict::Gone`] when the content differs from before.
    pub meaningful: bool,
    /// 1 − resemblance, in \[0, 1\]: how much changed, not whether. Zero also for a change of punctuation or of links
    /// alone.
    pub magnitude: f64,
    /// |old ∩ new| / |old ∪ new| of the region's shingles (E2).
    pub resemblance: f64,
    /// |old ∩ new| / |old| of the same shingles: the share of the old text that is still there.
    pub containment: f64,
    /// Verdict on the text of the region.
    pub content: PartVerdict,
    /// Verdict on the links of the region.
    pub links: PartVerdict,
    /// Verdict on everything outside the region and on volatile parts; never meaningful.
    pub structure: PartVerdict,
    /// Whether the version is not accepted yet: it may not be the page, or, if a second look is wanted, its difference may be
    /// noise.
    pub held: bool,
    /// The looks of a held version; the record then has its first texts as added ones. `None` also if the page is there
    /// without any of its watched parts.
    pub looks_like: Option<StandIn>,
    /// Whether that is to be reported now: once for a row of held versions.
    pub reports_stand_in: bool,
    /// Whether a second fetch right after this one would distinguish noise from news.
    pub wants_second_look: bool,
    /// Outcome of the previously reported change, if it was still open.
    pub earlier: Option<Confirmation>,
    /// Whether changes of this page usually last: at least as many were confirmed as withdrawn.
    pub changes_last: bool,
    /// Names of the added units that counted; for [`crate::HostEvents`].
    pub units_added: Vec<u64>,
    /// Names of the removed units that counted.
    pub units_removed: Vec<u64>,
    /// Units that differ and were passed over as noise.
    pub passed_over: usize,
    /// The change in words. Empty unless it is meaningful.
    pub record: ChangeRecord,
}

/// Verdict on one part of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PartVerdict {
    Unchanged,
    /// Something was added or removed.
    Changed,
}

impl PartVerdict {
    pub(crate) fn of(changed: bool) -> Self {
        if changed { Self::Changed } else { Self::Unchanged }
    }
}

/// Outcome of a change, by the next version. It annotates a verdict and never decides it: on real pages a third of the
/// true edits are undone or replaced before the next fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confirmation {
    /// Most added units are still there, and most removed ones still absent.
    Confirmed,
    /// Most of the change was undone.
    Withdrawn,
}

/// Seconds until a suspected error in the page's place is fetched again, to see whether it lasts.
const HELD_LOOK_AGAIN_S: i64 = 6 * 3_600;

impl Judgement {
    /// Seconds until the page should be fetched again: at once to distinguish noise from news, later to see whether an error lasts.
    /// `None` if the verdict needs no further fetch.
    pub fn look_again_after_s(&self) -> Option<i64> {
        match (self.held, self.wants_second_look) {
            (_, true) => Some(0),
            // The next fetches show whether the error is the page's or the host's.
            (true, false) => Some(HELD_LOOK_AGAIN_S),
            (false, false) => None,
        }
    }

    /// Whether only another look at once can show whether the version is noise.
    pub(crate) fn waits_for_another_look(&self) -> bool {
        self.held && self.wants_second_look
    }

    /// A judgement that reports no change.
    pub fn quiet(verdict: VersionVerdict) -> Self {
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
            looks_like: None,
            reports_stand_in: false,
            wants_second_look: false,
            earlier: None,
            changes_last: true,
            units_added: Vec::new(),
            units_removed: Vec::new(),
            passed_over: 0,
            record: ChangeRecord::default(),
        }
    }
}
