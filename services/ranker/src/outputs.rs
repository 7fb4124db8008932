//! Messages of the ranker, in as few records as their topics allow. A record that its topic refuses would set the look aside
//! after its cash was handed on.

use crate::links::{ArrivingLink, LinkSource};
use messages::topics::{RANKER_EVENTS, SCHEDULER_EVENTS};
use messages::{CashLink, LinkCash, LinkFocus, LinkedSite, RankedPage, RankedPages};
use page::SiteKey;
use stream::Context;

/// Bytes of links after which a record ends: half of what the scheduler's topic takes.
const BYTES_PER_RECORD: usize = 512 << 10;
/// Bytes that a link takes beside its address, at most.
const FRAME_BYTES: usize = 24;

/// Sends the scheduler of a site its pages.
pub(crate) fn notify_scheduler(source: &LinkSource, site: &SiteKey, pages: Vec<RankedPage>, context: &mut Context<'_>) {
    for pages in parts(pages, |page| page.url.as_str().len()) {
        let ranked = RankedPages {
            site_key: site.clone(),
            source_page_id: Some(source.page_id),
            source_site: Some(source.site.clone()),
            found_at: source.found_at,
            is_news: source.is_news,
            pages,
        };
        context.emit(SCHEDULER_EVENTS, ranked);
    }
}

/// Sends the links to pages of another site there, with their cash.
pub(crate) fn send_cash(
    source: &LinkSource,
    target_site: &SiteKey,
    links: Vec<ArrivingLink>,
    context: &mut Context<'_>,
) {
    for links in parts(links, |link| link.url.as_str().len()) {
        let promises = links.iter().filter_map(|link| link.promise).collect();
        let has_trust = links.iter().any(|link| link.given.trust != 0.0);
        let trust = if has_trust { links.iter().map(|link| link.given.trust).collect() } else { Vec::new() };
        let cash = LinkCash {
            target_site: target_site.clone(),
            source_page_id: source.page_id,
            source_site: source.site.clone(),
            source_depth: source.depth,
            found_at: source.found_at,
            is_news: source.is_news,
            source_value_ln: source.given_value.ln(),
            links: links.into_iter().map(|link| CashLink { url: link.url, cash: link.given.cash }).collect(),
            focus: source.focus.clone().map(|focus| LinkFocus { promises, ..focus }),
            trust,
            repeated_links: 0,
        };
        context.emit(RANKER_EVENTS, cash);
    }
}

/// Sends a site of another partition word of links to it that count again.
pub(crate) fn send_repeated_links(source: &LinkSource, to: LinkedSite, context: &mut Context<'_>) {
    let cash = LinkCash {
        target_site: to.site,
        source_page_id: source.page_id,
        source_site: source.site.clone(),
        source_depth: source.depth,
        found_at: source.found_at,
        is_news: false,
        source_value_ln: source.given_value.ln(),
        links: Vec::new(),
        focus: None,
        trust: Vec::new(),
        repeated_links: to.links,
    };
    context.emit(RANKER_EVENTS, cash);
}

/// Cuts links into the parts that fit into a record each. Without links there is no part.
fn parts<T>(links: Vec<T>, address_bytes: impl Fn(&T) -> usize) -> Vec<Vec<T>> {
    let (mut parts, mut bytes) = (Vec::<Vec<T>>::new(), 0);
    for link in links {
        let more = address_bytes(&link) + FRAME_BYTES;
        match parts.last_mut().filter(|_| bytes + more <= BYTES_PER_RECORD) {
            Some(part) => part.push(link),
            None => {
                bytes = 0;
                parts.push(vec![link]);
            }
        }
        bytes += more;
    }
    parts
}
