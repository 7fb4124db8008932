//! All known pages of this partition in memory: the packed columns, the page ids, and the leases and waits.

use crate::fetch_cost::FetchCosts;
use crate::hint_kinds::list_of;
use crate::host_limit::{LimitedHosts, Worth};
use crate::host_numbers::Hosts;
use crate::hosts::HostGate;
use crate::lasting::{LastingCopies, Looks};
use crate::page_marks::{PageMark, PageMarks};
use crate::page_record::ScheduledPage;
use crate::request::{RequestState, WantedReason};
use crate::rules::FrontierRules;
use crate::siblings::entry_of;
use crate::site_room::{Newcomer, SiteRoom};
use crate::ties::{is_follower, last_turn, weight_of};
use change_rate::GammaState;
use page::{CanonicalUrl, PageId, PageIdIndex, Timestamp};
use revisit::columns::{LastLook, PageColumns, PageEntry, PageStatus, Slot};
use revisit::hints::HintedPages;
use revisit::rows::Rows;
use std::collections::{BTreeSet, HashMap, HashSet};
use sweeps::{Outlook, OwnEvidence, PagePlace};

/// All pages. Everything in it is derived from their records.
#[derive(Default)]
pub(crate) struct PageIndex {
    pub(crate) columns: PageColumns,
    /// By slot.
    ids: Rows<PageId>,
    /// The numbers of the slots.
    slots: PageIdIndex,
    /// The ends of all entries in `leases` and `held`.
    waits: HashMap<Slot, Timestamp>,
    /// Requests in flight, by the end of their lease.
    leases: BTreeSet<(Timestamp, Slot)>,
    /// Pages that must not be fetched before a time.
    held: BTreeSet<(Timestamp, Slot)>,
    /// The pages of hosts with a limit, without those that leave.
    pub(crate) limited: LimitedHosts,
    /// Which pages make room when the partition is full, and what is lost with each.
    room: SiteRoom,
    /// How far copies last.
    pub(crate) lasting: LastingCopies,
    /// By slot, up to the last page whose rule sets one: the longest interval in days. 0: none.
    pub(crate) longest_days: Rows<f32>,
    /// Pages an operator wants next.
    pub(crate) refetch: BTreeSet<Slot>,
    /// Hints and lists, with the pages that they name.
    pub(crate) received: HintedPages,
    /// Bytes of each page's fetches, from which their costs follow.
    pub(crate) costs: FetchCosts,
    /// Restored pages whose list may not be known yet.
    unresolved: Vec<(Slot, PageId)>,
    marks: PageMarks,
    /// The highest attempt of any page, forgotten pages included.
    highest_attempt: i64,
}

impl PageIndex {
    /// Updates the columns from a page's record.
    pub(crate) fn set(
        &mut self,
        id: PageId,
        page: &ScheduledPage,
        hosts: &mut Hosts,
        rules: &FrontierRules,
        outlook: &Outlook,
    ) -> Slot {
        self.unset(id, hosts);
        self.note_attempt(page.request.attempt);
        let known = self.slot(id);
        let place = self.place(known, page);
        let host = hosts.of(&page.url);
        let lasting = self.lasting_share(page, place.site, rules);
        let mut entry = PageEntry {
            last_look: match last_turn(page) {
                Some(at) => LastLook::Looked(at),
                None => LastLook::Discovered(page.discovered_at),
            },
            belief: entry_of(page, place.cell, rules, outlook),
            weight: weight_of(page, rules)
                * novelty(page, rules)
                * rules.worth_of_changes(page)
                * expectation(page, hosts.gate(host), rules)
                * lasting.powi(2)
                / self.costs.of(page.bytes_per_fetch, rules),
            host,
            status: match page.request.state {
                RequestState::InFlight { .. } => PageStatus::InFlight,
                RequestState::Held { .. } | RequestState::Idle if !rules.allows(id, &page.url) => PageStatus::Excluded,
                RequestState::Held { .. } => PageStatus::Held,
                RequestState::Idle => PageStatus::Ready,
            },
        };
        let slot = match known {
            Some(slot) => {
                self.received.add_silence(slot, &mut entry, |kind| hosts.gate(host).hints().recall(kind));
                self.columns.update(slot, |old| *old = entry);
                slot
            }
            None => {
                let slot = self.columns.insert(&entry, &place);
                self.room.count(place.site);
                hosts.count(host);
                *self.ids.at(slot.index(), id) = id;
                self.slots.add(&id, slot.number(), |number| self.ids[number as usize]);
                self.unresolved.extend(page.listed_by.map(|list| (slot, list)));
                slot
            }
        };
        self.costs.set(slot, page.bytes_per_fetch, rules);
        self.lasting.set(slot, place.site, page, lasting);
        let at_stake = Worth::at_stake(page, rules.own_weight(page));
        self.room.set(slot, place.site, at_stake);
        if rules.max_pages_of(page.url.host_name()).is_some() && !self.room.is_leaving(slot) {
            self.limited.add(host, slot, at_stake);
        }
        match page.request.state {
            RequestState::InFlight { lease_until, .. } => {
                self.waits.insert(slot, lease_until);
                self.leases.insert((lease_until, slot));
                hosts.gate_mut(host).in_flight += 1;
            }
            _ if entry.status == PageStatus::Excluded => {}
            RequestState::Held { until } => {
                self.waits.insert(slot, until);
                self.held.insert((until, slot));
            }
            RequestState::Idle => {}
        }
        // One that is held comes when its wait is over: each tick looks at these pages.
        if page.request.wanted != WantedReason::No && entry.status == PageStatus::Ready {
            self.refetch.insert(slot);
        }
        self.received.set_hazard(slot, page.hint_hazard);
        let list_share = if rules.values_first_copies() { self.lasting.share_of_new(place.site).powi(2) } else { 1.0 };
        self.received.set_list(slot, list_of(page, rules, list_share));
        self.marks.set(slot, |mark| match mark {
            PageMark::Follower => is_follower(page),
            PageMark::Unanswered => !page.was_answered() && entry.status != PageStatus::Excluded,
            PageMark::FailedSeed => page.is_failed_seed(),
            PageMark::UnlistedSeed => rules.is_unlisted_seed(id, page),
            PageMark::NeverFetched => page.last_look_at.is_none(),
        });
        let longest = rules.ordered_max_interval(&page.url);
        self.set_longest_days(slot, longest.map_or(0.0, |longest| longest.as_secs_f64() / 86_400.0));
        slot
    }

    /// Removes a page. Returns its former slot.
    pub(crate) fn remove(&mut self, id: PageId, hosts: &mut Hosts, rules: &FrontierRules) -> Option<Slot> {
        self.unset(id, hosts);
        let slot = self.slot(id)?;
        self.slots.remove(&id, slot.number(), |number| self.ids[number as usize]);
        self.columns.place(slot).into_iter().for_each(|place| {
            self.room.remove(slot, place.site);
            self.lasting.remove(slot, place.site);
        });
        self.received.remove(slot);
        self.costs.set(slot, 0.0, rules);
        self.set_longest_days(slot, 0.0);
        self.columns.get(slot).into_iter().for_each(|entry| hosts.discount(entry.host));
        self.columns.remove(slot);
        Some(slot)
    }

    /// The place of a page, from the columns if it is known: the site of an address takes a look at the public suffixes.
    pub(crate) fn place(&self, slot: Option<Slot>, page: &ScheduledPage) -> PagePlace {
        slot.and_then(|slot| self.columns.place(slot)).unwrap_or_else(|| place_of(&page.url))
    }

    /// The share of its looks that is left to a page, by how far its copies last. One that an operator named or weighed keeps all.
    pub(crate) fn lasting_share(&self, page: &ScheduledPage, site: u64, rules: &FrontierRules) -> f64 {
        match page.depth > 0 && rules.values_first_copies() && rules.weight_from(page) == "links" {
            true => self.lasting.share(site, Looks::at(page)),
            false => 1.0,
        }
    }

    /// The page that makes room in a partition of at most `max_pages`. It leaves.
    pub(crate) fn makes_room(&mut self, newcomer: Newcomer, max_pages: u64) -> Option<Slot> {
        let slot = self.room.next(newcomer, max_pages, &self.ids, &self.columns)?;
        self.leave(slot);
        Some(slot)
    }

    /// A page leaves: it makes room for another and is forgotten soon. It counts no more, and makes no room again.
    pub(crate) fn leave(&mut self, slot: Slot) {
        // The order matters: what is at stake with it is known until it leaves.
        self.columns.get(slot).into_iter().for_each(|entry| self.limited_out(slot, entry.host));
        self.columns.place(slot).into_iter().for_each(|place| self.room.leave(slot, place.site));
    }

    fn set_longest_days(&mut self, slot: Slot, days: f64) {
        if days > 0.0 || slot.index() < self.longest_days.len() {
            *self.longest_days.at(slot.index(), 0.0) = days as f32;
        }
    }

    /// Counts a page of a host with a limit no more.
    fn limited_out(&mut self, slot: Slot, host: u32) {
        if !self.room.is_leaving(slot) {
            self.limited.remove(host, slot, self.room.at_stake(slot));
        }
    }

    /// Removes the page's entries outside the columns.
    fn unset(&mut self, id: PageId, hosts: &mut Hosts) {
        let Some(slot) = self.slot(id) else { return };
        let Some(entry) = self.columns.get(slot) else { return };
        if let Some(until) = self.waits.remove(&slot) {
            self.held.remove(&(until, slot));
            if self.leases.remove(&(until, slot)) {
                hosts.gate_mut(entry.host).in_flight -= 1;
            }
        }
        self.limited_out(slot, entry.host);
        self.refetch.remove(&slot);
        self.marks.set(slot, |_| false);
    }

    /// Connects restored pages with their lists, once all pages are known. A list vouches for them until its last look.
    pub(crate) fn resolve_lists(&mut self, hosts: &Hosts) {
        for (slot, list) in std::mem::take(&mut self.unresolved) {
            let Some(list) = self.slot(list).filter(|list| self.received.list(*list).is_some()) else { continue };
            let (Some(entry), Some(PageEntry { last_look: LastLook::Looked(until), .. })) =
                (self.columns.get(slot), self.columns.get(list))
            else {
                continue;
            };
            // A page with a hint may have it from this list, which then does not vouch for it.
            if self.received.hazard(slot) > 0.0 {
                self.received.restore_claim(slot, list);
            } else {
                let recall = |kind| hosts.gate(entry.host).hints().recall(kind);
                self.received.receive_silence(&mut self.columns, slot, list, until, recall);
            }
        }
    }

    /// The id of the list that covers a page.
    pub(crate) fn list_of(&self, slot: Slot) -> Option<PageId> {
        self.received.list_of(slot).map(|list| self.id(list))
    }

    /// The pages of these hosts, in no order.
    pub(crate) fn of_hosts(&self, hosts: &HashSet<u32>) -> impl Iterator<Item = PageId> {
        (0..).map(Slot::new).zip(self.ids.iter()).filter_map(|(slot, id)| {
            let entry = self.columns.get(slot)?;
            hosts.contains(&entry.host).then_some(*id)
        })
    }

    /// Number of pages of a site, without those that leave.
    pub(crate) fn pages_of_site(&self, site: u64) -> u64 {
        self.room.pages_of(site)
    }

    pub(crate) fn contains(&self, id: PageId) -> bool {
        self.slot(id).is_some()
    }

    pub(crate) fn slot(&self, id: PageId) -> Option<Slot> {
        self.slots.find(&id, |number| self.ids[number as usize] == id).map(Slot::new)
    }

    pub(crate) fn id(&self, slot: Slot) -> PageId {
        self.ids[slot.index()]
    }

    /// The next page whose lease has run out.
    pub(crate) fn expired_lease(&self, now: Timestamp) -> Option<PageId> {
        self.leases.first().filter(|(until, _)| *until <= now).map(|(_, slot)| self.id(*slot))
    }

    /// The next page whose wait is over.
    pub(crate) fn released(&self, now: Timestamp) -> Option<PageId> {
        self.held.first().filter(|(until, _)| *until <= now).map(|(_, slot)| self.id(*slot))
    }

    pub(crate) fn pages(&self) -> usize {
        self.columns.len()
    }

    /// Value below which no page is fetched for its value, however much budget is left.
    pub(crate) fn least_worth(&self, rules: &FrontierRules) -> f64 {
        rules.least_worth_days * self.columns.mean_weight()
    }

    /// Number of pages whose content is fetched through a mirror.
    pub(crate) fn mirrors(&self) -> usize {
        self.marks.count(PageMark::Follower)
    }

    /// The weight that a page competes with, its followers' included.
    pub(crate) fn weight(&self, id: PageId) -> Option<f64> {
        self.columns.get(self.slot(id)?).map(|entry| entry.weight)
    }

    pub(crate) fn highest_attempt(&self) -> i64 {
        self.highest_attempt
    }

    pub(crate) fn note_attempt(&mut self, attempt: i64) {
        self.highest_attempt = self.highest_attempt.max(attempt);
    }

    pub(crate) fn never_fetched(&self) -> usize {
        self.marks.count(PageMark::NeverFetched)
    }

    pub(crate) fn unanswered(&self) -> usize {
        self.marks.count(PageMark::Unanswered)
    }

    pub(crate) fn failed_seeds(&self) -> usize {
        self.marks.count(PageMark::FailedSeed)
    }

    pub(crate) fn unlisted_seeds(&self) -> usize {
        self.marks.count(PageMark::UnlistedSeed)
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.leases.len()
    }
}

/// Factor on the weight of a page without a copy.
fn novelty(page: &ScheduledPage, rules: &FrontierRules) -> f64 {
    if last_turn(page).is_none() && rules.values_first_copies() { rules.new_page_worth } else { 1.0 }
}

/// Share of a look's value that remains at a page without hints, on a host that pings most changes. With recall r only
/// (1 - r) λ of the changes come in silence. For times short against 1/λ, the value is that share of the value without
/// hints (alpha of C16: V = w alpha t²/2 to first order). Computed when the page's record was last touched.
fn expectation(page: &ScheduledPage, gate: &HostGate, rules: &FrontierRules) -> f64 {
    let is_silent = page.hinted == 0 && page.listed == 0 && page.last_look_at.is_some() && rules.values_hints();
    if is_silent { 1.0 - gate.hints().best_recall_of_pings() } else { 1.0 }
}

/// The place of a page on its site.
pub(crate) fn place_of(url: &CanonicalUrl) -> PagePlace {
    PagePlace::of(url.site_key().as_str(), url.host().as_str(), url.path())
}

/// The page's evidence beyond the prior of its cell.
pub(crate) fn evidence_of(page: &ScheduledPage) -> OwnEvidence {
    let state = |delta_alpha, delta_beta_days| GammaState { delta_alpha, delta_beta_days };
    OwnEvidence {
        own: state(page.belief.own_alpha, page.belief.own_beta_days),
        plain: state(page.belief.plain_alpha, page.belief.plain_beta_days),
    }
}
