use super::web::{GrowingWeb, PageKind, WebOptions};
use super::{GrowthRun, GrowthScores};
use policies::PolicyKind;
use std::ops::ControlFlow;

fn web() -> WebOptions {
    WebOptions { sites: 3, sections: 3, articles: 20, ..WebOptions::default() }
}

fn scores(fetches_per_day: f64) -> GrowthScores {
    scores_of(PolicyKind::Live, 0.2, fetches_per_day, 1)
}

fn scores_of(policy: PolicyKind, new_page_share: f64, fetches_per_day: f64, seed: u64) -> GrowthScores {
    let run = GrowthRun {
        web: web(),
        policy,
        new_page_share,
        fetches_per_day,
        warm_up_days: 20.0,
        scored_days: 20.0,
        tick_days: 0.125,
        seed,
    };
    run.run(&mut |_| ControlFlow::Continue(())).expect("the settings are valid")
}

#[test]
fn index_pages_show_what_was_born_since_and_change_when_it_is() {
    let mut web = GrowingWeb::draw(&web(), 30.0, 1).expect("the settings are valid");
    let index = web.pages().iter().position(|page| page.kind == PageKind::Index).expect("there are index pages");
    let born: Vec<usize> = web.new_links(index, 0.0, 30.0).to_vec();
    assert!(born.iter().all(|article| web.pages()[*article].born_days > 0.0));
    let first = web.pages()[born[0]].born_days;
    assert!(web.next_change_days(index, 0.0) <= first);
    assert_eq!(web.new_links(index, 0.0, first), &born[..1]);
}

#[test]
fn a_larger_budget_copies_new_pages_sooner_and_keeps_copies_fresher() {
    let (small, large) = (scores(15.0), scores(60.0));
    assert_eq!(small, scores(15.0), "a seed gives the same run again");
    assert_eq!(small.births, large.births);
    assert!(large.new_page_days < small.new_page_days, "{large:?} {small:?}");
    assert!(large.freshness > small.freshness, "{large:?} {small:?}");
    assert!(large.found_days <= large.new_page_days);
    // 20 scored days, and what a tick before them may have saved.
    assert!((1180..=1220).contains(&large.fetches), "{large:?}");
}

#[test]
fn one_price_is_better_in_both_than_any_fixed_share_for_new_pages() {
    for seed in 1..=3 {
        for budget in [15.0, 60.0] {
            let live = scores_of(PolicyKind::Live, 0.2, budget, seed);
            for share in [0.1, 0.2, 0.3, 0.5] {
                let fixed = scores_of(PolicyKind::Tianwang, share, budget, seed);
                let better = live.new_page_days < fixed.new_page_days && live.freshness > fixed.freshness;
                assert!(better, "seed {seed}, {budget} fetches a day, share {share}: {live:?} {fixed:?}");
            }
        }
    }
}
