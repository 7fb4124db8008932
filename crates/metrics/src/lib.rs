//! Every number that recrawl shows about itself: its name, unit and meaning.
//!
//! A stage returns its *figures*, pairs of a metric and a number. `/status` shows them under the short name
//! ([`Metric::figure`]), `/metrics` under the full one. `docs/METRICS.md` is written from these tables. Hosts and URLs are never
//! labels: a crawl has too many of them.

/// Declares the metrics of a module: `NAME = kind "figure" "unit" "meaning" by ["label"];`.
macro_rules! metrics {
    ($(#[$doc:meta])* pub mod $module:ident $prefix:literal
     $($name:ident = $kind:ident $figure:literal $unit:literal $help:literal $(by [$($label:literal),+])?;)*) => {
        $(#[$doc])*
        pub mod $module {
            use crate::{Metric, MetricKind};

            $(pub const $name: &Metric = &Metric {
                name: concat!($prefix, $figure),
                figure: $figure,
                stage: stringify!($module),
                kind: MetricKind::$kind,
                unit: $unit,
                labels: &[$($($label),+)?],
                help: $help,
            };)*

            pub(crate) const ALL: &[&Metric] = &[$($name),*];
        }
    };
}

mod common;
mod stages;

pub use crate::common::{backlog, process, stage};
pub use crate::stages::*;

/// One metric. Metrics are ordered by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Metric {
    /// Name as in a scrape; a counter ends in `_total`, a histogram has its parts (`_bucket`, `_sum`, `_count`) behind it.
    pub name: &'static str,
    /// Name among the figures of a stage: the name without `recrawl_<stage>_`.
    pub figure: &'static str,
    /// The stage that returns it; of a metric that no single stage has, the name of its module.
    pub stage: &'static str,
    /// Counter, gauge or histogram.
    pub kind: MetricKind,
    /// The unit, or the things that are counted.
    pub unit: &'static str,
    /// Labels that each series has.
    pub labels: &'static [&'static str],
    /// Help text.
    pub help: &'static str,
}

impl Metric {
    /// The value for several partitions, whose figures are added up: the mean of a price, the sum of all others.
    pub fn of_partitions(&self, sum: f64, partitions: usize) -> f64 {
        if self == scheduler::PRICE { sum / partitions.max(1) as f64 } else { sum }
    }
}

/// A metric and its value.
pub type Figure = (&'static Metric, f64);

/// Type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MetricKind {
    /// Only grows while the process runs.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Values counted by bucket.
    Histogram,
}

impl MetricKind {
    /// The kind in one word, as in a scrape.
    pub fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// All metrics.
pub fn all() -> impl Iterator<Item = &'static Metric> {
    METRICS.iter().flat_map(|(_, metrics)| *metrics).copied()
}
