//! Decides when a page that is not found is gone. A failing server sends 404 as readily as one whose page was deleted,
//! so one response is not enough.

use crate::judgement::Judgement;
use crate::page_state::PageState;
use crate::verdict::VersionVerdict;

/// A page counts as gone if at least this many fetches in a row did not find it.
const LOOKS: i32 = 3;
/// The least time in seconds between the first and the last of these fetches.
const LEAST_ABSENCE_S: i64 = 3 * DAY_S;
/// The most seconds to the next fetch of a page that was not found. The scheduler fetches it sooner at first.
const NEXT_LOOK_S: i64 = LEAST_ABSENCE_S / 2;
/// The longest time in seconds that the verdict is held back while many pages of the host are missing.
pub(crate) const LONGEST_HOLD_S: i64 = 14 * DAY_S;
const DAY_S: i64 = 86_400;

/// How long, and how often, a page has not been found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absence {
    /// UNIX time in seconds of the first fetch that did not find the page.
    pub since: i64,
    /// Number of fetches that did not find it.
    pub looks: i32,
}

/// The conclusion drawn from an absence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    Gone,
    /// The page may be gone; fetch it again to decide.
    Missing {
        look_again_after_s: i64,
    },
}

impl Absence {
    /// Records a fetch at `unix_time` (seconds) that did not find the page. `earlier` is the absence before it.
    /// `for_good` means that the server said so itself (410). `host_is_missing` means that many pages of the host are
    /// missing ([`HostEvents::observe_missing`](crate::HostEvents::observe_missing)); the fetch is then no evidence
    /// about the page.
    pub fn observe(earlier: Option<Self>, unix_time: i64, for_good: bool, host_is_missing: bool) -> (Self, Presence) {
        let absence = earlier.map_or(Self { since: unix_time, looks: 1 }, |earlier| Self {
            looks: earlier.looks.saturating_add(1),
            ..earlier
        });
        let lasted_s = unix_time.saturating_sub(absence.since);
        let believed = for_good || (absence.looks >= LOOKS && lasted_s >= LEAST_ABSENCE_S);
        let held = host_is_missing && lasted_s < LONGEST_HOLD_S;
        let presence = match believed && !held {
            true => Presence::Gone,
            // After enough looks, the next one decides.
            false => Presence::Missing {
                look_again_after_s: match LEAST_ABSENCE_S - lasted_s {
                    left_s if left_s > 0 => left_s.min(NEXT_LOOK_S),
                    _ => NEXT_LOOK_S,
                },
            },
        };
        (absence, presence)
    }
}

impl PageState {
    /// Records that the page is no longer there (404, 410). Host and network failures say nothing about a page; do not
    /// report them here.
    pub fn observe_gone(&mut self) -> Judgement {
        let news = self.looks.digest.is_some() && !self.looks.gone;
        self.looks.gone = true;
        let verdict = if news { VersionVerdict::Gone } else { VersionVerdict::Unchanged };
        let magnitude = if news { 1.0 } else { 0.0 };
        let rest = 1.0 - magnitude;
        let quiet = Judgement::quiet(verdict);
        Judgement { meaningful: news, magnitude, resemblance: rest, containment: rest, ..quiet }
    }

    /// Whether the page was gone at the last fetch.
    pub fn is_gone(&self) -> bool {
        self.looks.gone
    }

    /// Records that the page is reported as missing. Returns whether it was not reported before.
    pub fn report_missing(&mut self) -> bool {
        !std::mem::replace(&mut self.looks.missing, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first of these days on which the page counts as gone.
    fn gone_on(days: &[i64], for_good: bool, host_is_missing: bool) -> Option<i64> {
        let mut absence = None;
        days.iter().copied().find(|day| {
            let (next, presence) = Absence::observe(absence, day * DAY_S, for_good, host_is_missing);
            absence = Some(next);
            presence == Presence::Gone
        })
    }

    #[test]
    fn a_page_is_gone_when_it_was_not_found_three_times_over_three_days() {
        assert_eq!(gone_on(&[0, 1, 2, 3], false, false), Some(3));
        assert_eq!(gone_on(&[0, 40, 41], false, false), Some(41));
        assert_eq!(gone_on(&[0, 0, 0, 0], false, false), None);
        assert_eq!(gone_on(&[5], true, false), Some(5), "410 is the server's own word");
    }

    #[test]
    fn an_outage_holds_the_verdict_but_not_for_ever() {
        assert_eq!(gone_on(&[0, 3, 6, 9, 13, 14], false, true), Some(14));
        assert_eq!(gone_on(&[0, 3, 6, 9, 13, 14], true, true), Some(14));
    }

    #[test]
    fn the_looks_asked_for_are_those_that_decide() {
        let (mut now, mut absence, mut looks) = (0, None, 0);
        loop {
            looks += 1;
            let (next, presence) = Absence::observe(absence, now, false, false);
            match presence {
                Presence::Gone => break,
                Presence::Missing { look_again_after_s } => now += look_again_after_s,
            }
            absence = Some(next);
        }
        assert_eq!((looks, now), (3, LEAST_ABSENCE_S));
        // Looks in between, as at an absence that has just begun, do not put the verdict off.
        let absence = Absence { since: 0, looks: 6 };
        let (_, presence) = Absence::observe(Some(absence), 43 * 3_600, false, false);
        assert_eq!(presence, Presence::Missing { look_again_after_s: LEAST_ABSENCE_S - 43 * 3_600 });
    }
}
