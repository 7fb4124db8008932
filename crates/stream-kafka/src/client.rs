//! Shared by all librdkafka clients: log lines go to tracing, few of them, and the last complaint is kept.

use crate::complaints::{Complaints, HeldBack};
use rdkafka::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::ConsumerContext;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tracing::{debug, warn};

/// Shared by all clients of the process, since their log is one.
static COMPLAINTS: Mutex<Complaints> = Mutex::new(Complaints::new());

/// librdkafka repeats a standing complaint every 30 seconds; an older one is over.
const COMPLAINT_HOLDS: Duration = Duration::from_secs(60);

/// Takes a lock, even a poisoned one: the guarded data is sound after a panic of its holder.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Logs how many complaints were held back about brokers whose minute is over. Each poll of a member calls it.
pub(crate) fn send_held_back() {
    let due = lock(&COMPLAINTS).take_due(Instant::now());
    report(due);
}

/// Logs how many complaints were held back about all brokers, when the log is closed.
pub(crate) fn send_all_held_back() {
    let all = lock(&COMPLAINTS).take_all(Instant::now());
    report(all);
}

fn report(held_back: Vec<HeldBack>) {
    for HeldBack { broker, count, last } in held_back {
        warn!(target: "librdkafka", broker, count, last, "further complaints of Kafka's client");
    }
}

/// Context of clients without further needs, and part of the other contexts.
#[derive(Debug, Default)]
pub(crate) struct Quiet(Mutex<Received>);

#[derive(Debug, Default)]
struct Received {
    last_complaint: Option<(RDKafkaErrorCode, String, Instant)>,
}

impl Quiet {
    /// Last complaint of librdkafka, if it still stands.
    pub(crate) fn last_complaint(&self) -> Option<(RDKafkaErrorCode, String)> {
        let received = lock(&self.0);
        let (code, why, at) = received.last_complaint.as_ref()?;
        (at.elapsed() < COMPLAINT_HOLDS).then(|| (*code, why.clone()))
    }

    fn complain(&self, code: RDKafkaErrorCode, why: &str) {
        lock(&self.0).last_complaint = Some((code, why.to_owned(), Instant::now()));
    }

    pub(crate) fn on_log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        match level {
            // It warns of producer properties in consumers and vice versa; we pass all properties to both.
            _ if facility == "CONFWARN" => {}
            RDKafkaLogLevel::Emerg | RDKafkaLogLevel::Alert | RDKafkaLogLevel::Critical | RDKafkaLogLevel::Error => {
                send_held_back();
                if lock(&COMPLAINTS).receive(message, Instant::now()) {
                    warn!(target: "librdkafka", facility, "{message}");
                } else {
                    debug!(target: "librdkafka", facility, "{message}");
                }
            }
            _ => {
                debug!(target: "librdkafka", facility, "{message}");
                // A broker hung up. The reason may only appear in another message.
                if facility == "FAIL" && self.last_complaint().is_none() {
                    self.complain(RDKafkaErrorCode::BrokerTransportFailure, message);
                }
            }
        }
    }

    pub(crate) fn on_error(&self, error: &KafkaError, reason: &str) {
        debug!(target: "librdkafka", %error, reason, "client error");
        let code = error.rdkafka_error_code().unwrap_or(RDKafkaErrorCode::Fail);
        // This error follows its cause and must not hide it.
        if code != RDKafkaErrorCode::AllBrokersDown || self.last_complaint().is_none() {
            self.complain(code, reason);
        }
    }
}

impl ClientContext for Quiet {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        self.on_log(level, facility, message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        self.on_error(&error, reason);
    }
}

impl ConsumerContext for Quiet {}
