//! How long does it take to fill a task's state from its changelog? Restores a stage from nothing, as after the loss of
//! a disk, and beside it consumes the same changelog with a bare client and puts what comes into the same kind of
//! store, in turn, and prints records a second and the client's CPU per record.
//!
//! `RECRAWL_KAFKA=127.0.0.1:9092 cargo run --release -p stream-kafka --example restore -- [RECORDS] [BYTES] [ROUNDS]`

use page::Timestamp;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::{ClientConfig, Message, Offset, TopicPartitionList};
use rustix::time::{ClockId, clock_gettime};
use settings::{Kafka, Settings};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use stream::{
    Checkpoint, Cleanup, Clock, Context, DeadLetters, InputRecord, Log, OutputRecord, ProcessError, Processor,
    RunnerSettings, Stage, StageRunner, StageSpec, StageWork, StoreProvider, StoreSpec, StoreWrite, TaskId,
    TopicConfig, TopicPartition,
};
use stream_kafka::{KafkaLog, KafkaSettings};
use stream_rocksdb::{RocksStores, StoreMemory};

const PARTITIONS: u32 = 4;
/// Records written to the store at a time, by both.
const BATCH: usize = 2_000;
const PATIENCE: Duration = Duration::from_secs(300);

struct TopicNames {
    input: String,
    changelog: String,
    dead_letters: String,
}

struct RealClock(Instant);

impl Clock for RealClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is past 1970");
        Timestamp::from_millis(since.as_millis() as i64)
    }

    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }

    fn pause(&self, duration: Duration) {
        std::thread::sleep(duration);
    }
}

/// Keeps nothing in memory, so that nothing but the store is filled.
struct Idle;

impl Processor for Idle {
    fn process(&mut self, _: &InputRecord, _: &mut Context<'_>) -> Result<(), ProcessError> {
        Ok(())
    }
}

fn main() {
    let arguments: Vec<usize> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let argument = |index: usize, default: usize| arguments.get(index).copied().unwrap_or(default);
    let (records, bytes, rounds) = (argument(0, 1_000_000), argument(1, 300), argument(2, 3));
    let brokers = std::env::var("RECRAWL_KAFKA").expect("set RECRAWL_KAFKA=host:port");
    let run = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is past 1970").as_micros();
    let log = KafkaLog::connect(KafkaSettings {
        kafka: Kafka { brokers: Some(brokers.clone()), replication_factor: 1, ..Settings::default().kafka },
        client_id: format!("restore-{run:x}"),
        batch_interval: Duration::from_millis(50),
        is_clock_fast: false,
        divided_alike: Vec::new(),
        clock_checks: None,
    });
    let log = Arc::new(log.expect("Kafka can be reached"));
    let name = |what: &str| format!("restore-{run:x}-{what}");
    let names = TopicNames { input: name("in"), changelog: name("changelog"), dead_letters: name("dead-letters") };
    fill(&log, &names, records, bytes);
    println!("{records} records of {bytes} bytes in {PARTITIONS} partitions, {rounds} rounds in turn");
    let mut ratios = Vec::new();
    for round in 0..rounds {
        let restored = measured(&format!("{round} restored"), records, |data| {
            restore(&log, &names, data, &format!("restore-{run:x}-{round}"))
        });
        let bare = measured(&format!("{round} bare"), records, |data| bare(&brokers, &names.changelog, data, records));
        ratios.push(restored / bare);
    }
    ratios.sort_by(f64::total_cmp);
    println!("records a second, restored / bare: {:.2} median of {ratios:.2?}", ratios[ratios.len() / 2]);
}

/// Creates the topics and writes `records` keys of `bytes` each to the changelog.
fn fill(log: &KafkaLog, names: &TopicNames, records: usize, bytes: usize) {
    let cleanup = Cleanup::Delete { retention: Duration::from_secs(3_600), consumed: false };
    let topic = |name: &str, cleanup| TopicConfig {
        name: name.into(),
        partitions: PARTITIONS,
        cleanup,
        max_message_bytes: 1 << 20,
    };
    let topics =
        [topic(&names.input, cleanup), topic(&names.changelog, Cleanup::Compact), topic(&names.dead_letters, cleanup)];
    log.create_topics(&topics).expect("topics can be made");
    let places: Vec<_> =
        (0..PARTITIONS).map(|partition| TopicPartition::new(names.changelog.as_str(), partition)).collect();
    let record = |number: usize| {
        // Keys in no order, as the hashes that page ids are.
        let scattered = chance::spread(number as u64).to_be_bytes();
        let value = scattered.iter().copied().cycle().take(bytes).collect();
        OutputRecord {
            to: places[number % places.len()].clone(),
            timestamp: Timestamp::from_secs(1_700_000_000),
            key: scattered.repeat(2),
            value: Some(value),
            trace: None,
        }
    };
    for first in (0..records).step_by(10_000) {
        let batch: Vec<_> = (first..records.min(first + 10_000)).map(record).collect();
        log.append(&batch).expect("records can be written");
    }
}

/// Records a second of one contestant, who says when it really began.
fn measured(name: &str, records: usize, contestant: impl FnOnce(&Path) -> (Instant, Duration)) -> f64 {
    let data = std::env::temp_dir().join(format!("recrawl-restore-{}", std::process::id()));
    let (begun, cpu_before) = contestant(&data);
    let per_second = records as f64 / begun.elapsed().as_secs_f64();
    let cpu_us = (cpu() - cpu_before).as_secs_f64() * 1e6 / records as f64;
    println!("{name}: {per_second:.0} records/s, {cpu_us:.2} us CPU/record");
    std::fs::remove_dir_all(&data).expect("the directory is ours");
    per_second
}

fn restore(log: &Arc<KafkaLog>, names: &TopicNames, data: &Path, group: &str) -> (Instant, Duration) {
    let clock = Arc::new(RealClock(Instant::now()));
    let spec = StageSpec {
        name: "restored".to_owned(),
        group: group.to_owned(),
        input: names.input.as_str().into(),
        outputs: Vec::new(),
        stores: vec![StoreSpec { name: "pages", changelog: names.changelog.clone(), is_public: false }],
        broadcasts: Vec::new(),
        dead_letters: DeadLetters { topic: names.dead_letters.clone(), encode: |_| Vec::new() },
        schemas: None,
        punctuate_every: Duration::from_secs(1),
        begins_traces: None,
        subject: None,
        stand_in: None,
        work: StageWork::Processors(Box::new(|_| Box::new(Idle))),
    };
    let pace = RunnerSettings::new(BATCH, 8 << 20, Duration::from_millis(100), Duration::from_secs(1), &*clock);
    let stores = Arc::new(RocksStores::new(data, StoreMemory::default()));
    let mut stage = StageRunner::new(spec, group, log.clone() as Arc<dyn Log>, stores, clock, pace);
    let status = stage.status();
    let begun_at = Instant::now();
    // Joining a group is not what is measured.
    let mut begun = None;
    loop {
        let before = (Instant::now(), cpu());
        stage.step().expect("nothing stops it");
        let status = status.lock().expect("no thread here panics");
        if !status.restoring.is_empty() {
            begun.get_or_insert(before);
        }
        if status.partitions.len() == PARTITIONS as usize {
            break;
        }
        assert!(begun_at.elapsed() < PATIENCE, "not restored after {PATIENCE:?}");
    }
    begun.expect("partitions are assigned before they are restored")
}

/// The same work without a stage: consume, put.
fn bare(brokers: &str, changelog: &str, data: &Path, records: usize) -> (Instant, Duration) {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", brokers).set("group.id", "bare").set("enable.auto.commit", "false");
    let consumer: BaseConsumer = config.create().expect("a consumer");
    let mut assignment = TopicPartitionList::new();
    for partition in 0..PARTITIONS {
        assignment.add_partition_offset(changelog, partition as i32, Offset::Beginning).expect("an offset");
    }
    let stores = RocksStores::new(data, StoreMemory::default());
    let open = |partition| {
        let task = TaskId { stage: "bare".to_owned(), partition };
        stores.open("bare", &task, &["pages"]).expect("a new store opens")
    };
    let mut stores: Vec<_> = (0..PARTITIONS).map(open).collect();
    consumer.assign(&assignment).expect("assign");
    let begun = (Instant::now(), cpu());
    let mut writes: Vec<Vec<StoreWrite>> = vec![Vec::new(); PARTITIONS as usize];
    for _ in 0..records {
        let message = loop {
            if let Some(message) = consumer.poll(Duration::from_millis(100)) {
                break message.expect("a message");
            }
            assert!(begun.0.elapsed() < PATIENCE, "not consumed after {PATIENCE:?}");
        };
        let partition = message.partition() as usize;
        let (key, value) = (message.key().unwrap_or_default().to_vec(), message.payload().map(<[u8]>::to_vec));
        writes[partition].push(StoreWrite { store: 0, key, value });
        if writes[partition].len() == BATCH {
            stores[partition].apply(&writes[partition], &Checkpoint::empty(1)).expect("a store takes writes");
            writes[partition].clear();
        }
    }
    for (store, writes) in stores.iter_mut().zip(writes) {
        store.apply(&writes, &Checkpoint::empty(1)).expect("a store takes writes");
    }
    begun
}

/// CPU time of this process so far, user and system, all threads.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
