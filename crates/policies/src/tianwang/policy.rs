//! Tianwang as a policy.

use super::tables::{CycleOptions, DueOrder, PageInfo, Tables};
use crate::pages::{SlotTable, sane};
use change_rate::Gamma;
use revisit::columns::Slot;
use revisit::{PlanStanding, PolicyLook, PolicyPage, PolicyTick, RevisitPolicy};
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TianwangOptions {
    pub cycle_days: f64,
    pub cycle: CycleOptions,
}

/// Cycles of a day, a fifth of each for new URLs, the earliest due first.
impl Default for TianwangOptions {
    fn default() -> Self {
        Self { cycle_days: 1.0, cycle: CycleOptions { new_share: 0.2, order: DueOrder::EarliestDue } }
    }
}

/// The policy, cycle after cycle. It leaves the budget unspent that a cycle does not need.
#[derive(Clone, Debug)]
pub struct Tianwang {
    options: TianwangOptions,
    tables: Tables,
    /// The rest of the cycle's plan. Pages may have been removed since.
    plan: VecDeque<Slot>,
    in_flight: SlotTable<()>,
    cycle_ends_days: Option<f64>,
    /// Fractions of fetches left over by rounding.
    spare_fetches: f64,
    costs: SlotTable<f64>,
}

impl Tianwang {
    pub fn new(options: TianwangOptions) -> Self {
        Self {
            options,
            tables: Tables::default(),
            plan: VecDeque::new(),
            in_flight: SlotTable::default(),
            cycle_ends_days: None,
            spare_fetches: 0.0,
            costs: SlotTable::default(),
        }
    }

    fn capacity(&mut self, budget_per_day: f64) -> usize {
        let cost: f64 = self.costs.iter().map(|(_, cost)| cost).sum();
        let mean_cost = cost / self.costs.len().max(1) as f64;
        let fetches = if mean_cost > 0.0 { sane(budget_per_day) * self.options.cycle_days / mean_cost } else { 0.0 };
        // Slightly more, against rounding.
        let whole = (fetches + self.spare_fetches + 1e-9).floor();
        self.spare_fetches += fetches - whole;
        whole as usize
    }
}

impl RevisitPolicy for Tianwang {
    fn insert(&mut self, slot: Slot, page: &PolicyPage, now_days: f64) {
        self.costs.insert(slot, sane(page.cost));
        let info = PageInfo::new(sane(page.weight), page.belief, page.last_look_days, now_days);
        self.tables.parsed(slot, info);
    }

    fn weigh(&mut self, slot: Slot, weight: f64) {
        self.tables.weigh(slot, sane(weight));
    }

    fn remove(&mut self, slot: Slot) {
        self.costs.remove(slot);
        self.tables.forget(slot);
        self.in_flight.remove(slot);
    }

    fn begin(&mut self, tick: &PolicyTick) {
        if self.cycle_ends_days.is_some_and(|end| tick.now_days < end) {
            return;
        }
        for slot in self.plan.drain(..) {
            self.tables.not_reached(slot);
        }
        let end_days = tick.now_days + self.options.cycle_days;
        self.cycle_ends_days = Some(end_days);
        let capacity = self.capacity(tick.budget_per_day);
        let plan = self.tables.plan_cycle(tick.now_days, end_days, capacity, &self.options.cycle);
        self.plan.extend(plan.new.into_iter().chain(plan.due).chain(plan.remained));
    }

    fn next(&mut self, _now_days: f64) -> Option<Slot> {
        // Pages removed, or looked at for another reason, are no longer planned.
        let slot = std::iter::from_fn(|| self.plan.pop_front()).find(|&slot| self.tables.is_planned(slot))?;
        self.in_flight.insert(slot, ());
        Some(slot)
    }

    fn put_back(&mut self, slot: Slot) {
        if self.in_flight.remove(slot).is_some() {
            self.plan.push_front(slot);
        }
    }

    fn looked(&mut self, slot: Slot, look: &PolicyLook) {
        self.in_flight.remove(slot);
        let changed = look.outcome.map(|outcome| look.interval_days.is_some() && outcome.is_change());
        self.tables.looked(slot, look.at_days, changed, look.belief);
    }

    fn believe(&mut self, slot: Slot, belief: Gamma) {
        self.tables.believe(slot, belief);
    }

    fn due_days(&self, slot: Slot) -> Option<f64> {
        self.tables.page_info(slot).map(|info| info.next_crawl_days).filter(|due| due.is_finite())
    }

    fn shows(&mut self, slot: Slot, new_pages_per_day: f64) {
        // Once a cycle at most, or it would take all that others leave over.
        self.tables.shows(slot, new_pages_per_day.min(self.options.cycle_days.recip()));
    }

    fn standing(&self, slot: Slot) -> Option<PlanStanding> {
        let info = self.tables.page_info(slot)?;
        Some(PlanStanding::Cycle {
            table: self.tables.table_of(slot)?,
            change_period_days: info.change_period_days,
            new_page_period_days: info.new_page_period_days,
            is_planned: self.tables.is_planned(slot),
            cycle_ends_days: self.cycle_ends_days?,
        })
    }
}
