//! The section `[policy]`.

use super::common::{DAY, MINUTE, SECOND, TEN_YEARS, YEAR};
use crate::form::{Named, Number, Span};
use policies::PolicyKind;
use std::time::Duration;

section! {
    /// Which page is worth the next fetch.
    policy: Policy {
        /// The revisit policy.
        name: PolicyKind = Named(PolicyKind::for_operators),
        /// Share of the harmonic part in the mixed objective, 0–1.
        theta: f64 = Number(0.0, 1.0),
        /// Share of the budget that measures freshness at pages drawn at random, 0–0.5.
        audit_share: f64 = Number(0.0, 0.5),
        /// Time between two plans, for policies that plan ahead.
        replan_interval: Duration = Span(MINUTE, YEAR),
        /// Share of a cycle that goes to pages never fetched, 0–1; for the policy tianwang.
        new_page_share: f64 = Number(0.0, 1.0),
        /// Least time between two looks at a page.
        min_interval: Duration = Span(SECOND, YEAR),
        /// Longest time between two looks at a page, budget permitting.
        max_interval: Duration = Span(MINUTE, TEN_YEARS),
        /// Time between two scans of all pages.
        scan_interval: Duration = Span(Duration::from_millis(10), DAY),
        /// Time after which an unanswered request counts as lost.
        lease_timeout: Duration = Span(SECOND, YEAR),
        /// Wait after a page's first failure; doubled with each further one.
        retry_base: Duration = Span(SECOND, YEAR),
        /// Longest wait after failures.
        retry_max: Duration = Span(SECOND, YEAR),
    }
}
