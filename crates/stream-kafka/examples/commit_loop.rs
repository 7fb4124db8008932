//! The cost of exactly-once. Takes records through consume → transaction → produce, and beside it through a bare
//! consumer and producer without transactions, in turn, and prints throughput, the client's CPU per event and the time
//! a commit takes.
//!
//! `RECRAWL_KAFKA=127.0.0.1:9092 cargo run --release -p stream-kafka --example commit_loop -- [EVENTS] [BATCH] [BYTES]`

use page::Timestamp;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rdkafka::{ClientConfig, Message, Offset, TopicPartitionList};
use rustix::time::{ClockId, clock_gettime};
use settings::{Kafka, Settings};
use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use stream::{
    Cleanup, Commit, Event, Log, MemberSpec, OutputRecord, PollLimits, Position, TopicConfig, TopicPartition,
};
use stream_kafka::{KafkaLog, KafkaSettings};

const PARTITIONS: u32 = 4;
const ROUNDS: usize = 5;

struct Figures {
    events_per_s: f64,
    cpu_us_per_event: f64,
    commit_ms: Vec<f64>,
}

fn main() {
    let arguments: Vec<usize> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let argument = |index: usize, default: usize| arguments.get(index).copied().unwrap_or(default);
    let (events, batch, bytes) = (argument(0, 100_000), argument(1, 1_000), argument(2, 300));
    let brokers = std::env::var("RECRAWL_KAFKA").expect("set RECRAWL_KAFKA=host:port");
    let run = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is past 1970").as_micros();
    let settings = KafkaSettings {
        kafka: Kafka { brokers: Some(brokers.clone()), replication_factor: 1, ..Settings::default().kafka },
        client_id: format!("commit-loop-{run:x}"),
        batch_interval: Duration::from_millis(50),
        is_clock_fast: false,
        divided_alike: Vec::new(),
        clock_checks: None,
    };
    let log = KafkaLog::connect(settings).expect("Kafka can be reached");
    let [input, output] = ["in", "out"].map(|name| format!("commit-loop-{run:x}-{name}"));
    let cleanup = Cleanup::Delete { retention: Duration::from_secs(3_600), consumed: false };
    let topics = [&input, &output].map(|name| TopicConfig {
        name: name.as_str().into(),
        partitions: PARTITIONS,
        cleanup,
        max_message_bytes: 1 << 20,
    });
    log.create_topics(&topics).expect("topics can be made");
    let now = Timestamp::from_millis(run as i64 / 1_000);
    let value: Vec<u8> = (0..bytes).map(|index| index as u8).collect();
    for first in (0..events).step_by(10_000) {
        let records: Vec<_> = (first..events.min(first + 10_000))
            .map(|number| OutputRecord {
                to: TopicPartition::new(input.as_str(), number as u32 % PARTITIONS),
                timestamp: now,
                key: (number as u64).to_be_bytes().to_vec(),
                value: Some(value.clone().into()),
                trace: None,
            })
            .collect();
        log.append(&records).expect("records can be written");
    }
    println!("{events} events of {bytes} bytes, {batch} a batch, {PARTITIONS} partitions, {ROUNDS} rounds in turn");
    let mut all = [Vec::new(), Vec::new()];
    for round in 0..ROUNDS {
        let once = exactly_once(&log, &input, &output, events, batch, &format!("commit-loop-{run:x}-{round}"));
        let bare = bare(&brokers, &input, &output, events, batch, &format!("commit-loop-bare-{run:x}-{round}"));
        for (name, figures) in [("exactly once", &once), ("bare", &bare)] {
            let mut commits = figures.commit_ms.clone();
            commits.sort_by(f64::total_cmp);
            println!(
                "{round} {name:>12}: {:>8.0} events/s, {:>6.2} us CPU/event, commit {:>6.2} ms median, {:>6.2} ms p95",
                figures.events_per_s,
                figures.cpu_us_per_event,
                commits[commits.len() / 2],
                commits[commits.len() * 95 / 100],
            );
        }
        all[0].push(once.cpu_us_per_event);
        all[1].push(bare.cpu_us_per_event);
    }
    let mut ratios: Vec<f64> = all[0].iter().zip(&all[1]).map(|(once, bare)| once / bare).collect();
    ratios.sort_by(f64::total_cmp);
    println!("CPU per event, exactly once / bare: {:.2} median of {ratios:.2?}", ratios[ratios.len() / 2]);
}

fn exactly_once(log: &KafkaLog, input: &str, output: &str, events: usize, batch: usize, group: &str) -> Figures {
    let spec = MemberSpec { group: group.to_owned(), input: input.to_owned(), transactional_id: group.to_owned() };
    let mut member = log.join(&spec).expect("the group can be joined");
    let output_names: Vec<_> = (0..PARTITIONS).map(|partition| TopicPartition::new(output, partition)).collect();
    let mut started = None;
    let (mut taken, mut commit_ms) = (0, Vec::new());
    while taken < events {
        let polled = member.poll(PollLimits::records(batch), Duration::from_millis(100)).expect("poll");
        let (mut records, mut next) = (Vec::with_capacity(polled.len()), BTreeMap::new());
        for event in polled {
            match event {
                Event::Assigned(partitions) => {
                    for partition in partitions {
                        member.start(partition, 0).expect("start");
                    }
                    // Joining a group is not what is measured.
                    started.get_or_insert_with(|| (Instant::now(), cpu()));
                }
                Event::Revoked(_) => {}
                Event::Record(record) => {
                    next.insert(record.partition, record.offset + 1);
                    records.push(OutputRecord {
                        to: output_names[record.partition as usize].clone(),
                        timestamp: record.timestamp,
                        key: record.key,
                        value: record.value,
                        trace: None,
                    });
                }
            }
        }
        taken += records.len();
        if !records.is_empty() {
            let begun = Instant::now();
            let positions: BTreeMap<_, _> =
                next.into_iter().map(|(partition, next)| (partition, Position::at(next))).collect();
            let tasks = positions.keys().copied().collect();
            member.commit(&Commit { tasks, positions, outputs: records, ..Commit::default() }).expect("commit");
            commit_ms.push(begun.elapsed().as_secs_f64() * 1e3);
        }
    }
    figures(started.expect("partitions were assigned"), events, commit_ms)
}

/// The same work without transactions: a batch is delivered (acks=all, idempotent), then its offsets are committed.
fn bare(brokers: &str, input: &str, output: &str, events: usize, batch: usize, group: &str) -> Figures {
    let config = |properties: &[(&str, &str)]| {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", brokers).set("group.id", group);
        for (name, value) in properties {
            config.set(*name, *value);
        }
        config
    };
    let consumer: BaseConsumer =
        config(&[("enable.auto.commit", "false"), ("auto.offset.reset", "earliest")]).create().expect("a consumer");
    let producer: BaseProducer =
        config(&[("linger.ms", "1"), ("acks", "all"), ("enable.idempotence", "true")]).create().expect("a producer");
    let mut assignment = TopicPartitionList::new();
    for partition in 0..PARTITIONS {
        assignment.add_partition_offset(input, partition as i32, Offset::Beginning).expect("an offset");
    }
    consumer.assign(&assignment).expect("assign");
    let started = (Instant::now(), cpu());
    let (mut taken, mut commit_ms) = (0, Vec::new());
    while taken < events {
        let mut next = TopicPartitionList::new();
        let mut last = BTreeMap::new();
        let mut messages = Vec::with_capacity(batch);
        while messages.len() < batch && taken + messages.len() < events {
            if let Some(message) = consumer.poll(Duration::from_millis(100)) {
                let message = message.expect("a message");
                last.insert(message.partition(), message.offset() + 1);
                messages.push((
                    message.partition(),
                    message.key().map(<[u8]>::to_vec),
                    message.payload().map(<[u8]>::to_vec),
                ));
            }
        }
        taken += messages.len();
        let begun = Instant::now();
        for (partition, key, value) in &messages {
            let mut record = BaseRecord::<[u8], [u8]>::to(output).partition(*partition);
            record.key = key.as_deref();
            record.payload = value.as_deref();
            producer.send(record).map_err(|(error, _)| error).expect("send");
        }
        while producer.in_flight_count() > 0 {
            producer.poll(Duration::ZERO);
            std::thread::sleep(Duration::from_micros(200));
        }
        for (partition, offset) in last {
            next.add_partition_offset(input, partition, Offset::Offset(offset)).expect("an offset");
        }
        consumer.commit(&next, rdkafka::consumer::CommitMode::Async).expect("commit");
        commit_ms.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    figures(started, events, commit_ms)
}

fn figures((began_at, cpu_before): (Instant, Duration), events: usize, commit_ms: Vec<f64>) -> Figures {
    Figures {
        events_per_s: events as f64 / began_at.elapsed().as_secs_f64(),
        cpu_us_per_event: (cpu() - cpu_before).as_secs_f64() * 1e6 / events as f64,
        commit_ms,
    }
}

/// CPU time of this process so far, user and system, all threads.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
