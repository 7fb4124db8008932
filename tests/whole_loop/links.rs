//! Links are followed from one page, with crashes: all pages are found, and no cash is lost or made.

use crate::simulation::{History, Plan, simulate};
use crate::{check, claims};

fn follow() -> History {
    simulate(Plan { seed: crate::seed(), days: 14, links: true, ..Plan::default() })
}

#[test]
fn a_history_of_links_that_are_followed_keeps_every_promise() {
    check(
        &follow(),
        claims![
            every_page_is_found_from_one_and_has_one_account,
            all_cash_is_one_at_every_tick,
            the_page_that_all_link_to_weighs_most,
            the_same_seed_gives_the_same_accounts,
        ],
    );
}

fn every_page_is_found_from_one_and_has_one_account(history: &History) {
    assert!(history.crashes >= 20, "{} crashes prove little", history.crashes);
    assert_eq!(history.pages.len(), history.web.pages.len());
    assert_eq!(history.linked.keys().collect::<Vec<_>>(), history.pages.keys().collect::<Vec<_>>());
    for (id, page) in &history.pages {
        let (url, linked) = (&page.scheduler.url, &history.linked[id]);
        assert_eq!(page.scheduler.importance, linked.sent_importance, "what the scheduler received of {url}");
    }
}

fn all_cash_is_one_at_every_tick(history: &History) {
    // Of trust hardly anything lies in purses: few pages hand it on.
    for (kind, (name, least_moved)) in [("cash", 0.01), ("cash from trusted pages", 1e-4)].into_iter().enumerate() {
        for (tick, (accounts, purses)) in history.cash.iter().map(|both| both[kind]).enumerate() {
            let is_one = (accounts + purses - 1.0).abs() < 1e-9;
            assert!(is_one, "tick {tick}, {name}: {accounts} in accounts, {purses} in purses");
        }
        // It moves: pages hold most of it, and not always the same share.
        let shares: Vec<f64> = history.cash.iter().skip(144).map(|both| both[kind].0).collect();
        let (least, most) =
            shares.iter().fold((1.0_f64, 0.0_f64), |(least, most), share| (least.min(*share), most.max(*share)));
        assert!(least > 0.5 && most - least > least_moved, "{name}: {least} to {most}");
    }
}

fn the_page_that_all_link_to_weighs_most(history: &History) {
    let first = history.web.pages[0].url.page_id();
    let others = history.linked.iter().filter(|(id, _)| **id != first).map(|(_, page)| page.sent_importance);
    let most = others.fold(0.0, f64::max);
    assert!(history.linked[&first].sent_importance > 2.0 * most, "{:?} beside {most}", history.linked[&first]);
}

fn the_same_seed_gives_the_same_accounts(history: &History) {
    assert_eq!(follow().stores, history.stores);
}
