//! How many requests are handed out before their host may take them: enough that no host waits for the scheduler, and
//! no more. A backlog at the fetcher would hide whether there are enough fetchers.

use crate::hosts::HostGate;
use crate::rules::FrontierRules;
use page::Timestamp;
use std::time::Duration;

/// Scans that a host is supplied for in advance. Two, because one scan may come late.
const SCANS_AHEAD: u32 = 2;
/// Minimum of requests a host may have in flight, however slow it is. A second can follow while the first is under way,
/// or lost until its lease ends.
const LEAST_OUT: u32 = 2;
/// Maximum of requests a host may have in flight, however fast it is. Without a crawl delay, one host could otherwise
/// take the whole bound on requests in flight.
const MOST_OUT: u32 = 64;

/// How far ahead of the hosts' gates a tick hands out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ahead {
    /// Requests may go out if their host permits them by this time.
    permitted_by: Timestamp,
    /// How much of its own time a host may have in flight.
    work: Duration,
}

impl Ahead {
    /// For a tick at `now`, with a scan of the pages every `scan_interval`.
    pub(crate) fn of_tick(rules: &FrontierRules, scan_interval: Duration, now: Timestamp) -> Self {
        let until_supplied = scan_interval * SCANS_AHEAD;
        // A request that takes longer than its lease would be handed out again before its turn.
        let work = rules.host_ahead.max(until_supplied).min(rules.lease_timeout / 2);
        Self { permitted_by: now + until_supplied, work }
    }

    /// Whether a host may be given another request.
    pub(crate) fn has_room(&self, gate: &HostGate, rules: &FrontierRules) -> bool {
        !gate.is_stopped()
            && gate.next_permitted_at <= self.permitted_by
            && gate.in_flight < self.most_out(gate.time_per_request(rules))
    }

    /// Requests that fit into the work ahead.
    fn most_out(&self, per_request: Duration) -> u32 {
        let fitting = self.work.as_micros().checked_div(per_request.as_micros());
        fitting.and_then(|count| u32::try_from(count).ok()).unwrap_or(MOST_OUT).clamp(LEAST_OUT, MOST_OUT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_into_the_work_ahead_is_between_two_and_the_bound_by_number() {
        let ahead = Ahead { permitted_by: Timestamp::MIN, work: Duration::from_secs(10) };
        let check = |per_request_ms, count| {
            assert_eq!(ahead.most_out(Duration::from_millis(per_request_ms)), count, "{per_request_ms} ms");
        };
        check(0, MOST_OUT);
        check(1, MOST_OUT);
        check(200, 50);
        check(3_000, 3);
        check(5_000, 2);
        check(60_000, LEAST_OUT);
    }
}
