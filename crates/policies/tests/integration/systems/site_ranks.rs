use super::*;
use policies::site_ranks::{Phases, SiteRanks, rank, visited};

fn ranks(sites: usize) -> Vec<u8> {
    (1..=sites).map(|position| rank(position, sites)).collect()
}

#[test]
fn sites_are_ranked_as_published() {
    assert_eq!(ranks(7), [4, 4, 2, 2, 1, 1, 1]);
    assert_eq!(ranks(3), [4, 2, 1]);
    assert_eq!(ranks(1), [1]);
    assert_eq!(ranks(6), [4, 4, 2, 2, 1, 1]);
    assert_eq!(ranks(9), [4, 4, 4, 2, 2, 2, 1, 1, 1]);
}

#[test]
fn a_rank_is_the_number_of_visits_in_four_passes() {
    let ranks_in = |pass| [4, 2, 1].into_iter().filter(move |&rank| visited(rank, pass, 0, Phases::AsPublished));
    let schedule: Vec<Vec<u8>> = (1..=5).map(|pass| ranks_in(pass).collect()).collect();
    assert_eq!(schedule, [vec![4, 2, 1], vec![4], vec![4, 2], vec![4], vec![4, 2, 1]]);
    for site in 0..8 {
        for rank in [4_u8, 2, 1] {
            let visits = (1..=4).filter(|&pass| visited(rank, pass, site, Phases::Hashed)).count();
            assert_eq!(visits, usize::from(rank));
        }
    }
    // Hashed phases level the load: of 4 sites of each rank, 4 + 2 + 1 are visited in every pass.
    for pass in 1..=4 {
        let load: usize = [4, 2, 1]
            .into_iter()
            .map(|rank| (0..4).filter(|&site| visited(rank, pass, site, Phases::Hashed)).count())
            .sum();
        assert_eq!(load, 7);
    }
}

#[test]
fn the_best_third_of_sites_gets_four_of_seven_visits() {
    let mut policy = SiteRanks::new(Phases::AsPublished);
    // Nine sites of two pages; the lower the number, the heavier.
    for index in 0..18 {
        let name = format!("s{}.example", index / 2);
        let weight = f64::from(20 - index);
        policy.insert(slot(index), &PolicyPage { weight, place: PagePlace::of(&name, &name, "/"), ..page(1.0) }, 0.0);
    }
    let mut visits = [0; 9];
    // A cycle of four passes has 7/12 × 4 × 18 fetches.
    for fetch in 0..3 * 42 {
        let at_days = f64::from(fetch);
        let chosen = policy.next(at_days).expect("there is always a next");
        visits[chosen.index() / 2] += 1;
        policy.looked(chosen, &look(at_days, Some(LookOutcome::Unchanged), 1.0));
    }
    assert_eq!(visits, [24, 24, 24, 12, 12, 12, 6, 6, 6]);
}

#[test]
fn new_weights_move_sites_and_take_no_page_out_of_its_pass() {
    let mut policy = SiteRanks::new(Phases::AsPublished);
    for index in 0..18 {
        let name = format!("s{}.example", index / 2);
        policy.insert(slot(index), &PolicyPage { place: PagePlace::of(&name, &name, "/"), ..page(1.0) }, 0.0);
    }
    let mut visits = [0; 9];
    for fetch in 0..18 + 3 * 42 {
        let at_days = f64::from(fetch);
        let chosen = policy.next(at_days).expect("there is always a next");
        visits[chosen.index() / 2] += 1;
        // The ranker sends the weights of all pages of the site while one of them is under way.
        let site = chosen.index() as u32 / 2;
        (2 * site..2 * site + 2).for_each(|index| policy.weigh(slot(index), f64::from(100 - site)));
        policy.looked(chosen, &look(at_days, Some(LookOutcome::Unchanged), 1.0));
    }
    assert_eq!(visits, [26, 26, 26, 14, 14, 14, 8, 8, 8]);
}

#[test]
fn sites_of_other_partitions_take_their_places() {
    // Nine sites on three partitions, and one partition with no site of the best third.
    let values = [[9.0, 1.0, 5.0], [8.0, 2.0, 4.0], [6.5, 7.0, 3.0]];
    let sums = |own: usize| values.iter().enumerate().filter(move |(place, _)| *place != own);
    let mut visits = std::collections::BTreeMap::new();
    let mut demands = Vec::new();
    for (partition, own) in values.iter().enumerate() {
        let mut policy = SiteRanks::new(Phases::AsPublished);
        for (index, value) in (0_u32..).zip(own) {
            let name = format!("s{value}.example");
            let place = PagePlace::of(&name, &name, "/");
            policy.insert(slot(index), &PolicyPage { weight: *value, place, ..page(1.0) }, 0.0);
        }
        let others: Vec<_> = sums(partition).map(|(_, values)| PlanValues::of(values.iter().copied())).collect();
        policy.learn_plan_values(&others, 9.0);
        let cycle: usize = own
            .iter()
            .map(|value| {
                if *value > 6.9 {
                    4
                } else if *value > 3.9 {
                    2
                } else {
                    1
                }
            })
            .sum();
        for fetch in 0..3 * cycle {
            let chosen = policy.next(fetch as f64).expect("there is always a next");
            *visits.entry(own[chosen.index()] as u32).or_insert(0) += 1;
            policy.looked(chosen, &look(fetch as f64, Some(LookOutcome::Unchanged), 1.0));
        }
        close(policy.plan_demand().expect("it ranks"), cycle as f64, 1e-12);
        demands.push(cycle);
        let Some(PlanStanding::SiteRank { position, sites, .. }) = policy.standing(slot(0)) else { panic!("no rank") };
        assert_eq!((position, sites), ([1, 2, 4][partition], 9));
    }
    assert_eq!(visits.into_values().collect::<Vec<_>>(), [3, 3, 3, 6, 6, 6, 12, 12, 12]);
}

#[test]
fn sites_of_one_value_share_the_ranks_whatever_partition_holds_them() {
    let mut policy = SiteRanks::new(Phases::Hashed);
    for index in 0..30 {
        let name = format!("s{index}.example");
        policy.insert(slot(index), &PolicyPage { place: PagePlace::of(&name, &name, "/"), ..page(1.0) }, 0.0);
    }
    policy.learn_plan_values(&[PlanValues::of([1.0; 300])], 9.0);
    policy.next(0.0).expect("there is a next");
    // 10 sites of each rank.
    close(policy.plan_demand().expect("it ranks"), 70.0, 1e-12);
}
