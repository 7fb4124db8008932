//! The part of the loop that makes and sends spans.

use super::StageRunner;
use crate::open_span::{OpenSpan, begin_trace};
use crate::processor::Topics;
use crate::record::InputRecord;
use crate::span::{Span, Tracing};
use crate::spec::StageSpec;
use crate::task::Task;

/// The topic whose records begin traces.
pub(super) struct Beginning<'a> {
    spec: &'a StageSpec,
    tracing: &'a Tracing,
    topic: &'a str,
}

impl<'a> Beginning<'a> {
    /// `None` if the stage begins none, or none is sampled.
    pub(super) fn of(spec: &'a StageSpec, tracing: Option<&'a Tracing>, topics: &'a Topics) -> Option<Self> {
        let tracing = tracing.filter(|tracing| !tracing.sampler.is_never())?;
        let topic = &topics.output(spec.begins_traces?).name;
        Some(Self { spec, tracing, topic })
    }

    /// Begins traces with the outputs of a task from `before` on.
    pub(super) fn traces_of(&self, task: &mut Task, before: usize) {
        let outputs = task.outputs[before..].iter_mut().filter(|output| *output.to.topic == *self.topic);
        task.spans.extend(outputs.filter_map(|output| begin_trace(output, self.spec, self.tracing)));
    }
}

impl StageRunner {
    /// Begins the span of a record, if it belongs to a trace.
    pub(super) fn open_span(&self, record: &InputRecord) -> Option<OpenSpan> {
        let parent = record.trace.as_deref()?;
        Some(OpenSpan::begin(parent, record, &self.spec, self.tracing.as_ref(), self.clock.now()))
    }

    /// Sends the spans of records that are now committed.
    pub(super) fn send_spans(&self, spans: Vec<Span>) {
        let Some(tracing) = self.tracing.as_ref().filter(|_| !spans.is_empty()) else { return };
        let committed_at = self.clock.now();
        for span in spans {
            // A step ended when it did.
            let end = if span.is_of_record() { committed_at.max(span.end) } else { span.end };
            tracing.sink.take(Span { end, ..span });
        }
    }
}
