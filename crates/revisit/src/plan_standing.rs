//! Where a page stands in the plan of a policy, in the terms of the system that the policy comes from.

use std::fmt;

/// The place of a page in a plan. Times are days since the policy's origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlanStanding {
    /// Wen & Lu: fast pages are fetched at a rate of their own on top of the base rate.
    Class {
        is_fast: bool,
        /// Changes per day from which a page is fast.
        fast_from_per_day: f64,
        /// Fetches per day of the page's class.
        fetches_per_day: f64,
    },
    /// Ni et al.: sites in three ranks by value.
    SiteRank {
        /// Visits in four passes: 4, 2 or 1.
        rank: u8,
        /// Position of the site among all, from 1, the most valuable first.
        position: usize,
        sites: usize,
        /// Number of the current pass.
        pass: u64,
    },
    /// WebFountain: pages in buckets of similar change rates.
    Bucket {
        /// From 1, the slowest first.
        bucket: usize,
        buckets: usize,
        /// Whether it is among the fetches of the current period.
        is_planned: bool,
        period_ends_days: f64,
    },
    /// Tianwang: pages come back after one change period.
    Cycle {
        /// Name of the table that the page is in.
        table: &'static str,
        change_period_days: f64,
        /// Days until an index page is expected to show a new address; infinite for other pages.
        new_page_period_days: f64,
        /// Whether it is in the plan of the current cycle.
        is_planned: bool,
        cycle_ends_days: f64,
    },
    /// University of Chile: a batch of the pages that a fetch makes most current.
    Batch { is_batched: bool, batch_ends_days: f64 },
    /// Rates that are planned again from time to time.
    Rate { fetches_per_day: f64 },
}

impl PlanStanding {
    /// Whether the plan favours the page: the fast class, a site of rank 4, or the current period, cycle or batch.
    pub fn is_ahead(&self) -> bool {
        match self {
            Self::Class { is_fast, .. } => *is_fast,
            Self::SiteRank { rank, .. } => *rank == 4,
            Self::Bucket { is_planned, .. } | Self::Cycle { is_planned, .. } => *is_planned,
            Self::Batch { is_batched, .. } => *is_batched,
            Self::Rate { fetches_per_day } => *fetches_per_day > 0.0,
        }
    }
}

/// The place in a sentence.
impl fmt::Display for PlanStanding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Class { is_fast, fast_from_per_day, fetches_per_day } => {
                let class = if *is_fast { "fast" } else { "slow" };
                write!(
                    f,
                    "It is in the {class} class, which is fetched {fetches_per_day:.3} times a day. Pages that change \
                     {fast_from_per_day:.3} times a day or more are fast."
                )
            }
            Self::SiteRank { rank, position, sites, pass } => {
                let visits = match rank {
                    4 => "every pass",
                    2 => "every second pass",
                    _ => "every fourth pass",
                };
                write!(
                    f,
                    "Its site is number {position} of {sites} by value, so it has rank {rank} and is visited in {visits}. \
                     Pass {pass} is under way."
                )
            }
            Self::Bucket { bucket, buckets, is_planned, .. } => {
                let planned = if *is_planned { "is" } else { "is not" };
                write!(
                    f,
                    "It is in bucket {bucket} of {buckets} by change rate, the slowest first. It {planned} among the \
                     fetches of the current period."
                )
            }
            Self::Cycle { table, change_period_days, new_page_period_days, is_planned, .. } => {
                let planned = if *is_planned { "is" } else { "is not" };
                write!(f, "It is in the table {table}, with {change_period_days:.2} days between its changes")?;
                if new_page_period_days.is_finite() {
                    write!(f, " and {new_page_period_days:.2} days between the new pages that it links to")?;
                }
                write!(f, ". It {planned} in the plan of the current cycle.")
            }
            Self::Batch { is_batched: true, .. } => write!(f, "It is in the current batch."),
            Self::Batch { is_batched: false, .. } => {
                write!(f, "It is not in the current batch: other pages gain more by a fetch.")
            }
            Self::Rate { fetches_per_day } => {
                write!(f, "It is planned to be fetched {fetches_per_day:.3} times a day.")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_a_sentence_in_the_terms_of_its_system() {
        let check = |standing: PlanStanding, words: &str| {
            let text = standing.to_string();
            assert!(text.contains(words) && text.ends_with('.'), "{text}");
        };
        check(
            PlanStanding::Class { is_fast: true, fast_from_per_day: 0.7, fetches_per_day: 1.35 },
            "fast class, which is fetched 1.350 times",
        );
        let rank = |rank| PlanStanding::SiteRank { rank, position: 4, sites: 9, pass: 3 };
        check(rank(2), "number 4 of 9");
        assert!(rank(4).is_ahead() && !rank(2).is_ahead());
        let bucket = PlanStanding::Bucket { bucket: 2, buckets: 6, is_planned: false, period_ends_days: 1.0 };
        check(bucket, "bucket 2 of 6");
        let cycle = PlanStanding::Cycle {
            table: "PageInfo",
            change_period_days: 10.0,
            new_page_period_days: f64::INFINITY,
            is_planned: true,
            cycle_ends_days: 1.0,
        };
        check(cycle, "10.00 days between its changes. It is in the plan");
        check(PlanStanding::Batch { is_batched: false, batch_ends_days: 1.0 }, "not in the current batch");
        check(PlanStanding::Rate { fetches_per_day: 0.25 }, "0.250 times a day");
    }
}
