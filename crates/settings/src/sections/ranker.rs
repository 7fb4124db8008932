//! The section `[ranker]`.

use crate::form::{Choice, Number, Span};
use std::time::Duration;

section! {
    /// What pages are worth by their links. Used where links are followed.
    ranker: Ranker {
        /// How importance is computed.
        importance: RankMethod = Choice(&[
            ("opic", RankMethod::Opic), ("link-value", RankMethod::LinkValue), ("none", RankMethod::None),
        ]),
        /// Exponent by which a score becomes a weight.
        exponent: f64 = Number(0.0, 1.0),
        /// Least change of a weight, as a share of it, that is told to the scheduler.
        min_change: f64 = Number(0.0, 10.0),
        /// How often the partitions tell each other their totals.
        interval: Duration = Span(Duration::from_millis(100), Duration::from_secs(86_400)),
    }
}

/// How importance is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankMethod {
    /// By cash that pages hand on when they are looked at (Abiteboul, Preda & Cobena 2003).
    Opic,
    /// By the value of the page's site, which the links of other sites raise by the value of theirs (Ni, Zou & Ding).
    LinkValue,
    /// Not at all: all pages are alike.
    None,
}
