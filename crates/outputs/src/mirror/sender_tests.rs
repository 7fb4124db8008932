use super::*;
use crate::mirror::batch::tests::{end, page};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use tempfile::TempDir;

/// An index in memory, with the failures that come before its answers.
#[derive(Clone, Default)]
struct Memory(Rc<RefCell<Shared>>);

#[derive(Default)]
struct Shared {
    documents: BTreeMap<String, i64>,
    failures: VecDeque<Undelivered>,
    /// Ids of pages that the index refuses, each by itself or with all of its request.
    refused: Vec<String>,
    refuses_requests: bool,
    requests: usize,
    in_use: Option<String>,
}

impl SearchIndex for Memory {
    fn prepare(&mut self) -> Result<(), Undelivered> {
        self.0.borrow_mut().failures.pop_front().map_or(Ok(()), Err)
    }

    fn apply(&mut self, updates: &[&PageUpdate]) -> Result<Vec<Fate>, Undelivered> {
        let mut shared = self.0.borrow_mut();
        shared.requests += 1;
        if let Some(failure) = shared.failures.pop_front() {
            return Err(failure);
        }
        let is_refused = |shared: &Shared, update: &PageUpdate| shared.refused.iter().any(|id| id == update.id());
        if shared.refuses_requests && updates.iter().any(|update| is_refused(&shared, update)) {
            return Err(Undelivered::Refused("a field is wrong".to_owned()));
        }
        let mut fates = Vec::new();
        for update in updates {
            let newest = shared.documents.get(update.id()).copied().unwrap_or_default();
            fates.push(if is_refused(&shared, update) {
                Fate::Rejected("a field is wrong".to_owned())
            } else if newest > update.order() {
                Fate::Superseded
            } else if update.is_deletion() {
                shared.documents.remove(update.id());
                Fate::Applied
            } else {
                shared.documents.insert(update.id().to_owned(), update.order());
                Fate::Applied
            });
        }
        Ok(fates)
    }

    fn rebuild(&mut self, moment: i64) -> Rebuild {
        Rebuild::Into(format!("pages-{moment}"))
    }

    fn continue_rebuild(&mut self, index: &str) {
        self.0.borrow_mut().in_use = Some(format!("not {index} yet"));
    }

    fn put_in_use(&mut self) -> Result<(), Undelivered> {
        self.0.borrow_mut().in_use = Some("the new one".to_owned());
        Ok(())
    }
}

struct Bench {
    directory: TempDir,
    memory: Memory,
    stop: StopSignal,
}

impl Default for Bench {
    fn default() -> Self {
        let directory = tempfile::tempdir().expect("there is room for a test");
        Self { directory, memory: Memory::default(), stop: StopSignal::default() }
    }
}

impl Bench {
    fn note(&self) -> MirrorNote {
        let file = self.directory.path().join("mirror.cursor");
        MirrorNote::open(&file, "memory", "changes", "all").expect("it is of this mirror")
    }

    fn open(&self, rebuild: Option<i64>) -> Result<IndexSender<'_>, CommandFailure> {
        let manner = Manner { give_up_after: Duration::from_secs(3_600), format: Format::Text };
        IndexSender::open(Box::new(self.memory.clone()), "memory", self.note(), rebuild, manner, &self.stop)
    }

    fn sender(&self) -> IndexSender<'_> {
        self.open(None).expect("the index is there")
    }

    fn fails(&self, failures: impl IntoIterator<Item = Undelivered>) {
        self.memory.0.borrow_mut().failures.extend(failures);
    }

    fn ids(&self) -> Vec<String> {
        self.memory.0.borrow().documents.keys().cloned().collect()
    }
}

fn cursor(text: &str) -> Cursor {
    text.parse().expect("a cursor")
}

fn busy() -> Undelivered {
    Undelivered::Later { problem: "it is busy".to_owned(), after: Some(Duration::ZERO) }
}

#[test]
fn a_batch_is_noted_when_the_index_has_it_and_never_before() {
    let bench = Bench::default();
    let mut sender = bench.sender();
    let place = |id: &str| CopyPlace { partition: 1, page_id: id.to_owned() };
    sender.begins_copies(&cursor("3")).expect("there is room");
    sender.take_copy(page("a", 1), Some(place("0a"))).expect("it is kept");
    assert_eq!((sender.note().copied(), bench.ids().len()), (None, 0));
    bench.fails([busy(), busy()]);
    sender.flush().expect("it goes better later");
    assert_eq!((sender.note().copied(), bench.ids().len()), (Some(place("0a")), 1));
    sender.take_change(page("b", 2), &cursor("4")).expect("it is kept");
    sender.take_change(end("a", 3), &cursor("5")).expect("it is kept");
    sender.rest(&cursor("6")).expect("it is sent");
    assert_eq!((sender.note().cursor(), bench.ids()), (Some(cursor("6")), vec![page("b", 2).id().to_owned()]));
    let done = &sender.done;
    assert_eq!((done.indexed, done.deleted, done.failed_attempts, done.rejected), (2, 1, 2, 0));
    sender.finish().expect("nothing was rejected");
    assert_eq!(bench.note().cursor(), Some(cursor("6")));
}

#[test]
fn what_was_not_sent_before_the_signal_is_not_noted() {
    let bench = Bench::default();
    let mut sender = bench.sender();
    sender.take_change(page("a", 1), &cursor("4")).expect("it is kept");
    bench.stop.stop();
    sender.rest(&cursor("5")).expect("it ends");
    sender.rest(&cursor("6")).expect("it ends");
    assert_eq!((sender.note().cursor(), bench.ids().len()), (None, 0));
}

#[test]
fn an_older_version_takes_no_place_and_is_counted() {
    let bench = Bench::default();
    let mut sender = bench.sender();
    for update in [page("a", 9), page("a", 4), end("a", 8)] {
        sender.take_change(update, &cursor("1")).expect("it is kept");
        sender.flush().expect("it is sent");
    }
    assert_eq!((bench.ids().len(), sender.done.superseded), (1, 2));
}

#[test]
fn a_document_that_is_rejected_is_set_aside_and_the_others_are_there() {
    for refuses_requests in [false, true] {
        let bench = Bench::default();
        let mut sender = bench.sender();
        {
            let mut shared = bench.memory.0.borrow_mut();
            shared.refused = vec![page("3", 1).id().to_owned()];
            shared.refuses_requests = refuses_requests;
        }
        for number in 0..20 {
            sender.take_change(page(&number.to_string(), 1), &cursor("4")).expect("it is kept");
        }
        sender.rest(&cursor("4")).expect("it goes on");
        assert_eq!((bench.ids().len(), sender.done.rejected, sender.note().cursor()), (19, 1, Some(cursor("4"))));
        let requests = bench.memory.0.borrow().requests;
        assert!(requests <= if refuses_requests { 11 } else { 1 }, "{requests}: the part is found by halves");
        let problem = sender.finish().expect_err("one is not there").to_string();
        assert!(
            problem.contains("rejected 1 updates") && problem.contains("mirror.cursor.rejected.jsonl"),
            "{problem}"
        );
        let aside = std::fs::read_to_string(bench.directory.path().join("mirror.cursor.rejected.jsonl"));
        let aside: serde_json::Value = serde_json::from_str(&aside.expect("it is there")).expect("a line of JSON");
        assert_eq!((&aside["url"], &aside["reason"]), (&"https://docs.test/3".into(), &"a field is wrong".into()));
    }
}

#[test]
fn an_index_that_takes_no_document_ends_the_command_before_anything_is_noted() {
    let bench = Bench::default();
    let mut sender = bench.sender();
    bench.memory.0.borrow_mut().refused = (0..12).map(|number| page(&number.to_string(), 1).id().to_owned()).collect();
    for number in 0..12 {
        sender.take_change(page(&number.to_string(), 1), &cursor("4")).expect("it is kept");
    }
    let problem = sender.rest(&cursor("4")).expect_err("no field fits");
    assert_eq!(problem.status(), 2);
    assert!(problem.to_string().contains("all 12 documents of the first batch"), "{problem}");
    assert_eq!(sender.note().cursor(), None);
}

#[test]
fn what_will_never_go_better_ends_the_command() {
    let bench = Bench::default();
    bench.fails([Undelivered::Wrong("--to: no such index".to_owned())]);
    assert_eq!(bench.open(None).err().map(|failure| failure.status()), Some(2));
    let mut sender = bench.sender();
    sender.take_change(page("a", 1), &cursor("4")).expect("it is kept");
    let asks = Some(Duration::from_secs(7_200));
    bench.fails([Undelivered::Later { problem: "it rests".to_owned(), after: asks }]);
    let problem = sender.flush().expect_err("it asks for too long a wait");
    assert_eq!(problem.status(), 3);
    assert!(problem.to_string().contains("goes on with the same pages"), "{problem}");
    assert_eq!(sender.note().cursor(), None);
}

#[test]
fn a_new_index_is_in_use_only_when_it_has_everything() {
    let bench = Bench::default();
    let mut sender = bench.sender();
    sender.rest(&cursor("2")).expect("it is noted");
    drop(sender);
    let in_use = || bench.memory.0.borrow().in_use.clone();
    let sender = bench.open(Some(17)).expect("it can");
    assert_eq!(
        (sender.note().rebuild(), sender.note().cursor()),
        (Some("pages-17"), None),
        "all copies are sent again"
    );
    assert_eq!(in_use(), None);
    drop(sender);
    // It was killed, and goes on with the same one.
    let mut sender = bench.open(Some(18)).expect("it can");
    assert_eq!((sender.note().rebuild(), in_use()), (Some("pages-17"), Some("not pages-17 yet".to_owned())));
    sender.begins_copies(&cursor("2")).expect("there is room");
    sender.take_copy(page("a", 1), None).expect("it is kept");
    sender.rest(&cursor("5")).expect("it is sent");
    assert_eq!((sender.note().rebuild(), in_use()), (None, Some("the new one".to_owned())));
}
