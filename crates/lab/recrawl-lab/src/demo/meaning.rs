//! Reduces a replay's ledger to meaningful changes: consecutive versions of the same meaning become one.
//!
//! Most byte-level changes are noise: counters, timestamps, advertisements. recrawl does not spend its budget on them,
//! so byte-level freshness is not its goal. The whole history of each page is judged in order, by the rules of `recrawl
//! detect`.

use super::books::Books;
use change::{PageState, Version};
use page::UrlRules;
use simweb::{PageHistory, StateContent, Web};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

type HostAndPath = (Arc<str>, Arc<str>);

/// The books with versions of the same meaning merged. Calls `progress` after each page with the number of pages read.
pub(super) fn by_meaning(
    web: &Web,
    books: &Books,
    urls: &UrlRules,
    progress: &(dyn Fn(usize) + Sync),
) -> io::Result<Books> {
    let number: HashMap<HostAndPath, usize> =
        web.trace().pages.iter().enumerate().map(|(number, page)| (address(page), number)).collect();
    let next = AtomicUsize::new(0);
    let work = || -> io::Result<Vec<(usize, Vec<u32>)>> {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(page) = books.judged.pages.get(index) else { return Ok(done) };
            done.push((index, meanings(web, page, number[&address(page)], urls)?));
            progress(index + 1);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    let read: io::Result<Vec<_>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("reading a page does not panic")).collect()
    });
    let mut meant = vec![Vec::new(); books.judged.pages.len()];
    for (index, meanings) in read?.into_iter().flatten() {
        meant[index] = meanings;
    }
    Ok(merge(books, &meant))
}

/// `meant` gives the meaning's number for each page and version.
fn merge(books: &Books, meant: &[Vec<u32>]) -> Books {
    let mut merged = books.clone();
    for (page, meant) in merged.judged.pages.iter_mut().zip(meant) {
        let (mut meanings, mut last) = (meant.iter(), None);
        page.states.retain(|_| {
            let meaning = meanings.next();
            std::mem::replace(&mut last, meaning) != meaning
        });
    }
    let by_address: HashMap<HostAndPath, &Vec<u32>> = books.judged.pages.iter().map(address).zip(meant).collect();
    for entry in &mut merged.ledger {
        let meant = by_address.get(&(Arc::clone(&entry.host), Arc::clone(&entry.path)));
        if let (Some(meant), Some(version)) = (meant, entry.version) {
            entry.version = Some(meant[version as usize]);
        }
    }
    merged
}

fn address(page: &PageHistory) -> HostAndPath {
    (Arc::clone(&page.host), Arc::clone(&page.path))
}

/// The number of each version's meaning, counted from 0.
fn meanings(web: &Web, page: &PageHistory, number: usize, urls: &UrlRules) -> io::Result<Vec<u32>> {
    let mut state = PageState::default();
    let mut meaning = 0;
    let mut meanings = Vec::with_capacity(page.states.len());
    for (version, content) in page.states.iter().map(|state| state.content).enumerate() {
        let is_news = match content {
            StateContent::Gone => state.observe_gone().meaningful,
            // Every version has different generated text.
            StateContent::Generated => true,
            StateContent::Blob(_) => {
                let body = web.body(number, version as u32)?;
                let url = page.url();
                let judgement = state.observe(&Version::new(&body, Some(&page.media_type), Some(&url), urls), None);
                judgement.meaningful || judgement.verdict == change::VersionVerdict::Returned
            }
        };
        meaning += u32::from(is_news && version > 0);
        meanings.push(meaning);
    }
    Ok(meanings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use page::Timestamp;
    use simweb::{ChangeTrace, LedgerEntry, RequestKind, TimeWindow};

    #[test]
    fn versions_that_say_the_same_are_one() {
        let second = Timestamp::from_secs;
        let states = [0, 10, 20, 30]
            .map(|since| simweb::HistoryState { since: second(since), content: StateContent::Generated });
        let page = PageHistory {
            host: "a.test".into(),
            path: "/".into(),
            media_type: "text/html".into(),
            states: states.to_vec(),
            change_rate_per_day: None,
        };
        let window = TimeWindow { start: second(5), end: second(45) };
        let entry = LedgerEntry {
            host: "a.test".into(),
            path: "/".into(),
            kind: RequestKind::Page,
            started_at: second(15),
            ended_at: second(15),
            status: 200,
            version: Some(1),
            bytes: 1,
            in_flight: 1,
            disallowed: false,
            tls: false,
        };
        let books =
            Books { judged: ChangeTrace { window, pages: vec![page] }, ledger: vec![entry], weights: vec![1.0] };
        let fresh = |books: &Books| simweb::freshness(&books.judged, &books.ledger, window);
        let raw = fresh(&books);
        assert_eq!((raw.freshness, raw.changes_total), (0.125, 3), "from 15 to 20 of 40");
        let meant = fresh(&merge(&books, &[vec![0, 0, 0, 1]]));
        assert_eq!((meant.freshness, meant.changes_total), (0.375, 1), "from 15 to 30");
    }
}
