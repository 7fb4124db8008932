//! `recrawl seed`: adds pages to an embedded crawl, running or stopped, or to one over Kafka.

use crate::commands::run::read_seeds;
use crate::commands::{SettingsArguments, status};
use crate::embedded::{CommandSender, stages};
use crate::output::{Format, answer};
use crate::{CommandFailure, http_client};
use clap::Args;
use daemon::WebClock;
use serde::Serialize;
use settings::seeds::Seed;
use std::path::PathBuf;
use std::sync::Arc;
use stream::Log;
use topology::LogNames;

/// Arguments of `recrawl seed`.
#[derive(Args, Debug)]
pub struct SeedArguments {
    /// URLs to add.
    urls: Vec<String>,
    /// File with one URL per line, optionally followed by a weight. "-" is stdin.
    #[arg(long)]
    file: Option<PathBuf>,
    #[command(flatten)]
    settings: SettingsArguments,
    /// State directory of a `recrawl run`, which may be running.
    #[arg(long, conflicts_with = "url")]
    data: Option<PathBuf>,
    /// Address of a running recrawl.
    #[arg(long)]
    url: Option<String>,
}

#[derive(Serialize)]
struct SentSeeds {
    seeds: usize,
    duplicates: usize,
    faults: usize,
}

/// Sends seeds to the scheduler.
pub fn seed(arguments: &SeedArguments, format: Format) -> Result<(), CommandFailure> {
    let data = arguments.data.as_ref().map(|path| path.display().to_string());
    let settings = arguments.settings.load(&[("crawl.data", data)])?;
    let mut list = settings::seeds::parse(&arguments.urls.join("\n"));
    for fault in &list.faults {
        eprintln!("argument {fault}");
    }
    if let Some(file) = &arguments.file {
        let more = read_seeds(file)?;
        list.seeds.extend(more.seeds);
        list.faults.extend(more.faults);
        list.duplicates += more.duplicates;
    }
    if list.seeds.is_empty() {
        return Err(CommandFailure::Input(
            "no seeds given: give URLs, or --file FILE with one URL per line".to_owned(),
        ));
    }
    let running = arguments.url.clone().or_else(|| settings.crawl.data.as_deref().and_then(status::running));
    match (running, &settings.crawl.data, &settings.kafka.brokers) {
        (Some(address), _, _) => post(&address, &list.seeds)?,
        (None, None, Some(_)) => {
            let log: Arc<dyn Log> = Arc::new(daemon::service::connect(&settings, "recrawl-seed")?);
            send(log, &settings, &list.seeds)?;
        }
        (None, Some(data), _) => {
            let log = stream_rocksdb::open_log(data)?;
            log.create_topics(&topology::topic_configs(&settings, &stages(), settings.log.partitions))?;
            send(Arc::new(log), &settings, &list.seeds)?;
        }
        (None, None, None) => {
            return Err(CommandFailure::Input(
                "no crawl given: give --data DIR, --url HOST:PORT, or --config with kafka.brokers".into(),
            ));
        }
    }
    let sent = SentSeeds { seeds: list.seeds.len(), duplicates: list.duplicates, faults: list.faults.len() };
    answer(format, &sent, |sent| {
        format!("{} seeds sent, {} duplicates and {} invalid lines left out", sent.seeds, sent.duplicates, sent.faults)
    })
}

fn send(log: Arc<dyn Log>, settings: &settings::Settings, seeds: &[Seed]) -> Result<(), CommandFailure> {
    let clock = Arc::new(WebClock::new(&settings.clock));
    CommandSender::new(log, &LogNames::new(settings), clock)?.seed(seeds)
}

fn post(address: &str, seeds: &[Seed]) -> Result<(), CommandFailure> {
    let lines: Vec<_> = seeds.iter().map(|seed| format!("{} {}", seed.url, seed.weight)).collect();
    let (status, body) = http_client::request(address, "POST", "/seeds", lines.join("\n").as_bytes())?;
    if status == 200 {
        Ok(())
    } else {
        Err(CommandFailure::World(format!("{address} answered {status}: {}", body.trim())))
    }
}
