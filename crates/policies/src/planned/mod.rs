//! Policies that plan how often every page is fetched, and then fetch at those rates.
//!
//! From time to time a [`RatePlan`] shares the budget by the beliefs about the pages. In between, the earliest deadline
//! comes first, and the next deadline counts from it, not from the time of the fetch (C19). So rates do not drift and
//! looks are evenly spaced, which is worth more than exact rates. A new plan stretches the time left until a page's
//! deadline; it does not start over.
//!
//! The whole budget is spent: the earliest deadline is served even when it still lies ahead. So time here is the time
//! of the deadlines served, not the caller's. It stands still when nothing is fetched, and runs ahead when the budget
//! is larger than planned.

mod plan;

pub use plan::RatePlan;

use crate::chairman;
use crate::classified::{AlikePages, ClassifiedPlan, ClassifiedRule};
use crate::edf::Deadline;
use crate::pages::phase;
use change_rate::Gamma;
use revisit::allocate::PageTerms;
use revisit::columns::Slot;
use revisit::{PlanStanding, PlanValues, PolicyLook, PolicyPage, PolicyTick, RevisitPolicy};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A plan is renewed early when more than this share of the pages, or of the budget, differs from the plan.
const SURPRISE: f64 = 0.1;

/// A policy that follows a [`RatePlan`]. Pages never fetched come first, in the order of insertion. A page becomes part
/// of the first plan after its first look.
pub struct PlannedPolicy {
    plan: RatePlan,
    replan_days: f64,
    chairman: bool,
    pages: Vec<PlannedPage>,
    new: BinaryHeap<Reverse<Deadline>>,
    /// Pages with deadlines that may be served.
    ready: BinaryHeap<Reverse<Deadline>>,
    /// Pages that may not be served yet, by the time from which they may (chairman assignment only).
    early: BinaryHeap<Reverse<Deadline>>,
    /// Time of the deadlines served.
    clock_days: f64,
    now_days: f64,
    planned: Option<LastPlan>,
    unplanned_pages: usize,
    /// Change rates of the pages of other partitions, for a plan that all make together, and the budget of all.
    others: Vec<PlanValues>,
    budget_of_all_per_day: f64,
}

struct LastPlan {
    at_days: f64,
    budget_per_day: f64,
    pages: usize,
    /// Pages of other partitions.
    others: usize,
    /// The classes of a plan by classes.
    classes: Option<ClassifiedPlan>,
    /// Step of the chairman assignment's clock per fetch.
    days_per_fetch: f64,
    slack: f64,
}

#[derive(Clone, Copy, PartialEq)]
enum PlannedStatus {
    Vacant,
    /// Never fetched; due since its deadline.
    New,
    NewInFlight,
    Waiting,
    InFlight,
}

impl PlannedStatus {
    fn has_copy(self) -> bool {
        matches!(self, PlannedStatus::Waiting | PlannedStatus::InFlight)
    }
}

#[derive(Clone, Copy)]
struct PlannedPage {
    change_rate_per_day: f32,
    weight: f32,
    cost: f32,
    host: u32,
    /// On the clock of the deadlines. Without an interval: the fraction of an interval that will be left once there is
    /// one.
    deadline: f64,
    /// Infinite: not part of the plan.
    interval_days: f64,
    status: PlannedStatus,
}

impl PlannedPolicy {
    /// The usual time between two plans.
    pub const REPLAN_DAYS: f64 = 1.0;

    /// A policy without pages that follows a plan, renewed every `replan_days` (positive).
    pub fn new(plan: RatePlan, replan_days: f64) -> Self {
        Self {
            plan,
            replan_days,
            chairman: false,
            pages: Vec::new(),
            new: BinaryHeap::new(),
            ready: BinaryHeap::new(),
            early: BinaryHeap::new(),
            clock_days: 0.0,
            now_days: 0.0,
            planned: None,
            unplanned_pages: 0,
            others: Vec::new(),
            budget_of_all_per_day: 0.0,
        }
    }

    /// The same with the chairman assignment (C13): a page is not served again before its turn, even when budget is
    /// left.
    pub fn with_chairman(mut self) -> Self {
        self.chairman = true;
        self
    }

    /// Fetches per day planned for a page; zero while it is not part of the plan.
    pub fn fetches_per_day(&self, slot: Slot) -> f64 {
        self.pages.get(slot.index()).map_or(0.0, |page| 1.0 / page.interval_days)
    }

    fn surprised(&self, tick: &PolicyTick) -> bool {
        let Some(last) = &self.planned else { return true };
        tick.now_days >= last.at_days + self.replan_days
            || self.unplanned_pages as f64 > SURPRISE * last.pages as f64
            || self.pages_of_others().abs_diff(last.others) as f64 > SURPRISE * (last.pages + last.others) as f64
            || (tick.budget_per_day - last.budget_per_day).abs() > SURPRISE * last.budget_per_day
    }

    fn replan(&mut self, tick: &PolicyTick) {
        let slots: Vec<usize> = (0..self.pages.len()).filter(|&i| self.pages[i].status.has_copy()).collect();
        let terms: Vec<PageTerms> = slots.iter().map(|&i| self.pages[i].terms()).collect();
        let hosts: Vec<u32> = slots.iter().map(|&i| self.pages[i].host).collect();
        let (rates, classes) = match &self.plan {
            RatePlan::Classified(rule) => {
                let classes = self.classes(rule, &terms, tick.budget_per_day);
                (terms.iter().map(|page| classes.fetches_per_day(page.change_rate_per_day)).collect(), Some(classes))
            }
            plan => (plan.fetch_rates_per_day(&terms, &hosts, tick.budget_per_day), None),
        };
        let served = rates.iter().filter(|rate| **rate > 0.0).count();
        self.planned = Some(LastPlan {
            at_days: tick.now_days,
            budget_per_day: tick.budget_per_day,
            pages: slots.len(),
            others: self.pages_of_others(),
            classes,
            days_per_fetch: 1.0 / rates.iter().sum::<f64>(),
            slack: chairman::slack(served),
        });
        self.unplanned_pages = 0;
        self.ready.clear();
        self.early.clear();
        for (&i, rate) in slots.iter().zip(rates) {
            self.pages[i].stretch(self.clock_days, 1.0 / rate);
            if self.pages[i].status == PlannedStatus::Waiting {
                self.enqueue(i);
            }
        }
    }

    /// The classes of these pages and those of other partitions together.
    fn classes(&self, rule: &ClassifiedRule, own: &[PageTerms], budget_per_day: f64) -> ClassifiedPlan {
        let mut pages: Vec<AlikePages> = own.iter().map(AlikePages::from).collect();
        if self.others.is_empty() {
            return rule.plan(&pages, budget_per_day);
        }
        // The costs of others are not known; they are like our own.
        let cost = own.iter().map(|page| page.cost).sum::<f64>() / own.len().max(1) as f64;
        let cost = if cost > 0.0 { cost } else { 1.0 };
        for values in &self.others {
            let alike = |rate: &f64| AlikePages { change_rate_per_day: *rate, pages: values.each(), cost };
            pages.extend(values.values().iter().map(alike));
        }
        rule.plan(&pages, self.budget_of_all_per_day)
    }

    fn pages_of_others(&self) -> usize {
        self.others.iter().map(PlanValues::count).sum()
    }

    /// Puts a waiting page into the queue for its deadline.
    fn enqueue(&mut self, i: usize) {
        let PlannedPage { deadline, interval_days, .. } = self.pages[i];
        if interval_days == f64::INFINITY {
            return;
        }
        let slack = self.planned.as_ref().map_or(0.0, |last| last.slack);
        if self.chairman && slack > 0.0 {
            let from = deadline - (1.0 - 2.0 * slack) * interval_days;
            self.early.push(Reverse(Deadline { days: from, page: i }));
        } else {
            self.ready.push(Reverse(Deadline { days: deadline, page: i }));
        }
    }

    /// The first entry of a queue whose page still has this `status` and deadline.
    fn pop(&mut self, status: PlannedStatus) -> Option<usize> {
        let queue = if status == PlannedStatus::New { &mut self.new } else { &mut self.ready };
        while let Some(Reverse(Deadline { days, page: i })) = queue.pop() {
            if self.pages[i].status == status && self.pages[i].deadline == days {
                return Some(i);
            }
        }
        None
    }

    /// Makes the pages ready whose turn has come, at least one.
    fn release(&mut self) {
        while let Some(&Reverse(Deadline { days, page: i })) = self.early.peek()
            && (days <= self.clock_days || self.ready.is_empty())
        {
            self.early.pop();
            let PlannedPage { status, deadline, interval_days, .. } = self.pages[i];
            if status == PlannedStatus::Waiting && interval_days < f64::INFINITY {
                self.ready.push(Reverse(Deadline { days: deadline, page: i }));
            }
        }
    }
}

impl PlannedPage {
    fn terms(&self) -> PageTerms {
        PageTerms {
            weight: f64::from(self.weight),
            cost: f64::from(self.cost),
            ..PageTerms::new(f64::from(self.change_rate_per_day))
        }
    }

    /// Gives the page another interval. The fraction of the interval left until the deadline stays the same.
    fn stretch(&mut self, clock_days: f64, interval_days: f64) {
        let part = if self.interval_days < f64::INFINITY {
            (self.deadline - clock_days) / self.interval_days
        } else {
            self.deadline
        };
        // A rate that is not a positive number means no fetches.
        let planned = interval_days > 0.0 && interval_days < f64::INFINITY;
        self.deadline = if planned { clock_days + part * interval_days } else { part };
        self.interval_days = if planned { interval_days } else { f64::INFINITY };
    }

    /// Sets the deadline after the one just served. Deadlines missed entirely are skipped, not made up for: a host that
    /// was away for a month is not fetched thirty times in a row.
    fn advance(&mut self, clock_days: f64) {
        if self.interval_days < f64::INFINITY {
            let missed = (clock_days - self.deadline) / self.interval_days;
            self.deadline += missed.floor().max(0.0) * self.interval_days + self.interval_days;
        }
    }
}

impl RevisitPolicy for PlannedPolicy {
    fn insert(&mut self, slot: Slot, page: &PolicyPage, now_days: f64) {
        let i = slot.index();
        if i >= self.pages.len() {
            self.pages.resize(i + 1, PlannedPage::VACANT);
        }
        let known = page.last_look_days.is_some();
        self.pages[i] = PlannedPage {
            change_rate_per_day: page.belief.mean() as f32,
            weight: page.weight as f32,
            cost: page.cost as f32,
            host: page.host,
            deadline: if known { phase(slot) } else { now_days },
            interval_days: f64::INFINITY,
            status: if known { PlannedStatus::Waiting } else { PlannedStatus::New },
        };
        if known {
            self.unplanned_pages += 1;
        } else {
            self.new.push(Reverse(Deadline { days: now_days, page: i }));
        }
    }

    fn weigh(&mut self, slot: Slot, weight: f64) {
        if let Some(page) = self.pages.get_mut(slot.index()) {
            page.weight = weight as f32;
        }
    }

    fn remove(&mut self, slot: Slot) {
        if let Some(page) = self.pages.get_mut(slot.index()) {
            page.status = PlannedStatus::Vacant;
        }
    }

    fn begin(&mut self, tick: &PolicyTick) {
        self.now_days = tick.now_days;
        if self.surprised(tick) {
            self.replan(tick);
        }
    }

    fn next(&mut self, _now_days: f64) -> Option<Slot> {
        let i = if let Some(i) = self.pop(PlannedStatus::New) {
            self.pages[i].status = PlannedStatus::NewInFlight;
            i
        } else {
            let i = loop {
                self.release();
                match self.pop(PlannedStatus::Waiting) {
                    Some(i) => break i,
                    None if self.early.is_empty() => return None,
                    None => {}
                }
            };
            self.pages[i].status = PlannedStatus::InFlight;
            let deadline = self.pages[i].deadline;
            self.clock_days = match &self.planned {
                Some(last) if self.chairman => self.clock_days + last.days_per_fetch,
                _ => self.clock_days.max(deadline),
            };
            i
        };
        Some(Slot::new(i as u32))
    }

    fn put_back(&mut self, slot: Slot) {
        let i = slot.index();
        let Some(page) = self.pages.get_mut(i) else { return };
        match page.status {
            PlannedStatus::NewInFlight => {
                page.status = PlannedStatus::New;
                self.new.push(Reverse(Deadline { days: page.deadline, page: i }));
            }
            PlannedStatus::InFlight => {
                page.status = PlannedStatus::Waiting;
                self.enqueue(i);
            }
            PlannedStatus::Vacant | PlannedStatus::New | PlannedStatus::Waiting => {}
        }
    }

    fn looked(&mut self, slot: Slot, look: &PolicyLook) {
        let i = slot.index();
        let clock_days = self.clock_days;
        let Some(page) = self.pages.get_mut(i) else { return };
        page.change_rate_per_day = look.belief.mean() as f32;
        match page.status {
            PlannedStatus::New | PlannedStatus::NewInFlight => {
                page.status = PlannedStatus::Waiting;
                page.deadline = phase(slot);
                self.unplanned_pages += 1;
            }
            PlannedStatus::InFlight => {
                page.status = PlannedStatus::Waiting;
                page.advance(clock_days);
                self.enqueue(i);
            }
            // A look that this policy did not ask for; its own go on as planned.
            PlannedStatus::Waiting | PlannedStatus::Vacant => {}
        }
    }

    fn believe(&mut self, slot: Slot, belief: Gamma) {
        if let Some(page) = self.pages.get_mut(slot.index()) {
            page.change_rate_per_day = belief.mean() as f32;
        }
    }

    fn due_days(&self, slot: Slot) -> Option<f64> {
        let page = self.pages.get(slot.index())?;
        let planned = page.interval_days < f64::INFINITY && page.status != PlannedStatus::Vacant;
        planned.then_some(self.now_days + page.deadline - self.clock_days)
    }

    fn standing(&self, slot: Slot) -> Option<PlanStanding> {
        let page = self.pages.get(slot.index()).filter(|page| page.interval_days < f64::INFINITY)?;
        let fetches_per_day = 1.0 / page.interval_days;
        Some(match self.planned.as_ref()?.classes {
            // The page's own change rate may have moved since the plan; its class has not.
            Some(ClassifiedPlan { slow_fetches_per_day, fast_from_per_day, .. }) => PlanStanding::Class {
                is_fast: fetches_per_day > slow_fetches_per_day * (1.0 + 1e-9),
                fast_from_per_day,
                fetches_per_day,
            },
            None => PlanStanding::Rate { fetches_per_day },
        })
    }

    fn plan_values(&self) -> Option<PlanValues> {
        let RatePlan::Classified(_) = self.plan else { return None };
        let known = self.pages.iter().filter(|page| page.status.has_copy());
        Some(PlanValues::of(known.map(|page| f64::from(page.change_rate_per_day))))
    }

    fn learn_plan_values(&mut self, others: &[PlanValues], budget_per_day: f64) {
        if let RatePlan::Classified(_) = self.plan {
            self.others = others.to_vec();
            self.budget_of_all_per_day = budget_per_day;
        }
    }

    fn plan_demand(&self) -> Option<f64> {
        let classes = self.planned.as_ref()?.classes?;
        // A page without a copy counts as a slow one, so that a partition of new pages gets its share.
        let demand = |page: &PlannedPage| {
            let rate = match page.status {
                PlannedStatus::Vacant => 0.0,
                status if status.has_copy() => classes.fetches_per_day(f64::from(page.change_rate_per_day)),
                _ => classes.slow_fetches_per_day,
            };
            rate * f64::from(page.cost)
        };
        Some(self.pages.iter().map(demand).sum())
    }
}

impl PlannedPage {
    const VACANT: PlannedPage = PlannedPage {
        change_rate_per_day: 0.0,
        weight: 0.0,
        cost: 0.0,
        host: 0,
        deadline: 0.0,
        interval_days: f64::INFINITY,
        status: PlannedStatus::Vacant,
    };
}
