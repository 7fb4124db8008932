//! Scores of a crawl of a growing web.

use super::coverage::CoveragePoint;
use super::web::PageKind;

/// Pages born in this last share of the scored time are not scored by their waits, which the end cuts short.
const UNSCORED_SHARE: f64 = 0.25;

/// How soon new pages were copied, and how fresh the copies were.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct GrowthScores {
    /// Share of the time in which a copy is current, over all copies.
    pub freshness: f64,
    /// The same for the front pages.
    pub front_freshness: f64,
    /// Mean days from the birth of a page to its first copy. A page without a copy at the end waits until then.
    pub new_page_days: f64,
    /// Mean days from the birth of a page to the first look at a page that links it.
    pub found_days: f64,
    /// Pages born in the scored time, less its last quarter.
    pub births: u64,
    /// Share of them that had a copy at the end.
    pub copied_share: f64,
    /// Fetches in the scored time.
    pub fetches: u64,
    /// The course from the start of the run.
    pub coverage: Vec<CoveragePoint>,
}

/// Integrals over the scored time.
#[derive(Clone, Copy, Debug, Default)]
struct CopyDays {
    fresh: f64,
    all: f64,
}

impl CopyDays {
    fn share(&self) -> f64 {
        if self.all > 0.0 { self.fresh / self.all } else { 0.0 }
    }
}

#[derive(Clone, Debug)]
pub(super) struct GrowthTally {
    from_days: f64,
    to_days: f64,
    copies: CopyDays,
    fronts: CopyDays,
    births: u64,
    copied: u64,
    waited_days: f64,
    found_days: f64,
    fetches: u64,
}

impl GrowthTally {
    pub(super) fn new(from_days: f64, to_days: f64) -> Self {
        Self {
            from_days,
            to_days,
            copies: CopyDays::default(),
            fronts: CopyDays::default(),
            births: 0,
            copied: 0,
            waited_days: 0.0,
            found_days: 0.0,
            fetches: 0,
        }
    }

    fn is_scored(&self, born_days: f64) -> bool {
        let until = self.to_days - UNSCORED_SHARE * (self.to_days - self.from_days);
        (self.from_days..until).contains(&born_days)
    }

    pub(super) fn look(&mut self, now_days: f64) {
        self.fetches += u64::from(now_days > self.from_days);
    }

    /// A copy was made at `copied_days`, was current until `fresh_until`, and was kept until `now_days`.
    pub(super) fn copy(&mut self, kind: PageKind, copied_days: f64, fresh_until: f64, now_days: f64) {
        let scored = |until: f64| (until.min(self.to_days) - copied_days.max(self.from_days)).max(0.0);
        let (fresh, all) = (scored(fresh_until), scored(now_days));
        let parts = [Some(&mut self.copies), (kind == PageKind::Front).then_some(&mut self.fronts)];
        for part in parts.into_iter().flatten() {
            part.fresh += fresh;
            part.all += all;
        }
    }

    /// A page got its first copy, or the run ended without one.
    pub(super) fn waited(&mut self, born_days: f64, until_days: f64, copied: bool) {
        if self.is_scored(born_days) {
            self.births += 1;
            self.copied += u64::from(copied);
            self.waited_days += until_days - born_days;
        }
    }

    /// A link to a page was seen for the first time, or the run ended without one.
    pub(super) fn found(&mut self, born_days: f64, at_days: f64) {
        if self.is_scored(born_days) {
            self.found_days += at_days - born_days;
        }
    }

    pub(super) fn scores(self) -> GrowthScores {
        let mean = |sum: f64| if self.births > 0 { sum / self.births as f64 } else { 0.0 };
        GrowthScores {
            freshness: self.copies.share(),
            front_freshness: self.fronts.share(),
            new_page_days: mean(self.waited_days),
            found_days: mean(self.found_days),
            births: self.births,
            copied_share: mean(self.copied as f64),
            fetches: self.fetches,
            coverage: Vec::new(),
        }
    }
}
