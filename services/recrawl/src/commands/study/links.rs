//! Links of the pages of a crawl, counted in the copies that are kept as received.

use super::StudiedPage;
use crate::{CommandFailure, documents};
use ::page::{CanonicalUrl, PageId, UrlRules};
use messages::{CopyKind, PageContent, body};
use operate::CrawlState;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// Copies whose links are read.
const MOST_COPIES: u64 = 5_000;
/// After so many copies without any that is kept as received, there is none.
const TEXTS_WITHOUT_BODY: u64 = 100;
/// The most bytes of a copy.
const MAX_COPY_BYTES: usize = 8 << 20;

/// Links by page.
#[derive(Debug, Default)]
pub(super) struct LinkCounts {
    /// Other pages that each page links to, whether they are crawled or not.
    pub(super) out: Vec<u64>,
    /// Pages among these that link to each page of the sample. Those without any are left out.
    pub(super) into: BTreeMap<PageId, u64>,
    /// Whether the links of all pages of the sample were read, so that none between them is missing.
    pub(super) is_whole: bool,
    /// Copies that cannot be read.
    pub(super) unreadable: u64,
}

impl LinkCounts {
    /// Reads the copies. `rules` are those by which several addresses are one page.
    pub(super) fn read(
        state: &dyn CrawlState,
        pages: &BTreeMap<PageId, StudiedPage>,
        rules: &UrlRules,
    ) -> Result<Self, CommandFailure> {
        let (mut counts, mut texts) = (Self::default(), 0);
        let flow = state.each_copy(&mut |copy, _| {
            let id = copy.url.page_id();
            if copy.kind == CopyKind::Text {
                texts += 1;
            } else if pages.contains_key(&id) {
                counts.add(&copy, id, pages, rules);
            }
            let has_none = counts.out.is_empty() && texts >= TEXTS_WITHOUT_BODY;
            let is_full = counts.out.len() as u64 >= MOST_COPIES;
            Ok(if has_none || is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        counts.is_whole = flow.is_continue() && counts.out.len() == pages.len();
        Ok(counts)
    }

    fn add(&mut self, copy: &PageContent, id: PageId, pages: &BTreeMap<PageId, StudiedPage>, rules: &UrlRules) {
        let Ok(body) = body::unpack(&copy.content, MAX_COPY_BYTES) else {
            self.unreadable += 1;
            return;
        };
        let reading = documents::read(&body, copy.content_type.as_deref(), Some(copy.url.as_str()));
        let targets: BTreeSet<PageId> = reading
            .links
            .iter()
            .filter_map(|link| CanonicalUrl::parse(&link.url).ok().map(|url| rules.apply(url).page_id()))
            .filter(|target| *target != id)
            .collect();
        self.out.push(targets.len() as u64);
        for target in targets.into_iter().filter(|target| pages.contains_key(target)) {
            *self.into.entry(target).or_default() += 1;
        }
    }
}
