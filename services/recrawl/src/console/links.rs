//! The links of a page: where it leads to by its kept copy, and where it was found.

use super::query::Query;
use super::{ScreenFailure, Source};
use crate::CommandFailure;
use crate::documents;
use crate::kept_copy::{media_type, unpacked};
use detector::{link_base, link_target};
use messages::CopyKind;
use outputs::record::excerpt;
use page::CanonicalUrl;
use serde::Serialize;
use std::collections::BTreeSet;

/// Links on the screen.
const SHOWN: usize = 50;
/// Longest text of a link, in characters.
const ANCHOR: usize = 120;
/// Longest address, in characters.
const ADDRESS: usize = 200;

#[derive(Serialize)]
pub(super) struct PageLinks {
    url: String,
    out: Vec<LinkLine>,
    /// Further links of the page.
    more: usize,
    /// Whether there is a copy that links are read from. Of a text they are not.
    has_body: bool,
    /// The site that the page was found on first.
    found_on: Option<String>,
    depth: i32,
    importance: String,
}

#[derive(Serialize)]
struct LinkLine {
    url: String,
    /// The address, cut if it is long.
    shown: String,
    anchor: String,
    is_own_host: bool,
}

pub(super) fn gather(source: &Source<'_>, query: &str) -> Result<PageLinks, ScreenFailure> {
    let url = Query::read(query, &["url"])?.url(source.settings)?;
    source.permit(&url)?;
    let missing = || CommandFailure::No(format!("{url} is not known"));
    let known = source.state.page(&url)?.page.ok_or_else(missing)?;
    let (links, has_body) = links(source, &url)?;
    Ok(PageLinks {
        more: links.len().saturating_sub(SHOWN),
        out: links.into_iter().take(SHOWN).collect(),
        has_body,
        found_on: known.found_on.map(|found| found.site.to_string()),
        depth: known.depth,
        importance: format!("{:.2}", known.importance),
        url: url.to_string(),
    })
}

/// The links of the kept copy, in their order and each target once, and whether it is one that has links.
fn links(source: &Source<'_>, url: &CanonicalUrl) -> Result<(Vec<LinkLine>, bool), CommandFailure> {
    let Some(copy) = source.state.copy(url)?.filter(|copy| copy.kind == CopyKind::Body) else {
        return Ok((Vec::new(), false));
    };
    let most = usize::try_from(source.settings.fetch.max_body).unwrap_or(usize::MAX);
    let bytes = unpacked(&copy, most)?;
    let page = documents::text(&bytes, media_type(&copy), Some(url.as_str()));
    let base = link_base(url, &page);
    let (rules, mut seen, mut lines) = (source.settings.urls.rules(), BTreeSet::new(), Vec::new());
    for link in page.links.iter() {
        let Some(target) = link_target(&base, link.href, &page) else { continue };
        let target = rules.apply(target);
        if seen.insert(target.to_string()) {
            let is_own_host = target.host_name() == url.host_name();
            lines.push(LinkLine {
                shown: excerpt(target.as_str(), ADDRESS),
                url: target.to_string(),
                anchor: excerpt(link.anchor, ANCHOR),
                is_own_host,
            });
        }
    }
    Ok((lines, true))
}
