//! Spending by the extent of changes, beside the best that is possible: pages whose rates and extents are drawn.

use change_rate::EstimatorOptions;
use policies::{PolicyKind, PolicyOptions};
use revisit::allocate::{PageTerms, optimal};
use revisit::kernels::{VisitOrder, average_freshness};
use simulate::changes::RecordedChanges;
use simulate::engine::{self, Run};
use simulate::metrics::Scores;
use simulate::population::{Pages, SimulatedPage};
use simulate::setup;
use simulate::streams::{Draws, Purpose, RandomStream};
use std::ops::ControlFlow;
use sweeps::PagePlace;

const PAGES: u64 = 2_000;
const WARM_UP_DAYS: f64 = 200.0;
const END_DAYS: f64 = 400.0;
const FETCHES_PER_PAGE_PER_DAY: f64 = 0.1;

/// A page that changes as a Poisson process, each time to this extent in the mean.
#[derive(Clone, Copy)]
struct Page {
    rate_per_day: f64,
    extent: f64,
}

/// The ln of rate and extent are normal, around a change in 20 days and .1, with this correlation.
fn population(correlation: f64) -> Vec<Page> {
    let draw = |page| {
        let mut stream = RandomStream::new(7, page, Purpose::ChangeRate);
        let (one, other) = (stream.normal(), stream.normal());
        let extent = correlation * one + (1.0 - correlation * correlation).sqrt() * other;
        Page { rate_per_day: one.exp() / 20.0, extent: (0.1 * extent.exp()).clamp(0.01, 1.0) }
    };
    (0..PAGES).map(draw).collect()
}

/// Staleness weighted by extent, and freshness, of the best fixed intervals where a share of a change's value follows its
/// extent and everything is known.
fn best(pages: &[Page], extent_share: f64) -> (f64, f64) {
    let weight = |page: &Page| revisit::worth_of_changes(extent_share, page.extent);
    let terms: Vec<PageTerms> =
        pages.iter().map(|page| PageTerms { weight: weight(page), ..PageTerms::new(page.rate_per_day) }).collect();
    let allocation = optimal(&terms, FETCHES_PER_PAGE_PER_DAY * PAGES as f64, 0.0);
    let (mut missed, mut fresh) = (0.0, 0.0);
    for (page, fetches_per_day) in pages.iter().zip(allocation.fetch_rates_per_day) {
        let freshness = match fetches_per_day > 0.0 {
            true => average_freshness(VisitOrder::Fixed, page.rate_per_day / fetches_per_day),
            false => 0.0,
        };
        missed += page.extent * (1.0 - freshness);
        fresh += freshness;
    }
    (missed / PAGES as f64, fresh / PAGES as f64)
}

/// The live default, which learns rates and extents from its looks.
fn crawl(pages: &[Page], extent_share: f64) -> Scores {
    let mut times = Vec::new();
    let mut extents = Vec::new();
    for (number, page) in (0..).zip(pages) {
        let mut stream = RandomStream::new(7, number, Purpose::Changes);
        let mut days = 0.0;
        let next = || {
            days += stream.exponential() / page.rate_per_day;
            days
        };
        let of_page: Vec<f64> = std::iter::repeat_with(next).take_while(|days| *days < END_DAYS).collect();
        extents.extend(of_page.iter().map(|_| page.extent as f32));
        times.push(of_page);
    }
    let mut changes = RecordedChanges::new(times).and_then(|times| times.with_extents(extents)).expect("changes");
    let page = |number: usize| SimulatedPage {
        weight: 1.0,
        cost: 1.0,
        host: 0,
        section: 0,
        place: PagePlace::of("a.test", "a.test", &format!("/{number}.html")),
    };
    let simulated = Pages::new((0..pages.len()).map(page), vec!["all".into()]).expect("pages");
    let options = PolicyOptions { theta: 0.0, extent_share, ..PolicyOptions::default() };
    let mut policy = setup::build(PolicyKind::Live, &options);
    let estimator = PolicyKind::Live.beliefs().usual_estimator();
    let learner = setup::learner(PolicyKind::Live, estimator, &simulated, &[], EstimatorOptions::default());
    let run = Run::new(WARM_UP_DAYS, END_DAYS, FETCHES_PER_PAGE_PER_DAY * PAGES as f64);
    let mut learner = learner.expect("a learner");
    let scores = engine::run(&simulated, &mut changes, policy.as_mut(), learner.as_mut(), &run, &mut |_| {
        ControlFlow::Continue(())
    });
    scores.expect("a run")
}

fn missed(scores: &Scores) -> f64 {
    scores.missed_extent.expect("the changes have extents").largest
}

/// Faster pages change less, or more, or it has nothing to do with each other.
#[test]
fn a_crawl_that_spends_by_extent_gains_most_of_what_can_be_gained() {
    for correlation in [-0.5, 0.0, 0.5] {
        let pages = population(correlation);
        let (equal, by_extent) = (crawl(&pages, 0.0), crawl(&pages, 1.0));
        let (best_equal, best_by_extent) = (best(&pages, 0.0).0, best(&pages, 1.0).0);
        let (gain, best_gain) = (1.0 - missed(&by_extent) / missed(&equal), 1.0 - best_by_extent / best_equal);
        println!(
            "correlation {correlation}: missed {:.5} and {:.5}, at best {best_equal:.5} and {best_by_extent:.5}; fresh \
             {:.4} and {:.4}",
            missed(&equal),
            missed(&by_extent),
            equal.freshness,
            by_extent.freshness
        );
        assert!(best_gain > 0.1, "there is something to gain: {best_gain:.3}");
        assert!(gain > 0.6 * best_gain, "{gain:.3} of {best_gain:.3} at a correlation of {correlation}");
        assert!(missed(&by_extent) > 0.97 * best_by_extent, "nothing is better than the best by more than chance");
    }
}

#[test]
fn half_a_share_has_most_of_the_gain_for_a_part_of_the_freshness() {
    let pages = population(0.0);
    let gain_and_cost = |(missed, fresh): (f64, f64), (equal_missed, equal_fresh): (f64, f64)| {
        (1.0 - missed / equal_missed, equal_fresh - fresh)
    };
    let crawled = |share| {
        let scores = crawl(&pages, share);
        (missed(&scores), scores.freshness)
    };
    let (equal, half, whole) = (crawled(0.0), crawled(0.5), crawled(1.0));
    let (half, whole) = (gain_and_cost(half, equal), gain_and_cost(whole, equal));
    println!("half {half:?}, whole {whole:?}");
    assert!(half.0 > 0.1 && half.0 > 0.5 * whole.0 && half.1 < 0.4 * whole.1, "{half:?} {whole:?}");
    let at_best = |share| gain_and_cost(best(&pages, share), best(&pages, 0.0));
    let (half, whole) = (at_best(0.5), at_best(1.0));
    assert!(half.0 > 0.5 * whole.0 && half.1 < 0.4 * whole.1, "at best, too: {half:?} {whole:?}");
}
