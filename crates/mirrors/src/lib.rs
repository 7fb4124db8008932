//! Which pages are copies of each other, judged by their texts and links?
//!
//! [`MirrorSketch`] and [`MirrorRule`] find them in a stream of pages. With [`Ties`], the pages found alike agree which of
//! them is fetched for all.
//!
//! This crate never fetches, stores or reads a clock.

mod link_sketch;
mod mirror_sketch;
mod packed_sketch;
mod rule;
mod sketch;
mod text_sketch;
mod threshold;
mod ties;

pub use crate::link_sketch::{LEAST_LINKS, LinkSketch, MOST_LINKS, link_key};
pub use crate::mirror_sketch::{MirrorSketch, NotASketch};
pub use crate::packed_sketch::BandKey;
pub use crate::rule::{MAX_BUCKET_PAGES, MirrorRule, SketchEntry};
pub use crate::sketch::{SKETCH_SLOTS, Sketch};
pub use crate::text_sketch::TextSketch;
pub use crate::threshold::Threshold;
pub use crate::ties::{
    Canonical, MAX_FOLLOWERS, Message, MirrorFollower, MirrorPeer, MirrorRank, PROBE_EVERY, Saying, Ties,
    address_order, shared_weight,
};
