//! Chooses pages of an archive, divides them in two halves, and takes texts from them.

use crate::draw::Draw;
use crate::editable_page::EditablePage;
use crate::places::Place;
use archives::{Archive, ArchiveError, ArchivedPage};
use chance::splitmix64;
use document::{decode, text_hash};
use std::collections::{BTreeMap, BTreeSet};

/// The most pages of a source that are of one type. HTML has most kinds of places, so it has most pages.
const MAX_HTML_PAGES: usize = 400;
const MAX_OTHER_PAGES: usize = 100;
/// The fewest and the most bytes of a page.
const MIN_BYTES: usize = 150;
const MAX_BYTES: usize = 400_000;
/// Versions of a page that are looked at before the edit.
const VERSIONS: usize = 3;
/// Texts of real pages that other texts are made of.
const TEXTS: usize = 400;

/// The two halves of the pages. Constants are chosen on one and checked on the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Authors of the detector may look at these pages.
    Known,
    /// These are only counted.
    HeldOut,
}

fn host(page: &ArchivedPage) -> &str {
    page.address.split('/').nth(2).unwrap_or_default()
}

/// The half of a page: by the host where the source has several, otherwise by the address.
fn half(page: &ArchivedPage, has_hosts: bool) -> Half {
    let name = if has_hosts { host(page) } else { &page.address };
    // Not the draw of the seed: a page stays in its half.
    if splitmix64(text_hash(name.as_bytes())) & 1 == 0 { Half::Known } else { Half::HeldOut }
}

/// Draws pages from every source, and reads their newest versions.
pub(crate) fn choose(archive: &mut Archive, seed: u64) -> Result<Vec<EditablePage>, ArchiveError> {
    let mut sources: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut strata: BTreeMap<(&str, &str), Vec<&ArchivedPage>> = BTreeMap::new();
    for page in archive.pages().iter().filter(|page| page.has_versions()) {
        sources.entry(&page.source).or_default().insert(host(page));
        strata.entry((&page.source, &page.content_type)).or_default().push(page);
    }
    let mut chosen = Vec::new();
    for ((source, content_type), pages) in &mut strata {
        let has_hosts = sources[source].len() > 1;
        let most = if *content_type == "text/html" { MAX_HTML_PAGES } else { MAX_OTHER_PAGES };
        pages.sort_by_key(|page| Draw::of(seed, &page.address).number());
        let taken = pages.iter().take(most);
        chosen.extend(taken.map(|page| ((*page).clone(), half(page, has_hosts))));
    }
    chosen.sort_unstable_by_key(|(page, _)| page.page_id);
    let mut read = Vec::new();
    for (page, half) in chosen {
        let bodies = archive.newest_versions(&page, VERSIONS)?;
        let text = |body: &Vec<u8>| decode(body, Some(&page.content_type)).text.into_owned();
        let versions: Vec<String> = bodies.iter().map(text).collect();
        if versions.last().is_some_and(|text| (MIN_BYTES..=MAX_BYTES).contains(&text.len())) {
            read.extend(EditablePage::new(page.address, half, &page.content_type, versions));
        }
    }
    Ok(read)
}

/// Paragraphs of the pages, as texts that other pages may say.
pub(crate) fn texts(pages: &[EditablePage], seed: u64) -> Vec<String> {
    let of_page = |page: &EditablePage| {
        let texts = page.places.spots_of(Place::Paragraph).filter_map(|spot| spot.texts.first().cloned());
        let long = texts.map(|range| page.text[range].trim().to_owned()).filter(|text| text.len() >= 60);
        long.take(8).collect::<Vec<_>>()
    };
    let mut texts: Vec<String> = pages.iter().flat_map(of_page).collect();
    texts.sort_by_cached_key(|text| Draw::of(seed, text).number());
    texts.dedup();
    texts.truncate(TEXTS);
    texts
}
