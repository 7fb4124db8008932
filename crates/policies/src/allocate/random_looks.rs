//! Fetch rates for looks at random times, and for pages whose changes are announced.
//!
//! Azar et al., PNAS 2018 (C13) and LambdaCrawl, Kolobov et al., NeurIPS 2019 (C14). LambdaCrawl for pages without
//! announcements is [`optimal_for`] with [`Objective::RandomHarmonic`]; its binary variant is
//! [`Objective::RandomFreshness`] with a minimum rate.

use revisit::allocate::{
    Allocation, DemandByPrice, LN_PRICE_LIMIT, Objective, PageTerms, budget_per_unit, meet_budget, optimal_for,
};

/// Maximum weighted freshness with looks at random times: the same as [`optimal_for`] with
/// [`Objective::RandomFreshness`], by sorting instead of searching. Ignores bounds on rates.
pub fn azar(pages: &[PageTerms], budget_per_day: f64) -> Allocation {
    let mut fetch_rates_per_day = vec![0.0; pages.len()];
    let mut order: Vec<usize> = (0..pages.len()).filter(|&i| pages[i].competes()).collect();
    if order.is_empty() || budget_per_day.is_nan() || budget_per_day <= 0.0 {
        let price = if order.is_empty() && budget_per_day > 0.0 { 0.0 } else { f64::INFINITY };
        return Allocation { price, fetch_rates_per_day };
    }
    // The highest price at which a page is still worth a fetch.
    let limit = |i: usize| pages[i].weight / (pages[i].cost * pages[i].change_rate_per_day);
    order.sort_by(|&a, &b| limit(b).total_cmp(&limit(a)).then(a.cmp(&b)));
    let (mut roots, mut spending, mut price) = (0.0, budget_per_day, 0.0);
    let mut wanted = 0;
    while wanted < order.len() && limit(order[wanted]) > price {
        let page = &pages[order[wanted]];
        let mass = page.cost * page.change_rate_per_day;
        roots += (page.weight * mass).sqrt();
        spending += mass;
        price = (roots / spending) * (roots / spending);
        wanted += 1;
    }
    for &i in &order[..wanted] {
        let (rate, limit) = (pages[i].change_rate_per_day, limit(i));
        fetch_rates_per_day[i] = rate * ((limit / price).sqrt() - 1.0).max(0.0);
    }
    Allocation { price, fetch_rates_per_day }
}

/// Fetch rates proportional to weight: LambdaCrawl for pages with equal weight / change rate, so that change rates need
/// not be known (LambdaCrawlApprox). All zero when nothing has weight.
pub fn lambda_crawl_approx(pages: &[PageTerms], budget_per_day: f64) -> Vec<f64> {
    let per_weight = budget_per_unit(budget_per_day, pages.iter().map(|page| page.cost * page.weight).sum());
    pages.iter().map(|page| per_weight * page.weight).collect()
}

/// The solution for pages that announce every change.
#[derive(Clone, Debug, PartialEq)]
pub struct Notified {
    /// Marginal value of the budget for the harmonic penalty; zero when every announcement is followed.
    pub price: f64,
    /// Probability that an announcement of each page is followed by a fetch, in the order given.
    pub fetch_probabilities: Vec<f64>,
}

/// The least Σ weight × -ln p under Σ cost × change rate × p <= budget, for probabilities p: proportional to weight /
/// (cost × change rate), and at most 1. Pages that never change are always followed, at no cost. Pages without weight
/// never are, nor, without a budget, any page that changes.
pub fn notified(pages: &[PageTerms], budget_per_day: f64) -> Notified {
    let mut order: Vec<usize> = (0..pages.len()).filter(|&i| pages[i].competes()).collect();
    let mut fetch_probabilities: Vec<f64> =
        pages.iter().map(|page| if page.change_rate_per_day <= 0.0 { 1.0 } else { 0.0 }).collect();
    if budget_per_day.is_nan() || budget_per_day <= 0.0 {
        return Notified { price: f64::INFINITY, fetch_probabilities };
    }
    let mass = |i: usize| pages[i].cost * pages[i].change_rate_per_day;
    let limit = |i: usize| pages[i].weight / mass(i);
    order.sort_by(|&a, &b| limit(b).total_cmp(&limit(a)).then(a.cmp(&b)));
    // Total weight of the pages from each position on.
    let mut weights: Vec<f64> = order.iter().map(|&i| pages[i].weight).collect();
    for position in (1..weights.len()).rev() {
        weights[position - 1] += weights[position];
    }
    let mut left = budget_per_day;
    let mut position = 0;
    while position < order.len() && limit(order[position]) * left >= weights[position] {
        fetch_probabilities[order[position]] = 1.0;
        left -= mass(order[position]);
        position += 1;
    }
    let price = if position < order.len() { weights[position] / left } else { 0.0 };
    for &i in &order[position..] {
        fetch_probabilities[i] = limit(i) / price;
    }
    Notified { price, fetch_probabilities }
}

/// LambdaCrawl for a mixture under one budget: pages that announce their changes, and pages that do not. Both get the
/// share at which the marginal values are equal.
pub fn notified_and_not(silent: &[PageTerms], announcing: &[PageTerms], budget_per_day: f64) -> (Allocation, Notified) {
    let objective = Objective::RandomHarmonic;
    let spent_silent = |ln_price: f64| {
        let wanted = silent.iter().filter(|page| page.competes()).map(|page| {
            page.cost * page.change_rate_per_day * objective.fetches_per_change(ln_price + objective.ln_ratio(page))
        });
        wanted.sum::<f64>()
    };
    let spent_announcing = |ln_price: f64| {
        let competing = announcing.iter().filter(|page| page.competes());
        competing.map(|page| (page.cost * page.change_rate_per_day).min(page.weight / ln_price.exp())).sum::<f64>()
    };
    if budget_per_day.is_nan() || budget_per_day <= 0.0 {
        return (optimal_for(&objective, silent, 0.0), notified(announcing, 0.0));
    }
    let bracket =
        meet_budget(0.0, 0.25, budget_per_day, |ln_price| spent_silent(ln_price) + spent_announcing(ln_price));
    let for_announcing = if bracket.high > -LN_PRICE_LIMIT { spent_announcing(bracket.high) } else { budget_per_day };
    let for_silent = if spent_silent(0.0) > 0.0 { budget_per_day - for_announcing } else { 0.0 };
    let announced = notified(announcing, if for_silent > 0.0 { for_announcing } else { budget_per_day });
    (optimal_for(&objective, silent, for_silent), announced)
}
