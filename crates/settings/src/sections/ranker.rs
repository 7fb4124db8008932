//! The section `[ranker]`.

use crate::form::{Choice, Flag, List, Number, Span, Text};
use std::time::Duration;

/// The values of `ranker.trusted`, as messages name them.
pub const TRUSTED_PAGES: &str = "hosts, or paths on them, such as [\"*.example.org\", \"shop.example/guides/*\"]";

section! {
    /// How the worth of pages follows from their links. Used where links are followed.
    ranker: Ranker {
        importance: RankMethod = Choice(&[
            ("opic", RankMethod::Opic), ("pagerank", RankMethod::PageRank), ("trustrank", RankMethod::TrustRank),
            ("link-value", RankMethod::LinkValue), ("none", RankMethod::None),
        ]),
        /// Patterns of pages at which trust begins.
        trusted: Vec<String> = List(Text(TRUSTED_PAGES, |_| true)),
        /// Whether sites whose links are mostly exchanged lose weight.
        spam_shape: bool = Flag,
        /// Exponent by which a score becomes a weight.
        exponent: f64 = Number(0.0, 1.0),
        /// Least change of a weight, as a share of it, that is sent to the scheduler.
        min_change: f64 = Number(0.0, 10.0),
        /// How often the partitions send each other their totals.
        interval: Duration = Span(Duration::from_millis(100), Duration::from_secs(86_400)),
    }
}

/// How importance is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankMethod {
    /// By cash that pages pass on when they are looked at (Abiteboul, Preda & Cobena 2003).
    Opic,
    /// The same, with 15 % of each page's cash to all pages, as in PageRank (Page et al. 1998).
    PageRank,
    /// The same, with 15 % to the trusted pages only (Gyongyi et al. 2004).
    TrustRank,
    /// By the value of the page's site, which the links of other sites raise by the value of theirs (Ni, Zou & Ding).
    LinkValue,
    /// Not at all: all pages are alike.
    None,
}

impl RankMethod {
    /// Whether pages pass on cash.
    pub fn has_cash(self) -> bool {
        match self {
            Self::Opic | Self::PageRank | Self::TrustRank => true,
            Self::LinkValue | Self::None => false,
        }
    }
}
