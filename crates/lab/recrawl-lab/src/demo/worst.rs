//! The pages on which the live replay did worst, with the times of their changes and fetches.

use super::books::Books;
use super::contest::ByCrawler;
use serde::Serialize;
use simweb::{Looks, TimeWindow};

/// Number of pages shown.
const SHOWN: usize = 5;
/// Most times kept of one page. If there are more, an even sample is kept, because the chart could not show them apart.
const TIMES_MAX: usize = 400;
/// Most stale spells kept of one page.
const SPELLS_MAX: usize = 2_000;

/// A page, with its changes, fetches and stale spells in the scored time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct WorstPage {
    pub(super) url: String,
    pub(super) weight: f64,
    pub(super) stale_share: f64,
    pub(super) stale_share_round_robin: f64,
    pub(super) changes: usize,
    pub(super) fetches: usize,
    /// Times in days since the start of the scored time, of which it has this many.
    pub(super) days: f64,
    pub(super) changed_at_days: Vec<f64>,
    pub(super) fetched_at_days: Vec<f64>,
    /// Spells in which the copy was stale.
    pub(super) stale_days: Vec<(f64, f64)>,
}

/// The pages that were stale for the largest share of the scored time, worst first.
pub(super) fn worst_pages(books: &Books, looks: &ByCrawler<Looks>, scored: TimeWindow) -> Vec<WorstPage> {
    let judged = &books.judged;
    let mut stale: Vec<(f64, usize)> = (0..judged.pages.len())
        .map(|page| (looks.recrawl.stale_share_of(judged, page, scored), page))
        .filter(|(share, _)| *share > 0.0)
        .collect();
    stale.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    stale.truncate(SHOWN);
    stale.into_iter().map(|(share, page)| reported(books, looks, scored, page, share)).collect()
}

fn reported(books: &Books, looks: &ByCrawler<Looks>, scored: TimeWindow, page: usize, stale_share: f64) -> WorstPage {
    let history = &books.judged.pages[page];
    let day = |at: page::Timestamp| at.days_since(scored.start);
    let inside = |days: &f64| (0.0..scored.days()).contains(days);
    let changed: Vec<f64> = history.states.iter().skip(1).map(|state| day(state.since)).filter(inside).collect();
    let fetched: Vec<f64> = looks.recrawl.of_page(page).iter().map(|look| day(look.at)).filter(inside).collect();
    let few = |times: &[f64]| times.iter().copied().step_by(times.len().div_ceil(TIMES_MAX).max(1)).collect();
    WorstPage {
        url: history.url(),
        weight: books.weights.get(page).copied().unwrap_or(1.0),
        stale_share,
        stale_share_round_robin: looks.round_robin.stale_share_of(&books.judged, page, scored),
        changes: changed.len(),
        fetches: fetched.len(),
        days: scored.days(),
        stale_days: stale_spells(books, &looks.recrawl, scored, page),
        changed_at_days: few(&changed),
        fetched_at_days: few(&fetched),
    }
}

/// From the first change that the copy misses to the next look, for every copy.
fn stale_spells(books: &Books, looks: &Looks, scored: TimeWindow, page: usize) -> Vec<(f64, f64)> {
    let history = &books.judged.pages[page];
    let looks = looks.of_page(page);
    let mut spells = Vec::new();
    let mut add = |from: page::Timestamp, to: page::Timestamp| {
        let (from, to) = (from.max(scored.start), to.min(scored.end));
        if from < to && spells.len() < SPELLS_MAX {
            spells.push((from.days_since(scored.start), to.days_since(scored.start)));
        }
    };
    add(scored.start, looks.first().map_or(scored.end, |first| first.at));
    for (number, look) in looks.iter().enumerate() {
        let until = looks.get(number + 1).map_or(scored.end, |next| next.at);
        if let Some(missed) = history.states.get(look.version as usize + 1) {
            add(missed.since.max(look.at), until);
        }
    }
    spells
}

#[cfg(test)]
mod tests {
    use super::*;
    use page::Timestamp;
    use simweb::ChangeTrace;

    #[test]
    fn the_worst_page_comes_first_with_its_changes_fetches_and_stale_spells() {
        let day = 86_400;
        let text = format!(
            "host,path,states,days=10\na.test,/still,A-5,\na.test,/busy,A-5 M{} M{},\na.test,/slow,A-5 M{},\n",
            4 * day + 5,
            day,
            9 * day + 5
        );
        let judged = ChangeTrace::read_csv(text.as_bytes(), Timestamp::from_secs(0)).expect("it is a trace");
        let window = judged.window;
        let books = Books { weights: vec![1.0; 3], ledger: Vec::new(), judged };
        let turn = |per_day| simweb::round_robin(&books.judged, window, per_day);
        // Pages 0, 1 and 2 are fetched at 0, 1 and 2 days, and so on.
        let looks = ByCrawler {
            recrawl: turn(1.0),
            round_robin: turn(3.0),
            stormcrawler: turn(1.0),
            oracle: turn(1.0),
            clairvoyant: turn(1.0),
        };
        let scored = TimeWindow { start: window.start.plus_days(3.0), end: window.end };
        let worst = worst_pages(&books, &looks, scored);
        let urls: Vec<_> = worst.iter().map(|page| page.url.as_str()).collect();
        assert_eq!(urls, ["http://a.test/busy", "http://a.test/slow"]);
        let busy = &worst[0];
        assert_eq!((busy.changes, busy.fetches, busy.days), (2, 2, 7.0));
        assert_eq!(busy.fetched_at_days, [1.0, 4.0]);
        assert_eq!(busy.stale_days, [(2.0, 4.0)]);
        assert_eq!(busy.changed_at_days, [1.0, 2.0]);
    }

    #[test]
    fn of_many_changes_those_that_are_kept_cover_the_whole_time() {
        let busy = format!("host,path,states,days=10\na.test,/busy,A-5{},\n", " M600".repeat(1_400));
        let judged = ChangeTrace::read_csv(busy.as_bytes(), Timestamp::from_secs(0)).expect("it is a trace");
        let scored = judged.window;
        let books = Books { weights: vec![1.0], ledger: Vec::new(), judged };
        let turn = || simweb::round_robin(&books.judged, scored, 1.0);
        let looks = ByCrawler {
            recrawl: turn(),
            round_robin: turn(),
            stormcrawler: turn(),
            oracle: turn(),
            clairvoyant: turn(),
        };
        let worst = &worst_pages(&books, &looks, scored)[0];
        assert_eq!(worst.changes, 1_400);
        assert!(worst.changed_at_days.len() <= TIMES_MAX);
        assert!(worst.changed_at_days.last() > Some(&9.6), "{:?}", worst.changed_at_days.last());
    }
}
