//! Mirrors among pages given with their links (Yang, "Research on Comparison Strategy of Mirror Pages Based on
//! Hyper-Links"; E7 of the algorithm notes). A crawl finds them by sketches of texts and links (`mirrors`).
//!
//! A mirror has the links of the page it copies. [`compare_all`] finds the mirrors in a set of pages: [`degree_bound`]
//! compares only pages with nearly as many links, [`banded`] only pages whose sketches share a band, which is far fewer,
//! and [`sampled`] joins pages whose smallest shingles of links are the same.
//!
//! Resemblance is |A ∩ B| / |A ∪ B| of the sets of link targets, or of shingles of several links. Pages are mirrors
//! from 0.9 on unless a [`MirrorSearch`] says otherwise ([`Threshold`]). Pages with fewer than ten links are left out
//! ([`DegreeBounds`]).
//!
//! ```
//! use literature::mirrors_by_links::{LinkedPage, MirrorSearch, compare_all};
//!
//! let page = |url: &str, first: u32| LinkedPage {
//!     url: url.to_owned(),
//!     links: (first..first + 20).map(|number| format!("https://linked.example/{number}")).collect(),
//! };
//! let pages = vec![page("http://a/", 0), page("http://b/", 1), page("http://c/", 50)];
//! let report = compare_all(pages, &MirrorSearch::default());
//! assert_eq!(report.groups, [["http://a/", "http://b/"]]);
//! ```
//!
//! Links are never resolved: the caller passes absolute ones.

mod all_pairs;
mod banded;
mod banding;
mod compare_all;
mod degree;
mod degree_bound;
mod groups;
mod host_pairs;
mod link_set;
mod shingles;

pub use self::all_pairs::all_pairs;
pub use self::banded::banded;
pub use self::banding::Banding;
pub use self::compare_all::{LinkedPage, MethodReport, MirrorMethod, MirrorReport, MirrorSearch, compare_all};
pub use self::degree::{DegreeBounds, DegreeHistogram};
pub use self::degree_bound::degree_bound;
pub use self::groups::DisjointSets;
pub use self::host_pairs::HostPair;
pub use self::link_set::LinkSet;
pub use self::shingles::{link_shingles, sampled};
pub use mirrors::Threshold;

/// The result of one method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Pages by their index in the input, joined if one was found to be a mirror of the other.
    pub groups: DisjointSets,
    /// Number of comparisons of two sets of links.
    pub comparisons: u64,
}
