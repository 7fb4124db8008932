//! Which pages matter, by how they are linked?
//!
//! *In batch*, over a whole [`Graph`]:
//!
//! | method | module | source |
//! |---|---|---|
//! | PageRank, also personalised | [`pagerank`] | Page et al. 1998; D1 of the algorithm notes |
//! | IPageRank: links count by the relevance of their words | [`pagerank`] over weighted links, [`relevance`] | D5 |
//! | TrustRank, spam mass | [`trust`] | Gyongyi et al. 2004; D6 |
//! | PageRank of hosts | [`pagerank`] over [`Graph::grouped`] | D4 |
//! | HITS | [`hits`] | Kleinberg 1999; D2 |
//! | OPIC | [`opic`] | Abiteboul, Preda & Cobena 2003; D3 |
//! | site link value | [`link_value`] | Ni et al.; D4 |
//!
//! *While pages are crawled*, as values without a store: [`opic`] needs an account per page and no graph. It is
//! sharded: cash that one page gives another is a message, and messages may arrive in any order.
//!
//! [`weight`] turns scores into the weights of a crawl.
//!
//! Links that a page repeats count once, and its links to itself never: no page gains by linking itself.
//!
//! This crate never decides what to fetch, never reads a page, and keeps nothing: tables and messages are its caller's.

mod damping;
mod graph;
pub mod hits;
pub mod link_value;
mod links;
pub mod opic;
pub mod pagerank;
pub mod relevance;
mod scores;
pub mod trust;
pub mod weight;

pub use crate::damping::{Damping, DampingOutOfRange};
pub use crate::graph::{Edge, Graph, GraphError, LeftOut, Repeats};
pub use crate::links::{Link, tidy, total_weight, weigh_alike, weigh_as_pagerank};
pub use crate::scores::Scores;
