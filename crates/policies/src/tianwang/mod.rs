//! The Tianwang cycle (Meng et al.; C5 of the algorithm notes).
//!
//! Time is cut into cycles. For each a plan is made: a share of the capacity for URLs never fetched, the rest for pages
//! that are due. Due pages without room go to a separate list, from which a later cycle with spare room takes them. A
//! page is due one change period (1 / change rate) after its last look: the proportional policy at one change per look.
//! [`Tables`] holds the plan, [`Tianwang`] is the policy.

mod policy;
mod tables;

pub use policy::{Tianwang, TianwangOptions};
pub use tables::{CycleOptions, CyclePlan, DueOrder, PageInfo, Tables};
