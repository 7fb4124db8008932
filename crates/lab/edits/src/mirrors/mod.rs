//! Mirrors made of real pages: how many of them are found by their texts, by their links and by both, and how many
//! other pages are taken for one.
//!
//! A page is copied under another host name with one difference that mirrors show. The copies and all pages pass a
//! matcher like the running one: the same sketches, bands, buckets and rule. Other pages of the same site share the
//! template of a copy, and are what a rule may take it for.

mod copies;
mod markup;
mod measure;
mod pages;

pub use self::measure::{MirrorRow, MirrorsFound, measure_mirrors, mirror_total};
pub use self::pages::{RealPage, real_pages};
