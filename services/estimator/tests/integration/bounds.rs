//! Groups, cells, sites and hosts go with the last of their pages, however many come and go.

use crate::bench::Bench;
use estimator::{GROUPS, HOSTS, PAGES, SWEEPS};
use messages::{ChangeEstimate, Verdict};
use std::collections::VecDeque;

const ESTIMATORS: [&str; 3] = ["sweeps", "gamma-grouped", "gamma"];
/// Pages that are known at a time.
const KNOWN: usize = 12;

/// Endless subdomains, sites, directories, file types and file names; ten at a time are of one directory.
fn hostile(number: usize) -> String {
    let (site, directory) = (number / 40, number / 10);
    format!("http://h{number}.s{site}.test/d{directory}/e{directory}/f{number}.t{directory}")
}

/// Two looks at a page, both with a date.
fn look_twice(bench: &mut Bench, url: &str) -> ChangeEstimate {
    bench.look_dated(url, 0.1, Verdict::First, Some(3.0));
    bench.look_dated(url, 0.1, Verdict::Major, Some(0.05))
}

fn sizes(bench: &Bench) -> [usize; 4] {
    [PAGES.spec(), GROUPS.spec(), SWEEPS.spec(), HOSTS.spec()].map(|table| bench.table(table).len())
}

#[test]
fn tables_hold_no_more_than_the_known_pages_have_in_common() {
    for estimator in ESTIMATORS {
        let mut bench = Bench::with_estimator(estimator);
        let mut known = VecDeque::new();
        let mut most = [0; 4];
        for number in 0..200 {
            let url = hostile(number);
            look_twice(&mut bench, &url);
            known.push_back(url);
            if known.len() > KNOWN {
                bench.remove(&known.pop_front().unwrap());
            }
            if number == 120 {
                bench.restart();
            }
            let [pages, groups, sweeps, hosts] = sizes(&bench);
            assert!(groups <= 2 * pages && sweeps <= 17 * pages + 1 && hosts <= pages, "{estimator}, page {number}");
            assert_eq!(pages, known.len());
            most = [pages, groups, sweeps, hosts];
            // The forecasts say what has gone, so the scheduler keeps no more than this.
            assert!(bench.outlook().len() <= 9 * pages, "{estimator}, page {number}: {}", bench.outlook().len());
        }
        let used = match estimator {
            "sweeps" => [true, false, true, true],
            "gamma-grouped" => [true, true, false, true],
            _ => [true, false, false, true],
        };
        assert_eq!(most.map(|size| size > 0), used, "{estimator}: {most:?}");
        known.iter().for_each(|url| bench.remove(url));
        // The day of the calendars stays.
        let day = usize::from(estimator == "sweeps");
        assert_eq!((sizes(&bench), bench.outlook().len()), ([0, 0, day, 0], 0), "{estimator}");
    }
}

#[test]
fn what_was_learned_stays_while_one_page_of_it_is_known_and_through_a_restart() {
    for estimator in ["sweeps", "gamma-grouped"] {
        let rate_of_new = |removed: usize, restart: bool| {
            let mut bench = Bench::with_estimator(estimator);
            let page = |number: usize| format!("http://a.site.test/news/{number}.html");
            (0..10).for_each(|number| _ = look_twice(&mut bench, &page(number)));
            bench.look("http://a.site.test/x", 1.0, Verdict::First);
            (0..removed).for_each(|number| bench.remove(&page(number)));
            if restart {
                bench.restart();
            }
            bench.look(&page(99), 1.0, Verdict::First).belief.change_rate_per_day()
        };
        let (all, one, none) = (rate_of_new(0, false), rate_of_new(9, false), rate_of_new(10, false));
        assert_eq!(all, one, "{estimator}");
        assert!(one > 1.5 * none, "{estimator}: {one} and {none}");
        assert_eq!((one, none), (rate_of_new(9, true), rate_of_new(10, true)), "{estimator}");
    }
}

#[test]
fn pages_that_another_estimator_has_counted_leave_its_tables_as_they_are_seen_or_removed() {
    for (before, after) in [("sweeps", "gamma-grouped"), ("gamma-grouped", "sweeps"), ("sweeps", "gamma")] {
        let mut bench = Bench::with_estimator(before);
        let page = |number: usize| format!("http://a.site.test/news/{number}.html");
        (0..20).for_each(|number| _ = look_twice(&mut bench, &page(number)));
        bench.choose(after);
        (0..10).for_each(|number| _ = bench.look(&page(number), 0.1, Verdict::Unchanged));
        (10..20).for_each(|number| bench.remove(&page(number)));
        let [pages, groups, sweeps, _] = sizes(&bench);
        assert_eq!(pages, 10);
        assert_eq!((groups > 0, sweeps > 1), (after == "gamma-grouped", after == "sweeps"), "{before} to {after}");
        (0..10).for_each(|number| bench.remove(&page(number)));
        assert_eq!(bench.outlook().len(), 0, "{before} to {after}");
    }
}
