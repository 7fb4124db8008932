//! The suite every log must pass, on a real Kafka. `CONFORMANCE=part-of-a-name` runs some of it.

use crate::common::{login, settings, unique};
use page::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use stream::{Clock, Log, LogError, StoreProvider};
use stream_kafka::{KafkaLog, KafkaSettings};
use stream_testing::conformance::{Harness, Need, run};
use stream_testing::{MemoryStores, RealClock};

struct Kafka {
    log: KafkaLog,
    settings: fn() -> KafkaSettings,
    prefix: String,
    clock: Arc<RealClock>,
}

impl Harness for Kafka {
    fn log(&self) -> Arc<dyn Log> {
        Arc::new(self.log.clone())
    }

    /// The brokers keep running; what is remembered of them goes.
    fn reopen(&mut self) -> Result<(), LogError> {
        self.log = KafkaLog::connect((self.settings)())?;
        Ok(())
    }

    fn stores(&self) -> Arc<dyn StoreProvider> {
        Arc::new(MemoryStores::default())
    }

    fn clock(&self) -> Arc<dyn Clock> {
        self.clock.clone()
    }

    fn prefix(&self) -> String {
        self.prefix.clone()
    }

    /// The brokers compact and forget when they see fit.
    fn can(&self, need: Need) -> bool {
        matches!(need, Need::Nothing | Need::Changelogs)
    }

    fn maintain(&self, _: Timestamp) -> Result<(), LogError> {
        Ok(())
    }
}

fn plain() -> KafkaSettings {
    patient(settings(&crate::common::brokers().expect("there is a Kafka")))
}

fn scram() -> KafkaSettings {
    let secrets = crate::common::secrets().expect("there is a Kafka with TLS");
    patient(login(&secrets, ::settings::SaslMechanism::ScramSha512))
}

/// No case is about the end of a transaction's time, which must not come on a busy machine.
fn patient(mut settings: KafkaSettings) -> KafkaSettings {
    settings.kafka.transaction_timeout = Duration::from_secs(300);
    settings
}

fn suite(settings: fn() -> KafkaSettings) {
    let log = KafkaLog::connect(settings()).expect("Kafka can be reached");
    let make = move || -> Box<dyn Harness> {
        Box::new(Kafka {
            log: log.clone(),
            settings,
            prefix: format!("{}-", unique("recrawl-c")),
            clock: Arc::new(RealClock::default()),
        })
    };
    run(&make, 2, &std::env::var("CONFORMANCE").unwrap_or_default());
}

#[test]
fn kafka_is_a_log() {
    if crate::common::brokers().is_some() {
        suite(plain);
    }
}

#[test]
fn kafka_is_a_log_over_tls_with_a_login_that_may_do_no_more_than_is_needed() {
    if crate::common::secrets().is_some() {
        suite(scram);
    }
}
