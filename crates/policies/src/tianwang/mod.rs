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

/// Value of a look at an index page `days` after the last: U = v ν t² / 2, when it yields ν new URLs a day, each worth
/// v (`new_url_value`).
pub fn discovery_value(new_url_value: f64, new_urls_per_day: f64, days: f64) -> f64 {
    0.5 * new_url_value * new_urls_per_day * days * days
}

/// Days after a look at which the next is worth its price: sqrt(2 L c / (v ν)), infinite when there is nothing to find.
pub fn discovery_interval_days(price: f64, cost: f64, new_url_value: f64, new_urls_per_day: f64) -> f64 {
    let yields_per_day = new_url_value * new_urls_per_day;
    if yields_per_day > 0.0 { (2.0 * price * cost / yields_per_day).sqrt() } else { f64::INFINITY }
}
