//! A budget larger than the need: how often the live default looks at a page then.

use change_rate::{Gamma, LookOutcome};
use revisit::columns::Slot;
use revisit::live::Live;
use revisit::{PolicyLook, PolicyPage, PolicyTick, RevisitPolicy};
use sweeps::PagePlace;

fn belief() -> Gamma {
    Gamma::new(0.4, 100.0).expect("both positive")
}

fn look(at_days: f64, interval_days: f64, changed: bool) -> PolicyLook {
    let outcome = Some(if changed { LookOutcome::Changed } else { LookOutcome::Unchanged });
    PolicyLook { at_days, interval_days: Some(interval_days), outcome, extent: None, belief: belief() }
}

/// Looks per page and day in each of some weeks, at 30 pages that never change and at one that changes every noon. The
/// budget has no end: a look every five minutes is possible.
fn looks_by_week(weeks: usize, weight: f64) -> Vec<[f64; 2]> {
    let mut live = Live::new(0.01);
    let place = |i: u32| match i {
        30 => PagePlace::of("b.test", "b.test", "/daily"),
        _ => PagePlace::of("a.test", "a.test", &format!("/p/page{i}.html")),
    };
    let mut last = vec![0.0; 31];
    for i in 0..31 {
        let (place, belief) = (place(i), belief());
        let page = PolicyPage { weight, cost: 1.0, host: 0, place, last_look_days: Some(0.0), belief };
        live.insert(Slot::new(i), &page, 0.0);
    }
    let (tick_days, mut looks) = (1.0 / 288.0, vec![[0.0; 2]; weeks]);
    for tick in 1..weeks * 7 * 288 {
        let now_days = tick as f64 * tick_days;
        live.begin(&PolicyTick { now_days, days: tick_days, budget_per_day: 31.0 * 288.0 });
        while let Some(slot) = live.next(now_days) {
            let i = slot.index();
            let changed = i == 30 && (now_days - 0.5_f64).floor() > (last[i] - 0.5_f64).floor();
            live.looked(slot, &look(now_days, now_days - last[i], changed));
            last[i] = now_days;
            looks[tick / (7 * 288)][usize::from(i == 30)] += 1.0;
        }
    }
    looks.into_iter().map(|[quiet, daily]| [quiet / (30.0 * 7.0), daily / 7.0]).collect()
}

#[test]
fn where_the_budget_exceeds_the_need_a_page_is_looked_at_as_often_as_a_look_may_find_something() {
    let looks = looks_by_week(8, 1.0);
    println!("looks per page and day in each week, at a page that never changes and at a daily one: {looks:.1?}");
    let [first, last] = [looks[0], looks[7]];
    assert!((3.0..10.0).contains(&first[0]), "{looks:?}");
    assert!(looks.windows(2).all(|weeks| weeks[1][0] <= weeks[0][0]) && last[0] < 0.85 * first[0], "{looks:?}");
    assert!(last[1] > 8.0 * last[0], "a page that changes daily is worth many looks: {looks:?}");
    assert_eq!(looks_by_week(1, 40.0)[0], first, "only ratios of weights count");
}
