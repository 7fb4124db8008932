//! The memory and disk that a service over Kafka needs for one more page. They show for how many pages a pod is large
//! enough.

use crate::at_rest::bytes_below;
use crate::crawls::{STAGES, Services};
use crate::kept_pages::KeptPages;
use crate::looked_at_web::LookedAtWeb;
use crate::looks;
use crate::measure::Rounds;
use crate::table::Row;
use std::fs;
use std::time::Duration;
use tempfile::TempDir;
use tests::wait_for;

/// Two crawls, so that what a service takes without any page cancels out.
const KNOWN: [usize; 2] = [10_000, 70_000];
const MIB: f64 = 1_048_576.0;
/// Number of pages with different texts. They are served again under other addresses.
const DIFFERENT: usize = 2_000;
const CORE: usize = 0;
const PATIENCE: Duration = Duration::from_secs(900);

/// Bytes that a service holds after all pages were crawled and it was started again.
struct Held {
    memory: f64,
    /// Its memory when the last page was crawled, before the restart.
    at_work: f64,
    disk: f64,
}

pub(crate) fn rows(kafka: Option<&str>) -> Vec<Row> {
    let Some(brokers) = kafka else {
        return vec![Row::skipped("memory of the services", "no Kafka (RECRAWL_KAFKA)")];
    };
    let kept = KeptPages::at_hand(DIFFERENT);
    let [few, many] = KNOWN.map(|pages| {
        eprintln!("memory of the services, with {pages} pages: {}", kept.description());
        crawled(brokers, &kept, pages)
    });
    let row = |((stage, few), many): ((&str, Held), Held)| {
        let of_page = |figure: fn(&Held) -> f64| (figure(&many) - figure(&few)) / (KNOWN[1] - KNOWN[0]) as f64;
        let memory = Rounds::new(vec![of_page(|held| held.memory)]);
        let disk = Rounds::new(vec![of_page(|held| held.disk) / 1e3]);
        let note = format!(
            "{:.0} and {:.0} MiB for {KNOWN:?} pages once started again; {:.0} and {:.0} when the last page was crawled",
            few.memory / MIB,
            many.memory / MIB,
            few.at_work / MIB,
            many.at_work / MIB
        );
        [
            Row::new(format!("{stage}: memory of a page"), "bytes", memory).note(note),
            Row::new(format!("{stage}: disk of a page"), "kB", disk),
        ]
    };
    STAGES.into_iter().zip(few).zip(many).flat_map(row).collect()
}

/// By stage, in the order of [`STAGES`].
fn crawled(brokers: &str, kept: &KeptPages, pages: usize) -> Vec<Held> {
    let web = LookedAtWeb::start(kept, pages);
    let directory = TempDir::new().expect("there is room for a benchmark");
    let seeds = directory.path().join("seeds.txt");
    fs::write(&seeds, web.seeds()).expect("the directory takes files");
    let settings = looks::once();
    // Caches that are full at both sizes, so that they cancel out.
    let small = ["log.state_memory=16MiB", "crawl.max_pages=2000000"];
    let settings: Vec<&str> = settings.iter().map(String::as_str).chain(small).collect();
    let services = Services::start(brokers, directory.path(), &settings, CORE);
    services.seed(&seeds.display().to_string());
    wait_for("every page is crawled", PATIENCE, || services.fetches() == Some(pages as u64));
    let data = services.data();
    let (topic_prefix, at_work) = (services.topic_prefix.clone(), services.memory_bytes());
    services.finish();
    let again = Services::start(brokers, directory.path(), &settings, CORE);
    assert_eq!(again.topic_prefix, topic_prefix, "it is the same crawl");
    wait_for("they know their pages again", PATIENCE, || again.figure("scheduler", "pages") == pages as f64);
    let memory = again.memory_bytes();
    again.finish();
    let disk = |stage: &str| bytes_below(&data.join(stage)) as f64;
    let held = |((stage, memory), at_work): ((&&str, u64), u64)| Held {
        memory: memory as f64,
        at_work: at_work as f64,
        disk: disk(stage),
    };
    STAGES.iter().zip(memory).zip(at_work).map(held).collect()
}
