//! The part of a topic that is wanted.

use super::{Cursor, PageRecord, RecordSink, Start, TopicFollower, pause};
use clap::Args;
use daemon::{CommandFailure, StopSignal};
use page::Timestamp;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use stream::protocol::wait_after;

/// Poll interval, in real time.
const FOLLOW_EVERY: Duration = Duration::from_millis(200);

const DAY: Duration = Duration::from_secs(86_400);

/// Selects a part of a topic.
#[derive(Args, Clone, Debug, Default)]
pub struct FollowOptions {
    /// Only records from this time on, in UTC: 1h (ago), yesterday, today, 2026-11-21, 2026-11-21 08:00, 2026-11-21T08:00:00Z or
    /// Unix seconds.
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
                Some(record) => {
                    // A gap before the record is known only now.
                    sink.looks(follower);
                    taken += u64::from(sink.take(record)?);
                }
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

/// A moment as it is typed: how long ago, or when.
fn moment(text: &str) -> Result<Timestamp, String> {
    moment_seen_from(Timestamp::from_micros(micros_since_epoch(SystemTime::now())?), text)
}

fn moment_seen_from(now: Timestamp, text: &str) -> Result<Timestamp, String> {
    if let Some(seconds) = text.parse::<f64>().ok().filter(|seconds| seconds.is_finite()) {
        return Ok(Timestamp::from_micros((seconds * 1e6) as i64));
    }
    if let Ok(ago) = humantime::parse_duration(text) {
        return Ok(now - ago);
    }
    let midnight = Timestamp::from_micros(now.as_micros() - now.as_micros().rem_euclid(DAY.as_micros() as i64));
    let whole = match text {
        "today" => return Ok(midnight),
        "yesterday" => return Ok(midnight - DAY),
        day if day.len() == "2026-11-21".len() => format!("{day}T00:00:00Z"),
        minute if minute.len() == "2026-11-21 08:00".len() => format!("{minute}:00Z"),
        whole => whole.to_owned(),
    };
    let moment = humantime::parse_rfc3339_weak(&whole).map_err(|_| {
        "give how long ago (30m, 12h, 2d), yesterday, today, a day (2026-11-21), a time in UTC (2026-11-21 08:00, 2026-11-21T08:00:00Z) or \
         Unix seconds"
            .to_owned()
    })?;
    Ok(Timestamp::from_micros(micros_since_epoch(moment)?))
}

fn micros_since_epoch(moment: SystemTime) -> Result<i64, String> {
    let since = moment.duration_since(UNIX_EPOCH).map_err(|_| "give a time after 1970".to_owned())?;
    Ok(since.as_micros() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_secs(1_763_683_200 + 12 * 3_600);

    #[test]
    fn moments_may_be_days_times_seconds_or_how_long_ago() {
        let day = Timestamp::from_secs(1_763_683_200);
        let texts =
            ["2025-11-21", "2025-11-21 00:00", "2025-11-21T00:00", "2025-11-21T00:00:00Z", "2025-11-21 00:00:00"];
        for text in texts.into_iter().chain(["1763683200", "12h", "720m", "11h 60m", "today"]) {
            assert_eq!(moment_seen_from(NOON, text), Ok(day), "{text}");
        }
        for text in ["yesterday", "2025-11-20", "1d 12h"] {
            assert_eq!(moment_seen_from(NOON, text), Ok(day - DAY), "{text}");
        }
        for text in ["", "tomorrow", "2025-13-01", "an hour", "1965-01-01"] {
            assert!(moment_seen_from(NOON, text).is_err(), "{text}");
        }
        assert!(moment("last week").unwrap_err().contains("2026-11-21"));
    }
}
