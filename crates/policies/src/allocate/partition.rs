//! Fetch rates by groups of similar pages, so that budgets are solved on few representatives.
//!
//! Carney, Lee & Zdonik, ICDE 2003 (C12). A baseline: with a [`RatioHistogram`](revisit::histogram::RatioHistogram)
//! every page can have its own rate at less cost.

use revisit::allocate::{PageTerms, optimal, uniform_fetches_per_day};
use revisit::kernels::{self, VisitOrder};

/// The sort key by which pages are cut into groups of equal size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionKey {
    /// Importance.
    Weight,
    ChangeRate,
    /// Importance / change rate.
    WeightPerChange,
    /// Importance × freshness at the uniform fetch rate.
    PerceivedFreshness,
}

/// The distance of two pages in k-means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// Between the logarithms of weight and change rate, each divided by its standard deviation.
    Logarithms,
    /// Between raw shares of all weight and raw change rates per day, as published. This makes groups worse, because
    /// weights hardly count (C12).
    Raw,
}

/// Fetches per day of each page: the best rate of its group, as if all pages of the group were like their mean. Groups
/// are refined by `rounds` rounds of k-means.
pub fn partitioned(
    pages: &[PageTerms],
    budget_per_day: f64,
    key: PartitionKey,
    groups: usize,
    distance: Distance,
    rounds: u32,
) -> Vec<f64> {
    let mut rates = vec![0.0; pages.len()];
    let competing: Vec<usize> = (0..pages.len()).filter(|&i| pages[i].competes()).collect();
    if competing.is_empty() || groups == 0 {
        return rates;
    }
    let chosen: Vec<PageTerms> = competing.iter().map(|&i| pages[i]).collect();
    let mut labels = cut(&chosen, key, uniform_fetches_per_day(pages, budget_per_day), groups);
    if rounds > 0 {
        refine(&points(&chosen, distance), &mut labels, groups, rounds);
    }

    let mut sums = vec![(0.0, 0.0, 0.0, 0.0); groups];
    for (page, &label) in chosen.iter().zip(&labels) {
        let (count, change_rate, weight, cost) = &mut sums[label];
        *count += 1.0;
        *change_rate += page.change_rate_per_day;
        *weight += page.weight;
        *cost += page.cost;
    }
    let representatives: Vec<PageTerms> = sums
        .iter()
        .map(|&(count, change_rate, weight, cost)| {
            let change_rate_per_day = if count > 0.0 { change_rate / count } else { 0.0 };
            PageTerms { weight, cost, ..PageTerms::new(change_rate_per_day) }
        })
        .collect();
    let best = optimal(&representatives, budget_per_day, 0.0).fetch_rates_per_day;
    competing.iter().zip(labels).for_each(|(&i, label)| rates[i] = best[label]);
    rates
}

/// The group of each page: equal numbers in the order of the key, ties in the given order.
fn cut(pages: &[PageTerms], key: PartitionKey, uniform_per_day: f64, groups: usize) -> Vec<usize> {
    let keys: Vec<f64> = pages
        .iter()
        .map(|page| match key {
            PartitionKey::Weight => page.weight,
            PartitionKey::ChangeRate => page.change_rate_per_day,
            PartitionKey::WeightPerChange => page.weight / page.change_rate_per_day,
            PartitionKey::PerceivedFreshness => {
                page.weight * kernels::average_freshness(VisitOrder::Fixed, page.change_rate_per_day / uniform_per_day)
            }
        })
        .collect();
    let mut order: Vec<usize> = (0..pages.len()).collect();
    order.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]));
    let mut labels = vec![0; pages.len()];
    order.iter().enumerate().for_each(|(rank, &i)| labels[i] = rank * groups / pages.len());
    labels
}

/// Coordinates of each page for k-means, from weight and change rate.
fn points(pages: &[PageTerms], distance: Distance) -> Vec<(f64, f64)> {
    let total: f64 = pages.iter().map(|page| page.weight).sum();
    if distance == Distance::Raw {
        return pages.iter().map(|page| (page.weight / total, page.change_rate_per_day)).collect();
    }
    let standardised = |number: fn(&PageTerms) -> f64| {
        let logs: Vec<f64> = pages.iter().map(|page| number(page).ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let variance = logs.iter().map(|log| (log - mean) * (log - mean)).sum::<f64>() / logs.len() as f64;
        let scale = if variance > 0.0 { 1.0 / variance.sqrt() } else { 0.0 };
        logs.into_iter().map(move |log| (log - mean) * scale)
    };
    standardised(|page| page.weight).zip(standardised(|page| page.change_rate_per_day)).collect()
}

/// Lloyd's algorithm from the given groups.
fn refine(points: &[(f64, f64)], labels: &mut [usize], groups: usize, rounds: u32) {
    let mut centres = vec![(0.0, 0.0); groups];
    for _ in 0..rounds {
        let mut sums = vec![(0.0, 0.0, 0.0); groups];
        for (&(x, y), &label) in points.iter().zip(labels.iter()) {
            let (count, sum_x, sum_y) = &mut sums[label];
            (*count, *sum_x, *sum_y) = (*count + 1.0, *sum_x + x, *sum_y + y);
        }
        // A group that lost all its pages keeps its centre.
        for (centre, (count, x, y)) in centres.iter_mut().zip(sums).filter(|(_, sum)| sum.0 > 0.0) {
            *centre = (x / count, y / count);
        }
        for (&(x, y), label) in points.iter().zip(labels.iter_mut()) {
            let distance = |(cx, cy): (f64, f64)| (x - cx) * (x - cx) + (y - cy) * (y - cy);
            let (mut nearest, mut least) = (0, f64::INFINITY);
            for (group, &centre) in centres.iter().enumerate() {
                if distance(centre) < least {
                    (nearest, least) = (group, distance(centre));
                }
            }
            *label = nearest;
        }
    }
}
