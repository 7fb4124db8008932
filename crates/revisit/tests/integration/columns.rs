//! Choosing among packed pages.

use change_rate::Gamma;
use page::Timestamp;
use proptest::prelude::*;
use revisit::Policy;
use revisit::columns::{Candidate, Index, LastLook, PageColumns, PageEntry, PageStatus, Slot, whole_belief};
use revisit::value;
use sweeps::{CellChange, CellPriors, Changes, Outlook, OwnEvidence, PagePlace};

fn day(days: f64) -> Timestamp {
    Timestamp::from_secs(0).plus_days(days)
}

fn entry(rate: f64, looked_on_day: f64) -> PageEntry {
    PageEntry {
        last_look: LastLook::Looked(day(looked_on_day)),
        belief: whole_belief(Gamma::new(2.0, 2.0 / rate).expect("both positive")),
        weight: 1.0,
        host: 0,
        status: PageStatus::Ready,
    }
}

fn everywhere(_host: u32) -> bool {
    true
}

const OPTIMAL: Index = Index::CrawlValue { theta: 0.05 };

fn somewhere() -> PagePlace {
    PagePlace::of("a.test", "a.test", "/")
}

/// The best pages, which stay as they were.
fn select(
    columns: &PageColumns,
    now: Timestamp,
    index: &Index,
    count: usize,
    floor: f64,
    permitted: impl Fn(u32) -> bool,
) -> Vec<Candidate> {
    let (mut columns, outlook) = (columns.clone(), Outlook::default());
    let mut selection = columns.scan(now, index, &outlook, count, floor, &permitted);
    std::iter::from_fn(|| selection.next(&mut columns, &outlook, now, &permitted)).take(count).collect()
}

fn slots(chosen: &[Candidate]) -> Vec<usize> {
    chosen.iter().map(|candidate| candidate.slot.index()).collect()
}

#[test]
fn pages_never_fetched_come_first_by_turns_and_compete_where_fetches_have_a_value() {
    let mut columns = PageColumns::default();
    let new = |found| PageEntry { last_look: LastLook::Discovered(day(found)), ..entry(1.0, 0.0) };
    columns.insert(&entry(10.0, 99.0), &somewhere());
    columns.insert(&new(99.0), &somewhere());
    columns.insert(&new(98.0), &somewhere());
    columns.insert(&new(98.0), &somewhere());
    for index in [Index::Uniform, OPTIMAL] {
        assert_eq!(slots(&select(&columns, day(100.0), &index, 2, 0.0, everywhere)), [2, 3]);
    }
    assert_eq!(slots(&select(&columns, day(100.0), &Index::Uniform, 9, 0.0, everywhere)), [2, 3, 1, 0]);
    // A front page that changes once a day and counts for a thousand others does not wait for them.
    let front = columns.insert(&PageEntry { weight: 1_000.0, ..entry(1.0, 97.0) }, &somewhere());
    assert_eq!(slots(&select(&columns, day(100.0), &OPTIMAL, 2, 0.0, everywhere)), [front.index(), 2]);
}

#[test]
fn a_first_copy_is_worth_the_days_it_will_be_current_and_those_it_was_waited_for() {
    let value = |rate: f64, found: f64, index: Index| {
        let mut columns = PageColumns::default();
        let belief = match index {
            Index::Live { .. } => OwnEvidence::default(),
            _ => whole_belief(Gamma::new(2.0, 2.0 / rate).expect("both positive")),
        };
        let new = PageEntry { last_look: LastLook::Discovered(day(found)), belief, weight: 3.0, ..entry(1.0, 0.0) };
        columns.insert(&new, &somewhere());
        let mut seen = None;
        columns.visit(day(100.0), &index, &Outlook::default(), |page| seen = Some(page.value));
        assert_eq!(select(&columns, day(100.0), &index, 1, 0.0, everywhere)[0].value, seen.unwrap_or(f64::NAN));
        seen.unwrap_or(f64::NAN)
    };
    assert!((value(0.5, 99.0, OPTIMAL) - 3.0 * 3.0).abs() < 1e-4);
    assert!((value(1e-4, 99.0, OPTIMAL) - 3.0 * 31.0).abs() < 1e-4, "at most a month");
    assert!((value(1e-4, 99.0, Index::default()) - 3.0 * 31.0).abs() < 1e-4);
}

#[test]
fn uniform_takes_the_longest_unseen_and_ties_go_to_the_lower_slot() {
    let mut columns = PageColumns::default();
    for looked in [5.0, 3.0, 4.0, 3.0] {
        columns.insert(&entry(1.0, looked), &somewhere());
    }
    assert_eq!(slots(&select(&columns, day(10.0), &Index::Uniform, 3, 0.0, everywhere)), [1, 3, 2]);
    assert_eq!(slots(&select(&columns, day(10.0), &Index::Uniform, 9, 6.0, everywhere)), [1, 3, 2]);
}

#[test]
fn only_pages_that_are_ready_on_permitted_hosts_are_chosen() {
    let mut columns = PageColumns::default();
    for status in [PageStatus::InFlight, PageStatus::Held, PageStatus::Excluded] {
        columns.insert(&PageEntry { status, ..entry(1.0, 0.0) }, &somewhere());
    }
    let on_host_7 = columns.insert(&PageEntry { host: 7, ..entry(1.0, 0.0) }, &somewhere());
    let removed = columns.insert(&entry(1.0, 0.0), &somewhere());
    assert!(columns.remove(removed) && !columns.remove(removed));
    let select = |permitted: fn(u32) -> bool| select(&columns, day(9.0), &OPTIMAL, 9, 0.0, permitted);
    assert_eq!(slots(&select(everywhere)), [on_host_7.index()]);
    assert!(select(|host| host != 7).is_empty());
}

#[test]
fn a_page_comes_back_as_it_was_put_and_slots_are_used_again() {
    let mut columns = PageColumns::default();
    let first = columns.insert(&entry(1.0, 1.0), &somewhere());
    let second = columns.insert(&entry(2.0, 2.0), &somewhere());
    assert!(columns.update(first, |page| {
        page.last_look = LastLook::Discovered(day(7.0));
        page.status = PageStatus::Held;
        page.weight = 2.5;
        page.host = u32::MAX;
    }));
    let expected = PageEntry {
        last_look: LastLook::Discovered(day(7.0)),
        status: PageStatus::Held,
        weight: 2.5,
        host: u32::MAX,
        ..entry(1.0, 1.0)
    };
    assert_eq!(columns.get(first), Some(expected));
    columns.remove(first);
    assert_eq!((columns.get(first), columns.len(), columns.slots()), (None, 1, 2));
    assert!(!columns.update(first, |page| page.host = 1));
    assert_eq!(columns.insert(&entry(3.0, 3.0), &somewhere()), first);
    assert_eq!(columns.get(second), Some(entry(2.0, 2.0)));
    assert_eq!(columns.insert(&entry(4.0, 4.0), &somewhere()).index(), 2);
}

#[test]
fn the_pages_of_a_cell_are_found() {
    let place = |path: &str| PagePlace::of("a.test", "a.test", path);
    let mut columns = PageColumns::default();
    let places = ["/news/1.html", "/docs/1.html", "/news/2.html", "/blog/1.html", "/news/3.html"].map(place);
    let held: Vec<Slot> = places.iter().map(|place| columns.insert(&entry(1.0, 0.0), place)).collect();
    columns.remove(held[2]);
    let of = |cells: &[usize]| columns.slots_in_cells(&cells.iter().map(|i| places[*i].cell).collect());
    assert_eq!(of(&[0]), [held[0], held[4]]);
    assert_eq!(of(&[1, 0]), [held[0], held[1], held[4]]);
    assert_eq!(of(&[]), []);
    // Groups that the outlook knows by now do not hide the cell.
    columns.refresh(&Outlook::default(), usize::MAX);
    assert_eq!(columns.slots_in_cells(&[places[3].cell].into()), [held[3]]);
}

#[test]
fn beliefs_beyond_f32_stay_usable() {
    let mut columns = PageColumns::default();
    let belief = whole_belief(Gamma::new(1e-300, 1e300).unwrap());
    let slot = columns.insert(&PageEntry { belief, weight: f64::MAX, ..entry(1.0, -5.0) }, &somewhere());
    columns.visit(day(1e4), &OPTIMAL, &Outlook::default(), |candidate| assert!(candidate.value.is_finite()));
    assert!(columns.get(slot).unwrap().belief.own.delta_alpha > 0.0);
}

#[test]
fn greedy_choice_follows_the_computed_sequence() {
    // Beliefs sharp enough to be known rates 1 to 5; one fetch every 0.2 days, all pages looked at on day 0.
    let run = |index: Index, count: usize| -> Vec<usize> {
        let mut columns = PageColumns::default();
        let sharp =
            |rate: f64| PageEntry { belief: whole_belief(Gamma::new(1e7, 1e7 / rate).unwrap()), ..entry(rate, 0.0) };
        for rate in [1.0, 2.0, 3.0, 4.0, 5.0] {
            columns.insert(&sharp(rate), &somewhere());
        }
        (1..=count)
            .map(|slot| {
                let now = Timestamp::from_secs(slot as i64 * 17_280);
                let chosen = select(&columns, now, &index, 1, 0.0, everywhere)[0].slot;
                columns.update(chosen, |page| page.last_look = LastLook::Looked(now));
                chosen.index()
            })
            .collect()
    };
    let binary = [4, 3, 2, 1, 0, 3, 2, 1, 4, 0, 2, 3, 1, 4, 0, 2, 1, 3, 4, 0];
    let mixed = [4, 3, 2, 1, 0, 3, 2, 4, 1, 0, 3, 2, 1, 4, 0, 3, 2, 1, 4, 0];
    let harmonic = [4, 3, 2, 4, 1, 3, 0, 2, 4, 1, 3, 2, 4, 0, 1, 3, 2, 4, 1, 3];
    assert_eq!(run(Index::CrawlValue { theta: 0.0 }, 20), binary);
    assert_eq!(run(OPTIMAL, 20), mixed);
    assert_eq!(run(Index::CrawlValue { theta: 1.0 }, 20), harmonic);
    assert_eq!(run(Index::Uniform, 10), [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
}

#[test]
fn the_uniform_price_is_the_time_a_round_takes() {
    let mut columns = PageColumns::default();
    for rate in [0.1, 1.0, 7.0] {
        columns.insert(&entry(rate, 0.0), &somewhere());
    }
    columns.insert(&PageEntry { status: PageStatus::Excluded, ..entry(1.0, 0.0) }, &somewhere());
    let price = columns.demand_histogram(&Policy::Uniform).solve(&Policy::Uniform, 0.5);
    assert!((price - 6.0).abs() < 1e-9, "{price}");
}

#[test]
fn fetching_at_the_price_spends_the_budget_and_starves_no_page() {
    // 300 pages of rates .003 to 30 a day, known; every page fetched when its value reaches the price, for 400 days.
    let policy = Policy::Optimal { theta: 0.05 };
    let mut columns = PageColumns::default();
    let pages = 300;
    for i in 0..pages {
        let rate = 0.003 * 10f64.powf(4.0 * f64::from(i) / f64::from(pages));
        columns.insert(
            &PageEntry { belief: whole_belief(Gamma::new(5e3, 5e3 / rate).unwrap()), ..entry(rate, 0.0) },
            &somewhere(),
        );
    }
    let price = columns.demand_histogram(&policy).solve(&policy, 60.0);
    let mut fetches = vec![0; pages as usize];
    for tick in 0..40_000 {
        let now = day(f64::from(tick) * 0.01);
        for candidate in select(&columns, now, &OPTIMAL, usize::MAX, price, everywhere) {
            columns.update(candidate.slot, |page| page.last_look = LastLook::Looked(now));
            fetches[candidate.slot.index()] += 1;
        }
    }
    let per_day = fetches.iter().sum::<i32>() as f64 / 400.0;
    assert!((per_day / 60.0 - 1.0).abs() < 0.03, "{per_day} fetches a day");
    assert!(fetches.iter().all(|&count| count > 0), "{fetches:?}");
}

fn any_entry() -> impl Strategy<Value = PageEntry> {
    let log = |range: std::ops::Range<f64>| range.prop_map(f64::exp);
    let status =
        prop_oneof![8 => Just(PageStatus::Ready), 1 => Just(PageStatus::Held), 1 => Just(PageStatus::InFlight)];
    (log(-3.0..6.0), log(-3.0..8.0), log(-3.0..3.0), 0..4u32, 0.0..1000.0f64, 0..20, status).prop_map(
        |(alpha, beta_days, weight, host, looked, new, status)| PageEntry {
            last_look: if new == 0 { LastLook::Discovered(day(looked)) } else { LastLook::Looked(day(looked)) },
            belief: whole_belief(Gamma::new(alpha, beta_days).expect("both positive")),
            weight,
            host,
            status,
        },
    )
}

proptest! {
    #[test]
    fn the_chosen_are_the_first_of_all_sorted(
        pages in prop::collection::vec(any_entry(), 0..300), count in 0..50usize, floor in 0.0..20.0f64,
        index in prop_oneof![Just(Index::Uniform), (0.0..=1.0f64).prop_map(|theta| Index::CrawlValue { theta })],
    ) {
        let mut columns = PageColumns::default();
        pages.iter().for_each(|page| { columns.insert(page, &somewhere()); });
        let mut all = Vec::new();
        columns.visit(day(1000.0), &index, &Outlook::default(), |candidate| all.push(candidate));
        prop_assert_eq!(all.len(), pages.iter().filter(|page| page.status == PageStatus::Ready).count());
        all.retain(|candidate| candidate.host != 3 && candidate.value >= floor);
        all.sort_by(|a, b| b.cmp(a));
        all.truncate(count);
        prop_assert_eq!(select(&columns, day(1000.0), &index, count, floor, |host| host != 3), all);
    }

    #[test]
    fn a_page_is_due_when_its_value_reaches_the_price(
        page in any_entry(), theta in 0.0..=1.0f64, cost in 0.1..10.0f64, price in (-9.0..3.0f64).prop_map(f64::exp),
    ) {
        let own = page.belief.own;
        let belief = Gamma::new(f64::from(own.delta_alpha), f64::from(own.delta_beta_days)).expect("both positive");
        let due = value::due_after_days(belief, theta, page.weight, cost, price);
        let value = |days| value::crawl_value(belief, days, theta, page.weight, cost);
        if due.is_finite() {
            prop_assert!((value(due) - price).abs() <= 1e-9 * price, "{} at {due}, price {price}", value(due));
        } else {
            prop_assert!(value(1e6) < price);
        }
    }

    #[test]
    fn slots_stay_unique_while_pages_come_and_go(steps in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>()), 0..200)) {
        let mut columns = PageColumns::default();
        let mut held: Vec<(Slot, u32)> = Vec::new();
        for (step, (insert, which)) in (0..).zip(steps) {
            if insert || held.is_empty() {
                held.push((columns.insert(&PageEntry { host: step, ..entry(1.0, 0.0) }, &somewhere()), step));
            } else {
                let (slot, _) = held.swap_remove(which.index(held.len()));
                prop_assert!(columns.remove(slot));
            }
            prop_assert_eq!(columns.len(), held.len());
            prop_assert!(held.iter().all(|(slot, host)| columns.get(*slot).is_some_and(|page| page.host == *host)));
        }
    }
}

#[test]
fn a_cell_reported_of_long_after_its_pages_came_counts_from_then_on() {
    let index = Index::Live { theta: 0.0, sentinel_weight: 0.0 };
    let mut outlook = Outlook::default();
    let mut columns = PageColumns::default();
    let looked = PageEntry { belief: OwnEvidence::default(), ..entry(1.0, 0.0) };
    let slot = columns.insert(&looked, &somewhere());
    columns.refresh(&outlook, 10);
    let before = columns.worth(slot, &index, &outlook, day(5.0)).map(|worth| worth.value);
    let priors = CellPriors { own_beta_days: 7.0, plain_beta_days: 7.0 };
    let changes = Changes {
        cells: vec![CellChange { cell: somewhere().cell, site: somewhere().site, priors }],
        ..Changes::default()
    };
    outlook.apply(&changes).expect("both positive");
    columns.refresh(&outlook, 10);
    let scanned =
        columns.scan(day(5.0), &index, &outlook, 1, 0.0, everywhere).next(&mut columns, &outlook, day(5.0), everywhere);
    let value = scanned.map(|candidate| candidate.value);
    assert_eq!(value, columns.worth(slot, &index, &outlook, day(5.0)).map(|worth| worth.value));
    assert!(value > before, "its pages change a hundred times as often: {value:?}, before {before:?}");
}
