//! A record that ends the process is set aside once it has done so twice while records are noted.
//!
//! The tests run themselves as children, in which a stage of an embedded log meets records that abort the process.

use daemon::CrashFile;
use messages::topics::Topic;
use page::{DAY, Timestamp};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use stream::{
    Cleanup, Context, DeadLetters, InProcessLog, InputRecord, Log, NamedTopic, OutputRecord, ProcessError, Processor,
    RunnerSettings, Stage, StageRunner, StageSpec, StageWork, StepOutcome, Subject, TopicConfig, TopicPartition,
};
use stream_rocksdb::{EmbeddedBackend, EmbeddedStores, open_log};
use stream_testing::{ManualClock, RawRecord};

/// The directory of a child.
const CHILD: &str = "DAEMON_TEST_OF_CRASHES";
/// The child's time in seconds.
const CHILD_NOW: &str = "DAEMON_TEST_OF_CRASHES_NOW";
const OUTPUT: Topic<RawRecord> = Topic::new("output");
const NOW: Timestamp = Timestamp::from_secs(1_700_000_000);

struct Copying;

impl Processor for Copying {
    fn process(&mut self, record: &InputRecord, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let value = record.value.as_deref().unwrap_or_default();
        if value.starts_with(b"deadly") {
            std::process::abort();
        }
        context.emit(OUTPUT, RawRecord::new(record.key.clone(), value));
        Ok(())
    }
}

/// Records with a key of sixteen bytes are about it.
fn spec() -> StageSpec {
    StageSpec {
        name: "testing".to_owned(),
        group: "testing".to_owned(),
        input: "input".into(),
        outputs: vec![NamedTopic { name: OUTPUT.name(), topic: "output".to_owned() }],
        stores: Vec::new(),
        broadcasts: Vec::new(),
        dead_letters: DeadLetters {
            topic: "dead-letters".to_owned(),
            encode: |dead_letter| format!("{}: {}", dead_letter.record.offset, dead_letter.reason).into_bytes(),
        },
        schemas: None,
        punctuate_every: Duration::from_secs(3_600),
        begins_traces: None,
        subject: Some(|record| {
            let id = record.key.as_slice().try_into().ok()?;
            Some(Subject { id, name: String::from_utf8_lossy(&record.key).into_owned() })
        }),
        // Only records with a subject have one.
        stand_in: Some(|record| {
            let value = record.value.as_deref().unwrap_or_default();
            let stand_in = if value == b"deadly, and its stand-in, too" { &b"deadly"[..] } else { b"stand-in" };
            (record.key.len() == 16).then(|| InputRecord { value: Some(stand_in.to_vec().into()), ..record.clone() })
        }),
        work: StageWork::Processors(Box::new(|_| Box::new(Copying))),
    }
}

/// The child: processes all there is, and ends in order.
fn process_all(directory: &Path) {
    let log = open_log(directory).unwrap();
    let stores = Arc::new(EmbeddedStores::new(log.backend().clone()));
    let settings = RunnerSettings {
        batch_records: 100,
        batch_bytes: usize::MAX,
        batch_interval: Duration::ZERO,
        poll_timeout: Duration::ZERO,
    };
    let now = Timestamp::from_secs(std::env::var(CHILD_NOW).unwrap().parse().unwrap());
    let (clock, spec) = (ManualClock::at(now), spec());
    let notes = CrashFile::of(&spec, directory, now).unwrap();
    let mut stage = StageRunner::new(spec, "one", Arc::new(log), stores, clock, settings).noting_crashes(notes);
    while stage.step().unwrap() != StepOutcome::Idle {}
    stage.leave(Duration::ZERO);
}

/// A log with topics of one partition.
fn new_log(directory: &Path) {
    let kept = Cleanup::Delete { retention: Duration::MAX, consumed: false };
    let topic =
        |name: &str| TopicConfig { name: name.into(), partitions: 1, cleanup: kept, max_message_bytes: 1 << 20 };
    open_log(directory).unwrap().create_topics(&["input", "output", "dead-letters"].map(topic)).unwrap();
}

fn texts(directory: &Path, topic: &str) -> Vec<String> {
    let log: InProcessLog<EmbeddedBackend> = open_log(directory).unwrap();
    let (records, _) = log.reader().unwrap().read(&TopicPartition::new(topic, 0), 0, 1_000).unwrap();
    let text = |record: &InputRecord| String::from_utf8_lossy(record.value.as_deref().unwrap_or_default()).into();
    records.iter().map(text).collect()
}

fn send(directory: &Path, key: &str, values: &[&str]) {
    let record = |value: &&str| OutputRecord {
        to: TopicPartition::new("input", 0),
        timestamp: NOW,
        key: key.as_bytes().to_vec(),
        value: Some(value.as_bytes().to_vec().into()),
        trace: None,
    };
    open_log(directory).unwrap().append(&values.iter().map(record).collect::<Vec<_>>()).unwrap();
}

/// The encoded reason of a record that is set aside.
fn dead_letter(offset: u64, name: &str) -> String {
    format!("{offset}: 2 times the process ended while it processed {name}")
}

/// Starts children of a test until one ends in order. Returns how many did not.
fn crashes(test: &str, directory: &Path, now: Timestamp) -> usize {
    let child = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", &format!("crashes::{test}")]).env(CHILD, directory);
        command.env(CHILD_NOW, now.as_secs().to_string()).output().unwrap().status.success()
    };
    (0..20).find(|_| child()).expect("a record ends the process for ever")
}

#[test]
fn a_record_that_ends_the_process_twice_is_set_aside_and_the_rest_goes_on() {
    if let Some(directory) = std::env::var_os(CHILD) {
        return process_all(Path::new(&directory));
    }
    let crashes = |directory: &Path| {
        crashes("a_record_that_ends_the_process_twice_is_set_aside_and_the_rest_goes_on", directory, NOW)
    };
    let directory = tempfile::tempdir().unwrap();
    new_log(directory.path());
    // Two records of one batch are deadly. After the first crash all records are noted.
    send(directory.path(), "key", &["a", "deadly 1", "b", "deadly 2", "c"]);
    assert_eq!(crashes(directory.path()), 1 + 2 + 2);
    assert_eq!(texts(directory.path(), "output"), ["a", "b", "c"]);
    assert_eq!(texts(directory.path(), "dead-letters"), [1, 3].map(|offset| dead_letter(offset, "this record")));
    // While suspects are remembered, records are noted from the start.
    send(directory.path(), "key", &["d", "deadly 3", "e"]);
    assert_eq!(crashes(directory.path()), 2);
    assert_eq!(texts(directory.path(), "output"), ["a", "b", "c", "d", "e"]);
}

#[test]
fn a_subject_that_ended_the_process_twice_is_set_aside_for_a_day_wherever_it_comes_again() {
    if let Some(directory) = std::env::var_os(CHILD) {
        return process_all(Path::new(&directory));
    }
    let crashes = |directory: &Path, now| {
        let test = "a_subject_that_ended_the_process_twice_is_set_aside_for_a_day_wherever_it_comes_again";
        crashes(test, directory, now)
    };
    let directory = tempfile::tempdir().unwrap();
    new_log(directory.path());
    let (page, other) = ("a page, 16 bytes", "page of 16 bytes");
    let set_aside = "a page, 16 bytes; it is set aside until 2023-11-15T22:13:20.000Z";
    send(directory.path(), page, &["deadly 1"]);
    assert_eq!(crashes(directory.path(), NOW), 1 + 2);
    send(directory.path(), page, &["deadly 2"]);
    send(directory.path(), other, &["a"]);
    assert_eq!(crashes(directory.path(), NOW + DAY / 2), 0);
    assert_eq!(texts(directory.path(), "dead-letters"), [0, 1].map(|offset| dead_letter(offset, set_aside)));
    // Later it is risked again: it may be harmless by then, or end the process once more.
    send(directory.path(), page, &["deadly 3"]);
    assert_eq!(crashes(directory.path(), NOW + DAY), 1);
    assert_eq!(texts(directory.path(), "dead-letters").len(), 3);
    send(directory.path(), page, &["b"]);
    assert_eq!(crashes(directory.path(), NOW + 2 * DAY), 0);
    send(directory.path(), page, &["c"]);
    assert_eq!(crashes(directory.path(), NOW + 2 * DAY), 0);
    assert_eq!(texts(directory.path(), "output"), ["stand-in", "stand-in", "a", "stand-in", "b", "c"]);
    send(directory.path(), other, &["deadly, and its stand-in, too"]);
    send(directory.path(), "key", &["d"]);
    assert_eq!(crashes(directory.path(), NOW + 2 * DAY), 1 + 2 + 2);
    assert_eq!(texts(directory.path(), "dead-letters").len(), 4);
    assert_eq!(texts(directory.path(), "output").split_off(6), ["d"], "only the record is set aside");
}
