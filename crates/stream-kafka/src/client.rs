//! Shared by all librdkafka clients: log lines go to tracing, few of them, and the last complaint is kept.

use rdkafka::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::ConsumerContext;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tracing::{debug, warn};

/// Minimum time between warnings: librdkafka repeats itself at every reconnection attempt of every broker.
const WARN_EVERY: Duration = Duration::from_secs(10);

/// librdkafka repeats a standing complaint every 30 seconds; an older one is over.
const COMPLAINT_HOLDS: Duration = Duration::from_secs(60);

/// Takes a lock, even a poisoned one: the guarded data is sound after a panic of its holder.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Context of clients without further needs, and part of the other contexts.
#[derive(Debug, Default)]
pub(crate) struct Quiet(Mutex<Heard>);

#[derive(Debug, Default)]
struct Heard {
    last_complaint: Option<(RDKafkaErrorCode, String, Instant)>,
    warned_at: Option<Instant>,
    suppressed: u64,
}

impl Quiet {
    /// Last complaint of librdkafka, if it still stands.
    pub(crate) fn last_complaint(&self) -> Option<(RDKafkaErrorCode, String)> {
        let heard = lock(&self.0);
        let (code, why, at) = heard.last_complaint.as_ref()?;
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
                let mut heard = lock(&self.0);
                if heard.warned_at.is_some_and(|at| at.elapsed() < WARN_EVERY) {
                    heard.suppressed += 1;
                    return;
                }
                heard.warned_at = Some(Instant::now());
                let suppressed = std::mem::take(&mut heard.suppressed);
                warn!(target: "librdkafka", facility, suppressed, "{message}");
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
