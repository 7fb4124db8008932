//! The cost of pages while nothing happens to them: disk, memory, the CPU time of a crawl that waits, and of its start.

use crate::crawls::Embedded;
use crate::measure::Rounds;
use crate::table::{Row, Target};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tests::wait_for;

const CORE: usize = 0;
/// How long a crawl is watched doing nothing.
const IDLE: Duration = Duration::from_secs(10);
/// Most memory of a page, in bytes.
const MEMORY_AIM: f64 = 100.0;
/// Known pages of two crawls. The difference between them is pages and nothing else: both are larger than the caches.
const KNOWN: [usize; 2] = [2_000_000, 6_000_000];
const PAGES_PER_SITE: usize = 500;
const PATIENCE: Duration = Duration::from_secs(180);
/// A crawl with hardly a budget, at the default tick.
const WAITING: [&str; 2] = ["budget.fetches_per_second=0.000001", "observability.log_filter=warn"];

/// A crawl that was stopped and started again.
pub(crate) struct Rest {
    disk_bytes: f64,
    start_us: f64,
    idle_ms_per_s: f64,
    memory_mib: f64,
    pages: usize,
}

/// Starts a crawl again and watches it wait. `known` is one of its pages.
pub(crate) fn measure(directory: &Path, data: &Path, known: &str, pages: usize) -> Rest {
    let mut crawl = Embedded::start(directory, data, known, &WAITING, CORE);
    let started = crawl.cpu();
    // What was put off to after the start is done.
    std::thread::sleep(Duration::from_secs(2));
    let (begun, before) = (Instant::now(), crawl.cpu());
    std::thread::sleep(IDLE);
    let idle = (crawl.cpu() - before).as_secs_f64() / begun.elapsed().as_secs_f64();
    let memory_mib = crawl.process.memory_bytes() as f64 / f64::from(1 << 20);
    crawl.stop();
    let of_page = |all: f64| all / pages as f64;
    Rest {
        disk_bytes: of_page(bytes_below(data) as f64),
        start_us: of_page(started.as_secs_f64() * 1e6),
        idle_ms_per_s: 1e3 * idle,
        memory_mib,
        pages,
    }
}

pub(crate) fn rows(rounds: &[Rest]) -> Vec<Row> {
    let Some(Rest { pages, .. }) = rounds.first() else { return Vec::new() };
    let of = |figure: fn(&Rest) -> f64| Rounds::new(rounds.iter().map(figure).collect());
    let memory = of(|rest| rest.memory_mib);
    vec![
        Row::new("at rest: disk", "kB/page", of(|rest| rest.disk_bytes / 1e3)),
        Row::new(format!("at rest: a crawl of {pages} pages waits"), "ms of CPU/s", of(|rest| rest.idle_ms_per_s))
            .note(format!("{memory} MiB of memory, write buffers and caches included")),
        Row::new("start", "µs/page", of(|rest| rest.start_us)),
    ]
}

/// Measures the memory of one more known page after a crawl was started again.
pub(crate) fn memory() -> Vec<Row> {
    let [few, many] = KNOWN.map(|pages| {
        eprintln!("memory of {pages} pages");
        memory_of(pages)
    });
    let of_page = (many - few) / (KNOWN[1] - KNOWN[0]) as f64;
    let row = Row::new("memory of a known page, all stages", "bytes", Rounds::new(vec![of_page]));
    let row = row.aims_at(Target::Value(MEMORY_AIM));
    vec![row.note(format!("{:.0} and {:.0} MiB for {KNOWN:?} pages", few / 1_048_576.0, many / 1_048_576.0))]
}

fn memory_of(pages: usize) -> f64 {
    let directory = TempDir::new().expect("there is room for a benchmark");
    let data = directory.path().join("data");
    let seeds = directory.path().join("seeds.txt");
    let mut urls = String::new();
    for page in 0..pages {
        let (site, number) = (page / PAGES_PER_SITE, page % PAGES_PER_SITE);
        let _ = writeln!(urls, "https://site-{site:04}.test/part-{}/page-{number}", number % 7);
    }
    fs::write(&seeds, &urls).expect("the directory takes files");
    let first = urls.lines().next().expect("there are pages");
    let own = ["crawl.max_pages=20000000", "crawl.contact=mailto:bench@recrawl.test"];
    let settings = [&WAITING[..], &own].concat();
    let crawl = Embedded::start(directory.path(), &data, first, &settings, CORE);
    crawl.seed(&seeds);
    wait_for("every page is known", PATIENCE, || {
        crawl.status().is_some_and(|it| it["pages"].as_u64() == Some(pages as u64))
    });
    crawl.stop();
    let crawl = Embedded::start(directory.path(), &data, first, &settings, CORE);
    std::thread::sleep(Duration::from_secs(3));
    let memory = crawl.process.memory_bytes() as f64;
    crawl.stop();
    memory
}

/// Bytes of all files below a directory.
pub(crate) fn bytes_below(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).expect("the directory is ours").flatten();
    let bytes = |entry: fs::DirEntry| match entry.path() {
        path if path.is_dir() => bytes_below(&path),
        _ => entry.metadata().map_or(0, |file| file.len()),
    };
    entries.map(bytes).sum()
}
