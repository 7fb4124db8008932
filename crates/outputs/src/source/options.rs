//! The part of a topic that is wanted.

use super::{Cursor, PageRecord, RecordSink, Start, TopicFollower, pause};
use clap::Args;
use daemon::{CommandFailure, StopSignal};
use page::Timestamp;
use std::time::{Duration, UNIX_EPOCH};
use stream::protocol::wait_after;

/// Poll interval, in real time.
const FOLLOW_EVERY: Duration = Duration::from_millis(200);

/// Selects a part of a topic.
#[derive(Args, Clone, Debug, Default)]
pub struct FollowOptions {
    /// Only records from this time on: 2026-11-21, 2026-11-21T08:00:00Z or Unix seconds.
    #[arg(long, value_name = "T", value_parser = moment)]
    pub since: Option<Timestamp>,
    /// Resumes after the record that had this cursor.
    #[arg(long, value_name = "C", conflicts_with = "since")]
    pub cursor: Option<Cursor>,
    /// Waits for more records, until stopped.
    #[arg(long)]
    pub follow: bool,
    /// Ends after this many records.
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
}

impl FollowOptions {
    /// Passes on the records one by one, until there are no more, `limit` is reached, or the signal stops it.
    ///
    /// # Errors
    /// Those of the sink, and those of the log. A Kafka that is followed may be away: it is waited for.
    pub fn each<M: PageRecord>(
        &self,
        follower: &mut TopicFollower<M>,
        stop: &StopSignal,
        sink: &mut impl RecordSink<M>,
    ) -> Result<(), CommandFailure> {
        let mut taken = 0;
        while !stop.is_stopped() && self.limit.is_none_or(|limit| taken < limit) {
            sink.looks(follower);
            let due = if self.follow { follower.look_ahead_if_due() } else { Ok(()) };
            let next = match due.and_then(|()| follower.next()) {
                // Brokers come back. What has worked before is no matter of settings.
                Err(CommandFailure::World(problem)) if self.follow && follower.is_over_kafka() => {
                    follower.failed(problem);
                    pause(wait_after(follower.failures()), stop);
                    continue;
                }
                next => next?,
            };
            follower.worked();
            match next {
                Some(record) => taken += u64::from(sink.take(record)?),
                None if !self.follow => {
                    sink.rest()?;
                    return follower.ended();
                }
                None => {
                    sink.rest()?;
                    std::thread::sleep(FOLLOW_EVERY);
                    follower.refresh()?;
                }
            }
        }
        Ok(())
    }

    /// Where reading begins, by the flags.
    pub fn start(&self) -> Start {
        Start { cursor: self.cursor.clone(), named: "--cursor".to_owned() }
    }

    /// Where reading begins if an earlier run has noted how far it came. `shown` names where that is noted.
    ///
    /// # Errors
    /// `--cursor` was given, too.
    pub fn resume(&self, noted: Option<Cursor>, shown: &str) -> Result<Start, CommandFailure> {
        match (noted, &self.cursor) {
            (None, _) => Ok(self.start()),
            (Some(_), Some(_)) => Err(CommandFailure::Input(format!(
                "--cursor: {shown} has a cursor already; leave --cursor out, or delete it to begin elsewhere"
            ))),
            (noted, None) => Ok(Start { cursor: noted, named: format!("the cursor in {shown}") }),
        }
    }

    /// Whether a record of this time is wanted.
    pub fn wants(&self, moment: Timestamp) -> bool {
        self.since.is_none_or(|since| moment >= since)
    }
}

fn moment(text: &str) -> Result<Timestamp, String> {
    if let Ok(seconds) = text.parse::<f64>() {
        return Ok(Timestamp::from_micros((seconds * 1e6) as i64));
    }
    let whole = if text.len() == "2026-11-21".len() { format!("{text}T00:00:00Z") } else { text.to_owned() };
    let moment = humantime::parse_rfc3339_weak(&whole)
        .map_err(|_| "give a day (2026-11-21), a time (2026-11-21T08:00:00Z) or Unix seconds".to_owned())?;
    let since = moment.duration_since(UNIX_EPOCH).map_err(|_| "give a time after 1970".to_owned())?;
    Ok(Timestamp::from_micros(since.as_micros() as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_may_be_days_times_or_seconds() {
        let day = Timestamp::from_secs(1_763_683_200);
        for text in ["2025-11-21", "2025-11-21T00:00:00Z", "2025-11-21 00:00:00", "1763683200"] {
            assert_eq!(moment(text), Ok(day), "{text}");
        }
        assert!(moment("yesterday").unwrap_err().contains("2026-11-21"));
    }
}
