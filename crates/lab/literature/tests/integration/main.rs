//! The methods at the size they are made for.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod mirrors_by_links;
