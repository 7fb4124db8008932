//! Properties of the embedded log beyond the suite: deletion on disk, views beside a writer, and its errors when it
//! cannot go on.

use page::{HOUR, Timestamp};
use rocksdb::{DB, Options};
use std::path::Path;
use stream::protocol::TOMBSTONES_KEPT;
use stream::{
    Cleanup, ErrorKind, InProcessLog, Log, LogBackend, LogError, OffsetBounds, OutputRecord, PollLimits, TopicConfig,
    TopicPartition,
};
use stream_rocksdb::{EmbeddedBackend, open_log};
use tempfile::TempDir;

const NOW: Timestamp = Timestamp::from_secs(1_800_000_000);

fn log_with(directory: &Path, cleanup: Cleanup) -> InProcessLog<EmbeddedBackend> {
    let log = open_log(directory).unwrap();
    log.create_topics(&[TopicConfig { name: "topic".into(), partitions: 1, cleanup, max_message_bytes: 32 << 20 }])
        .unwrap();
    log
}

fn from() -> TopicPartition {
    TopicPartition::new("topic", 0)
}

fn record(key: &str, value: Option<&str>, timestamp: Timestamp) -> OutputRecord {
    let (key, value) = (key.as_bytes().to_vec(), value.map(|value| value.as_bytes().to_vec().into()));
    OutputRecord { to: from(), timestamp, key, value, trace: None }
}

/// Keys and values there are; a dash for a tombstone.
fn held(log: &EmbeddedBackend) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let records = log.read(&from(), 0, PollLimits::records(usize::MAX)).unwrap();
    records.iter().map(|r| format!("{}={}", text(&r.key), r.value.as_deref().map_or("-".into(), text))).collect()
}

fn assert_stops(result: Result<impl Sized, LogError>, words: &[&str]) {
    let error = result.err().expect("it cannot go on");
    assert_eq!(error.kind, ErrorKind::Stop);
    for word in words {
        assert!(error.message.contains(word), "{word:?} is missing in {:?}", error.message);
    }
}

#[test]
fn a_tombstone_goes_when_it_was_there_long_enough_after_its_values_went() {
    let directory = TempDir::new().unwrap();
    let log = log_with(directory.path(), Cleanup::Compact);
    let long_ago = NOW - 3 * TOMBSTONES_KEPT;
    log.append(&[record("a", Some("1"), long_ago), record("a", None, long_ago)]).unwrap();
    log.backend().maintain(NOW).unwrap();
    assert_eq!(held(log.backend()), ["a=-"], "old by its own time, but a reader may be between the two");
    // Each round has something to clean.
    log.append(&[record("b", Some("1"), NOW)]).unwrap();
    log.backend().maintain(NOW + (TOMBSTONES_KEPT - HOUR)).unwrap();
    assert_eq!(held(log.backend()), ["a=-", "b=1"]);
    log.append(&[record("b", Some("2"), NOW), record("b", Some("3"), NOW)]).unwrap();
    drop(log);
    let log = open_log(directory.path()).unwrap();
    log.backend().maintain(NOW + TOMBSTONES_KEPT).unwrap();
    assert_eq!(held(log.backend()), ["b=3"]);
    assert_eq!(log.backend().bounds(&from()).unwrap(), OffsetBounds { start: 0, end: 5 });
}

#[test]
fn a_log_that_lost_its_last_records_gives_no_offset_twice() {
    let directory = TempDir::new().unwrap();
    let log = log_with(directory.path(), Cleanup::Compact);
    log.append(&[record("a", Some("1"), NOW), record("a", None, NOW)]).unwrap();
    for round in 0..3 {
        log.backend().maintain(NOW + round * TOMBSTONES_KEPT).unwrap();
        if round < 2 {
            log.append(&[record("a", None, NOW)]).unwrap();
        }
    }
    log.append(&[record("b", None, NOW)]).unwrap();
    let end = log.backend().bounds(&from()).unwrap().end;
    drop(log);
    let log = open_log(directory.path()).unwrap();
    assert_eq!(log.backend().bounds(&from()).unwrap().end, end);
}

#[test]
fn cleaning_waits_until_half_is_dirty() {
    let directory = TempDir::new().unwrap();
    let log = log_with(directory.path(), Cleanup::Compact);
    let keys: Vec<_> = (0..10).map(|key| record(&key.to_string(), Some("old"), NOW)).collect();
    log.append(&keys).unwrap();
    log.backend().maintain(NOW).unwrap();
    log.append(&keys[..9]).unwrap();
    log.backend().maintain(NOW).unwrap();
    assert_eq!(held(log.backend()).len(), 19);
    log.append(&keys[..1]).unwrap();
    log.backend().maintain(NOW).unwrap();
    assert_eq!(held(log.backend()).len(), 10);
}

#[test]
fn what_retention_drops_leaves_the_disk() {
    let directory = TempDir::new().unwrap();
    let log = log_with(directory.path(), Cleanup::Delete { retention: HOUR, consumed: false });
    // Bytes that do not compress, in all more than the write buffers and the write-ahead log may hold.
    let value: Vec<u8> = (0..1_u32 << 20).map(|n| (chance::spread_32(n) >> 11) as u8).collect();
    let size = || -> u64 {
        let files = std::fs::read_dir(directory.path().join("log")).unwrap();
        files
            .map(|file| file.unwrap())
            .filter(|f| f.file_name().to_string_lossy().ends_with(".sst"))
            .map(|f| f.metadata().map_or(0, |m| m.len()))
            .sum()
    };
    for hour in 0..12 {
        let now = NOW + hour * HOUR;
        for _ in 0..4 {
            let batch = OutputRecord {
                to: from(),
                timestamp: now,
                key: b"key".to_vec(),
                value: Some(value.clone().into()),
                trace: None,
            };
            log.append(&vec![batch; 8]).unwrap();
        }
        log.backend().maintain(now).unwrap();
    }
    let bounds = log.backend().bounds(&from()).unwrap();
    assert_eq!(bounds, OffsetBounds { start: 320, end: 384 }, "two hours are left");
    // 384 MiB went in.
    assert!(size() < 200 << 20, "{} MiB on disk", size() >> 20);
}

#[test]
fn the_first_record_kept_survives_when_it_is_the_last_of_its_table() {
    let directory = TempDir::new().unwrap();
    let log = log_with(directory.path(), Cleanup::Delete { retention: HOUR, consumed: false });
    log.append(&vec![record("old", Some("1"), NOW - 2 * HOUR); 9]).unwrap();
    log.append(&[record("new", Some("2"), NOW)]).unwrap();
    drop(log);
    let path = directory.path().join("log");
    let database = DB::open_cf(&Options::default(), &path, ["default", "records"]).unwrap();
    database.compact_range_cf(database.cf_handle("records").unwrap(), None::<&[u8]>, None::<&[u8]>);
    drop(database);
    let log = open_log(directory.path()).unwrap();
    log.backend().maintain(NOW).unwrap();
    assert_eq!(held(log.backend()), ["new=2"]);
}

#[test]
fn a_read_is_bounded_in_bytes_and_gives_at_least_one_record() {
    let directory = TempDir::new().unwrap();
    let log = log_with(directory.path(), Cleanup::Compact);
    let large = |mebibytes: usize| OutputRecord {
        to: from(),
        timestamp: NOW,
        key: Vec::new(),
        value: Some(vec![b'x'; mebibytes << 20].into()),
        trace: None,
    };
    log.append(&[large(20), large(6), large(6), large(6), large(1)]).unwrap();
    let count = |offset| log.backend().read(&from(), offset, PollLimits::records(100)).unwrap().len();
    assert_eq!((count(0), count(1), count(4), count(5)), (1, 3, 1, 0));
}

#[test]
fn a_view_shows_what_was_there_when_it_was_opened_and_writes_nothing() {
    let directory = TempDir::new().unwrap();
    assert_stops(EmbeddedBackend::open_read_only(directory.path()), &["no log at", "check the data directory"]);
    let log = log_with(directory.path(), Cleanup::Compact);
    log.append(&[record("a", Some("1"), NOW)]).unwrap();
    let files = || -> usize { std::fs::read_dir(directory.path().join("log")).unwrap().count() };
    let before = files();
    let view = EmbeddedBackend::open_read_only(directory.path()).unwrap();
    log.append(&[record("b", Some("2"), NOW)]).unwrap();
    assert_eq!(held(&view), ["a=1"]);
    assert_eq!(held(log.backend()), ["a=1", "b=2"]);
    let view = InProcessLog::new(view);
    assert_stops(view.append(&[record("c", None, NOW)]), &["is open read-only"]);
    assert_eq!(held(&EmbeddedBackend::open_read_only(directory.path()).unwrap()), ["a=1", "b=2"]);
    assert_eq!(files(), before, "a view leaves no files behind");
}

#[test]
fn a_data_directory_has_one_owner() {
    let directory = TempDir::new().unwrap();
    let first = open_log(directory.path()).unwrap();
    let path = directory.path().to_str().unwrap();
    assert_stops(open_log(directory.path()), &[path, "in use by another recrawl", "stop it first"]);
    drop(first);
    open_log(directory.path()).unwrap();
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "in the way").unwrap();
    assert_stops(open_log(&file.join("data")), &[file.to_str().unwrap(), "check that its disk is mounted"]);
}

#[test]
fn a_topic_takes_over_a_changed_retention_and_refuses_other_partitions() {
    let directory = TempDir::new().unwrap();
    let log = log_with(directory.path(), Cleanup::Delete { retention: HOUR, consumed: true });
    let longer = Cleanup::Delete { retention: 3 * HOUR, consumed: false };
    let topic = TopicConfig { name: "topic".into(), partitions: 1, cleanup: longer, max_message_bytes: 1 << 10 };
    log.create_topics(std::slice::from_ref(&topic)).unwrap();
    log.append(&[record("a", Some("1"), NOW)]).unwrap();
    drop(log);
    let log = open_log(directory.path()).unwrap();
    assert_eq!(log.backend().topics().unwrap(), std::slice::from_ref(&topic));
    log.backend().maintain(NOW + 2 * HOUR).unwrap();
    assert_eq!(held(log.backend()), ["a=1"]);
    let more = TopicConfig { partitions: 2, ..topic };
    assert_stops(log.create_topics(&[more]), &["topic has 1 partitions, not 2", "set log.partitions back"]);
}

/// Puts bytes where they do not belong, and expects the log to name its path and what to do.
fn check_damage(family: &str, key: &[u8], value: &[u8], notice: impl Fn(&Path) -> Result<(), LogError>) {
    let directory = TempDir::new().unwrap();
    let log = log_with(directory.path(), Cleanup::Compact);
    log.append(&[record("a", Some("1"), NOW)]).unwrap();
    drop(log);
    let path = directory.path().join("log");
    let database = DB::open_cf(&Options::default(), &path, ["default", "records"]).unwrap();
    database.put_cf(database.cf_handle(family).unwrap(), key, value).unwrap();
    drop(database);
    assert_stops(notice(directory.path()), &[path.to_str().unwrap(), "restore the data directory from a backup"]);
}

#[test]
fn damage_stops_the_log_and_says_what_to_do() {
    let open = |data_dir: &Path| open_log(data_dir).map(|_| ());
    check_damage("default", b"\x01topic", b"nonsense", open);
    check_damage("default", &[2, 0, 0, 0, 0, 0, 0, 0, 0], b"nonsense", open);
    check_damage("default", &[3, 0, 0, 0, 0, 0, 0, 0, 0, b'g'], b"seven b", open);
    check_damage("default", b"\x09", b"nonsense", open);
    let read = |data_dir: &Path| open_log(data_dir)?.backend().read(&from(), 0, PollLimits::records(10)).map(|_| ());
    check_damage("records", &[0; 16], b"nonsense", read);
    let maintain = |data_dir: &Path| open_log(data_dir)?.backend().maintain(NOW);
    check_damage("records", &[0; 16], b"nonsense", maintain);
}

#[test]
fn a_log_of_another_layout_is_left_alone() {
    let directory = TempDir::new().unwrap();
    drop(open_log(directory.path()).unwrap());
    let path = directory.path().join("log");
    let database = DB::open_cf(&Options::default(), &path, ["default", "records"]).unwrap();
    let key = b"\xff\xff\xff\xffidentity";
    let identity = String::from_utf8(database.get(key).unwrap().unwrap()).unwrap();
    database.put(key, identity.replace("format 1", "format 7")).unwrap();
    drop(database);
    assert_stops(open_log(directory.path()), &["\"format 7\", not to \"format 1\"", "restore the data directory"]);
}

#[test]
fn a_torn_table_is_reported_as_damage() {
    let directory = TempDir::new().unwrap();
    let log = log_with(directory.path(), Cleanup::Compact);
    log.append(&[record("a", Some("1"), NOW)]).unwrap();
    drop(log);
    // Opening turns the write-ahead log into a table.
    drop(open_log(directory.path()).unwrap());
    let mut torn = 0;
    for file in std::fs::read_dir(directory.path().join("log")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "sst") {
            let bytes = std::fs::read(&path).unwrap();
            std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
            torn += 1;
        }
    }
    assert!(torn > 0, "there was a table to tear");
    assert_stops(open_log(directory.path()), &["is damaged", "restore the data directory from a backup"]);
}
