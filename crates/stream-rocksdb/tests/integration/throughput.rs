//! Cost of a record on its way through the embedded log: polled, answered by one of the same size, committed.
//!
//! `cargo test -p stream-rocksdb --test integration throughput -- --ignored --nocapture`

use page::{HOUR, Timestamp};
use std::time::{Duration, Instant};
use stream::{
    Cleanup, Commit, Event, Log, LogBackend, MemberSpec, OutputRecord, PollLimits, Position, TopicConfig,
    TopicPartition,
};
use stream_rocksdb::{EmbeddedBackend, open_log};

const TRANSACTIONS: u64 = 1_000;
const RECORDS: u64 = 1_000;
const COMMANDS: u64 = 1_000;
const VALUE_BYTES: usize = 300;
const PARTITIONS: u32 = 16;

/// CPU time of all threads of this process, those of the database included, to a hundredth of a second.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<u64> =
        stat.rsplit(") ").next().unwrap().split(' ').skip(11).take(2).map(|n| n.parse().unwrap()).collect();
    Duration::from_millis(10 * fields.iter().sum::<u64>())
}

fn batch(topic: &str, number: u64) -> Vec<OutputRecord> {
    let record = |index: u64| {
        let id = number * RECORDS + index;
        // A third of a value that does not compress, as hashes and numbers in real messages do not.
        let mut value = vec![b'x'; VALUE_BYTES];
        for (place, byte) in value[..100].iter_mut().enumerate() {
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

fn report(what: &str, records: u64, began: (Instant, Duration)) {
    let (wall, cpu) = (began.0.elapsed().as_secs_f64(), (cpu() - began.1).as_secs_f64());
    let count = records as f64;
    println!("{what}: {:.0} records/s, {:.2} µs CPU per record", count / wall, cpu * 1e6 / count);
}

#[test]
#[ignore = "a measurement"]
fn what_a_record_costs() {
    let directory = tempfile::TempDir::new().unwrap();
    let log = open_log(directory.path()).unwrap();
    let topic = |name: &str, cleanup| TopicConfig {
        name: name.into(),
        partitions: PARTITIONS,
        cleanup,
        max_message_bytes: 1 << 20,
    };
    let cleanup = Cleanup::Delete { retention: HOUR, consumed: true };
    log.create_topics(&[topic("input", cleanup), topic("output", cleanup), topic("changelog", Cleanup::Compact)])
        .unwrap();
    // Three times, in turn: the disk is not always equally fast.
    let ways = [None, Some(Duration::from_secs(1)), Some(Duration::from_millis(100)), Some(Duration::ZERO)];
    for sync_every in ways.into_iter().cycle().take(3 * ways.len()) {
        let (began, mut synced) = ((Instant::now(), cpu()), Instant::now());
        for number in 0..TRANSACTIONS / 4 {
            log.append(&batch("input", number)).unwrap();
            if sync_every.is_some_and(|every| synced.elapsed() >= every) {
                log.backend().sync().unwrap();
                synced = Instant::now();
            }
        }
        report(&format!("append, synced every {sync_every:?}"), TRANSACTIONS / 4 * RECORDS, began);
    }
    let (began, command) = ((Instant::now(), cpu()), &batch("input", 0)[..1]);
    for _ in 0..COMMANDS {
        log.append(command).unwrap();
        log.backend().sync().unwrap();
    }
    report("a command, synced before it is answered", COMMANDS, began);

    let spec = MemberSpec { group: "group".into(), input: "input".into(), transactional_id: "one".into() };
    let mut member = log.join(&spec).unwrap();
    for partition in 0..PARTITIONS {
        member.poll(PollLimits::NONE, Duration::ZERO).unwrap();
        member.start(partition, 0).unwrap();
    }
    let (began, mut done) = ((Instant::now(), cpu()), 0);
    while done < TRANSACTIONS * RECORDS {
        let mut next = [None; PARTITIONS as usize];
        let mut seen = 0;
        for event in member.poll(PollLimits::records(RECORDS as usize), Duration::ZERO).unwrap() {
            let Event::Record(record) = event else { continue };
            next[record.partition as usize] = Some(record.offset + 1);
            seen += 1;
        }
        let positions =
            (0..).zip(next).filter_map(|(partition, next)| Some((partition, Position::at(next?)))).collect();
        let outputs = batch("output", done / RECORDS);
        member.commit(&Commit { positions, outputs, ..Commit::default() }).unwrap();
        done += seen;
        if done % 100_000 == 0 {
            log.backend().maintain(Timestamp::from_secs(0)).unwrap();
        }
    }
    report("poll, produce, commit", done, began);

    let began = (Instant::now(), cpu());
    for number in 0..TRANSACTIONS {
        // Every key is written five times.
        log.append(&batch("changelog", number % (TRANSACTIONS / 5))).unwrap();
        if number % 50 == 49 {
            log.backend().maintain(Timestamp::from_secs(0)).unwrap();
        }
    }
    report("append and compact", TRANSACTIONS * RECORDS, began);
    let began = (Instant::now(), cpu());
    let mut reader = log.reader().unwrap();
    let mut read = 0;
    for partition in 0..PARTITIONS {
        let (from, mut next) = (TopicPartition::new("changelog", partition), 0);
        loop {
            let (records, after) = reader.read(&from, next, 2_000).unwrap();
            if records.is_empty() {
                break;
            }
            read += records.len() as u64;
            next = after;
        }
    }
    report(&format!("read {read} compacted"), read, began);
    let began = Instant::now();
    let view = EmbeddedBackend::open_read_only(directory.path()).unwrap();
    println!("a view of {} topics opens in {:?}", view.topics().unwrap().len(), began.elapsed());
}
