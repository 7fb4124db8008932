use super::*;
use policies::adaptive::{Adaptive, AdaptiveOptions};

/// Interval and due time after looks at these days, each changed or not, of a page looked at first on day 0.
fn check(options: AdaptiveOptions, looks: &[(f64, bool, f64, f64)]) {
    let mut state = options.start(0.0);
    for &(at_days, changed, interval_days, due_days) in looks {
        let due = options.after_look(&mut state, at_days, changed);
        close(state.interval_days, interval_days, 1e-12);
        close(due, due_days, 1e-12);
    }
}

#[test]
fn stormcrawler_grows_by_half_and_goes_half_way_to_an_hour() {
    let hour = 1.0 / 24.0;
    let halved = 0.5 * (1.5 + hour);
    check(
        AdaptiveOptions::STORMCRAWLER,
        &[
            (1.0, false, 1.5, 2.5),
            (2.5, true, halved, 2.5 + halved),
            (4.0, true, 0.5 * (halved + hour), 4.0 + 0.5 * (halved + hour)),
        ],
    );
}

#[test]
fn stormcrawler_never_waits_longer_than_a_fortnight() {
    let options = AdaptiveOptions::STORMCRAWLER;
    let mut state = options.start(0.0);
    let intervals: Vec<f64> = (0..8)
        .map(|day| {
            options.after_look(&mut state, f64::from(day), false);
            state.interval_days
        })
        .collect();
    assert_eq!(intervals, [1.5, 2.25, 3.375, 5.0625, 7.59375, 11.390625, 14.0, 14.0]);
    // And never less than an hour.
    for day in 8..80 {
        options.after_look(&mut state, f64::from(day), true);
    }
    close(state.interval_days, 1.0 / 24.0, 1e-9);
}

#[test]
fn news_crawl_shrinks_by_a_fifth() {
    let shrunk = 0.8 * 1.5 + 0.2 * 0.0625;
    check(AdaptiveOptions::NEWS_CRAWL, &[(1.0, false, 1.5, 2.5), (2.5, true, shrunk, 2.5 + shrunk)]);
    let options = AdaptiveOptions::NEWS_CRAWL;
    let mut state = options.start(0.0);
    for day in 0..30 {
        options.after_look(&mut state, f64::from(day), false);
    }
    assert_eq!(state.interval_days, 90.0);
}

#[test]
fn nutch_without_sync_only_multiplies() {
    check(
        AdaptiveOptions::NUTCH_NO_SYNC,
        &[(30.0, false, 42.0, 72.0), (72.0, true, 33.6, 105.6), (105.6, true, 26.88, 132.48)],
    );
}

#[test]
fn nutch_with_sync_draws_the_next_look_forward() {
    // Unchanged for 30 days: 42 > 30, forward by 0.3 × 30. Then for 63: the interval becomes 63, forward by 18.9.
    // Changed: the time since the last change is 0.
    check(
        AdaptiveOptions::NUTCH,
        &[(30.0, false, 42.0, 63.0), (63.0, false, 63.0, 63.0 - 18.9 + 63.0), (107.1, true, 50.4, 157.5)],
    );
}

#[test]
fn nutch_gives_up_a_correction_longer_than_a_year() {
    // 1300 days unchanged: forward by 390 days would be more than the longest interval.
    check(AdaptiveOptions::NUTCH, &[(1300.0, false, 365.0, 1665.0)]);
}

#[test]
fn a_page_is_fetched_only_when_due_the_earliest_first() {
    let mut policy = Adaptive::new(AdaptiveOptions::STORMCRAWLER);
    for index in 0..20 {
        policy.insert(slot(index), &page(1.0), 0.0);
    }
    let dues: Vec<f64> = (0..20).map(|index| policy.due_days(slot(index)).expect("has a copy")).collect();
    assert!(dues.iter().all(|due| (0.0..1.0).contains(due)), "within the first interval");
    let due_by_half = dues.iter().filter(|due| **due <= 0.5).count();
    let offered = offers(&mut policy, 0.5, 100);
    assert_eq!(offered.len(), due_by_half);
    assert!((1..20).contains(&due_by_half), "phases are spread");
    assert!(offered.windows(2).all(|pair| dues[pair[0]] <= dues[pair[1]]));
    policy.looked(slot(offered[0] as u32), &look(0.5, Some(LookOutcome::Unchanged), 1.0));
    assert_eq!(policy.due_days(slot(offered[0] as u32)), Some(2.0));
    policy.looked(slot(offered[1] as u32), &look(0.5, None, 1.0));
    close(policy.due_days(slot(offered[1] as u32)).expect("it is retried"), 0.5 + 2.0 / 24.0, 1e-12);
}

#[test]
fn a_new_page_comes_at_once_and_starts_with_the_first_interval() {
    let mut policy = Adaptive::new(AdaptiveOptions::NUTCH);
    policy.insert(slot(3), &new_page(1.0), 5.0);
    policy.insert(slot(1), &new_page(1.0), 6.0);
    assert_eq!(offers(&mut policy, 6.0, 9), [3, 1], "discovered first, fetched first");
    policy.looked(slot(3), &PolicyLook { interval_days: None, ..look(6.0, Some(LookOutcome::Changed), 1.0) });
    assert_eq!(policy.due_days(slot(3)), Some(36.0));
}
