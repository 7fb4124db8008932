//! Guarantees that the caller relies on, whichever system it runs.

use super::*;
use policies::adaptive::{Adaptive, AdaptiveOptions};
use policies::chile::{Chile, ChileOptions};
use policies::renewal::Renewal;
use policies::site_ranks::{Phases, SiteRanks};
use policies::tianwang::{CycleOptions, DueOrder, Tianwang, TianwangOptions};
use policies::webfountain::{WebFountain, WebFountainOptions};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn systems() -> Vec<(&'static str, Box<dyn RevisitPolicy>)> {
    let by_value = CycleOptions { new_share: 0.2, order: DueOrder::CrawlValue };
    // A plan of whole pages, however few there are.
    let daily = WebFountainOptions { period_days: Some(1.0), ..WebFountainOptions::default() };
    vec![
        ("stormcrawler", Box::new(Adaptive::new(AdaptiveOptions::STORMCRAWLER))),
        ("nutch", Box::new(Adaptive::new(AdaptiveOptions::NUTCH))),
        ("site-ranks", Box::new(SiteRanks::new(Phases::Hashed))),
        ("tianwang", Box::new(Tianwang::new(TianwangOptions::default()))),
        (
            "tianwang by value",
            Box::new(Tianwang::new(TianwangOptions { cycle: by_value, ..TianwangOptions::default() })),
        ),
        ("chile", Box::new(Chile::new(ChileOptions::default()))),
        ("webfountain", Box::new(WebFountain::new(daily))),
        ("renewal", Box::new(Renewal::new(0.01))),
    ]
}

/// One thing that happens to a policy.
#[derive(Clone, Copy, Debug)]
enum Event {
    Insert {
        index: u32,
        rate: f64,
        weight: f64,
        known: bool,
    },
    Remove {
        index: u32,
    },
    Choose,
    PutBack,
    Look {
        outcome: u8,
    },
    /// A look that the policy did not ask for.
    Stray {
        index: u32,
    },
    Tick {
        days: f64,
        budget_per_day: f64,
    },
}

fn event() -> impl Strategy<Value = Event> {
    let index = 0..12_u32;
    let rate = prop_oneof![Just(1e-9), 0.001..20.0_f64, Just(1e9)];
    let weight = prop_oneof![Just(0.0), 0.1..5.0_f64];
    let budget_per_day = prop_oneof![Just(0.0), 0.1..20.0_f64];
    prop_oneof![
        4 => (index.clone(), rate, weight, any::<bool>())
            .prop_map(|(index, rate, weight, known)| Event::Insert { index, rate, weight, known }),
        1 => index.clone().prop_map(|index| Event::Remove { index }),
        8 => Just(Event::Choose),
        2 => Just(Event::PutBack),
        6 => (0..3_u8).prop_map(|outcome| Event::Look { outcome }),
        1 => index.prop_map(|index| Event::Stray { index }),
        3 => (0.0..3.0_f64, budget_per_day).prop_map(|(days, budget_per_day)| Event::Tick { days, budget_per_day }),
    ]
}

/// Plays the events; fails when a page is offered that is unknown, or in flight already. Ends with a settled policy
/// whose every page must come again.
fn play(name: &str, policy: &mut dyn RevisitPolicy, events: &[Event]) -> Result<(), TestCaseError> {
    let (mut known, mut in_flight) = (BTreeSet::new(), Vec::<u32>::new());
    // Pages that failed may be dropped; what is worth nothing, or stale at once, need not come.
    let mut excused = BTreeSet::new();
    let mut now_days = 0.0;
    for &event in events {
        match event {
            Event::Insert { index, rate, weight, known: has_copy } => {
                if known.insert(index) {
                    excused.remove(&index);
                    if weight == 0.0 || rate > 20.0 {
                        excused.insert(index);
                    }
                    let last_look_days = has_copy.then_some(now_days);
                    let name = format!("s{}.example", index % 4);
                    let place = PagePlace::of(&name, &name, "/");
                    let page = PolicyPage { weight, host: index % 4, place, last_look_days, ..page(rate) };
                    policy.insert(slot(index), &page, now_days);
                }
            }
            Event::Remove { index } => {
                policy.remove(slot(index));
                known.remove(&index);
                in_flight.retain(|&flying| flying != index);
            }
            Event::Choose => {
                if let Some(chosen) = policy.next(now_days) {
                    let index = chosen.index() as u32;
                    prop_assert!(known.contains(&index), "{name} offers page {index}, which it does not have");
                    prop_assert!(!in_flight.contains(&index), "{name} offers page {index} twice");
                    in_flight.push(index);
                }
            }
            Event::PutBack => {
                if let Some(index) = in_flight.pop() {
                    policy.put_back(slot(index));
                }
            }
            Event::Look { outcome } => {
                if !in_flight.is_empty() {
                    let index = in_flight.remove(0);
                    let outcome =
                        [Some(LookOutcome::Changed), Some(LookOutcome::Unchanged), None][usize::from(outcome)];
                    if outcome.is_none() {
                        excused.insert(index);
                    }
                    policy.looked(slot(index), &look(now_days, outcome, 1.0));
                }
            }
            Event::Stray { index } => {
                in_flight.retain(|&flying| flying != index);
                policy.looked(slot(index), &look(now_days, Some(LookOutcome::Changed), 1.0));
            }
            Event::Tick { days, budget_per_day } => {
                now_days += days;
                policy.begin(&tick(now_days, days, budget_per_day));
            }
        }
    }
    // With time, and a budget that is enough for all, each page comes.
    for index in in_flight.drain(..) {
        policy.put_back(slot(index));
    }
    let mut missing: BTreeSet<u32> = known.difference(&excused).copied().collect();
    // The slowest page believed in changes once in 2,700 years.
    for _ in 0..60 {
        now_days += 1e5;
        policy.begin(&tick(now_days, 1e5, 20.0));
        for index in offers(policy, now_days, 20) {
            let index = index as u32;
            missing.remove(&index);
            policy.looked(slot(index), &look(now_days, Some(LookOutcome::Changed), 1.0));
        }
    }
    prop_assert!(missing.is_empty(), "{name} has lost pages {missing:?}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_page_is_lost_or_offered_twice(events in prop::collection::vec(event(), 1..80)) {
        for (name, mut policy) in systems() {
            play(name, policy.as_mut(), &events)?;
        }
    }
}

#[test]
fn nothing_to_fetch_and_nothing_to_spend_are_no_trouble() {
    for (name, mut policy) in systems() {
        policy.begin(&tick(0.0, 1.0, 10.0));
        assert_eq!(policy.next(0.0), None, "{name}");
        policy.insert(slot(0), &PolicyPage { weight: 0.0, ..page(1.0) }, 0.0);
        policy.begin(&tick(2.0, 1.0, 0.0));
        policy.next(2.0);
        policy.begin(&tick(4.0, 1.0, f64::NAN));
        policy.next(4.0);
        policy.put_back(slot(7));
        policy.remove(slot(7));
        policy.looked(slot(7), &look(4.0, None, 1.0));
    }
}

#[test]
fn a_page_put_back_keeps_its_place() {
    for (name, mut policy) in systems() {
        for index in 0..8 {
            policy.insert(slot(index), &page(f64::from(index + 1)), 0.0);
        }
        let now_days = 40.0;
        policy.begin(&tick(now_days, 1.0, 8.0));
        let first = policy.next(now_days).unwrap_or_else(|| panic!("{name} has pages to fetch"));
        policy.put_back(first);
        assert_eq!(policy.next(now_days), Some(first), "{name}");
    }
}

#[test]
fn plans_keep_to_the_budget() {
    // Pages that all want much more than there is.
    let mut policy = Tianwang::new(TianwangOptions::default());
    for index in 0..300 {
        policy.insert(slot(index), &page(50.0), 0.0);
    }
    let mut fetched = 0;
    for day in 1..=20 {
        policy.begin(&tick(f64::from(day), 1.0, 7.3));
        for index in offers(&mut policy, f64::from(day), 1000) {
            fetched += 1;
            policy.looked(slot(index as u32), &look(f64::from(day), Some(LookOutcome::Changed), 50.0));
        }
    }
    assert_eq!(fetched, 146, "20 days of 7.3");
}
