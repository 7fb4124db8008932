//! Which links of a page the ranker receives.

use messages::{Encoded, FetchOutcome, FetchRequest, FetchResult, Look, PageOutLinks, RankerEvent, body, topics};
use page::{CanonicalUrl, HOUR, Timestamp};
use settings::{Layers, Settings};
use stream_testing::TestDriver;
use topology::LogNames;

const URL: &str = "http://www.site.test/";

struct Bench {
    driver: TestDriver,
    names: LogNames,
    attempts: i64,
}

impl Bench {
    fn new(file: &str, overrides: &[(&str, &str)]) -> Self {
        let overrides: Vec<_> = overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        let layers = Layers { files: &[("recrawl.toml", file)], environment: [], overrides: &overrides };
        let settings = Settings::from_layers(layers).unwrap();
        let names = LogNames::new(&settings);
        let start = Timestamp::from_secs(1_700_000_000);
        let mut driver = TestDriver::new(&topology::topic_configs(&settings, &[detector::topology()], 1), start);
        driver.add(detector::stage(&settings, &names, 1, messages::ChangeForm::Avro), "one");
        Self { driver, names, attempts: 0 }
    }

    /// A look that finds this page. Returns all links that the ranker has received so far.
    fn look(&mut self, url: &str, html: &str) -> Vec<PageOutLinks> {
        self.look_at(url, html, |_| {})
    }

    /// A look whose result is changed before it is sent. Returns what the ranker receives from it.
    fn look_with(&mut self, url: &str, html: &str, change: impl FnOnce(&mut FetchResult)) -> PageOutLinks {
        self.look_at(url, html, change).pop().unwrap()
    }

    fn look_at(&mut self, url: &str, html: &str, change: impl FnOnce(&mut FetchResult)) -> Vec<PageOutLinks> {
        self.driver.clock.advance(HOUR);
        self.attempts += 1;
        let now = stream::Clock::now(&*self.driver.clock);
        let request = FetchRequest { attempt: self.attempts, ..FetchRequest::first(url_of(url), now) };
        let mut look = Look::new(request, FetchOutcome::Fetched, now);
        look.validators.content_digest = Some(messages::Digest::of(html.as_bytes()));
        let body = body::pack(html.as_bytes(), body::Packing::None);
        let content_type = Some("text/html".to_owned());
        let mut result = FetchResult { body: Some(body), content_type, ..FetchResult::new(look) };
        change(&mut result);
        let topic = self.names.topic(topics::FETCH_RESULTS);
        self.driver.send(&topic, b"site.test", result.encode()).unwrap();
        self.driver.run_until_idle().unwrap();
        let records = self.driver.contents(&self.names.topic(topics::RANKER_EVENTS)).unwrap();
        let links = |value: Option<&[u8]>| match RankerEvent::decode(value.unwrap()).unwrap() {
            RankerEvent::Links(links) => links,
            other => panic!("the detector said {other:?}"),
        };
        records.iter().map(|record| links(record.value.as_deref())).collect()
    }
}

fn url_of(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text).unwrap()
}

fn targets(links: &PageOutLinks) -> Vec<&str> {
    links.links.iter().map(|link| link.url.as_str()).collect()
}

const LINKING: &str = "<p>A sentence that is long enough to be reported.</p> \
    <a href=\"/a?utm_source=x\">A</a> <a href=\"http://blog.site.test/b#c\">B</a> <a href=\"/a#d\">again</a> \
    <a href=\"/\">self</a> <a href=\"http://other.test/o\">away</a> <a rel=\"nofollow\" href=\"/secret\">no</a> \
    <a href=\"/a/a/a/a/a/a\">trap</a> <a href=\"/cart/1\">cart</a>";

#[test]
fn links_are_reported_as_far_as_the_operator_wants_them_followed_and_when_they_are_news() {
    let check = |discover: &str, expected: &[&str]| {
        let mut bench =
            Bench::new("[[rules]]\npages = [\"*/cart/*\"]\ncrawl = \"deny\"\n", &[("crawl.discover", discover)]);
        bench.look(URL, LINKING);
        let received = bench.look(URL, LINKING);
        let found: Vec<_> = received.iter().map(targets).collect();
        assert_eq!(found, if expected.is_empty() { vec![] } else { vec![expected.to_vec()] }, "{discover}");
    };
    let (own, blog, other) = ("http://www.site.test/a", "http://blog.site.test/b", "http://other.test/o");
    check("none", &[]);
    check("same-host", &[own]);
    check("same-site", &[blog, own]);
    check("anywhere", &[blog, other, own]);
}

/// No stage after this one keeps an account of such addresses, which a site can invent without end.
#[test]
fn a_link_of_which_the_rule_is_unknown_goes_no_further_and_is_counted() {
    let rules = "[[rules]]\npages = ['regex:/((a|aa)+(?<!q))+/secret$']\ncrawl = \"deny\"\n";
    let mut bench = Bench::new(rules, &[("crawl.discover", "same-site")]);
    let unknown = format!("/{}!/aaaa/secret", "a".repeat(60));
    let page = format!("<p>Some words that are read here.</p><a href='{unknown}'>A</a> <a href=/aaaa/public>B</a>");
    assert_eq!(targets(&bench.look(URL, &page)[0]), ["http://www.site.test/aaaa/public"]);
    bench.driver.clock.advance(HOUR);
    bench.driver.run_until_idle().unwrap();
    assert_eq!(bench.driver.status(0).figures[metrics::detector::UNDECIDED_LINKS], 1.0);
}

#[test]
fn a_page_that_is_not_to_be_followed_or_is_a_copy_says_so() {
    let mut bench = Bench::new("", &[("crawl.discover", "same-site")]);
    let page = |head: &str| format!("<head>{head}</head><p>Some words that are read here.</p><a href=/a>A</a>");
    let received = bench.look(URL, &page(""));
    assert!(received[0].is_first_look && !received[0].is_unwanted);
    assert_eq!(targets(&received[0]), ["http://www.site.test/a"]);
    bench.look("http://www.site.test/real", &page("<title>real</title>"));
    let received = bench.look("http://www.site.test/copy", &page("<link rel=canonical href=\"/real\">"));
    assert!(received[2].is_unwanted);
    assert_eq!(targets(&received[2]), ["http://www.site.test/a", "http://www.site.test/real"]);
    let received = bench.look("http://www.site.test/own", &page("<link rel=canonical href=\"/own\">"));
    assert!(!received[3].is_unwanted, "most pages name themselves");
    let received = bench.look("http://www.site.test/no", &page("<meta name=robots content=\"noindex\">"));
    assert!(received[4].is_unwanted && targets(&received[4]).len() == 1);
    let received = bench.look("http://www.site.test/none", &page("<meta name=robots content=\"none\">"));
    assert!(received[5].is_unwanted && targets(&received[5]).is_empty());
}

#[test]
fn a_canonical_that_is_unknown_or_leads_back_makes_no_copy_and_takes_no_links() {
    let mut bench = Bench::new("", &[("crawl.discover", "same-site")]);
    let page = |canonical: &str, link: &str| {
        format!(
            "<link rel=canonical href=\"{canonical}\"><p>The words of {link} are read here.</p><a href={link}>x</a>"
        )
    };
    let mut look = |path: &str, html: &str| bench.look(&format!("http://www.site.test{path}"), html).pop().unwrap();
    let check = |received: &PageOutLinks, is_copy: bool, link: &str| {
        assert_eq!(received.is_unwanted, is_copy, "{link}");
        assert!(targets(received).contains(&format!("http://www.site.test{link}").as_str()), "{link}");
    };
    check(&look("/front", &page("/b", "/x")), false, "/x");
    check(&look("/b", &page("/front", "/y")), true, "/y");
    check(&look("/front", &page("/b", "/x2")), false, "/x2");
    check(&look("/c", &page("/b", "/z")), true, "/z");
    check(&look("/front", &page("/c", "/x3")), false, "/x3");
    check(&look("/elsewhere", &page("http://www.other.test/", "/v")), false, "/v");
    check(&look("/never", &page("/gone", "/w")), false, "/w");
}

#[test]
fn headers_say_what_the_elements_of_a_page_say() {
    let mut bench = Bench::new("", &[("crawl.discover", "same-site")]);
    let list = |statement: &str| vec![statement.to_owned()];
    let html = "<p>Words that are read here.</p><a href=/a>A</a>";
    let seen = bench.look_with(URL, html, |result| result.preferences = list("follow=n@x-robots-tag"));
    assert!(targets(&seen).is_empty() && !seen.is_unwanted);
    let seen =
        bench.look_with("http://www.site.test/1", html, |result| result.preferences = list("index=n@x-robots-tag"));
    assert!(!targets(&seen).is_empty() && seen.is_unwanted);
    let seen =
        bench.look_with("http://www.site.test/2", html, |result| result.refresh = Some("0; url=/new".to_owned()));
    assert_eq!(targets(&seen), ["http://www.site.test/a", "http://www.site.test/new"]);
}

#[test]
fn the_query_of_a_link_is_in_the_encoding_of_its_page() {
    let mut bench = Bench::new("", &[("crawl.discover", "same-site")]);
    let html = "<meta charset=iso-8859-1><p>Words that are read here.</p><a href='/b&eacute;?q=&eacute;'>A</a>";
    let seen = bench.look_with(URL, html, |_| {});
    assert_eq!(targets(&seen), ["http://www.site.test/b%C3%A9?q=%E9"]);
}

#[test]
fn pages_that_differ_in_numbers_alone_have_one_text_hash() {
    let mut bench = Bench::new("", &[("crawl.discover", "same-site")]);
    let day = |number: u32| format!("<p>Nothing happens on day {number}.</p><a href=/day/{}>next</a>", number + 1);
    bench.look("http://www.site.test/day/1", &day(1));
    let received = bench.look("http://www.site.test/day/2", &day(2));
    assert_eq!(received[0].text_hash, received[1].text_hash);
    let received = bench.look("http://www.site.test/about", "<p>Something else altogether.</p>");
    assert_ne!(received[0].text_hash, received[2].text_hash);
}
