//! What a page or its host names that could become a page: links, sitemaps, feeds.

use crate::Rules;
use messages::topics::SCHEDULER_EVENTS;
use messages::{FetchResult, HintKind, Link, PageLinks};
use page::CanonicalUrl;
use std::collections::{BTreeMap, HashSet};
use std::iter::Peekable;
use stream::Context;

/// Most links sent on as one record, …
const LINKS_PER_RECORD: usize = 1_000;
/// … and most bytes of them: a page may have a thousand links of 2,000 bytes each. Half of what the topic takes.
const LINK_BYTES_PER_RECORD: usize = 512 << 10;
/// What stands for `rel` where a list is named: a sitemap by robots.txt or an index, …
pub(crate) const SITEMAP: &str = "sitemap";
/// … a feed by a page.
pub(crate) const FEED: &str = "alternate";

/// The links of a page to its own site: those that can become pages.
pub(crate) fn tell_links(result: &FetchResult, page: &document::PageText, rules: &Rules, context: &mut Context<'_>) {
    if page.robots.nofollow {
        return;
    }
    let address = result.look.answered_by();
    let base = page.base.as_deref().and_then(|base| address.join(base).ok());
    let base = base.as_ref().unwrap_or(address);
    let feeds = page.feeds.iter().map(|feed| (feed.as_str(), "", FEED));
    let feeds = feeds.filter(|_| rules.links || (rules.lists.feeds && rules.lists.discover));
    let linked = page.links.iter().filter(|link| rules.links && !link.is_nofollow());
    let mut links = BTreeMap::new();
    // Pages lead to the same places again and again, if only to different parts of them; the first link counts.
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
    emit(result, links.map(|(url, (anchor, rel))| Link { url, anchor, rel }), None, context);
}

/// The sitemaps that robots.txt names, when it was just read.
pub(crate) fn tell_sitemaps(result: &FetchResult, rules: &Rules, context: &mut Context<'_>) {
    let wanted = rules.lists.sitemaps && (rules.links || rules.lists.discover);
    let own = |text: &String| CanonicalUrl::parse(text).ok().filter(|url| url.site_key() == result.look.site_key);
    let link = |url| Link { url, anchor: String::new(), rel: SITEMAP.to_owned() };
    emit(result, result.sitemaps.iter().filter(|_| wanted).filter_map(own).map(link), None, context);
}

/// Sends links of one page in as few records as they fit into; of a list with its kind and the number of known pages in
/// it, also when there are no links: the scheduler is to know for how many pages the list speaks.
pub(crate) fn emit(
    result: &FetchResult,
    links: impl Iterator<Item = Link>,
    list: Option<(HintKind, i64)>,
    context: &mut Context<'_>,
) {
    let mut links = links.peekable();
    if list.is_some() && links.peek().is_none() {
        emit_record(result, Vec::new(), list, context);
    }
    while links.peek().is_some() {
        emit_record(result, next_batch(&mut links), list, context);
    }
}

/// The links that go into the next record; at least one.
fn next_batch(links: &mut Peekable<impl Iterator<Item = Link>>) -> Vec<Link> {
    /// What a link takes besides its texts, at the most.
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

fn emit_record(result: &FetchResult, links: Vec<Link>, list: Option<(HintKind, i64)>, context: &mut Context<'_>) {
    let record = PageLinks {
        source_page_id: result.look.page_id,
        source_url: result.look.url.clone(),
        target_site: result.look.site_key.clone(),
        found_at: result.look.fetched_at,
        links,
        listed: list.map_or(0, |(_, listed)| listed),
        list_kind: list.map(|(kind, _)| kind),
    };
    context.emit(SCHEDULER_EVENTS, record);
}
