//! Long-term and short-term scheduling (Castillo & Baeza-Yates 2002; the WIRE crawler; C6 of the algorithm notes).
//!
//! Once per period, the long-term scheduler puts the pages whose values a fetch raises most into a batch. The
//! short-term scheduler serves the batch host by host, each host's pages in the order in which they came. A page's
//! value is q^a r^b p^c: quality, quality of its form, and the probability p that the copy is current; a fetch raises p
//! to 1. The gain ignores how soon the page becomes stale again, so pages that change fast are preferred.

use super::pages::{KeyedSlot, SlotTable, believed_rate, sane};
use change_rate::Gamma;
use revisit::columns::Slot;
use revisit::{PlanStanding, PolicyLook, PolicyPage, PolicyTick, RevisitPolicy};
use std::collections::{BTreeMap, VecDeque};

/// The exponents in a page's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exponents {
    /// a, of the intrinsic quality.
    pub quality: f64,
    /// b, of the representational quality.
    pub form: f64,
    /// c, of the probability that the copy is current.
    pub freshness: f64,
}

impl Default for Exponents {
    fn default() -> Self {
        Self { quality: 1.0, form: 1.0, freshness: 1.0 }
    }
}

impl Exponents {
    /// V = q^a r^b p^c: the current value of the copy.
    pub fn value(&self, quality: f64, form: f64, fresh_probability: f64) -> f64 {
        quality.powf(self.quality) * form.powf(self.form) * fresh_probability.powf(self.freshness)
    }

    /// G = q^a r^b (1 - p^c): the gain of a fetch.
    pub fn gain(&self, quality: f64, form: f64, fresh_probability: f64) -> f64 {
        self.value(quality, form, 1.0) * (1.0 - fresh_probability.powf(self.freshness))
    }
}

/// Bytes of a copy, its address included, at which its form counts half.
const HALF_FORM_BYTES: f64 = 65_536.0;

/// r, the representational quality: the fewer bytes a copy takes, the nearer to 1. 000 §2.2 names its parts (address, text,
/// index, abstract) and no formula.
pub fn form_quality(bytes: f64) -> f64 {
    HALF_FORM_BYTES / (HALF_FORM_BYTES + sane(bytes))
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChileOptions {
    /// Weights of quality, form and freshness.
    pub exponents: Exponents,
    /// Time between two batches.
    pub period_days: f64,
}

impl Default for ChileOptions {
    fn default() -> Self {
        Self { exponents: Exponents::default(), period_days: 1.0 }
    }
}

/// The scheduler as a policy. Importance is the quality, the bytes of a copy are its form ([`form_quality`]; 1 while they are
/// not known), and the copy is current with probability e^-λt, with λ the mean of the belief about the change rate. The
/// caller decides when a host may be visited. Pages never fetched have p = 0 and compete like all others.
#[derive(Clone, Debug)]
pub struct Chile {
    options: ChileOptions,
    pages: SlotTable<ChilePage>,
    period_ends_days: Option<f64>,
    budget_per_day: f64,
    batch: ShortTerm,
    /// Pages that are neither in the batch nor in flight.
    waiting: usize,
}

#[derive(Clone, Copy, Debug)]
struct ChilePage {
    weight: f64,
    cost: f64,
    host: u32,
    last_look_days: Option<f64>,
    change_rate_per_day: f64,
    form: f64,
    status: ChileStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChileStatus {
    Waiting,
    Batched,
    InFlight,
}

/// The pages of a batch: a queue per host, hosts in turn.
#[derive(Clone, Debug, Default)]
struct ShortTerm {
    hosts: BTreeMap<u32, VecDeque<Slot>>,
    turns: VecDeque<u32>,
}

impl ShortTerm {
    fn push(&mut self, host: u32, slot: Slot) {
        let queue = self.hosts.entry(host).or_default();
        if queue.is_empty() {
            self.turns.push_back(host);
        }
        queue.push_back(slot);
    }

    fn push_front(&mut self, host: u32, slot: Slot) {
        let queue = self.hosts.entry(host).or_default();
        if queue.is_empty() {
            self.turns.push_back(host);
        }
        queue.push_front(slot);
    }

    fn pop(&mut self) -> Option<Slot> {
        let host = self.turns.pop_front()?;
        let queue = self.hosts.get_mut(&host)?;
        let slot = queue.pop_front();
        if queue.is_empty() {
            self.hosts.remove(&host);
        } else {
            self.turns.push_back(host);
        }
        slot
    }

    fn drain(&mut self) -> impl Iterator<Item = Slot> {
        self.turns.clear();
        std::mem::take(&mut self.hosts).into_values().flatten()
    }
}

impl Chile {
    pub fn new(options: ChileOptions) -> Self {
        Self {
            options,
            pages: SlotTable::default(),
            period_ends_days: None,
            budget_per_day: 0.0,
            batch: ShortTerm::default(),
            waiting: 0,
        }
    }

    fn gain(&self, page: &ChilePage, now_days: f64) -> f64 {
        let fresh_probability = page
            .last_look_days
            .map_or(0.0, |at_days| (-page.change_rate_per_day * (now_days - at_days).max(0.0)).exp());
        self.options.exponents.gain(page.weight, page.form, fresh_probability) / page.cost
    }

    /// Number of pages that the budget of a period pays for, rounded up.
    fn batch_size(&self) -> usize {
        let cost: f64 = self.pages.iter().map(|(_, page)| page.cost).sum();
        let mean_cost = cost / self.pages.len().max(1) as f64;
        (self.budget_per_day * self.options.period_days / mean_cost).ceil() as usize
    }

    /// The long-term scheduler: the rest of the last batch competes again.
    fn choose_batch(&mut self, now_days: f64) {
        for slot in self.batch.drain() {
            if let Some(page) = self.pages.get_mut(slot).filter(|page| page.status == ChileStatus::Batched) {
                page.status = ChileStatus::Waiting;
                self.waiting += 1;
            }
        }
        let batch_size = self.batch_size();
        let mut gains: Vec<KeyedSlot> = self
            .pages
            .iter()
            .filter(|(_, page)| page.status == ChileStatus::Waiting)
            // The key is negative, so that of equal gains the lower slot comes first.
            .map(|(slot, page)| KeyedSlot { key: -self.gain(page, now_days), slot })
            .collect();
        if gains.len() > batch_size {
            gains.select_nth_unstable(batch_size);
            gains.truncate(batch_size);
        }
        gains.sort_unstable();
        for chosen in gains {
            if let Some(page) = self.pages.get_mut(chosen.slot) {
                page.status = ChileStatus::Batched;
                self.waiting -= 1;
                self.batch.push(page.host, chosen.slot);
            }
        }
    }
}

impl RevisitPolicy for Chile {
    fn insert(&mut self, slot: Slot, page: &PolicyPage, _now_days: f64) {
        self.remove(slot);
        self.waiting += 1;
        let page = ChilePage {
            weight: sane(page.weight),
            cost: page.cost,
            host: page.host,
            last_look_days: page.last_look_days,
            change_rate_per_day: believed_rate(page.belief),
            form: 1.0,
            status: ChileStatus::Waiting,
        };
        self.pages.insert(slot, page);
    }

    fn weigh(&mut self, slot: Slot, weight: f64) {
        if let Some(page) = self.pages.get_mut(slot) {
            page.weight = sane(weight);
        }
    }

    fn remove(&mut self, slot: Slot) {
        if self.pages.remove(slot).is_some_and(|page| page.status == ChileStatus::Waiting) {
            self.waiting -= 1;
        }
    }

    fn begin(&mut self, tick: &PolicyTick) {
        self.budget_per_day = sane(tick.budget_per_day);
        if self.period_ends_days.is_none_or(|end| end <= tick.now_days) {
            self.period_ends_days = Some(tick.now_days + self.options.period_days);
            self.choose_batch(tick.now_days);
        }
    }

    fn next(&mut self, now_days: f64) -> Option<Slot> {
        loop {
            while let Some(slot) = self.batch.pop() {
                if let Some(page) = self.pages.get_mut(slot).filter(|page| page.status == ChileStatus::Batched) {
                    page.status = ChileStatus::InFlight;
                    return Some(slot);
                }
            }
            // The batch is finished early: the next one begins.
            if self.waiting == 0 || self.budget_per_day == 0.0 {
                return None;
            }
            self.period_ends_days = Some(now_days + self.options.period_days);
            self.choose_batch(now_days);
        }
    }

    fn put_back(&mut self, slot: Slot) {
        if let Some(page) = self.pages.get_mut(slot).filter(|page| page.status == ChileStatus::InFlight) {
            page.status = ChileStatus::Batched;
            self.batch.push_front(page.host, slot);
        }
    }

    fn looked(&mut self, slot: Slot, look: &PolicyLook) {
        let Some(page) = self.pages.get_mut(slot) else { return };
        page.last_look_days = Some(look.at_days);
        page.change_rate_per_day = believed_rate(look.belief);
        // A page still in the batch stays there: its queue knows it.
        if page.status == ChileStatus::InFlight {
            page.status = ChileStatus::Waiting;
            self.waiting += 1;
        }
    }

    fn believe(&mut self, slot: Slot, belief: Gamma) {
        if let Some(page) = self.pages.get_mut(slot) {
            page.change_rate_per_day = believed_rate(belief);
        }
    }

    fn measure(&mut self, slot: Slot, bytes: f64) {
        if let Some(page) = self.pages.get_mut(slot) {
            page.form = form_quality(bytes);
        }
    }

    fn standing(&self, slot: Slot) -> Option<PlanStanding> {
        let is_batched = self.pages.get(slot)?.status != ChileStatus::Waiting;
        Some(PlanStanding::Batch { is_batched, batch_ends_days: self.period_ends_days? })
    }
}
