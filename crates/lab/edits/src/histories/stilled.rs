//! A place that was noise and has stood still since: its next changes are reported.

use super::visit::{Looks, reports, visit};
use super::{ADDRESS, HTML, HistoryRow, PAGES, Surroundings};
use archives::LivePage;
use page::UrlRules;

const HOUR_S: i64 = 3_600;
/// Visits at which the place differs at every request.
const NOISY: usize = 12;
/// Visits at which it rests.
const QUIET: usize = 60;
/// Changes after that, and the visits from one to the next.
const CHANGES: usize = 6;
const EACH: usize = 6;

/// The block of a place, by a number.
type Shows = fn(usize) -> String;

const PLACES: [(&str, Shows); 3] = [
    ("number that was a counter and stands still", |n| format!("<p>Free places in the course: {n}</p>")),
    ("target that was drawn anew and stands still", |n| format!("<p>The <a href=\"/plans/{n}.pdf\">plan</a></p>")),
    ("state that flapped and stands still", |n| format!("<p>Crane: {} {n}</p>", ["waits", "works"][n % 2])),
];

pub(super) fn rows(urls: &UrlRules) -> impl Iterator<Item = HistoryRow> {
    PLACES.iter().map(move |(name, shows)| row(name, *shows, urls))
}

fn row(name: &str, shows: Shows, urls: &UrlRules) -> HistoryRow {
    let mut row = HistoryRow::new(name.to_owned());
    let page = Surroundings::of_made(PAGES[1]);
    let mut live = LivePage::new(urls, HTML, ADDRESS);
    let mut requests = 0;
    for number in 0..NOISY + QUIET + EACH * CHANGES {
        let change = number.saturating_sub(NOISY + QUIET - EACH) / EACH;
        let (is_noisy, says) = (number < NOISY, 200 - change);
        let fetch = || {
            requests += 1;
            page.with(&shows(if is_noisy { 500 + 7 * requests } else { says }))
        };
        let is_first = number >= NOISY + QUIET && (number - NOISY - QUIET).is_multiple_of(EACH);
        let mut is_found = false;
        let see = |judgement: &_, _: &str| is_found |= reports(judgement, &says.to_string());
        visit(&mut live, number as i64 * HOUR_S, Looks::Wanted, fetch, see);
        row.edits.of += usize::from(is_first);
        row.edits.reported += usize::from(is_first && is_found);
    }
    row
}
