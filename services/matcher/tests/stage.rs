//! The matcher as a stage over a log in memory: copies receive messages about each other, wherever they live.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

use chance::splitmix64;
use change::ShingleSet;
use messages::{Band, DeadLetter, Encoded, MirrorMessage, MirrorSaying, PageBand, SchedulerEvent, topics};
use mirrors::{LinkSketch, MirrorSketch, TextSketch};
use page::{CanonicalUrl, DAY, Timestamp};
use settings::Settings;
use std::collections::BTreeMap;
use std::ops::Range;
use stream_testing::{MemoryStores, TestDriver};
use topology::LogNames;

struct Bench {
    driver: TestDriver,
    names: LogNames,
    /// The last sketch of each page, by address.
    said: BTreeMap<&'static str, MirrorSketch>,
    /// Number of messages read.
    read: usize,
}

impl Bench {
    fn new() -> Self {
        Self::of(Settings::default())
    }

    /// A matcher that compares links, too.
    fn by_links() -> Self {
        let mut settings = Settings::default();
        settings.detector.mirror_links = Some(0.8);
        Self::of(settings)
    }

    fn of(settings: Settings) -> Self {
        let names = LogNames::new(&settings);
        let mut driver = TestDriver::new(
            &topology::topic_configs(&settings, &[matcher::topology()], 4),
            Timestamp::from_secs(1_700_000_000),
        );
        driver.add(matcher::stage(&settings, &names), "one");
        Self { driver, names, said: BTreeMap::new(), read: 0 }
    }

    fn now(&self) -> Timestamp {
        stream::Clock::now(&*self.driver.clock)
    }

    /// A day later a page has this text, given as numbered shingles, and its bands are sent as the detector does.
    fn say(&mut self, url: &'static str, text: Range<u64>) {
        self.show(url, text, 0..0);
    }

    /// As above, with these links, given as numbers.
    fn show(&mut self, url: &'static str, text: Range<u64>, links: Range<u64>) {
        self.driver.clock.advance(DAY);
        let page = CanonicalUrl::parse(url).unwrap();
        let text = TextSketch::of(&ShingleSet::from_hashes(
            &text.map(|number| (splitmix64(number) >> 32) as u32).collect::<Vec<_>>(),
        ));
        let sketch = MirrorSketch::new(text, LinkSketch::of(links.map(splitmix64)));
        let before = self.said.remove(url);
        let (old, new) = (before.map(|old| old.bands()).unwrap_or_default(), sketch.as_ref().map(MirrorSketch::bands));
        let new = new.unwrap_or_default();
        let topic = self.names.topic(topics::PAGE_BANDS);
        let send = |band: mirrors::BandKey, sketch| {
            let (page_id, host, version_at) = (page.page_id(), page.host(), self.now());
            let record = PageBand { band: Band(band), page_id, host, version_at, sketch };
            self.driver.send(&topic, &band, record.encode()).unwrap();
        };
        old.into_iter().filter(|band| !new.contains(band)).for_each(|band| send(band, None));
        new.iter().for_each(|band| send(*band, sketch.as_ref().map(MirrorSketch::encode)));
        self.said.extend(sketch.map(|sketch| (url, sketch)));
    }

    /// Messages since the last call, with the addresses of the pages that they are to and about.
    fn messages(&mut self) -> Vec<MirrorMessage> {
        self.driver.run_until_idle().unwrap();
        let all = self.driver.contents(&self.names.topic(topics::SCHEDULER_EVENTS)).unwrap();
        let records = all.into_iter().skip(self.read);
        let message = |value: Option<&[u8]>| match SchedulerEvent::decode(value.unwrap()).unwrap() {
            SchedulerEvent::Message(message) => message,
            other => panic!("the matcher said {other:?}"),
        };
        let messages: Vec<_> = records.map(|record| message(record.value.as_deref())).collect();
        self.read += messages.len();
        messages
    }
}

#[test]
fn pages_of_other_sites_meet_in_one_batch() {
    let mut bench = Bench::new();
    bench.say("http://a.example/", 0..100);
    let first = bench.now();
    bench.say("http://b.test/", 0..100);
    let messages = bench.messages();
    let id = |url| CanonicalUrl::parse(url).unwrap().page_id();
    assert_eq!(messages.len(), 1, "{messages:?}");
    let message = &messages[0];
    assert_eq!((message.to, message.about), (id("http://b.test/"), id("http://a.example/")));
    assert_eq!((message.about_site.as_str(), message.saying), ("a.example", MirrorSaying::Candidate));
    assert_eq!((message.version_at, message.of_version_at), (Some(bench.now()), Some(first)));
}

#[test]
fn pages_are_found_again_after_a_restart_with_an_empty_disk() {
    let mut bench = Bench::new();
    bench.say("http://a.example/", 0..100);
    assert!(bench.messages().is_empty());
    bench.driver.kill(0);
    bench.driver.stores = MemoryStores::default();
    bench.driver.add(matcher::stage(&Settings::default(), &bench.names), "one");
    bench.say("http://b.test/", 0..97);
    assert_eq!(bench.messages().len(), 1);
}

#[test]
fn a_page_is_not_found_by_what_it_no_longer_says() {
    let mut bench = Bench::new();
    bench.say("http://a.example/", 0..100);
    bench.say("http://a.example/", 1_000..1_100);
    bench.say("http://b.test/", 0..100);
    assert!(bench.messages().is_empty());
    bench.say("http://c.test/", 1_000..1_100);
    assert_eq!(bench.messages().len(), 1);
}

#[test]
fn short_texts_and_templates_of_one_host_are_no_mirrors() {
    let mut bench = Bench::new();
    bench.say("http://a.example/1", 0..20);
    bench.say("http://b.test/", 0..20);
    bench.say("http://a.example/2", 0..100);
    bench.say("http://a.example/3", 0..90);
    assert!(bench.messages().is_empty());
    bench.say("http://a.example/4", 0..100);
    assert_eq!(bench.messages().len(), 1);
}

#[test]
fn a_copy_with_another_name_is_found_by_its_links_and_another_page_of_the_template_is_not() {
    let show = |mut bench: Bench| {
        bench.show("http://a.example/", 0..300, 0..40);
        bench.show("http://a.example/other", 1_000..1_300, 0..40);
        bench.show("http://b.test/", 0..200, 0..40);
        bench.messages()
    };
    assert!(show(Bench::new()).is_empty(), "a third of the text is missing");
    let messages = show(Bench::by_links());
    let id = |url| CanonicalUrl::parse(url).unwrap().page_id();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_eq!((messages[0].to, messages[0].about), (id("http://b.test/"), id("http://a.example/")));
}

#[test]
fn a_page_is_not_found_by_links_that_it_no_longer_has() {
    let mut bench = Bench::by_links();
    bench.show("http://a.example/", 0..300, 0..40);
    bench.show("http://a.example/", 0..300, 100..140);
    bench.show("http://b.test/", 0..200, 0..40);
    assert!(bench.messages().is_empty());
    bench.show("http://c.test/", 100..300, 100..140);
    assert_eq!(bench.messages().len(), 1);
}

#[test]
fn what_is_no_band_is_set_aside_with_the_reason() {
    let mut bench = Bench::new();
    let page = CanonicalUrl::parse("http://a.example/").unwrap();
    let (page_id, host, version_at) = (page.page_id(), page.host(), bench.now());
    let band = |sketch| {
        let (band, host) = (Band(*b"12345"), host.clone());
        PageBand { band, page_id, host, version_at, sketch: Some(sketch) }.encode()
    };
    let topic = bench.names.topic(topics::PAGE_BANDS);
    bench.driver.send(&topic, b"1234", band(vec![0x12; 65])).unwrap();
    bench.driver.send(&topic, b"12345", band(vec![0x12])).unwrap();
    bench.driver.send(&topic, b"12345", vec![1, 2, 3]).unwrap();
    assert!(bench.messages().is_empty());
    let messages = bench.driver.contents(&bench.names.topic(topics::DEAD_LETTERS)).unwrap();
    let reason = |message: &stream::InputRecord| DeadLetter::decode(message.value.as_ref().unwrap()).unwrap().reason;
    let reasons: Vec<_> = messages.iter().map(reason).collect();
    assert_eq!(reasons.len(), 3);
    assert!(reasons.iter().any(|reason| reason == "its key differs from its band"), "{reasons:?}");
}
