//! Sends the stages' spans about sampled pages to a collector, by OpenTelemetry's protocol (OTLP).
//!
//! A thread of its own sends. A stage leaves its spans in a queue with room for some thousand and goes on, so a collector
//! that is slow or away costs spans and nothing else.

mod client;
mod described;
mod otlp;

use self::client::CollectorClient;
use self::otlp::ServiceExporters;
use settings::{Settings, Trace};
use std::collections::HashMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use stream::{Sampler, Span, SpanSink, Tracing};
use topology::LogNames;
use tracing::{info, warn};

/// The standard's variables that name a collector, the more special one first.
const ENDPOINT_VARIABLES: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
/// The path at which a collector receives traces.
const PATH: &str = "/v1/traces";
/// Most spans that wait to be sent, about 10 MB of them.
const QUEUE_SPANS: usize = 8_192;
/// Spans after which those waiting are sent at once, and the most that are sent together.
const BATCH_SPANS: usize = 512;
/// Longest time that a span waits for others.
const BATCH_INTERVAL: Duration = Duration::from_secs(1);
/// Longest time for sending what is left when a process ends.
const FAREWELL: Duration = Duration::from_secs(3);

/// Numbers of spans since the start of the process.
#[derive(Debug, Default)]
pub struct SpanCounts {
    sent: AtomicU64,
    dropped: AtomicU64,
}

impl SpanCounts {
    /// Spans that a collector accepted.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Spans that were lost: there was no room for them, or no collector took them.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

/// Spans on their way to the collector.
struct SpanQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
    counts: Arc<SpanCounts>,
}

#[derive(Default)]
struct QueueState {
    spans: Vec<Span>,
    is_closed: bool,
}

impl SpanQueue {
    fn new(counts: Arc<SpanCounts>) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), counts }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next spans to send; `None` once the queue is closed and empty.
    fn next(&self) -> Option<Vec<Span>> {
        loop {
            let state = self.lock();
            let is_early = |state: &mut QueueState| !state.is_closed && state.spans.len() < BATCH_SPANS;
            let waited = self.changed.wait_timeout_while(state, BATCH_INTERVAL, is_early);
            let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            let count = state.spans.len().min(BATCH_SPANS);
            if count > 0 {
                return Some(state.spans.drain(..count).collect());
            }
            if state.is_closed {
                return None;
            }
        }
    }

    fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }
}

impl SpanSink for SpanQueue {
    fn take(&self, span: Span) {
        let mut state = self.lock();
        if state.is_closed || state.spans.len() >= QUEUE_SPANS {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        state.spans.push(span);
        if state.spans.len() == BATCH_SPANS {
            self.changed.notify_one();
        }
    }
}

/// Sends the spans of a process.
pub struct TraceExporter {
    queue: Arc<SpanQueue>,
    tracing: Tracing,
    /// Says that the thread has ended.
    ended: Receiver<()>,
}

impl TraceExporter {
    /// Starts sending, if the settings or the standard's variables name a collector. `instance` names this process
    /// among those of its kind, `system` the log that moves its records. Fails if the collector's address is not valid,
    /// or a file of its settings cannot be used.
    pub fn start(
        settings: &Settings,
        names: &LogNames,
        instance: &str,
        system: &'static str,
        counts: Arc<SpanCounts>,
    ) -> anyhow::Result<Option<Self>> {
        let Some(endpoint) = Endpoint::of(&settings.trace) else { return Ok(None) };
        let trace = &settings.trace;
        let headers = trace.otlp_headers_file.as_deref().map(headers).transpose()?.unwrap_or_default();
        let client = CollectorClient::new(trace.otlp_ca_file.as_deref())?;
        let exporters = ServiceExporters::new(endpoint.address, headers, client, instance, trace.urls)?;
        info!(collector = endpoint.named_by, sample_ratio = trace.sample_ratio, "traces are sent to a collector");
        let queue = Arc::new(SpanQueue::new(counts));
        let (ends, ended) = channel();
        let of_thread = queue.clone();
        std::thread::Builder::new().name("traces".to_owned()).spawn(move || send_all(&of_thread, exporters, ends))?;
        let tracing = Tracing {
            sink: queue.clone(),
            sampler: Sampler::of(trace.sample_ratio),
            system,
            describe: described::by(names),
        };
        Ok(Some(Self { queue, tracing, ended }))
    }

    /// How a stage of this process takes part.
    pub fn tracing(&self) -> Tracing {
        self.tracing.clone()
    }
}

/// Sends what is left, for some seconds at most. Declare it before the stages, so that they have queued all their spans.
impl Drop for TraceExporter {
    fn drop(&mut self) {
        self.queue.close();
        if self.ended.recv_timeout(FAREWELL) == Err(RecvTimeoutError::Timeout) {
            warn!("the collector does not take the last spans; they are lost");
        }
    }
}

fn send_all(queue: &SpanQueue, mut exporters: ServiceExporters, _ends: Sender<()>) {
    let mut is_failing = false;
    while let Some(spans) = queue.next() {
        for (count, sent) in exporters.send(spans) {
            let counter = if sent.is_ok() { &queue.counts.sent } else { &queue.counts.dropped };
            counter.fetch_add(count as u64, Ordering::Relaxed);
            match sent {
                Err(problem) if !is_failing => {
                    warn!(problem, "the collector takes no spans; they are dropped until it does");
                    is_failing = true;
                }
                Ok(()) if is_failing => {
                    info!("the collector takes spans again");
                    is_failing = false;
                }
                _ => {}
            }
        }
    }
}

struct Endpoint {
    /// The address of the traces; `None` if the variables say it.
    address: Option<String>,
    /// The setting or the variable.
    named_by: &'static str,
}

impl Endpoint {
    fn of(trace: &Trace) -> Option<Self> {
        if let Some(base) = &trace.otlp_endpoint {
            let address = format!("{}{PATH}", base.trim_end_matches('/'));
            return Some(Self { address: Some(address), named_by: "trace.otlp_endpoint" });
        }
        let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let named_by = ENDPOINT_VARIABLES.into_iter().find(is_set)?;
        Some(Self { address: None, named_by })
    }
}

/// The lines `Name: value` of a file. They may be secrets and are not quoted.
fn headers(file: &std::path::Path) -> anyhow::Result<HashMap<String, String>> {
    let wrong = |problem: &dyn Display| anyhow::anyhow!("trace.otlp_headers_file: {}: {problem}", file.display());
    let text = std::fs::read_to_string(file).map_err(|error| wrong(&error))?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let header = |(number, line): (usize, &str)| {
        let known = line.split_once(':').map(|(name, value)| (name.trim(), value.trim()));
        let (name, value) = known
            .filter(|(name, value)| {
                hyper::header::HeaderName::try_from(*name).is_ok()
                    && hyper::header::HeaderValue::try_from(*value).is_ok()
            })
            .ok_or_else(|| wrong(&format!("line {number} is not Name: value")))?;
        Ok((name.to_owned(), value.to_owned()))
    };
    lines.map(header).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use page::Timestamp;
    use stream::{SpanKind, TraceContext, TraceId};

    fn span(number: usize) -> Span {
        Span {
            context: TraceContext::begun(TraceId::of_record("topic", b"key", &number.to_be_bytes())),
            parent: None,
            stage: "fetcher".into(),
            name: format!("span {number}"),
            kind: SpanKind::Consumer,
            start: Timestamp::from_secs(1),
            end: Timestamp::from_secs(2),
            attributes: Vec::new(),
            error: None,
        }
    }

    #[test]
    fn a_full_queue_drops_and_counts_what_comes_and_never_waits() {
        let counts = Arc::new(SpanCounts::default());
        let queue = SpanQueue::new(counts.clone());
        (0..QUEUE_SPANS + 7).for_each(|number| queue.take(span(number)));
        assert_eq!((counts.dropped(), counts.sent()), (7, 0));
        queue.close();
        queue.take(span(0));
        assert_eq!(counts.dropped(), 8);
        let batches: Vec<_> = std::iter::from_fn(|| queue.next()).collect();
        assert!(batches.iter().all(|batch| batch.len() == BATCH_SPANS));
        assert_eq!(batches.concat().len(), QUEUE_SPANS);
        assert_eq!(batches[0][1].name, "span 1");
    }

    #[test]
    fn headers_are_read_from_a_file_and_never_quoted() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let read = |text: &str| {
            std::fs::write(file.path(), text).unwrap();
            headers(file.path()).map_err(|error| error.to_string())
        };
        let expected = HashMap::from([("Authorization".to_owned(), "Bearer secret: it".to_owned())]);
        assert_eq!(read("# who we are\n\nAuthorization:  Bearer secret: it\n"), Ok(expected));
        for text in ["secret", "a\nna me: secret", "name: se\u{1}cret"] {
            let problem = read(text).unwrap_err();
            assert!(problem.contains("is not Name: value") && !problem.contains("secret"), "{problem}");
        }
    }
}
