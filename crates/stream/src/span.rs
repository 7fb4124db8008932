//! Spans: the work of a stage on a record of a trace, and where spans are sent.

use crate::trace::{Sampler, SpanId, TraceContext};
use page::Timestamp;
use std::sync::Arc;

impl Span {
    /// Whether it is about a record as a whole, whose work ends with its commit.
    pub(crate) fn is_of_record(&self) -> bool {
        matches!(self.kind, SpanKind::Producer | SpanKind::Consumer)
    }
}

/// One span: a piece of work, with its place in a trace. Attributes have the names of OpenTelemetry's conventions.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Its own ids.
    pub context: TraceContext,
    /// The span that led to it; `None` for the first of a trace.
    pub parent: Option<SpanId>,
    /// The stage at work.
    pub stage: Arc<str>,
    pub name: String,
    /// Its place between a producer and a consumer.
    pub kind: SpanKind,
    /// When it began, on the clock of the web.
    pub start: Timestamp,
    /// When it ended: for the work on a record, when that was committed.
    pub end: Timestamp,
    pub attributes: Vec<Attribute>,
    /// Why the work failed; `None` if it did not.
    pub error: Option<String>,
}

/// A span's place between a producer and a consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// It makes the first record of a trace.
    Producer,
    /// It processes a record.
    Consumer,
    /// It asks a server.
    Client,
    /// Anything else.
    Internal,
}

/// A named fact about a span.
pub type Attribute = (&'static str, AttributeValue);

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeValue {
    /// A text.
    Text(String),
    /// A whole number.
    Number(i64),
    /// Any other number.
    Real(f64),
}

impl From<&str> for AttributeValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for AttributeValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for AttributeValue {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<f64> for AttributeValue {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

/// A part of the work on a record. It becomes a span of its own within that of the record.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub name: &'static str,
    /// Its place between a client and a server.
    pub kind: SpanKind,
    pub start: Timestamp,
    pub end: Timestamp,
    pub attributes: Vec<Attribute>,
    /// Why the step failed; `None` if it did not.
    pub error: Option<String>,
}

/// Attributes of a span that come from its record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordFacts {
    pub attributes: Vec<Attribute>,
    /// The failure that the record reports.
    pub error: Option<String>,
}

impl RecordFacts {
    /// These facts and those of another record, whose attributes replace those of the same name.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.attributes.retain(|(name, _)| other.attributes.iter().all(|(of_other, _)| of_other != name));
        self.attributes.extend(other.attributes);
        Self { error: self.error.or(other.error), ..self }
    }
}

/// The destination of spans. It must return at once; a span that it has no room for is lost.
pub trait SpanSink: Send + Sync {
    fn take(&self, span: Span);
}

/// Reads the attributes of a record of a topic, by the topic's full name.
pub type Describe = dyn Fn(&str, &[u8]) -> RecordFacts + Send + Sync;

/// How a stage takes part in traces. Without it, a stage only passes a record's context on to the records that it makes
/// of it.
#[derive(Clone)]
pub struct Tracing {
    pub sink: Arc<dyn SpanSink>,
    /// Decides which of the traces that it begins are recorded. Traces begun elsewhere keep their own decision.
    pub sampler: Sampler,
    /// The messaging system: the attribute `messaging.system`.
    pub system: &'static str,
    /// Reads the attributes of a record.
    pub describe: Arc<Describe>,
}
