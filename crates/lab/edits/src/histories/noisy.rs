//! Plays noise and the edit within it.

use super::kinds::{Document, HistoryKind, Pace};
use super::template::{Request, filled};
use super::visit::{Looks, reports, visit};
use super::{ADDRESS, HTML, HistoryRow};
use crate::draw::Draw;
use crate::looks::is_reported;
use archives::LivePage;
use change::Judgement;
use page::UrlRules;

/// Visits of a history, and the one from which on the page is edited.
const VISITS: usize = 30;
const EDITED_VISIT: usize = 24;
/// Versions that may be reported before noise is known.
const SHOWN: usize = 8;

/// The text before and behind the place of a history.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a> {
    before: &'a str,
    behind: &'a str,
}

impl<'a> Surroundings<'a> {
    /// # Panics
    /// If the page has no place for a block.
    pub(super) fn of_made(page: &'a str) -> Self {
        let (before, behind) = page.split_once("«block»").expect("a made page has a place");
        Self { before, behind }
    }

    pub(super) fn of_real(page: &'a str, at: usize) -> Option<Self> {
        let (before, behind) = page.split_at_checked(at)?;
        Some(Self { before, behind })
    }

    pub(super) fn with(self, block: &str) -> String {
        [self.before, block, self.behind].concat()
    }
}

/// Plays noise of one kind on each page, with wanted second looks and without them.
pub(super) fn row(
    kind: &HistoryKind,
    pace: Pace,
    pages: &[Surroundings<'_>],
    seed: u64,
    urls: &UrlRules,
) -> HistoryRow {
    let is_kept = pace == Pace::KeptRequest;
    let name = if is_kept { format!("{}, kept for a while", kind.name) } else { kind.name.to_owned() };
    let mut row = HistoryRow::new(name);
    // A document of its own is the same on every page.
    let pages = if kind.is_block() { pages } else { &pages[..1] };
    for (number, page) in pages.iter().enumerate() {
        for looks in [Looks::Wanted, Looks::Single] {
            let draw = Draw::of(seed, kind.name).nth(number);
            NoisyPage { kind, pace, page: *page, draw, requests: 0 }.play(urls, looks, &mut row);
        }
    }
    row
}

/// A page with noise, from request to request.
struct NoisyPage<'a> {
    kind: &'a HistoryKind,
    pace: Pace,
    page: Surroundings<'a>,
    draw: Draw,
    requests: usize,
}

impl NoisyPage<'_> {
    /// The body of the next request, and whether it shows the edit.
    fn body(&mut self, visit: usize) -> (String, bool) {
        self.requests += 1;
        let number = if self.pace == Pace::Request { self.requests } else { visit };
        let request = Request { now_s: visit as i64 * self.kind.every_s, number, now: self.draw.nth(number) };
        let with = |fact: &str| filled(&self.kind.text().replace("«fact»", fact), &request);
        let facts = self.kind.edit.map_or(["", ""], |edit| edit.facts);
        let unedited = with(facts[0]);
        let text = if visit >= EDITED_VISIT { with(facts[1]) } else { unedited.clone() };
        // Of a place that flaps, some requests show what is not edited.
        let is_edited = text != unedited;
        let body = if self.kind.is_block() { self.page.with(&text) } else { text };
        (body, is_edited)
    }

    fn play(&mut self, urls: &UrlRules, looks: Looks, row: &mut HistoryRow) {
        let kind = self.kind;
        let content_type = if let Document::Whole(content_type, _) = kind.document { content_type } else { HTML };
        let mut live = LivePage::new(urls, content_type, ADDRESS);
        let mut last: Option<String> = None;
        let (mut shown, mut edited_visit, mut edit_is_reported) = (0, None, false);
        for number in 0..VISITS {
            let edited = std::cell::Cell::new(false);
            let fetch = || {
                let (body, is_edited) = self.body(number);
                edited.set(is_edited);
                body
            };
            let see = |judgement: &Judgement, body: &str| {
                if edited.get() {
                    edited_visit.get_or_insert(number);
                }
                let differs = last.as_deref().is_some_and(|last| last != body);
                last = Some(body.to_owned());
                if edited_visit == Some(number) {
                    edit_is_reported |= kind.edit.is_some_and(|edit| reports(judgement, edit.says));
                } else if differs {
                    let counts = usize::from(shown >= SHOWN);
                    shown += 1;
                    row.noise.of += counts;
                    row.noise.reported += counts * usize::from(is_reported(judgement));
                }
            };
            visit(&mut live, number as i64 * kind.every_s, looks, fetch, see);
        }
        if edited_visit.is_some() {
            row.edits.of += 1;
            row.edits.reported += usize::from(edit_is_reported);
        }
    }
}
