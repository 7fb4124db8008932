//! What one look at a page makes the machine write, embedded and over Kafka. Bytes hardly depend on how busy the machine
//! is, so one round will do.
//!
//! Embedded it is `wchar` of `/proc/PID/io`: everything that the process hands to the kernel, write-ahead logs, tables and
//! compaction alike. Over Kafka it is the same of all services, which is their local state, and by how much the topics have
//! grown on one broker's disk.

use crate::crawls::{HOSTS, Services, Web, fetches, set};
use crate::measure::{Measured, Rounds, digits, on_core};
use crate::table::{Row, Target};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tests::{programs, wait_for};

/// 960 pages in all.
const PAGES_PER_HOST: usize = 60;
const PAGES: u64 = (HOSTS * PAGES_PER_HOST) as u64;
/// Seconds of the web in a second: a look at every page and day of the web makes some two hundred looks a second.
const SPEED: u32 = 20_000;
/// The core of the crawlers.
const CRAWLER: usize = 0;
/// Looks before counting begins, for every page at least one that is not its first.
const WARM_LOOKS: u64 = 2 * PAGES;
/// Looks counted.
const COUNTED_LOOKS: u64 = 3 * PAGES;
const PATIENCE: Duration = Duration::from_secs(120);

/// A web on which every look but the first finds the same.
struct Kind {
    look: &'static str,
    /// How the web is.
    web: &'static [&'static str],
    aim_bytes: Option<f64>,
}

const FIRST: &str = "first look";
const KINDS: [Kind; 3] = [
    Kind { look: "look at the same page, 304", web: &["--changes-per-day", "0"], aim_bytes: Some(1_750.0) },
    Kind {
        look: "look at the same page, 200 with the same body",
        web: &["--changes-per-day", "0", "--no-etag", "--no-last-modified"],
        aim_bytes: None,
    },
    Kind { look: "look at a changed page", web: &["--changes-per-day", "20"], aim_bytes: None },
];

/// Bytes, where they were counted.
#[derive(Clone, Copy)]
struct Written {
    /// By our processes to files.
    files: u64,
    /// By the brokers to the topics, one copy.
    topics: u64,
}

/// A crawl at work.
trait Crawl {
    fn fetches(&self) -> Option<u64>;
    fn written(&self) -> Written;
}

/// Bytes a first look, and bytes a later one.
type Measurement = (f64, f64, String);

pub(crate) fn rows(kafka: Option<&str>) -> Vec<Row> {
    let mut rows = compared("embedded", &mut |kind| embedded(kind));
    let over_kafka = "over Kafka, one copy";
    // What a cluster of our own needs for its other listeners lies beside the directories of its nodes.
    let secure = std::env::var_os("RECRAWL_KAFKA_SECURE").filter(|directory| !directory.is_empty());
    match (kafka, secure.and_then(|secure| PathBuf::from(secure).parent().map(Path::to_owned))) {
        (Some(brokers), Some(logs)) => {
            rows.extend(compared(over_kafka, &mut |kind| kafka_crawl(kind, brokers, &logs)));
        }
        (None, _) => rows.push(Row::skipped(over_kafka, "no Kafka (RECRAWL_KAFKA)")),
        (_, None) => {
            rows.push(Row::skipped(over_kafka, "not a Kafka whose disk can be read: one that `make bench` starts"))
        }
    }
    rows
}

fn compared(place: &str, measure: &mut dyn FnMut(&Kind) -> Measurement) -> Vec<Row> {
    let mut rows = Vec::new();
    for kind in &KINDS {
        eprintln!("bytes written {place}: {}", kind.look);
        let (first, later, note) = measure(kind);
        if rows.is_empty() {
            let name = format!("written {place}: {FIRST}, page of 14 kB");
            rows.push(Row::new(name, "bytes", Rounds::new(vec![first])));
        }
        let mut row = Row::new(format!("written {place}: {}", kind.look), "bytes", Rounds::new(vec![later]));
        if let Some(aim) = kind.aim_bytes.filter(|_| place == "embedded") {
            row = row.aims_at(Target::Value(aim));
        }
        rows.push(row.note(note));
    }
    rows
}

/// Settings of a crawl that looks at every page once a day of the web, and the web on the same clock.
fn begin(kind: &Kind) -> (Web, Vec<String>) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_secs().to_string();
    let speed = SPEED.to_string();
    let clock = ["--speed", &speed, "--clock-start", &now, "--origin", &now, "--log-deviation", "0", "--days", "60"];
    let web = Web::start(PAGES_PER_HOST, &[&clock[..], kind.web].concat());
    let sets = [
        "fetch.allow_private_addresses=127.0.0.0/8".to_owned(),
        format!("budget.fetches_per_second={}", PAGES as f64 / 86_400.0),
        "budget.in_flight=4000".to_owned(),
        "politeness.crawl_delay=0s".to_owned(),
        "politeness.address_delay=0s".to_owned(),
        "politeness.response_time_factor=0".to_owned(),
        "policy.scan_interval=400s".to_owned(),
        "policy.lease_timeout=2d".to_owned(),
        "policy.min_interval=1h".to_owned(),
        "log.batch_interval=20ms".to_owned(),
        "observability.log_filter=warn".to_owned(),
        format!("clock.speed={SPEED}"),
        format!("clock.origin={now}"),
        format!("clock.anchor={now}"),
    ];
    (web, sets.into())
}

fn measure(crawl: &dyn Crawl) -> Measurement {
    let looks = |least: u64| {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(fetches) = crawl.fetches().filter(|fetches| *fetches >= least) {
                return (fetches, crawl.written());
            }
            assert!(Instant::now() < deadline, "{least} looks were not made within {PATIENCE:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let (first, at_first) = looks(PAGES);
    let (from, before) = looks(first + WARM_LOOKS);
    let (to, after) = looks(from + COUNTED_LOOKS);
    let each = |count: fn(&Written) -> u64| (count(&after) - count(&before)) as f64 / (to - from) as f64;
    let (files, topics) = (each(|written| written.files), each(|written| written.topics));
    let note = format!("{} to files, {} to topics; {} looks", digits(files), digits(topics), to - from);
    ((at_first.files + at_first.topics) as f64 / first as f64, files + topics, note)
}

struct Embedded {
    process: Measured,
    data: PathBuf,
}

impl Crawl for Embedded {
    fn fetches(&self) -> Option<u64> {
        let address = fs::read_to_string(self.data.join(recrawl::embedded::ADDRESS_FILE)).ok()?;
        fetches(address.rsplit_once(':')?.1.parse().ok()?)
    }

    fn written(&self) -> Written {
        Written { files: self.process.written_bytes(), topics: 0 }
    }
}

fn embedded(kind: &Kind) -> Measurement {
    let (web, sets) = begin(kind);
    let directory = web.directory.path();
    let data = directory.join("data");
    let mut command = programs().command("recrawl");
    command.args(["run", "--seeds", &web.seeds_file(), "--data"]).arg(&data);
    set(&mut command, &sets);
    set(&mut command, &["http.bind=127.0.0.1:0"]);
    let crawl = Embedded { process: Measured::start(on_core(command, CRAWLER), directory), data };
    let measured = measure(&crawl);
    crawl.process.terminate();
    crawl.process.finish();
    measured
}

struct OverKafka<'a> {
    services: Services,
    /// Where the brokers keep their logs.
    logs: &'a Path,
}

impl Crawl for OverKafka<'_> {
    fn fetches(&self) -> Option<u64> {
        self.services.fetches()
    }

    fn written(&self) -> Written {
        let topics = segments(self.logs, &self.services.topic_prefix, false);
        Written { files: self.services.written_bytes(), topics }
    }
}

fn kafka_crawl(kind: &Kind, brokers: &str, logs: &Path) -> Measurement {
    let (web, sets) = begin(kind);
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    let services = Services::start(brokers, web.directory.path(), &sets, CRAWLER);
    services.seed(&web.seeds_file());
    let crawl = OverKafka { services, logs };
    wait_for("the topics are found on the brokers' disk", PATIENCE, || crawl.written().topics > 0);
    let measured = measure(&crawl);
    crawl.services.finish();
    measured
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
