//! Idle slots of schedulers that wait for due dates.

use crate::systems::{look, offers, page, slot, tick};
use change_rate::LookOutcome;
use policies::adaptive::{Adaptive, AdaptiveOptions};
use policies::{Filled, PolicyKind, PolicyOptions};
use revisit::RevisitPolicy;

fn filled_with(pages: u32) -> Filled {
    let mut policy = Filled::new(Box::new(Adaptive::new(AdaptiveOptions::NUTCH)));
    (0..pages).for_each(|index| policy.insert(slot(index), &page(1.0), 0.0));
    policy
}

#[test]
fn an_idle_slot_goes_to_the_page_due_earliest() {
    let mut policy = filled_with(20);
    policy.begin(&tick(0.0, 1.0, 20.0));
    let due = |policy: &Filled, index: usize| policy.due_days(slot(index as u32)).expect("a due date");
    let offered = offers(&mut policy, 0.0, 100);
    assert_eq!(offered.len(), 20, "every page once");
    assert!(offered.windows(2).all(|pair| due(&policy, pair[0]) <= due(&policy, pair[1])));
    policy.looked(slot(7), &look(1.0, Some(LookOutcome::Unchanged), 1.0));
    assert_eq!(offers(&mut policy, 1.0, 100), [7], "the others are in flight");
}

#[test]
fn a_page_put_back_is_offered_again_whoever_chose_it() {
    let mut policy = filled_with(2);
    policy.begin(&tick(0.0, 1.0, 20.0));
    let first = policy.next(0.0).expect("a page");
    policy.put_back(first);
    assert_eq!(policy.next(0.0), Some(first));
    // While it is away early, the policy within chooses it, too.
    let second = policy.next(100.0).expect("the other page, by now due");
    assert_ne!(second, first);
    assert_eq!(policy.next(100.0), None, "both are in flight");
    policy.put_back(first);
    policy.put_back(second);
    let mut again = offers(&mut policy, 100.0, 9);
    again.sort_unstable();
    assert_eq!(again, [0, 1]);
    policy.remove(slot(1));
    policy.put_back(slot(1));
    assert_eq!(policy.next(200.0), None, "a removed page is not offered");
}

#[test]
fn only_policies_that_wait_are_named_filled() {
    let mut names: Vec<_> = PolicyKind::ALL.map(|kind| kind.filled_name(true)).into();
    names.retain(|name| name.ends_with("+fill"));
    let expected = ["tianwang+fill", "stormcrawler+fill", "nutch+fill", "nutch-nosync+fill", "news-crawl+fill"];
    assert_eq!(names, expected);
    assert_eq!(PolicyKind::Nutch.filled_name(false), "nutch");
    // Each says when its pages are due.
    for kind in PolicyKind::ALL.into_iter().filter(|kind| kind.waits()) {
        let mut policy = kind.build(&PolicyOptions::default());
        policy.insert(slot(0), &page(1.0), 0.0);
        assert!(policy.due_days(slot(0)).is_some(), "{}", kind.name());
    }
}
