//! Has a page or a site the shape of spam?
//!
//! Spam is made by programs, in numbers, and its makers link it themselves. Statistics that are ordinary of each page
//! are then unusual of all of them together. Each [`Signal`] is one such statistic, with its usual value and a score
//! from 0 to 1.
//!
//! | signal | of | source |
//! |---|---|---|
//! | [`Signal::LinkExchange`] | the sites that link here and are linked back | Wu & Davison 2005; nepotism: Davison 2000 |
//! | [`Signal::DenseGroup`] | sites that all link each other | Wu & Davison 2005 |
//! | [`Signal::AlikeSites`] | sites with the same links that link here | Wu & Davison 2005 (complete hyperlinks) |
//! | [`Signal::CommonDegree`] | sites with pages of exactly one number of links | Fetterly, Manasse & Najork 2004 |
//! | [`Signal::RepeatedPhrases`] | phrases that a text says again | Fetterly, Manasse & Najork 2005 |
//! | [`Signal::CommonestWord`] | the share of one word in a text | Ntoulas, Najork, Manasse & Fetterly 2006 |
//! | [`Signal::Compressible`] | how far a text can be compressed | Ntoulas et al. 2006, section 4.6 |
//!
//! Trust ([`importance::trust`]) is another judgement: by who vouches for a page and not by its shape. They miss
//! different spam, so a crawl may use both.
//!
//! This crate keeps nothing, and drops no page: a shape lowers a weight ([`SpamShape::weight`]) and proves nothing.

mod degrees;
mod graph;
mod shape;
mod sites;
mod text;

pub use crate::degrees::DegreeCounts;
pub use crate::graph::judge_sites;
pub use crate::shape::{Signal, SpamShape, Suspicion};
pub use crate::sites::{SKETCHED_SITES, SiteLinks, SiteSketch, site_hash};
pub use crate::text::{TextJudge, TextShape};
