//! Two classes of pages, slow and fast.
//!
//! Wen & Lu: every page is fetched at a base rate f0. Pages that change at least twice as often, the fast ones, are
//! also fetched at their average change rate. Both timers of a fast page are one evenly spaced schedule here: two
//! separate timers would be strictly worse. The paper gives the base rate; here it follows from the budget
//! ([`ClassifiedRule::plan`]). The idea of two classes is nearly optimal, the rule for their rates is not always: at a base
//! rate of 1/6 uniform beats it in the paper's own example, at 1/4 and .35 it beats uniform. [`tuned_rates`] keeps the idea.
//! C3 of the algorithm notes.

use revisit::allocate::{self, PageTerms};
use revisit::kernels::{self, VisitOrder};

/// Number of splits that [`tuned_rates`] tries.
const SPLITS: usize = 32;

/// Fetches per day by the rule of Wen & Lu, from a base rate. The spending follows from the pages.
pub fn rates_from_base(pages: &[PageTerms], base_fetches_per_day: f64) -> Vec<f64> {
    let fast = |page: &&PageTerms| page.change_rate_per_day >= 2.0 * base_fetches_per_day;
    let (count, sum) =
        pages.iter().filter(fast).fold((0.0, 0.0), |(count, sum), page| (count + 1.0, sum + page.change_rate_per_day));
    let more = if count > 0.0 { sum / count } else { 0.0 };
    pages.iter().map(|page| base_fetches_per_day + if fast(&page) { more } else { 0.0 }).collect()
}

/// The two parameters of the rule of Wen & Lu. One that is left open follows from the pages, as published.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassifiedRule {
    /// f': changes per day from which a page is fast. Open: twice the base rate.
    pub fast_from_per_day: Option<f64>,
    /// f: fetches per day of a fast page on top of the base rate. Open: the mean change rate of the fast pages.
    pub fast_fetches_per_day: Option<f64>,
}

/// The two classes at a budget.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassifiedPlan {
    /// Fetches per day of a slow page.
    pub slow_fetches_per_day: f64,
    /// Fetches per day of a fast page.
    pub fast_fetches_per_day: f64,
    /// Changes per day from which a page is fast.
    pub fast_from_per_day: f64,
}

impl ClassifiedPlan {
    /// Whether a page that changes this often is fast.
    pub fn is_fast(&self, change_rate_per_day: f64) -> bool {
        change_rate_per_day >= self.fast_from_per_day
    }

    /// Fetches per day of a page that changes this often.
    pub fn fetches_per_day(&self, change_rate_per_day: f64) -> f64 {
        if self.is_fast(change_rate_per_day) { self.fast_fetches_per_day } else { self.slow_fetches_per_day }
    }
}

/// So many pages that change equally often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlikePages {
    pub change_rate_per_day: f64,
    /// Number of the pages; need not be whole.
    pub pages: f64,
    /// Budget that one fetch costs.
    pub cost: f64,
}

impl ClassifiedRule {
    /// The classes that spend exactly the budget. The base rate f0 follows from it: all pages at f0 and the fast ones at f
    /// more. With f' = 2 f0 several base rates may do, and of these the one with most fast pages is taken. None does where the
    /// fast pages alone would take more than the budget: then the rates of the rule at the uniform base rate are all reduced
    /// by the same factor. Ignores importance.
    pub fn plan(&self, pages: &[AlikePages], budget_per_day: f64) -> ClassifiedPlan {
        let mut pages: Vec<AlikePages> = pages.iter().copied().filter(|alike| alike.pages > 0.0).collect();
        pages.sort_unstable_by(|a, b| b.change_rate_per_day.total_cmp(&a.change_rate_per_day));
        let cost_of_all: f64 = pages.iter().map(|alike| alike.pages * alike.cost).sum();
        if cost_of_all <= 0.0 || budget_per_day.is_nan() || budget_per_day <= 0.0 {
            return ClassifiedPlan { fast_from_per_day: f64::INFINITY, ..ClassifiedPlan::default() };
        }
        let mut found = None;
        let mut fast = FastClass::default();
        for next in 0..=pages.len() {
            let slowest = if next > 0 { pages[next - 1].change_rate_per_day } else { f64::INFINITY };
            let fastest_left = pages.get(next).map_or(f64::NEG_INFINITY, |alike| alike.change_rate_per_day);
            let more = fast.fetches_per_day(self);
            let base = (budget_per_day - more * fast.cost) / cost_of_all;
            let from = self.fast_from_per_day.unwrap_or(2.0 * base);
            // Pages that change equally often are of one class.
            if base > 0.0 && slowest >= from && fastest_left < from {
                found = Some(ClassifiedPlan {
                    slow_fetches_per_day: base,
                    fast_fetches_per_day: base + more,
                    fast_from_per_day: from,
                });
            }
            if let Some(alike) = pages.get(next) {
                fast.add(alike);
            }
        }
        found.unwrap_or_else(|| self.reduced(&pages, cost_of_all, budget_per_day))
    }

    /// The rule at the uniform base rate, reduced to the budget. `pages` are in descending order of change rate.
    fn reduced(&self, pages: &[AlikePages], cost_of_all: f64, budget_per_day: f64) -> ClassifiedPlan {
        let base = budget_per_day / cost_of_all;
        let from = self.fast_from_per_day.unwrap_or(2.0 * base);
        let mut fast = FastClass::default();
        pages.iter().take_while(|alike| alike.change_rate_per_day >= from).for_each(|alike| fast.add(alike));
        let more = fast.fetches_per_day(self);
        let share = budget_per_day / (budget_per_day + more * fast.cost);
        ClassifiedPlan {
            slow_fetches_per_day: share * base,
            fast_fetches_per_day: share * (base + more),
            fast_from_per_day: from,
        }
    }
}

/// Sums over the pages of the fast class.
#[derive(Clone, Copy, Debug, Default)]
struct FastClass {
    pages: f64,
    change_rate_per_day: f64,
    cost: f64,
}

impl FastClass {
    fn add(&mut self, alike: &AlikePages) {
        self.pages += alike.pages;
        self.change_rate_per_day += alike.pages * alike.change_rate_per_day;
        self.cost += alike.pages * alike.cost;
    }

    /// f: the fetches per day on top of the base rate.
    fn fetches_per_day(&self, rule: &ClassifiedRule) -> f64 {
        match rule.fast_fetches_per_day {
            _ if self.pages == 0.0 => 0.0,
            Some(wanted) => wanted,
            None => self.change_rate_per_day / self.pages,
        }
    }
}

impl From<&PageTerms> for AlikePages {
    fn from(page: &PageTerms) -> Self {
        Self { change_rate_per_day: page.change_rate_per_day, pages: 1.0, cost: page.cost }
    }
}

/// Fetches per day of two classes, with the split and the two rates chosen for freshness. The rates are optimal for the
/// classes' averages; of the splits tried (by rank of change rate) the one with the best weighted freshness wins.
pub fn tuned_rates(pages: &[PageTerms], budget_per_day: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..pages.len()).collect();
    order.sort_by(|&a, &b| pages[a].change_rate_per_day.total_cmp(&pages[b].change_rate_per_day).then(a.cmp(&b)));
    let split_at = |split: usize| {
        let (slow, fast) = order.split_at(split);
        let classes = [average(pages, slow), average(pages, fast)];
        let best = allocate::optimal(&classes, budget_per_day, 0.0).fetch_rates_per_day;
        (split, best[0], best[1])
    };
    let freshness = |&(split, slow, fast): &(usize, f64, f64)| {
        let (slow_pages, fast_pages) = order.split_at(split);
        let sum =
            |members: &[usize], rate: f64| members.iter().map(|&i| weighted_freshness(&pages[i], rate)).sum::<f64>();
        sum(slow_pages, slow) + sum(fast_pages, fast)
    };
    let mut splits: Vec<usize> = (0..=SPLITS).map(|k| k * pages.len() / SPLITS).collect();
    splits.dedup();
    let best = splits
        .into_iter()
        .map(split_at)
        .map(|split| (freshness(&split), split))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or((0, 0.0, 0.0), |(_, split)| split);
    let mut rates = vec![best.2; pages.len()];
    order[..best.0].iter().for_each(|&i| rates[i] = best.1);
    rates
}

/// The representative of a class: its weight and cost are those of all its pages together.
fn average(pages: &[PageTerms], members: &[usize]) -> PageTerms {
    let (mut weight, mut cost, mut changes, mut rates) = (0.0, 0.0, 0.0, 0.0);
    for &i in members {
        weight += pages[i].weight;
        cost += pages[i].cost;
        changes += pages[i].weight * pages[i].change_rate_per_day;
        rates += pages[i].change_rate_per_day;
    }
    let change_rate_per_day = if weight > 0.0 { changes / weight } else { rates / (members.len().max(1) as f64) };
    PageTerms { weight, cost, ..PageTerms::new(change_rate_per_day) }
}

fn weighted_freshness(page: &PageTerms, fetches_per_day: f64) -> f64 {
    if page.change_rate_per_day <= 0.0 {
        return page.weight;
    }
    if fetches_per_day <= 0.0 {
        return 0.0;
    }
    page.weight * kernels::average_freshness(VisitOrder::Fixed, page.change_rate_per_day / fetches_per_day)
}
