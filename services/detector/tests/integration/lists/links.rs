//! Unknown pages in lists, and lists that pages name, become links.

use crate::lists::bench::Bench;
use crate::lists::{SITEMAP, page};
use messages::Verdict;
use page::HOUR;

#[test]
fn what_is_new_in_a_list_is_a_link_where_links_are_followed() {
    let mut bench = Bench::new(&[("crawl.discover", "same-host")]);
    bench.know("a");
    let text = format!("{}\n{}\nhttp://other.test/c\n", page("a"), page("b"));
    let seen = bench.look(HOUR, &page("list.txt"), "text/plain", text.as_bytes());
    assert_eq!((seen.linked(), seen.dated().len()), (vec![(page("b").as_str(), "")], 0), "undated entries only link");
    // One more: the list has changed, though it has no dates.
    let more = format!("{text}{}\n", page("d"));
    let seen = bench.look(HOUR, &page("list.txt"), "text/plain", more.as_bytes());
    assert_eq!(seen.verdict, Verdict::Major, "one of four lines is new");
    assert_eq!(seen.linked(), [(page("b").as_str(), ""), (page("d").as_str(), "")]);
}

#[test]
fn many_new_pages_come_in_several_records() {
    let mut bench = Bench::new(&[("crawl.discover", "same-site")]);
    let text: String = (0..12_000).map(|number| format!("{}\n", page(&number.to_string()))).collect();
    let seen = bench.look(HOUR, SITEMAP, "text/plain", text.as_bytes());
    let lengths: Vec<_> = seen.links.iter().map(|links| links.links.len()).collect();
    assert_eq!(lengths, [1_000; 12], "all of them: the same list is not read again");
    let seen = bench.look(HOUR, SITEMAP, "text/plain", text.as_bytes());
    assert!(seen.links.is_empty());
}

#[test]
fn relative_addresses_take_little_more_room_than_the_list() {
    let mut bench = Bench::new(&[("crawl.discover", "same-site")]);
    let list = page(&format!("{}/list.xml", "x".repeat(1_900)));
    let entries: String = (0..5_000).map(|number| format!("<url><loc>{number}</loc></url>")).collect();
    let seen = bench.look(HOUR, &list, "text/xml", format!("<urlset>{entries}</urlset>").as_bytes());
    let bytes: usize = seen.linked().iter().map(|(url, _)| url.len()).sum();
    assert!(bytes < entries.len() + (1 << 20) + 20, "{bytes}");
    assert_eq!(bench.figure(metrics::detector::LINKS_LEFT_OUT), (5_000 - seen.linked().len()) as f64);
}

#[test]
fn entries_of_a_feed_are_relative_to_its_base_and_an_index_may_have_a_prefix_and_pages() {
    let mut bench = Bench::new(&[("crawl.discover", "same-site")]);
    let feed = format!("<feed xml:base='{}'><entry xml:base='2026/'><link href=one /></entry></feed>", page("blog/"));
    let seen = bench.look(HOUR, &page("feed"), "text/xml", feed.replace("=one", "='one'").as_bytes());
    assert_eq!(seen.linked(), [(page("blog/2026/one").as_str(), "")]);
    let index = "<s:sitemapindex><s:url><s:loc>/home</s:loc></s:url><s:sitemap><s:loc>/1.xml</s:loc></s:sitemap></s:sitemapindex>";
    let seen = bench.look(HOUR, &page("index.xml"), "text/xml", index.as_bytes());
    assert_eq!(seen.linked(), [(page("home").as_str(), ""), (page("1.xml").as_str(), "index")]);
    let mut bench = Bench::new(&[]);
    let seen = bench.look(HOUR, &page("index.xml"), "text/xml", index.as_bytes());
    assert_eq!(seen.linked(), [(page("1.xml").as_str(), "index")], "only lists are followed");
}

#[test]
fn lists_that_pages_robots_txt_and_indexes_name_are_links_when_lists_are_discovered() {
    let index = b"<sitemapindex><sitemap><loc>/one.xml</loc></sitemap></sitemapindex>";
    let html = "<link rel=alternate type=application/rss+xml href=feed.xml><p><a href=/other>other</a>";
    let sitemaps = [SITEMAP, "http://other.test/sitemap.xml", "no address"].map(str::to_owned);
    let check = |overrides: &[(&str, &str)], expected: [&[(&str, &str)]; 3]| {
        let mut bench = Bench::new(overrides);
        let mut result = bench.result(&page("a"), "text/html", b"<p>One sentence that is long enough to be one.");
        result.sitemaps = sitemaps.to_vec();
        assert_eq!(bench.send(&result).linked(), expected[0], "robots.txt, {overrides:?}");
        let seen = bench.look(HOUR, &page(""), "text/html", html.as_bytes());
        assert_eq!(seen.linked(), expected[1], "a front page, {overrides:?}");
        // Every post of a blog may name the feed of its comments.
        let seen = bench.look(HOUR, &page("b"), "text/html", html.as_bytes());
        let followed = overrides.contains(&("crawl.discover", "same-host"));
        assert_eq!(seen.linked(), if followed { expected[1] } else { &[] }, "another page, {overrides:?}");
        let seen = bench.look(HOUR, &page("index.xml"), "text/xml", index);
        assert_eq!(seen.linked(), expected[2], "an index, {overrides:?}");
    };
    let (feed, one) = (page("feed.xml"), page("one.xml"));
    check(&[("hints.discover", "false")], [&[], &[], &[]]);
    check(&[], [&[(SITEMAP, "sitemap")], &[(&feed, "alternate")], &[(&one, "index")]]);
    let named: [&[_]; 3] = [&[(SITEMAP, "sitemap")], &[(&feed, "alternate")], &[(&one, "index")]];
    check(&[("crawl.discover", "same-host")], named);
    check(&[("hints.feeds", "false")], [&[(SITEMAP, "sitemap")], &[], &[(&one, "index")]]);
}
