//! When do pages change together?
//!
//! Pages of a site, a directory or a type often change in sweeps: a new footer, a release, a day's publication. So a
//! look at one page is evidence about its siblings. [`PagePlace`] names the groups a page belongs to. [`SweepModel`]
//! learns, look by look, a calendar of sweeps for every group, and beside it each page's own change rate without the
//! sweeps ([`OwnEvidence`]). [`Outlook`] is the part that the choice of pages needs, and [`Changes`] carries it from
//! the learner to the chooser. [`rules`] holds the constants.
//!
//! Times are days since an origin of the caller's choice; a bin of a calendar is one whole day. This crate never reads
//! a clock or keeps anything on disk.

mod belief;
mod calendar;
mod group_sizes;
mod hash_keys;
mod hazard;
mod look_bins;
mod members;
mod model;
mod numbers;
mod outlook;
mod place;
pub mod rules;
mod states;
mod wire;

pub use crate::belief::{CellPriors, OwnEvidence};
pub use crate::group_sizes::{GroupSet, GroupSizes};
pub use crate::hash_keys::{HashKeys, HashMapByHash};
pub use crate::hazard::Hazard;
pub use crate::members::{GroupNumbers, Members};
pub use crate::model::{Looked, SweepModel};
pub use crate::outlook::{CellChange, Changes, GroupChange, GroupOutlook, Outlook, OutlookPart};
pub use crate::place::{GroupKind, PagePlace};
pub use crate::states::{CellState, GroupState, InvalidState, SiteState};
