//! Transient topics: in memory while they fit, and on disk when the process ends in order.

use page::{DAY, Timestamp};
use std::path::Path;
use stream::{
    Cleanup, Commit, InProcessLog, Log, LogBackend, MemberSpec, OutputRecord, PollLimits, Position, TopicConfig,
    TopicPartition,
};
use stream_rocksdb::{EmbeddedBackend, open_log};
use tempfile::TempDir;

const NOW: Timestamp = Timestamp::from_secs(1_800_000_000);
const LARGE_BYTES: usize = 4 << 20;

fn open(directory: &Path, cleanup: Cleanup) -> InProcessLog<EmbeddedBackend> {
    let log = open_log(directory).unwrap();
    let topic = TopicConfig { name: "topic".into(), partitions: 1, cleanup, max_message_bytes: 32 << 20 };
    log.create_topics(&[topic]).unwrap();
    log
}

fn open_transient(directory: &Path) -> InProcessLog<EmbeddedBackend> {
    open(directory, Cleanup::Transient { retention: DAY })
}

fn partition() -> TopicPartition {
    TopicPartition::new("topic", 0)
}

fn record(number: u32, bytes: usize) -> OutputRecord {
    let (key, value) = (number.to_be_bytes().to_vec(), Some(vec![0; bytes].into()));
    OutputRecord { to: partition(), timestamp: NOW, key, value, trace: None }
}

fn append(log: &dyn Log, numbers: impl Iterator<Item = u32>, bytes: usize) {
    numbers.for_each(|number| drop(log.append(&[record(number, bytes)]).unwrap()));
}

/// Commits that everything before an offset is consumed.
fn consume(log: &dyn Log, next: u64) {
    let spec = MemberSpec { group: "group".into(), input: "topic".into(), transactional_id: "member".into() };
    let mut member = log.join(&spec).unwrap();
    member.poll(PollLimits::records(1), DAY).unwrap();
    member.start(0, next).unwrap();
    let positions = [(0, Position::at(next))].into();
    member.commit(&Commit { tasks: [0].into(), positions, ..Commit::default() }).unwrap();
}

/// Numbers of the records from an offset on, with their offsets.
fn held(log: &EmbeddedBackend, from: u64) -> Vec<(u64, u32)> {
    let mut found = Vec::new();
    let mut next = from;
    loop {
        let records = log.read(&partition(), next, PollLimits::records(7)).unwrap();
        let Some(last) = records.last() else { return found };
        next = last.offset + 1;
        found.extend(records.iter().map(|r| (r.offset, u32::from_be_bytes(r.key[..].try_into().unwrap()))));
    }
}

fn numbered(numbers: std::ops::Range<u32>) -> Vec<(u64, u32)> {
    numbers.map(|number| (u64::from(number), number)).collect()
}

/// Ends as a killed process does: the files stay as they are, and nothing is closed.
fn kill(log: InProcessLog<EmbeddedBackend>, directory: &Path) -> TempDir {
    let copy = TempDir::new().unwrap();
    copy_all(directory, copy.path());
    drop(log);
    copy
}

fn copy_all(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir(&to).unwrap();
            copy_all(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn records_are_in_memory_until_they_are_consumed_and_survive_an_end_in_order() {
    let directory = TempDir::new().unwrap();
    let log = open_transient(directory.path());
    append(&log, 0..20, 10);
    assert_eq!(held(&EmbeddedBackend::open_read_only(directory.path()).unwrap(), 0), [], "nothing is on disk");
    consume(&log, 5);
    log.backend().maintain(NOW).unwrap();
    assert_eq!(held(log.backend(), 0), numbered(5..20));
    drop(log);
    let log = open_transient(directory.path());
    assert_eq!(held(log.backend(), 0), numbered(5..20));
    append(&log, 20..30, 10);
    assert_eq!(held(log.backend(), 0), numbered(5..30));
    assert_eq!(held(log.backend(), 22), numbered(22..30));
    consume(&log, 25);
    log.backend().maintain(NOW).unwrap();
    assert_eq!(held(log.backend(), 0), numbered(25..30));
    assert_eq!(log.backlog("group", "topic").unwrap()[0].records, 5);
}

#[test]
fn a_kill_loses_what_was_not_consumed_and_nothing_else() {
    let directory = TempDir::new().unwrap();
    let log = open_transient(directory.path());
    append(&log, 0..20, 10);
    consume(&log, 5);
    let left = kill(log, directory.path());
    let log = open_transient(left.path());
    assert_eq!(held(log.backend(), 0), []);
    assert_eq!(log.backlog("group", "topic").unwrap()[0].records, 0);
    append(&log, 5..8, 10);
    assert_eq!(held(log.backend(), 0), numbered(5..8), "the next record has the offset that the group waits for");
}

#[test]
fn records_without_room_in_memory_are_stored_and_stay_in_order() {
    let directory = TempDir::new().unwrap();
    let log = open_transient(directory.path());
    append(&log, 0..80, LARGE_BYTES);
    assert_eq!(held(log.backend(), 0), numbered(0..80));
    let stored = held(&EmbeddedBackend::open_read_only(directory.path()).unwrap(), 0);
    assert!((10..30).contains(&stored.len()), "{} records are stored", stored.len());
    // There is room again: newer records are held behind stored ones.
    consume(&log, 30);
    append(&log, 80..90, LARGE_BYTES);
    assert_eq!(held(log.backend(), 30), numbered(30..90));
    consume(&log, 75);
    log.backend().maintain(NOW).unwrap();
    assert_eq!(held(log.backend(), 0), numbered(75..90));
    let left = kill(log, directory.path());
    let log = open_transient(left.path());
    assert_eq!(held(log.backend(), 0), numbered(75..80), "what was stored outlives the process");
}

#[test]
fn what_is_held_stays_when_a_topic_is_transient_no_more() {
    let directory = TempDir::new().unwrap();
    let log = open_transient(directory.path());
    append(&log, 0..5, 10);
    let kept = Cleanup::Delete { retention: DAY, consumed: false };
    let topic = TopicConfig { name: "topic".into(), partitions: 1, cleanup: kept, max_message_bytes: 32 << 20 };
    log.create_topics(&[topic]).unwrap();
    append(&log, 5..10, 10);
    assert_eq!(held(log.backend(), 0), numbered(0..10));
    let left = kill(log, directory.path());
    assert_eq!(held(open(left.path(), kept).backend(), 0), numbered(0..10));
    assert_eq!(held(open_transient(left.path()).backend(), 0), numbered(0..10));
}

#[test]
fn input_counts_as_processed_once_its_transient_records_are_consumed() {
    let directory = TempDir::new().unwrap();
    let log = open_transient(directory.path());
    let cleanup = Cleanup::Delete { retention: DAY, consumed: true };
    let input = TopicConfig { name: "input".into(), partitions: 1, cleanup, max_message_bytes: 1 << 20 };
    log.create_topics(&[input]).unwrap();
    let from = TopicPartition::new("input", 0);
    let requests: Vec<_> = (0..9).map(|_| OutputRecord { to: from.clone(), ..record(0, 1) }).collect();
    log.append(&requests).unwrap();
    let spec = MemberSpec { group: "worker".into(), input: "input".into(), transactional_id: "worker".into() };
    let mut worker = log.join(&spec).unwrap();
    worker.poll(PollLimits::records(1), DAY).unwrap();
    worker.start(0, 0).unwrap();
    let mut work = |next: u64, outputs: Vec<OutputRecord>| {
        let positions = [(0, Position::at(next))].into();
        worker.commit(&Commit { tasks: [0].into(), positions, outputs, ..Commit::default() }).unwrap();
    };
    let next = |log: &EmbeddedBackend| log.committed("worker", &from).unwrap().map(|position| position.next);
    let after_kill = |expected: Option<u64>| {
        let left = TempDir::new().unwrap();
        copy_all(directory.path(), left.path());
        let log = open_transient(left.path());
        assert_eq!(next(log.backend()), expected);
        let first = expected.unwrap_or(0);
        assert_eq!(log.backend().read(&from, first, PollLimits::records(9)).unwrap()[0].offset, first);
    };

    work(3, (0..3).map(|number| record(number, 10)).collect());
    work(4, Vec::new());
    assert_eq!(next(log.backend()), Some(4), "this process goes on from there");
    log.backend().maintain(NOW).unwrap();
    after_kill(None);
    consume(&log, 2);
    after_kill(None);
    consume(&log, 3);
    after_kill(Some(4));
    work(5, vec![record(3, 10)]);
    work(6, vec![record(4, 10)]);
    consume(&log, 4);
    log.backend().maintain(NOW).unwrap();
    after_kill(Some(5));
    drop(worker);
    drop(log);
    let log = open_transient(directory.path());
    assert_eq!(next(log.backend()), Some(6), "nothing is lost by an end in order");
    assert_eq!(held(log.backend(), 4), numbered(4..5));
}
