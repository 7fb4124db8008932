//! What a look costs in the estimator with everything that makes it durable: read from the log, decoded, learned from,
//! state and changelog written, the estimate sent on, committed. Beside RocksDB's own benchmark of read, modify, write.

use crate::measure::{Measured, Rounds, cpu_time};
use crate::table::{Row, Target};
use daemon::WebClock;
use messages::{FetchOutcome, Message, PageObservation, Verdict, topics};
use page::{CanonicalUrl, Timestamp};
use settings::Settings;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use stream::partitioner::partition_for;
use stream::{Log, OutputRecord, RunnerSettings, Stage, StageRunner, Step, TopicPartition};
use stream_rocksdb::{RocksStores, StoreMemory};
use tempfile::TempDir;
use topology::Names;

const SITES: usize = 200;
const PAGES_PER_SITE: usize = 500;
const LOOKS: i64 = 3;
/// Bytes of db_bench's values: about what a belief takes.
const VALUE_BYTES: usize = 100;

pub(crate) fn row(rounds: usize) -> Row {
    eprintln!("durable estimator");
    let ours: Vec<_> = (0..rounds).map(|_| round()).collect();
    let pages = SITES * PAGES_PER_SITE;
    let row = Row::new(format!("the durable estimator, {pages} pages"), "us/look", Rounds::new(ours));
    if Command::new("db_bench").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        return row.note("db_bench is not installed: not compared");
    }
    let theirs = (0..rounds).map(|_| update_random(pages)).collect();
    row.beside("db_bench updaterandom", Rounds::new(theirs)).aims_at(Target::Ratio(1.0 / 3.0)).note(
        "ours also reads and writes the log, keeps a changelog, decodes and encodes Avro, and commits exactly once",
    )
}

/// CPU time per look in µs, after the first look at every page.
fn round() -> f64 {
    let directory = TempDir::new().expect("there is room for a benchmark");
    let settings = Settings::default();
    let names = Names::new(&settings);
    let log = stream_rocksdb::open_log(directory.path()).expect("a new log opens");
    let partitions = settings.log.partitions;
    log.create_topics(&topology::topic_configs(&settings, partitions)).expect("topics can be made");
    let log: Arc<dyn Log> = Arc::new(log);
    let clock = Arc::new(WebClock::new(&settings.clock));
    let spec = estimator::stage(&settings, &names);
    let stores = Arc::new(RocksStores::new(directory.path(), StoreMemory::default()));
    let runner = RunnerSettings::new(settings.log.batch_records, spec.punctuate_every, &*clock);
    let mut stage = StageRunner::new(spec, "bench", log.clone(), stores, clock, runner);
    let topic = names.topic(topics::PAGE_OBSERVATIONS);
    let mut spent = 0.0;
    for look in 0..=LOOKS {
        for site in 0..SITES {
            log.append(&looks(&topic, partitions, site, look)).expect("records can be written");
        }
        let before = cpu_time();
        drain(&mut stage);
        if look > 0 {
            spent += (cpu_time() - before).as_secs_f64();
        }
    }
    let done = stage.status().lock().expect("no thread of a benchmark panics").processed_total;
    assert_eq!(done, (SITES * PAGES_PER_SITE) as u64 * (LOOKS as u64 + 1), "every look is learned from once");
    spent * 1e6 / (SITES * PAGES_PER_SITE) as f64 / LOOKS as f64
}

fn drain(stage: &mut impl Stage) {
    let mut idle = 0;
    // The first steps join the group, and are idle too.
    while idle < 10 {
        match stage.step().expect("nothing stops it") {
            Step::Idle => idle += 1,
            Step::Worked => idle = 0,
            Step::Failed => panic!("the embedded log does not fail"),
        }
    }
}

/// One look at every page of a site; every twentieth saw a change.
fn looks(topic: &str, partitions: u32, site: usize, look: i64) -> Vec<OutputRecord> {
    let day = 86_400 * look;
    let record = |number: usize| {
        let url = CanonicalUrl::parse(&format!("https://site-{site:03}.test/part-{}/page-{number}", number % 7));
        let url = url.expect("it is an address");
        let site_key = url.site_key();
        let at = Timestamp::from_secs(1_700_000_000 + day + number as i64);
        let changed = (number as i64 + look) % 20 == 0;
        let observation = PageObservation {
            page_id: url.page_id(),
            attempt: look + 1,
            outcome: FetchOutcome::Fetched,
            status: Some(200),
            fetched_at: at,
            previous_fetched_at: (look > 0).then(|| Timestamp::from_secs(at.as_secs() - 86_400)),
            verdict: if look == 0 {
                Verdict::First
            } else if changed {
                Verdict::Minor
            } else {
                Verdict::Unchanged
            },
            magnitude: if changed { 0.05 } else { 0.0 },
            resemblance: if changed { 0.95 } else { 1.0 },
            etag: None,
            last_modified: None,
            last_modified_at: None,
            content_digest: None,
            body_length: 14_000,
            latency_ms: 20,
            retry_after_s: None,
            robots_crawl_delay_ms: None,
            look_again_after_s: None,
            site_key: site_key.clone(),
            url,
        };
        let key = site_key.as_str().as_bytes().to_vec();
        OutputRecord {
            to: TopicPartition::new(topic, partition_for(&key, partitions)),
            timestamp: at,
            key,
            value: Some(observation.encode()),
        }
    };
    (0..PAGES_PER_SITE).map(record).collect()
}

/// CPU time of RocksDB's own benchmark per read, modify and write, in µs.
fn update_random(keys: usize) -> f64 {
    let directory = TempDir::new().expect("there is room for a benchmark");
    let run = |benchmark: &str, existing: bool, updates: usize| {
        let mut command = Command::new("db_bench");
        command.arg(format!("--benchmarks={benchmark}")).arg(format!("--num={keys}"));
        command.arg(format!("--value_size={VALUE_BYTES}")).arg(format!("--use_existing_db={}", u8::from(existing)));
        command.arg(format!("--db={}", directory.path().join("db").display())).arg(format!("--writes={updates}"));
        Measured::start(command, Path::new(directory.path())).finish().cpu.as_secs_f64()
    };
    run("fillrandom", false, keys);
    let updates = 10 * keys;
    // Opening the database is no part of an update.
    let opened = run("updaterandom", true, 1);
    (run("updaterandom", true, updates) - opened) * 1e6 / updates as f64
}
