//! Takes in hints and the entries of lists, judges them by looks, and finds the pages that they raise to the price.

use super::Frontier;
use crate::hint_kinds::{LIKELY, news_of, number_of};
use crate::page_index::place_of;
use crate::page_record::ScheduledPage;
use crate::request::WantedReason;
use messages::{ChangeHint, HintKind, RetryRule, SiteListing, Verdict};
use page::{PageId, Timestamp};
use revisit::columns::Slot;
use revisit::hints::{CERTAIN, ListedDate, hazard_of};
use settings::Discover;

/// Pages whose records a list's entries change. All else is kept in memory, and comes again with the next look at the list.
#[derive(Debug, Default)]
pub struct ListingEffects {
    /// Pages that the list claims to have changed.
    pub hinted: Vec<PageId>,
    /// Pages that were not known to be on this list, and those that no longer are.
    pub relisted: Vec<PageId>,
}

impl Frontier {
    /// Takes in a hint that a page changed. Returns `false` when it adds nothing.
    pub fn take_hint(&mut self, hint: &ChangeHint, id: PageId, page: &mut ScheduledPage) -> bool {
        // The last look saw what happened before it.
        let news = hint.changed_at.is_none_or(|changed_at| page.last_look_at.is_some_and(|look| look < changed_at));
        news && self.believe_hint(hint.kind, id, page)
    }

    /// Takes in a claim of this kind that a page has changed since its last look. A repeated one is no new evidence.
    pub fn believe_hint(&mut self, kind: HintKind, id: PageId, page: &mut ScheduledPage) -> bool {
        let number = number_of(kind);
        let bit = 1 << number;
        if page.last_look_at.is_none() || page.hinted & bit != 0 {
            return false;
        }
        let host = self.hosts.of(&page.url);
        let precision = self.hosts.gate(host).hints().precision(number);
        page.hinted |= bit;
        page.hint_hazard = (page.hint_hazard + hazard_of(precision)).min(CERTAIN);
        if !self.rules.values_hints() && !page.request.is_in_flight() && -(-page.hint_hazard).exp_m1() >= LIKELY {
            page.request = page.request.want(WantedReason::Command);
        }
        let is_kept_out = page.outcome.is_some_and(|outcome| outcome.meaning().retry == RetryRule::Weekly);
        if !is_kept_out {
            page.request = page.request.hinted();
        }
        // A site that says that the page changed does not stand by its max-age any more.
        if page.request.unseen.looks == 0
            && let Some(last_look_at) = page.last_look_at
        {
            page.request = page.request.held_until_at_most(last_look_at + self.rules.min_interval_of(page));
        }
        self.counts.hints += 1;
        self.set(id, page);
        true
    }

    /// Takes in a list's entries about pages of its site. `list` is the record of the list's own page.
    pub fn take_listing(&mut self, listing: &SiteListing, list: &mut ScheduledPage) -> ListingEffects {
        let mut effects = ListingEffects::default();
        if listing.is_first {
            (list.listed, list.list_kind) = (listing.listed, number_of(listing.kind) as i32);
        }
        let list_slot = self.set(listing.list_page_id, list);
        let mut dates = Vec::with_capacity(listing.pages.len());
        for entry in &listing.pages {
            let id = self.rules.urls.apply(entry.url.clone()).page_id();
            let Some(slot) = self.pages.slot(id) else {
                self.counts.unknown_pages += 1;
                continue;
            };
            if self.pages.received.cover(slot, list_slot) {
                effects.relisted.push(id);
            }
            let (from_days, until_days) = (entry.changed_from.as_days(), entry.changed_until.as_days());
            dates.push((slot, ListedDate { from_days, until_days }));
        }
        if !dates.is_empty() {
            self.lists.earn(&list.url);
        }
        let Self { pages, hosts, .. } = &mut *self;
        let record = |host| hosts.gate(host).hints();
        let received = pages.received.receive(&mut pages.columns, list_slot, dates, listing.read_at, record);
        if listing.is_last {
            let dropped = self.pages.received.drop_unnamed(list_slot, listing.read_at);
            effects.relisted.extend(dropped.into_iter().map(|slot| self.pages.id(slot)));
        }
        let received_news = received.news;
        effects.hinted = received.hinted.into_iter().map(|slot| self.pages.id(slot)).collect();
        // What is new at the first look had all the time since the pages were looked at. The days are counted with the
        // look.
        if listing.previous_read_at.is_some() && received_news > 0.0 {
            list.list_news += received_news;
            self.set(listing.list_page_id, list);
        }
        effects
    }

    /// Adds the time since the last look to the time over which the page's news is counted. Where links are followed, every
    /// page counts from its first look: the first new page that it shows would otherwise be taken for a high rate.
    pub(crate) fn count_news(&self, page: &mut ScheduledPage, previous: Option<Timestamp>, now: Timestamp) {
        let Some(previous) = previous else { return };
        if page.listed > 0 || self.rules.discover != Discover::None {
            let rate = news_of(page).after(now.days_since(previous), 0.0);
            (page.list_news, page.list_days) = (rate.news, rate.days);
        }
    }

    /// Number of pages that a list names and the crawl surely does not know, if the list is a seed of which this is the first
    /// look, and names of unknown pages are not followed. `None` otherwise.
    pub fn pages_left_out(&self, listing: &SiteListing, list: &ScheduledPage) -> Option<u64> {
        if list.depth > 0 || !listing.is_first || listing.previous_read_at.is_some() || listing.untaken <= 0 {
            return None;
        }
        let others = self.pages.pages_of_site(place_of(&list.url).site).saturating_sub(1);
        let named = u64::try_from(listing.listed + listing.untaken).unwrap_or(0);
        Some(named.saturating_sub(others)).filter(|pages| *pages > 0)
    }

    /// Handles a look at a list whose entries are the same as before.
    pub(crate) fn receive_again(&mut self, id: PageId, now: Timestamp) {
        let Self { pages, hosts, .. } = self;
        if let Some(slot) = pages.slot(id) {
            pages.received.receive_again(&mut pages.columns, slot, now, |host| hosts.gate(host).hints());
        }
    }

    /// Writes into a page's record which list covers it.
    pub fn note_list(&self, id: PageId, page: &mut ScheduledPage) {
        page.listed_by = self.pages.slot(id).and_then(|slot| self.pages.list_of(slot));
    }

    /// A look has shown whether the hints before it, or their absence, were right. The columns still hold the page as
    /// it was before the look.
    pub(crate) fn judge_hints(
        &mut self,
        id: PageId,
        page: &mut ScheduledPage,
        verdict: Verdict,
        looked_at: Timestamp,
        previous: Option<Timestamp>,
    ) {
        let Some(changed) = verdict.is_change() else { return };
        let host = self.hosts.of(&page.url);
        let Some(slot) = self.pages.slot(id) else { return };
        let is_listed = self.pages.received.list_of(slot).is_some();
        if page.hinted == 0 && !is_listed && self.hosts.gate(host).hints().is_empty() {
            return;
        }
        let worth = self.pages.columns.worth(slot, &self.rules.index, &self.outlook, looked_at);
        let (Some(worth), Some(previous)) = (worth, previous) else { return };
        let record = self.hosts.gate_mut(host).hints_mut();
        let (hinted, span) = (page.hinted as u32, (previous, looked_at));
        self.pages.received.judge(slot, record, hinted, changed, worth.fresh_probability, span);
        self.pages.received.settle(slot);
        self.hosts.mark_changed(host);
        (page.hinted, page.hint_hazard) = (0, 0.0);
    }

    /// Pages that hints have raised to the price, and lists worth a fetch for the changes they may announce, the best
    /// first.
    pub(crate) fn hinted(&self, now: Timestamp) -> Vec<Slot> {
        let Self { pages, hosts, rules, outlook, demand, .. } = self;
        let precision = |host, kind| hosts.gate(host).hints().precision(kind);
        pages.received.due(&pages.columns, &rules.index, outlook, demand.price(), now, precision)
    }
}
