//! How the statements of sitemaps and feeds about pages count.

use crate::bench::{Bench, edited, looked};
use messages::{HintKind, ListedPage, SchedulerEvent, SiteListing, Verdict};
use page::{CanonicalUrl, DAY, HOUR, MINUTE, Timestamp};

const LIST: &str = "http://a.site.test/sitemap.xml";

fn on_site(number: usize) -> String {
    format!("http://a.site.test/{number}")
}

/// A look at the list now.
fn read(bench: &mut Bench, previous: Option<Timestamp>, dates: &[(&str, Timestamp)]) {
    let list = CanonicalUrl::parse(LIST).unwrap();
    let dated = |(url, at): &(&str, Timestamp)| ListedPage {
        url: CanonicalUrl::parse(url).unwrap(),
        changed_from: *at,
        changed_until: *at,
    };
    let listing = SiteListing {
        list_page_id: list.page_id(),
        site_key: list.site_key(),
        kind: HintKind::Sitemap,
        read_at: bench.now(),
        previous_read_at: previous,
        listed: dates.len() as i64,
        untaken: 0,
        is_first: true,
        is_last: true,
        pages: dates.iter().map(dated).collect(),
    };
    bench.send("site.test", &SchedulerEvent::Listing(listing));
    bench.look_now(LIST, Verdict::Minor);
}

/// A list and three pages, all looked at.
fn known() -> Bench {
    let mut bench = Bench::new(&[
        ("policy.scan_interval", "1m"),
        ("budget.fetches_per_second", "0.01"),
        ("policy.audit_share", "0"),
    ]);
    let urls = [LIST.to_owned(), on_site(1), on_site(2), on_site(3)];
    urls.iter().for_each(|url| bench.seed(url));
    for request in bench.wait(2 * HOUR) {
        bench.answer(edited(looked(&request, 0.05), |it| it.judgement.verdict = Verdict::First));
    }
    bench
}

/// Teaches that the list is right: what it names has changed, and nothing else has.
fn teach(bench: &mut Bench, rounds: usize) {
    for round in 0..rounds {
        let previous = bench.now();
        bench.pass(DAY);
        let named = on_site(1 + round % 3);
        let (url, at) = (named.as_str(), bench.now() - HOUR);
        let old = bench.now() - 100 * DAY;
        let others: Vec<String> = (1..=3).map(on_site).filter(|other| *other != named).collect();
        let mut dates = vec![(url, at)];
        dates.extend(others.iter().map(|other| (other.as_str(), old)));
        read(bench, Some(previous), &dates);
        for url in (1..=3).map(on_site) {
            bench.look_now(&url, if url == named { Verdict::Minor } else { Verdict::Unchanged });
        }
    }
}

#[test]
fn what_a_list_speaks_for_is_kept_with_it_and_with_its_pages() {
    let mut bench = known();
    let (old, now) = (bench.now() - 30 * DAY, bench.now());
    read(&mut bench, None, &[(&on_site(1), old), (&on_site(2), now)]);
    let list = bench.page(LIST).unwrap();
    assert_eq!((list.listed, list.list_kind), (2, 0));
    let of = |bench: &Bench, number| bench.page(&on_site(number)).unwrap();
    assert_eq!(of(&bench, 1).listed_by, Some(CanonicalUrl::parse(LIST).unwrap().page_id()));
    assert_eq!((of(&bench, 1).hinted, of(&bench, 2).hinted), (0, 1));
    assert_eq!(of(&bench, 3).listed_by, None);
}

#[test]
fn the_silence_of_a_list_that_reports_all_is_as_good_as_a_look_and_survives_a_restart() {
    let mut bench = known();
    teach(&mut bench, 60);
    let (listed, other) = (on_site(1), on_site(3));
    let worth = |bench: &Bench, url: &str| bench.explained(url, Some(1.0)).crawl_value.unwrap();
    let previous = bench.now();
    bench.pass(20 * DAY);
    assert!((worth(&bench, &listed) / worth(&bench, &other) - 1.0).abs() < 0.2);
    let old = bench.now() - 100 * DAY;
    read(&mut bench, Some(previous), &[(&listed, old), (&on_site(2), old)]);
    let (received, unreceived) = (worth(&bench, &listed), worth(&bench, &other));
    assert!(received < 0.2 * unreceived, "{received} and {unreceived}");
    bench.crash();
    bench.start();
    assert!((worth(&bench, &listed) / received - 1.0).abs() < 0.05, "{} and {received}", worth(&bench, &listed));
}

#[test]
fn a_list_that_dates_every_page_today_is_not_believed_and_costs_no_writes() {
    let mut bench = known();
    for _ in 0..40 {
        let previous = bench.now();
        bench.pass(DAY);
        let now = bench.now();
        let urls: Vec<String> = (1..=3).map(on_site).collect();
        let dates: Vec<_> = urls.iter().map(|url| (url.as_str(), now)).collect();
        read(&mut bench, Some(previous), &dates);
        bench.pass(MINUTE);
        (1..=3).for_each(|number| bench.look_now(&on_site(number), Verdict::Unchanged));
    }
    let previous = bench.now();
    bench.pass(DAY);
    let now = bench.now();
    read(&mut bench, Some(previous), &[(&on_site(1), now)]);
    assert_eq!(bench.page(&on_site(1)).unwrap().hinted, 0);
    let quality = bench.explained(&on_site(1), Some(1.0)).hints.host[0];
    assert!(quality.precision < 0.05 && quality.recall < 0.05, "{quality:?}");
}

#[test]
fn a_claim_that_is_pending_at_a_restart_is_no_silence() {
    let mut bench = known();
    teach(&mut bench, 60);
    let (claimed, unlisted) = (on_site(1), on_site(3));
    let previous = bench.now();
    bench.pass(20 * DAY);
    let (old, new) = (bench.now() - 100 * DAY, bench.now() - HOUR);
    read(&mut bench, Some(previous), &[(&claimed, new), (&on_site(2), old)]);
    bench.crash();
    bench.start();
    let own_hazard = |url: &str| bench.explained(url, Some(1.0)).own_hazard.unwrap();
    let (claimed, unlisted, silent) = (own_hazard(&claimed), own_hazard(&unlisted), own_hazard(&on_site(2)));
    assert!((claimed / unlisted - 1.0).abs() < 0.01, "{claimed} and {unlisted}");
    assert!(silent < 0.2 * unlisted, "{silent} and {unlisted}");
}

#[test]
fn a_claim_that_is_pending_at_a_restart_is_news_once() {
    let mut bench = known();
    teach(&mut bench, 10);
    let read_news = |bench: &mut Bench, previous, new| {
        read(bench, Some(previous), &[(&on_site(1), new), (&on_site(2), new - 100 * DAY)]);
        bench.page(LIST).unwrap().list_news
    };
    let previous = bench.now();
    bench.pass(DAY);
    let new = bench.now() - HOUR;
    let reported = read_news(&mut bench, previous, new);
    bench.crash();
    bench.start();
    let again = read_news(&mut bench, previous, new);
    assert!(again <= reported, "{again} and {reported}");
}
