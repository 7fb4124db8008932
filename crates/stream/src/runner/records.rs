//! Handles one record: processes, submits, sets aside, or holds it until it can be read.

use super::StageRunner;
use crate::crash_notes::{CrashNotes, RecordMark};
use crate::in_flight::{AnsweredRequest, RequestTag};
use crate::invariants::every_input_counted_once;
use crate::open_span::OpenSpan;
use crate::position::Position;
use crate::process_error::ProcessError;
use crate::record::{InputRecord, OutputRecord, TopicPartition};
use crate::spec::{FailedRecord, StageWork};
use crate::task::{Processed, TaskError, TaskWork};
use crate::task_tables::TaskView;
use page::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;
use tracing::warn;

/// A record on which the processor panics this often is set aside.
const PANICS_ALLOWED: u32 = 2;

/// No further record is taken in a step once its records have taken this long. A stage whose steps are much longer looks stuck,
/// and a process that is ended for that begins with the same records again.
const LONGEST_BATCH: Duration = Duration::from_secs(5);

impl StageRunner {
    /// The runner, setting aside records that end the process.
    pub fn noting_crashes(self, crash_notes: Option<Box<dyn CrashNotes>>) -> Self {
        Self { crash_notes, ..self }
    }

    /// Takes records until they have taken long enough for one step. The rest is delivered again.
    pub(super) fn take_records(&mut self, records: &[InputRecord], now: Timestamp) -> Result<(), TaskError> {
        // Requests are only handed on, and wait elsewhere.
        let is_bounded = matches!(self.spec.work, StageWork::Processors(_));
        let deadline = self.clock.monotonic() + LONGEST_BATCH;
        for (index, record) in records.iter().enumerate() {
            // The first record is taken before the clock is asked, however far that jumps.
            if is_bounded && index > 0 && self.clock.monotonic() >= deadline {
                self.batch.cut_short(index, records.len());
                return self.read_again(&records[index..]);
            }
            self.take_record(record, now)?;
        }
        Ok(())
    }

    /// Has records that were not taken delivered again. Those before them are staged.
    fn read_again(&mut self, records: &[InputRecord]) -> Result<(), TaskError> {
        let mut firsts: BTreeMap<u32, u64> = BTreeMap::new();
        // Partitions that wait for a schema are started again with that.
        let untaken = records
            .iter()
            .filter(|record| self.tasks.contains_key(&record.partition) && !self.is_waiting(record.partition));
        for record in untaken {
            let first = firsts.entry(record.partition).or_insert(record.offset);
            *first = record.offset.min(*first);
        }
        let joined = self.joined.as_mut().expect("records come from a member");
        for (partition, offset) in firsts {
            joined.member.start(partition, offset)?;
        }
        Ok(())
    }

    /// Takes a record. One of a partition without a running task belongs to another member, or is delivered again after the restore.
    pub(super) fn take_record(&mut self, record: &InputRecord, now: Timestamp) -> Result<(), TaskError> {
        if !self.tasks.contains_key(&record.partition) || self.is_waiting(record.partition) {
            return Ok(());
        }
        let processed = match self.panics.get(&(record.partition, record.offset)) {
            Some((times, said)) if *times >= PANICS_ALLOWED => Processed::SetAside(said.clone()),
            _ => self.process_noted(record, now)?,
        };
        match processed {
            Processed::Done => {}
            Processed::SetAside(reason) => {
                self.process_stand_in(record, now)?;
                self.set_aside(record, &reason, now);
            }
            Processed::Await(reason) => {
                self.hold(record, reason);
                return Ok(());
            }
        }
        self.held.remove(&record.partition);
        let Some(task) = self.tasks.get_mut(&record.partition) else { return Ok(()) };
        let before = task.input_last.or(task.input_next.checked_sub(1));
        self.health.check(every_input_counted_once(before.into_iter().chain([record.offset])));
        task.input_last = Some(record.offset);
        if let TaskWork::Processor(_) = task.work {
            task.position = Some(Position::at(record.offset + 1));
        }
        self.health.update(|status| status.processed_total += 1);
        Ok(())
    }

    /// Processes a record, with a note of it after a crash. Sets it aside if processes have ended at it.
    fn process_noted(&mut self, record: &InputRecord, now: Timestamp) -> Result<Processed, TaskError> {
        let Some(notes) = self.crash_notes.as_mut().filter(|notes| notes.are_taken()) else {
            return self.process_or_look_up(record, now);
        };
        let subject = self.spec.subject.and_then(|subject| subject(record));
        let mark = RecordMark::of(record, subject.as_ref());
        if let Some(reason) = notes.crashes_at(mark).and_then(|crashes| crashes.verdict(now, subject.as_ref())) {
            return Ok(Processed::SetAside(reason));
        }
        notes.begin(mark, now);
        let processed = self.process_or_look_up(record, now);
        self.crash_notes.iter_mut().for_each(|notes| notes.end());
        processed
    }

    /// Processes a record in place of one that is set aside, if there is one. Should that fail as well, it is left out.
    fn process_stand_in(&mut self, record: &InputRecord, now: Timestamp) -> Result<(), TaskError> {
        let panics = self.panics.get(&(record.partition, record.offset)).map_or(0, |(times, _)| *times);
        let stand_in = self.spec.stand_in.filter(|_| panics <= PANICS_ALLOWED).and_then(|make| make(record));
        let Some(stand_in) = stand_in else { return Ok(()) };
        let Some(notes) = self.crash_notes.as_mut().filter(|notes| notes.are_taken()) else {
            return self.process_or_look_up(&stand_in, now).map(|_| ());
        };
        let subject = self.spec.subject.and_then(|subject| subject(record));
        let mark = RecordMark::of(record, subject.as_ref()).of_stand_in();
        if notes.crashes_at(mark).and_then(|crashes| crashes.verdict(now, None)).is_some() {
            return Ok(());
        }
        notes.begin(mark, now);
        let processed = self.process_or_look_up(&stand_in, now);
        self.crash_notes.iter_mut().for_each(|notes| notes.end());
        processed.map(|_| ())
    }

    /// Processes a record. If its schema is missing, reads the topic of schemas and tries once more.
    fn process_or_look_up(&mut self, record: &InputRecord, now: Timestamp) -> Result<Processed, TaskError> {
        match self.process(record, now)? {
            Processed::Await(_) if self.has_learned()? => self.process(record, now),
            processed => Ok(processed),
        }
    }

    fn process(&mut self, record: &InputRecord, now: Timestamp) -> Result<Processed, TaskError> {
        let span = self.open_span(record);
        let joined = self.joined.as_ref().expect("records come from a member");
        let Some(task) = self.tasks.get_mut(&record.partition) else { return Ok(Processed::Done) };
        if let TaskWork::InFlight(_) = &task.work {
            return self.submit(record, span);
        }
        let before = task.outputs.len();
        let processed = task.process(record, now, &joined.topics, &self.spec.input)?;
        if let Some(span) = span.filter(|_| processed == Processed::Done) {
            let reported_by = (&self.spec, self.tracing.as_ref(), now);
            span.end(&mut task.outputs[before..], Vec::new(), None, reported_by, &mut task.spans);
        }
        Ok(processed)
    }

    /// Hands a request to the work in flight, unless it is answered.
    fn submit(&mut self, record: &InputRecord, span: Option<OpenSpan>) -> Result<Processed, TaskError> {
        let (partition, offset, timestamp) = (record.partition, record.offset, record.timestamp);
        let joined = self.joined.as_ref().expect("records come from a member");
        let Some(task) = self.tasks.get_mut(&partition) else { return Ok(Processed::Done) };
        let TaskWork::InFlight(window) = &mut task.work else { return Ok(Processed::Done) };
        let StageWork::InFlight(engine, _) = &mut self.spec.work else { return Ok(Processed::Done) };
        let tag = RequestTag { partition, offset, timestamp, epoch: window.epoch };
        let kept = window.kept_answer(tag);
        if !window.take(offset) {
            // A later record must not move the position past it.
            self.answer_waits();
            return Ok(Processed::Done);
        }
        if let Some(answer) = kept {
            span.into_iter().for_each(|span| window.trace(offset, span));
            self.ready_answers.push_back(AnsweredRequest { answer, ..AnsweredRequest::new(tag) });
            return Ok(Processed::Done);
        }
        let tables = TaskView::new(&*task.state.store, &task.state.overlay, &joined.topics.tables);
        match engine.submit(tag, record, &tables) {
            Ok(()) => {
                span.into_iter().for_each(|span| window.trace(offset, span));
                Ok(Processed::Done)
            }
            Err(ProcessError::SetAside(reason)) => {
                window.answer(offset);
                Ok(Processed::SetAside(reason))
            }
            Err(ProcessError::Await(reason)) => {
                window.take_back(offset);
                Ok(Processed::Await(reason))
            }
            Err(error) => {
                window.take_back(offset);
                Err(TaskError::of_process(partition, error))
            }
        }
    }

    fn set_aside(&mut self, record: &InputRecord, reason: &str, now: Timestamp) {
        let (partition, offset) = (record.partition, record.offset);
        warn!(stage = self.spec.name, partition, offset, reason, "record set aside");
        let dead_letter =
            FailedRecord { stage: &self.spec.name, topic: &self.spec.input, record, reason, set_aside_at: now };
        let value = (self.spec.dead_letters.encode)(&dead_letter);
        let topic = &self.joined.as_ref().expect("records come from a member").topics.dead_letters;
        let to = TopicPartition::new(topic.name.clone(), partition % topic.partitions);
        let output =
            OutputRecord { to, timestamp: now, key: record.key.clone(), value: Some(value.into()), trace: None };
        let span = self.open_span(record);
        if let Some(task) = self.tasks.get_mut(&partition) {
            task.outputs.push(output);
            if let Some(span) = span {
                let last = task.outputs.len() - 1;
                let reported_by = (&self.spec, self.tracing.as_ref(), now);
                span.end(&mut task.outputs[last..], Vec::new(), Some(reason), reported_by, &mut task.spans);
            }
        }
        self.answer_waits();
        self.health.update(|status| status.set_aside_total += 1);
    }
}
