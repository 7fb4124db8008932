//! How far a clock of this machine differs from those of the brokers.
//!
//! A broker stamps the records of one small topic with the time at which it appends them, and says so in its
//! acknowledgement. So a record shows the broker's time somewhere between sending and acknowledgement, as a request to a
//! time server does.

use crate::client::{Quiet, lock};
use crate::error::log_error;
use crate::settings::KafkaSettings;
use page::Timestamp;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::KafkaError;
use rdkafka::producer::{BaseProducer, BaseRecord, DeliveryResult, Producer, ProducerContext};
use rdkafka::{ClientContext, Message, Timestamp as RecordTime};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use stream::{ErrorKind, LogError};

/// Longest wait for an acknowledgement.
const PATIENCE: Duration = Duration::from_secs(5);
/// `BaseProducer::poll` with a timeout spins until the end, so poll without waiting and sleep in between.
const PAUSE: Duration = Duration::from_micros(200);
/// The first record also waits for a connection, so the second one is measured.
const RECORDS: usize = 2;

/// A clock of this machine beside that of a broker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockReading {
    /// Seconds by which this machine's clock is ahead; below zero if it is behind.
    pub ahead_s: f64,
    /// The difference is known to this many seconds.
    pub within_s: f64,
}

impl ClockReading {
    /// From the times before and after a broker read its clock.
    fn new(before: Timestamp, broker: Timestamp, after: Timestamp) -> Self {
        let seconds = |from: Timestamp, to: Timestamp| (to.as_micros() - from.as_micros()) as f64 / 1e6;
        let within_s = seconds(before, after) / 2.0;
        Self { ahead_s: seconds(broker, before) + within_s, within_s }
    }
}

/// Takes the acknowledgement of the record sent last.
#[derive(Default)]
struct Acknowledged {
    quiet: Quiet,
    time: Mutex<Option<Result<RecordTime, KafkaError>>>,
}

impl ClientContext for Acknowledged {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        self.quiet.on_log(level, facility, message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        self.quiet.on_error(&error, reason);
    }
}

impl ProducerContext for Acknowledged {
    type DeliveryOpaque = ();

    fn delivery(&self, result: &DeliveryResult<'_>, (): ()) {
        let time = match result {
            Ok(message) => Ok(message.timestamp()),
            Err((error, _)) => Err(error.clone()),
        };
        *lock(&self.time) = Some(time);
    }
}

/// Reads the clock of the broker that leads the topic, beside the clock that `now` reads. `None` if brokers leave the times
/// of this topic to the producers. Its client does not outlive the call: it is needed once a minute.
pub(crate) fn read(
    settings: &KafkaSettings,
    topic: &str,
    now: impl Fn() -> Timestamp,
) -> Result<Option<ClockReading>, LogError> {
    let producer: BaseProducer<Acknowledged> = settings
        .clock_check()
        .create_with_context(Acknowledged::default())
        .map_err(|error| log_error("cannot create a Kafka client", &error))?;
    let doing = || format!("cannot read the brokers' clock by topic {topic}");
    let (deadline, mut reading) = (Instant::now() + PATIENCE, None);
    for _ in 0..RECORDS {
        let before = now();
        let record = BaseRecord::<(), [u8]>::to(topic).partition(0).payload(b"");
        producer.send(record).map_err(|(error, _)| log_error(&doing(), &error))?;
        let acknowledged = loop {
            producer.poll(Duration::ZERO);
            if let Some(acknowledged) = lock(&producer.context().time).take() {
                break acknowledged;
            }
            if Instant::now() >= deadline {
                let message = format!("{}: no answer within {PATIENCE:?}", doing());
                return Err(LogError::new(ErrorKind::Retry, message));
            }
            std::thread::sleep(PAUSE);
        };
        let after = now();
        reading = match acknowledged {
            Ok(RecordTime::LogAppendTime(millis)) => {
                Some(ClockReading::new(before, Timestamp::from_millis(millis), after))
            }
            Ok(RecordTime::CreateTime(_) | RecordTime::NotAvailable) => None,
            Err(error) => return Err(log_error(&doing(), &error)),
        };
    }
    Ok(reading)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_broker_read_its_clock_somewhere_between_sending_and_acknowledgement() {
        let at = Timestamp::from_millis;
        let reading = ClockReading::new(at(10_000), at(2_000), at(10_500));
        assert_eq!(reading, ClockReading { ahead_s: 8.25, within_s: 0.25 });
        let behind = ClockReading::new(at(10_000), at(12_000), at(10_002));
        assert!((behind.ahead_s + 1.999).abs() < 1e-9, "{behind:?}");
    }
}
