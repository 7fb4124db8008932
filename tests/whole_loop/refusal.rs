//! A host refuses everything from the first day on and does not say when to come back, then is well.

use crate::simulation::{History, Plan, simulate};
use messages::FetchResult;
use page::{DAY, Timestamp};
use std::time::Duration;

const REFUSING: &str = "site-2.test";
const WELL_FROM_DAY: u32 = 3;
/// Longer than requests are handed out ahead of their time, so that one refusal stops all of them.
const BACKOFF_BASE: Duration = Duration::from_secs(1_800);

fn history() -> History {
    let plan = Plan { days: 8, crashes: false, trouble: false, ..Plan::default() };
    simulate(Plan { backoff_base: BACKOFF_BASE, refusing: Some((REFUSING, WELL_FROM_DAY)), ..plan })
}

fn was_not_sent(answer: &&FetchResult) -> bool {
    answer.look.was_not_sent()
}

#[test]
fn a_refusal_stops_what_was_handed_out_and_every_page_is_fetched_in_the_end() {
    let history = history();
    let well_from = history.start.plus_days(WELL_FROM_DAY.into());
    let of_host = |answer: &&FetchResult| answer.look.url.host().as_str() == REFUSING;
    let refused: Vec<_> = history.answers.iter().filter(|answer| answer.look.status == Some(429)).collect();
    assert!(refused.iter().all(of_host));
    // Pauses of 30 minutes, an hour, two, …, at most a day, with a quarter more or less: some seven fit into three days.
    assert!((5..=9).contains(&refused.len()), "{} requests while the host refused", refused.len());
    for (doublings, pair) in refused.windows(2).enumerate() {
        let pause = pair[1].look.fetched_at.saturating_since(pair[0].look.fetched_at);
        let least = (BACKOFF_BASE * (1 << doublings)).min(DAY).mul_f64(0.75);
        assert!(pause >= least, "{pause:?} after refusal {doublings}");
    }
    let handed_back: Vec<_> = history.answers.iter().filter(was_not_sent).collect();
    assert!(handed_back.len() >= refused.len() && handed_back.iter().all(of_host), "{}", handed_back.len());
    for (id, page) in &history.pages {
        let page = (&page.scheduler, page.detector_fetches, page.estimator_fetches);
        let own = || history.answers.iter().filter(|answer| answer.look.page_id == *id);
        let sent = own().filter(|answer| !was_not_sent(answer)).count() as i64;
        assert_eq!((page.0.fetches, page.1, page.2), (sent, sent, sent), "{}", page.0.url);
        assert_eq!(page.0.request.failures, 0, "{}", page.0.url);
        // What was handed back was due all the time, and there is room for four looks a day at every page.
        let first = own().find(|answer| answer.look.status.is_some_and(|status| status != 429));
        let first = first.map_or(Timestamp::MAX, |look| look.look.fetched_at);
        assert!(first <= well_from + 2 * DAY, "{} was first looked at {first}", page.0.url);
    }
}
