//! How pages become known.

use crate::bench::{Bench, URL, urls};
use messages::{CommandKind, Link, PageLinks, RankedPage, RankedPages, SchedulerEvent, Verdict};
use page::{CanonicalUrl, MINUTE, Timestamp};

pub(crate) fn links(source: &str, targets: &[&str], now: Timestamp) -> SchedulerEvent {
    let source_url = CanonicalUrl::parse(source).unwrap();
    let link =
        |target: &&str| Link { url: source_url.join(target).unwrap(), anchor: String::new(), rel: String::new() };
    SchedulerEvent::Links(PageLinks {
        source_page_id: source_url.page_id(),
        target_site: source_url.site_key(),
        found_at: now,
        links: targets.iter().map(link).collect(),
        source_url,
    })
}

#[test]
fn links_become_pages_as_far_as_the_settings_reach() {
    let check = |overrides: &[(&str, &str)], expected: &[&str]| {
        let mut bench = Bench::new(&[&[("policy.lease_timeout", "1h")], overrides].concat());
        bench.seed(URL);
        let now = bench.now();
        bench.send("site.test", &links(URL, &["/1", "/2", "http://b.site.test/3", "/1"], now));
        bench.send("site.test", &links("http://a.site.test/1", &["/4"], now));
        bench.send("site.test", &links("http://a.site.test/unknown", &["/5"], now));
        let requests = bench.wait(MINUTE);
        assert_eq!(urls(&requests), expected.iter().copied().collect(), "{overrides:?}");
        assert_eq!(requests.len(), expected.len(), "each once: {overrides:?}");
        assert_eq!(bench.pages(), expected.len());
    };
    let (one, two, three) = ("http://a.site.test/1", "http://a.site.test/2", "http://b.site.test/3");
    let four = "http://a.site.test/4";
    check(&[("crawl.discover", "none")], &[URL]);
    check(&[("crawl.discover", "same-host")], &[URL, one, two, four]);
    check(&[("crawl.discover", "same-site")], &[URL, one, two, three, four]);
    check(&[("crawl.discover", "same-site"), ("crawl.max_depth", "1")], &[URL, one, two, three]);
    check(&[("crawl.discover", "same-site"), ("crawl.max_depth", "0")], &[URL]);
    check(&[("crawl.discover", "same-site"), ("crawl.max_pages", "2")], &[URL, one]);
}

#[test]
fn lists_become_pages_by_being_named_if_the_settings_say_so() {
    let check = |overrides: &[(&str, &str)], expected: &[&str]| {
        let mut bench = Bench::new(&[&[("policy.lease_timeout", "1h")], overrides].concat());
        bench.seed(URL);
        let SchedulerEvent::Links(mut named) = links(URL, &["/1", "/map.xml", "/feed.xml"], bench.now()) else {
            unreachable!("links are links");
        };
        named.links[1].rel = "sitemap".to_owned();
        named.links[2].rel = "alternate".to_owned();
        bench.send("site.test", &SchedulerEvent::Links(named));
        assert_eq!(urls(&bench.wait(MINUTE)), expected.iter().copied().collect(), "{overrides:?}");
    };
    let (map, feed) = ("http://a.site.test/map.xml", "http://a.site.test/feed.xml");
    check(&[("hints.discover", "false")], &[URL]);
    check(&[], &[URL, map, feed]);
    check(&[("crawl.max_depth", "0")], &[URL]);
    check(&[("crawl.discover", "same-host")], &[URL, "http://a.site.test/1", map, feed]);
}

/// Pages that the links of a page lead to, as the ranker sends them.
pub(crate) fn ranked(source: &str, pages: &[(&str, i32, f64)], is_news: bool, now: Timestamp) -> SchedulerEvent {
    let source = CanonicalUrl::parse(source).unwrap();
    let page = |(url, depth, importance): &(&str, i32, f64)| RankedPage {
        url: CanonicalUrl::parse(url).unwrap(),
        depth: *depth,
        importance: *importance,
    };
    SchedulerEvent::Ranked(RankedPages {
        site_key: CanonicalUrl::parse(pages[0].0).unwrap().site_key(),
        source_page_id: Some(source.page_id()),
        source_site: Some(source.site_key()),
        found_at: now,
        is_news,
        pages: pages.iter().map(page).collect(),
    })
}

#[test]
fn what_the_ranker_finds_becomes_pages_with_the_weight_of_their_links() {
    let overrides = [("policy.lease_timeout", "1h"), ("crawl.discover", "anywhere"), ("crawl.max_depth", "2")];
    let mut bench = Bench::new(&overrides);
    bench.seed(URL);
    let (one, two, deep) = ("http://a.site.test/1", "http://a.site.test/2", "http://a.site.test/3");
    let now = bench.now();
    let found = [(one, 1, 0.5), (two, 2, 3.0), (deep, 3, 9.0), ("http://a.site.test/forgotten", 0, 1.0)];
    bench.send("site.test", &ranked("http://b.other.test/", &found, true, now));
    assert_eq!(bench.pages(), 3, "neither what is too deep nor what may be a seed that was forgotten");
    assert_eq!((bench.page(one).unwrap().importance, bench.page(two).unwrap().depth), (0.5, 2));
    bench.send("site.test", &ranked(URL, &[(one, 1, 4.0), (URL, 0, 2.0)], false, now));
    assert_eq!((bench.page(one).unwrap().importance, bench.page(URL).unwrap().importance), (4.0, 2.0));
    let explained = bench.explained(one, Some(1.0));
    assert_eq!((explained.weight, &*explained.weight_from), (4.0, "links"));
    // A weight that somebody gives stands above.
    bench.command(CommandKind::Seed, one, 7.0);
    let explained = bench.explained(one, Some(1.0));
    assert_eq!((explained.weight, &*explained.weight_from, explained.importance), (7.0, "seed", 4.0));
    bench.crash();
    assert_eq!(bench.explained(one, Some(1.0)).weight, 7.0);
}

#[test]
fn a_page_that_goes_on_to_show_new_pages_is_worth_more_looks() {
    let mut bench = Bench::new(&[("crawl.discover", "anywhere"), ("policy.scan_interval", "1m")]);
    bench.seed(URL);
    for request in bench.wait(2 * MINUTE) {
        let seen = crate::bench::looked(&request, 0.05);
        bench.answer(crate::bench::edited(seen, |it| it.judgement.verdict = Verdict::First));
    }
    let now = bench.now();
    bench.send("site.test", &ranked(URL, &[("http://a.site.test/1", 1, 1.0)], false, now));
    assert_eq!(bench.page(URL).unwrap().list_news, 0.0, "what its first look shows is old");
    let more = [("http://a.site.test/1", 1, 1.0), ("http://a.site.test/2", 1, 1.0), ("http://a.site.test/3", 1, 1.0)];
    bench.send("site.test", &ranked(URL, &more, true, now));
    assert_eq!(bench.page(URL).unwrap().list_news, 2.0);
}
