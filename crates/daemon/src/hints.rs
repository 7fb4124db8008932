//! Writes pings from outside to the log. A ping is acknowledged once it is in the log.

use crate::metrics::Samples;
use crate::pings::{PingReply, PingRequest, Pings};
use messages::{ChangeHint, topics};
use page::Timestamp;
use settings::Settings;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use stream::{Clock, Log, LogError, OutputRecord, SchemaTopic};
use topology::LogNames;
use tracing::{debug, warn};

/// Accepts pings and counts them by outcome.
pub struct HintIntake {
    pings: Pings,
    clock: Arc<dyn Clock>,
    topic: String,
    /// Unset until the log answers.
    log: OnceLock<(Arc<dyn Log>, u32)>,
    schemas: SchemaTopic,
    /// Whether the log has the schemas, which must precede the first hint.
    reported: AtomicBool,
    taken: AtomicU64,
    refused: AtomicU64,
    ignored: AtomicU64,
}

impl HintIntake {
    /// An intake with the endpoints that the settings enable; `None` if they enable none.
    pub fn new(settings: &Settings, names: &LogNames, clock: Arc<dyn Clock>) -> Option<Arc<Self>> {
        let pings = Pings::new(settings)?;
        Some(Arc::new(Self {
            pings,
            clock,
            topic: names.topic(topics::SCHEDULER_EVENTS),
            log: OnceLock::new(),
            schemas: names.schemas(Vec::new()),
            reported: AtomicBool::new(false),
            taken: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            ignored: AtomicU64::new(0),
        }))
    }

    /// Starts accepting hints, which go to this log, whose loop has `partitions` partitions.
    pub fn open(&self, log: Arc<dyn Log>, partitions: u32) {
        // Called once; a second log would be the same one.
        let _ = self.log.set((log, partitions));
    }

    pub(crate) fn serves(&self, path: &str) -> bool {
        self.pings.serves(path)
    }

    /// Why a request is refused, whatever its body. `None` if the body decides.
    pub(crate) fn refusal<'a>(&self, path: &str, header: &dyn Fn(&str) -> Option<&'a str>) -> Option<PingReply> {
        self.pings.refusal(path, header)
    }

    /// Answers a request. When it returns, the hints are in the log, or the answer says that they are not.
    pub(crate) fn answer(&self, request: &PingRequest<'_>) -> PingReply {
        let now = self.clock.now();
        let reply = self.pings.answer(request, now);
        self.refused.fetch_add(reply.counts.refused, Ordering::Relaxed);
        self.ignored.fetch_add(reply.counts.ignored, Ordering::Relaxed);
        if reply.hints.is_empty() {
            return reply;
        }
        let failed = |text: &str| PingReply { status: 503, body: format!("{text}\n"), ..reply.clone() };
        let Some((log, partitions)) = self.log.get() else { return failed("the log is not available yet; try again") };
        let done = self.publish_schemas(&**log, now);
        match done.and_then(|()| append(&**log, &self.topic, *partitions, &reply.hints, now)) {
            Ok(()) => {
                self.taken.fetch_add(reply.hints.len() as u64, Ordering::Relaxed);
                debug!(path = request.path, hints = reply.hints.len(), "hints taken");
                reply
            }
            Err(error) => {
                warn!(%error, "cannot write hints to the log; the sender is asked to try again");
                failed("cannot write to the log; try again")
            }
        }
    }

    fn publish_schemas(&self, log: &dyn Log, now: Timestamp) -> Result<(), LogError> {
        if !self.reported.load(Ordering::Relaxed) {
            stream::schemas::report(log, &self.schemas, now)?;
            self.reported.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Pings since the start, by outcome.
    pub(crate) fn counts(&self) -> PingCounts {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        PingCounts { taken: count(&self.taken), refused: count(&self.refused), ignored: count(&self.ignored) }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct PingCounts {
    pub(crate) taken: u64,
    pub(crate) refused: u64,
    pub(crate) ignored: u64,
}

impl PingCounts {
    pub(crate) fn collect(self, samples: &mut Samples) {
        samples.add(metrics::process::PINGS_TAKEN, &[], self.taken as f64);
        samples.add(metrics::process::PINGS_REFUSED, &[], self.refused as f64);
        samples.add(metrics::process::PINGS_IGNORED, &[], self.ignored as f64);
    }
}

fn append(log: &dyn Log, topic: &str, partitions: u32, hints: &[ChangeHint], now: Timestamp) -> Result<(), LogError> {
    let record = |hint: &ChangeHint| OutputRecord::of(hint, topic, partitions, now);
    log.append(&hints.iter().map(record).collect::<Vec<_>>()).map(|_| ())
}
