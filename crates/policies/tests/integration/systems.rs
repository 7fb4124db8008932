//! Crawlers' revisit rules against their papers' and programs' numbers, and what must hold of all of them.

mod adaptive;
mod behaviour;
mod chile;
mod classified;
mod filled;
mod longevity;
mod signals;
mod site_ranks;
mod tianwang;
mod webfountain;

use change_rate::{Gamma, LookOutcome};
use revisit::columns::Slot;
use revisit::{PlanStanding, PlanValues, PolicyLook, PolicyPage, PolicyTick, RevisitPolicy};
use sweeps::PagePlace;

fn close(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= tolerance * expected.abs(), "got {got}, expected {expected}");
}

/// As good as certain, and its mean is exact.
fn belief(change_rate_per_day: f64) -> Gamma {
    let beta_days = f64::from(1 << 20);
    Gamma::new(change_rate_per_day * beta_days, beta_days).expect("positive and finite")
}

fn slot(index: u32) -> Slot {
    Slot::new(index)
}

/// A page of which a copy was made at day 0.
fn page(change_rate_per_day: f64) -> PolicyPage {
    PolicyPage {
        weight: 1.0,
        cost: 1.0,
        host: 0,
        place: PagePlace::of("a.example", "a.example", "/"),
        last_look_days: Some(0.0),
        belief: belief(change_rate_per_day),
    }
}

fn new_page(change_rate_per_day: f64) -> PolicyPage {
    PolicyPage { last_look_days: None, ..page(change_rate_per_day) }
}

fn look(at_days: f64, outcome: Option<LookOutcome>, change_rate_per_day: f64) -> PolicyLook {
    PolicyLook { at_days, interval_days: Some(1.0), outcome, extent: None, belief: belief(change_rate_per_day) }
}

fn tick(now_days: f64, days: f64, budget_per_day: f64) -> PolicyTick {
    PolicyTick { now_days, days, budget_per_day }
}

/// All pages that the policy offers now, at most `most`, as indices.
fn offers(policy: &mut dyn RevisitPolicy, now_days: f64, most: usize) -> Vec<usize> {
    std::iter::from_fn(|| policy.next(now_days)).take(most).map(|slot| slot.index()).collect()
}
