//! Sends addresses that could become pages: links, sitemaps, feeds.

use crate::DetectorRules;
use messages::topics::SCHEDULER_EVENTS;
use messages::{FetchResult, Link, PageLinks};
use page::CanonicalUrl;
use std::collections::{BTreeMap, HashSet};
use std::iter::Peekable;
use stream::Context;

/// The most links per record, …
const LINKS_PER_RECORD: usize = 1_000;
/// … and the most bytes: a page may have a thousand links of 2,000 bytes each. Half of the topic's limit.
const LINK_BYTES_PER_RECORD: usize = 512 << 10;

/// Sends the links of a page to its own site, if they can become pages.
pub(crate) fn tell_links(
    result: &FetchResult,
    page: &document::PageText,
    rules: &DetectorRules,
    context: &mut Context<'_>,
) {
    if page.robots.nofollow {
        return;
    }
    let address = result.look.answered_by();
    let base = page.base.as_deref().and_then(|base| address.join(base).ok());
    let base = base.as_ref().unwrap_or(address);
    let feeds = page.feeds.iter().map(|feed| (feed.as_str(), "", Link::FEED));
    // Every post of a blog may name the feed of its comments, so only the front page is heard where no link is followed.
    let is_front = result.look.url.path() == "/";
    let feeds = feeds.filter(|_| rules.links || (is_front && rules.lists.feeds && rules.lists.discover));
    let linked = page.links.iter().filter(|link| rules.links && !link.is_nofollow());
    let mut links = BTreeMap::new();
    // Pages link to the same page repeatedly, often to different parts of it. The first link counts.
    let mut seen = HashSet::new();
    for (href, anchor, rel) in feeds.chain(linked.map(|link| (link.href, link.anchor, link.rel))) {
        if seen.insert(href.trim().split('#').next())
            && let Ok(url) = base.join(href)
            && (url.host_name() == result.look.url.host_name() || url.site_key() == result.look.site_key)
        {
            links.entry(url).or_insert_with(|| (anchor.to_owned(), rel.to_owned()));
        }
    }
    let links = links.into_iter().take(LINKS_PER_RECORD);
    emit(result, links.map(|(url, (anchor, rel))| Link { url, anchor, rel }), context);
}

/// Sends the sitemaps named by robots.txt, if it was just fetched.
pub(crate) fn tell_sitemaps(result: &FetchResult, rules: &DetectorRules, context: &mut Context<'_>) {
    let wanted = rules.lists.sitemaps && (rules.links || rules.lists.discover);
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
    /// The most bytes a link takes besides its texts.
    const FRAME_BYTES: usize = 16;
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
