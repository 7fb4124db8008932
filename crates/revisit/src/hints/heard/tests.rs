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
fn listed() -> (PageColumns, HeardPages, Slot, Slot) {
    let (mut columns, mut heard) = (PageColumns::default(), HeardPages::default());
    let place = |path| PagePlace::of("a.test", "a.test", path);
    let (page, list) = (columns.insert(&entry(100.0), &place("/a")), columns.insert(&entry(100.0), &place("/s.xml")));
    heard.set_list(list, Some(list_of_one(SITEMAP)));
    (columns, heard, page, list)
}

#[test]
fn silence_moves_the_look_and_the_belief_and_does_not_add_up_twice() {
    let (mut columns, mut heard, page, list) = listed();
    for now in [110.0, 120.0, 130.0] {
        heard.hear_silence(&mut columns, page, list, day(now), |_| 0.5);
    }
    let heard_of = columns.get(page).unwrap();
    assert_eq!(heard_of.last_look, LastLook::Looked(day(115.0)));
    assert_eq!(heard_of.belief.plain.delta_beta_days, 65.0);
    // The same from the record alone, as after a restart.
    let mut again = entry(100.0);
    heard.add_silence(page, &mut again, |_| 0.5);
    assert_eq!(again, heard_of);
    assert_eq!(heard.take_silence(page), 15.0);
}

#[test]
fn a_look_later_than_the_list_owes_it_nothing() {
    let (_, mut heard, page, list) = listed();
    heard.vouch(page, list, day(90.0));
    let mut looked = entry(100.0);
    heard.add_silence(page, &mut looked, |_| 1.0);
    assert_eq!(looked, entry(100.0));
}

#[test]
fn pages_of_a_forgotten_list_are_on_their_own() {
    let (mut columns, mut heard, page, list) = listed();
    heard.hear_silence(&mut columns, page, list, day(110.0), |_| 1.0);
    assert_eq!(heard.list_of(page), Some(list));
    heard.remove(list);
    assert_eq!(heard.list_of(page), None);
}

#[test]
fn a_change_under_a_silent_list_counts_against_it_as_far_as_it_was_read_in_time() {
    let (mut columns, mut heard, page, list) = listed();
    heard.hear_silence(&mut columns, page, list, day(110.0), |_| 0.0);
    let mut record = HintRecord::default();
    record.learn_hinted(SITEMAP, true, 0.5);
    heard.judge(page, &mut record, 0, true, 0.5, (day(100.0), day(120.0)));
    assert!((record.silent[SITEMAP] - 0.5).abs() < 1e-6);
    heard.judge(page, &mut record, 0, false, 0.5, (day(100.0), day(140.0)));
    assert!((record.quiet[SITEMAP] - 0.25).abs() < 1e-6);
    heard.remove(page);
    heard.judge(page, &mut record, 0, true, 0.5, (day(100.0), day(120.0)));
    assert!((record.silent[SITEMAP] - 0.5).abs() < 1e-6, "it is on no list");
}

#[test]
fn a_page_that_its_list_no_longer_names_is_on_no_list() {
    let (mut columns, mut heard, page, list) = listed();
    let record = HintRecord::default();
    let date = [(page, ListedDate::at(90.0))];
    heard.hear(&mut columns, list, date, day(110.0), |_| &record);
    assert_eq!((heard.drop_unnamed(list, day(110.0)), heard.list_of(page)), (vec![], Some(list)));
    heard.hear(&mut columns, list, [], day(120.0), |_| &record);
    assert_eq!((heard.drop_unnamed(list, day(120.0)), heard.list_of(page)), (vec![page], None));
}

#[test]
fn a_claim_is_news_once_and_no_silence() {
    let (mut columns, mut heard, page, list) = listed();
    let mut record = HintRecord::default();
    let dates = |at| [(page, ListedDate::at(at))];
    let first = heard.hear(&mut columns, list, dates(105.0), day(110.0), |_| &record);
    assert_eq!((first.news, first.hinted), (1.0, vec![page]));
    let again = heard.hear(&mut columns, list, dates(115.0), day(120.0), |_| &record);
    assert_eq!(again, Heard::default());
    assert_eq!(columns.get(page).unwrap(), entry(100.0));
    // Where claims were wrong every time, they are only counted.
    (0..100).for_each(|_| record.learn_hinted(SITEMAP, false, 0.9));
    heard.settle(page);
    let weak = heard.hear(&mut columns, list, dates(125.0), day(130.0), |_| &record);
    assert_eq!((weak.news, weak.hinted), (1.0, vec![]));
    heard.judge(page, &mut record, 0, true, 0.9, (day(100.0), day(131.0)));
    assert!(record.announced[SITEMAP] > 0.0, "so that a list that mends its ways is believed again");
}

#[test]
fn a_feed_claims_changes_of_pages_that_stay_on_their_sitemap() {
    let (mut columns, mut heard, page, list) = listed();
    let feed = columns.insert(&entry(100.0), &PagePlace::of("a.test", "a.test", "/feed"));
    heard.set_list(feed, Some(list_of_one(FEED)));
    let record = HintRecord::default();
    heard.hear(&mut columns, list, [(page, ListedDate::at(90.0))], day(110.0), |_| &record);
    let claimed = heard.hear(&mut columns, feed, [(page, ListedDate::at(105.0))], day(111.0), |_| &record);
    assert_eq!((claimed.news, claimed.hinted, heard.list_of(page)), (1.0, vec![page], Some(list)));
    heard.set_hazard(page, 1.0);
    let again = heard.hear(&mut columns, feed, [(page, ListedDate::at(105.0))], day(112.0), |_| &record);
    assert_eq!(again, Heard::default(), "it is known");
    heard.hear(&mut columns, feed, [], day(113.0), |_| &record);
    assert_eq!(heard.drop_unnamed(feed, day(113.0)), vec![], "and no longer in the feed");
}

#[test]
fn silence_moves_nothing_where_looks_have_no_value() {
    let (mut columns, mut heard, page, list) = listed();
    heard.ignore_silence();
    heard.hear_silence(&mut columns, page, list, day(110.0), |_| 1.0);
    assert_eq!(columns.get(page).unwrap(), entry(100.0));
}
