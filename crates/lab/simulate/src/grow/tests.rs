use super::web::{GrowingWeb, PageKind, WebOptions};
use super::{GrowthPolicy, GrowthRun, GrowthScores};
use settings::Preset;
use std::ops::ControlFlow;

fn web() -> WebOptions {
    WebOptions { sites: 3, sections: 3, articles: 20, ..WebOptions::default() }
}

fn scores(fetches_per_day: f64) -> GrowthScores {
    scores_of(ONE_PRICE, fetches_per_day, 1)
}

/// The default.
const ONE_PRICE: GrowthPolicy = GrowthPolicy::OnePrice { new_page_worth: 1.0 };

fn scores_of(policy: GrowthPolicy, fetches_per_day: f64, seed: u64) -> GrowthScores {
    scores_on(web(), policy, fetches_per_day, seed)
}

fn scores_on(web: WebOptions, policy: GrowthPolicy, fetches_per_day: f64, seed: u64) -> GrowthScores {
    let run = run_on(web, policy, fetches_per_day, seed);
    run.run(&mut |_| ControlFlow::Continue(())).expect("the settings are valid")
}

fn run_on(web: WebOptions, policy: GrowthPolicy, fetches_per_day: f64, seed: u64) -> GrowthRun {
    GrowthRun {
        web,
        policy,
        from_seeds: false,
        fetches_per_day,
        warm_up_days: 20.0,
        scored_days: 20.0,
        tick_days: 0.125,
        seed,
    }
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

/// Days to the first copy and freshness, as means over webs.
fn means(policy: GrowthPolicy, fetches_per_day: f64, webs: u64) -> (f64, f64) {
    let runs: Vec<_> = (1..=webs).map(|seed| scores_of(policy, fetches_per_day, seed)).collect();
    let mean = |of: fn(&GrowthScores) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
    (mean(|run| run.new_page_days), mean(|run| run.freshness))
}

/// Height of a curve of points in the order of their days.
fn height(curve: &[(f64, f64)], days: f64) -> f64 {
    let after = curve.partition_point(|point| point.0 < days).clamp(1, curve.len() - 1);
    let (one, other) = (curve[after - 1], curve[after]);
    one.1 + (other.1 - one.1) * ((days - one.0) / (other.0 - one.0)).clamp(0.0, 1.0)
}

#[test]
fn no_fixed_share_for_new_pages_lies_outside_the_curve_of_one_price() {
    // A budget that is too small for all new pages, and one that is large enough.
    for (budget, webs, least_gain) in [(15.0, 8, 0.0), (60.0, 3, 0.1)] {
        let one_price = |new_page_worth| means(GrowthPolicy::OnePrice { new_page_worth }, budget, webs);
        let mut curve = [0.03, 0.1, 0.15, 0.2, 0.3, 1.0, 10.0].map(one_price);
        curve.sort_by(|one, other| one.0.total_cmp(&other.0));
        for new_page_share in [0.1, 0.2, 0.3, 0.5] {
            let (days, freshness) = means(GrowthPolicy::Tianwang { new_page_share }, budget, webs);
            let gain = height(&curve, days) - freshness;
            assert!(gain > least_gain, "{budget} fetches a day, share {new_page_share}: {gain} {days} {curve:?}");
        }
    }
}

#[test]
fn a_flood_of_100_000_new_addresses_leaves_the_front_pages_fresh() {
    // Only one index page links to the new pages, so each is worth little beside pages that all others link to.
    let flooded_by = |articles| {
        let web = WebOptions { flood: Some((20.0, articles)), ..WebOptions::default() };
        scores_on(web, ONE_PRICE, 400.0, 1)
    };
    let (usual, flooded) = (flooded_by(0), flooded_by(100_000));
    assert!(flooded.births > 100_000 && flooded.copied_share > 0.0, "{flooded:?}");
    assert!(flooded.front_freshness > 0.9 * usual.front_freshness, "{flooded:?} {usual:?}");
}

#[test]
fn new_pages_that_count_more_are_copied_sooner_and_known_ones_are_less_fresh() {
    let worth = |new_page_worth| scores_of(GrowthPolicy::OnePrice { new_page_worth }, 15.0, 1);
    let (less, more) = (worth(0.1), worth(10.0));
    assert!(more.new_page_days < less.new_page_days, "{more:?} {less:?}");
    assert!(more.freshness < less.freshness, "{more:?} {less:?}");
}

#[test]
fn settings_out_of_range_are_named() {
    let run = |policy, fetches_per_day, warm_up_days| GrowthRun {
        warm_up_days,
        scored_days: 1.0,
        ..run_on(web(), policy, fetches_per_day, 1)
    };
    let words = |run: GrowthRun| run.run(&mut |_| ControlFlow::Continue(())).expect_err("is refused").to_string();
    assert!(words(run(ONE_PRICE, 0.0, 1.0)).contains("budget"));
    assert!(words(run(ONE_PRICE, 1.0, -1.0)).contains("warm-up"));
    let share = GrowthPolicy::Tianwang { new_page_share: 2.0 };
    assert!(words(run(share, 1.0, 1.0)).contains("policy.new_page_share"));
    assert!(words(run(GrowthPolicy::System(Preset::SkyReach), 1.0, 1.0)).contains("simulate focus"));
}

#[test]
fn a_crawl_from_its_seeds_covers_what_is_important_before_the_rest() {
    let web = WebOptions { citations: 3, ..web() };
    let policies = [ONE_PRICE, GrowthPolicy::System(Preset::Tianwang), GrowthPolicy::System(Preset::WebFountain)];
    for policy in policies {
        let run = GrowthRun { from_seeds: true, warm_up_days: 0.0, ..run_on(web.clone(), policy, 20.0, 1) };
        let scores = run.run(&mut |_| ControlFlow::Continue(())).expect("the settings are valid");
        let (first, last) = (scores.coverage[0], scores.coverage[scores.coverage.len() - 1]);
        assert!(scores.coverage.len() >= 18, "{policy:?}: {scores:?}");
        assert_eq!((first.fetches, scores.coverage[1].fetches), (20, 40));
        assert!(last.page_share > 2.0 * first.page_share, "{policy:?}: {first:?} {last:?}");
        // What is left at the end are the newest pages, whose importance is that of the others.
        let early: Vec<_> = scores.coverage.iter().filter(|point| point.page_share < 0.9).collect();
        assert!(early.len() >= 3, "{policy:?}: {scores:?}");
        for point in early {
            assert!(point.page_share < point.importance_share, "{policy:?}: {point:?}");
        }
        assert!(scores.coverage.iter().all(|point| point.importance_share <= 1.0 + 1e-9), "{policy:?}: {scores:?}");
    }
    // With a copy of every page from the start, only what is born is missing.
    let scores = scores_on(web, ONE_PRICE, 60.0, 1);
    assert!(scores.coverage.iter().all(|point| point.page_share > 0.5), "{scores:?}");
}
