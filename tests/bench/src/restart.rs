//! How long is a stage away? A scheduler of a million pages over Kafka that is stopped and started again, at once and a day
//! later, from its own disk and from nothing; what a restore from nothing costs beside a bare loop; and an embedded estimator
//! of a million pages.

use crate::crawls::{Services, status};
use crate::durable;
use crate::measure::{Measured, Rounds};
use crate::peers::example;
use crate::table::{Row, Target};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;
use tests::wait_for;

const SITES: usize = 2_000;
const PAGES_PER_SITE: usize = 500;
const PAGES: usize = SITES * PAGES_PER_SITE;
const RESTART_AIM_S: f64 = 5.0;
const PATIENCE: Duration = Duration::from_secs(600);
/// All on one core, as a container with one.
const CORE: usize = 0;

pub(crate) fn rows(kafka: Option<&str>) -> Vec<Row> {
    eprintln!("restart");
    let aim = Target::Value(RESTART_AIM_S);
    let (restart_s, note) = durable::restart(SITES * PAGES_PER_SITE / durable::PAGES_PER_SITE);
    let name = format!("restart to processing: embedded estimator of {PAGES} pages (wall)");
    let mut rows = vec![Row::new(name, "s", Rounds::new(vec![restart_s])).aims_at(aim).note(note)];
    let Some(brokers) = kafka else {
        rows.push(Row::skipped("restart and restore over Kafka", "no Kafka (RECRAWL_KAFKA)"));
        return rows;
    };
    rows.extend(scheduler(brokers));
    rows.push(restore(brokers));
    rows
}

/// Time from the start of the program until it has taken in a record that was waiting; the partitions are restored one after
/// the other, and the first works while the next is restored.
fn scheduler(brokers: &str) -> Vec<Row> {
    let directory = TempDir::new().expect("there is room for a benchmark");
    // The bound holds for each partition, and sites are not spread evenly.
    let settings = ["budget.fetches_per_second=0.001", "crawl.max_pages=2000000", "observability.log_filter=info"];
    let services = Services::prepare(brokers, directory.path(), &settings, CORE);
    let seeds = directory.path().join("seeds.txt");
    let mut urls = String::new();
    for page in 0..PAGES {
        let (site, number) = (page / PAGES_PER_SITE, page % PAGES_PER_SITE);
        let _ = writeln!(urls, "https://site-{site:04}.test/part-{}/page-{number}", number % 7);
    }
    fs::write(&seeds, urls).expect("the directory takes files");
    services.seed(&seeds.display().to_string());
    eprintln!("scheduler of {PAGES} pages over Kafka: first start");
    let (first, port) = services.start_stage("scheduler", &[]);
    wait_for("every page is known", PATIENCE, || {
        status(port).is_some_and(|status| {
            status["pages"].as_u64() == Some(PAGES as u64) && status["stages"][0]["lag_records"].as_u64() == Some(0)
        })
    });
    stop(first);

    let restart = |further: &[String]| {
        // Something to take in, for every partition.
        services.seed(&seeds_of_one_page_per_site(&directory));
        let begun = Instant::now();
        let (process, port) = services.start_stage("scheduler", further);
        let processed = |status: &Value| status["stages"][0]["processed_total"].as_u64().unwrap_or(0);
        wait_for("it works again", PATIENCE, || status(port).is_some_and(|status| processed(&status) > 0));
        let took_s = begun.elapsed().as_secs_f64();
        wait_for("every partition works again", PATIENCE, || {
            status(port).is_some_and(|status| processed(&status) >= SITES as u64)
        });
        let (whole_s, cpu) = (begun.elapsed().as_secs_f64(), process.cpu_time());
        let replayed = replayed(&stop(process));
        let note = format!(
            "every partition after {whole_s:.1} s and {:.1} s of CPU, {replayed} records replayed",
            cpu.as_secs_f64()
        );
        (took_s, note)
    };
    let row = |name: &str, (took_s, note): (f64, String)| {
        let name = format!("restart to processing: scheduler of {PAGES} pages over Kafka, {name} (wall)");
        Row::new(name, "s", Rounds::new(vec![took_s])).note(note)
    };
    let aim = || Target::Value(RESTART_AIM_S);
    let at_once = restart(&[]);
    let later = restart(&a_day_and_an_hour_later());
    fs::remove_dir_all(services.data()).expect("the directory is ours");
    let from_nothing = restart(&a_day_and_an_hour_later());
    vec![
        row("at once", at_once).aims_at(aim()),
        row("25 hours later", later).aims_at(aim()),
        row("its disk lost", from_nothing),
    ]
}

/// Settings of a clock that is 25 hours ahead.
fn a_day_and_an_hour_later() -> [String; 2] {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_secs();
    [format!("clock.origin={}", now + 25 * 3_600), format!("clock.anchor={now}")]
}

fn seeds_of_one_page_per_site(directory: &TempDir) -> String {
    let file = directory.path().join("more-seeds.txt");
    let urls: Vec<_> = (0..SITES).map(|site| format!("https://site-{site:04}.test/")).collect();
    fs::write(&file, urls.join("\n")).expect("the directory takes files");
    file.display().to_string()
}

/// Stops a service; what it said.
fn stop(process: Measured) -> String {
    process.terminate();
    process.finish().stderr
}

/// Number of changelog records replayed, from a service's log.
fn replayed(said: &str) -> u64 {
    let counts = said.split("replayed=").skip(1).filter_map(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    counts.sum()
}

/// Runs the example of `stream-kafka`, the one crate that may name rdkafka. Records a second become µs a record, for which
/// less is better.
fn restore(brokers: &str) -> Row {
    let mut command = example("stream-kafka", "restore");
    command.env("RECRAWL_KAFKA", brokers).args(["1000000", "300", "3"]);
    let directory = TempDir::new().expect("there is room for a benchmark");
    let output = Measured::start(command, directory.path()).finish().stdout;
    let [restored, bare] = [" restored: ", " bare: "].map(|name| {
        let figures = output.lines().filter_map(|line| line.split_once(name)?.1.split_once(" records/s"));
        let us = figures.map(|(figure, _)| 1e6 / figure.parse::<f64>().expect("a number of records"));
        Rounds::new(us.collect())
    });
    Row::new("restore from nothing over Kafka, 10⁶ records of 300 B (wall)", "µs/record", restored)
        .beside("rdkafka into the same store", bare)
        .aims_at(Target::Ratio(2.0))
}
