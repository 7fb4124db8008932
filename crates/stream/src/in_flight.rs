//! Stages with work in flight: requests are accepted in order and answered out of order.

use crate::histogram::Histogram;
use crate::open_span::OpenSpan;
use crate::position::{Position, note};
use crate::process_error::ProcessError;
use crate::record::InputRecord;
use crate::span::Step;
use crate::table::{Table, TableKey};
use crate::task_tables::TaskView;
use bytes::Bytes;
use metrics::{Figure, Metric};
use page::Timestamp;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use wire::{Encoded, Keyed, Topic, TopicName};

/// Maximum number of requests of one partition accepted while its oldest is unanswered. Later answers are remembered
/// meanwhile, so this bounds memory and the work repeated if a note is lost.
const LONGEST_WINDOW: usize = 100_000;

/// Identifies the record and the assignment a request comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestTag {
    pub partition: u32,
    pub offset: u64,
    /// Timestamp of the record. It differs for the record at the same offset of a topic that was deleted and created again.
    pub timestamp: Timestamp,
    /// Number of the assignment, so that an answer to a request of an earlier assignment is not taken for a current
    /// one.
    pub epoch: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AnswerOutput {
    pub(crate) output: TopicName,
    pub(crate) key: Vec<u8>,
    pub(crate) value: Bytes,
}

/// A value, with an object that is held for as long as its bytes are in memory.
struct HoldingValue<H> {
    bytes: Vec<u8>,
    _held: H,
}

impl<H> AsRef<[u8]> for HoldingValue<H> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A write to a table of the task, staged with an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AnswerWrite {
    pub(crate) table: &'static str,
    pub(crate) key: Vec<u8>,
    /// `None` deletes.
    pub(crate) value: Option<Vec<u8>>,
}

/// Something of the stage's, such as a share of its memory, held while an answer waits for its commit.
pub(crate) type HeldByAnswer = Box<dyn Send>;

/// Makes the record in place of one that is larger than its topic takes, given the reason.
type StandInOutput = Arc<dyn Fn(String) -> AnswerOutput + Send + Sync>;

/// The answer to a request. The values of its outputs, which are most of its bytes, are shared by its clones.
#[derive(Clone, Default)]
pub(crate) struct RequestAnswer {
    pub(crate) outputs: Vec<AnswerOutput>,
    pub(crate) stand_in: Option<StandInOutput>,
    pub(crate) writes: Vec<AnswerWrite>,
}

/// An answer that no commit holds yet, with its request.
pub(crate) struct UncommittedAnswer {
    pub(crate) tag: RequestTag,
    pub(crate) answer: RequestAnswer,
}

pub struct AnsweredRequest {
    pub tag: RequestTag,
    pub(crate) answer: RequestAnswer,
    pub(crate) held: Option<HeldByAnswer>,
    pub(crate) steps: Vec<Step>,
}

impl AnsweredRequest {
    /// An answer without output.
    pub fn new(tag: RequestTag) -> Self {
        Self { tag, answer: RequestAnswer::default(), held: None, steps: Vec::new() }
    }

    /// Holds something until the answer is committed, or its task is gone.
    pub fn holding(self, held: impl Send + 'static) -> Self {
        Self { held: Some(Box::new(held)), ..self }
    }

    /// Records the steps of the work, if the request belongs to a trace.
    pub fn in_steps(self, steps: Vec<Step>) -> Self {
        Self { steps, ..self }
    }

    /// Adds a message to send.
    pub fn with<M: Keyed>(mut self, topic: Topic<M>, message: impl Into<M>) -> Self {
        let message = message.into();
        let (output, key) = (topic.name(), message.key());
        self.answer.outputs.push(AnswerOutput { output, key, value: message.encode().into() });
        self
    }

    /// Adds a message to send. Holds something, such as its share of the stage's memory, for as long as the message is in
    /// this process's memory: in an embedded log until every group has read it, and over Kafka until it is sent.
    pub fn with_holding<M: Keyed>(mut self, topic: Topic<M>, message: impl Into<M>, held: impl Send + 'static) -> Self {
        let message = message.into();
        let value = Bytes::from_owner(HoldingValue { bytes: message.encode(), _held: held });
        self.answer.outputs.push(AnswerOutput { output: topic.name(), key: message.key(), value });
        self
    }

    /// Says what to send, given the reason, in place of a message that is larger than its topic takes. Without it the request would
    /// have no answer.
    pub fn standing_in<M: Keyed + 'static>(
        mut self,
        topic: Topic<M>,
        make: impl Fn(String) -> M + Send + Sync + 'static,
    ) -> Self {
        self.answer.stand_in = Some(Arc::new(move |why| {
            let message = make(why);
            AnswerOutput { output: topic.name(), key: message.key(), value: message.encode().into() }
        }));
        self
    }

    /// Sets a key of a table of the request's task, in the commit of the answer.
    pub fn put<K: TableKey, V: Encoded>(mut self, table: Table<K, V>, key: &K, value: &V) -> Self {
        let (key, value) = (key.to_bytes().as_ref().to_vec(), Some(value.encode()));
        self.answer.writes.push(AnswerWrite { table: table.name(), key, value });
        self
    }

    /// Deletes a key of a table of the request's task, in the commit of the answer.
    pub fn delete<K: TableKey, V: Encoded>(mut self, table: Table<K, V>, key: &K) -> Self {
        let key = key.to_bytes().as_ref().to_vec();
        self.answer.writes.push(AnswerWrite { table: table.name(), key, value: None });
        self
    }
}

/// Asynchronous work of a stage, for all partitions of a process. A request not answered before a crash is submitted
/// again. What must outlive a crash is written to the task's tables with an answer.
pub trait InFlight: Send {
    /// Announces requests of this epoch.
    fn begin(&mut self, epoch: u64);

    /// Accepts a request. [`InputRecord::read`] decodes it. The tables are those of its task, with what answers have
    /// staged.
    fn submit(&mut self, tag: RequestTag, record: &InputRecord, tables: &TaskView<'_>) -> Result<(), ProcessError>;

    /// Takes a record of the stage's one broadcast topic. Delivered at least once; all that are there come before the first
    /// request.
    fn broadcast(&mut self, record: &InputRecord);

    /// The next answer; `None` if none arrives within `patience`.
    fn receive(&mut self, patience: Duration) -> Option<AnsweredRequest>;

    /// Cancels all requests of these epochs, whose partitions move to another process. None of them may be in flight
    /// when this returns.
    fn withdraw(&mut self, epochs: &[u64]);

    /// Starts no more requests; those in flight finish and are answered. Called at the end of a process.
    fn drain(&mut self);

    /// Sends no more requests until an epoch begins. Requests in flight are answered, unless they need another request or wait
    /// for memory. Requests without an answer are submitted again later.
    fn hold_back(&mut self);

    /// Number of requests started and not answered. Requests that wait to start do not count.
    fn under_way(&self) -> usize;

    /// Figures for `/status` and `/metrics`. `unanswered`: requests read from the log and not answered.
    fn figures(&self, unanswered: usize) -> Vec<Figure>;

    /// Histograms for `/metrics`.
    fn histograms(&self) -> Vec<(&'static Metric, Histogram)> {
        Vec::new()
    }

    /// Answers since start by their kind, for `/status` and `/metrics`.
    fn answers(&self) -> BTreeMap<&'static str, u64> {
        BTreeMap::new()
    }
}

/// Requests of one partition in offset order, from the first unanswered one on.
pub(crate) struct RequestWindow {
    pub(crate) epoch: u64,
    /// Everything before this offset is answered.
    next: u64,
    /// Accepted offsets, with whether each is answered.
    taken: VecDeque<(u64, bool)>,
    unanswered: usize,
    /// The offset at which reading goes on.
    pub(crate) read_on: u64,
    /// The accepted requests that belong to a trace and are not answered.
    traced: BTreeMap<u64, OpenSpan>,
    /// Offsets answered before this assignment and not delivered again yet.
    finished: BTreeSet<u64>,
    /// Whether the position is to be committed: it has moved, or the group has lost it.
    pub(crate) has_moved: bool,
    /// Answers that are not committed.
    uncommitted: Vec<UncommittedAnswer>,
    /// Uncommitted answers of an earlier assignment, by offset, to requests that are to be delivered again.
    kept: BTreeMap<u64, UncommittedAnswer>,
    /// Since when they wait, on the monotonic clock.
    kept_since: Duration,
}

impl RequestWindow {
    pub(crate) fn new(epoch: u64, from: u64, finished: BTreeSet<u64>) -> Self {
        Self {
            epoch,
            next: from,
            taken: VecDeque::new(),
            unanswered: 0,
            read_on: from,
            traced: BTreeMap::new(),
            finished,
            has_moved: false,
            uncommitted: Vec::new(),
            kept: BTreeMap::new(),
            kept_since: Duration::ZERO,
        }
    }

    /// Takes over the uncommitted answers of an earlier assignment. An answer that another process has committed since is not
    /// used, because its request is not delivered again.
    pub(crate) fn keep(&mut self, answers: Vec<UncommittedAnswer>, now: Duration) {
        self.kept = answers.into_iter().map(|kept| (kept.tag.offset, kept)).collect();
        self.kept_since = now;
    }

    /// Drops the answers of an earlier assignment that have waited for this long: their requests do not come again.
    pub(crate) fn drop_kept(&mut self, after: Duration, now: Duration) {
        if now.saturating_sub(self.kept_since) >= after {
            self.kept.clear();
        }
    }

    /// The answer that a request had in an earlier assignment. Those of requests before it are dropped: these do not come again.
    pub(crate) fn kept_answer(&mut self, request: RequestTag) -> Option<RequestAnswer> {
        self.kept = self.kept.split_off(&request.offset);
        let kept = self.kept.remove(&request.offset)?;
        (kept.tag.timestamp == request.timestamp).then_some(kept.answer)
    }

    /// Notes an answer until it is committed.
    pub(crate) fn staged(&mut self, tag: RequestTag, answer: RequestAnswer) {
        self.uncommitted.push(UncommittedAnswer { tag, answer });
    }

    /// All answers that are not committed, also those of an earlier assignment whose requests have not been delivered again.
    pub(crate) fn into_uncommitted(self) -> Vec<UncommittedAnswer> {
        self.uncommitted.into_iter().chain(self.kept.into_values()).collect()
    }

    /// Accepts a record. Returns false if it was answered before and needs no work.
    pub(crate) fn take(&mut self, offset: u64) -> bool {
        // Earlier ones will not be delivered any more: retention has dropped them.
        while let Some(gone) = self.finished.first().copied().filter(|first| *first < offset) {
            self.finished.remove(&gone);
            self.taken.push_back((gone, true));
        }
        self.read_on = offset + 1;
        let is_new = !self.finished.remove(&offset);
        self.taken.push_back((offset, false));
        self.unanswered += 1;
        if !is_new {
            self.answer(offset);
        }
        is_new
    }

    /// Undoes the last `take`: the record cannot be read yet and will be delivered again.
    pub(crate) fn take_back(&mut self, offset: u64) {
        if self.taken.pop_back_if(|(last, answered)| *last == offset && !*answered).is_some() {
            self.unanswered -= 1;
            self.read_on = offset;
        }
    }

    /// Notes the trace of an accepted request.
    pub(crate) fn trace(&mut self, offset: u64, span: OpenSpan) {
        self.traced.insert(offset, span);
    }

    /// The trace of a request that is being answered.
    pub(crate) fn traced(&mut self, offset: u64) -> Option<OpenSpan> {
        self.traced.remove(&offset)
    }

    /// Marks a request as answered.
    pub(crate) fn answer(&mut self, offset: u64) {
        let Ok(place) = self.taken.binary_search_by_key(&offset, |(offset, _)| *offset) else { return };
        if std::mem::replace(&mut self.taken[place].1, true) {
            return;
        }
        self.unanswered -= 1;
        self.has_moved = true;
        while let Some((offset, true)) = self.taken.front() {
            self.next = offset + 1;
            self.taken.pop_front();
        }
    }

    /// Number of requests in flight.
    pub(crate) fn unanswered(&self) -> usize {
        self.unanswered
    }

    /// Whether the oldest request must be answered before another is accepted.
    pub(crate) fn is_full(&self) -> bool {
        self.taken.len() >= LONGEST_WINDOW
    }

    /// Position to commit, if it has changed since the last commit.
    pub(crate) fn position(&self) -> Option<Position> {
        let behind = self.taken.iter().filter(|(_, answered)| *answered).map(|(offset, _)| *offset);
        // Those finished earlier come after everything accepted so far.
        let finished = behind.chain(self.finished.iter().copied());
        self.has_moved.then(|| Position { next: self.next, note: note(self.next, finished) })
    }

    /// Marks the position as committed.
    pub(crate) fn committed(&mut self) {
        self.has_moved = false;
        self.uncommitted.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_a_message_holds_is_held_as_long_as_its_bytes() {
        let held = Arc::new(());
        let tag = RequestTag { partition: 0, offset: 0, timestamp: Timestamp::MIN, epoch: 0 };
        let url = page::CanonicalUrl::parse("http://a.test/").unwrap();
        let message = messages::FetchRequest::first(url, Timestamp::from_secs(1));
        let topic = messages::topics::FETCH_REQUESTS;
        let answer = AnsweredRequest::new(tag).with_holding(topic, message.clone(), held.clone());
        let copy = answer.answer.outputs[0].value.clone();
        assert_eq!(copy, message.encode());
        drop(answer);
        assert_eq!(Arc::strong_count(&held), 2);
        drop(copy);
        assert_eq!(Arc::strong_count(&held), 1);
    }

    #[test]
    fn the_position_stays_at_the_oldest_unanswered_and_notes_what_is_answered_behind_it() {
        let mut window = RequestWindow::new(1, 10, BTreeSet::new());
        assert!((10..16).all(|offset| window.take(offset)));
        assert_eq!(window.position(), None);
        [11, 12, 14].into_iter().for_each(|offset| window.answer(offset));
        let position = window.position().unwrap();
        assert_eq!((position.next, position.finished()), (10, BTreeSet::from([11, 12, 14])));
        window.committed();
        window.answer(10);
        let position = window.position().unwrap();
        assert_eq!((position.next, position.finished()), (13, BTreeSet::from([14])));
        assert_eq!(window.unanswered(), 2);
    }

    #[test]
    fn what_was_finished_and_is_gone_by_now_stays_noted_in_order() {
        let mut window = RequestWindow::new(1, 3, BTreeSet::from([5, 6]));
        assert!(window.take(3), "it is under way when retention takes what follows");
        assert!(window.take(8));
        window.answer(8);
        let position = window.position().unwrap();
        assert_eq!((position.next, position.finished()), (3, BTreeSet::from([5, 6, 8])));
        window.answer(3);
        assert_eq!(window.position(), Some(Position::at(9)));
    }

    #[test]
    fn an_answer_of_an_earlier_assignment_is_for_the_same_request_only_and_waits_for_a_while() {
        let tag =
            |offset, seconds| RequestTag { partition: 0, offset, timestamp: Timestamp::from_secs(seconds), epoch: 1 };
        let answered = |offset| UncommittedAnswer { tag: tag(offset, 7), answer: RequestAnswer::default() };
        let window = || {
            let mut window = RequestWindow::new(2, 0, BTreeSet::new());
            window.keep((3..6).map(answered).collect(), Duration::from_secs(10));
            window
        };
        let mut kept = window();
        assert!(kept.kept_answer(tag(3, 7)).is_some());
        assert!(kept.kept_answer(tag(3, 7)).is_none(), "it is used once");
        assert!(kept.kept_answer(tag(4, 8)).is_none(), "the topic was made anew");
        assert_eq!(kept.into_uncommitted().len(), 1);
        let mut passed = window();
        assert!(passed.kept_answer(tag(9, 7)).is_none());
        assert!(passed.into_uncommitted().is_empty());
        let mut late = window();
        late.drop_kept(Duration::from_secs(30), Duration::from_secs(39));
        assert!(late.kept_answer(tag(5, 7)).is_some());
        let mut late = window();
        late.drop_kept(Duration::from_secs(30), Duration::from_secs(40));
        assert!(late.kept_answer(tag(5, 7)).is_none());
    }

    proptest! {
        /// For any order of answers and any number of crashes: each offset is submitted until it was answered and
        /// committed, and never again after that.
        #[test]
        fn what_was_committed_as_answered_is_never_taken_again(
            rounds in proptest::collection::vec((1_u64..30, proptest::collection::vec(0_u64..40, 0..40)), 1..6),
        ) {
            let mut committed = Position::at(0);
            let mut done = BTreeSet::new();
            for (epoch, (count, answers)) in rounds.into_iter().enumerate() {
                let from = committed.next;
                let mut window = RequestWindow::new(epoch as u64, from, committed.finished());
                for offset in from..from + count {
                    prop_assert_eq!(window.take(offset), !done.contains(&offset), "offset {}", offset);
                }
                let mut answered = BTreeSet::new();
                for answer in answers.into_iter().map(|answer| from + answer).filter(|answer| *answer < from + count) {
                    window.answer(answer);
                    answered.insert(answer);
                }
                if let Some(position) = window.position() {
                    committed = position;
                    done.extend(answered);
                }
                prop_assert!((0..committed.next).all(|offset| done.contains(&offset)));
            }
        }
    }
}
