//! Rankings against references and another library, and mirrors at the size that their search is made for.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod mirrors_by_links;
mod networkx;
mod ranking;
mod reference;
