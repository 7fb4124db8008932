//! The span of a record while a stage works on it.

use crate::record::{InputRecord, OutputRecord};
use crate::span::{Attribute, RecordFacts, Span, SpanKind, Step, Tracing};
use crate::spec::StageSpec;
use crate::trace::{SpanId, TraceContext, TraceId};
use page::Timestamp;

/// The span of a record. Records made of it get its context.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OpenSpan {
    /// The context for the records made of it.
    context: TraceContext,
    /// The span to send; `None` if the trace is not recorded, or not by this stage.
    reported: Option<ReportedSpan>,
}

#[derive(Clone, Debug, PartialEq)]
struct ReportedSpan {
    parent: SpanId,
    start: Timestamp,
    facts: RecordFacts,
}

impl OpenSpan {
    /// Begins work on a record of a trace.
    pub(crate) fn begin(
        parent: &TraceContext,
        record: &InputRecord,
        spec: &StageSpec,
        tracing: Option<&Tracing>,
        now: Timestamp,
    ) -> Self {
        let Some(tracing) = tracing.filter(|_| parent.is_sampled()) else {
            return Self { context: *parent, reported: None };
        };
        let (partition, offset) = (record.partition.to_be_bytes(), record.offset.to_be_bytes());
        let context = parent.processed(&[spec.group.as_bytes(), spec.input.as_bytes(), &partition, &offset]);
        let mut facts = described(tracing, &spec.input, record.value.as_deref());
        // If the record reports a failure, it is the failure of the work before.
        facts.error = None;
        facts.attributes.extend(place(tracing, &spec.input, record.partition));
        facts.attributes.extend([
            ("messaging.operation.name", "process".into()),
            ("messaging.operation.type", "process".into()),
            ("messaging.consumer.group.name", spec.group.as_str().into()),
            ("messaging.kafka.offset", (record.offset as i64).into()),
        ]);
        Self { context, reported: Some(ReportedSpan { parent: parent.span_id, start: now, facts }) }
    }

    /// Gives its context to the records made of this one, and adds the spans of the work to `spans`. They end with the
    /// work; the end of the commit replaces that later.
    pub(crate) fn end(
        self,
        outputs: &mut [OutputRecord],
        steps: Vec<Step>,
        error: Option<&str>,
        (spec, tracing, now): (&StageSpec, Option<&Tracing>, Timestamp),
        spans: &mut Vec<Span>,
    ) {
        outputs.iter_mut().for_each(|output| output.trace = Some(Box::new(self.context)));
        let (Some(ReportedSpan { parent, start, mut facts }), Some(tracing)) = (self.reported, tracing) else { return };
        for output in outputs {
            facts = facts.and(described(tracing, &output.to.topic, output.value.as_deref()));
        }
        let stage: std::sync::Arc<str> = spec.name.as_str().into();
        spans.push(Span {
            context: self.context,
            parent: Some(parent),
            stage: stage.clone(),
            name: format!("process {}", spec.input),
            kind: SpanKind::Consumer,
            start,
            end: now,
            attributes: facts.attributes,
            error: error.map(str::to_owned).or(facts.error),
        });
        spans.extend(steps.into_iter().enumerate().map(|(number, step)| Span {
            context: self.context.step(number),
            parent: Some(self.context.span_id),
            stage: stage.clone(),
            name: step.name.to_owned(),
            kind: step.kind,
            start: step.start,
            end: step.end,
            attributes: step.attributes,
            error: step.error,
        }));
    }
}

/// Begins a trace with an output that was made of no record, if it is sampled.
pub(crate) fn begin_trace(output: &mut OutputRecord, spec: &StageSpec, tracing: &Tracing) -> Option<Span> {
    let trace_id = TraceId::of_record(&output.to.topic, &output.key, output.value.as_deref().unwrap_or_default());
    if !tracing.sampler.samples(trace_id) {
        return None;
    }
    let context = TraceContext::begun(trace_id);
    output.trace = Some(Box::new(context));
    let RecordFacts { mut attributes, error } = described(tracing, &output.to.topic, output.value.as_deref());
    attributes.extend(place(tracing, &output.to.topic, output.to.partition));
    attributes.extend([("messaging.operation.name", "send".into()), ("messaging.operation.type", "send".into())]);
    Some(Span {
        context,
        parent: None,
        stage: spec.name.as_str().into(),
        name: format!("send {}", output.to.topic),
        kind: SpanKind::Producer,
        start: output.timestamp,
        end: output.timestamp,
        attributes,
        error,
    })
}

fn described(tracing: &Tracing, topic: &str, value: Option<&[u8]>) -> RecordFacts {
    value.map(|value| (tracing.describe)(topic, value)).unwrap_or_default()
}

fn place(tracing: &Tracing, topic: &str, partition: u32) -> [Attribute; 3] {
    [
        ("messaging.system", tracing.system.into()),
        ("messaging.destination.name", topic.into()),
        ("messaging.destination.partition.id", partition.to_string().into()),
    ]
}
