//! The links of a page on their way to the accounts of their targets.

use crate::ledger::Given;
use importance::link_value::LinkValue;
use messages::{LinkCash, LinkFocus};
use page::{CanonicalUrl, PageId, SiteKey, Timestamp};

/// The page that links are found on.
pub(crate) struct LinkSource {
    pub(crate) page_id: PageId,
    pub(crate) site: SiteKey,
    pub(crate) depth: i32,
    pub(crate) found_at: Timestamp,
    pub(crate) is_news: bool,
    /// The value that each link adds to the value of the target's site.
    pub(crate) given_value: LinkValue,
    /// The page's relevance to the focuses, without the promises of its links.
    pub(crate) focus: Option<LinkFocus>,
}

/// A link with the cash that it gives.
pub(crate) struct ArrivingLink {
    pub(crate) target: PageId,
    pub(crate) url: CanonicalUrl,
    pub(crate) given: Given,
    /// How well its words fit the focuses. `None` without focuses.
    pub(crate) promise: Option<f32>,
}

/// The contents of a message: the page with the links, and the links.
pub(crate) fn received(mut given: LinkCash) -> (LinkSource, Vec<ArrivingLink>) {
    let promises = given.focus.as_mut().map(|focus| std::mem::take(&mut focus.promises)).unwrap_or_default();
    let source = LinkSource {
        page_id: given.source_page_id,
        site: given.source_site,
        depth: given.source_depth,
        found_at: given.found_at,
        is_news: given.is_news,
        given_value: LinkValue::from_ln(given.source_value_ln),
        focus: given.focus,
    };
    let links = given.links.into_iter().enumerate().map(|(place, link)| ArrivingLink {
        target: link.url.page_id(),
        url: link.url,
        given: Given { cash: link.cash, trust: given.trust.get(place).copied().unwrap_or(0.0) },
        promise: promises.get(place).copied(),
    });
    (source, links.collect())
}
