//! When do pages change together?
//!
//! Pages of a site, a directory or a type often change in sweeps: a new footer, a release, a day's publication. So a
//! look at one page tells about its siblings. [`Place`] says which groups a page belongs to; [`Model`] learns, from one
//! look after the other, a calendar of sweeps for every group and beside it each page's own change rate with the sweeps
//! taken out ([`PageBelief`]); [`Outlook`] is the part of it that choosing pages needs, and [`Changes`] is how it
//! travels from who learns to who chooses. [`rules`] holds the constants.
//!
//! Times are days since a moment of the caller's choosing; a bin of a calendar is one whole day of it. This crate never
//! reads a clock or keeps anything on disk.

mod belief;
mod calendar;
mod group_sizes;
mod hash_keys;
mod hazard;
mod look_bins;
mod members;
mod model;
mod outlook;
mod place;
pub mod rules;
mod states;
mod wire;

pub use crate::belief::{CellPriors, PageBelief};
pub use crate::group_sizes::{GroupSet, GroupSizes};
pub use crate::hash_keys::{HashKeys, HashMapByHash};
pub use crate::hazard::Hazard;
pub use crate::members::{Groups, Members};
pub use crate::model::{Looked, Model};
pub use crate::outlook::{CellChange, Changes, GroupChange, GroupOutlook, Outlook};
pub use crate::place::{GroupKind, Place};
pub use crate::states::{CellState, GroupState, InvalidState, SiteState};
