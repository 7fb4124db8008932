//! How pages become known.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod bench;

use bench::{Bench, URL, urls};
use messages::{Link, PageLinks, SchedulerEvent};
use page::{CanonicalUrl, MINUTE, Timestamp};

fn links(source: &str, targets: &[&str], now: Timestamp) -> SchedulerEvent {
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
