//! C17: the price of a budget from a histogram of 256 bins.

use super::grids::Grid;
use super::papers::pages;
use super::row::Measurements;
use super::{Effort, ReproductionRow};
use crate::streams::Draws;
use revisit::allocate::{self, DemandByPrice, Objective, PageTerms};
use revisit::demand_curve::DemandCurve;
use revisit::histogram::RatioHistogram;

/// Prices and total rates on given pages; errors on random ones.
pub(super) fn prices(effort: &Effort) -> Vec<ReproductionRow> {
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
fn rates(curve: &impl DemandByPrice, pages: &[PageTerms], price: f64) -> Vec<f64> {
    let ln_price = price.ln();
    let rate = |page: &PageTerms| page.change_rate_per_day * curve.fetches_per_change(ln_price + curve.ln_ratio(page));
    pages.iter().map(rate).collect()
}

fn given() -> Vec<ReproductionRow> {
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
        let per_page = budget / pages.len() as f64;
        rows.extend(
            [
                ReproductionRow::exact("C17", format!("price from the histogram, {name}"), price, ours, 1e-9 * price),
                ReproductionRow::exact(
                    "C17",
                    format!("fetches a day at that price, {name}"),
                    total,
                    spent,
                    2e-9 * total,
                ),
            ]
            .map(|row| row.policy("optimal-freshness").estimator("known").budget(per_page)),
        );
    }
    for (budget, price, freshness, abandoned, uniform, proportional) in [
        (50.0, 85.4636829426, 0.3009745090, 616, 0.2137388410, 0.0023857061),
        (500.0, 9.6495951687, 0.5083699311, 399, 0.4361561025, 0.0238570611),
    ] {
        let best = allocate::optimal(&thousand, budget, 0.0);
        let never = best.fetch_rates_per_day.iter().filter(|&&rate| rate == 0.0).count();
        let fresh = |rates: &[f64]| allocate::freshness(&thousand, rates);
        let by_change_rate = allocate::proportional_fetches_per_day(&thousand, budget);
        for (what, policy, reference, ours) in [
            ("exact price", "optimal-freshness", price, best.price),
            ("freshness, best", "optimal-freshness", freshness, fresh(&best.fetch_rates_per_day)),
            ("pages never fetched", "optimal-freshness", f64::from(abandoned), never as f64),
            ("freshness, uniform", "uniform", uniform, fresh(&vec![budget / 1000.0; 1000])),
            ("freshness, proportional", "proportional", proportional, fresh(&by_change_rate)),
        ] {
            let is_freshness = what.starts_with("freshness");
            let what = format!("{what}, a thousand pages, {budget} a day");
            let row = ReproductionRow::exact("C17", what, reference, ours, (1e-9 * reference).max(6e-11));
            let row = row.policy(policy).estimator("known").budget(budget / 1000.0);
            rows.push(if is_freshness { row.giving_weighted_freshness() } else { row });
        }
    }
    rows
}

/// Fetches per page and day; freshness of the best, uniform and proportional rates.
const MEASURED: [(f64, [f64; 3]); 3] =
    [(0.02, [0.656726, 0.2306, 0.0396]), (0.1, [0.811473, 0.4800, 0.1965]), (0.5, [0.927552, 0.7403, 0.6292])];

/// Tables for finding a price; the errors of the budgets spent, and the greatest loss of freshness once the rates are
/// scaled to the budget. The first is the one in use.
const TABLES: [(&str, Grid, [f64; 3], f64); 8] = [
    ("256 bins", Grid::Ratio { bins: 256, points: 8 }, [-5.5e-4, -1.3e-3, -5.0e-4], 3e-8),
    ("128 bins", Grid::Ratio { bins: 128, points: 8 }, [-4.9e-3, -2.8e-3, -1.7e-3], 5.4e-7),
    ("64 bins", Grid::Ratio { bins: 64, points: 8 }, [-2.2e-2, -1.1e-2, -8.0e-3], 1.1e-5),
    ("32 bins", Grid::Ratio { bins: 32, points: 8 }, [-7.9e-2, -5.5e-2, -3.1e-2], 1.5e-4),
    ("middles of 512 bins", Grid::Ratio { bins: 512, points: 1 }, [3.2e-4, -1.8e-3, -5.2e-4], 5e-8),
    ("32 x 32 cells", Grid::RateAndWeight(32), [-2.8e-2, -3.2e-2, -4.8e-3], 1.8e-5),
    ("64 x 64 cells", Grid::RateAndWeight(64), [-4.9e-3, -4.5e-3, -4.3e-3], 5.5e-7),
    ("128 x 128 cells", Grid::RateAndWeight(128), [-4.2e-3, -4.4e-3, 4.2e-4], 4.0e-7),
];

/// The measurements with one table.
#[derive(Clone, Default)]
struct HistogramErrors {
    over: [Measurements; 3],
    lost_most: Measurements,
}

/// The reference took one draw of a million pages, we take several. With fewer pages there are fewer of great weight,
/// and the freshness differs.
fn measured(effort: &Effort, number: usize) -> Vec<ReproductionRow> {
    let curve = DemandCurve::new(Objective::FRESHNESS);
    let mut freshness = vec![Measurements::default(); 9];
    let mut errors = vec![HistogramErrors::default(); TABLES.len()];
    for replicate in 0..effort.replicates(6, 3) {
        let mut stream = effort.stream(replicate);
        let pages = pages((0..number).map(|_| {
            let rate = (0.1f64.ln() + 1.8 * stream.normal()).exp();
            // Pages that change more weigh a little more.
            (rate, (stream.pareto(1.2) - 1.0 + 0.05) * (rate / 0.1).powf(0.15))
        }));
        let mut lost_most = vec![0.0f64; TABLES.len()];
        for (row, (fetches_per_page, _)) in MEASURED.iter().enumerate() {
            let budget = fetches_per_page * number as f64;
            let best = allocate::optimal_for(&curve, &pages, budget).fetch_rates_per_day;
            let best = allocate::freshness(&pages, &best);
            let uniform = allocate::freshness(&pages, &vec![*fetches_per_page; number]);
            let proportional = allocate::proportional_fetches_per_day(&pages, budget);
            let measured = [best, uniform, allocate::freshness(&pages, &proportional)];
            measured.into_iter().enumerate().for_each(|(column, fresh)| freshness[3 * row + column].add(fresh));
            for (table, (_, grid, ..)) in TABLES.iter().enumerate() {
                // The one in use is the product's own.
                let price = if table == 0 {
                    histogram(&pages).price(&curve, budget)
                } else {
                    grid.price(&curve, &pages, budget)
                };
                let mut rates = rates(&curve, &pages, price);
                let spent: f64 = rates.iter().sum();
                errors[table].over[row].add(spent / budget - 1.0);
                rates.iter_mut().for_each(|rate| *rate *= budget / spent);
                lost_most[table] = lost_most[table].max(best - allocate::freshness(&pages, &rates));
            }
        }
        errors.iter_mut().zip(lost_most).for_each(|(errors, lost)| errors.lost_most.add(lost));
    }
    freshness_rows(&freshness).into_iter().chain(error_rows(&errors)).collect()
}

fn freshness_rows(freshness: &[Measurements]) -> Vec<ReproductionRow> {
    let mut rows = Vec::new();
    for (row, (fetches_per_page, references)) in MEASURED.iter().enumerate() {
        for (column, (name, policy)) in
            [("best", "optimal-freshness"), ("uniform", "uniform"), ("proportional", "proportional")]
                .into_iter()
                .enumerate()
        {
            let what = format!("freshness, {name}, {fetches_per_page} fetches per page and day");
            let tolerance = if column == 0 { 5e-7 } else { 5e-5 };
            let row =
                ReproductionRow::sampled("C17", what, references[column], &freshness[3 * row + column], 1, tolerance);
            rows.push(row.policy(policy).estimator("known").budget(*fetches_per_page).giving_weighted_freshness());
        }
    }
    rows
}

fn error_rows(errors: &[HistogramErrors]) -> Vec<ReproductionRow> {
    let mut rows = Vec::new();
    for ((name, _, references, lost_most), errors) in TABLES.iter().zip(errors) {
        for (row, (fetches_per_page, _)) in MEASURED.iter().enumerate() {
            let what = format!("budget spent too much, {name}, {fetches_per_page} fetches per page and day");
            let sampled = ReproductionRow::sampled(
                "C17",
                what,
                references[row],
                &errors.over[row],
                1,
                half_digit(references[row]),
            );
            rows.push(sampled.policy("optimal-freshness").estimator("known").budget(*fetches_per_page));
        }
        let what = format!("most freshness lost, {name}");
        let digits = if lost_most.abs() < 1e-7 { 5e-9 } else { half_digit(*lost_most) };
        let lost = ReproductionRow::sampled("C17", what, *lost_most, &errors.lost_most, 1, digits);
        rows.push(lost.policy("optimal-freshness").estimator("known"));
    }
    rows
}

/// Half a unit of the second digit, the last one printed.
fn half_digit(value: f64) -> f64 {
    0.5 * 10f64.powf(value.abs().log10().floor() - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_pages_get_the_given_prices() {
        let failed: Vec<ReproductionRow> = given().into_iter().filter(|row| !row.within).collect();
        assert!(failed.is_empty(), "{failed:#?}");
    }

    #[test]
    fn the_histogram_is_as_good_on_fewer_pages() {
        let rows = measured(&Effort::default(), 50_000);
        let of = |what: &str| rows.iter().filter(|row| row.what.starts_with(what)).collect::<Vec<&ReproductionRow>>();
        // Fewer pages fill the bins less evenly.
        let budgets = of("budget spent too much, 256 bins");
        assert!(budgets.len() == 3 && budgets.iter().all(|row| row.ours.abs() < 0.01), "{budgets:#?}");
        let lost = of("most freshness lost, ");
        assert!(lost.len() == TABLES.len() && lost[0].ours < 1e-5, "{lost:#?}");
        // More cells, less loss.
        assert!(lost[1].ours < lost[2].ours && lost[2].ours < lost[3].ours && lost[6].ours < lost[5].ours, "{lost:#?}");
    }
}
