//! Killing the process at any moment loses nothing that was committed and tears nothing apart.
//!
//! The test runs itself as a child, which commits transactions as fast as it can and says so, makes backups meanwhile in every
//! second round, and is killed.

use page::Timestamp;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use stream::{
    Cleanup, Commit, Event, InProcessLog, Log, MemberSpec, OutputRecord, PollLimits, Position, StateStore,
    StoreProvider, StoreWrite, TaskId, TaskWrites, TopicConfig, TopicPartition,
};
use stream_rocksdb::check::check;
use stream_rocksdb::{EmbeddedBackend, EmbeddedStores, Jump, make_new_log, open_log};

const CHILD: &str = "STREAM_ROCKSDB_TEST_WRITER";
/// Where the child makes backups.
const BACKUPS: &str = "STREAM_ROCKSDB_TEST_BACKUPS";
const PARTITIONS: u32 = 3;
/// Number of input records: more than a child processes before it is killed.
const INPUT: u64 = 1_000_000;

fn topic(name: &str, partitions: u32) -> TopicConfig {
    let cleanup = Cleanup::Delete { retention: Duration::MAX, consumed: false };
    TopicConfig { name: name.into(), partitions, cleanup, max_message_bytes: 1 << 20 }
}

fn spec() -> MemberSpec {
    MemberSpec { group: "group".into(), input: "input".into(), transactional_id: "writer".into() }
}

/// The five values that each commit moves together: the ends of three partitions, the position, the state.
fn kept(data_dir: &Path) -> (Vec<u64>, u64, u64) {
    let log = open_log(data_dir).unwrap();
    assert_eq!(log.backend().opened().jump, None, "a kill loses nothing");
    let stores = EmbeddedStores::new(log.backend().clone());
    let state = in_store(&*stores.open(&log.id().unwrap(), &task(), &["state"]).unwrap());
    let (counts, lag) = in_log(&log);
    (counts, lag, state)
}

fn in_log(log: &dyn Log) -> (Vec<u64>, u64) {
    let mut reader = log.reader().unwrap();
    let mut counts = Vec::new();
    for partition in 0..PARTITIONS {
        let from = TopicPartition::new("output", partition);
        let (mut count, mut next) = (0, 0);
        loop {
            let (records, after) = reader.read(&from, next, 10_000).unwrap();
            if records.is_empty() {
                break;
            }
            for record in &records {
                assert_eq!(record.value.as_deref(), Some(record.offset.to_be_bytes().as_slice()), "order is kept");
            }
            count += records.len() as u64;
            next = after;
        }
        assert_eq!(
            reader.bounds(std::slice::from_ref(&from)).unwrap()[0].end,
            count,
            "no gap and nothing behind the end"
        );
        counts.push(count);
    }
    (counts, log.backlog("group", "input").unwrap()[0].records)
}

fn in_store(store: &dyn StateStore) -> u64 {
    store.get(0, b"count").unwrap().map_or(0, |bytes| u64::from_be_bytes(bytes.try_into().unwrap()))
}

fn task() -> TaskId {
    TaskId { stage: "stage".into(), partition: 0 }
}

/// The child: commits one record to every partition, the input position and the state; says how many it has done.
fn write_for_ever(data_dir: &Path) {
    let log = open_log(data_dir).unwrap();
    let stores = EmbeddedStores::new(log.backend().clone());
    drop(stores.open(&log.id().unwrap(), &task(), &["state"]).unwrap());
    if let Ok(backups) = std::env::var(BACKUPS) {
        let backend = log.backend().clone();
        std::thread::spawn(move || {
            for number in 0.. {
                backend.back_up(&Path::new(&backups).join(format!("backup-{number}"))).unwrap();
            }
        });
    }
    let mut member = log.join(&spec()).unwrap();
    assert_eq!(member.poll(PollLimits::NONE, Duration::ZERO).unwrap(), [Event::Assigned(vec![0])]);
    let mut done = member.committed(&[0]).unwrap().get(&0).map_or(0, |position| position.next);
    let names: Arc<[String]> = Arc::new(["state".to_owned()]);
    let mut said = std::io::stdout();
    loop {
        let record = |partition| OutputRecord {
            to: TopicPartition::new("output", partition),
            timestamp: Timestamp::from_secs(1),
            key: b"key".to_vec(),
            value: Some(done.to_be_bytes().to_vec().into()),
            trace: None,
        };
        let outputs = (0..PARTITIONS).map(record).collect();
        done += 1;
        let write = StoreWrite { store: 0, key: b"count".to_vec(), value: Some(done.to_be_bytes().to_vec()) };
        let state = vec![TaskWrites { task: task(), stores: names.clone(), writes: vec![write] }];
        let (tasks, positions) = ([0].into(), [(0, Position::at(done))].into());
        member.commit(&Commit { tasks, positions, outputs, state }).unwrap();
        if done.is_multiple_of(500) {
            log.backend().note_high_water().unwrap();
        }
        writeln!(said, "\ndone {done}").unwrap();
    }
}

/// While another process has the data directory and goes on writing, it cannot be opened, but looked at.
fn look_beside_the_owner(data_dir: &Path, reached: u64) {
    let refused = open_log(data_dir).err().unwrap().to_string();
    assert!(refused.contains("in use by another recrawl"), "{refused}");
    let state = look_at(data_dir);
    assert!(state >= reached);
}

/// Looks without opening: all five values agree. Returns the state.
fn look_at(data_dir: &Path) -> u64 {
    let view = Arc::new(EmbeddedBackend::open_read_only(data_dir).unwrap());
    let state = in_store(&*EmbeddedStores::new(view.clone()).view(&task(), &["state"]).unwrap());
    let (counts, lag) = in_log(&InProcessLog::<EmbeddedBackend>::new(view));
    assert_eq!(lag, INPUT - state, "log and state are one");
    assert_eq!(counts, [state; PARTITIONS as usize]);
    state
}

/// Those without the ending of one that is being made.
fn complete_backups(backups: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(backups).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.extension().is_none()).collect()
}

/// Whatever the child was killed at, each of its backups is of one moment, is sound, goes on with offsets that the original will not
/// assign, and can be made a log of its own. Returns how many there are.
fn look_at_backups(backups: &Path, original: &str) -> usize {
    let complete = complete_backups(backups);
    for backup in &complete {
        assert_eq!(check(backup).unwrap().databases[0].problems, Vec::<String>::new(), "{}", backup.display());
        look_at(backup);
    }
    if let Some(one) = complete.last() {
        let jump = Some(Jump { missing_writes: 0, power_cut: false });
        let log = open_log(one).unwrap();
        assert_eq!((log.id().unwrap().as_str(), log.backend().opened().jump), (original, jump));
        let again = log.backend().back_up(backups).unwrap_err().to_string();
        assert!(again.contains("name a directory that does not"), "{again}");
        drop(log);
        assert_eq!(open_log(one).unwrap().backend().opened().jump, None, "once");
        let new = make_new_log(one).unwrap();
        assert_ne!(new, original);
        assert_eq!(open_log(one).unwrap().id().unwrap(), new);
        assert_eq!(check(one).unwrap().databases[0].problems, Vec::<String>::new());
    }
    complete.len()
}

#[test]
fn killed_at_any_moment_nothing_is_lost_or_torn() {
    if let Ok(data_dir) = std::env::var(CHILD) {
        write_for_ever(Path::new(&data_dir));
    }
    let directory = tempfile::TempDir::new().unwrap();
    let log = open_log(directory.path()).unwrap();
    log.create_topics(&[topic("input", 1), topic("output", PARTITIONS)]).unwrap();
    let record = OutputRecord {
        to: TopicPartition::new("input", 0),
        timestamp: Timestamp::from_secs(1),
        key: Vec::new(),
        value: Some(Vec::new().into()),
        trace: None,
    };
    log.append(&vec![record; INPUT as usize]).unwrap();
    let original = log.id().unwrap();
    drop(log);
    let mut random = Pcg64::seed_from_u64(20_261_120);
    let (mut before, mut backed_up) = (0, 0);
    for round in 0..10 {
        let backups = tempfile::TempDir::new().unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "kill::killed_at_any_moment_nothing_is_lost_or_torn", "--nocapture"])
            .env(CHILD, directory.path())
            .stdout(Stdio::piped());
        if round % 2 == 1 {
            command.env(BACKUPS, backups.path());
        }
        let mut child = command.spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        let mut numbers = said.lines().map_while(|line| {
            line.ok().map(|line| line.strip_prefix("done ").and_then(|number| number.parse::<u64>().ok()))
        });
        let until = before + random.random_range(1..3_000);
        // Every second time there is a backup, and the next one is being made.
        let is_time = |done: u64| done >= until && (round % 2 == 0 || !complete_backups(backups.path()).is_empty());
        let reached = numbers.by_ref().flatten().find(|done| is_time(*done)).expect("the child died by itself");
        if round % 3 == 0 {
            look_beside_the_owner(directory.path(), reached);
        }
        // It has gone on since; where the kill finds it is chance.
        child.kill().unwrap();
        child.wait().unwrap();
        let acknowledged = numbers.flatten().last().unwrap_or(reached);
        let (counts, lag, state) = kept(directory.path());
        let position = INPUT - lag;
        assert_eq!(counts, [position; PARTITIONS as usize], "round {round}: records and positions agree");
        assert!(position >= acknowledged, "round {round}: {acknowledged} were committed, {position} are kept");
        assert_eq!(state, position, "round {round}: state and log are one");
        before = position;
        backed_up += look_at_backups(backups.path(), &original);
    }
    assert!(backed_up > 0, "no backup was made: this test shows nothing of them");
}
