//! The section `[policy]`.

use super::common::{DAY, MINUTE, SECOND, TEN_YEARS, YEAR};
use crate::form::{AnyName, Number, Optional, Span};
use std::time::Duration;

section! {
    /// Selection of the next page to fetch.
    policy: Policy {
        /// Name of the revisit policy, from the table in the crate `policies`.
        name: String = AnyName,
        /// Share of the harmonic part in the mixed objective, 0–1.
        theta: f64 = Number(0.0, 1.0),
        /// Share of the fetches that go to a random sample that measures freshness, 0–0.5.
        audit_share: f64 = Number(0.0, 0.5),
        /// Time between two plans, for policies that plan ahead.
        replan_interval: Duration = Span(MINUTE, YEAR),
        /// Share of a cycle spent on pages never fetched, 0–1. Only for the policy tianwang.
        new_page_share: f64 = Number(0.0, 1.0),
        /// Changes per day from which a page is fast. `None`: twice the base rate. Only for the policy classified.
        fast_from: Option<f64> = Optional(Number(0.000_001, 1e6)),
        /// Fetches per day of a fast page on top of the base rate. `None`: the mean change rate of the fast pages. Only for
        /// the policy classified.
        fast_fetches: Option<f64> = Optional(Number(0.0, 1e6)),
        /// Exponents of a page's weight, of its size and of the probability that its copy is current. Only for the policy
        /// chile.
        quality_exponent: f64 = Number(0.0, 10.0),
        form_exponent: f64 = Number(0.0, 10.0),
        freshness_exponent: f64 = Number(0.001, 10.0),
        /// Cost of a page never fetched, beside that of an obsolete copy. Only for the policy webfountain.
        new_page_cost: f64 = Number(0.0, 1000.0),
        /// Weight of a period, beside that of the one before. Only for the policy webfountain.
        period_growth: f64 = Number(0.1, 10.0),
        /// Factor on the weight of pages never fetched. Only for the policies live and crawl-value.
        new_page_worth: f64 = Number(0.0, 1000.0),
        /// Share of a change's value that follows its extent, 0–1. Only for the policies live and crawl-value.
        extent_share: f64 = Number(0.0, 1.0),
        /// Freshness that a fetch must be expected to buy. Only for the policy live.
        least_worth: Duration = Span(Duration::ZERO, DAY),
        /// Least time between two fetches of a page.
        min_interval: Duration = Span(SECOND, YEAR),
        /// Longest time between two fetches of a page, if the budget permits.
        max_interval: Duration = Span(MINUTE, TEN_YEARS),
        /// Time between two scans of all pages.
        scan_interval: Duration = Span(Duration::from_millis(10), DAY),
        /// Time after which an unanswered request counts as lost.
        lease_timeout: Duration = Span(SECOND, YEAR),
        /// Wait after the first look that does not show the page. Grows with each further one.
        retry_base: Duration = Span(SECOND, YEAR),
        /// Longest wait after requests that fail.
        retry_max: Duration = Span(SECOND, YEAR),
    }
}
