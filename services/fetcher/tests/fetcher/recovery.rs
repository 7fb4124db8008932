//! A host in trouble is left alone, asked slowly, and asked as before, as its own books show.

use crate::troubled_host::{CRAWL_DELAY, RETRY_AFTER, SLOWNESS, begun, crawl};
use page::Timestamp;
use simweb::LedgerEntry;
use std::time::Duration;

/// Time from the end of each request to the beginning of the next.
fn pauses(entries: &[LedgerEntry]) -> Vec<Duration> {
    entries.windows(2).map(|pair| pair[1].started_at.saturating_since(pair[0].ended_at)).collect()
}

#[test]
fn a_host_that_refuses_is_left_alone_a_slow_one_is_asked_slowly_and_a_well_one_as_before() {
    let (ledger, plan) = crawl();
    let before = begun(&ledger, plan.start, plan.refuses_from);
    let refused = begun(&ledger, plan.refuses_from, plan.slow_from);
    let slow = begun(&ledger, plan.slow_from, plan.well_from);
    let well = begun(&ledger, plan.well_from, Timestamp::MAX);

    assert!(before.len() >= 5 && pauses(&before).iter().all(|pause| *pause >= CRAWL_DELAY), "{:?}", pauses(&before));
    assert!((2..=4).contains(&refused.len()), "{} requests while the host refused", refused.len());
    assert!(refused.iter().all(|entry| entry.status == 503));
    assert!(pauses(&refused).iter().all(|pause| *pause >= RETRY_AFTER), "{:?}", pauses(&refused));
    // What was slow is left alone for at least as long as it took.
    assert!(slow.len() >= 2 && pauses(&slow).iter().all(|pause| *pause >= SLOWNESS), "{:?}", pauses(&slow));
    // The first request of the well time may follow a slow one.
    let recovered = pauses(&well[1..]);
    assert!(recovered.iter().all(|pause| *pause >= CRAWL_DELAY), "{recovered:?}");
    let mean = recovered.iter().sum::<Duration>() / recovered.len() as u32;
    assert!(mean < RETRY_AFTER / 4, "{mean:?} between requests to a host that is well");
}
