use super::*;
use policies::tianwang::{CycleOptions, DueOrder, PageInfo, Tables, Tianwang, TianwangOptions};

/// Tables with these numbers of URLs in NewURLQueue and RemainedURLs, and of due pages.
fn tables(new: u32, due: u32, remained: u32) -> Tables {
    let mut tables = Tables::default();
    let options = CycleOptions { new_share: 0.0, order: DueOrder::EarliestDue };
    for index in 0..remained {
        tables.parsed(slot(index), PageInfo::new(1.0, belief(1.0), Some(0.0), 0.0));
    }
    // Without room, all of them are pushed.
    assert_eq!(tables.plan_cycle(2.0, 3.0, 0, &options).pushed, remained as usize);
    for index in remained..remained + due {
        tables.parsed(slot(index), PageInfo::new(1.0, belief(1.0), Some(0.0), 0.0));
    }
    for index in remained + due..remained + due + new {
        tables.parsed(slot(index), PageInfo::new(1.0, belief(1.0), None, 0.0));
    }
    tables
}

#[test]
fn cycles_are_planned_as_published() {
    for (capacity, share, new, due, remained, expected) in [
        (1000, 0.2, 500, 500, 1000, (200, 500, 300, 0)),
        (1000, 0.2, 500, 950, 10, (200, 800, 0, 150)),
        (1000, 0.2, 50, 500, 100, (50, 500, 100, 0)),
        (1000, 0.0, 50, 1200, 0, (0, 1000, 0, 200)),
        (10, 1.0, 30, 5, 5, (10, 0, 0, 5)),
    ] {
        let options = CycleOptions { new_share: share, order: DueOrder::EarliestDue };
        let mut tables = tables(new, due, remained);
        let plan = tables.plan_cycle(4.0, 5.0, capacity, &options);
        assert_eq!((plan.new.len(), plan.due.len(), plan.remained.len(), plan.pushed), expected);
        let queued = (new as usize - plan.new.len(), remained as usize - plan.remained.len() + plan.pushed);
        assert_eq!(tables.queued(), queued);
    }
}

#[test]
fn the_earliest_due_are_taken_or_the_most_valuable() {
    // Due on days 1, 2 and 3; the last is by far the heaviest.
    let plan = |order| {
        let mut tables = Tables::default();
        for (index, (rate, weight)) in (0..).zip([(1.0, 1.0), (0.5, 1.0), (1.0 / 3.0, 9.0)]) {
            tables.parsed(slot(index), PageInfo::new(weight, belief(rate), Some(0.0), 0.0));
        }
        let options = CycleOptions { new_share: 0.2, order };
        let due = tables.plan_cycle(4.0, 5.0, 1, &options).due;
        (due, tables.plan_cycle(5.0, 6.0, 1, &options).due, tables.queued().1)
    };
    assert_eq!(plan(DueOrder::EarliestDue), (vec![slot(0)], vec![], 1), "the others wait in RemainedURLs");
    assert_eq!(plan(DueOrder::CrawlValue).0, [slot(2)]);
    assert_eq!(plan(DueOrder::CrawlValue).1.len(), 1, "the others compete again");
}

#[test]
fn a_page_that_keeps_changing_is_hurried_for_three_looks() {
    let mut info = PageInfo::new(1.0, belief(0.1), Some(0.0), 0.0);
    let mut interval_after = |at_days: f64, changed: bool| {
        info.found(at_days, changed, belief(0.1));
        info.next_crawl_days - at_days
    };
    close(interval_after(10.0, true), 10.0, 1e-12);
    close(interval_after(20.0, true), 5.0, 1e-12);
    close(interval_after(25.0, true), 5.0, 1e-12);
    close(interval_after(30.0, false), 5.0, 1e-12);
    close(interval_after(35.0, false), 10.0, 1e-12);
}

#[test]
fn a_page_that_disappears_is_retried_and_then_dropped() {
    let mut policy = Tianwang::new(TianwangOptions::default());
    policy.insert(slot(0), &page(1.0), 0.0);
    let mut tried = Vec::new();
    for day in 0..40 {
        let now_days = f64::from(day);
        policy.begin(&tick(now_days, 1.0, 10.0));
        if policy.next(now_days).is_some() {
            tried.push(day);
            policy.looked(slot(0), &look(now_days, None, 1.0));
        }
    }
    // Due on day 1, so in the cycle that begins then; back after 1 day and after 3.
    assert_eq!(tried, [1, 2, 5]);
    assert_eq!(policy.due_days(slot(0)), None);
}

#[test]
fn what_siblings_teach_moves_the_next_fetch_but_not_a_back_off() {
    let mut policy = Tianwang::new(TianwangOptions::default());
    policy.insert(slot(0), &page(0.01), 0.0);
    assert!(policy.due_days(slot(0)).is_some_and(|due_days| due_days > 50.0));
    policy.believe(slot(0), belief(0.5));
    close(policy.due_days(slot(0)).unwrap_or_default(), 2.0, 1e-9);
    policy.looked(slot(0), &look(2.0, None, 0.5));
    policy.believe(slot(0), belief(0.1));
    assert_eq!(policy.due_days(slot(0)), Some(3.0));
}

#[test]
fn a_success_forgets_failures() {
    let mut info = PageInfo::new(1.0, belief(1.0), Some(0.0), 0.0);
    assert!(info.not_found(1.0) && info.not_found(2.0));
    info.found(5.0, false, belief(1.0));
    assert!(info.not_found(6.0));
    assert_eq!(info.next_crawl_days, 7.0);
}

#[test]
fn new_urls_take_their_share_first_come_first_served() {
    let mut policy = Tianwang::new(TianwangOptions::default());
    for index in 0..20 {
        policy.insert(slot(index), &page(10.0), 0.0);
    }
    for index in (20..30).rev() {
        policy.insert(slot(index), &new_page(10.0), 0.5 - f64::from(index) * 0.01);
    }
    policy.begin(&tick(1.0, 0.1, 10.0));
    let offered = offers(&mut policy, 1.0, 99);
    assert_eq!(offered.len(), 10);
    assert_eq!(offered[..2], [29, 28]);
    assert!(offered[2..].iter().all(|index| *index < 20));
    policy.put_back(slot(28));
    // Not fetched in its cycle: first in the queue of the next one.
    policy.begin(&tick(2.0, 0.1, 10.0));
    assert_eq!(offers(&mut policy, 2.0, 99)[..2], [28, 27]);
}

#[test]
fn an_index_page_comes_back_when_it_is_expected_to_show_a_new_address() {
    let mut policy = Tianwang::new(TianwangOptions::default());
    (0..3).for_each(|index| policy.insert(slot(index), &page(0.1), 0.0));
    policy.shows(slot(1), 0.5);
    policy.shows(slot(2), 0.01);
    let due = |policy: &Tianwang| [0, 1, 2].map(|index| policy.due_days(slot(index)).expect("it is planned"));
    for (due, expected) in due(&policy).into_iter().zip([10.0, 2.0, 10.0]) {
        close(due, expected, 1e-9);
    }
    policy.looked(slot(1), &look(1.0, Some(LookOutcome::Unchanged), 0.1));
    close(due(&policy)[1], 3.0, 1e-9);
    // However many there are, once a cycle is enough.
    policy.shows(slot(1), 40.0);
    close(due(&policy)[1], 2.0, 1e-9);
    // Once nothing new is expected, it is a page like any other.
    policy.shows(slot(1), 0.0);
    close(due(&policy)[1], 11.0, 1e-9);
}
