//! Pages compete by the extent of their changes, as far as the operator wants it.

use crate::bench::{Bench, URL, edited, looked, on_host};
use page::{DAY, MINUTE};
use std::collections::BTreeMap;

const PAGES: usize = 20;
/// Sixteen times as large as [`SMALL`].
const LARGE: f32 = 0.6;
const SMALL: f32 = 0.0375;

/// How many times as often pages of large changes are asked for as those of small ones, which change as often.
fn ratio_of_visits(policy: &str, extent_share: &str) -> f64 {
    let overrides = [
        ("policy.name", policy),
        ("policy.extent_share", extent_share),
        ("policy.scan_interval", "15m"),
        ("budget.fetches_per_second", "0.001"),
        ("budget.burst", "1h"),
    ];
    let mut bench = Bench::new(&overrides);
    (0..PAGES).for_each(|page| bench.seed(&on_host(page)));
    let is_large: BTreeMap<String, bool> = (0..PAGES).map(|page| (on_host(page), page % 2 == 0)).collect();
    let (begins, ends) = (bench.now() + 2 * DAY, bench.now() + 12 * DAY);
    let (mut large, mut small) = (0, 0);
    while bench.now() < ends {
        for request in bench.tick() {
            let of_large = is_large[request.url.as_str()];
            if bench.now() > begins {
                *(if of_large { &mut large } else { &mut small }) += 1;
            }
            let mean_extent = if of_large { LARGE } else { SMALL };
            bench.answer(edited(looked(&request, 0.1), |it| it.belief.mean_extent = mean_extent));
        }
    }
    assert!(small > 100, "{small}");
    f64::from(large) / f64::from(small)
}

/// A page that is looked at far more often than it changes is worth w λ t²/2 after t days. At one price for all, looks go with
/// the root of the weight: 4 to 1 for extents of 16 to 1.
#[test]
fn pages_of_large_changes_are_asked_for_more_often() {
    for policy in ["live", "crawl-value"] {
        let equal = ratio_of_visits(policy, "0");
        assert!((equal - 1.0).abs() < 0.1, "{policy}: {equal}");
        let by_extent = ratio_of_visits(policy, "1");
        assert!((3.3..4.7).contains(&by_extent), "{policy}: {by_extent}");
        // (1 - .5 + .5 × .6 / .15) to (1 - .5 + .5 × .0375 / .15), 2.5 to .625.
        let half = ratio_of_visits(policy, "0.5");
        assert!((1.75..2.25).contains(&half), "{policy}: {half}");
    }
}

#[test]
fn other_policies_count_all_changes_alike() {
    let uniform = ratio_of_visits("uniform", "1");
    assert!((uniform - 1.0).abs() < 0.1, "{uniform}");
}

#[test]
fn an_explanation_names_the_extent_where_it_counts() {
    for (share, counts) in [("0", false), ("0.5", true)] {
        let mut bench = Bench::new(&[("policy.extent_share", share), ("policy.scan_interval", "1m")]);
        bench.seed(URL);
        let before = bench.explained(URL, Some(1.0));
        assert_eq!(before.mean_extent, None, "nothing is known before the first copy");
        for request in bench.wait(2 * MINUTE) {
            bench.answer(edited(looked(&request, 0.1), |it| it.belief.mean_extent = LARGE));
        }
        let explained = bench.explained(URL, Some(1.0));
        assert_eq!(explained.mean_extent.is_some(), counts);
        let sentence = explained.reasons.iter().find(|reason| reason.contains("policy.extent_share"));
        assert_eq!(sentence.is_some(), counts, "{:?}", explained.reasons);
        if let Some(sentence) = sentence {
            assert!(sentence.contains("60.0 %") && sentence.contains("2.50 times"), "{sentence}");
        }
    }
}
