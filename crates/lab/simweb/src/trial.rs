//! A revisit policy on recorded changes, without a network: which pages would it have fetched, and when?
//!
//! It begins with a copy of every page or, as a crawler does, with none, and fetches at even intervals. It needs no
//! politeness, reads no list and loses nothing to errors. It learns from the outcomes of its own looks and from nothing
//! else, so only policies that need no estimator can be tried.

use crate::looks::{LedgerLook, Looks};
use crate::trace::{ChangeTrace, TimeWindow};
use change_rate::{EstimatorOptions, LookOutcome};
use page::CanonicalUrl;
use policies::foresight::{Reported, ReportedChange};
use revisit::columns::Slot;
use revisit::{PolicyLook, PolicyPage, PolicyTick, RevisitPolicy};
use std::collections::HashMap;
use std::sync::Arc;
use sweeps::PagePlace;

/// Length of a tick: a policy begins one four times a day.
const TICK_DAYS: f64 = 0.25;
/// Budget that a policy may save, in days.
const SAVED_DAYS: f64 = 1.0;
/// Assumed time until the next change after a page's last change.
const BEYOND_DAYS: f64 = 365.0;

/// The copies that a policy has at the start of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialStart {
    /// No page was ever fetched.
    Empty,
    /// A current copy of every page that exists.
    Copies,
}

/// The looks of a policy, which is given without pages, at `budget_per_day` fetches a day in all. Pages have these
/// weights.
pub fn trial(
    trace: &ChangeTrace,
    weights: &[f64],
    window: TimeWindow,
    budget_per_day: f64,
    start: TrialStart,
    policy: &mut dyn RevisitPolicy,
) -> Looks {
    let mut looks = Looks::none_at(trace.pages.len());
    if start == TrialStart::Copies {
        for (number, page) in trace.pages.iter().enumerate() {
            if let Some(version) = page.version_at(window.start) {
                looks.push(number, LedgerLook { at: window.start, version });
            }
        }
    }
    insert_all(trace, weights, &looks, policy);
    let ticks = (window.days() / TICK_DAYS - 1e-9).ceil().max(0.0) as u64;
    let mut tokens: f64 = 0.0;
    for tick in 0..ticks {
        let now_days = tick as f64 * TICK_DAYS;
        let days = TICK_DAYS.min(window.days() - now_days);
        let earned = budget_per_day * days;
        tokens = (tokens + earned).min((budget_per_day * SAVED_DAYS).max(1.0 + earned));
        let slots = (tokens + 1e-9).floor() as u64;
        policy.begin(&PolicyTick { now_days, days, budget_per_day });
        for slot in 0..slots {
            let at_days = now_days + days * (slot as f64 + 0.5) / slots as f64;
            let Some(page) = policy.next(at_days) else { continue };
            tokens -= 1.0;
            policy.looked(page, &look(trace, window, page, at_days, &mut looks));
        }
    }
    looks
}

/// The looks of a policy that knows every future change: of the stale copies it fetches the one that will stay current
/// longest. No crawler can do it. It is a yardstick, not a strict bound.
pub fn clairvoyant(trace: &ChangeTrace, weights: &[f64], window: TimeWindow, budget_per_day: f64) -> Looks {
    let mut reported = Vec::new();
    for (slot, page) in (0..).map(Slot::new).zip(&trace.pages) {
        for (number, state) in page.states.iter().enumerate() {
            let at_days = state.since.days_since(window.start);
            let next = page.states.get(number + 1);
            let until_days = next.map_or(window.days() + BEYOND_DAYS, |next| next.since.days_since(window.start));
            if state.since > window.start && state.since < window.end {
                reported.push(ReportedChange { at_days, slot, rank: until_days - at_days });
            }
        }
    }
    trial(trace, weights, window, budget_per_day, TrialStart::Empty, &mut Reported::new(reported))
}

fn insert_all(trace: &ChangeTrace, weights: &[f64], looks: &Looks, policy: &mut dyn RevisitPolicy) {
    let mut hosts: HashMap<&Arc<str>, u32> = HashMap::new();
    for (number, page) in trace.pages.iter().enumerate() {
        let next = hosts.len() as u32;
        let place = match CanonicalUrl::parse(&page.url()) {
            Ok(url) => PagePlace::of(url.site_key().as_str(), url.host().as_str(), url.path()),
            Err(_) => PagePlace::of(&page.host, &page.host, &page.path),
        };
        let known = PolicyPage {
            weight: weights.get(number).copied().unwrap_or(1.0),
            cost: 1.0,
            host: *hosts.entry(&page.host).or_insert(next),
            place,
            last_look_days: looks.of_page(number).last().map(|_| 0.0),
            belief: EstimatorOptions::default().prior.belief(),
        };
        policy.insert(Slot::new(number as u32), &known, 0.0);
    }
}

/// Looks at a page and keeps what was seen.
fn look(trace: &ChangeTrace, window: TimeWindow, slot: Slot, at_days: f64, looks: &mut Looks) -> PolicyLook {
    let page = slot.index();
    let at = window.start.plus_days(at_days);
    let before = looks.of_page(page).last().copied();
    let version = trace.pages[page].version_at(at);
    if let Some(version) = version {
        looks.push(page, LedgerLook { at, version });
    }
    let changed = matches!((before, version), (Some(before), Some(version)) if before.version != version);
    // A page that does not exist yet answers, too: a policy that took it for a failed look would ask again at once.
    let outcome = Some(if changed { LookOutcome::Changed } else { LookOutcome::Unchanged });
    PolicyLook {
        at_days,
        interval_days: before.map(|before| at.days_since(before.at)),
        outcome,
        extent: None,
        belief: EstimatorOptions::default().prior.belief(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::round_robin;
    use crate::freshness::is_judged;
    use page::Timestamp;
    use policies::{Filled, PolicyKind, PolicyOptions};

    /// The built-in trace, its pages of the whole window.
    fn web() -> ChangeTrace {
        let mut trace = ChangeTrace::built_in(Timestamp::from_secs(0));
        trace.pages.retain(|page| is_judged(page, trace.window));
        trace
    }

    fn stale(trace: &ChangeTrace, looks: &Looks) -> f64 {
        let settled = TimeWindow { start: trace.window.start.plus_days(30.0), end: trace.window.end };
        looks.stale_share(trace, &vec![1.0; trace.pages.len()], settled)
    }

    fn build(kind: PolicyKind) -> Box<dyn RevisitPolicy> {
        kind.build(&PolicyOptions::default())
    }

    #[test]
    fn every_policy_spends_the_budget_and_no_more() {
        let trace = web();
        let weights = vec![1.0; trace.pages.len()];
        for kind in [PolicyKind::Live, PolicyKind::Uniform, PolicyKind::StormCrawler] {
            let mut policy = Filled::new(build(kind));
            let looks = trial(&trace, &weights, trace.window, 60.0, TrialStart::Empty, &mut policy);
            let fetches = looks.freshness(&trace, trace.window).fetches;
            assert!((8_850..=9_000).contains(&fetches), "{}: {fetches} of 9000", kind.name());
        }
    }

    #[test]
    fn who_knows_more_is_fresher() {
        let trace = web();
        let weights = vec![1.0; trace.pages.len()];
        let run = |kind| {
            stale(&trace, &trial(&trace, &weights, trace.window, 150.0, TrialStart::Empty, build(kind).as_mut()))
        };
        let foreseen = stale(&trace, &clairvoyant(&trace, &weights, trace.window, 150.0));
        let (live, uniform) = (run(PolicyKind::Live), run(PolicyKind::Uniform));
        assert!(foreseen < 0.1 * live && live < 0.7 * uniform, "{foreseen} {live} {uniform}");
        let in_turn = stale(&trace, &round_robin(&trace, trace.window, 150.0));
        assert!((uniform - in_turn).abs() < 0.1 * in_turn, "{uniform} {in_turn}");
    }

    #[test]
    fn a_page_that_does_not_exist_yet_is_not_asked_for_again_at_once() {
        let mut trace = web();
        let late = trace.window.start.plus_days(140.0);
        for page in trace.pages.iter_mut().step_by(2) {
            page.states.retain(|state| state.since > late);
        }
        let looks = trial(&trace, &[], trace.window, 150.0, TrialStart::Empty, build(PolicyKind::Live).as_mut());
        let seen = (0..trace.pages.len()).skip(1).step_by(2).filter(|page| !looks.of_page(*page).is_empty()).count();
        assert_eq!(seen, trace.pages.len() / 2);
    }

    #[test]
    fn pages_of_weight_are_kept_fresher() {
        let trace = web();
        let weights: Vec<f64> = (0..trace.pages.len()).map(|page| if page % 10 == 0 { 20.0 } else { 1.0 }).collect();
        let heavy: Vec<f64> = weights.iter().map(|weight| f64::from(u8::from(*weight > 1.0))).collect();
        let even = vec![1.0; trace.pages.len()];
        let of_heavy = |weights: &[f64]| {
            let looks = trial(&trace, weights, trace.window, 30.0, TrialStart::Empty, build(PolicyKind::Live).as_mut());
            looks.stale_share(&trace, &heavy, trace.window)
        };
        assert!(of_heavy(&weights) < 0.9 * of_heavy(&even));
    }

    #[test]
    fn copies_at_the_start_are_current_until_the_first_change() {
        let trace = web();
        let window = TimeWindow { end: trace.window.start.plus_days(5.0), ..trace.window };
        let run = |start| trial(&trace, &[], window, 1.0, start, build(PolicyKind::Live).as_mut());
        let weights = vec![1.0; trace.pages.len()];
        let [empty, copies] =
            [TrialStart::Empty, TrialStart::Copies].map(|start| run(start).stale_share(&trace, &weights, window));
        assert!(empty > 0.98 && copies < 0.1, "{empty} {copies}");
    }

    #[test]
    fn without_budget_nothing_is_seen() {
        let trace = web();
        let looks = trial(&trace, &[], trace.window, 0.0, TrialStart::Empty, build(PolicyKind::Live).as_mut());
        assert_eq!(looks, Looks::none_at(trace.pages.len()));
    }
}
