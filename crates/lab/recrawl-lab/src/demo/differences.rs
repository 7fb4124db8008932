//! Some changes that the live replay caught, as a reader sees them.

use super::books::Books;
use change::ChangeRecord;
use recrawl::ruled_diff::{Comparing, GivenVersion};
use simweb::{Looks, PageHistory, Web};
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;

/// Number of changes shown.
const SHOWN: usize = 5;
/// Most changes compared to find them.
const TRIED: usize = 120;
/// A change is shown if at most `UNITS_MAX` units of a page differ, with at most `CHARACTERS_MAX` characters in all.
const UNITS_MAX: usize = 6;
const CHARACTERS_MAX: usize = 1_200;
/// Longest body compared.
const BODY_MAX: usize = 1 << 20;

/// A change between two looks.
#[derive(Clone, Debug)]
pub(super) struct SeenDifference {
    pub(super) url: String,
    /// Days from the start of the window to the look that found it.
    pub(super) found_on_day: f64,
    /// Days from the change to that look.
    pub(super) found_after_days: f64,
    pub(super) record: ChangeRecord,
}

/// A pair of versions that the crawl had one after the other, and that do not mean the same.
struct Candidate {
    page: usize,
    versions: [u32; 2],
    found_at: page::Timestamp,
}

/// Changes with little text, of different hosts where there are enough.
pub(super) fn seen_differences(
    web: &Web,
    books: &Books,
    meaning: &Books,
    comparing: &Comparing,
) -> io::Result<Vec<SeenDifference>> {
    let number: HashMap<(Arc<str>, Arc<str>), usize> =
        web.trace().pages.iter().enumerate().map(|(number, page)| (address(page), number)).collect();
    let (mut shown, mut hosts) = (Vec::new(), HashSet::new());
    let mut spare = Vec::new();
    for candidate in candidates(books, meaning).into_iter().take(TRIED) {
        let page = &books.judged.pages[candidate.page];
        let Some(number) = number.get(&address(page)) else { continue };
        let Some(difference) = compared(web, *number, page, &candidate, comparing, books)? else { continue };
        let group = if hosts.insert(Arc::clone(&page.host)) { &mut shown } else { &mut spare };
        group.push(difference);
        if shown.len() >= SHOWN {
            break;
        }
    }
    shown.extend(spare);
    shown.truncate(SHOWN);
    Ok(shown)
}

fn address(page: &PageHistory) -> (Arc<str>, Arc<str>) {
    (Arc::clone(&page.host), Arc::clone(&page.path))
}

/// The last change found on each page, hosts in turn.
fn candidates(books: &Books, meaning: &Books) -> Vec<Candidate> {
    let raw = Looks::of_ledger(&books.judged, &books.ledger);
    let meant = Looks::of_ledger(&meaning.judged, &meaning.ledger);
    let mut turns: HashMap<&Arc<str>, usize> = HashMap::new();
    let mut found = Vec::new();
    for (page, history) in books.judged.pages.iter().enumerate() {
        // Both have the same requests in the same order.
        let (raw, meant) = (raw.of_page(page), meant.of_page(page));
        let pair = raw.windows(2).zip(meant.windows(2)).rfind(|(_, meant)| meant[0].version != meant[1].version);
        if let Some((raw, _)) = pair {
            let turn = turns.entry(&history.host).or_insert(0);
            *turn += 1;
            let versions = [raw[0].version, raw[1].version];
            found.push((*turn, Candidate { page, versions, found_at: raw[1].at }));
        }
    }
    found.sort_by_key(|(turn, candidate)| (*turn, candidate.page));
    found.into_iter().map(|(_, candidate)| candidate).collect()
}

fn compared(
    web: &Web,
    number: usize,
    page: &PageHistory,
    candidate: &Candidate,
    comparing: &Comparing,
    books: &Books,
) -> io::Result<Option<SeenDifference>> {
    let [old, new] = [web.body(number, candidate.versions[0])?, web.body(number, candidate.versions[1])?];
    let is_usual = |body: &[u8]| !body.is_empty() && body.len() <= BODY_MAX;
    if !is_usual(&old) || !is_usual(&new) {
        return Ok(None);
    }
    let url = page.url();
    let given = |bytes| GivenVersion { bytes, url: Some(&url), content_type: Some(&page.media_type) };
    let record = comparing.compare(given(&old), given(&new)).diff.record;
    let side = |text: &Option<String>| text.as_ref().map_or(0, |text| text.chars().count());
    let characters: usize = record.changes.iter().map(|unit| side(&unit.before) + side(&unit.after)).sum();
    if record.changes.is_empty()
        || record.changes.len() > UNITS_MAX
        || characters > CHARACTERS_MAX
        || record.left_out > 0
    {
        return Ok(None);
    }
    let changed = page.states.get(candidate.versions[0] as usize + 1).map_or(candidate.found_at, |state| state.since);
    Ok(Some(SeenDifference {
        found_on_day: candidate.found_at.days_since(books.judged.window.start),
        found_after_days: candidate.found_at.days_since(changed).max(0.0),
        url,
        record,
    }))
}
