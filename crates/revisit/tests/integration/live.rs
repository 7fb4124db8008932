//! The live default: its index, its choice among many pages, and the policy as a whole.

use chance::{Draws, Lcg};
use change_rate::{Gamma, LookOutcome};
use page::Timestamp;
use proptest::prelude::*;
use revisit::columns::{Index, LastLook, PageColumns, PageEntry, PageStatus, Slot, ValueHistogram, live_value};
use revisit::kernels;
use revisit::live::{CrawlValue, Live};
use revisit::{PolicyLook, PolicyPage, PolicyTick, RevisitPolicy};
use std::cmp::Reverse;
use sweeps::rules::SETTLED_BINS;
use sweeps::{OwnEvidence, PagePlace, SweepModel};

fn day(days: f64) -> Timestamp {
    Timestamp::from_secs(0).plus_days(days)
}

fn page_at(place: PagePlace, last_look_days: Option<f64>) -> PolicyPage {
    let belief = Gamma::new(0.4, 100.0).expect("both positive");
    PolicyPage { weight: 1.0, cost: 1.0, host: 0, place, last_look_days, belief }
}

fn look(at_days: f64, interval_days: f64, changed: bool) -> PolicyLook {
    let outcome = Some(if changed { LookOutcome::Changed } else { LookOutcome::Unchanged });
    let belief = Gamma::new(0.4, 100.0).expect("both positive");
    PolicyLook { at_days, interval_days: Some(interval_days), outcome, extent: None, belief }
}

#[test]
fn without_sweeps_and_with_known_rates_the_value_is_the_crawl_value() {
    for rate in [0.001, 0.1, 3.0] {
        let known = Gamma::new(1e9, 1e9 / rate).expect("both positive");
        for days in [1e-3, 0.1, 5.0, 400.0] {
            for theta in [0.0, 0.05, 1.0] {
                for trust in [0.0, 0.3, 1.0] {
                    let expected = kernels::mixed(rate * days, theta) / rate;
                    let value = live_value(known, known, days, 0.0, 0.0, trust, theta);
                    assert!((value / expected - 1.0).abs() < 1e-6, "{value} against {expected}");
                }
            }
        }
    }
    // A hazard of sweeps adds to what the page's own rate has come to.
    let page = Gamma::new(2.0, 50.0).expect("both positive");
    let x = 2.0 * (1.0 + 10.0 / 50.0_f64).ln() + 0.7;
    let expected = 0.8 * kernels::binary(x) / (0.04 + 0.01) + 0.2 * page.crawl_value_binary(10.0);
    assert!((live_value(page, page, 10.0, 0.7, 0.01, 0.8, 0.0) / expected - 1.0).abs() < 1e-12);
}

#[test]
fn a_page_found_changed_makes_its_siblings_next() {
    let mut live = Live::new(0.0);
    let place = |i: u32| {
        let directory = if i < 20 { "swept" } else { "other" };
        PagePlace::of("a.test", "a.test", &format!("/{directory}/page{i}.html"))
    };
    (0..60).for_each(|i| live.insert(Slot::new(i), &page_at(place(i), Some(0.0)), 0.0));
    // All pages looked at on day 10, those of the other directory once more on day 11.
    for i in 0..60 {
        live.begin(&PolicyTick { now_days: 10.0, days: 0.25, budget_per_day: 0.0 });
        live.looked(Slot::new(i), &look(10.0, 10.0, false));
    }
    live.begin(&PolicyTick { now_days: 14.0, days: 0.25, budget_per_day: 10.0 });
    let before = live.worth(Slot::new(1), 14.0).expect("looked at");
    live.looked(Slot::new(0), &look(14.0, 4.0, true));
    live.looked(Slot::new(20), &look(14.0, 4.0, false));
    live.looked(Slot::new(2), &look(14.0, 4.0, true));
    let after = live.worth(Slot::new(1), 14.0).expect("looked at");
    assert!(after.sweep_hazard > 20.0 * before.sweep_hazard && after.value > 5.0 * before.value);
    assert!(after.fresh_probability < before.fresh_probability);
    live.begin(&PolicyTick { now_days: 14.25, days: 0.25, budget_per_day: 10.0 });
    for _ in 0..10 {
        let next = live.next(14.25).expect("all but three are old");
        assert!(next.index() < 20, "{next:?} is in the other directory");
    }
}

#[test]
fn a_policy_offers_a_page_once_until_it_was_looked_at_or_put_back() {
    let place = |i: u32| PagePlace::of("a.test", "a.test", &format!("/page{i}.html"));
    let policies: [Box<dyn RevisitPolicy>; 2] = [Box::new(Live::new(0.0)), Box::new(CrawlValue::new(0.05))];
    for mut policy in policies {
        for i in 0..9 {
            // The last two were never fetched, the ninth before the eighth.
            let last_look = if i < 7 { Some(f64::from(i)) } else { None };
            policy.insert(Slot::new(i), &page_at(place(i), last_look), 20.0 - f64::from(i));
        }
        policy.begin(&PolicyTick { now_days: 30.0, days: 1.0, budget_per_day: 4.0 });
        let mut offered: Vec<usize> = std::iter::from_fn(|| policy.next(30.0)).map(Slot::index).collect();
        assert_eq!(offered[..2], [8, 7]);
        offered.sort_unstable();
        assert_eq!(offered, (0..9).collect::<Vec<_>>());
        policy.put_back(Slot::new(3));
        policy.looked(Slot::new(5), &look(30.0, 25.0, false));
        policy.remove(Slot::new(6));
        policy.begin(&PolicyTick { now_days: 31.0, days: 1.0, budget_per_day: 4.0 });
        let offered: Vec<usize> = std::iter::from_fn(|| policy.next(31.0)).map(Slot::index).collect();
        assert_eq!(offered, [3, 5]);
        // A failed look found nothing out.
        policy.looked(Slot::new(3), &PolicyLook { outcome: None, ..look(31.0, 28.0, false) });
        policy.begin(&PolicyTick { now_days: 32.0, days: 1.0, budget_per_day: 4.0 });
        assert_eq!(policy.next(32.0), Some(Slot::new(3)));
        assert_eq!(policy.next(32.0), None);
    }
}

#[test]
fn a_policy_without_pages_has_nothing_to_offer() {
    let mut live = Live::new(0.0);
    live.begin(&PolicyTick { now_days: 0.0, days: 0.25, budget_per_day: 0.0 });
    assert_eq!(live.next(0.0), None);
    live.remove(Slot::new(3));
    live.put_back(Slot::new(3));
    live.looked(Slot::new(3), &look(1.0, 1.0, true));
    live.finish_import(0.5, 1.0);
    assert_eq!(live.next(0.0), None);
}

#[test]
fn an_imported_history_teaches_and_the_copies_are_current_after_it() {
    let place = |i: u32| PagePlace::of("a.test", "a.test", &format!("/page{i}.html"));
    let mut live = Live::new(0.0);
    (0..30).for_each(|i| live.insert(Slot::new(i), &page_at(place(i), Some(100.0)), 100.0));
    for today in 0..100 {
        for i in 0..30 {
            // A sweep every twenty days, and pages 0 to 4 every fourth day of their own.
            let changed = today % 20 == 10 || (i < 5 && (today + i) % 4 == 0);
            live.import(Slot::new(i), f64::from(today), f64::from(today + 1), changed);
        }
    }
    live.finish_import(0.5, 100.0);
    live.begin(&PolicyTick { now_days: 100.0, days: 0.25, budget_per_day: 1.0 });
    let [busy, quiet] = [2, 20].map(|i| live.worth(Slot::new(i), 110.0).expect("a copy"));
    assert_eq!(busy.days, 10.0);
    assert!(busy.own.mean() > 5.0 * quiet.own.mean());
    assert!(
        (0.01..0.05).contains(&quiet.sweeps_per_day),
        "a twentieth a day, of which half the days count: {}",
        quiet.sweeps_per_day
    );
    assert!(quiet.own.mean() < 0.5 * quiet.plain.mean(), "sweeps explain its changes");
}

#[test]
fn a_frozen_policy_learns_nothing_and_sends_no_sentinels() {
    let mut live = Live::new(0.0);
    for i in 0..20 {
        let place = PagePlace::of("a.test", "a.test", &format!("/page{i}.html"));
        live.insert(Slot::new(i), &page_at(place, Some(0.0)), 0.0);
    }
    live.begin(&PolicyTick { now_days: 50.0, days: 0.25, budget_per_day: 0.0 });
    let worth = |live: &Live| live.worth(Slot::new(1), 50.0).expect("looked at");
    let free = worth(&live);
    live.freeze();
    let frozen = worth(&live);
    assert!(free.sentinel_value > 0.0 && frozen.sentinel_value == 0.0, "{free:?} {frozen:?}");
    live.looked(Slot::new(0), &look(49.0, 49.0, true));
    assert_eq!(worth(&live), frozen);
    // The copy is renewed all the same.
    assert_eq!(live.worth(Slot::new(0), 50.0).expect("looked at").days, 1.0);
}

#[test]
fn news_of_siblings_change_what_a_page_is_worth() {
    let mut policy = CrawlValue::new(0.0);
    let place = |i: u32| PagePlace::of("a.test", "a.test", &format!("/page{i}.html"));
    (0..2).for_each(|i| policy.insert(Slot::new(i), &page_at(place(i), Some(0.0)), 0.0));
    policy.believe(Slot::new(1), Gamma::new(0.4, 10.0).expect("both positive"));
    policy.begin(&PolicyTick { now_days: 1.0, days: 0.25, budget_per_day: 4.0 });
    assert_eq!(policy.next(1.0), Some(Slot::new(1)));
}

#[test]
fn groups_follow_the_sizes_of_sites() {
    let place = |i: u32| PagePlace::of("a.test", "a.test", &format!("/d{}/page{i}.html", i % 2));
    let (mut model, mut columns) = (SweepModel::starting_at(0.0), PageColumns::default());
    let entry = PageEntry {
        last_look: LastLook::Looked(day(1.0)),
        belief: OwnEvidence::default(),
        weight: 2.0,
        host: 0,
        status: PageStatus::Ready,
    };
    let index = Index::Live { theta: 0.0, sentinel_weight: 1.0 };
    let sentinel = |columns: &PageColumns, model: &SweepModel| {
        columns.worth(Slot::new(0), &index, model.outlook(), day(11.0)).expect("a copy").sentinel_value
    };
    for i in 0..40 {
        model.insert(&place(i));
        columns.insert(&entry, &place(i));
    }
    assert_eq!(sentinel(&columns, &model), 0.0, "its groups are not asked for yet");
    assert_eq!(columns.refresh(model.outlook(), 7), 7);
    assert_eq!(columns.refresh(model.outlook(), usize::MAX), 33);
    assert_eq!(columns.refresh(model.outlook(), usize::MAX), 0);
    // Site and directory, half of their weights times the chance of a sweep in ten days times ten days.
    let swept = |group: u64| -(-model.outlook().group(group).expect("known").hazard.between(1.0, 11.0)).exp_m1();
    let expected = 0.5 * 10.0 * (80.0 * swept(place(0).site) + 40.0 * swept(place(0).groups[2]));
    assert!((sentinel(&columns, &model) / expected - 1.0).abs() < 1e-6);
    // While a look is under way no other page is sent for its groups; it counts only when it is answered.
    let mut asked = columns.clone();
    let mut selection = asked.scan(day(11.0), &index, model.outlook(), 1, 0.0, |_| true);
    let chosen = selection.next(&mut asked, model.outlook(), day(11.0), |_| true).expect("a page").slot;
    assert_eq!(sentinel(&asked, &model), 0.0);
    asked.set_status(chosen, PageStatus::Ready);
    asked.unanswered(chosen);
    assert!((sentinel(&asked, &model) / expected - 1.0).abs() < 1e-6, "a lost lease hides no sweep");
    asked.looked(chosen, Some(day(11.0)));
    assert_eq!(sentinel(&asked, &model), 0.0);
    // Half of the pages leave: the other directory is none any more, and this one is the site.
    for i in (1..40).step_by(2) {
        model.remove(&place(i));
        columns.remove(Slot::new(i));
    }
    assert_eq!(columns.refresh(model.outlook(), usize::MAX), 20);
    let expected =
        0.5 * 10.0 * 40.0 * -(-model.outlook().group(place(0).site).expect("known").hazard.between(1.0, 11.0)).exp_m1();
    assert!((sentinel(&columns, &model) / expected - 1.0).abs() < 1e-6);
    assert_eq!(columns.place(Slot::new(2)), Some(place(2)));
}

#[test]
fn value_histograms_merge_and_give_a_price() {
    let (mut all, mut one, mut other) =
        (ValueHistogram::default(), ValueHistogram::default(), ValueHistogram::default());
    for i in 0..10_000 {
        let value = 1e-4 * (f64::from(i) / 800.0).exp();
        all.add(value);
        if i % 3 == 0 { one.add(value) } else { other.add(value) }
    }
    one.merge(&other);
    assert_eq!(one, all);
    for fetches in [1.0, 100.0, 5_000.0] {
        let price = all.price_for(fetches);
        assert!((all.at_or_above(price) / fetches - 1.0).abs() < 1e-9);
        let exact = 1e-4 * ((10_000.0 - fetches) / 800.0).exp();
        assert!((price / exact - 1.0).abs() < 0.13, "{price} against {exact}: within a bin");
    }
    assert_eq!((all.price_for(1e5), all.price_for(0.0)), (0.0, f64::INFINITY));
    all.add(f64::INFINITY);
    all.add(0.0);
    assert_eq!(all.at_or_above(1e6), 1.0);
    assert_eq!(ValueHistogram::from_bins(&all.to_bins()), Some(all));
    assert_eq!(ValueHistogram::from_bins(&[f32::NAN; ValueHistogram::BINS]), None);
}

#[test]
fn looks_at_a_quiet_site_are_spread_out_and_its_sweep_is_noticed() {
    // A quiet site with one sweep in a year and a half, beside busy pages that would take the whole budget.
    let (quiet, busy, end) = (300, 240, 540);
    let mut random = Lcg(5);
    let mut places = Vec::new();
    let mut changes: Vec<Vec<f64>> = Vec::new();
    for i in 0..quiet {
        places.push(PagePlace::of("quiet.test", "quiet.test", &format!("/{}/p{i}/index.md", i % 26)));
        changes.push(if random.uniform() < 0.6 { vec![500.01] } else { vec![] });
    }
    for i in 0..busy {
        places.push(PagePlace::of("busy.test", "busy.test", &format!("/b{i}.json")));
        let rate = (-4.2 + 2.4 * (random.uniform() + random.uniform() + random.uniform() - 1.5)).exp();
        let (mut at, mut times) = (0.0, Vec::new());
        while at < f64::from(end) {
            at += random.exponential() / rate;
            times.push(at);
        }
        changes.push(times);
    }
    let mut live = Live::new(0.0);
    for (i, place) in (0..).zip(&places) {
        live.insert(Slot::new(i), &page_at(*place, Some(0.0)), 0.0);
    }
    let mut seen = vec![0.0; places.len()];
    let (mut last_quiet, mut longest_silence) = (0.0_f64, 0.0_f64);
    let (mut stale_days, mut lost_days) = (0.0, 0.0);
    for tick in 0..4 * end {
        let now = f64::from(tick) * 0.25;
        let budget_per_day = places.len() as f64 / 15.0;
        live.begin(&PolicyTick { now_days: now, days: 0.25, budget_per_day });
        for k in 0..9 {
            let at = now + 0.25 * (f64::from(k) + 0.5) / 9.0;
            let slot = live.next(at).expect("always a page");
            let i = slot.index();
            let changed = changes[i].iter().any(|change| (seen[i]..at).contains(change));
            live.looked(slot, &look(at, at - seen[i], changed));
            seen[i] = at;
            if i < quiet {
                if last_quiet > 200.0 && last_quiet < 500.0 {
                    longest_silence = longest_silence.max(at - last_quiet);
                }
                last_quiet = at;
            }
        }
        if now >= 500.25 {
            let stale =
                (0..quiet).filter(|&i| changes[i].iter().any(|change| *change > seen[i] && *change <= now)).count();
            stale_days += 0.25 * stale as f64;
            lost_days += 0.25 * quiet as f64;
        }
    }
    assert!(longest_silence < 12.0, "no look at the quiet site for {longest_silence} days");
    assert!(stale_days < 0.25 * lost_days, "{stale_days} of {lost_days} page-days stale after the sweep");
}

/// A site's page: which directory, host, last look, evidence, weight; never fetched when the last number is 0.
type PageCase = (u8, u8, f64, (f64, f64), f64, u8);

fn page_cases() -> impl Strategy<Value = Vec<PageCase>> {
    let page = (0..4_u8, 0..3_u8, 0.0..60.0f64, (0.0..5.0f64, 0.0..300.0f64), 0.1..3.0f64, 0..20_u8);
    prop::collection::vec(page, 1..150)
}

fn place_of(i: usize, directory: u8, host: u8) -> PagePlace {
    PagePlace::of("a.test", &format!("h{host}.a.test"), &format!("/d{directory}/page{}.html", i % 40))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn taking_one_by_one_is_scoring_all_anew_before_each(
        pages in page_cases(),
        looks in prop::collection::vec((any::<prop::sample::Index>(), 0.0..60.0f64, any::<bool>()), 0..40),
        count in 1..60_usize, theta in prop_oneof![Just(0.0), Just(0.05)], weight in prop_oneof![Just(0.0), Just(1.0)],
    ) {
        let (mut model, mut columns) = (SweepModel::starting_at(0.0), PageColumns::default());
        let places: Vec<PagePlace> =
            pages.iter().enumerate().map(|(i, (directory, host, ..))| place_of(i, *directory, *host)).collect();
        places.iter().for_each(|place| model.insert(place));
        model.advance(60.0, SETTLED_BINS);
        for (page, from, changed) in looks {
            let outcome = if changed { LookOutcome::Changed } else { LookOutcome::Unchanged };
            model.look(page.get(&places), &mut OwnEvidence::default(), from, 60.0, outcome);
        }
        for ((_, host, looked, (alpha, days), weight, new), place) in pages.iter().zip(&places) {
            let mut belief = OwnEvidence::default();
            (belief.own.delta_alpha, belief.own.delta_beta_days) = (*alpha as f32, *days as f32);
            (belief.plain.delta_alpha, belief.plain.delta_beta_days) = (0.5 * *alpha as f32, *days as f32);
            let at = day(*looked);
            let last_look = if *new == 0 { LastLook::Discovered(at) } else { LastLook::Looked(at) };
            let entry =
                PageEntry { last_look, belief, weight: *weight, host: u32::from(*host), status: PageStatus::Ready };
            columns.insert(&entry, place);
        }
        columns.refresh(model.outlook(), usize::MAX);
        let (now, outlook) = (day(60.5), model.outlook());
        let index = Index::Live { theta, sentinel_weight: weight };
        let permitted = |host: u32| host != 2;

        let mut brute = columns.clone();
        let mut expected = Vec::new();
        for _ in 0..count {
            let ready = (0..pages.len()).filter(|&i| {
                let entry = brute.get(Slot::new(i as u32)).expect("held");
                entry.status == PageStatus::Ready && permitted(entry.host)
            });
            let best = ready.max_by_key(|&i| {
                let slot = Slot::new(i as u32);
                let worth = brute.worth(slot, &index, outlook, now);
                let known = worth.map(|worth| worth.value + worth.sentinel_value);
                let value = known.or(brute.first_copy_value(slot, &index, outlook, now)).expect("one or the other");
                // All values here are positive: their bits are in their order.
                (value.to_bits(), Reverse(i))
            });
            let Some(best) = best else { break };
            expected.push(best);
            let looked = pages[best].5 != 0;
            brute.update(Slot::new(best as u32), |entry| {
                if looked {
                    entry.last_look = LastLook::Looked(now);
                }
                entry.status = PageStatus::InFlight;
            });
        }
        let mut selection = columns.scan(now, &index, outlook, count, 0.0, permitted);
        let taken = std::iter::from_fn(|| selection.next(&mut columns, outlook, now, permitted));
        let taken: Vec<usize> = taken.take(count).map(|candidate| candidate.slot.index()).collect();
        prop_assert_eq!(taken, expected);
    }
}
