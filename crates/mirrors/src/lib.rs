//! Which pages are copies of each other, judged by their texts?
//!
//! [`TextSketch`] and [`best_match`] find them in a stream of pages. With [`Ties`], the pages found alike agree which of
//! them is fetched for all.
//!
//! This crate never fetches, stores or reads a clock.

mod sketch;
mod text_sketch;
mod ties;

pub use crate::sketch::{SKETCH_SLOTS, Sketch};
pub use crate::text_sketch::{BandKey, MAX_BUCKET_PAGES, NotATextSketch, SketchEntry, TextSketch, best_match};
pub use crate::ties::{
    Canonical, MAX_FOLLOWERS, Message, MirrorFollower, MirrorPeer, MirrorRank, PROBE_EVERY, Saying, Ties,
    address_order, shared_weight,
};
