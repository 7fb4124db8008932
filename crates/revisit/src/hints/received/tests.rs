use super::super::record::{FEED, SITEMAP};
use super::*;
use change_rate::GammaState;
use sweeps::{OwnEvidence, PagePlace};

fn day(days: f64) -> Timestamp {
    Timestamp::from_secs(0).plus_days(days)
}

fn entry(last: f64) -> PageEntry {
    let state = GammaState { delta_alpha: 1.0, delta_beta_days: 50.0 };
    PageEntry {
        last_look: LastLook::Looked(day(last)),
        belief: OwnEvidence { own: state, plain: state },
        weight: 1.0,
        host: 0,
        status: PageStatus::Ready,
    }
}

/// A list of one page.
fn list_of_one(kind: HintNumber) -> List {
    List { news: NewsRate::default(), about: ListSubject::KnownPages { pages: 1.0, kind } }
}

/// A page last looked at on day 100, and a list of it.
fn listed() -> (PageColumns, HintedPages, Slot, Slot) {
    let (mut columns, mut received) = (PageColumns::default(), HintedPages::default());
    let place = |path| PagePlace::of("a.test", "a.test", path);
    let (page, list) = (columns.insert(&entry(100.0), &place("/a")), columns.insert(&entry(100.0), &place("/s.xml")));
    received.set_list(list, Some(list_of_one(SITEMAP)));
    (columns, received, page, list)
}

#[test]
fn silence_moves_the_look_and_the_belief_and_does_not_add_up_twice() {
    let (mut columns, mut received, page, list) = listed();
    for now in [110.0, 120.0, 130.0] {
        received.receive_silence(&mut columns, page, list, day(now), |_| 0.5);
    }
    let known = columns.get(page).unwrap();
    assert_eq!(known.last_look, LastLook::Looked(day(115.0)));
    assert_eq!(known.belief.plain.delta_beta_days, 65.0);
    // The same from the record alone, as after a restart.
    let mut again = entry(100.0);
    received.add_silence(page, &mut again, |_| 0.5);
    assert_eq!(again, known);
    assert_eq!(received.take_silence(page), 15.0);
}

#[test]
fn a_look_later_than_the_list_owes_it_nothing() {
    let (_, mut received, page, list) = listed();
    received.vouch(page, list, day(90.0));
    let mut looked = entry(100.0);
    received.add_silence(page, &mut looked, |_| 1.0);
    assert_eq!(looked, entry(100.0));
}

#[test]
fn pages_of_a_forgotten_list_are_on_their_own() {
    let (mut columns, mut received, page, list) = listed();
    received.receive_silence(&mut columns, page, list, day(110.0), |_| 1.0);
    assert_eq!(received.list_of(page), Some(list));
    received.remove(list);
    assert_eq!(received.list_of(page), None);
}

#[test]
fn a_change_under_a_silent_list_counts_against_it_as_far_as_it_was_read_in_time() {
    let (mut columns, mut received, page, list) = listed();
    received.receive_silence(&mut columns, page, list, day(110.0), |_| 0.0);
    let mut record = HintRecord::default();
    record.learn_hinted(SITEMAP, true, 0.5);
    received.judge(page, &mut record, 0, true, 0.5, (day(100.0), day(120.0)));
    assert!((record.silent[SITEMAP] - 0.5).abs() < 1e-6);
    received.judge(page, &mut record, 0, false, 0.5, (day(100.0), day(140.0)));
    assert!((record.quiet[SITEMAP] - 0.25).abs() < 1e-6);
    received.remove(page);
    received.judge(page, &mut record, 0, true, 0.5, (day(100.0), day(120.0)));
    assert!((record.silent[SITEMAP] - 0.5).abs() < 1e-6, "it is on no list");
}

#[test]
fn a_page_that_its_list_no_longer_names_is_on_no_list() {
    let (mut columns, mut received, page, list) = listed();
    let record = HintRecord::default();
    let date = [(page, ListedDate::at(90.0))];
    received.receive(&mut columns, list, date, day(110.0), |_| &record);
    assert_eq!((received.drop_unnamed(list, day(110.0)), received.list_of(page)), (vec![], Some(list)));
    received.receive(&mut columns, list, [], day(120.0), |_| &record);
    assert_eq!((received.drop_unnamed(list, day(120.0)), received.list_of(page)), (vec![page], None));
}

#[test]
fn a_claim_is_news_once_and_no_silence() {
    let (mut columns, mut received, page, list) = listed();
    let mut record = HintRecord::default();
    let dates = |at| [(page, ListedDate::at(at))];
    let first = received.receive(&mut columns, list, dates(105.0), day(110.0), |_| &record);
    assert_eq!((first.news, first.hinted), (1.0, vec![page]));
    let again = received.receive(&mut columns, list, dates(115.0), day(120.0), |_| &record);
    assert_eq!(again, Received::default());
    assert_eq!(columns.get(page).unwrap(), entry(100.0));
    // Where claims were wrong every time, they are only counted.
    (0..100).for_each(|_| record.learn_hinted(SITEMAP, false, 0.9));
    received.settle(page);
    let weak = received.receive(&mut columns, list, dates(125.0), day(130.0), |_| &record);
    assert_eq!((weak.news, weak.hinted), (1.0, vec![]));
    received.judge(page, &mut record, 0, true, 0.9, (day(100.0), day(131.0)));
    assert!(record.announced[SITEMAP] > 0.0, "so that a list that mends its ways is believed again");
}

#[test]
fn a_feed_claims_changes_of_pages_that_stay_on_their_sitemap() {
    let (mut columns, mut received, page, list) = listed();
    let feed = columns.insert(&entry(100.0), &PagePlace::of("a.test", "a.test", "/feed"));
    received.set_list(feed, Some(list_of_one(FEED)));
    let record = HintRecord::default();
    received.receive(&mut columns, list, [(page, ListedDate::at(90.0))], day(110.0), |_| &record);
    let claimed = received.receive(&mut columns, feed, [(page, ListedDate::at(105.0))], day(111.0), |_| &record);
    assert_eq!((claimed.news, claimed.hinted, received.list_of(page)), (1.0, vec![page], Some(list)));
    received.set_hazard(page, 1.0);
    let again = received.receive(&mut columns, feed, [(page, ListedDate::at(105.0))], day(112.0), |_| &record);
    assert_eq!(again, Received::default(), "it is known");
    received.receive(&mut columns, feed, [], day(113.0), |_| &record);
    assert_eq!(received.drop_unnamed(feed, day(113.0)), vec![], "and no longer in the feed");
}

#[test]
fn silence_moves_nothing_where_looks_have_no_value() {
    let (mut columns, mut received, page, list) = listed();
    received.ignore_silence();
    received.receive_silence(&mut columns, page, list, day(110.0), |_| 1.0);
    assert_eq!(columns.get(page).unwrap(), entry(100.0));
}
