//! Records of a trace: what is made of them belongs to it, under ids that a repeated step gives again.

use crate::runner::{OUTPUT, driver, processors, spec, texts};
use metrics::Figure;
use page::Timestamp;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use stream::{
    AnsweredRequest, AttributeValue, Clock, Context, InFlight, InputRecord, Log, OutputRecord, ProcessError, Processor,
    RecordFacts, RequestTag, Sampler, Span, SpanKind, SpanSink, StageSpec, StageWork, Step, TaskView, TopicPartition,
    TraceContext, TraceId, Tracing,
};
use stream_testing::{RawRecord, TestDriver};

const CALLER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// Keeps the spans it gets.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<Span>>>);

impl SpanSink for Kept {
    fn take(&self, span: Span) {
        self.0.lock().unwrap().push(span);
    }
}

impl Kept {
    fn tracing(&self, ratio: f64) -> Tracing {
        let describe = |topic: &str, value: &[u8]| RecordFacts {
            attributes: vec![("text", String::from_utf8_lossy(value).into_owned().into()), ("topic", topic.into())],
            error: value.starts_with(b"failed").then(|| "it failed".to_owned()),
        };
        Tracing {
            sink: Arc::new(self.clone()),
            sampler: Sampler::of(ratio),
            system: "testing",
            describe: Arc::new(describe),
        }
    }

    fn spans(&self) -> Vec<Span> {
        self.0.lock().unwrap().clone()
    }
}

/// Sends two outputs for a record, except for one that it refuses; and one output when it punctuates.
struct Doubling;

impl Processor for Doubling {
    fn process(&mut self, record: &InputRecord, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let text = String::from_utf8_lossy(record.value.as_deref().unwrap_or_default()).into_owned();
        for output in ["one", "two"] {
            context.emit(OUTPUT, RawRecord::new(record.key.clone(), format!("{text} {output}")));
        }
        match text.as_str() {
            "bad" => Err(ProcessError::SetAside("this one is bad".to_owned())),
            "panic" => panic!("told to panic"),
            _ => Ok(()),
        }
    }

    fn punctuate(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        context.emit(OUTPUT, RawRecord::new("key", format!("at {}", context.now())));
        Ok(())
    }
}

fn doubling() -> StageSpec {
    StageSpec { begins_traces: Some(OUTPUT.name()), ..processors(Box::new(|_| Box::new(Doubling))) }
}

fn send(driver: &TestDriver, text: &str, trace: &str) {
    let trace = TraceContext::parse(trace.as_bytes()).map(Box::new);
    let to = TopicPartition::new("input", 0);
    let value = Some(text.as_bytes().to_vec().into());
    let record = OutputRecord { to, timestamp: Timestamp::from_secs(1), key: b"key".to_vec(), value, trace };
    driver.log.append(&[record]).unwrap();
}

/// The traces of a topic's records, but those of punctuate.
fn traces(driver: &TestDriver, topic: &str) -> Vec<Option<TraceContext>> {
    let is_of_record = |record: &InputRecord| !record.value.as_deref().unwrap_or_default().starts_with(b"at ");
    let records = driver.contents(topic).unwrap().into_iter().filter(is_of_record);
    records.map(|record| record.trace.as_deref().copied()).collect()
}

fn text_of<'a>(span: &'a Span, name: &str) -> &'a str {
    match span.attributes.iter().find(|(of, _)| *of == name) {
        Some((_, AttributeValue::Text(text))) => text,
        other => panic!("{name} is {other:?}"),
    }
}

#[test]
fn what_is_made_of_a_record_belongs_to_its_trace_and_one_span_reports_of_it() {
    let (mut driver, kept) = (driver(1), Kept::default());
    driver.add_traced(doubling(), "one", kept.tracing(0.0));
    send(&driver, "a", CALLER);
    send(&driver, "b", "");
    driver.run_until_idle().unwrap();
    let spans = kept.spans();
    assert_eq!(spans.len(), 1, "{spans:?}");
    let (span, caller) = (&spans[0], TraceContext::parse(CALLER.as_bytes()).unwrap());
    assert_eq!(traces(&driver, "output"), [Some(span.context), Some(span.context), None, None]);
    assert_eq!((span.context.trace_id, span.parent), (caller.trace_id, Some(caller.span_id)));
    assert_ne!(span.context.span_id, caller.span_id);
    assert_eq!((&*span.stage, span.name.as_str(), span.kind), ("testing", "process input", SpanKind::Consumer));
    assert_eq!(span.error, None);
    // The outputs of a record have more attributes than the record.
    for (name, text) in [
        ("text", "a two"),
        ("messaging.system", "testing"),
        ("messaging.destination.name", "input"),
        ("messaging.destination.partition.id", "0"),
        ("messaging.consumer.group.name", "testing"),
    ] {
        assert_eq!(text_of(span, name), text);
    }
    assert!(span.attributes.contains(&("messaging.kafka.offset", 0.into())));
}

#[test]
fn a_step_that_is_repeated_gives_the_same_ids_and_what_was_lost_is_not_reported() {
    let (mut first, mut second) = (driver(1), driver(1));
    let (kept_first, kept_second) = (Kept::default(), Kept::default());
    first.add_traced(doubling(), "one", kept_first.tracing(1.0));
    second.add_traced(doubling(), "one", kept_second.tracing(1.0));
    send(&first, "a", CALLER);
    first.run_until_idle().unwrap();
    // The batch with the record is lost with the panic of the next, and done again.
    send(&second, "a", CALLER);
    send(&second, "panic", "");
    second.run_until_idle().unwrap();
    let of_record = |kept: &Kept| -> Vec<TraceContext> {
        let spans = kept.spans().into_iter().filter(|span| span.kind == SpanKind::Consumer);
        spans.map(|span| span.context).collect()
    };
    assert_eq!(of_record(&kept_first).len(), 1);
    assert_eq!(of_record(&kept_first), of_record(&kept_second));
    assert_eq!(traces(&first, "output")[..2], traces(&second, "output")[..2]);
}

#[test]
fn a_decision_begins_a_trace_that_its_content_names() {
    let run = |ratio| {
        let (mut driver, kept) = (driver(1), Kept::default());
        driver.add_traced(doubling(), "one", kept.tracing(ratio));
        driver.run_until_idle().unwrap();
        let record = driver.contents("output").unwrap().remove(0);
        (kept.spans(), record)
    };
    let (spans, record) = run(1.0);
    let trace = TraceId::of_record("output", &record.key, record.value.as_deref().unwrap());
    assert_eq!(record.trace.as_deref(), Some(&TraceContext::begun(trace)));
    assert_eq!(spans.len(), 1);
    assert_eq!((spans[0].context, spans[0].parent), (TraceContext::begun(trace), None));
    assert_eq!((spans[0].name.as_str(), spans[0].kind), ("send output", SpanKind::Producer));
    assert_eq!(run(1.0).0, spans, "the same decision again is the same trace");
    let (spans, record) = run(0.0);
    assert!(spans.is_empty() && record.trace.is_none());
}

#[test]
fn a_caller_that_does_not_sample_is_obeyed() {
    let (mut driver, kept) = (driver(1), Kept::default());
    driver.add_traced(doubling(), "one", kept.tracing(1.0));
    let unsampled = CALLER.replace("-01", "-00");
    send(&driver, "a", &unsampled);
    driver.run_until_idle().unwrap();
    let passed_on = TraceContext::parse(unsampled.as_bytes());
    assert_eq!(traces(&driver, "output"), [passed_on, passed_on]);
    assert!(kept.spans().iter().all(|span| span.kind == SpanKind::Producer));
}

#[test]
fn a_stage_that_reports_no_spans_passes_the_trace_on() {
    let mut driver = driver(1);
    driver.add(doubling(), "one");
    send(&driver, "a", CALLER);
    driver.run_until_idle().unwrap();
    let passed_on = TraceContext::parse(CALLER.as_bytes());
    assert_eq!(traces(&driver, "output"), [passed_on, passed_on]);
    let of_punctuate = driver.contents("output").unwrap().into_iter().filter(|record| record.trace.is_none());
    assert_eq!(of_punctuate.count(), texts(&driver, "output").len() - 2);
}

#[test]
fn a_dead_letter_belongs_to_the_trace_and_its_span_says_what_was_wrong() {
    for (text, wrong) in [("bad", "this one is bad"), ("panic", "processing it panicked: told to panic")] {
        let (mut driver, kept) = (driver(1), Kept::default());
        driver.add_traced(doubling(), "one", kept.tracing(0.0));
        send(&driver, text, CALLER);
        driver.run_until_idle().unwrap();
        let spans = kept.spans();
        assert_eq!(spans.iter().map(|span| span.error.as_deref()).collect::<Vec<_>>(), [Some(wrong)]);
        assert_eq!(traces(&driver, "dead-letters"), [Some(spans[0].context)]);
    }
}

/// Answers requests when the test lets it.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<(Vec<RequestTag>, VecDeque<AnsweredRequest>)>>);

impl Asked {
    fn answer(&self, request: usize, text: &str, steps: Vec<Step>) {
        let (tags, answers) = &mut *self.0.lock().unwrap();
        let answer = AnsweredRequest::new(tags[request]).in_steps(steps);
        answers.push_back(answer.with(OUTPUT, RawRecord::new("key", text)));
    }
}

impl InFlight for Asked {
    fn begin(&mut self, _: u64) {}

    fn submit(&mut self, tag: RequestTag, _: &InputRecord, _: &TaskView<'_>) -> Result<(), ProcessError> {
        self.0.lock().unwrap().0.push(tag);
        Ok(())
    }

    fn broadcast(&mut self, _: &InputRecord) {}

    fn receive(&mut self, _: Duration) -> Option<AnsweredRequest> {
        self.0.lock().unwrap().1.pop_front()
    }

    fn withdraw(&mut self, _: &[u64]) {}

    fn drain(&mut self) {}

    fn hold_back(&mut self) {}

    fn under_way(&self) -> usize {
        0
    }

    fn figures(&self, _: usize) -> Vec<Figure> {
        Vec::new()
    }
}

#[test]
fn an_answer_belongs_to_the_trace_of_its_request_with_its_steps_within() {
    let (mut driver, kept, engine) = (driver(1), Kept::default(), Asked::default());
    driver.add_traced(spec(StageWork::InFlight(Box::new(engine.clone()), 100)), "one", kept.tracing(1.0));
    send(&driver, "a", CALLER);
    send(&driver, "b", "");
    driver.run_until_idle().unwrap();
    let begun = driver.clock.now();
    driver.clock.advance(Duration::from_secs(3));
    let step = |name, from: u64, to: u64| Step {
        name,
        kind: SpanKind::Client,
        start: begun + Duration::from_secs(from),
        end: begun + Duration::from_secs(to),
        attributes: Vec::new(),
        error: None,
    };
    engine.answer(1, "other", Vec::new());
    engine.answer(0, "failed", vec![step("wait", 0, 2), step("GET", 2, 3)]);
    driver.run_until_idle().unwrap();
    let spans = kept.spans();
    let names: Vec<_> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["process input", "wait", "GET"]);
    assert_eq!(traces(&driver, "output"), [None, Some(spans[0].context)]);
    assert_eq!((spans[0].start, spans[0].end), (begun, begun + Duration::from_secs(3)));
    assert_eq!(spans[0].error.as_deref(), Some("it failed"), "the answer says so");
    for step in &spans[1..] {
        assert_eq!((step.context.trace_id, step.parent), (spans[0].context.trace_id, Some(spans[0].context.span_id)));
    }
    assert_eq!((spans[1].start, spans[1].end), (begun, begun + Duration::from_secs(2)));
    assert_ne!(spans[1].context.span_id, spans[2].context.span_id);
}
