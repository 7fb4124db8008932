//! Hosts have more pages than the crawl may know of them, so that pages make room for others, and come back.

use crate::simulation::{Plan, simulate};
use messages::{DetectorEvent, Encoded, FetchRequest, PageChange, Verdict};
use page::{PageId, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// Most pages make room on the first day, before it is clear what they are worth.
const DAYS: u32 = 1;
const HISTORIES: u64 = 40;

#[test]
fn nothing_is_reported_of_a_page_that_made_room_until_it_is_known_again() {
    let (mut removals, mut came_back) = (0, 0);
    for seed in (0..HISTORIES).map(|number| crate::seed() + number) {
        let history = simulate(Plan { seed, days: DAYS, links: true, max_pages_per_host: 6, ..Plan::default() });
        let requests = history.requests.iter().map(|request| ((request.page_id, request.attempt), request));
        let requests: BTreeMap<(PageId, i64), &FetchRequest> = requests.collect();
        let changes = history.page_changes.iter();
        let changes = changes.map(|record| PageChange::decode(record.value.as_ref().unwrap()).unwrap());
        let reported: BTreeMap<(PageId, Timestamp), PageChange> =
            changes.map(|change| ((change.page_id, change.seen_at), change)).collect();
        let new: Vec<PageId> =
            reported.values().filter(|it| it.verdict == Verdict::First).map(|change| change.page_id).collect();
        came_back += new.len() - new.iter().collect::<BTreeSet<_>>().len();
        let (mut removed, mut latest) = (BTreeMap::new(), BTreeMap::new());
        for record in &history.fetch_results {
            let look = match DetectorEvent::decode(record.value.as_ref().unwrap()).unwrap() {
                DetectorEvent::Removal(removal) => {
                    removals += 1;
                    removed.insert(removal.url.page_id(), removal.removed_at);
                    continue;
                }
                DetectorEvent::Result(result) => result.look,
                DetectorEvent::Question(_) | DetectorEvent::SeedFailure(_) => continue,
            };
            let id = look.page_id;
            // The fetcher notes what it has answered and asks a host for one page after the other, so no answer comes
            // again, or behind one to a later request for its page. In this web some do: they are left out.
            let latest: &mut i64 = latest.entry(id).or_default();
            let is_old = look.attempt <= std::mem::replace(latest, look.attempt.max(*latest));
            let Some(removed_at) = removed.get(&id).filter(|_| !is_old) else { continue };
            let request = requests[&(id, look.attempt)];
            let is_reported = reported.contains_key(&(id, look.fetched_at));
            let is_known = request.issued_at > *removed_at;
            assert!(is_known || !is_reported, "seed {seed}: removed at {removed_at}, and told of after {request:?}");
        }
    }
    assert!(removals >= 200 && came_back >= 40, "{removals} removals, {came_back} pages back: that proves little");
}
