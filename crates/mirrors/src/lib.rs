//! Which pages are copies of each other, judged by where they point?
//!
//! A mirror has the links of the page it copies. [`compare_all`] finds the mirrors in a set of pages with two methods:
//! [`degree_bound`] compares only pages with nearly as many links, and [`banded`] only pages whose sketches share a
//! band, which is far fewer.
//!
//! [`TextSketch`] and [`best_match`] are the second method for a stream of pages, compared by their texts. With
//! [`Ties`], the pages found alike agree which of them is fetched for all.
//!
//! Resemblance is |A ∩ B| / |A ∪ B| of the sets of link targets. Pages are mirrors from 0.9 on ([`Threshold`]). Pages
//! with fewer than ten links are left out ([`DegreeBounds`]).
//!
//! ```
//! let page = |url: &str, first: u32| mirrors::LinkedPage {
//!     url: url.to_owned(),
//!     links: (first..first + 20).map(|number| format!("https://linked.example/{number}")).collect(),
//! };
//! let report = mirrors::compare_all(vec![page("http://a/", 0), page("http://b/", 1), page("http://c/", 50)]);
//! assert_eq!(report.groups, [["http://a/", "http://b/"]]);
//! ```
//!
//! This crate never fetches, stores or reads a clock, and never resolves a link: the caller passes absolute ones.

mod banded;
mod banding;
mod compare_all;
mod degree;
mod degree_bound;
mod groups;
mod link_set;
mod sketch;
mod text_sketch;
mod threshold;
mod ties;

pub use crate::banded::banded;
pub use crate::banding::Banding;
pub use crate::compare_all::{LinkedPage, MethodReport, MirrorReport, compare_all};
pub use crate::degree::{DegreeBounds, DegreeHistogram};
pub use crate::degree_bound::degree_bound;
pub use crate::groups::DisjointSets;
pub use crate::link_set::LinkSet;
pub use crate::sketch::{SKETCH_SLOTS, Sketch};
pub use crate::text_sketch::{BandKey, MAX_BUCKET_PAGES, NotATextSketch, SketchEntry, TextSketch, best_match};
pub use crate::threshold::Threshold;
pub use crate::ties::{
    Canonical, MAX_FOLLOWERS, Message, MirrorFollower, MirrorPeer, MirrorRank, PROBE_EVERY, Saying, Ties, shared_weight,
};

/// The result of one method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Pages by their index in the input, joined if one was found to be a mirror of the other.
    pub groups: DisjointSets,
    /// Number of comparisons of two sets of links.
    pub comparisons: u64,
}
