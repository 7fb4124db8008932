//! The cost of a look in the estimator with everything that makes it durable: read from the log, decoded, learned from,
//! state and changelog written, the estimate sent on, committed. And the state alone: a belief read, learned from and
//! written back. Both beside RocksDB's own benchmark of read, modify, write.

use crate::measure::{Measured, Rounds, cpu_time};
use crate::table::{Row, Target};
use change_rate::{GammaState, LookOutcome};
use estimator::PageBelief;
use messages::{Encoded, FetchOutcome, FetchRequest, Look, LookJudgement, PageObservation, Verdict, topics};
use page::{CanonicalUrl, PageId, Timestamp};
use settings::Settings;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;
use stream::partitioner::partition_for;
use stream::{
    Checkpoint, Log, OutputRecord, Overlay, Stage, StageRunner, StateStore, StepOutcome, StoreProvider, TaskId,
    TopicPartition,
};
use stream_rocksdb::{EmbeddedStores, RocksStores, StoreMemory};
use stream_testing::ManualClock;
use sweeps::{PagePlace, SweepModel, rules};
use tempfile::TempDir;
use topology::LogNames;

/// Place of the one store there is.
const PAGES_PLACE: usize = 0;
const SITES: usize = 200;
pub(crate) const PAGES_PER_SITE: usize = 500;
const LOOKS: i64 = 3;
/// The day of the first look, since 1970.
const FIRST_DAY: i64 = 19_675;

/// The whole stage, then the state alone.
pub(crate) fn rows(rounds: usize) -> Vec<Row> {
    eprintln!("durable estimator");
    let pages = SITES * PAGES_PER_SITE;
    let program = Command::new("db_bench").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let (mut stage, mut state, mut theirs, mut value_bytes) = (Vec::new(), Vec::new(), Vec::new(), 0);
    // In turns, so that what slows a round down slows all of them.
    for _ in 0..rounds {
        stage.push(round());
        let update = state_round();
        state.push(update.cpu_us);
        value_bytes = update.value_bytes;
        if program.is_ok() {
            theirs.push(update_random(pages, value_bytes));
        }
    }
    let rows = [
        Row::new(format!("the durable estimator, {pages} pages"), "us/look", Rounds::new(stage)),
        Row::new(format!("its state alone: {pages} beliefs of {value_bytes} bytes"), "us/update", Rounds::new(state)),
    ];
    if program.is_err() {
        return rows.map(|row| row.note("db_bench is not installed: not compared")).into();
    }
    let notes = [
        "ours also reads and writes the log, keeps a changelog, decodes and encodes Avro, and commits exactly once",
        "ours learns from the look and writes a write-ahead log, as in production; db_bench does neither",
    ];
    let rows = rows.into_iter().zip(notes).map(|(row, note)| {
        let row = row.beside("db_bench updaterandom", Rounds::new(theirs.clone()));
        row.aims_at(Target::Ratio(1.0 / 3.0)).note(note)
    });
    rows.collect()
}

/// Wall time in seconds from opening the log of an estimator that knows this many sites until it has taken in a look
/// that was waiting for it, and a note.
pub(crate) fn restart(sites: usize) -> (f64, String) {
    let directory = TempDir::new().expect("there is room for a benchmark");
    let settings = Settings::default();
    let names = LogNames::new(&settings);
    let (partitions, clock) = (settings.log.partitions, ManualClock::at(looked_at(PAGES_PER_SITE, 1)));
    let topic = names.topic(topics::PAGE_OBSERVATIONS);
    let open = || {
        let log = stream_rocksdb::open_log(directory.path()).expect("the log opens");
        log.create_topics(&topology::topic_configs(&settings, &[estimator::topology()], partitions))
            .expect("topics can be made");
        let stores = Arc::new(EmbeddedStores::new(log.backend().clone()));
        let log: Arc<dyn Log> = Arc::new(log);
        let spec = estimator::stage(&settings, &names);
        let runner = topology::runner_settings(&settings, spec.punctuate_every, &*clock);
        (log.clone(), StageRunner::new(spec, "bench", log, stores, clock.clone(), runner))
    };
    {
        let (log, mut stage) = open();
        for look in 0..2 {
            for site in 0..sites {
                log.append(&looks(&topic, partitions, site, look)).expect("records can be written");
                if site % 200 == 199 {
                    drain(&mut stage);
                }
            }
        }
        drain(&mut stage);
        log.append(&looks(&topic, partitions, 0, 2)).expect("records can be written");
    }
    let (begun, cpu_before) = (Instant::now(), cpu_time());
    let (_log, mut stage) = open();
    let status = stage.status();
    while status.lock().expect("no thread of a benchmark panics").processed_total == 0 {
        stage.step().expect("nothing stops it");
    }
    let cpu_s = (cpu_time() - cpu_before).as_secs_f64();
    (begun.elapsed().as_secs_f64(), format!("{cpu_s:.1} s of CPU"))
}

/// CPU time per look in µs, after the first look at every page.
fn round() -> f64 {
    let directory = TempDir::new().expect("there is room for a benchmark");
    let settings = Settings::default();
    let names = LogNames::new(&settings);
    let log = stream_rocksdb::open_log(directory.path()).expect("a new log opens");
    let partitions = settings.log.partitions;
    log.create_topics(&topology::topic_configs(&settings, &recrawl::stages::topologies(), partitions))
        .expect("topics can be made");
    let stores = Arc::new(EmbeddedStores::new(log.backend().clone()));
    let log: Arc<dyn Log> = Arc::new(log);
    let clock = ManualClock::at(looked_at(PAGES_PER_SITE, 0));
    let spec = estimator::stage(&settings, &names);
    let runner = topology::runner_settings(&settings, spec.punctuate_every, &*clock);
    let mut stage = StageRunner::new(spec, "bench", log.clone(), stores, clock.clone(), runner);
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
        clock.advance(page::DAY);
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
            StepOutcome::Idle => idle += 1,
            StepOutcome::Worked => idle = 0,
            StepOutcome::Failed => panic!("the embedded log does not fail"),
        }
    }
}

/// One look at every page of a site; every twentieth saw a change.
fn looks(topic: &str, partitions: u32, site: usize, look: i64) -> Vec<OutputRecord> {
    let record = |number: usize| {
        let url = address(site, number);
        let site_key = url.site_key();
        let (at, changed) = (looked_at(number, look), has_changed(number, look));
        let verdict = match look {
            0 => Verdict::First,
            _ if changed => Verdict::Minor,
            _ => Verdict::Unchanged,
        };
        let request = FetchRequest { attempt: look + 1, ..FetchRequest::first(url, at) };
        let observation = PageObservation {
            look: Look {
                status: Some(200),
                body_length: 14_000,
                wire_bytes: 5_000,
                latency_ms: 20,
                ..Look::new(request, FetchOutcome::Fetched, at)
            },
            judgement: LookJudgement {
                previous_fetched_at: (look > 0).then(|| Timestamp::from_secs(at.as_secs() - 86_400)),
                magnitude: if changed { 0.05 } else { 0.0 },
                resemblance: if changed { 0.95 } else { 1.0 },
                ..LookJudgement::new(verdict)
            },
        };
        let key = site_key.as_str().as_bytes().to_vec();
        OutputRecord {
            to: TopicPartition::new(topic, partition_for(&key, partitions)),
            timestamp: at,
            key,
            value: Some(observation.encode().into()),
            trace: None,
        }
    };
    (0..PAGES_PER_SITE).map(record).collect()
}

fn address(site: usize, number: usize) -> CanonicalUrl {
    let url = CanonicalUrl::parse(&format!("https://site-{site:03}.test/part-{}/page-{number}", number % 7));
    url.expect("it is an address")
}

fn looked_at(number: usize, look: i64) -> Timestamp {
    Timestamp::from_secs(86_400 * (FIRST_DAY + look) + number as i64)
}

/// One page in twenty, another one every day.
fn has_changed(number: usize, look: i64) -> bool {
    (number as i64 + look) % 20 == 0
}

struct Update {
    cpu_us: f64,
    /// Size of a belief in the store.
    value_bytes: usize,
}

/// Read, learned from, written back, in batches as large as the log's: per look, after the first at every page. Where
/// pages stand on their sites is worked out before, as from a message.
fn state_round() -> Update {
    let directory = TempDir::new().expect("there is room for a benchmark");
    let names = ["pages"];
    let provider = RocksStores::new(directory.path(), StoreMemory::default());
    let task = TaskId { stage: "estimator".to_owned(), partition: 0 };
    let mut store = provider.open("bench", &task, &names).expect("a new store opens");
    let mut model = SweepModel::starting_at(looked_at(0, 0).as_days());
    let pages: Vec<_> = (0..SITES * PAGES_PER_SITE)
        .map(|page| {
            let url = address(page / PAGES_PER_SITE, page % PAGES_PER_SITE);
            let place = PagePlace::of(url.site_key().as_str(), url.host().as_str(), url.path());
            model.insert(&place);
            (url.page_id(), place)
        })
        .collect();
    let numbered: Vec<_> = pages.iter().enumerate().collect();
    let mut overlay = Overlay::new(names.len());
    let (mut spent, mut checkpoint) = (0.0, Checkpoint::empty(1));
    for look in 0..=LOOKS {
        let before = cpu_time();
        model.advance((FIRST_DAY + look) as f64, rules::SETTLED_BINS);
        for batch in numbered.chunks(topology::BATCH_RECORDS) {
            for (page, (id, place)) in batch {
                overlay.begin_record();
                update(&mut model, &*store, &mut overlay, id, place, page % PAGES_PER_SITE, look);
            }
            checkpoint.input_next = Some(checkpoint.input_next.unwrap_or(0) + batch.len() as u64);
            store.apply(&overlay.take(), &checkpoint).expect("a store can be written");
        }
        if look > 0 {
            spent += (cpu_time() - before).as_secs_f64();
        }
    }
    let kept = pages.iter().map(|(id, _)| store.get(PAGES_PLACE, &id.0).expect("a store can be read"));
    let kept: Vec<_> = kept.map(|bytes| bytes.expect("every page was looked at")).collect();
    let belief = PageBelief::decode(&kept[0]).expect("what was encoded can be decoded");
    assert_eq!(belief.observations, LOOKS, "every look is learned from once");
    let value_bytes = kept.iter().map(Vec::len).sum::<usize>() / kept.len();
    Update { cpu_us: spent * 1e6 / pages.len() as f64 / LOOKS as f64, value_bytes }
}

/// A look at one page, as the estimator takes it into its belief.
fn update(
    model: &mut SweepModel,
    store: &dyn StateStore,
    overlay: &mut Overlay,
    id: &PageId,
    place: &PagePlace,
    number: usize,
    look: i64,
) {
    let kept = overlay.get(store, PAGES_PLACE, &id.0).expect("a store can be read");
    let mut belief = kept.map_or_else(
        || PageBelief { estimator: "sweeps".to_owned(), ..PageBelief::default() },
        |bytes| PageBelief::decode(&bytes).expect("what was encoded can be decoded"),
    );
    belief.fetches += 1;
    if look > 0 {
        let changed = has_changed(number, look);
        belief.observations += 1;
        belief.changes += i64::from(changed);
        let state = |delta_alpha, delta_beta_days| GammaState { delta_alpha, delta_beta_days };
        let mut page = sweeps::OwnEvidence {
            own: state(belief.own_alpha, belief.own_beta_days),
            plain: state(belief.delta_alpha, belief.delta_beta_days),
        };
        let (from, to) = (looked_at(number, look - 1).as_days(), looked_at(number, look).as_days());
        let outcome = if changed { LookOutcome::Changed } else { LookOutcome::Unchanged };
        model.look(place, &mut page, from, to, outcome);
        (belief.own_alpha, belief.own_beta_days) = (page.own.delta_alpha, page.own.delta_beta_days);
        (belief.delta_alpha, belief.delta_beta_days) = (page.plain.delta_alpha, page.plain.delta_beta_days);
    }
    overlay.write(PAGES_PLACE, id.0.to_vec(), Some(belief.encode()));
}

/// CPU time of RocksDB's own benchmark per read, modify and write, in µs, with the options of the aim: no write-ahead
/// log, filters, and a cache that holds everything.
fn update_random(keys: usize, value_bytes: usize) -> f64 {
    let directory = TempDir::new().expect("there is room for a benchmark");
    let run = |benchmark: &str, existing: bool, updates: usize| {
        let mut command = Command::new("db_bench");
        command.arg(format!("--benchmarks={benchmark}")).arg(format!("--num={keys}")).arg("--key_size=16");
        command.arg(format!("--value_size={value_bytes}")).arg(format!("--use_existing_db={}", u8::from(existing)));
        command.arg(format!("--db={}", directory.path().join("db").display())).arg(format!("--writes={updates}"));
        command.args(["--disable_wal=1", "--cache_size=536870912", "--bloom_bits=10", "--compression_type=lz4"]);
        Measured::start(command, Path::new(directory.path())).finish().cpu.as_secs_f64()
    };
    run("fillrandom", false, keys);
    let updates = 10 * keys;
    // Opening the database is no part of an update.
    let opened = run("updaterandom", true, 1);
    (run("updaterandom", true, updates) - opened) * 1e6 / updates as f64
}
