//! WebFountain as a policy.

use super::model::{Bucket, Cohort, NewPages, Period, WebFountainModel};
use crate::pages::{KeyedSlot, NewPageQueue, SlotTable, believed_rate, sane};
use change_rate::Gamma;
use revisit::columns::Slot;
use revisit::{PlanStanding, PolicyLook, PolicyPage, PolicyTick, RevisitPolicy};
use std::collections::VecDeque;

/// Number of cohorts per bucket, so that the model stays small however many pages there are.
const COHORTS: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WebFountainOptions {
    /// Buckets of pages by believed change rate; at least 1.
    pub buckets: usize,
    /// Number of periods planned ahead; at least 1.
    pub periods: usize,
    /// Length of a period. `None`: the plan then looks ahead over the mean interval between a page's fetches; at least
    /// an hour, at most 30 days.
    pub period_days: Option<f64>,
    /// newwt: cost of a page never fetched, beside that of an obsolete copy of the same weight.
    pub new_page_cost: f64,
    /// Weight of a period, beside that of the period before it; positive. The paper's best is above 1, for a crawl that
    /// ends with the last period.
    pub period_growth: f64,
}

/// Six buckets, eight periods of equal weight. A new page costs as much as an obsolete copy.
impl Default for WebFountainOptions {
    fn default() -> Self {
        Self { buckets: 6, periods: 8, period_days: None, new_page_cost: 1.0, period_growth: 1.0 }
    }
}

/// Solves [`WebFountainModel::solve`] every period and carries out the first period of the plan: the planned number of
/// pages of every bucket, the oldest first, and of pages never fetched, in the order of their discovery.
#[derive(Clone, Debug)]
pub struct WebFountain {
    options: WebFountainOptions,
    pages: SlotTable<WebFountainPage>,
    new: NewPageQueue,
    budget_per_day: f64,
    period_ends_days: Option<f64>,
    /// The rest of the period. Pages may have been removed since.
    queue: VecDeque<PlannedFetch>,
    /// Number of pages with [`WebFountainStatus::Waiting`].
    waiting: usize,
    /// Whether the current plan fetches anything. If not, the next one waits for its time.
    plan_fetches: bool,
    /// Fractions of planned fetches left over by rounding, by bucket, and those of new pages.
    spare_fetches: Vec<f64>,
    spare_new: f64,
    /// Bounds of the buckets of the last plan in ln(changes per day): those of the slowest and of the fastest.
    bounds: Option<(f64, f64)>,
    /// New pages found since the last plan, and the time of that plan.
    arrived: f64,
    planned_days: f64,
}

/// A fetch of a period.
#[derive(Clone, Copy, Debug)]
enum PlannedFetch {
    Known(Slot),
    /// The new page that has waited longest.
    New,
}

#[derive(Clone, Copy, Debug)]
struct WebFountainPage {
    weight: f64,
    cost: f64,
    last_look_days: Option<f64>,
    change_rate_per_day: f64,
    status: WebFountainStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WebFountainStatus {
    /// Without a copy or a try: it is among the new pages.
    New,
    Waiting,
    Queued,
    InFlight,
}

impl WebFountain {
    pub fn new(options: WebFountainOptions) -> Self {
        Self {
            options,
            pages: SlotTable::default(),
            new: NewPageQueue::default(),
            budget_per_day: 0.0,
            period_ends_days: None,
            queue: VecDeque::new(),
            waiting: 0,
            plan_fetches: false,
            spare_fetches: vec![0.0; options.buckets.max(1)],
            spare_new: 0.0,
            bounds: None,
            arrived: 0.0,
            planned_days: f64::NEG_INFINITY,
        }
    }

    /// Plans the period that begins now.
    fn plan(&mut self, now_days: f64) {
        for fetch in std::mem::take(&mut self.queue) {
            if let PlannedFetch::Known(slot) = fetch {
                self.change_status(slot, WebFountainStatus::Queued, WebFountainStatus::Waiting);
            }
        }
        self.plan_fetches = false;
        self.period_ends_days = None;
        if self.budget_per_day <= 0.0 || self.waiting + self.new.waiting() == 0 {
            return;
        }
        let cost: f64 = self.pages.iter().map(|(_, page)| page.cost).sum();
        // A cycle over all pages takes cost / budget days.
        let cycle_days = cost / self.budget_per_day;
        let period_days = (cycle_days / self.options.periods.max(1) as f64).clamp(1.0 / 24.0, 30.0);
        let period_days = self.options.period_days.unwrap_or(period_days);
        self.period_ends_days = Some(now_days + period_days);
        let buckets = self.buckets(now_days);
        let model = self.model(&buckets, now_days, period_days, cost);
        (self.arrived, self.planned_days) = (0.0, now_days);
        // Falls back on the myopic rule where the solver fails. Invalid numbers fetch nothing.
        let Ok(plan) = model.solve().or_else(|_| model.myopic()) else { return };
        let mut order: Vec<(f64, u32, PlannedFetch)> = Vec::new();
        for ((members, fetches), spare) in buckets.iter().zip(&plan.fetches).zip(&mut self.spare_fetches) {
            let whole = take_whole(fetches[0], spare);
            let chosen = members.iter().take(whole as usize).enumerate();
            order.extend(
                chosen.map(|(nth, &slot)| ((nth as f64 + 0.5) / whole, slot.index() as u32, PlannedFetch::Known(slot))),
            );
        }
        // New pages get what the plan leaves over, whatever they cost.
        let known = plan.fetches.iter().zip(&model.buckets).map(|(fetches, bucket)| fetches[0] * bucket.cost);
        let mean_cost = cost / self.pages.len().max(1) as f64;
        let left_over = (self.budget_per_day * period_days - known.sum::<f64>()) / mean_cost.max(f64::MIN_POSITIVE);
        let planned_new = plan.new_fetches[0].max(left_over - 1e-6);
        let new = take_whole(planned_new, &mut self.spare_new).min(self.new.waiting() as f64);
        order.extend((0..new as u32).map(|nth| ((f64::from(nth) + 0.5) / new, nth, PlannedFetch::New)));
        // Buckets in step with each other, so that a period cut short is cut short for all.
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (_, _, fetch) in order {
            if let PlannedFetch::Known(slot) = fetch {
                self.change_status(slot, WebFountainStatus::Waiting, WebFountainStatus::Queued);
            }
            self.queue.push_back(fetch);
        }
        self.plan_fetches = !self.queue.is_empty();
    }

    /// Waiting pages by bucket, those with the oldest look first. Bounds are evenly spaced in the logarithm of the
    /// rate, between the slowest and the fastest hundredth.
    fn buckets(&mut self, now_days: f64) -> Vec<Vec<Slot>> {
        let count = self.options.buckets.max(1);
        let mut rates: Vec<f64> = self.known().map(|(_, page)| page.change_rate_per_day.ln()).collect();
        let Some(last) = rates.len().checked_sub(1) else {
            self.bounds = None;
            return vec![Vec::new(); count];
        };
        let mut quantile =
            |percent: usize| *rates.select_nth_unstable_by((last * percent + 50) / 100, f64::total_cmp).1;
        self.bounds = Some((quantile(1), quantile(99)));
        let mut keyed: Vec<Vec<KeyedSlot>> = vec![Vec::new(); count];
        for (slot, page) in self.known() {
            let bucket = self.bucket_of(page.change_rate_per_day);
            keyed[bucket].push(KeyedSlot { key: page.last_look_days.unwrap_or(now_days), slot });
        }
        let sorted = |mut bucket: Vec<KeyedSlot>| {
            bucket.sort_unstable();
            bucket.into_iter().map(|page| page.slot).collect()
        };
        keyed.into_iter().map(sorted).collect()
    }

    /// The pages that may be planned.
    fn known(&self) -> impl Iterator<Item = (Slot, &WebFountainPage)> {
        self.pages.iter().filter(|(_, page)| page.status == WebFountainStatus::Waiting)
    }

    /// Index of the bucket for a change rate.
    fn bucket_of(&self, change_rate_per_day: f64) -> usize {
        let count = self.options.buckets.max(1);
        let Some((low, high)) = self.bounds else { return 0 };
        let share = (change_rate_per_day.ln() - low) / (high - low).max(1e-9);
        ((share * count as f64) as usize).min(count - 1)
    }

    fn model(&self, buckets: &[Vec<Slot>], now_days: f64, period_days: f64, cost: f64) -> WebFountainModel {
        let mean_cost = cost / self.pages.len().max(1) as f64;
        let pages =
            |members: &[Slot]| members.iter().filter_map(|&slot| self.pages.get(slot)).copied().collect::<Vec<_>>();
        let new_pages = self.new_pages(mean_cost);
        let bucket = |(index, members): (usize, &Vec<Slot>)| {
            let members = pages(members);
            let mean = |number: fn(&WebFountainPage) -> f64| {
                members.iter().map(number).sum::<f64>() / members.len().max(1) as f64
            };
            let age_periods = |page: &WebFountainPage| {
                page.last_look_days.map_or(0.0, |at_days| (now_days - at_days).max(0.0) / period_days)
            };
            let cohorts = members.chunks(members.len().div_ceil(COHORTS).max(1)).map(|chunk| Cohort {
                age_periods: chunk.iter().map(age_periods).sum::<f64>() / chunk.len() as f64,
                pages: chunk.len() as f64,
            });
            // A bucket that only new pages will join is like them.
            let joining = new_pages.filter(|(new, _)| members.is_empty() && new.bucket == index);
            Bucket {
                change_rate_per_period: joining.map_or_else(|| mean(|page| page.change_rate_per_day), |(_, rate)| rate)
                    * period_days,
                weight: joining.map_or_else(|| mean(|page| page.weight), |(new, _)| new.weight),
                cost: if members.is_empty() { mean_cost } else { mean(|page| page.cost) },
                cohorts: cohorts.collect(),
            }
        };
        // As many pages arrive as since the last plan.
        let since_days = now_days - self.planned_days;
        let arrivals = if since_days > 0.0 { self.arrived / since_days * period_days } else { 0.0 };
        let periods = (0..self.options.periods.max(1)).map(|period| Period {
            capacity: self.budget_per_day * period_days,
            weight: self.options.period_growth.powi(i32::try_from(period).unwrap_or(i32::MAX)),
            arrivals: if new_pages.is_some() && arrivals.is_finite() { arrivals } else { 0.0 },
        });
        let buckets: Vec<Bucket> = buckets.iter().enumerate().map(bucket).collect();
        // After its first fetch a new page counts as one of its bucket. If it weighed less before, it would be better missing.
        let new_pages = new_pages.map(|(new, _)| {
            let in_bucket = buckets.get(new.bucket).map_or(0.0, |bucket| bucket.weight);
            NewPages { weight: self.options.new_page_cost * new.weight.max(in_bucket), ..new }
        });
        WebFountainModel { buckets, periods: periods.collect(), new_pages }
    }

    /// The pages never fetched, with their mean expected change rate. `None` if all were fetched.
    fn new_pages(&self, mean_cost: f64) -> Option<(NewPages, f64)> {
        let waiting = self.new.waiting();
        let new = self.pages.iter().filter(|(_, page)| page.status == WebFountainStatus::New);
        let sums = new.fold((0.0, 0.0, 0.0), |(count, weight, rate), (_, page)| {
            (count + 1.0, weight + page.weight, rate + page.change_rate_per_day)
        });
        let (count, weight, rate) = sums;
        if waiting == 0 || count == 0.0 {
            return None;
        }
        let change_rate_per_day = rate / count;
        let new = NewPages {
            waiting: waiting as f64,
            weight: weight / count,
            cost: mean_cost,
            bucket: self.bucket_of(change_rate_per_day),
        };
        Some((new, change_rate_per_day))
    }

    /// Moves a page from one status to another. Returns `false` when it did not have the first.
    fn change_status(&mut self, slot: Slot, from: WebFountainStatus, to: WebFountainStatus) -> bool {
        let Some(page) = self.pages.get_mut(slot).filter(|page| page.status == from) else { return false };
        page.status = to;
        self.waiting -= usize::from(from == WebFountainStatus::Waiting);
        self.waiting += usize::from(to == WebFountainStatus::Waiting);
        true
    }

    fn take_queued(&mut self) -> Option<Slot> {
        while let Some(fetch) = self.queue.pop_front() {
            match fetch {
                PlannedFetch::Known(slot) => {
                    if self.change_status(slot, WebFountainStatus::Queued, WebFountainStatus::InFlight) {
                        return Some(slot);
                    }
                }
                PlannedFetch::New => {
                    if let Some(slot) = self.new.take() {
                        return Some(slot);
                    }
                }
            }
        }
        None
    }
}

impl RevisitPolicy for WebFountain {
    fn insert(&mut self, slot: Slot, page: &PolicyPage, now_days: f64) {
        self.remove(slot);
        let status = if page.last_look_days.is_some() { WebFountainStatus::Waiting } else { WebFountainStatus::New };
        if status == WebFountainStatus::New {
            self.new.discovered(slot, now_days);
            self.arrived += 1.0;
        } else {
            self.waiting += 1;
        }
        let page = WebFountainPage {
            weight: sane(page.weight),
            cost: page.cost,
            last_look_days: page.last_look_days,
            change_rate_per_day: believed_rate(page.belief),
            status,
        };
        self.pages.insert(slot, page);
    }

    fn weigh(&mut self, slot: Slot, weight: f64) {
        if let Some(page) = self.pages.get_mut(slot) {
            page.weight = sane(weight);
        }
    }

    fn remove(&mut self, slot: Slot) {
        self.new.remove(slot);
        if self.pages.remove(slot).is_some_and(|page| page.status == WebFountainStatus::Waiting) {
            self.waiting -= 1;
        }
    }

    fn begin(&mut self, tick: &PolicyTick) {
        self.budget_per_day = sane(tick.budget_per_day);
        if self.period_ends_days.is_none_or(|end| end <= tick.now_days) {
            self.plan(tick.now_days);
        }
    }

    fn next(&mut self, now_days: f64) -> Option<Slot> {
        if let Some(slot) = self.take_queued() {
            return Some(slot);
        }
        // The period's fetches are finished early: the next one begins.
        if self.plan_fetches && self.waiting + self.new.waiting() > 0 {
            self.plan(now_days);
        }
        self.take_queued()
    }

    fn put_back(&mut self, slot: Slot) {
        if self.new.put_back(slot) {
            self.queue.push_front(PlannedFetch::New);
        } else if self.change_status(slot, WebFountainStatus::InFlight, WebFountainStatus::Queued) {
            self.queue.push_front(PlannedFetch::Known(slot));
        }
    }

    fn looked(&mut self, slot: Slot, look: &PolicyLook) {
        self.new.remove(slot);
        let Some(page) = self.pages.get_mut(slot) else { return };
        page.last_look_days = Some(look.at_days);
        page.change_rate_per_day = believed_rate(look.belief);
        let status = page.status;
        self.change_status(slot, status, WebFountainStatus::Waiting);
    }

    fn believe(&mut self, slot: Slot, belief: Gamma) {
        if let Some(page) = self.pages.get_mut(slot) {
            page.change_rate_per_day = believed_rate(belief);
        }
    }

    fn standing(&self, slot: Slot) -> Option<PlanStanding> {
        let page = self.pages.get(slot).filter(|page| page.status != WebFountainStatus::New)?;
        self.bounds?;
        Some(PlanStanding::Bucket {
            bucket: self.bucket_of(page.change_rate_per_day) + 1,
            buckets: self.options.buckets.max(1),
            is_planned: page.status != WebFountainStatus::Waiting,
            period_ends_days: self.period_ends_days?,
        })
    }
}

/// The whole fetches of a planned number and what earlier plans left over. The rest is left for the next.
fn take_whole(planned: f64, spare: &mut f64) -> f64 {
    let planned = planned + *spare;
    let whole = (planned + 1e-6).floor().max(0.0);
    *spare = (planned - whole).clamp(0.0, 1.0);
    whole
}
