//! Spans in the form that OpenTelemetry's exporter takes.

use super::client::CollectorClient;
use anyhow::anyhow;
use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue, Value};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanExporter as _, SpanLinks};
use page::Timestamp;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use stream::{Attribute, AttributeValue, Span};

/// Name and version of what makes the spans.
const SCOPE: &str = "recrawl";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// An exporter for each stage of the process, which is a service of its own to a collector.
pub(super) struct ServiceExporters {
    endpoint: Option<String>,
    headers: HashMap<String, String>,
    client: Arc<CollectorClient>,
    instance: String,
    /// Whether spans contain the addresses of pages.
    urls: bool,
    exporters: BTreeMap<Arc<str>, SpanExporter>,
}

impl ServiceExporters {
    /// Fails if the address, or a variable of OpenTelemetry, is not valid.
    pub(super) fn new(
        endpoint: Option<String>,
        headers: HashMap<String, String>,
        client: CollectorClient,
        instance: &str,
        urls: bool,
    ) -> anyhow::Result<Self> {
        let (client, exporters) = (Arc::new(client), BTreeMap::new());
        let services = Self { endpoint, headers, client, instance: instance.to_owned(), urls, exporters };
        // The settings are checked now, the stages are met later.
        services.exporter("").map_err(|problem| anyhow!("traces cannot be sent: {problem}"))?;
        Ok(services)
    }

    /// Sends spans, one request per stage. Returns the number of spans and the result of each request.
    pub(super) fn send(&mut self, spans: Vec<Span>) -> Vec<(usize, Result<(), String>)> {
        let mut by_stage: BTreeMap<Arc<str>, Vec<SpanData>> = BTreeMap::new();
        for span in spans {
            let span = if self.urls { span } else { without_addresses(span) };
            by_stage.entry(span.stage.clone()).or_default().push(to_otlp(span));
        }
        by_stage.into_iter().map(|(stage, spans)| (spans.len(), self.send_of(stage, spans))).collect()
    }

    fn send_of(&mut self, stage: Arc<str>, spans: Vec<SpanData>) -> Result<(), String> {
        if !self.exporters.contains_key(&stage) {
            let exporter = self.exporter(&stage)?;
            self.exporters.insert(stage.clone(), exporter);
        }
        futures_executor::block_on(self.exporters[&stage].export(spans)).map_err(|error| error.to_string())
    }

    fn exporter(&self, stage: &str) -> Result<SpanExporter, String> {
        let mut builder = SpanExporter::builder()
            .with_http()
            .with_shared_http_client(self.client.clone())
            .with_protocol(Protocol::HttpBinary)
            .with_headers(self.headers.clone());
        if let Some(endpoint) = &self.endpoint {
            builder = builder.with_endpoint(endpoint);
        }
        let mut exporter = builder.build().map_err(|error| error.to_string())?;
        let resource = Resource::builder()
            .with_service_name(format!("recrawl-{stage}"))
            .with_attribute(KeyValue::new("service.version", VERSION))
            .with_attribute(KeyValue::new("service.instance.id", self.instance.clone()));
        exporter.set_resource(&resource.build());
        Ok(exporter)
    }
}

/// The span without addresses. Messages about failures may quote one, so they are left out, too.
fn without_addresses(mut span: Span) -> Span {
    span.attributes.retain(|(name, _)| !["url.full", "server.address"].contains(name));
    Span { error: span.error.map(|_| String::new()), ..span }
}

fn to_otlp(span: Span) -> SpanData {
    let span_id = |id: stream::SpanId| SpanId::from_bytes(id.to_bytes());
    let trace_id = TraceId::from_bytes(span.context.trace_id.to_bytes());
    let own = span_id(span.context.span_id);
    SpanData {
        span_context: SpanContext::new(trace_id, own, TraceFlags::SAMPLED, false, TraceState::NONE),
        parent_span_id: span.parent.map_or(SpanId::INVALID, span_id),
        parent_span_is_remote: span.parent.is_some() && span.kind == stream::SpanKind::Consumer,
        span_kind: match span.kind {
            stream::SpanKind::Producer => SpanKind::Producer,
            stream::SpanKind::Consumer => SpanKind::Consumer,
            stream::SpanKind::Client => SpanKind::Client,
            stream::SpanKind::Internal => SpanKind::Internal,
        },
        name: span.name.into(),
        start_time: system_time(span.start),
        end_time: system_time(span.end),
        attributes: span.attributes.into_iter().map(attribute).collect(),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: span.error.map_or(Status::Unset, Status::error),
        instrumentation_scope: InstrumentationScope::builder(SCOPE).with_version(VERSION).build(),
    }
}

fn attribute((name, value): Attribute) -> KeyValue {
    let value: Value = match value {
        AttributeValue::Text(text) => text.into(),
        AttributeValue::Number(number) => number.into(),
        AttributeValue::Real(number) => number.into(),
    };
    KeyValue::new(name, value)
}

fn system_time(time: Timestamp) -> SystemTime {
    UNIX_EPOCH + Duration::from_micros(u64::try_from(time.as_micros()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stream::{TraceContext, TraceId};

    #[test]
    fn without_addresses_a_span_reports_what_came_of_a_page_and_not_where_it_is() {
        let context = TraceContext::begun(TraceId::of_record("topic", b"key", b"value"));
        let span = Span {
            context: context.step(3),
            parent: Some(context.span_id),
            stage: "fetcher".into(),
            name: "GET".to_owned(),
            kind: stream::SpanKind::Client,
            start: Timestamp::from_millis(1_500),
            end: Timestamp::from_millis(2_500),
            attributes: vec![("url.full", "http://a.example/".into()), ("http.response.status_code", 500.into())],
            error: Some("a.example does not answer".to_owned()),
        };
        let hidden = to_otlp(without_addresses(span.clone()));
        assert!(!format!("{hidden:?}").contains("a.example"), "{hidden:?}");
        assert_eq!(hidden.attributes.len(), 1);
        assert_eq!(hidden.status, Status::error(""));
        let reported = to_otlp(span);
        assert_eq!(reported.status, Status::error("a.example does not answer"));
        assert_eq!(reported.span_context.trace_id().to_string(), context.trace_id.to_string());
        assert_eq!(reported.span_context.span_id().to_string(), context.step(3).span_id.to_string());
        assert_eq!(reported.parent_span_id.to_string(), context.span_id.to_string());
        assert_eq!(reported.start_time, UNIX_EPOCH + Duration::from_millis(1_500));
    }
}
