//! Sitemaps and feeds through the detector, over a log in memory: what they say of other pages becomes listings and links.

mod bench;
mod links;

use bench::Bench;
use messages::{
    DateSource, Encoded, HintKind, ListedPage, PageChange, PageContent, PageDate, SiteListing, Verdict, body, topics,
};
use page::{CanonicalUrl, DAY, HOUR, Timestamp};
use std::time::Duration;

const SITEMAP: &str = "http://www.site.test/sitemap.xml";

fn page(path: &str) -> String {
    format!("http://www.site.test/{path}")
}

fn urlset(entries: &[(&str, Option<Timestamp>)]) -> Vec<u8> {
    let entry = |(url, date): &(&str, Option<Timestamp>)| {
        let date = date.map(|date| format!("<lastmod>{date}</lastmod>")).unwrap_or_default();
        format!("<url><loc>{url}</loc>{date}</url>")
    };
    format!("<urlset>{}</urlset>", entries.iter().map(entry).collect::<String>()).into_bytes()
}

#[test]
fn a_sitemap_reports_when_known_pages_of_its_site_changed_and_nothing_else() {
    let mut bench = Bench::new(&[]);
    bench.know("a");
    bench.know("b");
    bench.know("c");
    let (before, looked) = (bench.now() - DAY, bench.now());
    let file = urlset(&[
        (&page("a"), Some(looked + HOUR)),
        (&page("b"), Some(before)),
        (&page("b?utm_source=x"), Some(looked + HOUR)),
        (&page("c"), None),
        (&page("unknown"), Some(looked + HOUR)),
        ("http://other.test/c", Some(looked + HOUR)),
    ]);
    let first = bench.look(2 * HOUR, SITEMAP, "application/xml", &file);
    let said = |url: &str, at| ListedPage {
        url: CanonicalUrl::parse(&page(url)).unwrap(),
        changed_from: at,
        changed_until: at,
    };
    let list = CanonicalUrl::parse(SITEMAP).unwrap();
    let expected = SiteListing {
        list_page_id: list.page_id(),
        site_key: list.site_key(),
        kind: HintKind::Sitemap,
        read_at: bench.now(),
        previous_read_at: None,
        listed: 3,
        // The unknown page, since no links are followed.
        untaken: 1,
        is_first: true,
        is_last: true,
        // Also what was already known: it vouches for the page.
        pages: vec![said("a", looked + HOUR), said("b", before)],
    };
    assert_eq!((first.verdict, first.listings.as_slice()), (Verdict::First, &[expected][..]));
    assert_eq!(first.links, [], "nobody asked for links");
    assert_eq!((bench.figure(metrics::detector::HINTS), bench.figure(metrics::detector::FOREIGN_ENTRIES)), (1.0, 1.0));
}

#[test]
fn a_list_has_changed_when_it_says_something_new_and_says_it_once() {
    let mut bench = Bench::new(&[]);
    bench.know("a");
    let at = bench.now() + HOUR;
    let with_a = urlset(&[(&page("a"), Some(at))]);
    let undated = bench.look(2 * HOUR, SITEMAP, "text/xml", &urlset(&[(&page("a"), None)]));
    assert_eq!((undated.listings.len(), undated.listings[0].listed, undated.dated().len()), (1, 1, 0));
    let reported = bench.look(HOUR, SITEMAP, "text/xml", &with_a);
    assert_eq!((reported.verdict, reported.dated().len()), (Verdict::Minor, 1));
    assert_eq!(reported.listings[0].previous_read_at, Some(bench.now() - HOUR));
    // The same bytes: nothing was said, so nothing is repeated.
    let same = bench.look(HOUR, SITEMAP, "text/xml", &with_a);
    assert_eq!((same.verdict, same.listings.len(), same.links.len()), (Verdict::Unchanged, 0, 0));
    // The page is looked at: from then on the date is old, however the file is written.
    bench.know_again("a");
    let rewritten = [b"<?xml version='1.0'?>\n".as_slice(), &with_a].concat();
    let old = bench.look(HOUR, SITEMAP, "text/xml", &rewritten);
    assert_eq!((old.verdict, old.dated().len()), (Verdict::Cosmetic, 1));
}

impl Bench {
    fn know_again(&mut self, path: &str) {
        let content = format!("<p>Something else stands at {path} now, and it is as long as what was there before it.");
        self.look(HOUR, &page(path), "text/html", content.as_bytes());
    }
}

/// Items with title, link, description.
fn rss(build: usize, items: &[(&str, &str, &str)]) -> String {
    let item = |(title, link, text): &(&str, &str, &str)| {
        format!("<item><title>{title}</title><link>{link}</link><description>{text}</description></item>")
    };
    let items: String = items.iter().map(item).collect();
    format!(
        "<rss><channel><title>Status</title><lastBuildDate>{build}</lastBuildDate><pubDate>{build}</pubDate>{items}\
         </channel></rss>"
    )
}

#[test]
fn a_seeded_feed_reports_its_new_items_and_its_new_descriptions_but_not_when_it_was_built() {
    let mut bench = Bench::new(&[]);
    let feed = page("feed.xml");
    let one = ("Scheduled maintenance", "http://www.site.test/1", "Investigating");
    let two = ("Scheduled maintenance", "http://www.site.test/2", "Investigating");
    let three = ("Storage", "http://other.test/3", "Short");
    let resolved = ("Scheduled maintenance", "http://www.site.test/2", "Resolved");
    let looks: [(&[_], Verdict); 6] = [
        (&[one], Verdict::First),
        (&[one], Verdict::Cosmetic),
        (&[two, one], Verdict::Major),
        (&[three, two], Verdict::Major),
        (&[three, resolved], Verdict::Major),
        (&[three, resolved], Verdict::Cosmetic),
    ];
    for (build, (items, verdict)) in looks.iter().enumerate() {
        let seen = bench.look(HOUR, &feed, "application/rss+xml", rss(build, items).as_bytes());
        assert_eq!(seen.verdict, *verdict, "{build}");
    }
    let changes = bench.driver.contents(&bench.names.topic(topics::PAGE_CHANGES)).unwrap();
    let changes: Vec<_> =
        changes.iter().map(|change| PageChange::decode(change.value.as_deref().unwrap()).unwrap()).collect();
    assert_eq!(changes.len(), 4);
    assert!(changes[3].added.iter().any(|added| added.contains("Resolved")), "{:?}", changes[3]);
    let copies = bench.driver.contents(&bench.names.topic(topics::PAGE_CONTENTS)).unwrap();
    let copy = PageContent::decode(copies.last().unwrap().value.as_deref().unwrap()).unwrap();
    let copy = String::from_utf8(body::unpack(&copy.content, 1 << 20).unwrap().into_owned()).unwrap();
    assert!(copy.contains("Resolved"), "{copy}");
}

#[test]
fn a_seeded_sitemap_reports_the_pages_that_come_and_go_but_not_their_dates() {
    let mut bench = Bench::new(&[]);
    let date = bench.now();
    let files = [
        (urlset(&[(&page("a"), None)]), Verdict::First),
        (urlset(&[(&page("a"), Some(date))]), Verdict::Cosmetic),
        (urlset(&[(&page("a"), Some(date)), (&page("b"), None)]), Verdict::Major),
        (urlset(&[(&page("b"), None)]), Verdict::Major),
    ];
    for (file, verdict) in files {
        assert_eq!(bench.look(HOUR, SITEMAP, "text/xml", &file).verdict, verdict);
    }
}

#[test]
fn other_xml_is_reported_by_the_values_of_its_elements_and_attributes_whenever_they_change() {
    let mut bench = Bench::new(&[]);
    let file =
        |rate: &str, state: &str| format!("<bank><Cube currency='USD' rate='{rate}'/><state>{state}</state></bank>");
    let looks = [("1.08", "open"), ("1.08", "closed"), ("1.08", "open"), ("1.08", "closed"), ("1.09", "closed")];
    for (number, (rate, state)) in looks.into_iter().enumerate() {
        let seen = bench.look(HOUR, &page("rates.xml"), "text/xml", file(rate, state).as_bytes());
        let is_reported = matches!(seen.verdict, Verdict::Minor | Verdict::Major);
        assert_eq!(is_reported, number > 0, "{rate} {state}: {:?}", seen.verdict);
    }
    let gone = bench.look(HOUR, &page("rates.xml"), "text/xml", b"<bank><state>closed</state></bank>");
    assert_eq!(gone.verdict, Verdict::Major, "an element that is removed");
}

#[test]
fn a_day_without_a_time_is_open_until_it_is_over_everywhere_and_a_far_future_is_no_date() {
    let mut bench = Bench::new(&[]);
    ["a", "b", "c"].into_iter().for_each(|path| bench.know(path));
    let midnight = Timestamp::from_secs(bench.now().as_secs() / 86_400 * 86_400);
    let day = midnight.to_string()[..10].to_owned();
    let (ahead, far) = (bench.now() + DAY + HOUR, bench.now() + 300 * DAY);
    let entry = |path: &str, date: &str| format!("<url><loc>{}</loc><lastmod>{date}</lastmod></url>", page(path));
    let file = [entry("a", &day), entry("b", &ahead.to_string()), entry("c", &far.to_string())].concat();
    let seen = bench.look(HOUR, SITEMAP, "text/xml", format!("<urlset>{file}</urlset>").as_bytes());
    let dates: Vec<_> = seen.pages().map(|page| (page.changed_from, page.changed_until)).collect();
    assert_eq!(dates, [(midnight, midnight + DAY + 12 * HOUR), (bench.now(), bench.now())]);
}

#[test]
fn the_date_that_a_list_gives_comes_with_the_next_look_at_the_page() {
    let mut bench = Bench::new(&[]);
    bench.know("a");
    bench.know("b");
    let at = bench.now() + HOUR;
    bench.look(2 * HOUR, SITEMAP, "text/xml", &urlset(&[(&page("a"), Some(at))]));
    // Another change before the look: it is the last that counts.
    bench.look(HOUR, SITEMAP, "text/xml", &urlset(&[(&page("a"), Some(at + HOUR))]));
    let dates = |bench: &Bench| bench.observations().last().unwrap().judgement.dates.clone();
    bench.know_again("b");
    assert_eq!(dates(&bench), []);
    bench.know_again("a");
    assert_eq!(dates(&bench), [PageDate { source: DateSource::Listed, at: at + HOUR }]);
}

#[test]
fn a_long_list_is_reported_whole_in_several_records() {
    let mut bench = Bench::new(&[]);
    let paths: Vec<String> = (0..1_003).map(|number| format!("p{number}")).collect();
    bench.know_all(&paths);
    let looked = bench.now();
    let urls: Vec<_> = paths.iter().map(|path| page(path)).collect();
    let date = |number: usize| Some(looked + Duration::from_secs(number as u64 + 1));
    let entries: Vec<_> = urls.iter().enumerate().map(|(number, url)| (url.as_str(), date(number))).collect();
    let seen = bench.look(DAY, SITEMAP, "text/xml", &urlset(&entries));
    let records: Vec<_> =
        seen.listings.iter().map(|listing| (listing.is_first, listing.is_last, listing.pages.len())).collect();
    assert_eq!(records, [(true, false, 1_000), (false, true, 3)]);
    assert_eq!(
        (seen.dated(), bench.figure(metrics::detector::HINTS)),
        (urls.iter().map(String::as_str).collect(), 1_003.0)
    );
}

#[test]
fn feeds_of_all_kinds_and_packed_sitemaps_are_received() {
    let mut bench = Bench::new(&[]);
    bench.know("a");
    let date = bench.now() + HOUR;
    let url = page("a");
    let rfc_2822 = "Tue, 14 Nov 2023 23:13:20 GMT";
    let atom = format!("<feed><entry><link href='{url}'/><updated>{date}</updated></entry></feed>");
    let rss = format!("<rss><channel><item><link>{url}</link><pubDate>{rfc_2822}</pubDate></item></channel></rss>");
    let json = format!(
        "{{\"version\": \"https://jsonfeed.org/version/1.1\", \"items\": [{{\"url\": \"{url}\", \
         \"date_modified\": \"{date}\"}}]}}"
    );
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packed, &urlset(&[(&url, Some(date))])).unwrap();
    let packed = packed.finish().unwrap();
    for (name, media_type, content, kind) in [
        ("atom", "application/atom+xml", atom.as_bytes(), HintKind::Feed),
        ("rss", "application/rss+xml", rss.as_bytes(), HintKind::Feed),
        ("json", "application/feed+json", json.as_bytes(), HintKind::Feed),
        ("map.gz", "application/gzip", &packed, HintKind::Sitemap),
    ] {
        let seen = bench.look(2 * HOUR, &page(name), media_type, content);
        assert_eq!((seen.dated(), seen.listings[0].kind), (vec![url.as_str()], kind), "{name}");
        assert_eq!(seen.pages().next().map(|page| page.changed_until), Some(date), "{name}");
    }
}

#[test]
fn lists_that_are_not_asked_for_are_pages_and_so_are_texts_that_only_look_like_lists() {
    let mut bench = Bench::new(&[("hints.sitemaps", "false")]);
    bench.know("a");
    let file = urlset(&[(&page("a"), Some(bench.now() + HOUR))]);
    let seen = bench.look(2 * HOUR, SITEMAP, "text/xml", &file);
    assert!(seen.listings.is_empty() && seen.links.is_empty(), "{seen:?}");
    let mut bench = Bench::new(&[("crawl.discover", "same-host")]);
    for (media_type, content) in [
        ("text/plain", "http://www.site.test/x\nis where it all began, many years ago.\n"),
        ("application/json", "{\"items\": [{\"url\": \"http://www.site.test/x\"}]}"),
        ("text/xml", "<report><url><loc>http://www.site.test/x</loc></url></report>"),
    ] {
        let seen = bench.look(HOUR, &page(media_type), media_type, content.as_bytes());
        assert!(seen.listings.is_empty(), "{media_type}: {seen:?}");
    }
}
