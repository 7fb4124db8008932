use crate::runner::{OUTPUT, driver, send, spec, texts};
use metrics::Figure;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use stream::{
    AnsweredRequest, InFlight, InputRecord, NamedTopic, ProcessError, RequestTag, StageSpec, StageWork, TaskId,
    TaskView,
};
use stream_testing::{RawRecord, TestDriver};
use wire::TopicName;

/// The engine's view for a test, and the controls of the test.
#[derive(Default)]
struct Desk {
    submitted: Vec<(RequestTag, String)>,
    answers: VecDeque<AnsweredRequest>,
    withdrawn: Vec<u64>,
    /// Each with the number of requests submitted before.
    received: Vec<(usize, String)>,
    is_draining: bool,
    /// Requests that finish while others are held back.
    under_way: Vec<String>,
    is_held_back: bool,
}

/// Answers a request when a test says so.
#[derive(Clone, Default)]
struct Engine(Arc<Mutex<Desk>>);

impl Engine {
    fn answer(&self, text: &str) {
        let mut desk = self.0.lock().unwrap();
        let (tag, _) =
            desk.submitted.iter().rfind(|(_, submitted)| submitted == text).cloned().expect("it was submitted");
        desk.answers.push_back(AnsweredRequest::new(tag).with(OUTPUT, RawRecord::new(text, text)));
    }

    fn submitted(&self) -> Vec<String> {
        self.0.lock().unwrap().submitted.iter().map(|(_, text)| text.clone()).collect()
    }
}

impl InFlight for Engine {
    fn begin(&mut self, _: u64) {}

    fn submit(&mut self, tag: RequestTag, record: &InputRecord, _: &TaskView<'_>) -> Result<(), ProcessError> {
        let text = String::from_utf8_lossy(record.value.as_deref().unwrap_or_default()).into_owned();
        if text == "bad" {
            return Err(ProcessError::SetAside("this one is bad".to_owned()));
        }
        self.0.lock().unwrap().submitted.push((tag, text));
        Ok(())
    }

    fn broadcast(&mut self, record: &InputRecord) {
        let text = String::from_utf8_lossy(record.value.as_deref().unwrap_or_default()).into_owned();
        let mut desk = self.0.lock().unwrap();
        let after = desk.submitted.len();
        desk.received.push((after, text));
    }

    fn receive(&mut self, _: Duration) -> Option<AnsweredRequest> {
        let finished = {
            let mut desk = self.0.lock().unwrap();
            if desk.is_held_back { desk.under_way.pop() } else { None }
        };
        finished.iter().for_each(|text| self.answer(text));
        self.0.lock().unwrap().answers.pop_front()
    }

    fn withdraw(&mut self, epochs: &[u64]) {
        self.0.lock().unwrap().withdrawn.extend(epochs);
    }

    fn drain(&mut self) {
        self.0.lock().unwrap().is_draining = true;
    }

    fn hold_back(&mut self) {
        self.0.lock().unwrap().is_held_back = true;
    }

    fn under_way(&self) -> usize {
        self.0.lock().unwrap().under_way.len()
    }

    fn figures(&self, _: usize) -> Vec<Figure> {
        Vec::new()
    }
}

fn stage(engine: &Engine, limit: usize) -> StageSpec {
    spec(StageWork::InFlight(Box::new(engine.clone()), limit))
}

fn turn(driver: &mut TestDriver) {
    for _ in 0..10 {
        driver.clock.advance(Duration::from_millis(10));
        driver.step(0).unwrap();
    }
}

#[test]
fn what_was_answered_behind_the_oldest_is_not_asked_for_again_after_a_crash() {
    let mut driver = driver(1);
    let engine = Engine::default();
    driver.add(stage(&engine, 100), "one");
    ["slow", "a", "b", "bad", "c"].iter().for_each(|text| send(&driver, "key", text));
    turn(&mut driver);
    assert_eq!(engine.submitted(), ["slow", "a", "b", "c"]);
    ["b", "a"].iter().for_each(|text| engine.answer(text));
    turn(&mut driver);
    assert_eq!(texts(&driver, "output"), ["b", "a"]);
    driver.kill(0);
    let engine = Engine::default();
    driver.add(stage(&engine, 100), "one");
    turn(&mut driver);
    assert_eq!(engine.submitted(), ["slow", "c"]);
    assert_eq!(texts(&driver, "dead-letters").len(), 1, "what was set aside is not set aside again");
    ["c", "slow"].iter().for_each(|text| engine.answer(text));
    turn(&mut driver);
    assert_eq!(texts(&driver, "output"), ["b", "a", "c", "slow"]);
}

#[test]
fn work_in_flight_receives_the_broadcast_before_its_first_request_and_soon_after_it_is_sent() {
    let mut driver = driver(1);
    let broadcast = |text: &str| driver.send("output", b"key", text.as_bytes().to_vec()).unwrap();
    ["a", "b"].iter().for_each(|text| broadcast(text));
    send(&driver, "key", "request");
    let engine = Engine::default();
    let stage = StageSpec {
        broadcasts: vec![NamedTopic { name: TopicName::Declared("output"), topic: "output".to_owned() }],
        ..stage(&engine, 100)
    };
    driver.add(stage, "one");
    turn(&mut driver);
    let received = |count: usize, text: &str| (count, text.to_owned());
    assert_eq!(engine.0.lock().unwrap().received, [received(0, "a"), received(0, "b")]);
    assert_eq!(engine.submitted(), ["request"]);
    driver.send("output", b"key", b"c".to_vec()).unwrap();
    // A fifth of a second, and no punctuation.
    (0..3).for_each(|_| turn(&mut driver));
    assert_eq!(engine.0.lock().unwrap().received.last(), Some(&received(1, "c")));
}

#[test]
fn a_stage_without_stores_opens_none() {
    let mut driver = driver(1);
    let engine = Engine::default();
    driver.add(stage(&engine, 100), "one");
    send(&driver, "key", "a");
    turn(&mut driver);
    assert_eq!(engine.submitted(), ["a"]);
    assert!(driver.stores.snapshot(&TaskId { stage: "testing".to_owned(), partition: 0 }).is_none());
}

#[test]
fn no_more_is_taken_in_than_may_be_unanswered() {
    let mut driver = driver(1);
    let engine = Engine::default();
    driver.add(stage(&engine, 2), "one");
    ["a", "b", "c"].iter().for_each(|text| send(&driver, "key", text));
    turn(&mut driver);
    assert_eq!(engine.submitted(), ["a", "b"]);
    engine.answer("b");
    turn(&mut driver);
    assert_eq!(engine.submitted(), ["a", "b", "c"]);
}

#[test]
fn answers_to_requests_of_an_earlier_assignment_are_passed_over() {
    let mut driver = driver(1);
    let engine = Engine::default();
    driver.add(stage(&engine, 100), "one");
    send(&driver, "key", "a");
    turn(&mut driver);
    // The group goes on without it, and it joins anew.
    driver.log.expire("testing", "input", "testing-one");
    turn(&mut driver);
    driver.clock.advance(Duration::from_secs(10));
    turn(&mut driver);
    assert_eq!(engine.submitted(), ["a", "a"]);
    let (old, _) = engine.0.lock().unwrap().submitted[0].clone();
    assert_eq!(engine.0.lock().unwrap().withdrawn, [old.epoch]);
    let late = AnsweredRequest::new(old).with(OUTPUT, RawRecord::new(*b"key", *b"late"));
    engine.0.lock().unwrap().answers.push_back(late);
    engine.answer("a");
    turn(&mut driver);
    assert_eq!(texts(&driver, "output"), ["a"]);
}

#[test]
fn answers_without_a_commit_are_used_when_their_partition_comes_back() {
    let mut driver = driver(1);
    let engine = Engine::default();
    driver.add(stage(&engine, 100), "one");
    ["a", "b"].iter().for_each(|text| send(&driver, "key", text));
    turn(&mut driver);
    engine.answer("a");
    // The commit of the answer fails, and the stage joins anew.
    driver.log.expire("testing", "input", "testing-one");
    turn(&mut driver);
    driver.clock.advance(Duration::from_secs(10));
    turn(&mut driver);
    assert_eq!(engine.submitted(), ["a", "b", "b"]);
    engine.answer("b");
    turn(&mut driver);
    assert_eq!(texts(&driver, "output"), ["a", "b"]);
}

#[test]
fn many_answers_without_a_commit_are_committed_in_batches_when_their_partition_comes_back() {
    let mut driver = driver(1);
    let engine = Engine::default();
    driver.add(stage(&engine, 1_000), "one");
    let sent: Vec<String> = (0..250).map(|number| format!("{number}")).collect();
    sent.iter().for_each(|text| send(&driver, "key", text));
    turn(&mut driver);
    sent.iter().for_each(|text| engine.answer(text));
    let before = driver.status(0).commits_total;
    driver.log.expire("testing", "input", "testing-one");
    turn(&mut driver);
    driver.clock.advance(Duration::from_secs(10));
    turn(&mut driver);
    assert_eq!(engine.submitted(), sent, "none is submitted twice");
    assert_eq!(texts(&driver, "output").len(), 250);
    assert!(driver.status(0).commits_total >= before + 3, "a batch has 100 records");
}

#[test]
fn requests_under_way_finish_before_a_member_joins_anew() {
    let mut driver = driver(1);
    let engine = Engine::default();
    driver.add(stage(&engine, 100), "one");
    ["a", "b", "c"].iter().for_each(|text| send(&driver, "key", text));
    turn(&mut driver);
    engine.0.lock().unwrap().under_way = vec!["b".to_owned()];
    engine.answer("a");
    driver.log.backend().refuse_next_write();
    turn(&mut driver);
    driver.clock.advance(Duration::from_secs(10));
    turn(&mut driver);
    assert!(engine.0.lock().unwrap().is_held_back);
    assert_eq!(engine.submitted(), ["a", "b", "c", "c"]);
    assert_eq!(texts(&driver, "output"), ["a", "b"]);
}

#[test]
fn answers_without_a_commit_are_dropped_when_another_has_committed_its_own() {
    let mut driver = driver(1);
    let (one, two) = (Engine::default(), Engine::default());
    driver.add(stage(&one, 100), "one");
    ["a", "b"].iter().for_each(|text| send(&driver, "key", text));
    turn(&mut driver);
    one.answer("a");
    driver.log.expire("testing", "input", "testing-one");
    driver.add(stage(&two, 100), "two");
    for _ in 0..10 {
        driver.clock.advance(Duration::from_secs(1));
        driver.step(1).unwrap();
    }
    assert_eq!(two.submitted(), ["a", "b"]);
    two.answer("a");
    for _ in 0..10 {
        driver.clock.advance(Duration::from_millis(100));
        driver.step(1).unwrap();
    }
    driver.kill(1);
    driver.clock.advance(Duration::from_secs(60));
    turn(&mut driver);
    driver.clock.advance(Duration::from_secs(10));
    turn(&mut driver);
    assert_eq!(one.submitted(), ["a", "b", "b"]);
    one.answer("b");
    turn(&mut driver);
    assert_eq!(texts(&driver, "output"), ["a", "b"]);
}

#[test]
fn a_stage_that_is_reported_to_end_commits_what_was_answered() {
    let mut driver = driver(1);
    let engine = Engine::default();
    driver.add(stage(&engine, 100), "one");
    ["a", "b", "c"].iter().for_each(|text| send(&driver, "key", text));
    turn(&mut driver);
    engine.answer("c");
    driver.leave(0, Duration::from_secs(5));
    assert!(engine.0.lock().unwrap().is_draining);
    assert_eq!(texts(&driver, "output"), ["c"]);
    let engine = Engine::default();
    driver.add(stage(&engine, 100), "two");
    turn(&mut driver);
    assert_eq!(engine.submitted(), ["a", "b"]);
}

#[test]
fn a_stage_that_ends_commits_all_that_was_answered_also_more_than_a_batch() {
    let mut driver = driver(1);
    let engine = Engine::default();
    driver.add(stage(&engine, 1_000), "one");
    let texts_sent: Vec<String> = (0..250).map(|number| format!("{number}")).collect();
    texts_sent.iter().for_each(|text| send(&driver, "key", text));
    turn(&mut driver);
    texts_sent.iter().for_each(|text| engine.answer(text));
    driver.leave(0, Duration::from_secs(5));
    assert_eq!(texts(&driver, "output"), texts_sent);
}

#[test]
fn work_in_flight_is_finished_and_none_begun_while_the_disk_is_full() {
    let mut driver = driver(1);
    let engine = Engine::default();
    driver.add(stage(&engine, 100), "one");
    send(&driver, "key", "a");
    turn(&mut driver);
    driver.room.set_left(false);
    send(&driver, "key", "b");
    engine.answer("a");
    turn(&mut driver);
    assert_eq!((engine.submitted(), texts(&driver, "output")), (vec!["a".to_owned()], vec!["a".to_owned()]));
    driver.room.set_left(true);
    turn(&mut driver);
    assert_eq!(engine.submitted(), ["a", "b"]);
}
