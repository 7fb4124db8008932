//! Decides whether a version is the page at all, or something that a server gives in its place: a wall, an error, a
//! shell without text. The signs are the same in every language: nothing of the page's own text is left, its frame and
//! its title are gone, and it is suddenly short. Words ([`crate::stand_in_words`]) name the kind, and count as a sign
//! where they are in the title or in a heading.
//!
//! A page cut to half, a new design with the same texts, and one sentence in place of another are edits.

use crate::page_memory::VersionMemory;
use crate::stand_in_kind::StandIn;
use crate::stand_in_words::{kind_in, kind_of_address, reads_like_an_error};
use crate::unit_texts::STRUCTURED_DATA;
use crate::version::{Unit, UnitKey, Version};
use std::collections::BTreeSet;

/// Error pages are shorter than this.
pub(crate) const MAX_ERROR_PAGE_BYTES: usize = 3_000;
/// A wall that says in its title or a heading what it is may be this long: some list hundreds of partners.
const MAX_NAMED_WALL_BYTES: usize = 16_000;
/// A version with less than this share of the earlier text is suspect if it also reads like an error.
const SHRUNK_SHARE: f64 = 0.7;
/// A version with less than this share of the earlier text is suddenly short.
const SHORT_SHARE: f64 = 0.5;
/// A stand-in has at most one in this many texts of the page.
const LEFT_OF: usize = 10;
/// A frame of fewer units says nothing when it is gone.
const LEAST_FRAME: usize = 3;
/// A page without a frame needs this many texts, so that their loss says something.
const LEAST_TEXTS: usize = 3;
/// The words of a page that is still being built are shorter than this.
const MAX_LOADING_BYTES: usize = 40;

/// The most texts that are searched for words that name a kind.
const MAX_NAMING_TEXTS: usize = 64;

/// How a version arrived.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrival<'a> {
    /// HTTP status of the response, if it is known.
    pub status: Option<u16>,
    /// Whether other pages of the host show the same text now
    /// ([`HostEvents::observe_replacement`](crate::HostEvents::observe_replacement)).
    pub is_wall: bool,
    /// Whether so many of them do that the stand-in is no news of this page
    /// ([`HostEvents::is_everywhere`](crate::HostEvents::is_everywhere)).
    pub is_everywhere: bool,
    /// The address that the page leads to, if it led elsewhere when its last version was accepted
    /// ([`PageState::observe_address`](crate::PageState::observe_address)).
    pub leads_to: Option<&'a str>,
    /// Whether it is a document that could not be read this time, of a page that could be read before.
    pub is_unread: bool,
}

/// A version that may not be the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Suspicion {
    /// `None`: nothing is to be reported of it. The page is there without any of its watched parts, it could not be read, or the
    /// whole host is away.
    pub(crate) looks_like: Option<StandIn>,
}

/// The signs for and against a version that keeps nothing of the page's text. What it says is read only if that matters.
#[derive(Clone, Copy, Debug)]
struct Signs<'a> {
    before: &'a VersionMemory,
    version: &'a Version<'a>,
    /// The texts that are new.
    news: &'a [&'a Unit],
    /// Texts of the accepted version's region.
    texts_before: usize,
    /// Bytes of the region's text before, and of the texts that are new.
    bytes_before: usize,
    new_bytes: usize,
    /// Whether the page had a frame.
    had_frame: bool,
    /// Whether the frame is gone, and there is hardly another.
    is_bare: bool,
    /// Whether title and structured data are gone or others.
    has_other_facts: bool,
    /// The kind that the title, a heading, a form or the address names.
    named: Option<StandIn>,
    /// Whether a redirect leads elsewhere.
    leads_elsewhere: bool,
    /// Whether the server says by its status that this is no usual answer.
    has_odd_status: bool,
}

impl Signs<'_> {
    /// Whether they show that the version is not the page.
    fn show_a_stand_in(&self) -> bool {
        let is_below = |share: f64| (self.new_bytes as f64) < share * self.bytes_before as f64;
        let is_short = is_below(SHORT_SHARE);
        let most = if self.named.is_some() { MAX_NAMED_WALL_BYTES } else { MAX_ERROR_PAGE_BYTES };
        let without_frame = self.is_bare && (self.has_other_facts || is_short || self.named.is_some());
        let never_had_one = || {
            !self.had_frame
                && self.texts_before >= LEAST_TEXTS
                && is_short
                && (self.has_other_facts || self.is_named_in_text())
        };
        let within_frame = self.named.is_some() && (self.has_other_facts || is_short) && self.texts_before > 1;
        let is_worded = || is_below(SHRUNK_SHARE) && self.texts_before > 1 && self.reads_like_an_error();
        self.leads_elsewhere
            || (self.new_bytes < most
                && (self.has_odd_status || without_frame || within_frame || never_had_one() || is_worded()))
    }

    /// Whether any of the new texts names a kind, and none did before.
    fn is_named_in_text(&self) -> bool {
        self.named.is_some()
            || named_in_text(self.version, self.news).is_some_and(|kind| !said_before(self.before, kind))
    }

    /// Whether the wording is that of an error.
    fn reads_like_an_error(&self) -> bool {
        self.version.region_texts().any(reads_like_an_error)
    }
}

/// The last accepted version of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AcceptedPage<'a> {
    pub(crate) version: &'a VersionMemory,
    /// Bytes of its region's text, as remembered.
    pub(crate) bytes: usize,
    /// Whether the page has always led to another one.
    pub(crate) is_pointer: bool,
}

/// Whether a version looks like something served in the page's place. Where parts of the page are watched, it is suspect
/// only if none of them is there: their wording does not matter, for "temporarily unavailable" may be the watched text.
pub(crate) fn suspicion(accepted: AcceptedPage<'_>, version: &Version<'_>, arrival: Arrival<'_>) -> Option<Suspicion> {
    if arrival.is_unread {
        return Some(Suspicion { looks_like: None });
    }
    let before = accepted.version;
    let suspicion = |looks_like| Some(Suspicion { looks_like: Some(looks_like).filter(|_| !arrival.is_everywhere) });
    if version.is_watched() {
        return without_watched_parts(accepted, version, arrival);
    }
    if version.is_feed() || (!arrival.is_wall && keeps_text(before, version)) {
        return None;
    }
    let news = new_texts(before, version);
    let signs = signs(accepted, version, (&news, arrival));
    if arrival.is_wall {
        return suspicion(kind(version, &news, signs.named));
    }
    if signs.texts_before == 0 || keeps_text_exactly(before, version) {
        return None;
    }
    if accepted.bytes > 0 && is_without_text(version, &news, signs.new_bytes) {
        return suspicion(StandIn::Empty);
    }
    if !signs.show_a_stand_in() {
        return None;
    }
    suspicion(kind(version, &news, signs.named))
}

/// None of the watched parts is there. The rest of the page decides whether it is the page.
fn without_watched_parts(accepted: AcceptedPage<'_>, version: &Version<'_>, arrival: Arrival<'_>) -> Option<Suspicion> {
    if version.region_bytes > 0 || accepted.bytes == 0 {
        return None;
    }
    let looks_like = Frame::between(accepted.version, version).is_gone().then(|| {
        let news = new_texts(accepted.version, version);
        match version.units.iter().all(|unit| version.blocks().list[unit.block as usize].part.fact) {
            true => StandIn::Empty,
            false => kind(version, &news, named(version, &news, arrival)),
        }
    });
    Some(Suspicion { looks_like })
}

/// Texts of the region and its structured data.
fn region_texts(before: &VersionMemory) -> impl Iterator<Item = &UnitKey> {
    before.units.iter().filter(|key| key.in_region() && !key.is_link() && !key.is_order())
}

fn is_fact(before: &VersionMemory, key: &UnitKey) -> bool {
    before.texts.find(key.name()).is_some_and(|unit| unit.place == STRUCTURED_DATA)
}

/// Whether more of the page's text is left than an accident leaves. Quick on a page that is mostly the same, where it is
/// known after a few texts; it may say no where [`keeps_text_exactly`] says yes.
fn keeps_text(before: &VersionMemory, version: &Version<'_>) -> bool {
    let texts = region_texts(before).count();
    keeps_more_than(texts / LEFT_OF, before, version)
}

fn keeps_text_exactly(before: &VersionMemory, version: &Version<'_>) -> bool {
    let texts = region_texts(before).filter(|key| !is_fact(before, key)).count();
    keeps_more_than(texts / LEFT_OF, before, version)
}

/// Whether more than this many texts of the region are still on the page.
fn keeps_more_than(texts: usize, before: &VersionMemory, version: &Version<'_>) -> bool {
    // A heading is gone also if it says the same as the title.
    let is_text = |unit: &Unit| !version.blocks().list[unit.block as usize].part.fact;
    let is_there = |key: &&UnitKey| version.find(key.name()).is_some_and(is_text);
    let kept = region_texts(before).filter(|key| is_there(key) && !is_fact(before, key));
    kept.take(texts + 1).count() > texts
}

/// Whether most of the page's text is on this version.
pub(crate) fn keeps_most_text(before: &VersionMemory, version: &Version<'_>) -> bool {
    let texts = region_texts(before).filter(|key| !is_fact(before, key)).count();
    texts > 0 && keeps_more_than(texts / 2, before, version)
}

/// Whether hardly any of the page's text is on this version.
pub(crate) fn keeps_no_text(before: &VersionMemory, version: &Version<'_>) -> bool {
    !keeps_text_exactly(before, version)
}

/// The texts of a version, its facts included, that the accepted version did not have anywhere, in page order.
fn new_texts<'v>(before: &VersionMemory, version: &'v Version<'_>) -> Vec<&'v Unit> {
    let is_known = |key: UnitKey| before.units.binary_search_by_key(&key.name(), |old| old.name()).is_ok();
    let texts = version.units.iter().filter(|unit| !unit.key.is_link() && !unit.key.is_order());
    let mut news: Vec<&Unit> = texts.filter(|unit| !is_known(unit.key)).collect();
    news.sort_unstable_by_key(|unit| unit.block);
    news
}

fn signs<'a>(
    accepted: AcceptedPage<'a>,
    version: &'a Version<'_>,
    (news, arrival): (&'a [&'a Unit], Arrival<'_>),
) -> Signs<'a> {
    let (before, blocks) = (accepted.version, version.blocks());
    let texts = news.iter().map(|unit| &blocks.list[unit.block as usize]).filter(|block| !block.part.fact);
    let named = named(version, news, arrival);
    let frame = Frame::between(before, version);
    let facts: Vec<&UnitKey> = region_texts(before).filter(|key| is_fact(before, key)).collect();
    Signs {
        before,
        version,
        news,
        texts_before: region_texts(before).count() - facts.len(),
        bytes_before: accepted.bytes,
        new_bytes: texts.map(document::blocks::Block::byte_length).sum(),
        had_frame: frame.units >= LEAST_FRAME,
        is_bare: frame.is_gone() && LEFT_OF * frame.units_now <= 3 * frame.units,
        has_other_facts: !facts.is_empty() && !states_any(version, before, &facts),
        named,
        leads_elsewhere: arrival.leads_to.is_some() && (!accepted.is_pointer || named.is_some()),
        has_odd_status: arrival.status.is_some_and(|status| status != 200),
    }
}

/// Whether one of the facts of the accepted version is stated still.
fn states_any(version: &Version<'_>, before: &VersionMemory, facts: &[&UnitKey]) -> bool {
    let blocks = version.blocks();
    let stated = blocks.list.iter().filter(|block| block.part.fact).map(|block| blocks.text(block));
    let stated: BTreeSet<&str> = stated.collect();
    let mut facts = facts.iter().filter_map(|fact| before.texts.find(fact.name()));
    facts.any(|fact| stated.contains(fact.text))
}

/// The texts around the page's region, and how many of them are left.
struct Frame {
    units: usize,
    kept: usize,
    /// Units around the region now.
    units_now: usize,
}

impl Frame {
    fn between(before: &VersionMemory, version: &Version<'_>) -> Self {
        let around = before.units.iter().filter(|key| !key.in_region() && !key.is_order());
        let (units, kept) = around
            .fold((0, 0), |(units, kept), key| (units + 1, kept + usize::from(version.find(key.name()).is_some())));
        let now = version.units.iter().filter(|unit| !unit.key.in_region() && !unit.key.is_order());
        Self { units, kept, units_now: now.count() }
    }

    fn is_gone(&self) -> bool {
        self.units >= LEAST_FRAME && LEFT_OF * self.kept <= self.units
    }
}

/// Whether the version has no text of its own but at most a word that it is still being built.
fn is_without_text(version: &Version<'_>, news: &[&Unit], new_bytes: usize) -> bool {
    let blocks = version.blocks();
    let texts = news.iter().map(|unit| &blocks.list[unit.block as usize]).filter(|block| !block.part.fact);
    let mut texts = texts.map(|block| blocks.text(block));
    new_bytes < MAX_LOADING_BYTES && texts.all(|text| text.ends_with('…') || text.ends_with("..."))
}

/// The kind of version that a form, the title, a heading or the address names.
fn named(version: &Version<'_>, news: &[&Unit], arrival: Arrival<'_>) -> Option<StandIn> {
    let blocks = version.blocks();
    if blocks.asks_password && version.region_bytes < MAX_ERROR_PAGE_BYTES {
        return Some(StandIn::Login);
    }
    let is_title = |block: usize| blocks.stated(block).is_some_and(|stated| stated.property() == "title");
    let names = news.iter().map(|unit| unit.block as usize);
    let mut names = names.filter(|block| blocks.list[*block].heading_rank > 0 || is_title(*block));
    let by_words = names.find_map(|block| kind_in(blocks.text(&blocks.list[block])));
    by_words.or_else(|| arrival.leads_to.and_then(kind_of_address))
}

/// The kind that the first new texts of a short version name.
fn named_in_text(version: &Version<'_>, news: &[&Unit]) -> Option<StandIn> {
    let blocks = version.blocks();
    let texts = news.iter().map(|unit| blocks.text(&blocks.list[unit.block as usize]));
    texts.take(MAX_NAMING_TEXTS).find_map(kind_in)
}

/// Whether the accepted version had words for a kind, as in a link to its rules of privacy. They are no sign then.
fn said_before(before: &VersionMemory, kind: StandIn) -> bool {
    let mut texts = region_texts(before).filter_map(|key| before.texts.find(key.name()));
    texts.any(|unit| kind_in(unit.text) == Some(kind))
}

/// The kind of a stand-in: what it says that it is, else what its words are about.
fn kind(version: &Version<'_>, news: &[&Unit], named: Option<StandIn>) -> StandIn {
    let by_phrase = || version.region_texts().any(reads_like_an_error).then_some(StandIn::Error);
    named.or_else(|| named_in_text(version, news)).or_else(by_phrase).unwrap_or(StandIn::OtherPage)
}

#[cfg(test)]
#[path = "stand_in_tests.rs"]
mod tests;
