//! The running stages do the same as the simulator with lists and dates on, and lists that mislead do no harm.

use crate::listed_web::{DAYS, ListedWeb, Lived, PAGES_PER_HOST};
use policies::PolicyKind;
use simweb::HostSitemap;

/// Allowed difference of stale time relative to round robin, as a fraction of the simulator's.
const ALLOWED: f64 = 0.1;
/// Stale time that a list may cost which is of no use.
const HARM: f64 = 1.05;
const STALE: HostSitemap = HostSitemap::Stale { days: 3.0 };
const PARTIAL: HostSitemap = HostSitemap::Partial { share: 0.5 };
const HUGE: HostSitemap = HostSitemap::Huge { filler: 40_000 };
/// An index and four files.
const HUGE_FILES: usize = 5;

/// Lives through a web, and compares stale time relative to round robin's with the simulator's.
fn agree(name: &str, web: &ListedWeb) -> Lived {
    let lived = web.live();
    let simulate = |policy| web.simulate(policy, lived.fetches_per_day);
    let (simulated, round_robin) = (simulate(PolicyKind::Live), simulate(PolicyKind::Uniform));
    let (services, simulator) = (lived.stale / round_robin, simulated / round_robin);
    println!(
        "{name}: stale time relative to round robin's {round_robin:.4}: services {services:.3}, simulator \
         {simulator:.3}; {} looks at lists",
        lived.list_looks
    );
    assert!((services / simulator - 1.0).abs() <= ALLOWED, "{name}: services {services}, simulator {simulator}");
    lived
}

/// Looks at lists per list and day.
fn looks_per_day(lived: &Lived, lists: usize) -> f64 {
    f64::from(lived.list_looks) / lists as f64 / DAYS
}

#[test]
fn services_and_simulator_agree_on_every_kind_of_list_and_no_list_does_harm() {
    const HOSTS: usize = 12;
    let of = |kind| ListedWeb::of(vec![kind; HOSTS]);
    let none = agree("no lists", &of(HostSitemap::None));
    for (name, kind, gain, most_looks_per_day) in [
        ("truthful", HostSitemap::Truthful, 0.25, 2.0),
        ("stale", STALE, 0.9, 2.0),
        ("lying", HostSitemap::Lying, HARM, 0.2),
        ("partial", PARTIAL, 0.65, 2.0),
    ] {
        let lived = agree(name, &of(kind));
        assert!(lived.stale <= gain * none.stale, "{name}: {} stale, {} without lists", lived.stale, none.stale);
        let looks = looks_per_day(&lived, HOSTS);
        assert!(looks <= most_looks_per_day, "{name}: {looks} looks at each list a day");
    }
}

#[test]
fn a_huge_list_is_worth_its_looks_and_brings_neither_pages_nor_long_records() {
    const HOSTS: usize = 4;
    let none = ListedWeb::of(vec![HostSitemap::None; HOSTS]).live();
    let huge = agree("huge", &ListedWeb::of(vec![HUGE; HOSTS]));
    assert!(huge.stale <= 0.6 * none.stale, "{} stale, {} without lists", huge.stale, none.stale);
    assert!(looks_per_day(&huge, HOSTS * HUGE_FILES) <= 1.0, "{} looks", huge.list_looks);
    assert_eq!(none.known_pages, HOSTS * PAGES_PER_HOST);
    assert_eq!(huge.known_pages, HOSTS * (PAGES_PER_HOST + HUGE_FILES), "of 40,000 entries of no page");
    // Of each file, ten entries are of known pages.
    assert!(huge.longest_record < 8 << 10, "{} bytes for the scheduler", huge.longest_record);
}

#[test]
fn services_and_simulator_agree_where_pages_report_dates_and_some_hosts_lie() {
    const HOSTS: usize = 12;
    let of = |dated_share, lying_dates_from| {
        let sitemaps = vec![HostSitemap::None; HOSTS];
        ListedWeb { sitemaps, dated_share, lying_dates_from }
    };
    agree("dates of all pages", &of(1.0, HOSTS));
    agree("dates of half the pages on half of the hosts, made up on the others", &of(0.5, HOSTS / 2));
}

#[test]
fn services_and_simulator_agree_on_a_web_of_all_kinds() {
    let sitemaps = [HostSitemap::Truthful; 6].into_iter().chain([HostSitemap::None; 4]).chain([STALE; 3]);
    let sitemaps = sitemaps.chain([HostSitemap::Lying; 3]).chain([PARTIAL; 3]).chain([HUGE]).collect();
    let lived = agree("all kinds", &ListedWeb { sitemaps, dated_share: 0.5, lying_dates_from: 16 });
    assert!(lived.list_looks > 500, "{} looks at lists", lived.list_looks);
}
