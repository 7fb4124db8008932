//! What a page or its host names that could become a page: links, sitemaps, feeds.

use crate::{Rules, SCHEDULER_EVENTS};
use messages::{FetchResult, HintKind, Link, PageLinks, SchedulerEvent};
use page::CanonicalUrl;
use std::collections::{BTreeMap, HashSet};
use stream::Context;

/// Most links sent on as one record.
pub(crate) const LINKS_PER_RECORD: usize = 1_000;
/// What stands for `rel` where a list is named: a sitemap by robots.txt or an index, …
pub(crate) const SITEMAP: &str = "sitemap";
/// … a feed by a page.
pub(crate) const FEED: &str = "alternate";

/// The links of a page to its own site: those that can become pages.
pub(crate) fn tell_links(result: &FetchResult, page: &change::PageText, rules: &Rules, context: &mut Context<'_>) {
    if page.robots.nofollow {
        return;
    }
    let address = result.final_url.as_ref().unwrap_or(&result.url);
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
            && (url.host_name() == result.url.host_name() || url.site_key() == result.site_key)
        {
            links.entry(url).or_insert_with(|| (anchor.to_owned(), rel.to_owned()));
        }
    }
    let links = links.into_iter().take(LINKS_PER_RECORD);
    let links: Vec<_> = links.map(|(url, (anchor, rel))| Link { url, anchor, rel }).collect();
    if !links.is_empty() {
        emit(result, links, None, context);
    }
}

/// The sitemaps that robots.txt names, when it was just read.
pub(crate) fn tell_sitemaps(result: &FetchResult, rules: &Rules, context: &mut Context<'_>) {
    let wanted = rules.lists.sitemaps && (rules.links || rules.lists.discover);
    let own = |text: &String| CanonicalUrl::parse(text).ok().filter(|url| url.site_key() == result.site_key);
    let link = |url| Link { url, anchor: String::new(), rel: SITEMAP.to_owned() };
    let links: Vec<_> = result.sitemaps.iter().filter(|_| wanted).filter_map(own).map(link).collect();
    if !links.is_empty() {
        emit(result, links, None, context);
    }
}

/// Sends links of one page as one record; of a list with its kind and the number of known pages in it.
pub(crate) fn emit(result: &FetchResult, links: Vec<Link>, list: Option<(HintKind, i64)>, context: &mut Context<'_>) {
    let record = PageLinks {
        source_page_id: result.page_id,
        source_url: result.url.clone(),
        target_site: result.site_key.clone(),
        found_at: result.fetched_at,
        links,
        listed: list.map_or(0, |(_, listed)| listed),
        list_kind: list.map(|(kind, _)| kind),
    };
    context.emit(SCHEDULER_EVENTS, result.site_key.as_str(), SchedulerEvent::Links(record).encode());
}
