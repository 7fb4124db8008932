//! The last report of the backlog, as long as it is shown.

use super::Backlogs;
use page::Timestamp;
use std::time::{Duration, Instant};

/// How long a report is shown, in real time. It is renewed every few seconds, and a figure that stands still would look like
/// a crawl without trouble.
const HOLDS: Duration = Duration::from_secs(60);

/// Backlog of one partition of a stage.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShownBacklog {
    pub(crate) stage: &'static str,
    pub(crate) partition: u32,
    pub(crate) records: u64,
    pub(crate) oldest_s: f64,
}

/// The backlog of stages as a log reported it.
#[derive(Debug)]
pub(crate) struct BacklogReport {
    at: Instant,
    backlogs: Vec<ShownBacklog>,
}

impl BacklogReport {
    /// A report of time `now` of the web, made at `at`.
    pub(crate) fn new(backlogs: Backlogs, now: Timestamp, at: Instant) -> Self {
        let shown = backlogs.into_iter().flat_map(|(stage, partitions)| {
            partitions.into_iter().map(move |of| {
                let oldest_s = of.oldest.map_or(0.0, |oldest| now.saturating_since(oldest).as_secs_f64());
                ShownBacklog { stage, partition: of.partition, records: of.records, oldest_s }
            })
        });
        Self { at, backlogs: shown.collect() }
    }

    /// The backlog, unless the report is old.
    pub(crate) fn current(&self, at: Instant) -> &[ShownBacklog] {
        if at.saturating_duration_since(self.at) < HOLDS { &self.backlogs } else { &[] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stream::Backlog;

    #[test]
    fn a_report_is_shown_for_a_minute() {
        let start = Instant::now();
        let backlog = Backlog { partition: 2, records: 7, oldest: Some(Timestamp::from_secs(70)) };
        let report = BacklogReport::new(vec![("scheduler", vec![backlog])], Timestamp::from_secs(100), start);
        let shown = ShownBacklog { stage: "scheduler", partition: 2, records: 7, oldest_s: 30.0 };
        assert_eq!(report.current(start + Duration::from_secs(59)), [shown]);
        assert_eq!(report.current(start + Duration::from_secs(60)), []);
    }
}
