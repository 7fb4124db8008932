//! Seeds that a person pastes, each checked before it is added.

use super::query::Query;
use super::{ScreenFailure, Source, fetched};
use crate::CommandFailure;
use crate::one_fetch::{is_address, parsed};
use crate::seed_file::seeds_of;
use messages::CommandKind;
use operate::Order;
use scope::Scope;
use serde::Serialize;
use settings::seeds::{self, Seed, SeedList};
use sitemaps::SitemapKind;

/// Lines that are shown of each kind.
const SHOWN: usize = 100;
/// Most pages of one form.
const MAX_SEEDS: usize = 10_000;
const MAX_SEEDS_OVER_KAFKA: usize = 50;

/// A pasted list: what would be added, and why the rest would not.
#[derive(Default, Serialize)]
pub(super) struct CheckedSeeds {
    /// The list of those that would be added.
    list: String,
    new: Lines,
    known: Lines,
    forgotten: Lines,
    refused: Lines,
    duplicates: usize,
    /// Pages that would be added, or get another weight or date.
    taken: usize,
    /// How the list was read, if that is not plain.
    note: Option<String>,
}

/// The first lines of a kind.
#[derive(Default, Serialize)]
struct Lines {
    count: usize,
    first: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    text: String,
    why: String,
    /// Whether the text is the address of a known page.
    is_page: bool,
}

impl Lines {
    fn add(&mut self, text: String, why: String, is_page: bool) {
        self.count += 1;
        if self.first.len() < SHOWN {
            self.first.push(Line { text, why, is_page });
        }
    }
}

pub(super) fn check(source: &Source<'_>, body: &[u8], scope: &Scope) -> Result<CheckedSeeds, ScreenFailure> {
    let form = Query::of_form(body, &["names", "sitemap"])?;
    let (list, note) = match (form.get("names"), form.get("sitemap").map(str::trim)) {
        (Some(names), None) => pasted(names)?,
        (None, Some(address)) if is_address(address) => of_sitemap(source, address)?,
        (None, Some(address)) => {
            let problem = format!("{address} is not an address; write one that begins with https:// or http://");
            return Err(CommandFailure::Input(problem).into());
        }
        (Some(_), Some(_)) => {
            return Err(CommandFailure::Input("give a list or a sitemap, one at a time".to_owned()).into());
        }
        (None, None) => {
            return Err(CommandFailure::Input("there is no address; paste one on each line".to_owned()).into());
        }
    };
    // Over Kafka four stages are asked about each.
    let most = if source.state.most_hosts().is_some() { MAX_SEEDS_OVER_KAFKA } else { MAX_SEEDS };
    if list.seeds.len() > most {
        let problem = format!(
            "these are {} pages, and a form takes {most}; give longer lists by recrawl seed --file",
            list.seeds.len()
        );
        return Err(CommandFailure::Input(problem).into());
    }
    let mut checked = CheckedSeeds { note, duplicates: list.duplicates, ..CheckedSeeds::default() };
    for fault in &list.faults {
        checked.refused.add(fault.text.clone(), fault.problem.to_string(), false);
    }
    let mut taken = Vec::new();
    for seed in list.seeds {
        let address = seed.url.to_string();
        if !source.caller.includes_host(seed.url.host_name()) {
            checked.refused.add(address, "your key is not for its host".to_owned(), false);
        } else if !scope.allows(&seed.url) {
            checked.refused.add(address, scope.decide(&seed.url).to_string(), false);
        } else {
            // As the scheduler knows it.
            let parts = source.state.page(&source.settings.urls.rules().apply(seed.url.clone()))?;
            match (&parts.page, &parts.forgotten) {
                (Some(page), _) => {
                    let seen = page.last_look_at.map_or("not fetched yet".to_owned(), |at| format!("seen {at}"));
                    checked.known.add(address, seen, true);
                    // A line without a weight leaves that of the page.
                    let weight = if seed.weight == 1.0 { page.weight } else { seed.weight };
                    if page.depth > 0 || weight != page.weight || seed.changed_at.is_some() {
                        taken.push(Seed { weight, ..seed });
                    }
                }
                (None, found) => {
                    let lines = if found.is_some() { &mut checked.forgotten } else { &mut checked.new };
                    lines.add(address, String::new(), false);
                    taken.push(seed);
                }
            }
        }
    }
    checked.taken = taken.len();
    checked.list =
        Order::Seeds { kind: CommandKind::Seed, list: SeedList { seeds: taken, ..SeedList::default() } }.text();
    Ok(checked)
}

/// The seeds of a text: a list, CSV, or the text of a sitemap.
fn pasted(text: &str) -> Result<(SeedList, Option<String>), CommandFailure> {
    match text.trim_start().starts_with('<') {
        true => listed(sitemaps::read(text.as_bytes()), "the text"),
        false => seeds_of("the list", text.as_bytes()).map_err(CommandFailure::Input),
    }
}

/// The pages that a sitemap or feed lists, which is fetched once, by the rules of the crawl.
fn of_sitemap(source: &Source<'_>, address: &str) -> Result<(SeedList, Option<String>), ScreenFailure> {
    let given = fetched(source, &parsed(address)?)?;
    Ok(listed(sitemaps::read_at(&given.bytes, given.url.as_ref()), address)?)
}

fn listed(sitemap: sitemaps::Sitemap, name: &str) -> Result<(SeedList, Option<String>), CommandFailure> {
    let what = match sitemap.kind {
        None => return Err(CommandFailure::Input(format!("{name} is neither a sitemap nor a feed"))),
        Some(SitemapKind::Index) => {
            let first = sitemap.entries.first().map(|entry| format!(", such as {}", entry.url)).unwrap_or_default();
            let problem =
                format!("{name} lists {} sitemaps, and no pages; give one of them{first}", sitemap.entries.len());
            return Err(CommandFailure::Input(problem));
        }
        Some(_) => format!("{name} lists {} pages", sitemap.entries.len()),
    };
    let lines: Vec<&str> = sitemap.entries.iter().map(|entry| entry.url.as_str()).collect();
    Ok((seeds::parse(&lines.join("\n")), Some(what)))
}
