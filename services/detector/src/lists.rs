//! Reads sitemaps and feeds. They are pages like others, but speak about other pages: they become hints of changed
//! pages and links to new ones for the scheduler. What a list says itself is judged as of any page; one that looks the
//! same to a reader has changed nevertheless when it has a new hint or link.
//!
//! No state is kept for this. The times of the last fetch of the list and of every listed page are in the pages'
//! sketches, which are at hand because a site has one partition.

use crate::DetectorRules;
use crate::links::{self, SITEMAP};
use crate::look::JudgedLook;
use crate::state::PAGES;
use messages::topics::SCHEDULER_EVENTS;
use messages::{ChangeHint, FetchResult, HintKind, Link, Verdict};
use page::{CanonicalUrl, DAY, PageId, Timestamp, UrlRules};
use settings::Settings;
use sitemaps::{Sitemap, SitemapEntry, SitemapKind};
use std::collections::BTreeSet;
use std::time::Duration;
use stream::{Context, ProcessError};

/// The most hints sent per fetch of a list: the latest changes.
const HINTS_PER_LOOK: usize = 1_000;
/// The most links to unknown pages sent per fetch of a list. The rest follow once these are known.
const LINKS_PER_LOOK: usize = 10_000;
/// Tolerance for dates: they may lack a time, be in any time zone, or come from a wrong clock.
const MARGIN: Duration = DAY.saturating_mul(2);
/// The root element of a list is within this many first bytes.
const ROOT_BYTES: usize = 4 << 10;
/// The first bytes of nearly all other pages.
const HTML: [&[u8]; 2] = [b"<!doctype html", b"<html"];
/// Root elements of lists, in lower case.
const ROOTS: [&[u8]; 5] = [b"<urlset", b"<sitemapindex", b"<rss", b"<feed", b":rdf"];

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
}

impl ListedPages {
    /// Reads a body as a list. Returns `None` for any other body, and for kinds that are not read.
    pub(crate) fn read(body: &[u8], rules: &ListRules) -> Option<Self> {
        if !(rules.sitemaps || rules.feeds) || !may_be_list(body) {
            return None;
        }
        let sitemap = sitemaps::read(body);
        let (kind, wanted) = match sitemap.kind? {
            SitemapKind::Urlset | SitemapKind::Index => (HintKind::Sitemap, rules.sitemaps),
            // A plain text counts as a sitemap only if every line is an address.
            SitemapKind::Text => (HintKind::Sitemap, rules.sitemaps && sitemap.problems.is_empty()),
            SitemapKind::Rss | SitemapKind::Atom | SitemapKind::JsonFeed => (HintKind::Feed, rules.feeds),
        };
        wanted.then_some(Self { kind, sitemap })
    }
}

/// A test of the first bytes, so that most pages are not parsed in vain.
fn may_be_list(body: &[u8]) -> bool {
    let is_wide = body.starts_with(b"\xff\xfe") || body.starts_with(b"\xfe\xff");
    let start = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii_start();
    if HTML.into_iter().any(|html| start.get(..html.len()).is_some_and(|head| head.eq_ignore_ascii_case(html))) {
        return false;
    }
    let head = start[..start.len().min(ROOT_BYTES)].to_ascii_lowercase();
    let has = |word: &[u8]| head.windows(word.len()).any(|window| window == word);
    match head.first() {
        Some(b'<') => ROOTS.into_iter().any(has),
        Some(b'{') => has(b"jsonfeed.org"),
        Some(b'h') => head.starts_with(b"http://") || head.starts_with(b"https://"),
        _ => is_wide || body.starts_with(b"\x1f\x8b"),
    }
}

/// The outcome of reading a list.
#[derive(Debug, Default)]
pub(crate) struct ListNews {
    pub(crate) hints: u64,
    /// Hints beyond [`HINTS_PER_LOOK`], not sent.
    pub(crate) left_out: u64,
    /// Entries of other sites, ignored: a list speaks only for its own.
    pub(crate) foreign: u64,
    /// Newly listed pages, if links are followed.
    new: usize,
}

/// The entries of a list that are of its own site.
#[derive(Default)]
struct SiteEntries {
    /// Number of known pages.
    listed: i64,
    /// Pages reported as changed since their last fetch, with the time of the change.
    changed: Vec<(Timestamp, CanonicalUrl)>,
    /// Pages not fetched yet.
    unknown: Vec<CanonicalUrl>,
    /// Unknown pages that may not have been listed before.
    new: usize,
    foreign: u64,
}

/// Sends the scheduler the entries of a list that are new since its last fetch.
pub(crate) fn tell(
    list: &ListedPages,
    result: &FetchResult,
    last_look_at: Option<Timestamp>,
    rules: &DetectorRules,
    context: &mut Context<'_>,
) -> Result<ListNews, ProcessError> {
    let mut said = read_entries(list, result, last_look_at, &rules.urls, context)?;
    said.changed.sort_by(|a, b| b.cmp(a));
    let hints = said.changed.len().min(HINTS_PER_LOOK);
    for (changed_at, url) in &said.changed[..hints] {
        let hint = ChangeHint {
            page_id: url.page_id(),
            url: url.clone(),
            kind: list.kind,
            hinted_at: result.look.fetched_at,
            changed_at: Some(*changed_at),
            source: result.look.url.to_string(),
        };
        context.emit(SCHEDULER_EVENTS, hint);
    }
    let is_index = list.sitemap.kind == Some(SitemapKind::Index);
    let follow = rules.links || (is_index && rules.lists.discover);
    let rel = if is_index { SITEMAP } else { "" };
    let link = |url: CanonicalUrl| Link { url, anchor: String::new(), rel: rel.to_owned() };
    let unknown = said.unknown.into_iter().filter(|_| follow).take(LINKS_PER_LOOK).map(link);
    links::emit(result, unknown, Some((list.kind, said.listed)), context);
    Ok(ListNews {
        hints: hints as u64,
        left_out: (said.changed.len() - hints) as u64,
        foreign: said.foreign,
        new: if follow { said.new } else { 0 },
    })
}

fn read_entries(
    list: &ListedPages,
    result: &FetchResult,
    last_look_at: Option<Timestamp>,
    urls: &UrlRules,
    context: &Context<'_>,
) -> Result<SiteEntries, ProcessError> {
    let address = result.look.answered_by();
    let not_before = last_look_at.map_or(Timestamp::MIN, |look| look - MARGIN);
    let mut said = SiteEntries::default();
    let mut seen: BTreeSet<PageId> = BTreeSet::from([result.look.page_id]);
    for entry in &list.sitemap.entries {
        let Ok(url) = address.join(&entry.url) else { continue };
        let url = urls.apply(url);
        if url.site_key() != result.look.site_key {
            said.foreign += 1;
            continue;
        }
        if !seen.insert(url.page_id()) {
            continue;
        }
        let changed_at = date_of(entry, result.look.fetched_at);
        let is_news = changed_at.is_some_and(|changed_at| changed_at > not_before);
        match last_look_at_page(&url, context)? {
            Some(look) => {
                said.listed += 1;
                said.changed.extend(changed_at.filter(|at| is_news && *at > look).map(|at| (at, url)));
            }
            None => {
                said.new += usize::from(is_news || changed_at.is_none());
                said.unknown.push(url);
            }
        }
    }
    Ok(said)
}

/// The time of the entry's change, at most the time of reading. A date far in the future is ignored.
fn date_of(entry: &SitemapEntry, read_at: Timestamp) -> Option<Timestamp> {
    let date = Timestamp::from_secs(entry.last_modified_s()?);
    (date <= read_at + MARGIN).then(|| date.min(read_at))
}

fn last_look_at_page(url: &CanonicalUrl, context: &Context<'_>) -> Result<Option<Timestamp>, ProcessError> {
    Ok(context.get(PAGES, &url.page_id())?.and_then(|sketch| sketch.last_look_at))
}

impl JudgedLook {
    /// Raises the verdict: a list that looks the same has changed when it says something new of other pages.
    pub(crate) fn judge_list(&mut self, told: &ListNews) {
        let says_something_new = told.hints + told.left_out > 0 || told.new > 0;
        if self.verdict == Verdict::Cosmetic && says_something_new {
            self.verdict = Verdict::Minor;
        }
    }
}
