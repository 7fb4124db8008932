//! The pages that hints name, the lists, and what lists vouch for, beside the columns.

use super::record::{FEED, HintNumber, HintRecord, KINDS, SITEMAP, comes_from_lists};
use super::silence::{ListedDate, Statement, covered_share, silent_days, with_silence};
use super::{NewsRate, value_with_hints};
use crate::columns::{Index, LastLook, PageColumns, PageEntry, PageStatus, Slot, Worth};
use crate::rows::Rows;
use page::Timestamp;
use std::collections::BTreeMap;
use sweeps::Outlook;

/// A page that announces changes or pages: a sitemap, a feed, or an index page that shows links to new pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct List {
    /// The pages that its news is about.
    pub about: ListSubject,
    /// Its news so far.
    pub news: NewsRate,
}

/// The pages that the news of a list is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ListSubject {
    /// Changes of known pages: a sitemap or feed.
    KnownPages {
        /// Number of pages that its news may be about.
        pages: f64,
        /// The kind of its hints.
        kind: HintNumber,
    },
    /// Pages that were not known: an index page.
    NewPages {
        /// Weight of a new page, beside that of known ones.
        worth: f64,
    },
}

impl List {
    /// Value of a look at a page worth `own` by itself, `days` after the last one.
    pub fn value(&self, own: f64, days: f64, precision: impl FnOnce(HintNumber) -> f64, price: f64) -> f64 {
        match self.about {
            ListSubject::KnownPages { pages, kind } => self.news.value(pages, days, precision(kind), price),
            // The look brings both: a copy that is current, and the links.
            ListSubject::NewPages { worth } => own + worth * self.news.discovery_value(days),
        }
    }

    fn kind(&self) -> Option<HintNumber> {
        match self.about {
            ListSubject::KnownPages { kind, .. } => Some(kind),
            ListSubject::NewPages { .. } => None,
        }
    }
}

/// Statement of a list about a page: it had not changed until then, as far as the list names all changes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Vouched {
    /// The list's slot plus one; 0: no list covers the page. The highest bit: the list claims a change since the last look.
    list_and_claim: u32,
    /// Time of the last look at the list that still listed the page, in seconds since 1970.
    until_s: u32,
    /// Time of the last look at the list that named the page at all.
    named_s: u32,
    /// Days of silence added to the page's entry in the columns.
    days: f32,
}

const CLAIM: u32 = 1 << 31;

impl Vouched {
    fn list(&self) -> Option<Slot> {
        (self.list_and_claim & !CLAIM).checked_sub(1).map(Slot::new)
    }

    /// Another list covers the page, or none. The claim stays.
    fn set_list(&mut self, list: Option<Slot>) {
        self.list_and_claim = self.list_and_claim & CLAIM | list.map_or(0, |list| list.number() + 1);
    }

    fn is_claimed(&self) -> bool {
        self.list_and_claim & CLAIM != 0
    }

    fn set_claimed(&mut self, claimed: bool) {
        let claim = if claimed { CLAIM } else { 0 };
        self.list_and_claim = self.list_and_claim & !CLAIM | claim;
    }

    fn until_days(&self) -> f64 {
        f64::from(self.until_s) / 86_400.0
    }
}

/// Hints, lists and what lists vouch for, by slot. Derived from the records that the caller stores.
#[derive(Clone, Debug, Default)]
pub struct HintedPages {
    /// Pages with hints, and the hazard that these add.
    hinted: BTreeMap<Slot, f64>,
    lists: BTreeMap<Slot, List>,
    /// Up to the last page of any list.
    vouched: Rows<Vouched>,
    /// Whether silence moves nothing, for policies that do not value looks.
    ignores_silence: bool,
}

impl HintedPages {
    /// For policies that do not value looks: silence moves nothing.
    pub fn ignore_silence(&mut self) {
        self.ignores_silence = true;
    }

    /// Sets the hazard of a page's hints; zero removes them.
    pub fn set_hazard(&mut self, slot: Slot, hazard: f64) {
        if hazard > 0.0 {
            self.hinted.insert(slot, hazard);
        } else {
            self.hinted.remove(&slot);
        }
    }

    pub fn hazard(&self, slot: Slot) -> f64 {
        self.hinted.get(&slot).copied().unwrap_or(0.0)
    }

    /// Sets a page's state as a list; `None`: it is not one.
    pub fn set_list(&mut self, slot: Slot, list: Option<List>) {
        match list {
            Some(list) => self.lists.insert(slot, list),
            None => self.lists.remove(&slot),
        };
    }

    /// Whether any page is a list.
    pub fn has_lists(&self) -> bool {
        !self.lists.is_empty()
    }

    pub fn list(&self, slot: Slot) -> Option<&List> {
        self.lists.get(&slot)
    }

    /// The list that covers a page.
    pub fn list_of(&self, slot: Slot) -> Option<Slot> {
        self.vouched.get(slot.index())?.list()
    }

    /// Forgets a page. Pages of a forgotten list are no longer vouched for.
    pub fn remove(&mut self, slot: Slot) {
        self.hinted.remove(&slot);
        let was_list = self.lists.remove(&slot).is_some();
        if let Some(vouched) = self.vouched.get_mut(slot.index()) {
            *vouched = Vouched::default();
        }
        if was_list {
            let covered = self.vouched.iter_mut().filter(|vouched| vouched.list() == Some(slot));
            covered.for_each(|vouched| vouched.set_list(None));
        }
    }

    /// Notes that the list of a page vouches for it until a time: it lists it, and names no later change.
    fn vouch(&mut self, slot: Slot, list: Slot, until: Timestamp) {
        self.cover(slot, list);
        let vouched = &mut self.vouched[slot.index()];
        vouched.until_s = vouched.until_s.max(whole_seconds(until));
    }

    /// Notes that a list claims a change of a page since the last look at it. Returns `false` when it did before.
    fn claim(&mut self, slot: Slot, list: Slot) -> bool {
        match self.list_of(slot) == Some(list) {
            true => {
                let vouched = &mut self.vouched[slot.index()];
                let is_news = !vouched.is_claimed();
                vouched.set_claimed(true);
                is_news
            }
            // Only a hazard is kept of a list that does not cover the page.
            false => self.hazard(slot) == 0.0,
        }
    }

    /// Restores that the list of a page claims a change of it, so that the same claim is no news again.
    pub fn restore_claim(&mut self, slot: Slot, list: Slot) {
        self.cover(slot, list);
        let covers = self.list_of(slot) == Some(list);
        self.vouched[slot.index()].set_claimed(covers);
    }

    /// Handles a list whose entries are the same as before: it vouches for all its pages that it makes no claim about.
    pub fn receive_again<'a>(
        &mut self,
        columns: &mut PageColumns,
        list: Slot,
        now: Timestamp,
        record: impl Fn(u32) -> &'a HintRecord,
    ) {
        for i in 0..self.vouched.len() {
            let (vouched, slot) = (self.vouched[i], Slot::new(i as u32));
            if vouched.list() == Some(list)
                && !vouched.is_claimed()
                && let Some(entry) = columns.get(slot)
            {
                self.receive_silence(columns, slot, list, now, |kind| record(entry.host).recall(kind));
            }
        }
    }

    /// Notes a look at a page: all claims about it are settled.
    pub fn settle(&mut self, slot: Slot) {
        if let Some(vouched) = self.vouched.get_mut(slot.index()) {
            vouched.set_claimed(false);
        }
    }

    /// Notes that a list names a page. It covers the page from then on, unless the page is on a sitemap already: feeds
    /// name pages for a while. Returns whether that changes anything.
    pub fn cover(&mut self, slot: Slot, list: Slot) -> bool {
        self.vouched.at(slot.index(), Vouched::default());
        let covering = self.list_of(slot);
        if covering == Some(list) || (self.kind_of(slot) == Some(SITEMAP) && self.kind(list) == Some(FEED)) {
            return false;
        }
        self.vouched[slot.index()].set_list(Some(list));
        true
    }

    /// Days added to a page's entry for silence.
    pub fn silence(&self, slot: Slot) -> f64 {
        self.vouched.get(slot.index()).map_or(0.0, |vouched| f64::from(vouched.days))
    }

    /// Removes the silence that was added to a page's entry, and returns its days.
    pub fn take_silence(&mut self, slot: Slot) -> f64 {
        self.vouched.get_mut(slot.index()).map_or(0.0, |vouched| f64::from(std::mem::take(&mut vouched.days)))
    }

    /// Adds the silence of the page's list to an entry that holds the evidence of looks alone.
    pub fn add_silence(&mut self, slot: Slot, entry: &mut PageEntry, recall: impl FnOnce(HintNumber) -> f64) {
        let LastLook::Looked(last) = entry.last_look else { return };
        let Some(kind) = self.kind_of(slot).filter(|_| !self.ignores_silence) else { return };
        let vouched = &mut self.vouched[slot.index()];
        let days = silent_days(last.as_days(), vouched.until_days(), recall(kind));
        vouched.days = days as f32;
        if days > 0.0 {
            entry.last_look = LastLook::Looked(last.plus_days(days));
            entry.belief = with_silence(entry.belief, days);
        }
    }

    fn kind(&self, list: Slot) -> Option<HintNumber> {
        self.lists.get(&list).and_then(List::kind)
    }

    fn kind_of(&self, slot: Slot) -> Option<HintNumber> {
        self.list_of(slot).and_then(|list| self.kind(list))
    }

    /// Adds the silence of a list up to now to a page's entry in the columns.
    pub fn receive_silence(
        &mut self,
        columns: &mut PageColumns,
        slot: Slot,
        list: Slot,
        now: Timestamp,
        recall: impl FnOnce(HintNumber) -> f64,
    ) {
        self.vouch(slot, list, now);
        let taken = self.take_silence(slot);
        let Some(mut entry) = columns.get(slot) else { return };
        if let LastLook::Looked(at) = entry.last_look {
            entry.last_look = LastLook::Looked(at.plus_days(-taken));
            entry.belief = with_silence(entry.belief, -taken);
            self.add_silence(slot, &mut entry, recall);
            columns.update(slot, |old| *old = entry);
        }
    }

    /// Counts a look in the record of the page's host. `hinted` has a bit for each kind of hint since the look before,
    /// at `last`. `expected_fresh` is the probability that the page had not changed, hints set aside.
    pub fn judge(
        &self,
        slot: Slot,
        record: &mut HintRecord,
        hinted: u32,
        changed: bool,
        expected_fresh: f64,
        (last, at): (Timestamp, Timestamp),
    ) {
        let listed = self.kind_of(slot);
        let claimed = self.vouched.get(slot.index()).is_some_and(Vouched::is_claimed);
        let hinted = hinted | listed.filter(|_| claimed).map_or(0, |kind| 1 << kind);
        for number in 0..KINDS {
            if hinted & (1 << number) != 0 {
                record.learn_hinted(number, changed, expected_fresh);
            } else if !comes_from_lists(number) {
                record.learn_silent(number, changed, 1.0);
            } else if listed == Some(number) {
                let covered_days = self.vouched[slot.index()].until_days() - last.as_days();
                let open_days = at.days_since(last) - covered_days.max(0.0);
                let covered = if changed {
                    covered_share(covered_days, open_days, record.recall(number))
                } else {
                    covered_days / at.days_since(last).max(f64::MIN_POSITIVE)
                };
                record.learn_silent(number, changed, covered);
            }
        }
    }

    /// Pages that hints have raised to the price, and lists worth it for the changes they may announce, the best first.
    /// `precision` returns the precision of a kind of hint on a host.
    pub fn due(
        &self,
        columns: &PageColumns,
        index: &Index,
        outlook: &Outlook,
        price: f64,
        now: Timestamp,
        precision: impl Fn(u32, HintNumber) -> f64,
    ) -> Vec<Slot> {
        let worth = |slot: Slot| -> Option<(u32, Worth)> {
            let entry = columns.get(slot).filter(|entry| entry.status == PageStatus::Ready)?;
            Some((entry.host, columns.worth(slot, index, outlook, now)?))
        };
        let pages = self.hinted.iter().filter_map(|(&slot, &hazard)| {
            let (_, worth) = worth(slot)?;
            Some((value_with_hints(&worth, index, hazard), slot))
        });
        // Without a price, the cost of following a list is unknown.
        let lists = self.lists.iter().filter(|_| price > 0.0).filter_map(|(&slot, list)| {
            let (host, worth) = worth(slot)?;
            Some((list.value(worth.value, worth.days, |kind| precision(host, kind), price), slot))
        });
        let mut due: Vec<(f64, Slot)> = pages.chain(lists).filter(|(value, _)| *value >= price).collect();
        due.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        due.into_iter().map(|(_, slot)| slot).collect()
    }
}

/// Effects of the dates that a list gives for pages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Received {
    /// Weight of the pages that it newly claims to have changed.
    pub news: f64,
    /// Pages with a new claim that raises their value.
    pub hinted: Vec<Slot>,
}

/// A claim that raises the probability of a change by less is only counted. A list that dates every page today would
/// otherwise cost an update of every page.
const WORTH_NOTING: f64 = 0.05;

impl HintedPages {
    /// Takes in the dates that a list gives now. `record` returns the hint record of a host.
    pub fn receive<'a>(
        &mut self,
        columns: &mut PageColumns,
        list: Slot,
        dates: impl IntoIterator<Item = (Slot, ListedDate)>,
        now: Timestamp,
        record: impl Fn(u32) -> &'a HintRecord,
    ) -> Received {
        let mut received = Received::default();
        let Some(kind) = self.kind(list) else { return received };
        for (slot, date) in dates {
            self.cover(slot, list);
            let covers = self.list_of(slot) == Some(list);
            if covers {
                self.vouched[slot.index()].named_s = whole_seconds(now);
            }
            let Some(entry) = columns.get(slot) else { continue };
            let LastLook::Looked(at) = entry.last_look else { continue };
            let record = record(entry.host);
            match date.means(at.as_days() - self.silence(slot), now.as_days()) {
                Statement::Changed => {
                    if self.claim(slot, list) {
                        received.news += entry.weight;
                        if record.precision(kind) >= WORTH_NOTING {
                            received.hinted.push(slot);
                        }
                    }
                }
                Statement::Unchanged if covers => {
                    self.receive_silence(columns, slot, list, now, |kind| record.recall(kind));
                }
                Statement::Unchanged => {}
            }
        }
        received
    }

    /// Pages that this list covered before its look at this time, which did not name them. It covers them no more.
    pub fn drop_unnamed(&mut self, list: Slot, read_at: Timestamp) -> Vec<Slot> {
        let read_s = whole_seconds(read_at);
        let mut dropped = Vec::new();
        for (slot, vouched) in (0..).map(Slot::new).zip(self.vouched.iter_mut()) {
            if vouched.list() == Some(list) && vouched.named_s < read_s {
                vouched.list_and_claim = 0;
                dropped.push(slot);
            }
        }
        dropped
    }
}

fn whole_seconds(at: Timestamp) -> u32 {
    at.as_secs().clamp(0, i64::from(u32::MAX)) as u32
}

#[cfg(test)]
mod tests;
