//! The clock of this machine beside those of the brokers. All processes of a crawl live by the brokers' time, so that a node
//! whose clock is wrong stops nothing; it is named until somebody sets its clock right.

use crate::WebClock;
use crate::board::Board;
use crate::threads::StopSignal;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use stream::Clock;
use stream_kafka::{ClockReading, KafkaLog};
use tracing::{info, warn};

/// Interval between readings.
const READ_EVERY: Duration = Duration::from_secs(60);
/// Interval between attempts until the first one succeeds. Until then a wrong clock makes leases seem expired.
const TRY_EVERY: Duration = Duration::from_secs(5);
/// A smaller difference is not corrected: two clocks that are kept by time servers never agree entirely.
const TOLERATED_S: f64 = 0.5;
/// From this difference on, the log and an alert name the machine.
const REPORTED_S: f64 = 10.0;
/// With a difference of this or more, the process is not ready.
const NOT_READY_S: f64 = 60.0;
/// A reading is too old to be shown after this many intervals without another.
const SHOWN_INTERVALS: u32 = 5;

/// How far this machine's clock is ahead of the brokers', while that is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShownClock {
    /// In seconds; below zero if it is behind.
    pub ahead_s: f64,
}

impl ShownClock {
    /// Whether the difference is so large that the process is not ready.
    pub fn is_far_off(&self) -> bool {
        self.ahead_s.abs() >= NOT_READY_S
    }

    /// The difference in words.
    pub fn words(&self) -> String {
        let side = if self.ahead_s < 0.0 { "behind" } else { "ahead of" };
        format!(
            "the clock of this machine is {:.0} s {side} Kafka's; set the wrong one right (chronyc tracking)",
            self.ahead_s.abs()
        )
    }
}

/// Reads the brokers' clock and keeps the process's clock by it.
pub struct BrokerClock {
    log: Arc<KafkaLog>,
    clock: Arc<WebClock>,
    board: Board,
    read_at: Option<Instant>,
    /// Whether the difference was reported.
    is_reported: bool,
    /// Why the last reading failed; none after a success.
    failed: Option<String>,
}

impl BrokerClock {
    /// `None` if the crawl does not live in real time.
    pub fn new(log: Arc<KafkaLog>, clock: Arc<WebClock>, board: Board) -> Option<Self> {
        let (read_at, is_reported, failed) = (None, false, None);
        clock.is_real().then_some(Self { log, clock, board, read_at, is_reported, failed })
    }

    /// Reads the brokers' clock once. The process goes by its own while that cannot be read.
    pub fn read(&mut self) {
        match self.log.read_clock(|| self.clock.uncorrected()) {
            Ok(Some(reading)) => {
                (self.read_at, self.failed) = (Some(Instant::now()), None);
                self.follow(reading);
            }
            Ok(None) => {
                self.fail("brokers leave the times of its records to producers (message.timestamp.type)".to_owned())
            }
            Err(error) => self.fail(error.message),
        }
    }

    fn fail(&mut self, why: String) {
        if self.failed.as_ref() != Some(&why) {
            warn!(why, "cannot read the brokers' clock by the topic clock-checks; this process goes by its own");
            self.failed = Some(why);
        }
        if self.read_at.is_none_or(|at| at.elapsed() > READ_EVERY * SHOWN_INTERVALS) {
            self.board.show_clock(None);
        }
    }

    fn follow(&mut self, reading: ClockReading) {
        if let Some(ahead_s) = corrected(self.clock.correction_s(), reading) {
            self.clock.correct(ahead_s);
            let now = self.clock.now();
            info!(seconds = reading.ahead_s, %now, "this process goes by the brokers' clock from now on");
        }
        // The machine's clock may have been set since this process started.
        let shown = ShownClock { ahead_s: reading.ahead_s + self.clock.machine_ahead_s() };
        let is_reported = shown.ahead_s.abs() >= REPORTED_S;
        if is_reported && !self.is_reported {
            warn!("{}", shown.words());
        } else if !is_reported && self.is_reported {
            info!("the clock of this machine agrees with Kafka's again");
        }
        self.is_reported = is_reported;
        self.board.show_clock(Some(shown));
    }

    /// Reads it again and again, until `stop`.
    pub fn watch(mut self, stop: &StopSignal) -> std::io::Result<JoinHandle<()>> {
        stop.repeat("clock", self.pause(), move || {
            self.read();
            self.pause()
        })
    }

    fn pause(&self) -> Duration {
        if self.read_at.is_some() { READ_EVERY } else { TRY_EVERY }
    }
}

/// The new correction in seconds; `None` if the present one is good enough.
fn corrected(present_s: f64, reading: ClockReading) -> Option<f64> {
    let tolerated_s = TOLERATED_S + reading.within_s;
    if (reading.ahead_s - present_s).abs() <= tolerated_s {
        return None;
    }
    // Back to none, once the clock is right.
    Some(if reading.ahead_s.abs() <= tolerated_s { 0.0 } else { reading.ahead_s })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_corrected_once_and_left_alone_while_it_is_nearly_right() {
        let reading = |ahead_s| ClockReading { ahead_s, within_s: 0.01 };
        assert_eq!(corrected(0.0, reading(0.4)), None);
        assert_eq!(corrected(0.0, reading(660.0)), Some(660.0));
        assert_eq!(corrected(660.0, reading(660.3)), None);
        assert_eq!(corrected(660.0, reading(-90.0)), Some(-90.0));
        assert_eq!(corrected(660.0, reading(0.2)), Some(0.0), "somebody has set it right");
        let slow = ClockReading { ahead_s: 2.0, within_s: 2.5 };
        assert_eq!(corrected(0.0, slow), None, "the answer took five seconds");
        assert_eq!(corrected(2.0, slow), None);
    }

    #[test]
    fn a_difference_is_named_with_its_side() {
        let words = |ahead_s| ShownClock { ahead_s }.words();
        assert!(words(660.4).contains("660 s ahead of Kafka's"), "{}", words(660.4));
        assert!(words(-61.0).contains("61 s behind Kafka's"), "{}", words(-61.0));
        assert!(ShownClock { ahead_s: -60.0 }.is_far_off() && !ShownClock { ahead_s: 59.0 }.is_far_off());
    }
}
