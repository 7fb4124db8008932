//! The whole loop on a simulated web without politeness, beside what spider takes to fetch the same pages and follow
//! their links. Every contestant gets a web of its own, so that the web can say what was asked of it.

use crate::crawls::{HOSTS, STAGES, Services, Web, set};
use crate::measure::{Measured, Rounds, digits, on_core};
use crate::peers::peers;
use crate::table::{Row, Target};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tests::programs;

/// The core of the contestants. The webs are on the other.
const CONTESTANT: usize = 0;
const PATIENCE: Duration = Duration::from_secs(120);

/// CPU time and peak memory of one contestant for all pages.
struct Run {
    cpu: Duration,
    peak_memory_bytes: u64,
    /// CPU time by thread or by service.
    split: BTreeMap<String, Duration>,
}

pub(crate) fn rows(rounds: usize, pages_per_host: usize, kafka: Option<&str>) -> Vec<Row> {
    let pages = HOSTS * pages_per_host;
    let peer = peers();
    let (mut spider, mut embedded, mut over_kafka) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=rounds {
        eprintln!("whole loop, round {round} of {rounds}");
        if let Ok(program) = &peer {
            spider.push(run_spider(program, pages_per_host));
        }
        embedded.push(run_embedded(pages_per_host));
        if let Some(brokers) = kafka {
            over_kafka.push(run_over_kafka(brokers, pages_per_host));
        }
    }
    let us_per_page =
        |runs: &[Run]| Rounds::new(runs.iter().map(|run| run.cpu.as_secs_f64() * 1e6 / pages as f64).collect());
    let row = |name: &str, runs: &[Run]| {
        let mut row = Row::new(format!("{name}, {pages} pages of 14 kB"), "µs/page", us_per_page(runs));
        if !spider.is_empty() {
            row = row.beside("spider, fetching alone", us_per_page(&spider)).aims_at(Target::Ratio(1.0));
        }
        row.note(split(runs, pages))
    };
    let mut rows = vec![row("whole loop, one process", &embedded)];
    match kafka {
        Some(_) => rows.push(row("whole loop, four processes over Kafka", &over_kafka)),
        None => rows.push(Row::skipped("whole loop, four processes over Kafka", "no Kafka (RECRAWL_KAFKA)")),
    }
    if let Err(reason) = peer {
        rows.push(Row::skipped("spider 2", reason));
    }
    rows
}

/// The median run's CPU time by thread or service, the largest first.
fn split(runs: &[Run], pages: usize) -> String {
    let mut by_cpu: Vec<_> = runs.iter().collect();
    by_cpu.sort_by_key(|run| run.cpu);
    let run = by_cpu[by_cpu.len() / 2];
    let per_page = |cpu: Duration| digits(cpu.as_secs_f64() * 1e6 / pages as f64);
    let mut parts: Vec<_> = run.split.iter().collect();
    parts.sort_by_key(|(_, cpu)| std::cmp::Reverse(**cpu));
    let known: Duration = run.split.values().sum();
    let named = parts.iter().map(|(name, cpu)| format!("{name} {}", per_page(**cpu)));
    let rest = std::iter::once(format!("rest {}", per_page(run.cpu.saturating_sub(known))));
    let memory = run.peak_memory_bytes as f64 / f64::from(1 << 20);
    format!("of these: {}; memory {memory:.0} MiB", named.chain(rest).collect::<Vec<_>>().join(", "))
}

/// Every contestant must have asked for every page, and for nothing else but robots.txt.
fn check(name: &str, fetched: u64, web: Web, pages: usize) {
    let requests = web.requests();
    assert_eq!(fetched, pages as u64, "{name} did not fetch the {pages} pages");
    let expected = pages..=pages + HOSTS;
    assert!(expected.contains(&requests), "{name}: the web served {requests} requests for {pages} pages");
}

fn run_spider(program: &Path, pages_per_host: usize) -> Run {
    let web = Web::start(pages_per_host, &[]);
    let mut command = Command::new(program);
    command.arg("spider").args(web.roots());
    let finished = Measured::start(on_core(command, CONTESTANT), web.directory.path()).finish();
    let fetched = finished.stdout.split_whitespace().next().and_then(|count| count.parse().ok());
    check("spider", fetched.expect("the peer prints its pages"), web, HOSTS * pages_per_host);
    Run { cpu: finished.cpu, peak_memory_bytes: finished.peak_memory_bytes, split: finished.threads }
}

/// Neither politeness nor a budget to speak of.
const UNBOUNDED: [&str; 10] = [
    "fetch.allow_private_addresses=127.0.0.0/8",
    "budget.fetches_per_second=100000",
    "budget.in_flight=4000",
    "politeness.crawl_delay=0s",
    "politeness.address_delay=0s",
    "politeness.response_time_factor=0",
    "policy.scan_interval=20ms",
    "policy.min_interval=1d",
    "log.batch_interval=20ms",
    "observability.log_filter=warn",
];

fn run_embedded(pages_per_host: usize) -> Run {
    let web = Web::start(pages_per_host, &[]);
    let mut command = programs().command("recrawl");
    command.args(["--format", "json", "run", "--until-idle", "--seeds", &web.seeds_file()]);
    command.arg("--data").arg(web.directory.path().join("data"));
    set(&mut command, &UNBOUNDED);
    set(&mut command, &["http.bind=127.0.0.1:0"]);
    let finished = Measured::start(on_core(command, CONTESTANT), web.directory.path()).finish();
    let summary: Value = serde_json::from_str(&finished.stdout).expect("recrawl answers in JSON");
    check("recrawl", summary["fetches"].as_u64().unwrap_or(0), web, HOSTS * pages_per_host);
    Run { cpu: finished.cpu, peak_memory_bytes: finished.peak_memory_bytes, split: finished.threads }
}

fn run_over_kafka(brokers: &str, pages_per_host: usize) -> Run {
    let web = Web::start(pages_per_host, &[]);
    let directory = web.directory.path();
    let mut services = Services::start(brokers, directory, &UNBOUNDED, CONTESTANT);
    services.seed(&web.seeds_file());
    let pages = HOSTS * pages_per_host;
    let deadline = Instant::now() + PATIENCE;
    let mut fetched = 0;
    while fetched < pages as u64 {
        assert!(Instant::now() < deadline, "only {fetched} of {pages} pages came all the way round");
        std::thread::sleep(Duration::from_millis(100));
        services.look();
        // Answers that have been all the way round.
        fetched = services.fetches().unwrap_or(fetched);
    }
    let finished = services.finish();
    check("recrawl over Kafka", fetched, web, pages);
    Run {
        cpu: finished.iter().map(|service| service.cpu).sum(),
        peak_memory_bytes: finished.iter().map(|service| service.peak_memory_bytes).sum(),
        split: STAGES.iter().zip(&finished).map(|(stage, service)| ((*stage).to_owned(), service.cpu)).collect(),
    }
}
