//! The running stages do the same as the simulator with lists and dates on, and lists that mislead do no harm.

use crate::listed_web::{ListedWeb, Lived};
use policies::PolicyKind;
use simweb::HostSitemap;
use std::time::Instant;

/// Allowed difference of stale time relative to round robin, as a fraction of the simulator's.
const ALLOWED: f64 = 0.1;
const STALE: HostSitemap = HostSitemap::Stale { days: 3.0 };
const PARTIAL: HostSitemap = HostSitemap::Partial { share: 0.5 };
const HUGE: HostSitemap = HostSitemap::Huge { filler: 40_000 };

/// Stale time relative to round robin's, in the services and in the simulator.
fn compare(name: &str, web: &ListedWeb) -> (f64, f64) {
    let begun = Instant::now();
    let lived = web.live();
    let simulated = web.simulate(PolicyKind::Live, lived.fetches_per_day);
    let round_robin = web.simulate(PolicyKind::Uniform, lived.fetches_per_day);
    let (services, simulator) = (lived.stale / round_robin, simulated / round_robin);
    println!(
        "{name}: stale time relative to round robin's {round_robin:.4}: services {services:.3}, simulator \
         {simulator:.3}; {:.1} fetches a day, {:?} looks at lists, {} pages known, {:.1} s",
        lived.fetches_per_day,
        lived.list_looks.values().sum::<u32>(),
        lived.known_pages,
        begun.elapsed().as_secs_f64(),
    );
    (services, simulator)
}

#[test]
fn explore() {
    let of = |kind| ListedWeb::of(vec![kind; 12]);
    compare("none", &of(HostSitemap::None));
    compare("truthful", &of(HostSitemap::Truthful));
    compare("stale", &of(STALE));
    compare("lying", &of(HostSitemap::Lying));
    compare("partial", &of(PARTIAL));
    compare("huge", &of(HUGE));
    compare("dated", &ListedWeb { dated_share: 0.5, ..of(HostSitemap::None) });
    compare("dated, half lying", &ListedWeb { dated_share: 0.5, lying_dates_from: 6, ..of(HostSitemap::None) });
}
