//! Policies with their own account of pages, and the waits that they do not know of.

use crate::demand::PlanShare;
use crate::rules::FrontierRules;
use change_rate::{Gamma, LookOutcome};
use messages::Verdict;
use page::Timestamp;
use policies::Filled;
use revisit::columns::Slot;
use revisit::{PlanStanding, PlanValues, PolicyLook, PolicyPage, PolicyTick, RevisitPolicy};
use std::collections::BTreeSet;

/// A policy with its own account, and the pages it has chosen. Those are in flight, or wait here for a time that the
/// policy does not know.
pub(crate) struct Planner {
    policy: Box<dyn RevisitPolicy>,
    out: BTreeSet<Slot>,
}

impl Planner {
    /// The policy of the settings; `None` where the scheduler scores every page.
    pub(crate) fn new(rules: &FrontierRules) -> Option<Self> {
        if rules.scores_pages() {
            return None;
        }
        let policy = rules.policy.build(&rules.options);
        // The operator gave a budget to be spent. A policy that waits for due dates would leave most of a rich one.
        let policy = if rules.policy.waits() { Box::new(Filled::new(policy)) } else { policy };
        Some(Self { policy, out: BTreeSet::new() })
    }

    /// Adds a page, or replaces it after a change (of its weight).
    pub(crate) fn insert(&mut self, slot: Slot, page: &PolicyPage, now: Timestamp) {
        self.remove(slot);
        self.policy.insert(slot, page, now.as_days());
    }

    /// The weight of a page has changed; it keeps its place.
    pub(crate) fn weigh(&mut self, slot: Slot, weight: f64) {
        self.policy.weigh(slot, weight);
    }

    pub(crate) fn remove(&mut self, slot: Slot) {
        self.policy.remove(slot);
        self.out.remove(&slot);
    }

    pub(crate) fn begin(&mut self, now: Timestamp, tick_days: f64, budget_per_day: f64) {
        self.policy.begin(&PolicyTick { now_days: now.as_days(), days: tick_days, budget_per_day });
    }

    /// The next page. A page that is held, or in flight for another reason, stays out until it is freed or looked at.
    pub(crate) fn next(&mut self, now: Timestamp) -> Option<Slot> {
        let slot = self.policy.next(now.as_days())?;
        self.out.insert(slot);
        Some(slot)
    }

    /// Makes a page available again without a look.
    pub(crate) fn freed(&mut self, slot: Slot) {
        if self.out.remove(&slot) {
            self.policy.put_back(slot);
        }
    }

    pub(crate) fn looked(&mut self, slot: Slot, look: &PolicyLook) {
        self.out.remove(&slot);
        self.policy.looked(slot, look);
    }

    /// Takes in a belief learned from siblings.
    pub(crate) fn believe(&mut self, slot: Slot, belief: Gamma) {
        self.policy.believe(slot, belief);
    }

    /// Passes on how many new pages a page links to.
    pub(crate) fn shows(&mut self, slot: Slot, new_pages_per_day: f64) {
        self.policy.shows(slot, new_pages_per_day);
    }

    /// Passes on the size of a page's copy, its address included.
    pub(crate) fn measure(&mut self, slot: Slot, bytes: f64) {
        self.policy.measure(slot, bytes);
    }

    pub(crate) fn due_days(&self, slot: Slot) -> Option<f64> {
        self.policy.due_days(slot)
    }

    pub(crate) fn standing(&self, slot: Slot) -> Option<PlanStanding> {
        self.policy.standing(slot)
    }

    /// Number of pages that the plan favours. Takes time in proportion to the slots.
    pub(crate) fn pages_ahead(&self, slots: usize) -> u64 {
        let standings = (0..slots as u32).filter_map(|number| self.policy.standing(Slot::new(number)));
        standings.filter(PlanStanding::is_ahead).count() as u64
    }

    /// The plan as other partitions must know it. Takes time in proportion to the pages.
    pub(crate) fn share(&self) -> PlanShare {
        PlanShare {
            values: self.policy.plan_values().unwrap_or_default(),
            demand: self.policy.plan_demand().unwrap_or(0.0),
        }
    }

    /// Takes in what the plans of other partitions rank by, and the budget of these and this one.
    pub(crate) fn learn_plan_values(&mut self, others: &[PlanValues], budget_per_day: f64) {
        self.policy.learn_plan_values(others, budget_per_day);
    }
}

/// The outcome of a look. A first look has nothing to compare with.
pub(crate) fn look_of(
    verdict: Verdict,
    fetched_at: Timestamp,
    previous: Option<Timestamp>,
    belief: Gamma,
) -> PolicyLook {
    let changed = if verdict == Verdict::First { Some(false) } else { verdict.is_change() };
    let outcome = changed.map(|changed| if changed { LookOutcome::Changed } else { LookOutcome::Unchanged });
    let interval_days = previous.filter(|_| verdict != Verdict::First).map(|previous| fetched_at.days_since(previous));
    PolicyLook {
        at_days: fetched_at.as_days(),
        interval_days: interval_days.map(|days| days.max(0.0)),
        outcome,
        extent: None,
        belief,
    }
}
