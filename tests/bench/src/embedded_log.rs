//! The cost of a record on its way through the embedded log: polled, answered by one of the same size, committed.

use crate::measure::{Rounds, cpu_time};
use crate::table::Row;
use page::{HOUR, Timestamp};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use stream::{
    Cleanup, Commit, Event, Log, LogBackend, MemberSpec, OutputRecord, PollLimits, Position, TopicConfig,
    TopicPartition,
};

const TRANSACTIONS: u64 = 300;
const RECORDS: u64 = 1_000;
const VALUE_BYTES: usize = 300;
const PARTITIONS: u32 = 16;

pub(crate) fn rows(rounds: usize) -> Vec<Row> {
    eprintln!("embedded log");
    let (cpu_us, records_per_s): (Vec<_>, Vec<_>) = (0..rounds).map(|_| round()).unzip();
    let name = format!("embedded log: poll, produce, commit {RECORDS} × {VALUE_BYTES} B");
    let speed = Rounds::new(records_per_s);
    vec![Row::new(name, "µs/record", Rounds::new(cpu_us)).note(format!("{speed} records/s (wall)"))]
}

/// CPU time per record in µs, and records per second.
fn round() -> (f64, f64) {
    let directory = tempfile::TempDir::new().expect("there is room for a benchmark");
    let log = stream_rocksdb::open_log(directory.path()).expect("a new log opens");
    let topic = |name: &str| TopicConfig {
        name: name.into(),
        partitions: PARTITIONS,
        cleanup: Cleanup::Delete { retention: HOUR, consumed: true },
        max_message_bytes: 1 << 20,
    };
    log.create_topics(&[topic("input"), topic("output")]).expect("topics can be made");
    for number in 0..TRANSACTIONS {
        log.append(&batch("input", number)).expect("records can be written");
    }
    let spec = MemberSpec { group: "group".into(), input: "input".into(), transactional_id: "one".into() };
    let mut member = log.join(&spec).expect("the group can be joined");
    for partition in 0..PARTITIONS {
        member.poll(PollLimits::NONE, Duration::ZERO).expect("poll");
        member.start(partition, 0).expect("start");
    }
    let batches: Vec<_> = (0..TRANSACTIONS).map(|number| batch("output", number)).collect();
    let (begun, cpu_before) = (Instant::now(), cpu_time());
    let mut done = 0;
    for output in batches {
        let mut next = [None; PARTITIONS as usize];
        for event in member.poll(PollLimits::records(RECORDS as usize), Duration::ZERO).expect("poll") {
            let Event::Record(record) = event else { continue };
            next[record.partition as usize] = Some(record.offset + 1);
            done += 1;
        }
        let next = (0..).zip(next).filter_map(|(partition, next)| Some((partition, Position::at(next?))));
        let positions: BTreeMap<_, _> = next.collect();
        let tasks = positions.keys().copied().collect();
        member.commit(&Commit { tasks, positions, outputs: output, ..Commit::default() }).expect("commit");
        if done % 100_000 == 0 {
            log.backend().maintain(Timestamp::from_secs(0)).expect("maintain");
        }
    }
    let (wall, cpu) = (begun.elapsed(), cpu_time() - cpu_before);
    assert_eq!(done, TRANSACTIONS * RECORDS, "every record passes the log once");
    (cpu.as_secs_f64() * 1e6 / done as f64, done as f64 / wall.as_secs_f64())
}

fn batch(topic: &str, number: u64) -> Vec<OutputRecord> {
    let record = |index: u64| {
        let id = number * RECORDS + index;
        // A third of a value that does not compress, as hashes and numbers in real messages do not.
        let mut value = vec![b'x'; VALUE_BYTES];
        for (place, byte) in value[..VALUE_BYTES / 3].iter_mut().enumerate() {
            *byte = (chance::spread(id).rotate_left(place as u32) >> 24) as u8;
        }
        OutputRecord {
            to: TopicPartition::new(topic, (id % u64::from(PARTITIONS)) as u32),
            timestamp: Timestamp::from_secs(number as i64),
            key: id.to_be_bytes().repeat(2),
            value: Some(value.into()),
            trace: None,
        }
    };
    (0..RECORDS).map(record).collect()
}
