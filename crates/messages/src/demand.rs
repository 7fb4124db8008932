//! Demand: how much the schedulers of all partitions want to fetch, and at which price.

use crate::impl_message;
use page::Timestamp;
use serde::{Deserialize, Serialize};

/// Broadcast of a scheduler partition to all others: how much it wants to fetch at which price. The latest per
/// partition counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Demand {
    /// The sending partition. Also the record key.
    pub stage_partition: i32,
    /// Time of the count.
    pub published_at: Timestamp,
    pub pages: i64,
    pub never_fetched: i64,
    /// Fetches per day that this partition adds to the shared budget.
    pub budget_fetches_per_day: f64,
    /// Demand of its pages by bin. The policy defines the bins.
    pub histogram: Vec<f32>,
    /// The revisit policy that defines the bins.
    pub policy: String,
    /// The price that the partition uses; 0 before there is one.
    pub price: f64,
    /// Its pages by change rate and weight, from which the freshness of other budgets follows.
    #[serde(default)]
    pub rate_bins: Vec<RateBin>,
    /// Number of sites or pages that the policy's plan ranks. 0: each partition plans for itself.
    #[serde(default)]
    pub plan_count: i64,
    /// Their values in descending order, or as many quantiles of them as are kept.
    #[serde(default)]
    pub plan_values: Vec<f32>,
    /// Budget that the plan wants, by the policy's own measure. 0: by the histogram.
    #[serde(default)]
    pub plan_demand: f64,
}

/// Sums over pages with about the same ratio of change rate and weight.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateBin {
    /// Number of the bin, of ln(change rate / weight).
    pub bin: i32,
    pub pages: f64,
    pub change_rate_per_day: f64,
    pub weight: f64,
}

impl_message!(Demand, "Demand", include_str!("../../../schemas/Demand.avsc"));
