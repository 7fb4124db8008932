//! The cost of one look, by its result: CPU time and written bytes of a first crawl, of a 304, of the same body again,
//! of a body in which nothing differs that a reader sees, and of an edit; embedded and over Kafka.
//!
//! CPU time is that of all threads of our processes by the kernel's own books (`schedstat`). Bytes embedded are `wchar` of
//! `/proc/PID/io`: everything that the process hands to the kernel, write-ahead logs, tables and compaction alike. Over
//! Kafka they are the same of all services, which is their local state, and by how much the topics have grown on one
//! broker's disk; the brokers' CPU time is not in.

use crate::at_rest;
use crate::crawls::{Embedded, HOSTS, Services};
use crate::kept_pages::KeptPages;
use crate::looked_at_web::{Finds, LookedAtWeb};
use crate::measure::{Rounds, digits};
use crate::table::{Row, Target};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;
use tests::wait_for;

const PAGES: usize = HOSTS * 300;
/// Seconds of the web in a second: a look at every page and day of the web makes some 1,100 looks a second.
const SPEED: u32 = 20_000;
/// The core of the crawlers. Ticks and batches are 100 ms apart.
const CRAWLER: usize = 0;
/// Looks before counting begins: the first of a kind find what the one before has left.
const WARM_LOOKS: u64 = PAGES as u64;
const COUNTED_LOOKS: u64 = 2 * PAGES as u64;
const PATIENCE: Duration = Duration::from_secs(180);

/// A kind of look, and its aims for the cost when embedded: µs of CPU time, and bytes.
struct Kind {
    look: &'static str,
    /// `None`: the first crawl.
    finds: Option<Finds>,
    aim_us: Option<f64>,
    aim_bytes: Option<f64>,
}

/// In this order, least written first, because what RocksDB puts off falls to those behind.
const KINDS: [Kind; 5] = [
    Kind { look: "first crawl", finds: None, aim_us: Some(200.0), aim_bytes: Some(15_000.0) },
    Kind { look: "304", finds: Some(Finds::NotModified), aim_us: Some(50.0), aim_bytes: Some(700.0) },
    Kind { look: "200, same body", finds: Some(Finds::SameBody), aim_us: None, aim_bytes: None },
    Kind { look: "200, only noise differs", finds: Some(Finds::Noise), aim_us: Some(160.0), aim_bytes: Some(2_000.0) },
    Kind { look: "200, a sentence is new", finds: Some(Finds::Edit), aim_us: Some(350.0), aim_bytes: Some(35_000.0) },
];

/// Spent so far.
#[derive(Clone, Debug)]
struct Spent {
    /// By thread or service.
    cpu: BTreeMap<String, Duration>,
    /// Bytes that our processes have written to files.
    files: u64,
    /// Bytes that the brokers have written to the topics, one copy.
    topics: u64,
}

/// A crawl at work.
trait Crawl {
    fn seed(&self, file: &Path);
    fn fetches(&self) -> Option<u64>;
    /// Looks that were judged changes.
    fn changes(&self) -> f64;
    fn spent(&mut self) -> Spent;
    fn stop(self);
}

/// One kind of look, measured once.
struct Measurement {
    us: f64,
    bytes: f64,
    note: String,
}

pub(crate) fn rows(rounds: usize, kafka: Option<&str>) -> Vec<Row> {
    let kept = KeptPages::at_hand(PAGES);
    let pages = kept.description();
    let mut measured = Vec::new();
    let mut rest = Vec::new();
    for round in 1..=rounds {
        eprintln!("looks, embedded, round {round} of {rounds}: {pages}");
        measured.push(embedded(&kept, &mut rest));
    }
    let mut rows = named("embedded", &pages, &measured);
    rows.extend(at_rest::rows(&rest));
    let over_kafka = "over Kafka, one copy";
    // What a cluster of our own needs for its other listeners lies beside the directories of its nodes.
    let secure = std::env::var_os("RECRAWL_KAFKA_SECURE").filter(|directory| !directory.is_empty());
    match (kafka, secure.and_then(|secure| PathBuf::from(secure).parent().map(Path::to_owned))) {
        (Some(brokers), Some(logs)) => {
            eprintln!("looks, over Kafka: {pages}");
            rows.extend(named(over_kafka, &pages, &[kafka_crawl(&kept, brokers, &logs)]));
        }
        (None, _) => rows.push(Row::skipped(over_kafka, "no Kafka (RECRAWL_KAFKA)")),
        (_, None) => {
            rows.push(Row::skipped(over_kafka, "not a Kafka whose disk can be read: one that `make bench` starts"))
        }
    }
    rows
}

/// Two rows a kind; each round measures all kinds.
fn named(place: &str, pages: &str, rounds: &[Vec<Measurement>]) -> Vec<Row> {
    let row = |number: usize, kind: &Kind| {
        let of =
            |figure: fn(&Measurement) -> f64| Rounds::new(rounds.iter().map(|kinds| figure(&kinds[number])).collect());
        let aimed = |row: Row, aim: Option<f64>| match aim.filter(|_| place == "embedded") {
            Some(aim) => row.aims_at(Target::Value(aim)),
            None => row,
        };
        let cpu = Row::new(format!("{place}: {}", kind.look), "µs/look", of(|measured| measured.us));
        let bytes =
            Row::new(format!("{place}: {}, written", kind.look), "kB/look", of(|measured| measured.bytes / 1e3));
        let cpu = aimed(cpu, kind.aim_us).note(rounds[rounds.len() - 1][number].note.clone());
        [if number == 0 { cpu.note(pages) } else { cpu }, aimed(bytes, kind.aim_bytes.map(|bytes| bytes / 1e3))]
    };
    KINDS.iter().enumerate().flat_map(|(number, kind)| row(number, kind)).collect()
}

/// Neither politeness nor a budget to speak of; `further` says when pages are looked at again.
fn settings(further: Vec<String>) -> Vec<String> {
    let unbraked = [
        "fetch.allow_private_addresses=127.0.0.0/8",
        "budget.in_flight=4000",
        "politeness.crawl_delay=0s",
        "politeness.address_delay=0s",
        "politeness.response_time_factor=0",
        "log.batch_interval=100ms",
        "observability.log_filter=warn",
    ];
    unbraked.map(str::to_owned).into_iter().chain(further).collect()
}

/// A crawl that looks at every page once.
pub(crate) fn once() -> Vec<String> {
    let further = ["budget.fetches_per_second=100000", "policy.scan_interval=100ms", "policy.min_interval=1d"];
    settings(further.map(str::to_owned).into())
}

/// A crawl that looks at every page once a day of the web, on a web whose days are short.
fn daily() -> Vec<String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_secs().to_string();
    settings(vec![
        format!("budget.fetches_per_second={}", PAGES as f64 / 86_400.0),
        "policy.scan_interval=2000s".to_owned(),
        // Several ticks' worth, or most of the budget would be lost between two.
        "budget.burst=10000s".to_owned(),
        "policy.lease_timeout=2d".to_owned(),
        "policy.min_interval=1h".to_owned(),
        format!("clock.speed={SPEED}"),
        format!("clock.origin={now}"),
        format!("clock.anchor={now}"),
    ])
}

/// All kinds of looks, one after the other: the first in a crawl that makes no other, the rest in one that goes on with it.
fn measure<C: Crawl>(start: impl Fn(&[String]) -> C, web: &LookedAtWeb, directory: &Path) -> Vec<Measurement> {
    let seeds = directory.join("seeds.txt");
    fs::write(&seeds, web.seeds()).expect("the directory takes files");
    let (first, later) = KINDS.split_first().expect("there are kinds");
    let mut crawl = start(&once());
    let mut measured = vec![window(&mut crawl, first, web, &seeds)];
    crawl.stop();
    let mut crawl = start(&daily());
    measured.extend(later.iter().map(|kind| window(&mut crawl, kind, web, &seeds)));
    crawl.stop();
    measured
}

fn window(crawl: &mut impl Crawl, kind: &Kind, web: &LookedAtWeb, seeds: &Path) -> Measurement {
    let count = match kind.finds {
        Some(finds) => {
            web.find(finds);
            looks(crawl, crawl.fetches().unwrap_or(0) + WARM_LOOKS);
            COUNTED_LOOKS
        }
        None => PAGES as u64 - crawl.fetches().unwrap_or(0),
    };
    let (from, changes, not_modified, before) =
        (crawl.fetches().unwrap_or(0), crawl.changes(), web.not_modified(), crawl.spent());
    if kind.finds.is_none() {
        crawl.seed(seeds);
    }
    let begun = Instant::now();
    let to = looks(crawl, from + count);
    let (took, after) = (begun.elapsed(), crawl.spent());
    let made = (to - from) as f64;
    let not_modified = (web.not_modified() - not_modified) as f64;
    let is_304 = kind.finds == Some(Finds::NotModified);
    assert!(
        if is_304 { not_modified > 0.99 * made } else { not_modified == 0.0 },
        "{not_modified} of {made} looks found 304"
    );
    let us = |cpu: Duration| cpu.as_secs_f64() * 1e6 / made;
    let mut parts: Vec<_> = after
        .cpu
        .iter()
        .map(|(name, cpu)| (us(cpu.saturating_sub(before.cpu.get(name).copied().unwrap_or_default())), name))
        .filter(|(us, _)| *us >= 0.5)
        .collect();
    parts.sort_by(|one, other| other.0.total_cmp(&one.0));
    let parts: Vec<_> = parts.iter().map(|(us, name)| format!("{name} {}", digits(*us))).collect();
    let (files, topics) = ((after.files - before.files) as f64 / made, (after.topics - before.topics) as f64 / made);
    Measurement {
        us: us(after.cpu.values().sum::<Duration>().saturating_sub(before.cpu.values().sum())),
        bytes: files + topics,
        note: format!(
            "{made} looks, {:.0} a second, {:.0} % judged changes; {}; {} bytes to files, {} to topics",
            made / took.as_secs_f64(),
            100.0 * (crawl.changes() - changes) / made,
            parts.join(", "),
            digits(files),
            digits(topics)
        ),
    }
}

/// Waits for at least `least` looks and returns their number.
fn looks(crawl: &impl Crawl, least: u64) -> u64 {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(fetches) = crawl.fetches().filter(|fetches| *fetches >= least) {
            return fetches;
        }
        assert!(Instant::now() < deadline, "{least} looks were not made within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

impl Crawl for Embedded {
    fn seed(&self, file: &Path) {
        Embedded::seed(self, file);
    }

    fn fetches(&self) -> Option<u64> {
        self.status()?["fetches_total"].as_u64()
    }

    fn changes(&self) -> f64 {
        self.figure("detector", "changes_total")
    }

    fn spent(&mut self) -> Spent {
        Spent { cpu: self.process.cpu_by_thread(), files: self.process.written_bytes(), topics: 0 }
    }

    fn stop(self) {
        Embedded::stop(self);
    }
}

fn embedded(kept: &KeptPages, rest: &mut Vec<at_rest::Rest>) -> Vec<Measurement> {
    let web = LookedAtWeb::start(kept, PAGES);
    let directory = TempDir::new().expect("there is room for a benchmark");
    let data = directory.path().join("data");
    let first = web.seeds().lines().next().expect("there are pages").to_owned();
    let start = |settings: &[String]| {
        let crawl = Embedded::start(directory.path(), &data, &first, settings, CRAWLER);
        wait_for("its first page is no part of the first crawl", PATIENCE, || {
            crawl.status().is_some_and(|status| status["pages"] == PAGES || status["fetches_total"] == 1)
        });
        crawl
    };
    let measured = measure(start, &web, directory.path());
    rest.push(at_rest::measure(directory.path(), &data, &first, PAGES));
    measured
}

struct OverKafka<'a> {
    services: Services,
    /// Where the brokers keep their logs.
    logs: &'a Path,
}

impl OverKafka<'_> {
    fn topics(&self) -> u64 {
        segments(self.logs, &self.services.topic_prefix, false)
    }
}

impl Crawl for OverKafka<'_> {
    fn seed(&self, file: &Path) {
        self.services.seed(&file.display().to_string());
    }

    fn fetches(&self) -> Option<u64> {
        self.services.fetches()
    }

    fn changes(&self) -> f64 {
        self.services.figure("detector", "changes_total")
    }

    fn spent(&mut self) -> Spent {
        let topics = self.topics();
        Spent { cpu: self.services.cpu(), files: self.services.written_bytes(), topics }
    }

    fn stop(self) {
        self.services.finish();
    }
}

fn kafka_crawl(kept: &KeptPages, brokers: &str, logs: &Path) -> Vec<Measurement> {
    let web = LookedAtWeb::start(kept, PAGES);
    let directory = TempDir::new().expect("there is room for a benchmark");
    let start = |settings: &[String]| {
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let services = Services::start(brokers, directory.path(), &settings, CRAWLER);
        let crawl = OverKafka { services, logs };
        wait_for("the topics are found on the brokers' disk", PATIENCE, || crawl.topics() > 0);
        crawl
    };
    measure(start, &web, directory.path())
}

/// Bytes of the segments of all partitions whose names begin so, anywhere below a directory.
fn segments(directory: &Path, prefix: &str, within: bool) -> u64 {
    let Ok(entries) = fs::read_dir(directory) else { return 0 };
    let bytes = |entry: fs::DirEntry| {
        let path = entry.path();
        if path.is_dir() {
            return segments(&path, prefix, within || entry.file_name().to_string_lossy().starts_with(prefix));
        }
        let is_segment = within && path.extension().is_some_and(|extension| extension == "log");
        if is_segment { entry.metadata().map_or(0, |file| file.len()) } else { 0 }
    };
    entries.flatten().map(bytes).sum()
}
