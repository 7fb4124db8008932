//! Two classes of pages, slow and fast.
//!
//! Wen & Lu: every page is fetched at a base rate f0. Pages that change at least twice as often, the fast ones, are
//! also fetched at their average change rate. Both timers of a fast page are one evenly spaced schedule here: two
//! separate timers would be strictly worse. The idea of two classes is nearly optimal, but the rule for their rates is
//! not (uniform beats it at the same budget in its own example): [`tuned_rates`] keeps the idea. C3 of the algorithm
//! notes.

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

/// Fetches per day by the rule of Wen & Lu for a budget: the base rate is the uniform one, then all rates are scaled to
/// spend exactly the budget. Ignores importance.
pub fn rates(pages: &[PageTerms], budget_per_day: f64) -> Vec<f64> {
    let mut rates = rates_from_base(pages, allocate::uniform_fetches_per_day(pages, budget_per_day));
    let spent: f64 = rates.iter().zip(pages).map(|(rate, page)| rate * page.cost).sum();
    if spent > 0.0 {
        rates.iter_mut().for_each(|rate| *rate *= budget_per_day / spent);
    }
    rates
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
