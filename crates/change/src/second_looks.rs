//! Second looks distinguish a place that merely differs at every fetch from one that truly changes as often. What differs
//! between two fetches with hardly any time between them is noise, if it does so again: a single difference may be a true change
//! that fell between the two. Nothing is ignored before.
//!
//! A place with another value at every fetch is found by the first pair. A place that differs at half of the fetches (two
//! servers, A/B halves) shows the same value twice as often as not, but its values come back; those of a page that truly
//! changes seldom do. So the pairs are spent on pages whose texts come back, and on those where noise was found already.

use crate::noise::{ChangedUnits, LookFindings};
use crate::page_memory::LookMemory;
use crate::page_state::PageState;
use crate::version::UnitKey;

/// The longest time in seconds between two back-to-back fetches.
pub const BACK_TO_BACK_S: i64 = 120;
/// The wait before the next request of a second fetch doubles with each request that found no noise, at most this many times.
pub(crate) const MAX_SECOND_LOOK_DOUBLINGS: u8 = 6;
/// The requests of a page without signs of noise that are followed by the usual wait.
const REQUESTS_WITHOUT_A_SIGN: u8 = 2;
/// After them the wait of such a page is doubled this many times more.
const DOUBLINGS_WITHOUT_A_SIGN: u8 = 2;
/// The first requests of a page whose texts come back may be followed by one of a third fetch, if the second found no noise.
const THIRD_LOOKS: u8 = 3;
/// The most texts remembered that left the page, to see them come back.
const MAX_LEFT: usize = 16;
/// A change that brings a text back adds this much to the count of returns. A change that brings none takes one off.
const RETURN: u8 = 2;
/// The highest count of returns.
pub(crate) const MAX_RETURNS: u8 = 8;
/// From this count on, the texts of the page come back. Two returns in a row reach it.
const RETURNS: u8 = 3;

/// Whether a fetch this many seconds after the previous one is back to back with it.
pub(crate) fn is_back_to_back(since_last_look_s: Option<i64>) -> bool {
    matches!(since_last_look_s, Some(0..=BACK_TO_BACK_S))
}

impl LookMemory {
    /// Notes the units that came and went with a change, and whether some had left before.
    pub(crate) fn note_returns(&mut self, added: &[UnitKey], removed: &[UnitKey]) {
        let has_left = |key: &UnitKey| self.left.iter().any(|left| left.name() == key.name());
        self.returns = match added.iter().any(has_left) {
            true => (self.returns + RETURN).min(MAX_RETURNS),
            false => self.returns.saturating_sub(1),
        };
        self.left.retain(|left| !removed.iter().any(|key| key.name() == left.name()));
        self.left.extend(removed.iter().take(MAX_LEFT));
        self.left.drain(..self.left.len().saturating_sub(MAX_LEFT));
    }

    fn texts_come_back(&self) -> bool {
        self.returns >= RETURNS
    }

    /// Versions from a request of a second fetch to the next.
    fn rest_after_request(&self) -> u8 {
        let has_sign = self.texts_come_back() || self.noise.places.has_proven();
        let more = if has_sign || self.asked < REQUESTS_WITHOUT_A_SIGN { 0 } else { DOUBLINGS_WITHOUT_A_SIGN };
        1 << (self.asked + more).min(MAX_SECOND_LOOK_DOUBLINGS)
    }
}

impl PageState {
    /// Requests a second fetch while one would be informative, but not at every version.
    pub(crate) fn wants_second_look(&mut self) -> bool {
        self.looks.rest = self.looks.rest.saturating_sub(1);
        let wanted = self.looks.rest == 0 && self.looks.noise.places.has_suspects();
        if wanted {
            self.looks.asked = (self.looks.asked + 1).min(MAX_SECOND_LOOK_DOUBLINGS);
            self.looks.rest = self.looks.rest_after_request();
        }
        wanted
    }

    /// Requests a third fetch where texts come back and the second fetch found no noise: what differs at half of the
    /// fetches is then missed half as often. It counts as a version waited for, so that no fourth follows.
    pub(crate) fn wants_third_look(&mut self) -> bool {
        let is_second_look = self.looks.rest == self.looks.rest_after_request();
        let wanted = is_second_look && self.looks.texts_come_back() && (1..=THIRD_LOOKS).contains(&self.looks.asked);
        self.looks.rest -= u8::from(wanted);
        wanted
    }

    /// Records a version right after another one. Where it found noise, there may be more to find. Where texts come back, the first
    /// pairs clear nothing: half of the noise of two servers shows one value twice.
    pub(crate) fn prove(&mut self, units: &ChangedUnits<'_>, found: &LookFindings) {
        let clears_others = !self.looks.texts_come_back() || self.looks.asked > THIRD_LOOKS;
        let noise = &mut self.looks.noise;
        if noise.prove(units, found, clears_others) || noise.places.has_proven() {
            self.looks.asked = 0;
            self.looks.rest = self.looks.rest.min(1);
        }
    }
}
