//! C17: the price of a budget from a histogram of 256 bins.

use super::papers::pages;
use super::row::Sample;
use super::{Effort, Row};
use revisit::allocate::{self, Demand, Objective, PageTerms};
use revisit::demand_curve::DemandCurve;
use revisit::histogram::RatioHistogram;

/// Prices and total rates on given pages; errors on random ones.
pub(super) fn prices(effort: &Effort) -> Vec<Row> {
    let mut rows = given();
    rows.extend(measured(effort, 1_000_000));
    rows
}

fn histogram(pages: &[PageTerms]) -> RatioHistogram {
    let mut histogram = RatioHistogram::default();
    pages.iter().for_each(|page| histogram.add(page.change_rate_per_day, page.weight, page.cost));
    histogram
}

/// The rates of all pages at a price.
fn rates(curve: &impl Demand, pages: &[PageTerms], price: f64) -> Vec<f64> {
    let ln_price = price.ln();
    let rate = |page: &PageTerms| page.change_rate_per_day * curve.fetches_per_change(ln_price + curve.ln_ratio(page));
    pages.iter().map(rate).collect()
}

fn given() -> Vec<Row> {
    let five = pages((1..=5).map(|rate| (f64::from(rate), 1.0)));
    let weighted = pages([(0.1, 1.0), (0.5, 2.0), (1.0, 3.0), (2.0, 4.0), (10.0, 5.0)]);
    let thousand = pages((0..1000).map(|i| (0.01 * 1.01_f64.powi(i), f64::from(1 + 37 * i % 101))));
    let mut rows = Vec::new();
    for (name, pages, budget, price, total) in [
        ("five pages", &five, 5.0, 0.2175856951, 4.9664790038),
        ("five weighted pages", &weighted, 3.0, 0.8904778808, 3.0092602867),
        ("a thousand pages, 50 a day", &thousand, 50.0, 86.0353514393, 49.66640226),
        ("a thousand pages, 500 a day", &thousand, 500.0, 9.7015905728, 497.27900544),
    ] {
        let ours = histogram(pages).price(&Objective::FRESHNESS, budget);
        let spent: f64 = rates(&Objective::FRESHNESS, pages, ours).iter().sum();
        rows.push(Row::exact("C17", format!("price from the histogram, {name}"), price, ours, 1e-9 * price));
        rows.push(Row::exact("C17", format!("fetches a day at that price, {name}"), total, spent, 2e-9 * total));
    }
    for (budget, price, freshness, abandoned, uniform, proportional) in [
        (50.0, 85.4636829426, 0.3009745090, 616, 0.2137388410, 0.0023857061),
        (500.0, 9.6495951687, 0.5083699311, 399, 0.4361561025, 0.0238570611),
    ] {
        let best = allocate::optimal(&thousand, budget, 0.0);
        let never = best.fetch_rates_per_day.iter().filter(|&&rate| rate == 0.0).count();
        let fresh = |rates: &[f64]| allocate::freshness(&thousand, rates);
        let by_change_rate = allocate::proportional_fetches_per_day(&thousand, budget);
        for (what, reference, ours) in [
            ("exact price", price, best.price),
            ("best freshness", freshness, fresh(&best.fetch_rates_per_day)),
            ("pages never fetched", f64::from(abandoned), never as f64),
            ("freshness, uniform", uniform, fresh(&vec![budget / 1000.0; 1000])),
            ("freshness, proportional", proportional, fresh(&by_change_rate)),
        ] {
            let what = format!("{what}, a thousand pages, {budget} a day");
            rows.push(Row::exact("C17", what, reference, ours, (1e-9 * reference).max(6e-11)));
        }
    }
    rows
}

/// Fetches per page and day; freshness of the best, uniform and proportional rates; error of the budget spent.
const MEASURED: [(f64, [f64; 3], f64); 3] = [
    (0.02, [0.656726, 0.2306, 0.0396], -5.5e-4),
    (0.1, [0.811473, 0.4800, 0.1965], -1.3e-3),
    (0.5, [0.927552, 0.7403, 0.6292], -5.0e-4),
];

/// The reference took one draw of a million pages, we several. With fewer pages there are fewer of great weight, and
/// freshness is another.
fn measured(effort: &Effort, number: usize) -> Vec<Row> {
    let curve = DemandCurve::new(Objective::FRESHNESS);
    let mut freshness = vec![Sample::default(); 9];
    let mut over = vec![Sample::default(); 3];
    let mut lost_most = 0.0f64;
    for replicate in 0..effort.replicates(6, 3) {
        let mut stream = effort.stream(replicate);
        let pages = pages((0..number).map(|_| {
            let rate = (0.1f64.ln() + 1.8 * stream.normal()).exp();
            // Pages that change more weigh a little more.
            (rate, (stream.pareto(1.2) - 1.0 + 0.05) * (rate / 0.1).powf(0.15))
        }));
        let histogram = histogram(&pages);
        for (row, (fetches_per_page, ..)) in MEASURED.iter().enumerate() {
            let budget = fetches_per_page * number as f64;
            let best = allocate::optimal_for(&curve, &pages, budget).fetch_rates_per_day;
            let best = allocate::freshness(&pages, &best);
            let uniform = allocate::freshness(&pages, &vec![*fetches_per_page; number]);
            let proportional = allocate::proportional_fetches_per_day(&pages, budget);
            let measured = [best, uniform, allocate::freshness(&pages, &proportional)];
            measured.into_iter().enumerate().for_each(|(column, fresh)| freshness[3 * row + column].add(fresh));
            let mut rates = rates(&curve, &pages, histogram.price(&curve, budget));
            let spent: f64 = rates.iter().sum();
            over[row].add(spent / budget - 1.0);
            rates.iter_mut().for_each(|rate| *rate *= budget / spent);
            lost_most = lost_most.max(best - allocate::freshness(&pages, &rates));
        }
    }
    let mut rows = Vec::new();
    for (row, (fetches_per_page, references, error)) in MEASURED.iter().enumerate() {
        for (column, name) in ["best", "uniform", "proportional"].into_iter().enumerate() {
            let what = format!("freshness, {name}, {fetches_per_page} fetches per page and day");
            let tolerance = if column == 0 { 5e-7 } else { 5e-5 };
            rows.push(Row::sampled("C17", what, references[column], &freshness[3 * row + column], 1, tolerance));
        }
        let what = format!("budget spent too much, {fetches_per_page} fetches per page and day");
        rows.push(Row::sampled("C17", what, *error, &over[row], 1, 5e-5));
    }
    // It grows with the square of the budget's error, which differs by draw; this is the most of several.
    rows.push(Row::exact("C17", "most freshness lost to the histogram", 3e-8, lost_most, 5e-7));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_pages_get_the_given_prices() {
        let failed: Vec<Row> = given().into_iter().filter(|row| !row.ok).collect();
        assert!(failed.is_empty(), "{failed:#?}");
    }

    #[test]
    fn the_histogram_is_as_good_on_fewer_pages() {
        let rows = measured(&Effort::default(), 50_000);
        let (budgets, others): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.what.starts_with("budget"));
        // Fewer pages fill the bins less evenly.
        assert!(budgets.len() == 3 && budgets.iter().all(|row| row.ours.abs() < 0.01), "{budgets:#?}");
        assert!(others.iter().any(|row| row.what.starts_with("most freshness lost") && row.ours < 1e-5), "{others:#?}");
    }
}
