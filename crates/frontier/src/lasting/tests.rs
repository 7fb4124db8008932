use super::*;

fn looks(all: u64, current: u64) -> Looks {
    Looks { all, current }
}

/// The note of a found page with this number of looks, and of those that found the copy current.
fn found(all: u64, current: u64) -> Noted {
    Noted::new(looks(all, current), true, 1.0)
}

#[test]
fn pages_of_a_site_whose_copies_never_last_lose_weight_and_one_look_in_five_keeps_it() {
    let share_after = |pages: u32, looks| {
        let mut lasting = LastingCopies::default();
        (0..pages).for_each(|page| lasting.note(Slot::new(page), 1, Noted { is_found: false, ..looks }));
        lasting.share(1, Looks::default())
    };
    assert_eq!(share_after(0, found(0, 0)), 1.0);
    assert_eq!(share_after(1, found(100, 0)), 1.0, "a page that is looked at often says little of others");
    assert_eq!(share_after(10, found(8, 0)), 0.1);
    assert_eq!(share_after(10, found(8, 2)), 1.0);
}

#[test]
fn a_page_that_is_found_changed_at_each_look_loses_nothing_beside_articles_that_last() {
    let mut lasting = LastingCopies::default();
    lasting.note(Slot::new(0), 1, found(1_000, 0));
    (1..9).for_each(|article| lasting.note(Slot::new(article), 1, found(1, 1)));
    assert_eq!(lasting.share(1, looks(1_000, 0)), 1.0);
}

#[test]
fn a_new_page_weighs_what_its_site_promises_and_on_a_new_site_what_all_pages_do() {
    let mut lasting = LastingCopies::default();
    (0..40).for_each(|page| lasting.note(Slot::new(page), 1, found(100, 0)));
    let of_site = lasting.share_of_new(1);
    let of_all = lasting.share_of_new(2);
    assert!((of_all - 32.0 / 320.0).abs() < 1e-9, "{of_all}");
    assert!((of_site - of_all * 8.0 / 320.0).abs() < 1e-9, "{of_site}");
    // Others may be as they are: a page and a site are judged by their own looks as soon as there are any.
    assert_eq!(lasting.share(2, looks(1, 1)), 1.0);
    (40..50).for_each(|page| lasting.note(Slot::new(page), 2, found(8, 2)));
    assert_eq!(lasting.share_of_new(2), 1.0);
    assert!(lasting.share_of_new(1) < 0.05, "a site gains little by the pages of others");
}

#[test]
fn pages_that_an_operator_named_speak_for_their_site_and_for_no_other() {
    let mut lasting = LastingCopies::default();
    (0..40).for_each(|page| lasting.note(Slot::new(page), 1, found(100, 0)));
    let without = lasting.share_of_new(2);
    (40..90).for_each(|page| lasting.note(Slot::new(page), 3, Noted { is_found: false, ..found(8, 8) }));
    assert_eq!((lasting.share_of_new(2), lasting.share_of_new(3)), (without, 1.0));
}

#[test]
fn a_page_that_is_looked_at_often_counts_like_any_other() {
    let mut lasting = LastingCopies::default();
    lasting.note(Slot::new(0), 1, found(10_000, 0));
    assert_eq!(lasting.share_of_new(1), 1.0);
}

#[test]
fn pages_that_go_take_their_looks_with_them() {
    let mut lasting = LastingCopies::default();
    (0..40).for_each(|page| lasting.note(Slot::new(page), 1, found(3, 0)));
    (0..40).for_each(|page| lasting.note(Slot::new(page), 1, found(9, 1)));
    // A link led to it, and then an operator named it.
    lasting.note(Slot::new(3), 1, Noted { is_found: false, ..found(9, 1) });
    (0..40).for_each(|page| lasting.remove(Slot::new(page), 1));
    lasting.remove(Slot::new(7), 1);
    assert_eq!((lasting.found, lasting.sites.len()), (Looks::default(), 0));
}

#[test]
fn a_weight_is_renewed_once_its_share_has_halved() {
    let mut lasting = LastingCopies::default();
    lasting.note(Slot::new(3), 1, found(0, 0));
    assert!(!lasting.has_fallen(Slot::new(3), 0.6));
    assert!(lasting.has_fallen(Slot::new(3), 0.5));
    lasting.note(Slot::new(3), 1, Noted { share: 0.5, ..found(0, 0) });
    assert!(!lasting.has_fallen(Slot::new(3), 0.5));
    assert!(!lasting.has_fallen(Slot::new(9), 0.0), "it is not known");
}

#[test]
fn a_site_gets_a_few_looks_at_once_and_one_more_for_each_copy_that_lasts() {
    let mut lasting = LastingCopies::default();
    assert!(!lasting.grants(1), "it has no pages");
    lasting.note(Slot::new(0), 1, found(0, 0));
    assert_eq!((0..100).filter(|_| lasting.grants(1)).count(), 8);
    lasting.earn(1);
    assert!(lasting.grants(1) && !lasting.grants(1));
    lasting.note(Slot::new(0), 1, found(4, 4));
    assert_eq!((0..100).filter(|_| lasting.grants(1)).count(), 4, "copies that lasted before count, too");
    (10..100).for_each(|page| lasting.note(Slot::new(page), 2, found(8, 0)));
    lasting.note(Slot::new(1), 3, found(0, 0));
    assert!(lasting.grants(3) && !lasting.grants(3), "where no copy lasts, a new site gets one");
}
