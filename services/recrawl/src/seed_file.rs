//! Reads files of seeds: lists, and tables in CSV. A sitemap is refused with how to take in the pages that it lists.

mod table;

use crate::CommandFailure;
use page::CanonicalUrl;
use settings::Settings;
use settings::seeds::{self, Seed, SeedList};
use sitemaps::SitemapKind;
use std::io::Read;
use std::path::Path;

/// The most invalid lines that are printed one by one.
const MAX_SHOWN: usize = 10;

/// Reads a file of seeds; "-" is stdin. Invalid lines are reported, the first of them one by one, and the rest is used.
///
/// # Errors
/// The file cannot be read, or nothing in it is a seed.
pub fn read_seeds(path: &Path) -> Result<SeedList, CommandFailure> {
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    let read = match path.as_os_str() == "-" {
        true => std::io::stdin().read_to_end(&mut bytes).map(|_| ()),
        false => std::fs::read(path).map(|content| bytes = content),
    };
    read.map_err(|error| CommandFailure::Input(format!("{name}: {error}; give a file with one URL per line")))?;
    let (list, note) = seeds_of(&name, &bytes).map_err(CommandFailure::Input)?;
    if let Some(note) = note {
        eprintln!("{name}: {note}");
    }
    for fault in list.faults.iter().take(MAX_SHOWN) {
        eprintln!("{name}:{fault}");
    }
    if !list.faults.is_empty() {
        let faults = list.faults.len();
        let shown = if faults > MAX_SHOWN { format!(", the first {MAX_SHOWN} of them above") } else { String::new() };
        eprintln!("{name}: {faults} invalid lines left out{shown}, {} seeds used", list.seeds.len());
    }
    Ok(list)
}

/// The answers of the search interfaces that the settings name, as seeds.
pub fn searches(settings: &Settings) -> SeedList {
    let seed = |(line, url): (usize, CanonicalUrl)| Seed {
        url,
        weight: settings.search.weight,
        changed_at: None,
        line: line + 1,
    };
    let seeds = settings.search.pages().into_iter().enumerate().map(seed).collect();
    SeedList { seeds, ..SeedList::default() }
}

/// The seeds of a file, and how it was read if that is not plain. The error says what to do instead.
pub(crate) fn seeds_of(name: &str, bytes: &[u8]) -> Result<(SeedList, Option<String>), String> {
    const GZIP: &[u8] = &[0x1f, 0x8b];
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}');
    if bytes.starts_with(GZIP) || text.trim_start().starts_with('<') {
        return Err(no_list(name, bytes));
    }
    let (list, note) = match table::Table::find(name, text) {
        Some(table) => (table.seeds(text), Some(table.to_string())),
        None => (seeds::parse(text), None),
    };
    if list.seeds.is_empty() && !list.faults.is_empty() {
        let shown: Vec<_> = list.faults.iter().take(MAX_SHOWN).map(|fault| format!("  {fault}")).collect();
        return Err(format!(
            "{name}: none of its {} lines has the address of a page; write one URL per line, or CSV whose heading names a column url:\n{}",
            list.faults.len(),
            shown.join("\n")
        ));
    }
    Ok((list, note))
}

/// The refusal of a file of markup, with how to take in its pages.
fn no_list(name: &str, bytes: &[u8]) -> String {
    let file = if name == "-" { "FILE" } else { name };
    let sitemap = sitemaps::read(bytes);
    let count = sitemap.entries.len();
    match sitemap.kind {
        Some(SitemapKind::Index) => format!(
            "{name}: it is an index of {count} sitemaps, and no list of seeds; take in the pages of each with: recrawl sitemap URL --urls | \
             recrawl seed --file -"
        ),
        Some(_) => format!(
            "{name}: it is a sitemap or feed of {count} pages, and no list of seeds; take them in with: recrawl sitemap {file} --urls | recrawl \
             seed --file -"
        ),
        None => format!("{name}: it is markup, and no list of seeds; write one URL per line"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str, text: &str) -> String {
        seeds_of(name, text.as_bytes()).unwrap_err()
    }

    #[test]
    fn a_sitemap_is_refused_with_how_to_take_in_its_pages() {
        let urls = "<urlset><url><loc>https://a.test/1</loc></url><url><loc>https://a.test/2</loc></url></urlset>";
        assert_eq!(
            refused("map.xml", urls),
            "map.xml: it is a sitemap or feed of 2 pages, and no list of seeds; take them in with: recrawl sitemap map.xml --urls | recrawl seed \
             --file -"
        );
        let index = "<sitemapindex><sitemap><loc>https://a.test/1.xml</loc></sitemap></sitemapindex>";
        assert!(refused("-", index).contains("an index of 1 sitemaps"));
        assert!(refused("a.html", "<!doctype html><p>Hello").contains("it is markup"));
    }

    #[test]
    fn a_file_without_any_seed_is_refused_with_its_first_lines() {
        let text: String = (0..30).map(|line| format!("line {line}\n")).collect();
        let refusal = refused("seeds.txt", &text);
        assert!(refusal.starts_with("seeds.txt: none of its 30 lines has the address of a page"), "{refusal}");
        assert_eq!(refusal.lines().count(), 1 + MAX_SHOWN);
        assert!(refusal.contains("\n  line 10: ") && !refusal.contains("line 11:"), "{refusal}");
        assert_eq!(seeds_of("empty", b"# nothing yet\n"), Ok((SeedList::default(), None)));
    }
}
