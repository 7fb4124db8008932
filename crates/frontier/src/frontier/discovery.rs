//! How pages become known, and what operators say of them.

use super::Frontier;
use crate::hint_record::place_of;
use crate::page_record::ScheduledPage;
use messages::{ChangeBelief, Link, MirrorLetter, PageLinks};
use page::{CanonicalUrl, Host, PageId, Timestamp};
use settings::Discover;

impl Frontier {
    /// The page that an operator or a link means, by the rules for addresses.
    pub fn canonical(&self, url: &CanonicalUrl) -> CanonicalUrl {
        self.rules.urls.apply(url.clone())
    }

    /// A page becomes known; `None` when the frontier is full.
    pub fn discover(&mut self, url: CanonicalUrl, weight: f64, depth: i32, now: Timestamp) -> Option<ScheduledPage> {
        if self.pages.pages() as u64 >= self.rules.max_pages {
            self.counts.refused_pages += 1;
            return None;
        }
        let first_attempt = self.first_attempt(&url, now);
        let prior = ChangeBelief::new(self.rules.prior.alpha(), self.rules.prior.beta_days());
        let id = url.page_id();
        let page = ScheduledPage::new(url, weight, depth, prior, first_attempt, now);
        let slot = self.set(id, &page);
        self.plan_for(slot, &page, now);
        Some(page)
    }

    /// The number from which requests for a new page are counted.
    ///
    /// The page may have been known before and forgotten. The detector still knows its last number then and would take
    /// lower ones for repeats, so every life counts on from its own beginning in microseconds: no page is fetched so often
    /// that an earlier life could have come so far. The clock may have been set back since: what it has been is kept in
    /// the numbers of the other pages and, also for the next start, in the host's next permitted time.
    fn first_attempt(&mut self, url: &CanonicalUrl, now: Timestamp) -> i64 {
        let number = self.hosts.number(&url.host());
        let latest = now.max(self.hosts.gate(number).next_permitted_at);
        latest.as_micros().max(self.pages.highest_attempt())
    }

    /// Links of a known page. Returns the pages that became known by them.
    pub fn take_links(&mut self, links: &PageLinks, source: &mut ScheduledPage, now: Timestamp) -> Vec<ScheduledPage> {
        if let Some(kind) = links.list_kind {
            (source.listed, source.list_kind) = (links.listed, place_of(kind) as i32);
            self.set(links.source_page_id, source);
        }
        let depth = source.depth.saturating_add(1);
        if depth as u32 > self.rules.max_depth {
            self.counts.refused_pages += links.links.len() as u64;
            return Vec::new();
        }
        links.links.iter().filter_map(|link| self.follow(link, source, depth, now)).collect()
    }

    fn follow(&mut self, link: &Link, source: &ScheduledPage, depth: i32, now: Timestamp) -> Option<ScheduledPage> {
        let wanted = match self.rules.discover {
            Discover::None => false,
            Discover::SameHost => link.url.host() == source.url.host(),
            Discover::SameSite => link.url.site_key() == source.url.site_key(),
        };
        let url = self.canonical(&link.url);
        if !(wanted || (self.rules.discover_lists && names_list(link))) || self.pages.contains(url.page_id()) {
            return None;
        }
        if self.rules.urls.check(&url).is_err() {
            self.counts.refused_pages += 1;
            return None;
        }
        self.discover(url, 1.0, depth, now)
    }

    /// A known page is seeded again. Returns letters to its mirrors; `None` when nothing is new.
    pub fn seed_again(&mut self, page: &mut ScheduledPage, weight: f64, now: Timestamp) -> Option<Vec<MirrorLetter>> {
        if page.weight == weight && page.depth == 0 {
            return None;
        }
        (page.weight, page.depth) = (weight, 0);
        let id = page.url.page_id();
        let letters = self.reweigh(id, page);
        let slot = self.set(id, page);
        self.plan_for(slot, page, now);
        Some(letters)
    }

    /// A page is forgotten; `page` is its record, if it was known. Returns letters to its mirrors.
    pub fn forget(&mut self, id: PageId, page: Option<ScheduledPage>) -> Vec<MirrorLetter> {
        let letters = page.map(|mut page| self.dissolve_ties(id, &mut page)).unwrap_or_default();
        if let (Some(slot), Some(planner)) = (self.pages.remove(id, &mut self.hosts), &mut self.planner) {
            planner.remove(slot);
        }
        letters
    }

    /// An operator wants a page fetched next.
    pub fn refetch(&mut self, page: &mut ScheduledPage) {
        page.request = page.request.command();
        self.set(page.url.page_id(), page);
    }

    /// An operator pauses a host, or resumes it.
    pub fn pause(&mut self, host: &Host, paused: bool) {
        let number = self.hosts.number(host);
        self.hosts.gate_mut(number).paused = paused;
        self.hosts.mark_changed(number);
    }

    /// A record spoke of a page that is not known.
    pub fn count_unknown_page(&mut self) {
        self.counts.unknown_pages += 1;
    }
}

/// Whether a link is said to lead to a sitemap or feed; those of another site do not come this far.
fn names_list(link: &Link) -> bool {
    matches!(link.rel.as_str(), "sitemap" | "alternate")
}
