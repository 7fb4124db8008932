//! The connection to Kafka that the settings name.

use messages::topics;
use settings::Settings;
use stream::{ErrorKind, LogError};
use stream_kafka::{KafkaLog, KafkaSettings};
use topology::LogNames;

/// Connects to the brokers of the settings. `client` is the client id unless the settings name one.
pub fn connect(settings: &Settings, client: &str) -> Result<KafkaLog, LogError> {
    if settings.kafka.brokers.is_none() {
        let message = "kafka.brokers is not set; set it to the host:port of a broker (RECRAWL_KAFKA_BROKERS)";
        return Err(LogError::new(ErrorKind::Stop, message));
    }
    let (client_id, batch_interval) = (client.to_owned(), topology::batch_interval_over_kafka(settings));
    let is_clock_fast = settings.clock.speed != 1.0;
    let names = LogNames::new(settings);
    let divided_alike = topics::divided_alike().map(|topic| names.topic(topic)).to_vec();
    let clock_checks = Some(names.topic(topics::CLOCK_CHECKS).to_string());
    let kafka = settings.kafka.clone();
    KafkaLog::connect(KafkaSettings { kafka, client_id, batch_interval, is_clock_fast, divided_alike, clock_checks })
}
