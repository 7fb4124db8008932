//! The live default as one policy, for simulations: model, columns and selection in one place. The running system
//! splits them over two stages and calls the same functions. The plain crawl value, on the same columns, is here too.

mod crawl_value;
mod extents;
mod packed;
mod saved;

pub use self::crawl_value::CrawlValue;

use self::extents::PageExtents;
use self::packed::{Packed, moment};
use self::saved::SavedFetches;
use crate::columns::{Index, LastLook, PageStatus, Slot, Worth, whole_belief};
use crate::hints::{HintRecord, HintedPages, List, ListSubject, ListedDate, NewsRate, SITEMAP, hazard_of, silence};
use crate::revisit_policy::{PolicyLook, PolicyPage, PolicyTick, RevisitPolicy};
use std::collections::BTreeMap;
use sweeps::rules::SETTLED_BINS;
use sweeps::{OwnEvidence, SweepModel};

/// A list of this many pages.
fn sitemap(pages: usize, news: NewsRate) -> List {
    List { news, about: ListSubject::KnownPages { pages: pages as f64, kind: SITEMAP } }
}

/// How often the price is found, …
const PRICED_EVERY_DAYS: f64 = 0.25;
/// … and how far ahead pages are counted for it.
const AHEAD_DAYS: f64 = 1.0;
/// Pages below this fraction of the price wait. Their budget is better kept for the next page that is due, as long as
/// it can be kept.
pub const FLOOR_OF_PRICE: f64 = 0.3;
/// Days of freshness that a fetch of a page of mean weight must be expected to buy: five seconds. Where the budget is
/// larger than the need, this and not the budget says how often a page is asked for. The value of a look follows from the
/// belief about the page's rate, so a page that may be fast is asked for often, and one known to be slow seldom: after t
/// days at a mean rate of r changes a day, a look is worth about r t²/2.
pub const LEAST_WORTH_DAYS: f64 = 5.0 / 86_400.0;

/// Own rates, sweep calendars and sentinels in one index. It learns from the looks, and ignores the beliefs it is
/// given, which are another estimator's.
#[derive(Clone, Debug)]
pub struct Live {
    packed: Packed,
    model: SweepModel,
    /// A bit for each page looked at since the last refresh: all its groups are known, and its members are those in the
    /// columns.
    settled: Vec<u64>,
    /// Statements of lists, …
    received: HintedPages,
    /// … and by host, how far they were right.
    records: BTreeMap<u32, HintRecord>,
    /// Pages and lists worth the price, the best last.
    due: Vec<Slot>,
    /// The price, when there are lists, and the time at which it was found.
    price: f64,
    priced_days: f64,
    /// Pages worth less are not fetched, however much budget is left. Zero while a day's budget is below a day's need.
    least: f64,
    saved: SavedFetches,
    /// The extents of the pages' changes, if they count.
    extents: Option<PageExtents>,
    importing: bool,
    frozen: bool,
}

impl Live {
    /// A policy without pages. With theta above 0 (at most 1), that share of the harmonic penalty counts, and no page
    /// is ever abandoned.
    pub fn new(theta: f64) -> Self {
        let index = Index::Live { theta, sentinel_weight: sweeps::rules::SENTINEL_WEIGHT };
        Self {
            packed: Packed::new(index),
            model: SweepModel::starting_at(0.0),
            settled: Vec::new(),
            received: HintedPages::default(),
            records: BTreeMap::new(),
            due: Vec::new(),
            price: 0.0,
            priced_days: f64::NEG_INFINITY,
            least: 0.0,
            saved: SavedFetches::default(),
            extents: None,
            importing: false,
            frozen: false,
        }
    }

    /// The same policy, where this share of a change's value follows its extent ([`crate::worth_of_changes`]). To be called before
    /// pages are added.
    #[must_use]
    pub fn with_extent_share(self, extent_share: f64) -> Self {
        Self { extents: (extent_share > 0.0).then(|| PageExtents::new(extent_share)), ..self }
    }

    /// The model of sweeps that the policy has learned.
    pub fn model(&self) -> &SweepModel {
        &self.model
    }

    /// The value of a fetch, part by part.
    pub fn worth(&self, slot: Slot, now_days: f64) -> Option<Worth> {
        self.packed.columns.worth(slot, &self.packed.index, self.model.outlook(), moment(now_days))
    }

    /// Takes in one look of an imported history, over (from, to] of at most a day. Call it with all looks of one day
    /// before those of the next. It teaches the model but is no look at the page: [`Live::finish_import`] must follow.
    pub fn import(&mut self, slot: Slot, from_days: f64, to_days: f64, changed: bool) {
        if !self.importing {
            self.importing = true;
            self.refresh();
            self.model.restart_calendars(from_days);
        }
        // A day's looks end at the first moment of the next day, when yesterday's bin is not complete yet.
        self.model.advance(to_days, 2);
        let outcome = if changed { change_rate::LookOutcome::Changed } else { change_rate::LookOutcome::Unchanged };
        self.learn(slot, from_days, to_days, outcome);
    }

    /// Ends the import. The fraction `keep` of its evidence counts ([`sweeps::rules::HISTORY_KEPT`]), and the copies of
    /// all pages become current as of now.
    pub fn finish_import(&mut self, keep: f64, now_days: f64) {
        self.importing = false;
        self.model.advance(now_days, 1);
        self.model.temper(keep, 1);
        for slot in (0..self.packed.columns.slots() as u32).map(Slot::new) {
            self.packed.columns.update(slot, |entry| {
                entry.belief = entry.belief.tempered(keep);
                entry.last_look = LastLook::Looked(moment(now_days));
            });
        }
    }

    /// Stops learning: from now on looks renew copies only. Sentinels are worth only what they teach, and a calendar
    /// without updates says nothing about the days ahead. What remains is the crawl value of the belief about all
    /// causes of change together.
    pub fn freeze(&mut self) {
        self.frozen = true;
        if let Index::Live { theta, .. } = self.packed.index {
            self.packed.index = Index::CrawlValue { theta };
        }
        let columns = &mut self.packed.columns;
        for slot in (0..columns.slots() as u32).map(Slot::new) {
            if let (Some(place), Some(entry)) = (columns.place(slot), columns.get(slot)) {
                let plain = self.model.outlook().priors(place.cell).plain(&entry.belief);
                columns.set_belief(slot, &whole_belief(plain));
            }
        }
    }

    fn learn(&mut self, slot: Slot, from_days: f64, to_days: f64, outcome: change_rate::LookOutcome) {
        let columns = &mut self.packed.columns;
        let Some(mut belief) = columns.belief(slot) else { return };
        let (word, bit) = (slot.index() / 64, 1 << (slot.index() % 64));
        let settled = self.settled.get(word).is_some_and(|word| word & bit != 0);
        let members = match columns.members(slot, self.model.outlook()).filter(|_| settled) {
            Some(members) => members,
            None => {
                // The first look at a page may make one of its groups known.
                let Some(place) = columns.place(slot) else { return };
                let members = self.model.members(&place);
                if let (true, Some(word)) = (columns.is_refreshed(self.model.outlook()), self.settled.get_mut(word)) {
                    *word |= bit;
                }
                members
            }
        };
        self.model.look_at(&members, &mut belief, from_days, to_days, outcome);
        columns.set_belief(slot, &belief);
    }

    /// Moves pages to the groups that are known by now.
    fn refresh(&mut self) {
        let columns = &mut self.packed.columns;
        if !columns.is_refreshed(self.model.outlook()) {
            columns.refresh(self.model.outlook(), usize::MAX);
            self.settled.clear();
            self.settled.resize(columns.slots().div_ceil(64), 0);
        }
    }

    fn precision(&self, host: u32) -> f64 {
        self.records
            .get(&host)
            .map_or_else(|| HintRecord::default().precision(SITEMAP), |known| known.precision(SITEMAP))
    }

    /// Finds anew whether a day's budget exceeds a day's need; and, where there are lists, the price: the value that a day's
    /// budget reaches. A page worth far less waits, and its fetch is saved for what the lists announce.
    fn set_price(&mut self, tick: &PolicyTick) {
        if tick.now_days < self.priced_days + PRICED_EVERY_DAYS {
            return;
        }
        let Packed { columns, index, .. } = &self.packed;
        let values = columns.value_histogram(moment(tick.now_days + AHEAD_DAYS), index, self.model.outlook());
        let (fetches, least) = (tick.budget_per_day * AHEAD_DAYS, LEAST_WORTH_DAYS * columns.mean_weight());
        self.least = if values.at_or_above(least) < fetches { least } else { 0.0 };
        self.price = if self.received.has_lists() { values.price_for(fetches).max(self.least) } else { 0.0 };
        self.priced_days = tick.now_days;
    }

    /// Before the columns change: judges hints by a look, and removes the evidence of lists from the page's entry.
    fn judge_hints(&mut self, slot: Slot, look: &PolicyLook) {
        if self.received.list_of(slot).is_none() {
            return;
        }
        let worth = self.worth(slot, look.at_days);
        let host = self.packed.columns.get(slot).map_or(0, |entry| entry.host);
        if let (Some(worth), Some(interval_days), Some(outcome)) = (worth, look.interval_days, look.outcome) {
            let record = self.records.entry(host).or_default();
            let (last, at) = (moment(look.at_days - interval_days), moment(look.at_days));
            self.received.judge(slot, record, 0, outcome.is_change(), worth.fresh_probability, (last, at));
        }
        let silent_days = self.received.take_silence(slot);
        let columns = &mut self.packed.columns;
        if let Some(belief) = columns.belief(slot) {
            columns.set_belief(slot, &silence::with_silence(belief, -silent_days));
        }
        self.received.set_hazard(slot, 0.0);
        self.received.settle(slot);
    }
}

impl RevisitPolicy for Live {
    fn insert(&mut self, slot: Slot, page: &PolicyPage, now_days: f64) {
        if self.packed.columns.is_empty() {
            self.model = SweepModel::starting_at(now_days);
        }
        self.model.insert(&page.place);
        self.packed.insert(slot, page, OwnEvidence::default(), now_days);
        if let Some(extents) = &mut self.extents {
            extents.insert(slot, page.weight / page.cost);
        }
    }

    fn remove(&mut self, slot: Slot) {
        self.received.remove(slot);
        if let Some(place) = self.packed.columns.place(slot) {
            self.model.remove(&place);
            self.settled.fill(0);
            self.packed.columns.remove(slot);
        }
    }

    fn insert_list(&mut self, slot: Slot, page: &PolicyPage, pages: usize, now_days: f64) {
        self.packed.insert(slot, page, OwnEvidence::default(), now_days);
        let list = sitemap(pages, NewsRate::default());
        self.received.set_list(slot, Some(list));
    }

    fn received(&mut self, list: Slot, dates: &[(Slot, ListedDate)], now_days: f64) {
        let (Some(&known), Some(last)) = (self.received.list(list), self.packed.last_look_days(list)) else { return };
        let (now, nothing) = (moment(now_days), HintRecord::default());
        let record = |host| self.records.get(&host).unwrap_or(&nothing);
        let received = self.received.receive(&mut self.packed.columns, list, dates.iter().copied(), now, record);
        for slot in received.hinted {
            let host = self.packed.columns.get(slot).map_or(0, |entry| entry.host);
            self.received.set_hazard(slot, hazard_of(self.precision(host)));
        }
        let news = known.news.after(now_days - last, received.news);
        self.received.set_list(list, Some(sitemap(dates.len(), news)));
    }

    fn dated(&mut self, slot: Slot, changed_days: f64, at_days: f64) {
        let columns = &mut self.packed.columns;
        if let (Some(place), Some(mut belief)) = (columns.place(slot), columns.belief(slot)) {
            self.model.first_look(&place, &mut belief, at_days, at_days - changed_days);
            columns.set_belief(slot, &belief);
        }
    }

    fn begin(&mut self, tick: &PolicyTick) {
        self.model.advance(tick.now_days + tick.days, SETTLED_BINS);
        self.refresh();
        self.saved.earn(tick);
        self.set_price(tick);
        let Packed { columns, index, .. } = &self.packed;
        let (outlook, now) = (self.model.outlook(), moment(tick.now_days));
        self.due = self.received.due(columns, index, outlook, self.price, now, |host, _| self.precision(host));
        self.due.reverse();
        self.packed.begin(tick, self.model.outlook());
    }

    fn next(&mut self, now_days: f64) -> Option<Slot> {
        while let Some(slot) = self.due.pop() {
            if self.packed.columns.get(slot).is_some_and(|entry| entry.status == PageStatus::Ready) {
                self.packed.columns.set_status(slot, PageStatus::InFlight);
                self.saved.fetches -= 1.0;
                return Some(slot);
            }
        }
        let (slot, value) = self.packed.next(now_days, self.model.outlook())?;
        if value < self.least || (value < FLOOR_OF_PRICE * self.price && self.saved.surplus() < 1.0) {
            self.packed.columns.set_status(slot, PageStatus::Ready);
            self.packed.columns.unanswered(slot);
            return None;
        }
        self.saved.fetches -= 1.0;
        if let Some(members) = self.packed.columns.members(slot, self.model.outlook()) {
            self.model.fetch_ahead(&members);
        }
        Some(slot)
    }

    fn put_back(&mut self, slot: Slot) {
        self.saved.fetches += 1.0;
        self.packed.columns.set_status(slot, PageStatus::Ready);
    }

    fn looked(&mut self, slot: Slot, look: &PolicyLook) {
        self.judge_hints(slot, look);
        if let (Some(interval_days), Some(outcome), false) = (look.interval_days, look.outcome, self.frozen) {
            self.learn(slot, look.at_days - interval_days, look.at_days, outcome);
        }
        self.packed.looked(slot, look, None);
        if let Some(extents) = &mut self.extents {
            extents.looked(slot, look, &mut self.packed.columns);
        }
    }
}
