//! Which pages matter, over a whole [`Graph`] of links. A crawl keeps no graph: crate `importance` has what the ranker does.
//!
//! | method | module | source |
//! |---|---|---|
//! | PageRank, also personalised | [`pagerank`] | Page et al. 1998; D1 of the algorithm notes |
//! | IPageRank: links count by the relevance of their words | [`pagerank`] over weighted links, [`relevance`] | D5 |
//! | TrustRank | [`trust`] | Gyongyi et al. 2004; D6 |
//! | PageRank of hosts | [`pagerank`] over [`Graph::grouped`] | D4 |
//! | HITS | [`hits`] | Kleinberg 1999; D2 |
//! | OPIC | [`opic`] | Abiteboul, Preda & Cobena 2003; D3 |
//! | site link value | [`link_value`] | Ni et al.; D4 |
//!
//! Links that a page repeats count once, and its links to itself never: no page gains by linking itself.

mod damping;
mod graph;
pub mod hits;
pub mod link_value;
pub mod opic;
pub mod pagerank;
pub mod relevance;
mod scores;
pub mod trust;

pub use self::damping::{Damping, DampingOutOfRange};
pub use self::graph::{Edge, Graph, GraphError, LeftOut, Repeats};
pub use self::scores::Scores;
