//! `recrawl seed`: adds pages to an embedded crawl, running or stopped, or to one over Kafka.

use crate::commands::run::read_seeds;
use crate::commands::{Crawl, SettingsArguments};
use crate::output::{Format, answer};
use crate::{CommandFailure, http_client};
use clap::Args;
use serde::Serialize;
use settings::seeds::Seed;
use std::path::PathBuf;

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
    /// Left out by a rule or a filter of the settings.
    out_of_scope: usize,
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
    let left_out: Vec<_> = list.seeds.extract_if(.., |seed| !settings.scope.allows(&seed.url)).collect();
    for seed in &left_out {
        eprintln!("{} is left out: {}", seed.url, settings.scope.decide(&seed.url));
    }
    match Crawl::find(&settings, arguments.url.as_deref(), "recrawl-seed")? {
        Crawl::Running(address) => post(&address, &list.seeds)?,
        Crawl::Log(sender) => sender.seed(&list.seeds)?,
    }
    let sent = SentSeeds {
        seeds: list.seeds.len(),
        duplicates: list.duplicates,
        faults: list.faults.len(),
        out_of_scope: left_out.len(),
    };
    answer(format, &sent, |sent| {
        let SentSeeds { seeds, duplicates, faults, out_of_scope } = sent;
        let left_out = match out_of_scope {
            0 => format!("{duplicates} duplicates and {faults} invalid lines left out"),
            _ => format!("{duplicates} duplicates, {faults} invalid lines and {out_of_scope} out of scope left out"),
        };
        format!("{seeds} seeds sent, {left_out}")
    })
}

fn post(address: &str, seeds: &[Seed]) -> Result<(), CommandFailure> {
    let lines: Vec<_> = seeds.iter().map(|seed| format!("{} {}", seed.url, seed.weight)).collect();
    http_client::ask(address, "POST", "/seeds", lines.join("\n").as_bytes())?;
    Ok(())
}
