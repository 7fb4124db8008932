//! Versions that are held because they may not be the page. They are counted, reported once, and accepted when they last. Nothing
//! is learnt from them. The version before is kept, so that the page is compared with it when it comes back.

use crate::held_versions::HeldVersions;
use crate::judgement::Judgement;
use crate::page_memory::LookMemory;
use crate::page_state::PageState;
use crate::stand_in::{
    AcceptedPage, Arrival, MAX_ERROR_PAGE_BYTES, Suspicion, keeps_most_text, keeps_no_text, suspicion,
};
use crate::verdict::VersionVerdict;
use crate::version::Version;

/// A stand-in is reported at this look in a row. One look may be an accident of the server.
const REPORTED_AT: u8 = 2;
/// An absence adds this much to the count of absences. Each look without one takes one off.
const ABSENCE: u8 = 16;
/// Absences are reported below this count. A page that goes and comes back every few looks is not reported each time.
const REPORTED_ABSENCES: u8 = 3 * ABSENCE;
const MAX_ABSENCES: u8 = 120;
/// The most texts of a stand-in that are reported.
const MAX_REPORTED_TEXTS: usize = 3;
/// The most bytes of each.
const MAX_REPORTED_BYTES: usize = 200;

impl PageState {
    /// Whether a version is suspect. A page that was taken for something else and is itself again is not: the version
    /// before is then the last accepted one again.
    pub(crate) fn suspicion(&mut self, version: &Version<'_>, arrival: Arrival<'_>) -> Option<Suspicion> {
        self.restore_if_back(version);
        let place = self.looks.place;
        let leads_to = arrival.leads_to.filter(|_| place.leads_elsewhere());
        let before = AcceptedPage {
            version: &self.version,
            bytes: self.looks.region_bytes as usize,
            is_pointer: place.is_pointer,
        };
        suspicion(before, version, Arrival { leads_to, ..arrival })
    }

    /// Holds a version, unless enough were held.
    pub(crate) fn hold(
        &mut self,
        suspicion: Suspicion,
        version: &Version<'_>,
        since_last_look_s: Option<i64>,
    ) -> Option<Judgement> {
        let looks = &mut self.looks;
        looks.held = looks.held.hold(since_last_look_s)?;
        let looks_like = suspicion.looks_like.filter(|_| looks.digest.is_some());
        let is_known_as_away = looks.gone || looks.missing || looks.obscured || looks.place.is_redirected();
        let is_due = looks.held.versions >= REPORTED_AT && !is_known_as_away;
        let reports_stand_in = looks_like.is_some() && is_due && looks.may_report_absence();
        looks.obscured |= reports_stand_in;
        let mut judgement =
            Judgement { held: true, looks_like, reports_stand_in, ..Judgement::quiet(VersionVerdict::Cosmetic) };
        if looks_like.is_some() {
            judgement.record.added = first_texts(version);
        }
        Some(judgement)
    }

    /// Judges a version as the page, whatever it looks like.
    pub(crate) fn observe_believing(&mut self, version: &Version<'_>) -> Judgement {
        self.looks.held = HeldVersions::ENOUGH;
        self.observe(version, None)
    }

    /// Ends a row of held versions with a version that is accepted. Returns whether there was one.
    pub(crate) fn end_hold(&mut self) -> bool {
        !std::mem::take(&mut self.looks.held).is_empty()
    }

    /// Accepts a suspect version as the page. What was the page is kept, in case it comes back. The version is judged at
    /// once if it needs no word: the redirect that led to it was reported.
    pub(crate) fn believe_stand_in(&mut self, version: &Version<'_>) -> Option<Judgement> {
        let earlier = self.version.earlier.take().unwrap_or_else(|| Box::new(self.version.clone()));
        self.looks.obscured = false;
        let judgement = self.looks.place.is_redirected().then(|| self.begin_anew(version));
        self.version.earlier = Some(earlier);
        judgement
    }

    /// Whether the page is known to people as away, and is back now. Call it for each look that shows the page.
    pub fn end_absence(&mut self) -> bool {
        let was_missing = std::mem::take(&mut self.looks.missing);
        std::mem::take(&mut self.looks.obscured) | was_missing
    }

    fn restore_if_back(&mut self, version: &Version<'_>) {
        let Some(earlier) = &self.version.earlier else { return };
        if keeps_most_text(earlier, version) && keeps_no_text(&self.version, version) {
            if let Some(earlier) = self.version.earlier.take() {
                self.version = *earlier;
                // The copy that is kept is that of the stand-in, as after a page that was gone.
                self.looks.gone = true;
                (self.looks.open_added, self.looks.open_removed) = Default::default();
            }
        } else if version.region_bytes >= MAX_ERROR_PAGE_BYTES
            && keeps_no_text(&self.version, version)
            && keeps_no_text(earlier, version)
        {
            // The version is neither the stand-in nor the page before it, and too long for a wall: the page is another one now.
            self.version.earlier = None;
        }
    }
}

impl LookMemory {
    /// Counts an absence. Returns whether it is reported: that of a page which was often away lately is not.
    pub(crate) fn may_report_absence(&mut self) -> bool {
        let is_reported = self.absences < REPORTED_ABSENCES;
        self.absences = self.absences.saturating_add(ABSENCE).min(MAX_ABSENCES);
        is_reported
    }

    /// Records a look that shows the page where it was.
    pub(crate) fn record_no_absence(&mut self) {
        self.absences = self.absences.saturating_sub(1);
    }
}

/// The first texts of a version, its title first, shortened.
fn first_texts(version: &Version<'_>) -> Vec<String> {
    let blocks = version.blocks();
    let title = blocks.stated.iter().find(|stated| stated.property() == "title").map(|stated| stated.block);
    let texts = (0..blocks.list.len()).filter(|block| !blocks.list[*block].part.fact);
    let texts = title.into_iter().chain(texts).map(|block| blocks.text(&blocks.list[block]));
    let mut reported: Vec<String> = Vec::new();
    for text in texts.filter(|text| !text.is_empty()) {
        let text = document::prefix(text, MAX_REPORTED_BYTES);
        if !reported.iter().any(|other| other == text) {
            reported.push(text.to_owned());
        }
        if reported.len() == MAX_REPORTED_TEXTS {
            break;
        }
    }
    reported
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of versions held before one is accepted, with a look every `every_s` seconds.
    fn held(every_s: Option<i64>) -> u32 {
        let (mut held, mut count) = (HeldVersions::default(), 0);
        while let Some(next) = held.hold(every_s) {
            (held, count) = (next, count + 1);
        }
        count
    }

    #[test]
    fn what_stands_in_a_pages_place_is_the_page_after_three_versions_and_eighteen_hours() {
        assert_eq!(held(Some(6 * 3_600)), 3);
        assert_eq!(held(Some(86_400)), 3);
        assert_eq!(held(Some(3_600)), 18, "looks at short intervals do not make it so");
        assert_eq!(held(Some(60)), 1_080, "nor very many of them");
        assert_eq!(held(None), 3, "a recorded history may have no times");
    }
}
