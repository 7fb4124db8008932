//! Mirrors among pages given with their links (E7 of the algorithm notes). The detector and the matcher find them by their texts.
//!
//! A mirror has the links of the page it copies. [`compare_all`] finds the mirrors in a set of pages with two methods:
//! [`degree_bound`] compares only pages with nearly as many links, and [`banded`] only pages whose sketches share a
//! band, which is far fewer.
//!
//! Resemblance is |A ∩ B| / |A ∪ B| of the sets of link targets. Pages are mirrors from 0.9 on ([`Threshold`]). Pages
//! with fewer than ten links are left out ([`DegreeBounds`]).
//!
//! ```
//! use literature::mirrors_by_links::{LinkedPage, compare_all};
//!
//! let page = |url: &str, first: u32| LinkedPage {
//!     url: url.to_owned(),
//!     links: (first..first + 20).map(|number| format!("https://linked.example/{number}")).collect(),
//! };
//! let report = compare_all(vec![page("http://a/", 0), page("http://b/", 1), page("http://c/", 50)]);
//! assert_eq!(report.groups, [["http://a/", "http://b/"]]);
//! ```
//!
//! Links are never resolved: the caller passes absolute ones.

mod banded;
mod banding;
mod compare_all;
mod degree;
mod degree_bound;
mod groups;
mod link_set;
mod threshold;

pub use self::banded::banded;
pub use self::banding::Banding;
pub use self::compare_all::{LinkedPage, MethodReport, MirrorReport, compare_all};
pub use self::degree::{DegreeBounds, DegreeHistogram};
pub use self::degree_bound::degree_bound;
pub use self::groups::DisjointSets;
pub use self::link_set::LinkSet;
pub use self::threshold::Threshold;

/// The result of one method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Pages by their index in the input, joined if one was found to be a mirror of the other.
    pub groups: DisjointSets,
    /// Number of comparisons of two sets of links.
    pub comparisons: u64,
}
