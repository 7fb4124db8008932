//! `recrawl seed`: adds pages to an embedded crawl, running or stopped, or to one over Kafka.

use crate::CommandFailure;
use crate::commands::SettingsArguments;
use crate::seed_file::{read_seeds, searches};
use crate::stages::topologies;
use clap::Args;
use messages::CommandKind;
use operate::{Crawl, Order};
use outputs::stdout::{Format, answer};
use serde::Serialize;
use settings::seeds::SeedList;
use std::path::PathBuf;

/// Seeds of one order. A running crawl takes orders of 32 MiB at most, and addresses are no longer than 2 kB.
const SEEDS_AT_ONCE: usize = 10_000;

/// Arguments of `recrawl seed`.
#[derive(Args, Debug)]
pub struct SeedArguments {
    /// URLs to add, also if they were forgotten.
    urls: Vec<String>,
    /// File with one URL per line, optionally followed by a weight and a date of its last change, or CSV. "-" is stdin. Pages of it
    /// that were forgotten are left out.
    #[arg(long)]
    file: Option<PathBuf>,
    /// Adds the search interfaces of the settings (section search). `recrawl run` does so by itself.
    #[arg(long)]
    searches: bool,
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
    let named = settings::seeds::parse(&arguments.urls.join("\n"));
    for fault in &named.faults {
        eprintln!("argument {fault}");
    }
    let listed = arguments.file.as_deref().map(read_seeds).transpose()?.unwrap_or_default();
    let searched = if arguments.searches { searches(&settings) } else { SeedList::default() };
    if arguments.searches && searched.seeds.is_empty() {
        let problem = "--searches: the settings name none; write search.templates and search.queries";
        return Err(CommandFailure::Input(problem.to_owned()));
    }
    let (duplicates, faults) = (named.duplicates + listed.duplicates, named.faults.len() + listed.faults.len());
    if [&named, &listed, &searched].iter().all(|list| list.seeds.is_empty()) {
        return Err(CommandFailure::Input(
            "no seeds given: give URLs, or --file FILE with one URL per line".to_owned(),
        ));
    }
    let mut sent = SentSeeds { seeds: 0, duplicates, faults, out_of_scope: 0 };
    let scope = scope::configured(&settings)?;
    let crawl = Crawl::find(&settings, arguments.url.as_deref(), &topologies(), "recrawl-seed")?;
    for (kind, mut list) in
        [(CommandKind::Seed, named), (CommandKind::ListedSeed, listed), (CommandKind::ListedSeed, searched)]
    {
        for seed in list.seeds.extract_if(.., |seed| !scope.allows(&seed.url)) {
            eprintln!("{} is left out: {}", seed.url, scope.decide(&seed.url));
            sent.out_of_scope += 1;
        }
        for seeds in list.seeds.chunks(SEEDS_AT_ONCE) {
            let list = SeedList { seeds: seeds.to_vec(), ..SeedList::default() };
            crawl.send(&Order::Seeds { kind, list }).inspect_err(|_| {
                if sent.seeds > 0 {
                    eprintln!("{} seeds were sent before this; to send all of them again does no harm", sent.seeds);
                }
            })?;
            sent.seeds += seeds.len();
        }
    }
    answer(format, &sent, |sent| {
        let SentSeeds { seeds, duplicates, faults, out_of_scope } = sent;
        let left_out = match out_of_scope {
            0 => format!("{duplicates} duplicates and {faults} invalid lines left out"),
            _ => format!("{duplicates} duplicates, {faults} invalid lines and {out_of_scope} out of scope left out"),
        };
        format!("{seeds} seeds sent, {left_out}")
    })
}
