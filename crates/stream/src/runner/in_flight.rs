//! The parts of the loop only work in flight needs: limits, answers and draining.

use super::StageRunner;
use crate::in_flight::{AnswerOutput, AnswerWrite, AnsweredRequest, RequestAnswer, UncommittedAnswer};
use crate::log::PollLimits;
use crate::record::OutputRecord;
use crate::spec::StageWork;
use crate::table::place_of;
use crate::task::{Task, TaskError, TaskWork};
use std::collections::VecDeque;
use std::time::Duration;
use tracing::{info, warn};

/// Longest wait for answers before polling for requests again.
const BUSY_WAIT: Duration = Duration::from_millis(2);

/// Longest wait for requests under way before a member that still owns their partitions joins its group again.
const FINISH_WITHIN: Duration = Duration::from_secs(5);

/// Polls of the group between two waits for an answer. A poll handles one event, and a revocation may be queued behind records.
const POLLS_AT_ONCE: usize = 100;

/// How long uncommitted answers wait for their partition to come back once the group has assigned partitions again.
const ANSWERS_KEPT: Duration = Duration::from_secs(30);

/// The result of a step of a stage that drains.
enum DrainStep {
    /// There may be more answers.
    TookSome,
    TookAll,
    /// Nothing more can be committed.
    Ended,
}

impl StageRunner {
    /// Number of requests in flight.
    pub(super) fn unanswered(&self) -> usize {
        self.tasks
            .values()
            .map(|task| if let TaskWork::InFlight(window) = &task.work { window.unanswered() } else { 0 })
            .sum()
    }

    /// Number of records that may be in flight beyond those that are.
    pub(super) fn room_in_flight(&self) -> usize {
        let StageWork::InFlight(_, limit) = &self.spec.work else { return usize::MAX };
        let is_full =
            self.tasks.values().any(|task| matches!(&task.work, TaskWork::InFlight(window) if window.is_full()));
        if is_full { 0 } else { limit.saturating_sub(self.unanswered()) }
    }

    /// Takes the answers that are ready and, while requests are in flight, those of the next moment. It waits the whole
    /// moment instead of for one answer, because the poll that follows costs as much as several answers.
    pub(super) fn take_answers(&mut self) -> bool {
        let mut any = false;
        let patience = if self.waiting_since.is_none() { BUSY_WAIT } else { BUSY_WAIT.min(self.time_to_commit()) };
        let until = self.clock.monotonic() + patience;
        loop {
            let left = until.saturating_sub(self.clock.monotonic());
            let wait = if self.unanswered() > 0 { left } else { Duration::ZERO };
            let ready = self.ready_answers.pop_front();
            let answer = ready.or_else(|| self.engine().and_then(|engine| engine.receive(wait)));
            let Some(answer) = answer else { return any };
            any |= self.take_answer(answer);
            if self.is_batch_full() {
                return any;
            }
        }
    }

    fn take_answer(&mut self, answer: AnsweredRequest) -> bool {
        let AnsweredRequest { tag, answer, held, steps } = answer;
        let Some(task) = self.tasks.get_mut(&tag.partition) else { return false };
        let TaskWork::InFlight(window) = &mut task.work else { return false };
        if window.epoch != tag.epoch {
            return false;
        }
        let (span, before) = (window.traced(tag.offset), task.outputs.len());
        window.answer(tag.offset);
        window.staged(tag, answer.clone());
        let RequestAnswer { outputs, mut stand_in, writes } = answer;
        task.held.extend(held);
        let (now, topics) = (self.clock.now(), &self.joined.as_ref().expect("tasks come from a member").topics);
        let mut left_out = 0;
        let mut leave_out = |why| {
            warn!(stage = self.spec.name, partition = tag.partition, offset = tag.offset, why, "answer left out");
            left_out += 1;
        };
        for AnswerOutput { output, key, value } in outputs {
            let topic = topics.output(output);
            let record = topic.record(key, value, now);
            match topic.refusal(record.bytes()) {
                None => task.outputs.push(record),
                Some(why) => {
                    let instead = stand_in.take().map(|make| make(why.clone()));
                    leave_out(why);
                    task.outputs.extend(instead.and_then(|AnswerOutput { output, key, value }| {
                        let topic = topics.output(output);
                        let record = topic.record(key, value, now);
                        topic.refusal(record.bytes()).is_none().then_some(record)
                    }));
                }
            }
        }
        for AnswerWrite { table, key, value } in writes {
            let store = place_of(&topics.tables, table);
            match topics.changelogs[store].refusal(key.len() + value.as_ref().map_or(0, Vec::len)) {
                None => task.state.overlay.write(store, key, value),
                Some(why) => leave_out(why),
            }
        }
        if let Some(span) = span {
            let reported_by = (&self.spec, self.tracing.as_ref(), now);
            span.end(&mut task.outputs[before..], steps, None, reported_by, &mut task.spans);
        }
        self.health.update(|status| status.answers_left_out_total += left_out);
        self.answer_waits();
        true
    }

    /// Lets requests under way finish and starts no others, for as long as the group leaves us their partitions.
    pub(super) fn finish_under_way(&mut self) {
        let Some(engine) = self.engine() else { return };
        engine.hold_back();
        let until = self.clock.monotonic() + FINISH_WITHIN;
        while self.engine().is_some_and(|engine| engine.under_way() > 0) && self.clock.monotonic() < until {
            self.health.turned();
            if let Err(error) = (0..POLLS_AT_ONCE).try_for_each(|_| self.keep_membership()) {
                info!(stage = self.spec.name, %error, "requests under way are given up");
                return;
            }
            let answer = self.engine().and_then(|engine| engine.receive(BUSY_WAIT));
            self.ready_answers.extend(answer);
        }
    }

    /// Takes part in the group without taking records.
    fn keep_membership(&mut self) -> Result<(), TaskError> {
        let Some(joined) = &mut self.joined else { return Ok(()) };
        let events = joined.member.poll(PollLimits::NONE, Duration::ZERO)?;
        let now = self.clock.now();
        self.take_events(events, now)
    }

    /// Cancels the requests of these epochs. Answers that came before are kept among the ready ones.
    pub(super) fn withdraw(&mut self, epochs: &[u64]) {
        let Some(engine) = self.engine().filter(|_| !epochs.is_empty()) else { return };
        engine.withdraw(epochs);
        while let Some(answer) = self.engine().and_then(|engine| engine.receive(Duration::ZERO)) {
            self.ready_answers.push_back(answer);
        }
    }

    /// Keeps the uncommitted answers of a task that is being closed, for the case that its partition comes back.
    pub(super) fn keep_answers(&mut self, task: Task) {
        let TaskWork::InFlight(window) = task.work else { return };
        let (partition, epoch) = (task.id.partition, window.epoch);
        let is_own = |answer: &AnsweredRequest| answer.tag.partition == partition && answer.tag.epoch == epoch;
        let (own, others): (VecDeque<_>, _) = std::mem::take(&mut self.ready_answers).into_iter().partition(is_own);
        self.ready_answers = others;
        let ready = own.into_iter().map(|AnsweredRequest { tag, answer, .. }| UncommittedAnswer { tag, answer });
        let answers: Vec<_> = window.into_uncommitted().into_iter().chain(ready).collect();
        if !answers.is_empty() {
            self.kept_answers.insert(partition, (self.clock.monotonic(), answers));
        }
    }

    /// Drops the uncommitted answers of partitions that have not come back, and of requests that have not.
    pub(super) fn drop_old_answers(&mut self) {
        let now = self.clock.monotonic();
        for task in self.tasks.values_mut() {
            if let TaskWork::InFlight(window) = &mut task.work {
                window.drop_kept(ANSWERS_KEPT, now);
            }
        }
        let Some(assigned_at) = self.joined.as_ref().and_then(|joined| joined.assigned_at) else { return };
        let restoring = &self.restoring;
        self.kept_answers.retain(|partition, (closed_at, _)| {
            restoring.contains_key(partition) || now.saturating_sub(assigned_at.max(*closed_at)) < ANSWERS_KEPT
        });
    }

    pub(super) fn answer_waits(&mut self) {
        let now = self.clock.monotonic();
        self.waiting_since.get_or_insert(now);
    }

    fn is_batch_full(&self) -> bool {
        let PollLimits { records, bytes } = self.batch.limits();
        self.answers_waiting() >= records || self.bytes_waiting() >= bytes
    }

    fn answers_waiting(&self) -> usize {
        self.tasks.values().map(|task| task.outputs.len()).sum()
    }

    /// Bytes of the outputs and writes that wait for the commit.
    fn bytes_waiting(&self) -> usize {
        let of = |task: &Task| task.outputs.iter().map(OutputRecord::bytes).sum::<usize>() + task.state.overlay.bytes();
        self.tasks.values().map(of).sum()
    }

    /// Whether to commit now. A processor's batch is one poll. Answers come one by one, and small transactions are
    /// expensive.
    pub(super) fn commit_is_due(&self) -> bool {
        match &self.spec.work {
            StageWork::Processors(_) => true,
            StageWork::InFlight(..) => {
                self.waiting_since.is_some()
                    && (self.time_to_commit().is_zero() || self.unanswered() == 0 || self.is_batch_full())
            }
        }
    }

    /// How long the waiting answers may still wait for others.
    fn time_to_commit(&self) -> Duration {
        let waited = self.waiting_since.map_or(Duration::ZERO, |since| self.clock.monotonic().saturating_sub(since));
        self.settings.batch_interval.saturating_sub(waited)
    }

    /// Starts no more requests and lets those in flight finish.
    pub(super) fn drain(&mut self, patience: Duration) {
        let Some(engine) = self.engine() else { return };
        engine.drain();
        let until = self.clock.monotonic() + patience;
        loop {
            let under_way = self.engine().map_or(0, |engine| engine.under_way());
            let is_late = self.clock.monotonic() >= until;
            let is_last = under_way == 0 || is_late;
            let step = self.drain_step(is_last);
            if is_late && under_way > 0 {
                info!(
                    stage = self.spec.name,
                    under_way, "the drain timeout has passed; requests in flight are given up"
                );
            }
            // Behind a full batch there may be more answers.
            if is_late || matches!(step, DrainStep::Ended) || is_last && matches!(step, DrainStep::TookAll) {
                return;
            }
        }
    }

    /// Takes answers, keeps the membership alive, and commits.
    fn drain_step(&mut self, is_last: bool) -> DrainStep {
        self.health.turned();
        self.take_answers();
        let step = if self.is_batch_full() { DrainStep::TookSome } else { DrainStep::TookAll };
        if self.joined.is_none() {
            return DrainStep::Ended;
        }
        let done = self
            .keep_membership()
            .and_then(|()| if is_last || self.commit_is_due() { self.commit(self.clock.now()) } else { Ok(false) });
        if let Err(error) = &done {
            warn!(stage = self.spec.name, %error, "cannot commit the last finished work");
            return DrainStep::Ended;
        }
        step
    }
}
