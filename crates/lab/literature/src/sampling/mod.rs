//! Which groups of pages (sites) to fetch, judging each by a sample of its pages.
//!
//! A cycle can fetch a share r of all pages. Fetching at random finds the average share of changed pages. Sampling
//! every group first, and then fetching the groups that changed most, finds more. [`two_stage`] is the published scheme
//! with its best sample size. [`adaptive`] keeps learning while it fetches and needs no sample size; it finds 7 to 11 %
//! more changed pages and is the one to use for discovery and for hosts without history. Source: Cho & Ntoulas,
//! *Effective change detection using sampling*, VLDB 2002; B9 of the algorithm notes.

pub mod adaptive;
mod beta;
pub mod two_stage;
