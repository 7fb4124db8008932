//! How pages become known, and the commands of operators about them.

use super::Frontier;
use crate::host_limit::{HostRoom, Worth};
use crate::hosts::HostGate;
use crate::page_index::place_of;
use crate::page_record::{FoundOn, ScheduledPage};
use crate::site_room::Newcomer;
use crate::ties::with_ties;
use messages::{ChangeBelief, Link, MirrorMessage, PageLinks, RankedPage};
use page::{CanonicalUrl, Host, HostName, PageId, Timestamp};
use revisit::columns::Slot;
use scope::Decision;
use settings::Discover;

/// Why a seed is not taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedRefusal {
    /// An expression of a rule takes too many steps on it, so whether the rule denies it is unknown.
    Undecided,
    /// A rule or filter of the settings leaves it out.
    OutOfScope,
    /// Only the list of seeds is fetched, and it is not in it.
    NotListed,
    /// An operator blocked its host.
    Blocked,
    /// The partition is full of seeds, and there are as many pages as there may be in all partitions together.
    NoRoom,
}

impl SeedRefusal {
    /// The remedy, in words for the operator.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Undecided => {
                "whether a rule leaves it out is unknown: simplify the expressions of the rules, and seed it again"
            }
            Self::OutOfScope => "a rule or filter leaves it out: change the scope, and seed it again",
            Self::NotListed => {
                "only the list of seeds is fetched (--seeds-only): add it to the list, and start the crawl again"
            }
            Self::Blocked => "its host is blocked: recrawl unblock HOST, and seed it again",
            Self::NoRoom => {
                "there are as many pages as there may be: raise crawl.max_pages or forget pages, and seed it again"
            }
        }
    }
}

impl Frontier {
    /// The canonical page of a URL from an operator or a link, by the rules for addresses.
    pub fn canonical(&self, url: &CanonicalUrl) -> CanonicalUrl {
        self.rules.urls.apply(url.clone())
    }

    /// Adds a page; `None` when the operator does not want it, or there is no room.
    pub fn discover(&mut self, url: CanonicalUrl, weight: f64, depth: i32, now: Timestamp) -> Option<ScheduledPage> {
        self.discover_ranked(url, weight, 1.0, depth, None, now)
    }

    fn discover_ranked(
        &mut self,
        url: CanonicalUrl,
        weight: f64,
        importance: f64,
        depth: i32,
        found_on: Option<FoundOn>,
        now: Timestamp,
    ) -> Option<ScheduledPage> {
        match self.refusal_by_rules(&url) {
            Some(SeedRefusal::Undecided) => {
                self.counts.undecided_pages += 1;
                if self.counts.undecided_pages.is_power_of_two() {
                    self.undecided = Some(format!("{url}: {}", self.rules.scope.decide(&url)));
                }
                return None;
            }
            Some(SeedRefusal::OutOfScope | SeedRefusal::NotListed | SeedRefusal::Blocked | SeedRefusal::NoRoom) => {
                self.counts.pages_out_of_scope += 1;
                return None;
            }
            None => {}
        }
        let id = url.page_id();
        if self.forgotten.contains(&id) {
            self.counts.forgotten_links += 1;
            return None;
        }
        let first_attempt = self.first_attempt(&url, now);
        let prior = ChangeBelief::new(self.rules.prior.alpha(), self.rules.prior.beta_days());
        let new = ScheduledPage::new(url, weight, depth, prior, first_attempt, now);
        let page = ScheduledPage { importance, found_on, ..new };
        if !self.makes_room(&page) {
            self.counts.refused_pages += u64::from(depth > 0);
            return None;
        }
        let slot = self.set(id, &page);
        self.plan_for(slot, &page, now);
        Some(page)
    }

    /// An address that was not taken in because its rule is unknown, with the reason. There is one each time that the number
    /// of such addresses has doubled.
    pub fn take_undecided(&mut self) -> Option<String> {
        self.undecided.take()
    }

    /// Why the operator's rules and orders leave an address out, if they do.
    fn refusal_by_rules(&self, url: &CanonicalUrl) -> Option<SeedRefusal> {
        match self.rules.scope.decide(url) {
            Decision::Unknown(_) => Some(SeedRefusal::Undecided),
            decision if !decision.allows() => Some(SeedRefusal::OutOfScope),
            _ if self.rules.is_unlisted(url.page_id()) => Some(SeedRefusal::NotListed),
            _ if self.is_blocked(url) => Some(SeedRefusal::Blocked),
            _ => None,
        }
    }

    /// Why a seed was not taken in, if `discover` returned `None` for it. It is counted.
    pub fn refusal_of_seed(&mut self, url: &CanonicalUrl) -> SeedRefusal {
        self.counts.refused_seeds += 1;
        self.refusal_by_rules(url).unwrap_or(SeedRefusal::NoRoom)
    }

    /// Makes room for a page if its host or the partition is full. Returns `false` if no page may leave for it.
    fn makes_room(&mut self, page: &ScheduledPage) -> bool {
        if page.depth > 0 {
            match self.room_of_host(page) {
                HostRoom::Room => {}
                HostRoom::Full => return false,
                // Its place in the partition becomes free, too.
                HostRoom::Instead(slot) => {
                    self.pages.leave(slot);
                    self.note_evicted(slot);
                    return true;
                }
            }
        }
        let max_pages = self.rules.max_pages;
        let known = self.pages.pages().saturating_sub(self.evicted.len());
        if (known as u64) < max_pages {
            return true;
        }
        let newcomer = if page.depth > 0 { Newcomer::OfSite(place_of(&page.url).site) } else { Newcomer::Seed };
        let Some(slot) = self.pages.makes_room(newcomer, max_pages) else {
            // Seeds are not spread evenly. The share of a partition is no limit to them while others leave theirs.
            let all = known as u64 + self.demand.pages_of_others(&self.rules);
            return newcomer == Newcomer::Seed && all < self.rules.max_pages_of_all;
        };
        self.note_evicted(slot);
        true
    }

    /// Whether the host of a discovered page has room for it.
    fn room_of_host(&self, page: &ScheduledPage) -> HostRoom {
        let limit = self.rules.max_pages_of(page.url.host_name()).zip(self.hosts.known(&page.url));
        limit.map_or(HostRoom::Room, |(most_pages, host)| {
            self.pages.limited.room(host, most_pages, Worth::of(page, self.rules.own_weight(page)))
        })
    }

    fn note_evicted(&mut self, slot: Slot) {
        self.counts.evicted_pages += 1;
        self.evicted.push(self.pages.id(slot));
    }

    /// Pages that made room for others. The caller forgets them.
    pub fn take_evicted(&mut self) -> Vec<PageId> {
        std::mem::take(&mut self.evicted)
    }

    /// Whether an operator blocked the host of an address.
    fn is_blocked(&self, url: &CanonicalUrl) -> bool {
        self.hosts.known(url).is_some_and(|number| self.hosts.gate(number).blocked)
    }

    /// The number from which the attempts of a new page are counted.
    ///
    /// The page may have been known before and forgotten. The detector keeps its last attempt then, and would take
    /// lower ones for repeats. So attempts start from the current time in microseconds: no page is fetched so often
    /// that its earlier attempts could have reached that number. The clock may have been set back since. Its highest
    /// value is still visible in the attempts of the other pages, forgotten ones included, and in the host's next
    /// permitted time.
    pub fn first_attempt(&self, url: &CanonicalUrl, now: Timestamp) -> i64 {
        let permitted_at = self.hosts.known(url).map(|number| self.hosts.gate(number).next_permitted_at);
        let latest = now.max(permitted_at.unwrap_or(Timestamp::MIN));
        latest.as_micros().max(self.pages.highest_attempt())
    }

    /// Takes in the links of a known page. Returns the pages that became known by them. A page that shows new ones at
    /// a later look than its first is worth more looks.
    pub fn take_links(&mut self, links: &PageLinks, source: &mut ScheduledPage, now: Timestamp) -> Vec<ScheduledPage> {
        let depth = source.depth.saturating_add(1);
        let found: Vec<_> = links.links.iter().filter_map(|link| self.follow(link, source, depth, now)).collect();
        if source.last_look_at.is_some_and(|first| first < links.found_at) && source.listed == 0 && !found.is_empty() {
            source.list_news += found.len() as f64;
            self.set(links.source_page_id, source);
        }
        found
    }

    /// Takes in a page that is not known and that links lead to. `None` when it is not wanted, or there is no room.
    pub fn take_found(
        &mut self,
        found: &RankedPage,
        found_on: Option<FoundOn>,
        now: Timestamp,
    ) -> Option<ScheduledPage> {
        let url = self.canonical(&found.url);
        // Without a depth it is a seed. The scheduler knows its seeds, unless an operator has forgotten them.
        if found.depth <= 0 || self.rules.discover == Discover::None {
            return None;
        }
        if self.rules.urls.check(&url).is_err() || found.depth as u32 > self.rules.max_depth_of(&url) {
            self.counts.refused_pages += 1;
            return None;
        }
        self.discover_ranked(url, 1.0, found.importance.max(0.0), found.depth, found_on, now)
    }

    /// The weight of a page by its links is another. Returns `false` if that changes nothing.
    pub fn take_importance(&mut self, importance: f64, id: PageId, page: &mut ScheduledPage) -> bool {
        if page.importance == importance || !(importance >= 0.0 && importance.is_finite()) {
            return false;
        }
        page.importance = importance;
        let slot = self.set(id, page);
        self.plan_by_weight(slot, page);
        true
    }

    /// A page has shown links to new pages at a later look than its first. That makes it worth more looks. A list has an
    /// account of its news already.
    pub fn take_shown(&mut self, pages: i64, id: PageId, page: &mut ScheduledPage) -> bool {
        if page.listed != 0 || pages <= 0 {
            return false;
        }
        page.list_news += pages as f64;
        let slot = self.set(id, page);
        self.plan_by_content(slot, page);
        true
    }

    fn follow(&mut self, link: &Link, source: &ScheduledPage, depth: i32, now: Timestamp) -> Option<ScheduledPage> {
        let wanted = match self.rules.discover {
            Discover::None => false,
            Discover::SameHost => link.url.host() == source.url.host(),
            Discover::SameSite | Discover::Anywhere => link.url.site_key() == source.url.site_key(),
        };
        let url = self.canonical(&link.url);
        if !(wanted || (self.rules.discover_lists && names_list(link))) || self.pages.contains(url.page_id()) {
            return None;
        }
        if self.rules.urls.check(&url).is_err() || depth as u32 > self.rules.max_depth_of(&url) {
            self.counts.refused_pages += 1;
            return None;
        }
        let is_indexed = link.rel == Link::INDEXED_SITEMAP;
        if is_indexed && !self.lists.has(&source.url) {
            self.counts.refused_pages += 1;
            return None;
        }
        let found_on = FoundOn { page_id: source.url.page_id(), site: source.url.site_key() };
        let mut page = self.discover_ranked(url, 1.0, 1.0, depth, Some(found_on), now)?;
        if is_indexed {
            self.lists.spend(&source.url);
        }
        // The entries of a list are worth more than one copy. Whether this holds for each of the many lists that an index
        // may name is not known.
        let is_named = self.rules.discover_lists && is_worth_a_look_at_once(link);
        if is_named && self.pages.lasting.grants(place_of(&page.url).site) {
            page.request = page.request.command();
            self.set(page.url.page_id(), &page);
        }
        Some(page)
    }

    /// Seeds a known page again. Returns messages to its mirrors; `None` when nothing changes.
    pub fn seed_again(&mut self, page: &mut ScheduledPage, weight: f64) -> Option<Vec<MirrorMessage>> {
        if page.weight == weight && page.depth == 0 {
            return None;
        }
        (page.weight, page.depth) = (weight, 0);
        let id = page.url.page_id();
        let messages = with_ties(id, page, |ties, me, rank| ties.reweighed(me, rank));
        let slot = self.set(id, page);
        self.plan_by_weight(slot, page);
        Some(messages)
    }

    /// Notes that an operator has forgotten the page, so that no link, list or hint adds it again.
    pub fn deny(&mut self, id: PageId) {
        self.forgotten.insert(id);
    }

    /// Notes an attempt of a page that is forgotten, so that those of its next life are higher.
    pub fn note_attempt(&mut self, attempt: i64) {
        self.pages.note_attempt(attempt);
    }

    /// At most `at_most` pages of a host and of all hosts below it, in the order of their ids.
    pub fn pages_at_or_below(&self, host: &HostName, at_most: usize) -> Vec<PageId> {
        let mut pages: Vec<_> = self.pages.of_hosts(&self.hosts.at_or_below(host)).collect();
        pages.sort_unstable();
        pages.truncate(at_most);
        pages
    }

    /// Whether a page of a list of seeds is left out, because an operator has forgotten it. It is counted then.
    pub fn leaves_out_seed(&mut self, id: PageId) -> bool {
        let is_forgotten = self.forgotten.contains(&id);
        self.counts.forgotten_seeds += u64::from(is_forgotten);
        is_forgotten
    }

    /// Lets the page be added again. Returns whether an operator had forgotten it.
    pub fn allow(&mut self, id: PageId) -> bool {
        self.forgotten.remove(&id)
    }

    /// Forgets a page; `page` is its record, if it was known. Returns messages to its mirrors.
    pub fn forget(&mut self, id: PageId, page: Option<ScheduledPage>) -> Vec<MirrorMessage> {
        let dissolve = |mut page| with_ties(id, &mut page, |ties, me, _| ties.dissolve(me));
        let messages = page.map(dissolve).unwrap_or_default();
        if let (Some(slot), Some(planner)) = (self.pages.remove(id, &mut self.hosts, &self.rules), &mut self.planner) {
            planner.remove(slot);
        }
        messages
    }

    /// An operator wants the page fetched next.
    pub fn refetch(&mut self, page: &mut ScheduledPage) {
        page.request = page.request.command();
        self.set(page.url.page_id(), page);
    }

    /// Pauses a host for an operator, or resumes it: all its ports, whichever was named. To resume also ends a rest after failures
    /// or challenges. Returns whether that is a change.
    pub fn pause(&mut self, host: &Host, paused: bool) -> bool {
        self.stop(host, |gate| {
            let has_rested = !paused && gate.end_rest();
            std::mem::replace(&mut gate.paused, paused) != paused || has_rested
        })
    }

    /// Whether an operator paused or blocked a host.
    pub fn is_stopped(&self, host: &Host) -> bool {
        self.hosts.named(host.name().as_str()).is_some_and(HostGate::is_stopped)
    }

    /// Blocks a host for an operator, or unblocks it: its pages are kept and not fetched, and no further ones are taken
    /// in. Returns whether that is a change.
    pub fn block(&mut self, host: &Host, blocked: bool) -> bool {
        self.stop(host, |gate| std::mem::replace(&mut gate.blocked, blocked) != blocked)
    }

    fn stop(&mut self, host: &Host, set: impl FnOnce(&mut HostGate) -> bool) -> bool {
        let number = self.hosts.number(host.name().as_str());
        let is_change = set(self.hosts.gate_mut(number));
        self.hosts.mark_changed(number);
        self.hosts.leave_idle(number);
        is_change
    }

    /// Counts a record about a page that is not known.
    pub fn count_unknown_page(&mut self) {
        self.counts.unknown_pages += 1;
    }
}

/// Whether the link's relation names a sitemap or feed. Links to another site do not come this far.
fn names_list(link: &Link) -> bool {
    link.rel == Link::INDEXED_SITEMAP || is_worth_a_look_at_once(link)
}

/// Whether the list is named by robots.txt or a page. A sitemap index may name thousands.
fn is_worth_a_look_at_once(link: &Link) -> bool {
    [Link::SITEMAP, Link::FEED].contains(&link.rel.as_str())
}
