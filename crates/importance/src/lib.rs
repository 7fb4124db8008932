//! Which pages matter, by how they are linked?
//!
//! Importance is reckoned while pages are crawled, as values without a store or a graph. It is sharded: cash that one page
//! gives another is a message, and messages may arrive in any order.
//!
//! | method | module | source |
//! |---|---|---|
//! | OPIC; PageRank and TrustRank by cash | [`opic`] | Abiteboul, Preda & Cobena 2003; D3 of the algorithm notes |
//! | spam mass | [`trust`] | Gyongyi et al. 2004; D6 |
//! | site link value | [`link_value`] | Ni et al.; D4 |
//! | tails of degrees and importance | [`power_law`] | Clauset, Shalizi & Newman 2009 |
//!
//! [`weight`] turns scores into the weights of a crawl.
//!
//! Links that a page repeats count once, and its links to itself never: no page gains by linking itself.
//!
//! This crate never decides what to fetch, never reads a page, and keeps nothing: tables and messages are its caller's.

pub mod link_value;
mod links;
pub mod opic;
pub mod power_law;
pub mod trust;
pub mod weight;

pub use crate::links::{Link, tidy, total_weight, weigh_alike, weigh_as_pagerank};
