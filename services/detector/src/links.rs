//! Sends addresses that could become pages: links, sitemaps, feeds.

use crate::DetectorRules;
use crate::read_page::ReadPage;
use messages::topics::{RANKER_EVENTS, SCHEDULER_EVENTS};
use messages::{FetchResult, Link, PageLinks, PageOutLinks};
use page::CanonicalUrl;
use scope::Decision;
use settings::Discover;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::iter::Peekable;
use stream::Context;

/// The most links of a page that are followed.
pub const LINKS_PER_PAGE: usize = 10_000;
/// The most bytes of these links. Below the limit of the ranker's topic.
const LINK_BYTES_PER_PAGE: usize = 3 << 20;
/// The most bytes a link takes besides its texts.
const FRAME_BYTES: usize = 16;
/// The most links per record.
const LINKS_PER_RECORD: usize = 1_000;
/// The most bytes per record: a page may have a thousand links of 2,000 bytes each. Half of the topic's limit.
const LINK_BYTES_PER_RECORD: usize = 512 << 10;

/// Sends the feeds that a page names, if they are on its site.
pub(crate) fn send_feeds(
    result: &FetchResult,
    page: &document::PageText,
    rules: &DetectorRules,
    context: &mut Context<'_>,
) {
    // Every post of a blog may name the feed of its comments, so where no link is followed only the front page's feeds count.
    let is_front = result.look.url.path() == "/";
    let is_received = rules.follows_links() || (is_front && rules.lists.feeds && rules.lists.discover);
    if page.robots.nofollow || !is_received {
        return;
    }
    let base = base_of(result, page);
    let own = |url: &CanonicalUrl| url.site_key() == result.look.site_key;
    let feeds: BTreeSet<_> = page.feeds.iter().filter_map(|feed| base.join(feed).ok()).filter(own).collect();
    let link = |url| Link { url, anchor: String::new(), rel: Link::FEED.to_owned() };
    emit(result, feeds.into_iter().map(link), context);
}

/// Sends the ranker the links of a page that may be followed, and the relevance of the page and its links to the
/// focuses. Returns how many links were left out because there are too many.
pub(crate) fn send_links(
    result: &FetchResult,
    read: &ReadPage,
    is_first_look: bool,
    rules: &DetectorRules,
    context: &mut Context<'_>,
) -> u64 {
    let page = read.text();
    let base = base_of(result, page);
    let source = &result.look.url;
    let canonical = page.canonical.as_deref().and_then(|canonical| base.join(canonical).ok());
    let canonical = canonical.map(|url| rules.urls.apply(url)).filter(|canonical| canonical != source);
    let followed = page.links.iter().filter(|link| !page.robots.nofollow && !link.is_nofollow());
    let followed = followed.map(|link| (link.href, link.anchor, link.rel));
    // A copy hands all that it is worth to the page that it is a copy of.
    let named = canonical.as_ref().map(|canonical| (canonical.as_str(), "", "canonical"));
    let is_copy = named.is_some();
    let (mut links, mut bytes, mut left_out) = (BTreeMap::new(), 0, 0);
    // Pages link to the same page repeatedly, often to different parts of it. The first link counts.
    let mut seen = HashSet::new();
    for (href, anchor, rel) in named.into_iter().chain(followed.filter(|_| !is_copy)) {
        if !seen.insert(href.trim().split('#').next()) {
            continue;
        }
        let Ok(url) = base.join(href) else { continue };
        let url = rules.urls.apply(url);
        if url == *source || !may_follow(source, &url, rules) || links.contains_key(&url) {
            continue;
        }
        bytes += url.as_str().len() + anchor.len() + rel.len() + FRAME_BYTES;
        if links.len() == LINKS_PER_PAGE || bytes > LINK_BYTES_PER_PAGE {
            left_out += 1;
            continue;
        }
        links.insert(url, (anchor.to_owned(), rel.to_owned()));
    }
    let links: Vec<Link> = links.into_iter().map(|(url, (anchor, rel))| Link { url, anchor, rel }).collect();
    let links = PageOutLinks {
        source_page_id: result.look.page_id,
        source_url: source.clone(),
        found_at: result.look.fetched_at,
        is_first_look,
        is_unwanted: is_copy || page.robots.noindex,
        text_hash: hash_without_digits(&page.text),
        focus: rules.focuses.judge(result, read, &links),
        links,
    };
    context.emit(RANKER_EVENTS, links);
    left_out
}

/// Whether the operator wants a link followed.
fn may_follow(source: &CanonicalUrl, url: &CanonicalUrl, rules: &DetectorRules) -> bool {
    let is_near = match rules.discover {
        Discover::None => false,
        Discover::SameHost => url.host() == source.host(),
        Discover::SameSite => url.site_key() == source.site_key(),
        Discover::Anywhere => true,
    };
    // The scheduler counts and refuses addresses of which the rule is unknown.
    let is_wanted = || match rules.scope.decide(url) {
        Decision::Unknown(_) => true,
        decision => decision.allows(),
    };
    is_near && rules.urls.check(url).is_ok() && is_wanted()
}

/// The address that relative links of a page are resolved against.
fn base_of(result: &FetchResult, page: &document::PageText) -> CanonicalUrl {
    let address = result.look.answered_by();
    page.base.as_deref().and_then(|base| address.join(base).ok()).unwrap_or_else(|| address.clone())
}

fn hash_without_digits(text: &str) -> i64 {
    let characters: String = text.chars().filter(|sign| !sign.is_numeric()).collect();
    document::text_hash(characters.as_bytes()) as i64
}

/// Sends the sitemaps named by robots.txt, if it was just fetched.
pub(crate) fn send_sitemaps(result: &FetchResult, rules: &DetectorRules, context: &mut Context<'_>) {
    let wanted = rules.lists.sitemaps && (rules.follows_links() || rules.lists.discover);
    let own = |text: &String| CanonicalUrl::parse(text).ok().filter(|url| url.site_key() == result.look.site_key);
    let link = |url| Link { url, anchor: String::new(), rel: Link::SITEMAP.to_owned() };
    emit(result, result.sitemaps.iter().filter(|_| wanted).filter_map(own).map(link), context);
}

/// Sends the links of one page in as few records as possible.
pub(crate) fn emit(result: &FetchResult, links: impl Iterator<Item = Link>, context: &mut Context<'_>) {
    let mut links = links.peekable();
    while links.peek().is_some() {
        let record = PageLinks {
            source_page_id: result.look.page_id,
            source_url: result.look.url.clone(),
            target_site: result.look.site_key.clone(),
            found_at: result.look.fetched_at,
            links: next_batch(&mut links),
        };
        context.emit(SCHEDULER_EVENTS, record);
    }
}

/// Takes the links of the next record; at least one.
fn next_batch(links: &mut Peekable<impl Iterator<Item = Link>>) -> Vec<Link> {
    let size = |link: &Link| link.url.as_str().len() + link.anchor.len() + link.rel.len() + FRAME_BYTES;
    let (mut batch, mut bytes) = (Vec::new(), 0);
    while let Some(link) = links.next_if(|link| {
        batch.is_empty() || (batch.len() < LINKS_PER_RECORD && bytes + size(link) <= LINK_BYTES_PER_RECORD)
    }) {
        bytes += size(&link);
        batch.push(link);
    }
    batch
}
