//! The budget: how fresh the copies would be with less or more of it, by what is believed of their pages today.

use super::query::Query;
use super::{ScreenFailure, Source};
use crate::CommandFailure;
use crate::attention::percent;
use daemon::TopicReader;
use messages::{Demand, Encoded, topics};
use outputs::numbers::{grouped, rate};
use revisit::budget_curve::{BudgetCurve, RateBin};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Steps of the curve, each a quarter of a doubling, below and above the present budget.
const STEPS: i32 = 16;
/// Size of the picture.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 240.0;
/// The policy that fetches what is worth most.
const BEST: &str = "live";
/// Records of each partition among which its latest is looked for first. Transactions take places of the log, too.
const RECORDS_OF_EACH: u64 = 8;
const SECONDS: f64 = 86_400.0;

#[derive(Serialize)]
pub(super) struct Budget {
    /// Whether the stages have said how fast pages change.
    is_known: bool,
    pages: u64,
    never_fetched: i64,
    rows: Vec<BudgetRow>,
    /// The curve as points of a polyline.
    line: String,
    /// The rows that the picture marks.
    marks: Vec<Mark>,
    width: f64,
    height: f64,
    /// Requests a second beyond which nothing more would be spent.
    need: String,
    shortest_interval: String,
    least_worth: String,
    /// Name of the policy, if it does not fetch what is worth most.
    other_policy: Option<String>,
    price: String,
    /// The freshness that is measured or expected now.
    now: Option<String>,
    spent_per_second: Option<String>,
    bytes_are_limited: bool,
}

#[derive(Serialize)]
struct BudgetRow {
    name: &'static str,
    requests_per_second: String,
    spent_per_second: String,
    requests_per_month: String,
    freshness: String,
    is_present: bool,
}

#[derive(Serialize)]
struct Mark {
    x: f64,
    y: f64,
    label: String,
}

/// The latest demand of each partition. Each is published once a minute, and the log may hold hours of them: the end of the topic is
/// read first, and all of it only if a partition is not there.
fn demands(source: &Source<'_>) -> Result<Vec<Demand>, CommandFailure> {
    let mut reader = source.crawl.reader(topics::DEMAND.spec())?;
    let (bounds, partitions) = (reader.bounds(0)?, source.state.partitions() as usize);
    let last = bounds.end.saturating_sub(partitions as u64 * RECORDS_OF_EACH).max(bounds.start);
    let latest = latest_demands(&mut reader, last)?;
    if latest.len() >= partitions || last == bounds.start {
        return Ok(latest);
    }
    latest_demands(&mut reader, bounds.start)
}

fn latest_demands(reader: &mut TopicReader, from: u64) -> Result<Vec<Demand>, CommandFailure> {
    let mut latest: BTreeMap<i32, Demand> = BTreeMap::new();
    let _ = reader.read_from(0, from, |record| {
        if let Ok(demand) = Demand::decode(record.value.as_deref().unwrap_or_default()) {
            latest.insert(demand.stage_partition, demand);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(latest.into_values().collect())
}

fn curve_of(demands: &[Demand]) -> BudgetCurve {
    let mut curve = BudgetCurve::default();
    for bin in demands.iter().flat_map(|demand| &demand.rate_bins) {
        let sums = RateBin { pages: bin.pages, change_rate_per_day: bin.change_rate_per_day, weight: bin.weight };
        // A negative number is that of no bin, and is left out.
        curve.add_bin(usize::try_from(bin.bin).unwrap_or(usize::MAX), sums);
    }
    curve
}

pub(super) fn gather(source: &Source<'_>, query: &str) -> Result<Budget, ScreenFailure> {
    Query::read(query, &[])?;
    if source.caller.hosts.is_some() {
        let why = "the budget is of the whole crawl, and the key is for some hosts".to_owned();
        return Err(ScreenFailure::Forbidden(why));
    }
    let demands = demands(source)?;
    let curve = curve_of(&demands);
    let settings = source.settings;
    let (budget, shortest) = (settings.budget.fetches_per_second, settings.policy.min_interval);
    let least_worth_days = settings.policy.least_worth.as_secs_f64() / SECONDS;
    let bounds = (SECONDS / shortest.as_secs_f64().max(1.0), least_worth_days);
    let at = |factor: f64| curve.at(budget * factor * SECONDS, settings.policy.theta, bounds);
    let row = |(name, factor): (&'static str, f64)| {
        let point = at(factor);
        BudgetRow {
            name,
            requests_per_second: rate(budget * factor),
            spent_per_second: rate(point.fetches_per_day / SECONDS),
            requests_per_month: grouped(point.fetches_per_day * 30.0, " "),
            freshness: percent(point.freshness),
            is_present: factor == 1.0,
        }
    };
    let named = [("a quarter", 0.25), ("half", 0.5), ("the present one", 1.0), ("twice", 2.0), ("four times", 4.0)];
    let place = |step: i32, freshness: f64| {
        let across = f64::from(step + STEPS) / f64::from(2 * STEPS);
        (rounded(across * WIDTH), rounded((1.0 - freshness) * HEIGHT))
    };
    let points = (-STEPS..=STEPS).map(|step| place(step, at(2f64.powf(f64::from(step) / 4.0)).freshness));
    let mark = |step: i32, name: &str| {
        let freshness = at(2f64.powf(f64::from(step) / 4.0)).freshness;
        let (x, y) = place(step, freshness);
        Mark { x, y, label: format!("{name}: {}", percent(freshness)) }
    };
    let status = source.crawl.status(source.state)?;
    let calibrated = status.calibrated_freshness.as_ref().map(|fresh| fresh.mean);
    Ok(Budget {
        is_known: curve.pages() > 0.0,
        pages: curve.pages() as u64,
        never_fetched: demands.iter().map(|demand| demand.never_fetched).sum(),
        rows: named.into_iter().map(row).collect(),
        line: points.map(|(x, y)| format!("{x},{y}")).collect::<Vec<_>>().join(" "),
        marks: [(-4, "half"), (0, "present"), (4, "twice")].map(|(step, name)| mark(step, name)).into(),
        width: WIDTH,
        height: HEIGHT,
        need: rate(curve.at(f64::MAX, settings.policy.theta, bounds).fetches_per_day / SECONDS),
        shortest_interval: humantime::format_duration(shortest).to_string(),
        least_worth: humantime::format_duration(settings.policy.least_worth).to_string(),
        other_policy: (settings.policy.name != BEST).then(|| settings.policy.name.clone()),
        price: format!("{:.2e}", demands.iter().map(|demand| demand.price).fold(0.0, f64::max)),
        now: calibrated.or(status.estimated_freshness).map(percent),
        spent_per_second: status.fetch_rate_per_s.map(rate),
        bytes_are_limited: settings.budget.bytes_per_second.is_some(),
    })
}

fn rounded(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_add_up_and_a_bin_that_is_none_counts_nowhere() {
        let bin = |bin| messages::RateBin { bin, pages: 2.0, change_rate_per_day: 1.0, weight: 2.0 };
        let demand = |partition, bins: &[i32]| Demand {
            stage_partition: partition,
            published_at: page::Timestamp::MIN,
            pages: 2,
            never_fetched: 0,
            budget_fetches_per_day: 1.0,
            histogram: Vec::new(),
            policy: "live".to_owned(),
            price: 0.0,
            rate_bins: bins.iter().map(|number| bin(*number)).collect(),
            plan_count: 0,
            plan_values: Vec::new(),
            plan_demand: 0.0,
        };
        assert_eq!(curve_of(&[demand(0, &[100, 120]), demand(1, &[100, -1, 9_999])]).pages(), 6.0);
    }
}
