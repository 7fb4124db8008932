//! Value of a page whose site announces changes, incompletely and with false alarms.
//!
//! Sitemaps, feeds and pings announce a change with some probability (recall), and announce changes that never were
//! (one minus precision). Signals raise the probability that a copy is stale, but do not prove it, and silence does not
//! disprove it. [`SignalModel`] has the closed forms, [`ValueTable`] makes them cheap for all pages of a host, and
//! [`SignalCounts`] learns how far a host's signals can be trusted. Source: Busa-Fekete, Zimmert, György et al. (WWW
//! 2025); C16 of the algorithm notes.

mod model;
mod quality;
mod table;

pub use model::{FetchCycle, SignalModel};
pub use quality::{InvalidQuality, SignalCounts, SignalQuality, signal_counts};
pub use table::ValueTable;
