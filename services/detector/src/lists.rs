//! Reads sitemaps and feeds. They are pages like others, but speak about other pages: the scheduler receives when each
//! known page changed last, and links to new ones. The list itself is judged like any page; one that looks the
//! same to a reader has changed nevertheless when it has a new hint or link.
//!
//! The times of the last fetch of the list and of every listed page are in the pages' sketches, which are at hand because a
//! site has one partition. All that is kept of a list is the date of each page, there, too: the next look at the page
//! shows whether it was right.

use crate::DetectorRules;
use crate::links;
use crate::look::JudgedLook;
use crate::state::{PAGES, PageSketch};
use messages::topics::SCHEDULER_EVENTS;
use messages::{FetchResult, HintKind, Link, ListedPage, SiteListing, Verdict};
use page::{CanonicalUrl, DAY, HOUR, PageId, Timestamp};
use settings::Settings;
use sitemaps::{Sitemap, SitemapEntry, SitemapKind};
use std::collections::BTreeSet;
use std::time::Duration;
use stream::{Context, ProcessError};

/// The most pages per record, …
const PAGES_PER_RECORD: usize = 1_000;
/// … and the most bytes: addresses may have 2,000 bytes each. Half of the topic's limit.
const BYTES_PER_RECORD: usize = 512 << 10;
/// The most bytes of links to unknown pages per fetch of a list, beyond those of the list itself. All of them are sent at
/// once: a list that stays the same is not read again. Only relative addresses can take more than the list.
const SPARE_LINK_BYTES: usize = 1 << 20;
/// The most dates per fetch of a list that replace one that no look has judged yet.
const REPLACED_DATES: usize = 1_000;
/// Tolerance for dates, which may come from a wrong clock.
const MARGIN: Duration = DAY.saturating_mul(2);
/// A day without a time zone is over everywhere this long after it is over in UTC.
const LAST_TIME_ZONE: Duration = HOUR.saturating_mul(12);
/// Root elements of lists, in lower case and without prefix.
const ROOTS: [&[u8]; 5] = [b"urlset", b"sitemapindex", b"rss", b"feed", b"rdf"];

/// Which lists are read.
#[derive(Clone, Debug)]
pub(crate) struct ListRules {
    pub(crate) sitemaps: bool,
    pub(crate) feeds: bool,
    /// Whether lists named by pages or robots.txt are discovered.
    pub(crate) discover: bool,
}

impl ListRules {
    pub(crate) fn new(settings: &Settings) -> Self {
        let settings::Hints { sitemaps, feeds, discover, .. } = settings.hints;
        Self { sitemaps, feeds, discover }
    }
}

/// A body read as a list.
pub(crate) struct ListedPages {
    kind: HintKind,
    sitemap: Sitemap,
    /// Length of the body.
    bytes: usize,
}

impl ListedPages {
    /// Reads a body as a list. Returns `None` for any other body, and for kinds that are not read.
    pub(crate) fn read(body: &[u8], address: &CanonicalUrl, rules: &ListRules) -> Option<Self> {
        if !(rules.sitemaps || rules.feeds) || !may_be_list(body) {
            return None;
        }
        let sitemap = sitemaps::read_at(body, Some(address));
        let (kind, wanted) = match sitemap.kind? {
            SitemapKind::Urlset | SitemapKind::Index => (HintKind::Sitemap, rules.sitemaps),
            // A plain text counts as a sitemap only if every line is an address.
            SitemapKind::Text => (HintKind::Sitemap, rules.sitemaps && sitemap.problems.is_empty()),
            SitemapKind::Rss | SitemapKind::Atom | SitemapKind::JsonFeed => (HintKind::Feed, rules.feeds),
        };
        wanted.then_some(Self { kind, sitemap, bytes: body.len() })
    }
}

/// A test of the start, so that most pages are not parsed in vain.
fn may_be_list(body: &[u8]) -> bool {
    let is_wide = body.starts_with(b"\xff\xfe") || body.starts_with(b"\xfe\xff");
    let start = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii_start();
    let begins_with = |text: &[u8]| start.get(..text.len()).is_some_and(|head| head.eq_ignore_ascii_case(text));
    match start.first() {
        Some(b'<') => root_name(start).is_some_and(|name| ROOTS.iter().any(|root| name.eq_ignore_ascii_case(root))),
        // The version of a feed may come behind its items.
        Some(b'{') => memchr::memmem::find(start, b"jsonfeed.org").is_some(),
        Some(b'h' | b'H') => begins_with(b"http://") || begins_with(b"https://"),
        _ => is_wide || body.starts_with(b"\x1f\x8b"),
    }
}

/// The local name of the first element, behind comments, instructions and the document type.
fn root_name(mut xml: &[u8]) -> Option<&[u8]> {
    loop {
        let end = match xml.trim_ascii_start() {
            comment @ [b'<', b'!', b'-', b'-', ..] => comment.get(memchr::memmem::find(comment, b"-->")? + 3..),
            [b'<', b'?', rest @ ..] => rest.get(memchr::memmem::find(rest, b"?>")? + 2..),
            [b'<', b'!', rest @ ..] => {
                // Its own declarations are in brackets.
                let end = memchr::memchr2(b'[', b'>', rest)?;
                let rest = if rest[end] == b'[' { &rest[memchr::memchr(b']', rest)?..] } else { rest };
                rest.get(memchr::memchr(b'>', rest)? + 1..)
            }
            [b'<', rest @ ..] => {
                let ends_name = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>');
                let name = &rest[..rest.iter().position(ends_name)?];
                return name.rsplit(|byte| *byte == b':').next();
            }
            _ => return None,
        };
        xml = end?;
    }
}

/// The outcome of reading a list.
#[derive(Debug, Default)]
pub(crate) struct ListNews {
    /// Pages that the list dates after their last fetch.
    pub(crate) hints: u64,
    /// Entries of other sites, ignored: a list speaks only for its own.
    pub(crate) foreign: u64,
    /// Newly listed pages, if links are followed.
    new: usize,
    /// Unknown pages beyond the most bytes of links.
    pub(crate) left_out: u64,
}

/// The entries of a list that are of its own site.
#[derive(Default)]
struct SiteEntries {
    /// Number of known pages.
    listed: i64,
    /// Known pages with a date.
    dated: Vec<ListedPage>,
    /// Those of the dated pages that are reported as changed since their last fetch.
    hints: u64,
    /// Pages not fetched yet, and sitemaps among them, as far as they are followed.
    unknown: Vec<Link>,
    /// Bytes of their addresses.
    unknown_bytes: usize,
    /// Unknown pages that are not followed.
    untaken: i64,
    /// Unknown pages that may not have been listed before.
    new: usize,
    foreign: u64,
    left_out: u64,
}

impl SiteEntries {
    fn add_unknown(&mut self, url: CanonicalUrl, rel: &str, most_bytes: usize) {
        self.unknown_bytes += url.as_str().len();
        match self.unknown_bytes <= most_bytes {
            true => self.unknown.push(Link { url, anchor: String::new(), rel: rel.to_owned() }),
            false => self.left_out += 1,
        }
    }
}

/// Sends the scheduler the entries of a list that are new since its last fetch.
pub(crate) fn report(
    list: &ListedPages,
    result: &FetchResult,
    last_look_at: Option<Timestamp>,
    rules: &DetectorRules,
    context: &mut Context<'_>,
) -> Result<ListNews, ProcessError> {
    let mut said = read_entries(list, result, last_look_at, rules, context)?;
    emit(list.kind, result, last_look_at, &mut said, context);
    links::emit(result, said.unknown.into_iter(), context);
    Ok(ListNews { hints: said.hints, foreign: said.foreign, new: said.new, left_out: said.left_out })
}

/// Sends the scheduler the list's dates of known pages. An empty listing is sent, too, because the scheduler must know
/// how many pages the list covers.
fn emit(
    kind: HintKind,
    result: &FetchResult,
    previous_read_at: Option<Timestamp>,
    said: &mut SiteEntries,
    context: &mut Context<'_>,
) {
    let (listed, untaken) = (said.listed, said.untaken);
    let mut pages = std::mem::take(&mut said.dated).into_iter().peekable();
    let mut is_first = true;
    while is_first || pages.peek().is_some() {
        let (mut record, mut bytes) = (Vec::new(), 0);
        while let Some(page) = pages.next_if(|page| {
            bytes += page.url.as_str().len() + size_of::<ListedPage>();
            record.len() < PAGES_PER_RECORD && (record.is_empty() || bytes <= BYTES_PER_RECORD)
        }) {
            record.push(page);
        }
        let listing = SiteListing {
            list_page_id: result.look.page_id,
            site_key: result.look.site_key.clone(),
            kind,
            read_at: result.look.fetched_at,
            previous_read_at,
            listed,
            untaken,
            is_first,
            is_last: pages.peek().is_none(),
            pages: record,
        };
        context.emit(SCHEDULER_EVENTS, listing);
        is_first = false;
    }
}

fn read_entries(
    list: &ListedPages,
    result: &FetchResult,
    last_look_at: Option<Timestamp>,
    rules: &DetectorRules,
    context: &mut Context<'_>,
) -> Result<SiteEntries, ProcessError> {
    let address = result.look.answered_by();
    let not_before = last_look_at.map_or(Timestamp::MIN, |look| look - MARGIN);
    let most_bytes = list.bytes + SPARE_LINK_BYTES;
    let mut said = SiteEntries::default();
    let mut replaced = 0;
    let mut seen: BTreeSet<PageId> = BTreeSet::from([result.look.page_id]);
    for entry in &list.sitemap.entries {
        let Ok(url) = address.join(&entry.url) else { continue };
        let url = rules.urls.apply(url);
        if url.site_key() != result.look.site_key {
            said.foreign += 1;
            continue;
        }
        if !seen.insert(url.page_id()) {
            continue;
        }
        let dates = dates_of(entry, result.look.fetched_at);
        let is_news = dates.is_some_and(|(_, until)| until > not_before);
        let known = context.get(PAGES, &url.page_id())?;
        match known.and_then(|sketch| Some((sketch.last_look_at?, sketch))) {
            Some((look, sketch)) => {
                said.listed += 1;
                if let Some((changed_from, changed_until)) = dates {
                    if changed_from == changed_until {
                        let may_replace = replaced < REPLACED_DATES;
                        let is_new = note_date(url.page_id(), sketch, look, changed_from, may_replace, context);
                        replaced += usize::from(!is_new);
                    }
                    said.hints += u64::from(is_news && changed_from > look);
                    said.dated.push(ListedPage { url, changed_from, changed_until });
                }
            }
            None if rules.follows_links() || (entry.is_sitemap && rules.lists.discover) => {
                said.new += usize::from(is_news || dates.is_none());
                said.add_unknown(url, if entry.is_sitemap { Link::INDEXED_SITEMAP } else { "" }, most_bytes);
            }
            None => said.untaken += 1,
        }
    }
    Ok(said)
}

/// The earliest and the latest time of the entry's change. A time is at most that of reading; a day without a time ends
/// when it is over everywhere. A date far in the future is ignored.
fn dates_of(entry: &SitemapEntry, read_at: Timestamp) -> Option<(Timestamp, Timestamp)> {
    let date = Timestamp::from_secs(entry.last_modified_s()?);
    let from = (date <= read_at + MARGIN).then(|| date.min(read_at))?;
    let open = Duration::from_secs(entry.last_modified_open_s.max(0) as u64);
    Some((from, if open.is_zero() { from } else { date + open + LAST_TIME_ZONE }))
}

/// Notes the date for the page's next look, which shows whether it was right. Returns `false` for a date that replaces one
/// that no look has judged yet, and was noted only if `may_replace`: a list that dates every page today must not cost an
/// update of every page.
fn note_date(
    id: PageId,
    sketch: PageSketch,
    look: Timestamp,
    changed_at: Timestamp,
    may_replace: bool,
    context: &mut Context<'_>,
) -> bool {
    let is_pending = sketch.listed_change_at.is_some_and(|noted| noted > look);
    if sketch.listed_change_at == Some(changed_at) {
        return true;
    }
    if may_replace || !is_pending {
        context.put(PAGES, &id, &PageSketch { listed_change_at: Some(changed_at), ..sketch });
    }
    !is_pending
}

impl JudgedLook {
    /// Raises the verdict: a list that looks the same has changed when it says something new of other pages.
    pub(crate) fn judge_list(&mut self, reported: &ListNews) {
        let says_something_new = reported.hints > 0 || reported.new > 0;
        if self.verdict == Verdict::Cosmetic && says_something_new {
            self.verdict = Verdict::Minor;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_known_by_its_root_whatever_is_before_it() {
        let long = format!("<!-- {} -->", "words ".repeat(2_000));
        for list in [
            "<urlset>",
            "<sm:urlset xmlns:sm='x'>",
            "<sit:sitemapindex/>",
            "<a:feed>",
            "<RSS version='2.0'>",
            "<rdf:RDF>",
            "\u{feff}\n<?xml version='1.0'?>\n<!-- <html> -->\n<urlset>",
            &format!("{long}<urlset>"),
            "<!DOCTYPE rss [<!ENTITY nbsp ' '>\n<!ENTITY x '>'>]>\n<rss>",
            "<!DOCTYPE rss SYSTEM 'x'><rss>",
            "HTTPS://a.test/",
            "{\"items\": [], \"version\": \"https://jsonfeed.org/version/1.1\"}",
        ] {
            assert!(may_be_list(list.as_bytes()), "{}", &list[..list.len().min(80)]);
        }
        for page in [
            "<!doctype html><html>",
            "<p><rss>",
            "<urlsets>",
            "<x:feedback>",
            "<!-- <rss>",
            "<?xml <rss>",
            "",
            "<",
            "{}",
        ] {
            assert!(!may_be_list(page.as_bytes()), "{page}");
        }
    }
}
