//! Small examples of the literature that follow from formulas.

use super::{Effort, ReproductionRow};
use policies::allocate::{AccessTime, PolledPage, PollingOrder, azar, lambda_crawl_approx, polling_frequencies};
use policies::classified;
use revisit::allocate::{self, Objective, PageTerms};
use revisit::kernels::{self, VisitOrder};

/// Pages by change rate and weight.
pub(super) fn pages(terms: impl IntoIterator<Item = (f64, f64)>) -> Vec<PageTerms> {
    terms.into_iter().map(|(rate, weight)| PageTerms { weight, ..PageTerms::new(rate) }).collect()
}

fn near(id: &'static str, what: impl Into<String>, reference: f64, ours: f64) -> ReproductionRow {
    ReproductionRow::exact(id, what, reference, ours, 1e-9 * reference.abs())
}

/// R1. Cho & Garcia-Molina, SIGMOD 2000, TODS 2003: pages that change 1 to 5 times a day, five fetches a day.
pub(super) fn five_pages(_: &Effort) -> Vec<ReproductionRow> {
    let five = pages((1..=5).map(|rate| (f64::from(rate), 1.0)));
    let rates = allocate::optimal(&five, 5.0, 0.0).fetch_rates_per_day;
    let references = [1.14989227348, 1.35841194741, 1.35383531792, 1.13786046119, 0.0];
    let printed = ["1.15", "1.36", "1.35", "1.14", "0.00"];
    let mut rows: Vec<ReproductionRow> = (0..5)
        .map(|i| {
            near("R1", format!("fetches a day, {} changes a day", i + 1), references[i], rates[i])
                .published(printed[i])
                .policy("optimal-freshness")
        })
        .collect();
    let uniform = vec![allocate::uniform_fetches_per_day(&five, 5.0); 5];
    let proportional = allocate::proportional_fetches_per_day(&five, 5.0);
    for (policy, rates, reference) in [
        ("optimal-freshness", rates, 0.373888699274),
        ("uniform", uniform, 0.365052812393),
        ("proportional", proportional, 0.316737643877),
    ] {
        let row = near("R1", format!("freshness, {policy}"), reference, allocate::freshness(&five, &rates));
        rows.push(row.policy(policy).giving_freshness());
    }
    rows.into_iter().map(|row| row.estimator("known").budget(1.0)).collect()
}

/// R2. Cho & Garcia-Molina, TODS 2003: pages that change once a day, week, month, four months, year; one fetch per page
/// and 30 days.
pub(super) fn web_classes(_: &Effort) -> Vec<ReproductionRow> {
    // One page represents its class: its share is its weight and the cost of fetching all of it.
    let classes = [(1.0, 0.23), (7.0, 0.15), (30.0, 0.16), (120.0, 0.16), (365.0, 0.30)];
    let classes: Vec<PageTerms> =
        classes.map(|(days, share)| PageTerms { weight: share, cost: share, ..PageTerms::new(1.0 / days) }).to_vec();
    let budget = 1.0 / 30.0;
    let uniform = vec![allocate::uniform_fetches_per_day(&classes, budget); 5];
    let proportional = allocate::proportional_fetches_per_day(&classes, budget);
    let fresh = allocate::optimal(&classes, budget, 0.0).fetch_rates_per_day;
    let young = allocate::optimal_for(&Objective::Age, &classes, budget).fetch_rates_per_day;
    let age = |rates: &[f64]| allocate::average_penalty(Objective::Age, &classes, rates);
    let freshness = |rates: &[f64]| allocate::freshness(&classes, rates);
    let mut rows = Vec::new();
    for (policy, rates, reference, printed) in [
        ("proportional", &proportional, 0.1287, ".12"),
        ("uniform", &uniform, 0.5729, ".57"),
        ("optimal-freshness", &fresh, 0.6162, ".62"),
    ] {
        let row = ReproductionRow::exact("R2", format!("freshness, {policy}"), reference, freshness(rates), 5e-5);
        rows.push(row.published(printed).policy(policy).giving_freshness());
    }
    for (policy, rates, reference, tolerance, printed) in [
        ("proportional", &proportional, 406.0, 0.5, "400"),
        ("uniform", &uniform, 5.612, 5e-4, "5.6"),
        ("optimal-age", &young, 4.2987, 5e-5, "4.3"),
    ] {
        let row = ReproductionRow::exact("R2", format!("age in days, {policy}"), reference, age(rates), tolerance);
        rows.push(row.published(printed).policy(policy).giving_age());
    }
    let classes = ["day", "week", "month", "four months", "year"];
    for (policy, rates, references) in [
        ("optimal-freshness", fresh, [0.0, 2.627, 1.744, 0.965, 0.575]),
        ("optimal-age", young, [1.552, 1.413, 1.05, 0.708, 0.5]),
    ] {
        rows.extend((0..5).map(|i| {
            let what = format!("fetches in 30 days of pages that change every {}, {policy}", classes[i]);
            ReproductionRow::exact("R2", what, references[i], rates[i] * 30.0, 5e-4).policy(policy)
        }));
    }
    rows.into_iter().map(|row| row.estimator("known").budget(budget)).collect()
}

/// R3. Cho & Garcia-Molina, TODS 2003, Table 1: one change per interval.
pub(super) fn visit_orders(_: &Effort) -> Vec<ReproductionRow> {
    let orders = [
        (VisitOrder::Fixed, "fixed", ".632", 0.632120558829, 0.132120558829),
        (VisitOrder::RandomWithinCycle, "random within each cycle", ".600", 0.600423599106, 0.183756932440),
        (VisitOrder::PurelyRandom, "purely random", ".5", 0.5, 0.5),
    ];
    let rows = orders.into_iter().flat_map(|(order, name, printed, freshness, age)| {
        [
            near("R3", format!("freshness, {name}"), freshness, kernels::average_freshness(order, 1.0))
                .published(printed)
                .giving_freshness(),
            near("R3", format!("age in intervals, {name}"), age, kernels::average_age(order, 1.0)).giving_age(),
        ]
    });
    // An interval is a day here.
    rows.map(|row| row.budget(1.0)).collect()
}

/// R5. Coffman, Liu & Weber, Journal of Scheduling 1998: three pages that change 1/2, 1 and 2 times per access.
pub(super) fn polling(_: &Effort) -> Vec<ReproductionRow> {
    let changes = [0.5, 1.0, 2.0];
    let cost = |pages: &[PolledPage], order, frequencies: &[f64]| -> f64 {
        pages.iter().zip(frequencies).map(|(page, &f)| page.changes_per_access * page.staleness(order, f)).sum()
    };
    let mut rows = Vec::new();
    for (access, name, even, bound, uniform, random, random_cost) in [
        (
            AccessTime::Constant,
            "constant",
            [1.0 / 7.0, 2.0 / 7.0, 4.0 / 7.0],
            2.5301973834,
            2.5917986602,
            [0.0740882692, 0.1962391744, 0.7296725564],
            2.6025004031,
        ),
        (
            AccessTime::Exponential,
            "exponential",
            [0.1845351232, 0.3154648768, 0.5],
            2.6111111111,
            2.6527777778,
            [1.0 / 7.0, 2.0 / 7.0, 4.0 / 7.0],
            2.7222222222,
        ),
    ] {
        let polled = changes.map(|changes| PolledPage::new(changes, access));
        for (order, label, frequencies, total) in
            [(PollingOrder::Even, "even", even, bound), (PollingOrder::Random, "random", random, random_cost)]
        {
            let ours = polling_frequencies(&polled, order);
            rows.extend((0..3).map(|i| {
                let what = format!("frequency of page {}, {name} access times, {label} order", i + 1);
                ReproductionRow::exact("R5", what, frequencies[i], ours[i], 1e-9).policy("polling")
            }));
            let what = format!("least cost, {name} access times, {label} order");
            rows.push(ReproductionRow::exact("R5", what, total, cost(&polled, order, &ours), 1e-9).policy("polling"));
        }
        let what = format!("cost of equal frequencies, {name} access times, even order");
        let ours = cost(&polled, PollingOrder::Even, &[1.0 / 3.0; 3]);
        rows.push(ReproductionRow::exact("R5", what, uniform, ours, 1e-9).policy("uniform"));
    }
    rows
}

/// R7. Kolobov et al., NeurIPS 2019: costs of policies on five pages. The paper has figures only, from its own log.
pub(super) fn lambda_crawl(_: &Effort) -> Vec<ReproductionRow> {
    let five = pages([(0.1, 1.0), (0.5, 2.0), (1.0, 3.0), (2.0, 4.0), (10.0, 5.0)]);
    let budget = 3.0;
    let at_least: Vec<PageTerms> = five.iter().map(|page| PageTerms { min_fetches_per_day: 0.24, ..*page }).collect();
    let best = |objective: Objective, pages: &[PageTerms]| {
        allocate::optimal_for(&objective, pages, budget).fetch_rates_per_day
    };
    let infinite = f64::INFINITY;
    let policies = [
        ("uniform", Some("uniform"), vec![0.6; 5], [0.285276516, 1.635510430, 0.346352604, 1.289431025]),
        (
            "proportional",
            Some("proportional"),
            allocate::proportional_fetches_per_day(&five, budget),
            [0.180722892, 1.710790407, 0.218218059, 1.308883993],
        ),
        (
            "LambdaCrawlApprox",
            Some("lambda-crawl-approx"),
            lambda_crawl_approx(&five, budget),
            [0.285197210, 1.464689436, 0.357146415, 1.111094498],
        ),
        (
            "LambdaCrawl",
            Some("lambda-crawl"),
            best(Objective::RandomHarmonic, &five),
            [0.271296529, 1.449045208, 0.342444150, 1.086167008],
        ),
        (
            "BinaryLambdaCrawl(0)",
            Some("azar"),
            azar(&five, budget).fetch_rates_per_day,
            [0.317821517, infinite, 0.398461013, infinite],
        ),
        (
            "BinaryLambdaCrawl(.4)",
            None,
            best(Objective::RandomFreshness, &at_least),
            [0.312470049, 1.791858402, 0.391249208, 1.460965835],
        ),
        (
            "best freshness",
            Some("optimal-freshness"),
            best(Objective::FRESHNESS, &five),
            [0.316770843, infinite, 0.399915001, infinite],
        ),
    ];
    let penalty = |objective: Objective, rates: &[f64]| allocate::average_penalty(objective, &five, rates);
    let rows = policies.into_iter().flat_map(|(name, policy, rates, references)| {
        let ours = [
            1.0 - penalty(Objective::RandomFreshness, &rates),
            penalty(Objective::RandomHarmonic, &rates),
            1.0 - penalty(Objective::FRESHNESS, &rates),
            penalty(Objective::HARMONIC, &rates),
        ];
        let measures = [
            "freshness, random looks",
            "harmonic penalty, random looks",
            "freshness, even looks",
            "harmonic penalty, even looks",
        ];
        // A page that is never fetched has no finite harmonic penalty.
        let finite = (0..4).filter(move |&i| references[i].is_finite());
        finite.map(move |i| {
            let row = ReproductionRow::exact("R7", format!("{}, {name}", measures[i]), references[i], ours[i], 1e-9);
            let row = row.estimator("known").budget(budget / 5.0);
            // Schedules are evenly spaced; the other two columns are for the same rates at random times.
            let row = if i == 2 { row.giving_weighted_freshness() } else { row };
            match policy {
                Some(policy) => row.policy(policy),
                None => row,
            }
        })
    });
    rows.collect()
}

/// R11. Wen & Lu: ten pages, rates per hour, base rate 1/6.
pub(super) fn two_classes(_: &Effort) -> Vec<ReproductionRow> {
    let rates = [1.0, 0.8, 0.9, 1.1, 1.2, 1.0 / 12.0, 1.0 / 10.0, 1.0 / 9.0, 1.0 / 11.0, 1.0 / 8.0];
    let ten = pages(rates.map(|rate| (rate, 1.0)));
    let base = 1.0 / 6.0;
    let classified = classified::rates_from_base(&ten, base);
    let budget: f64 = classified.iter().sum();
    let replaced: Vec<f64> = classified.iter().map(|&rate| if rate > base { rate - base } else { rate }).collect();
    let proportional = allocate::proportional_fetches_per_day(&ten, budget);
    let best = |budget: f64| allocate::optimal(&ten, budget, 0.0).fetch_rates_per_day;
    let mut rows = vec![ReproductionRow::exact("R11", "fetches an hour, classified", 20.0 / 3.0, budget, 1e-9)];
    for (what, policy, rates, reference, tolerance) in [
        ("uniform at 5/3 an hour", "uniform", vec![base; 10], 0.4590393384, 1e-9),
        ("classified", "classified", classified, 0.7107442452, 1e-9),
        ("fast rate instead of base rate", "classified", replaced, 0.6911723415, 1e-9),
        ("uniform at the budget of classified", "uniform", vec![budget / 10.0; 10], 0.7238759006, 1e-9),
        ("proportional at the budget of classified", "proportional", proportional, 0.6804706424, 1e-9),
        // The reference searched a grid of rates.
        ("two classes tuned", "classified-tuned", classified::tuned_rates(&ten, budget), 0.7491544132, 1e-4),
        ("best at the budget of classified", "optimal-freshness", best(budget), 0.7495044105, 1e-9),
        ("best at 5/3 an hour", "optimal-freshness", best(10.0 * base), 0.4660202195, 1e-9),
    ] {
        let fresh = allocate::freshness(&ten, &rates);
        let per_page_and_day = 24.0 * rates.iter().sum::<f64>() / 10.0;
        let row = ReproductionRow::exact("R11", format!("freshness, {what}"), reference, fresh, tolerance);
        let row = row.policy(policy).estimator("known").budget(per_page_and_day).giving_freshness();
        rows.push(match what {
            "uniform at 5/3 an hour" => row.published(".7875 on a scale of its own, miscalculated"),
            "classified" => row.published("3.3393 on a scale of its own, miscalculated"),
            _ => row,
        });
    }
    rows
}
