//! A collector of traces, and the spans that it received.
//!
//! [`TraceCollector`] takes spans by OTLP itself. With `RECRAWL_OTEL_COLLECTOR`, the collector of OpenTelemetry stands before
//! it: it takes them from the programs, checks them as it does anywhere, and sends them on.

use crate::SOON;
use crate::receiver::{Reply, Webhook, WebhookReceiver, deserted};
use crate::{Process, wait_for};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value::Value};
use prost::Message;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::TcpStream;
use std::process::Command;
use tempfile::TempDir;

/// A span as the collector received it.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub struct ReportedSpan {
    /// The attribute `service.name`.
    pub service: String,
    /// Id of the trace, in hexadecimal digits.
    pub trace: String,
    /// Its id.
    pub id: String,
    /// Id of its parent; empty without one.
    pub parent: String,
    /// Name of the operation.
    pub name: String,
    /// `internal`, `server`, `client`, `producer` or `consumer`.
    pub kind: &'static str,
    /// Start and end, in nanoseconds since 1970.
    pub time: (u64, u64),
    /// Attributes as text.
    pub attributes: BTreeMap<String, String>,
    /// The error in its status; `None` if there was none.
    pub error: Option<String>,
}

impl ReportedSpan {
    /// An attribute; empty if it has none of this name.
    pub fn says(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }
}

/// Takes spans.
pub struct TraceCollector {
    receiver: WebhookReceiver,
    /// The one that stands before it, with its directory.
    before: Option<(Process, TempDir, String)>,
}

impl TraceCollector {
    /// A collector on loopback, ready to take spans.
    pub fn start() -> Self {
        let receiver = WebhookReceiver::start(|_| Reply::status(200));
        let program = std::env::var_os("RECRAWL_OTEL_COLLECTOR").filter(|program| !program.is_empty());
        let before = program.map(|program| {
            let (directory, address) = (TempDir::new().expect("there is room for a test"), deserted());
            let to = receiver.url().replace("/hook", "");
            let config = format!(
                "receivers: {{otlp: {{protocols: {{http: {{endpoint: '{address}'}}}}}}}}\n\
                 exporters: {{otlphttp: {{endpoint: '{to}', compression: none}}}}\n\
                 service:\n  pipelines: {{traces: {{receivers: [otlp], exporters: [otlphttp]}}}}\n  \
                 telemetry: {{metrics: {{level: none}}}}\n"
            );
            let file = directory.path().join("collector.yaml");
            std::fs::write(&file, config).expect("a directory takes files");
            let mut command = Command::new(program);
            command.arg("--config").arg(file);
            let process = Process::start(command, directory.path());
            let is_up = || TcpStream::connect(address).is_ok();
            wait_for("the collector listens", SOON, is_up);
            (process, directory, format!("http://{address}"))
        });
        Self { receiver, before }
    }

    /// The value for `trace.otlp_endpoint`.
    pub fn endpoint(&self) -> String {
        match &self.before {
            Some((.., address)) => address.clone(),
            None => self.receiver.url().replace("/hook", ""),
        }
    }

    /// The requests that brought spans.
    pub fn requests(&self) -> Vec<Webhook> {
        self.receiver.taken()
    }

    /// All spans received so far, each once.
    ///
    /// # Panics
    /// If a request is not OTLP, or a span was received with two contents.
    pub fn spans(&self) -> Vec<ReportedSpan> {
        let mut all: BTreeMap<String, ReportedSpan> = BTreeMap::new();
        for request in self.receiver.taken() {
            assert_eq!(request.target, "POST /v1/traces");
            assert_eq!(request.headers["content-type"], "application/x-protobuf");
            let reported = ExportTraceServiceRequest::decode(&request.body[..]).expect("it is OTLP");
            for span in reported_by(reported) {
                if let Some(before) = all.insert(span.id.clone(), span.clone()) {
                    assert_eq!((before.trace, before.parent), (span.trace, span.parent), "one id for two spans");
                }
            }
        }
        all.into_values().collect()
    }
}

fn reported_by(request: ExportTraceServiceRequest) -> Vec<ReportedSpan> {
    let mut spans = Vec::new();
    for of_resource in request.resource_spans {
        let resource = texts(of_resource.resource.unwrap_or_default().attributes);
        let service = resource.get("service.name").cloned().unwrap_or_default();
        for span in of_resource.scope_spans.into_iter().flat_map(|of_scope| of_scope.spans) {
            let kinds = ["unspecified", "internal", "server", "client", "producer", "consumer"];
            let status = span.status.unwrap_or_default();
            spans.push(ReportedSpan {
                service: service.clone(),
                trace: hex(&span.trace_id),
                id: hex(&span.span_id),
                parent: hex(&span.parent_span_id),
                name: span.name,
                kind: kinds.get(span.kind as usize).copied().unwrap_or("another"),
                time: (span.start_time_unix_nano, span.end_time_unix_nano),
                attributes: texts(span.attributes),
                error: (status.code == 2).then_some(status.message),
            });
        }
    }
    spans
}

fn texts(attributes: Vec<KeyValue>) -> BTreeMap<String, String> {
    let text = |value: Option<AnyValue>| match value.and_then(|value| value.value) {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        Some(Value::DoubleValue(number)) => number.to_string(),
        other => format!("{other:?}"),
    };
    attributes.into_iter().map(|attribute| (attribute.key, text(attribute.value))).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The stages that a page passes, in their order: the scheduler decides, and the last one is the scheduler that learns of it.
const LOOP: [(&str, &str); 5] = [
    ("recrawl-scheduler", "send"),
    ("recrawl-fetcher", "process"),
    ("recrawl-detector", "process"),
    ("recrawl-estimator", "process"),
    ("recrawl-scheduler", "process"),
];

/// The addresses of pages whose whole loop was received as one trace.
///
/// # Panics
/// If a span of such a trace does not fit to the one before.
pub fn reported_loops(spans: &[ReportedSpan]) -> BTreeSet<String> {
    spans.iter().filter(|span| span.parent.is_empty()).filter_map(|root| reported_loop(root, spans)).collect()
}

fn reported_loop(root: &ReportedSpan, spans: &[ReportedSpan]) -> Option<String> {
    let of_trace: Vec<_> = spans.iter().filter(|span| span.trace == root.trace).collect();
    let is_at = |span: &ReportedSpan, (service, operation): (&str, &str)| {
        span.service == service && span.says("messaging.operation.name") == operation
    };
    assert!(is_at(root, LOOP[0]) && root.kind == "producer", "a trace begins with {root:?}");
    let page = root.says("url.full").to_owned();
    let (mut last, mut links) = (root, Vec::new());
    for stage in &LOOP[1..] {
        let next = of_trace.iter().find(|span| is_at(span, *stage) && span.parent == last.id && about(span, &page))?;
        assert!(next.kind == "consumer" && next.time.0 >= last.time.0 && next.time.1 >= next.time.0, "{next:?}");
        links.push(*next);
        last = next;
    }
    let [fetched, judged, learned, known] = links[..] else { return None };
    for (span, topic) in [(fetched, "requests"), (judged, "results"), (learned, "observations"), (known, "events")] {
        let (named, name) = (span.says("messaging.destination.name"), &span.name);
        assert!(named.contains(topic) && *name == format!("process {named}"), "{span:?}");
        assert!(!span.says("messaging.kafka.offset").is_empty() && !span.says("messaging.system").is_empty());
    }
    assert_eq!(known.says("recrawl.verdict"), judged.says("recrawl.verdict"));
    let status = fetched.says("http.response.status_code");
    let steps: Vec<_> = of_trace.iter().filter(|span| span.parent == fetched.id && span.kind == "client").collect();
    let get = steps.iter().find(|step| step.name == "GET" && step.says("http.response.status_code") == status);
    let get = get.unwrap_or_else(|| panic!("no exchange with status {status} in {steps:#?}"));
    assert!(get.time.0 >= fetched.time.0 && get.time.1 <= fetched.time.1, "{get:?} outside of {fetched:?}");
    assert_eq!(get.says("http.request.method"), "GET");
    Some(page)
}

fn about(span: &ReportedSpan, page: &str) -> bool {
    span.says("url.full") == page
}
