//! Detects events that hit many pages of a host at once (E6.2): an edit of the template, an outage.
//!
//! A shared edit only annotates a verdict and never decides it: pages of a host are often edited on one day for good
//! reason. Many missing pages do decide: an outage must not delete a site.

use crate::absence::LONGEST_HOLD_S;
use crate::judgement::Judgement;
use crate::state_codec::{StateDecodeError, list, put, take};
use crate::walls::{MAX_REPLACED, RegionReplacement, ReplacedPage, forget, is_everywhere, observe_replacement};
use chance::splitmix64;

/// How long in seconds a change is evidence about other pages of its host.
pub const HOST_EVENT_WINDOW_S: i64 = 86_400;
/// The most changes, and the most missing pages, remembered per host. The oldest are forgotten first.
const MAX_REMEMBERED: usize = 64;
/// Units compared per change. The smallest hashes are taken, so that two changes are compared by the same units.
const SIGNS: usize = 8;
/// The host itself counts as missing from this many missing pages on, unless as many fetches found a page meanwhile.
const MASS: usize = 5;
const CODEC_VERSION: u8 = 2;

/// Recent events on the pages of one host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostEvents {
    /// The most recent changes, oldest first.
    changes: Vec<HostSample>,
    /// Missing pages, each with the UNIX time in seconds of the first fetch that did not find it, oldest first.
    missing: Vec<(u64, i64)>,
    /// Fetches that found a page since the first missing one.
    present: u32,
    /// Pages whose region a short text replaced, oldest first.
    replaced: Vec<ReplacedPage>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct HostSample {
    page: u64,
    unix_time: i64,
    /// Sorted hashes of units, each with whether the unit was added or removed.
    signs: Vec<u64>,
}

impl HostEvents {
    /// Records a meaningful change of a page. Returns whether another page of the host changed within the day before in
    /// mostly the same words. `unix_time` is in seconds.
    pub fn observe_change(&mut self, page: u64, unix_time: i64, judgement: &Judgement) -> bool {
        self.forget(unix_time);
        let signs = signs(judgement);
        let is_same =
            |other: &HostSample| other.page != page && 2 * shared(&other.signs, &signs) >= SIGNS.min(signs.len());
        let everywhere = !signs.is_empty() && self.changes.iter().any(is_same);
        remember(&mut self.changes, HostSample { page, unix_time, signs });
        everywhere
    }

    pub fn observe_present(&mut self, page: u64) {
        self.missing.retain(|(missing, _)| *missing != page);
        self.present = if self.missing.is_empty() { 0 } else { self.present.saturating_add(1) };
    }

    /// Records that a page was not found. Returns whether the host is missing rather than the page. `unix_time` is in
    /// seconds.
    pub fn observe_missing(&mut self, page: u64, unix_time: i64) -> bool {
        self.forget(unix_time);
        if !self.missing.iter().any(|(missing, _)| *missing == page) {
            remember(&mut self.missing, (page, unix_time));
        }
        self.missing.len() >= MASS && self.missing.len() > self.present as usize
    }

    /// Records that a short text replaced the region of a page. Returns whether it is a wall: the text that other pages of
    /// the host show now as well. `unix_time` is in seconds.
    pub fn observe_replacement(&mut self, page: u64, unix_time: i64, replacement: RegionReplacement) -> bool {
        observe_replacement(&mut self.replaced, page, unix_time, replacement)
    }

    /// Whether the text stands in the place of so many pages of the host that it is the host's trouble, and no news of each
    /// page.
    pub fn is_everywhere(&self, replacement: RegionReplacement) -> bool {
        is_everywhere(&self.replaced, replacement)
    }

    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.missing.is_empty() && self.replaced.is_empty()
    }

    fn forget(&mut self, unix_time: i64) {
        self.changes.retain(|change| change.unix_time >= unix_time.saturating_sub(HOST_EVENT_WINDOW_S));
        self.missing.retain(|(_, since)| *since >= unix_time.saturating_sub(LONGEST_HOLD_S));
        forget(&mut self.replaced, unix_time);
        if self.missing.is_empty() {
            self.present = 0;
        }
    }

    /// Encodes a state value: a version byte; the changes as a u32 count and, for each, page, time and a list of signs;
    /// the missing pages as a list of pages and a list of times; the number of fetches that found a page; the replaced
    /// pages as lists of pages, signs before, signs now and times. A list is a u32 count and its u64s. All
    /// little-endian.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![CODEC_VERSION];
        out.extend_from_slice(&(self.changes.len() as u32).to_le_bytes());
        for change in &self.changes {
            out.extend_from_slice(&change.page.to_le_bytes());
            out.extend_from_slice(&change.unix_time.to_le_bytes());
            put(&mut out, change.signs.iter().copied());
        }
        put(&mut out, self.missing.iter().map(|(page, _)| *page));
        put(&mut out, self.missing.iter().map(|(_, since)| since.cast_unsigned()));
        out.extend_from_slice(&self.present.to_le_bytes());
        put(&mut out, self.replaced.iter().map(|replaced| replaced.page));
        put(&mut out, self.replaced.iter().map(|replaced| replaced.before));
        put(&mut out, self.replaced.iter().map(|replaced| replaced.now));
        put(&mut out, self.replaced.iter().map(|replaced| replaced.unix_time.cast_unsigned()));
        out
    }

    /// Decodes the bytes written by [`encode`](Self::encode).
    pub fn decode(bytes: &[u8]) -> Result<Self, StateDecodeError> {
        let mut rest = bytes;
        let [version] = take(&mut rest)?;
        if version != CODEC_VERSION {
            return Err(StateDecodeError::UnknownVersion(version));
        }
        let count = u32::from_le_bytes(take(&mut rest)?) as usize;
        if count > MAX_REMEMBERED {
            return Err(StateDecodeError::BadLength);
        }
        let mut changes = Vec::with_capacity(count);
        for _ in 0..count {
            let page = u64::from_le_bytes(take(&mut rest)?);
            let unix_time = i64::from_le_bytes(take(&mut rest)?);
            changes.push(HostSample { page, unix_time, signs: list(&mut rest)?.collect() });
        }
        let pages: Vec<u64> = list(&mut rest)?.collect();
        let since: Vec<i64> = list(&mut rest)?.map(u64::cast_signed).collect();
        let present = u32::from_le_bytes(take(&mut rest)?);
        let mut column = || -> Result<Vec<u64>, StateDecodeError> { Ok(list(&mut rest)?.collect()) };
        let columns = [column()?, column()?, column()?, column()?];
        let count = columns[0].len();
        if count > MAX_REPLACED || columns.iter().any(|column| column.len() != count) {
            return Err(StateDecodeError::BadLength);
        }
        let replaced = |row: usize| {
            let [page, before, now, unix_time] = columns.each_ref().map(|column| column[row]);
            ReplacedPage { page, before, now, unix_time: unix_time.cast_signed() }
        };
        let replaced = (0..count).map(replaced).collect();
        if pages.len() != since.len() || pages.len() > MAX_REMEMBERED || !rest.is_empty() {
            return Err(StateDecodeError::BadLength);
        }
        Ok(Self { changes, missing: pages.into_iter().zip(since).collect(), present, replaced })
    }
}

/// Appends to a list ordered oldest first; drops the oldest when the list is full.
fn remember<T>(list: &mut Vec<T>, newest: T) {
    if list.len() == MAX_REMEMBERED {
        list.remove(0);
    }
    list.push(newest);
}

fn signs(judgement: &Judgement) -> Vec<u64> {
    let added = judgement.units_added.iter().map(|unit| splitmix64(unit << 1));
    let removed = judgement.units_removed.iter().map(|unit| splitmix64((unit << 1) | 1));
    let mut signs: Vec<u64> = added.chain(removed).collect();
    signs.sort_unstable();
    signs.dedup();
    signs.truncate(SIGNS);
    signs
}

/// How many of the smallest signs of the union are in both changes: their resemblance in eighths (E3).
fn shared(one: &[u64], other: &[u64]) -> usize {
    let mut union: Vec<u64> = one.iter().chain(other).copied().collect();
    union.sort_unstable();
    union.dedup();
    union.iter().take(SIGNS).filter(|sign| one.binary_search(sign).is_ok() && other.binary_search(sign).is_ok()).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::VersionVerdict;
    use crate::{PageState, Version};

    fn change(added: &[u64], removed: &[u64]) -> Judgement {
        let (units_added, units_removed) = (added.to_vec(), removed.to_vec());
        Judgement { units_added, units_removed, ..Judgement::quiet(VersionVerdict::Minor) }
    }

    #[test]
    fn what_comes_to_several_pages_within_a_day_is_the_hosts() {
        let mut host = HostEvents::default();
        let template = change(&[7], &[8]);
        assert!(!host.observe_change(1, 0, &template), "the first page is evidence about the others only");
        assert!(host.observe_change(2, 60, &template));
        assert!(!host.observe_change(3, 60, &change(&[7, 9, 10, 11], &[])), "most of it is this page's own");
        assert!(!host.observe_change(4, 60, &change(&[8], &[7])), "the other way round");
        assert!(!host.observe_change(2, 2 * HOST_EVENT_WINDOW_S, &template), "that was days ago");
        assert!(!host.observe_change(2, 2 * HOST_EVENT_WINDOW_S + 1, &template), "the same page is no other");
        assert!(!host.observe_change(5, 2 * HOST_EVENT_WINDOW_S + 1, &change(&[], &[])));
    }

    #[test]
    fn a_host_is_missing_when_most_of_what_is_looked_for_is() {
        let mut host = HostEvents::default();
        assert!((1..5).all(|page| !host.observe_missing(page, 0)));
        assert!(!host.observe_missing(4, 0), "the same page is no other");
        assert!(host.observe_missing(5, 60));
        (10..15).for_each(|page| host.observe_present(page));
        assert!(!host.observe_missing(5, 120), "as many are there");
        host.observe_present(1);
        assert!(!host.observe_missing(6, 120));
        assert!(!HostEvents::default().observe_missing(1, 0));
        assert!(!host.observe_missing(7, 2 * LONGEST_HOLD_S), "the others were long ago");
    }

    #[test]
    fn what_is_remembered_is_bounded_and_survives() {
        let mut host = HostEvents::default();
        for page in 0..200 {
            host.observe_change(page, page as i64, &change(&(0..page % 20).collect::<Vec<_>>(), &[page]));
            host.observe_missing(page, page as i64);
        }
        host.observe_present(199);
        for page in 0..60 {
            let body = format!("<p>{page}</p>");
            let urls = page::UrlRules::none();
            let version = |body| Version::new(body, Some("text/html"), None, &urls);
            let mut state = PageState::default();
            state.observe(&version(b"<p>old"), None);
            let replacement = state.replacement_by(&version(body.as_bytes())).expect("it is short");
            assert!(!host.observe_replacement(page, 200, replacement));
        }
        assert_eq!((host.changes.len(), host.missing.len(), host.present), (64, 63, 1));
        let bytes = host.encode();
        assert!(bytes.len() < 8_000, "{}", bytes.len());
        assert_eq!(HostEvents::decode(&bytes), Ok(host));
        for length in 0..bytes.len() {
            assert!(HostEvents::decode(&bytes[..length]).is_err(), "{length}");
        }
        assert!(HostEvents::default().is_empty());
    }
}
