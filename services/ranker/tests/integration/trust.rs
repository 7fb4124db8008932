//! Trust: what pages are worth that trusted pages lead to, and those that they do not.

use crate::bench::Bench;
use page::HOUR;
use std::ops::Range;

const TRUSTED: (&str, &str) = ("ranker.trusted", "[\"good.test\"]");
const HOURLY: (&str, &str) = ("ranker.interval", "1h");
const TARGET: &str = "http://target.test/";

/// Looks at each of these pages this often.
fn crawl(bench: &mut Bench, pages: &[(String, Vec<String>)], looks: Range<i32>) {
    for look in looks {
        for (number, (source, targets)) in pages.iter().enumerate() {
            let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
            bench.send(source, &targets, look == 0, number as i64);
        }
        bench.driver.clock.advance(HOUR);
        bench.ranked();
    }
}

/// Twenty pages of a trusted host, and thirty sites that link each other. The trusted pages link the first ten of them.
fn honest() -> Vec<(String, Vec<String>)> {
    let site = |number: usize| format!("http://honest-{}.test/", number % 30);
    let good = |number: usize| format!("http://good.test/{}", number % 20);
    let of_good = |number| (good(number), vec![good(number + 1), good(number + 3), site(number % 10)]);
    let of_site = |number| (site(number), vec![site(number + 1), site(number * 7 + 2), good(number)]);
    (0..20).map(of_good).chain((0..30).map(of_site)).collect()
}

/// Ten thousand pages of ten hosts that link each other and one target, which links some of them.
fn farm() -> Vec<(String, Vec<String>)> {
    let page = |number: usize| format!("http://farm-{}.test/{}", number % 10, number % 10_000);
    let links =
        |number| (page(number), vec![TARGET.to_owned(), page(number + 1), page(number * 7 + 3), page(number * 13)]);
    (0..10_000).map(links).chain([(TARGET.to_owned(), (0..50).map(page).collect())]).collect()
}

#[test]
fn a_farm_of_ten_thousand_pages_gains_nothing_against_trusted_hosts() {
    let all: Vec<_> = honest().into_iter().chain(farm()).collect();
    let weights = |overrides: &[(&str, &str)]| {
        let mut bench = Bench::new(&[&[HOURLY], overrides].concat());
        crawl(&mut bench, &all, 0..8);
        bench.check_cash();
        let reported = bench.pages();
        let least_honest = honest().iter().map(|(url, _)| bench.reported(url)).fold(f64::INFINITY, f64::min);
        (bench.reported(TARGET), least_honest, reported.len())
    };
    for importance in ["opic", "pagerank"] {
        let (target, honest, pages) = weights(&[("ranker.importance", importance)]);
        assert!(target > 50.0 * honest && pages == 10_051, "{importance}: {target} beside {honest}, {pages} pages");
        let (target, trusted_honest, _) = weights(&[("ranker.importance", importance), TRUSTED]);
        assert!(target < 0.15, "{importance}: the target weighs {target}");
        assert!(trusted_honest > 0.8 * honest, "{importance}: {trusted_honest} was {honest}");
    }
    let (target, honest, _) = weights(&[("ranker.importance", "trustrank"), TRUSTED]);
    assert!(target < 0.15 && honest > 1.0, "trustrank: {target} beside {honest}");
}

#[test]
fn a_page_is_worth_what_trusted_pages_lead_to() {
    let mut bench = Bench::new(&[HOURLY, TRUSTED, ("ranker.importance", "trustrank"), ("ranker.min_change", "0.01")]);
    // The trusted page links one page, that another, which ends. The last one has links from itself and from a page without
    // links to it.
    let links = [
        ("http://good.test/", "http://one.test/"),
        ("http://one.test/", "http://two.test/"),
        ("http://two.test/", ""),
        ("http://none.test/", "http://last.test/"),
        ("http://last.test/", "http://last.test/"),
    ];
    let pages = links.map(|(from, to)| (from.to_owned(), if to.is_empty() { vec![] } else { vec![to.to_owned()] }));
    crawl(&mut bench, &pages, 0..400);
    // 1 : .85 : .85² of 1, among five pages.
    let sum: f64 = 1.0 + 0.85 + 0.85 * 0.85;
    for (url, share) in [("http://good.test/", 1.0_f64), ("http://one.test/", 0.85), ("http://two.test/", 0.85 * 0.85)]
    {
        let expected = (5.0 * share / sum).powf(0.7);
        let reported = bench.reported(url);
        assert!((reported / expected - 1.0).abs() < 0.03, "{url}: {reported}, and {expected} by its links");
    }
    for url in ["http://none.test/", "http://last.test/"] {
        assert!(bench.reported(url) < 0.06, "{url}: {}", bench.reported(url));
    }
}

#[test]
fn trust_is_given_and_taken_while_the_crawl_goes_on() {
    const LONELY: &str = "http://lonely.test/friend";
    const GOOD: &str = "http://good.test/1";
    let lonely = ("http://lonely.test/".to_owned(), vec![LONELY.to_owned()]);
    let all: Vec<_> = honest().into_iter().chain([lonely]).collect();
    let pagerank = ("ranker.importance", "pagerank");
    let mut bench = Bench::new(&[HOURLY, pagerank]);
    crawl(&mut bench, &all, 0..30);
    let (lonely, good) = (bench.reported(LONELY), bench.reported(GOOD));
    let is_about = |now: f64, before: f64| (now / before - 1.0).abs() < 0.25;
    bench.restart(&[HOURLY, pagerank, TRUSTED]);
    crawl(&mut bench, &all, 30..90);
    bench.check_cash();
    assert!(bench.reported(LONELY) < 0.2 * lonely, "{lonely} became {}", bench.reported(LONELY));
    assert!(is_about(bench.reported(GOOD), good), "{good} became {}", bench.reported(GOOD));
    // No page is trusted any more.
    bench.restart(&[HOURLY, pagerank]);
    crawl(&mut bench, &all, 90..120);
    bench.check_cash();
    assert!(is_about(bench.reported(LONELY), lonely), "{lonely} became {}", bench.reported(LONELY));
    assert!(is_about(bench.reported(GOOD), good), "{good} became {}", bench.reported(GOOD));
    assert!(bench.books().iter().all(|(_, _, totals)| totals.trusted_pages == 0));
}

#[test]
fn a_crawl_that_trusts_no_one_keeps_nothing_of_trust() {
    let mut bench = Bench::new(&[HOURLY]);
    crawl(&mut bench, &honest(), 0..5);
    assert_eq!(bench.cash()[1], 1.0);
    assert!(bench.pages().values().all(|page| page.trust == Default::default()));
    let purses: f64 = bench.books().iter().map(|(_, _, totals)| totals.trust_purse).sum();
    assert_eq!(purses, bench.books().len() as f64 / f64::from(crate::bench::PARTITIONS));
}
