//! Pages whose changes are renewal processes: the next look follows from the age of the version, as far as gaps are not exponential.
//!
//! [`even`] has the best evenly spaced looks for any distribution (Meng et al. 2006, eq 35 and 36), [`by_age`] the best looks where
//! the age of the version is known, and [`index`] its prices. [`Renewal`] is the policy: the crawl value of the belief about the
//! rate, as in `crawl-value`, times the ratio of the value under the believed shape and age to that without memory. A page of which no
//! change was seen has no known age, and its ratio is 1.
//!
//! The policy learns the shape ([`change_rate::shape`]): page by page, with the pages of its host as prior. This state is not
//! kept: after a restart ages and shapes are learned anew.

pub mod by_age;
pub mod even;
pub mod index;
pub mod optimum;

use self::index::AgeIndex;
use crate::pages::{KeyedSlot, NewPageQueue, SlotTable, sane};
use change_rate::gaps::GapDistribution;
use change_rate::shape::{EXPONENTIAL, SHAPE_VALUES, SHAPES, ShapeBelief, ShapeEvidence, ShapeSums};
use change_rate::{Gamma, LookOutcome};
use revisit::columns::Slot;
use revisit::{PolicyLook, PolicyPage, PolicyTick, RevisitPolicy};
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::OnceLock;

/// All pages are valued again after this time, or when none of those valued is left.
const VALUED_EVERY_DAYS: f64 = 0.25;
/// The least time between two valuations.
const VALUED_AFTER_DAYS: f64 = 1.0 / 1_440.0;
/// The ratio to the value without memory is kept within these, since shapes and ages are uncertain.
const RATIO: (f64, f64) = (0.02, 50.0);

/// The most valuable look first, by rate, shape and age.
#[derive(Clone, Debug)]
pub struct Renewal {
    theta: f64,
    learns: ShapeLearning,
    pages: SlotTable<RenewedPage>,
    new: NewPageQueue,
    /// Beliefs about shapes by host, of pages with evidence.
    hosts: BTreeMap<u32, ShapeSums>,
    /// By value when they were valued.
    queue: BinaryHeap<KeyedSlot>,
    valued_days: f64,
}

/// Where the shape of gaps comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShapeLearning {
    /// It is learned from the looks.
    Learned,
    /// All pages have the shape with this index of [`SHAPE_VALUES`], for judgements of the rule alone.
    Known(usize),
}

#[derive(Clone, Copy, Debug)]
struct RenewedPage {
    weight: f64,
    cost: f64,
    host: u32,
    belief: Gamma,
    last_look_days: Option<f64>,
    /// Age of the version at the last look; `None` while no change was seen.
    age_days: Option<f64>,
    evidence: ShapeEvidence,
    /// The share of the page in the sums of its host.
    counted: Option<ShapeBelief>,
    in_flight: bool,
}

/// The index of each shape.
static INDEXES: [OnceLock<AgeIndex>; SHAPES] = [const { OnceLock::new() }; SHAPES];

/// The ratio of the value of a look to that without memory, `wait` after one that found a version of this age, in mean gaps.
fn ratio(shape: usize, age: f64, wait: f64) -> f64 {
    if shape == EXPONENTIAL {
        return 1.0;
    }
    let index = |shape: usize| {
        INDEXES[shape].get_or_init(|| {
            AgeIndex::new(&GapDistribution::weibull(SHAPE_VALUES[shape]).unwrap_or(GapDistribution::EXPONENTIAL))
        })
    };
    // Both from the same grid, so that its error cancels.
    let ratio = index(shape).value(age, wait) / index(EXPONENTIAL).value(0.0, wait);
    if ratio.is_finite() { ratio.clamp(RATIO.0, RATIO.1) } else { 1.0 }
}

impl Renewal {
    /// A policy without pages. `theta` is the share of the harmonic penalty in the value without memory.
    pub fn new(theta: f64) -> Self {
        Self::with_shapes(theta, ShapeLearning::Learned)
    }

    /// The same, with shapes from this source.
    pub fn with_shapes(theta: f64, learns: ShapeLearning) -> Self {
        Self {
            theta,
            learns,
            pages: SlotTable::default(),
            new: NewPageQueue::default(),
            hosts: BTreeMap::new(),
            queue: BinaryHeap::new(),
            valued_days: f64::NEG_INFINITY,
        }
    }

    /// The belief about the shape of a page's gaps.
    pub fn shape(&self, slot: Slot) -> Option<ShapeBelief> {
        self.pages.get(slot).map(|page| self.shape_of(page))
    }

    fn shape_of(&self, page: &RenewedPage) -> ShapeBelief {
        let prior = self.hosts.get(&page.host).map_or_else(ShapeBelief::default, ShapeSums::prior);
        page.evidence.belief(&prior)
    }

    /// Days of weighted freshness that a look at a page with a copy buys, per cost.
    fn value(&self, page: &RenewedPage, now_days: f64) -> f64 {
        let Some(last_days) = page.last_look_days else { return 0.0 };
        let days = (now_days - last_days).max(0.0);
        let plain = page.weight / page.cost * page.belief.crawl_value(days, self.theta);
        let Some(age_days) = page.age_days else { return plain };
        let (age, wait) = (page.belief.mean() * age_days, page.belief.mean() * days);
        let factor = match self.learns {
            ShapeLearning::Known(shape) => ratio(shape, age, wait),
            ShapeLearning::Learned => {
                let shapes = page.counted.unwrap_or_else(|| self.shape_of(page));
                let probable = shapes.probabilities().iter().enumerate().filter(|(_, share)| **share > 0.01);
                let (sum, all) = probable.fold((0.0, 0.0), |(sum, all), (shape, share)| {
                    (sum + share * ratio(shape, age, wait), all + share)
                });
                sum / all
            }
        };
        plain * factor
    }

    fn value_all(&mut self, now_days: f64) {
        self.valued_days = now_days;
        let waiting = self.pages.iter().filter(|(_, page)| !page.in_flight && page.last_look_days.is_some());
        self.queue = waiting.map(|(slot, page)| KeyedSlot { key: self.value(page, now_days), slot }).collect();
    }

    /// The most valuable page of those valued.
    fn best(&mut self, now_days: f64) -> Option<Slot> {
        while let Some(first) = self.queue.pop() {
            let Some(page) = self.pages.get(first.slot) else { continue };
            if page.in_flight || page.last_look_days.is_none() {
                continue;
            }
            let key = self.value(page, now_days);
            if self.queue.peek().is_some_and(|other| other.key > key) {
                self.queue.push(KeyedSlot { key, slot: first.slot });
                continue;
            }
            return Some(first.slot);
        }
        None
    }

    /// Queues a page by the most that it is worth before the next valuation.
    fn queue_again(&mut self, slot: Slot) {
        let Some(page) = self.pages.get(slot) else { return };
        let key = self.value(page, self.valued_days + VALUED_EVERY_DAYS);
        self.queue.push(KeyedSlot { key, slot });
    }

    /// Takes the belief of a page about its shape into the sums of its host.
    fn count(&mut self, slot: Slot) {
        let Some(page) = self.pages.get_mut(slot) else { return };
        let sums = self.hosts.entry(page.host).or_default();
        if let Some(before) = &page.counted {
            sums.remove(before);
        }
        let belief = page.evidence.belief(&sums.prior());
        sums.add(&belief);
        page.counted = Some(belief);
    }
}

impl RevisitPolicy for Renewal {
    fn insert(&mut self, slot: Slot, page: &PolicyPage, now_days: f64) {
        self.remove(slot);
        let renewed = RenewedPage {
            weight: sane(page.weight),
            cost: page.cost,
            host: page.host,
            belief: page.belief,
            last_look_days: page.last_look_days,
            age_days: None,
            evidence: ShapeEvidence::default(),
            counted: None,
            in_flight: false,
        };
        if page.last_look_days.is_none() {
            self.new.discovered(slot, now_days);
        }
        self.pages.insert(slot, renewed);
    }

    fn weigh(&mut self, slot: Slot, weight: f64) {
        if let Some(page) = self.pages.get_mut(slot) {
            page.weight = sane(weight);
        }
    }

    fn remove(&mut self, slot: Slot) {
        self.new.remove(slot);
        let Some(page) = self.pages.remove(slot) else { return };
        if let (Some(counted), Some(sums)) = (&page.counted, self.hosts.get_mut(&page.host)) {
            sums.remove(counted);
        }
    }

    fn begin(&mut self, tick: &PolicyTick) {
        if tick.now_days >= self.valued_days + VALUED_EVERY_DAYS {
            self.value_all(tick.now_days);
        }
    }

    fn next(&mut self, now_days: f64) -> Option<Slot> {
        if let Some(slot) = self.new.take() {
            return Some(slot);
        }
        let mut best = self.best(now_days);
        if best.is_none() && now_days >= self.valued_days + VALUED_AFTER_DAYS {
            self.value_all(now_days);
            best = self.best(now_days);
        }
        if let Some(page) = best.and_then(|slot| self.pages.get_mut(slot)) {
            page.in_flight = true;
        }
        best
    }

    fn put_back(&mut self, slot: Slot) {
        if self.new.put_back(slot) {
            return;
        }
        if let Some(page) = self.pages.get_mut(slot).filter(|page| page.in_flight) {
            page.in_flight = false;
            self.queue_again(slot);
        }
    }

    fn looked(&mut self, slot: Slot, look: &PolicyLook) {
        let Some(page) = self.pages.get_mut(slot) else { return };
        let Some(outcome) = look.outcome else {
            // It failed: the copy and its version are as old as before, and a page without a copy still has none.
            page.in_flight = false;
            match page.last_look_days {
                None => self.new.discovered(slot, look.at_days),
                Some(_) => self.queue_again(slot),
            }
            return;
        };
        self.new.remove(slot);
        let before = page.belief;
        (page.belief, page.last_look_days, page.in_flight) = (look.belief, Some(look.at_days), false);
        let Some(interval_days) = look.interval_days else {
            page.age_days = None;
            self.queue_again(slot);
            return;
        };
        let changed = outcome.is_change();
        let known = page.age_days;
        if let Some(age_days) = known {
            page.evidence.look(before, age_days, interval_days, changed);
        }
        page.age_days = match outcome {
            LookOutcome::ChangedAt { age_days } => Some(age_days),
            // The last of the changes lies halfway back, or a mean gap where looks are rare.
            _ if changed => Some((0.5 * interval_days).min(1.0 / look.belief.mean())),
            _ => known.map(|age_days| age_days + interval_days),
        };
        if known.is_some() {
            self.count(slot);
        }
        self.queue_again(slot);
    }

    fn dated(&mut self, slot: Slot, changed_days: f64, at_days: f64) {
        if let Some(page) = self.pages.get_mut(slot) {
            page.age_days = Some((at_days - changed_days).max(0.0));
        }
    }

    fn believe(&mut self, slot: Slot, belief: Gamma) {
        if let Some(page) = self.pages.get_mut(slot) {
            page.belief = belief;
        }
    }
}

#[cfg(test)]
mod tests;
