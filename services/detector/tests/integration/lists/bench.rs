//! A detector over a log in memory, and what comes of a look at a list.

use crate::lists::page;
use messages::{
    Digest, Encoded, FetchOutcome, FetchRequest, FetchResult, ListedPage, Look, PageLinks, PageObservation,
    SchedulerEvent, SiteListing, Validators, Verdict, body, topics,
};
use page::{CanonicalUrl, Timestamp};
use settings::{Layers, Settings};
use std::time::Duration;
use stream_testing::TestDriver;
use topology::LogNames;

pub(crate) struct Bench {
    pub(crate) driver: TestDriver,
    pub(crate) names: LogNames,
    attempt: i64,
}

/// The records that one look led to.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) verdict: Verdict,
    pub(crate) listings: Vec<SiteListing>,
    pub(crate) links: Vec<PageLinks>,
}

impl Seen {
    /// The pages with a date.
    pub(crate) fn dated(&self) -> Vec<&str> {
        self.pages().map(|page| page.url.as_str()).collect()
    }

    pub(crate) fn pages(&self) -> impl Iterator<Item = &ListedPage> {
        self.listings.iter().flat_map(|listing| &listing.pages)
    }

    pub(crate) fn linked(&self) -> Vec<(&str, &str)> {
        self.links.iter().flat_map(|links| &links.links).map(|link| (link.url.as_str(), link.rel.as_str())).collect()
    }
}

impl Bench {
    pub(crate) fn new(overrides: &[(&str, &str)]) -> Self {
        let overrides: Vec<_> = overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        let settings = Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides }).unwrap();
        let names = LogNames::new(&settings);
        let mut driver = TestDriver::new(
            &topology::topic_configs(&settings, &[detector::topology()], 2),
            Timestamp::from_secs(1_700_000_000),
        );
        driver.add(detector::stage(&settings, &names, 1, messages::ChangeForm::Avro), "one");
        Self { driver, names, attempt: 0 }
    }

    pub(crate) fn now(&self) -> Timestamp {
        stream::Clock::now(&*self.driver.clock)
    }

    pub(crate) fn result(&mut self, url: &str, content_type: &str, content: &[u8]) -> FetchResult {
        self.attempt += 1;
        let url = CanonicalUrl::parse(url).unwrap();
        let request = FetchRequest { attempt: self.attempt, ..FetchRequest::first(url, self.now()) };
        let look = Look {
            status: Some(200),
            validators: Validators { content_digest: Some(Digest::of(content)), ..Validators::default() },
            body_length: content.len() as i64,
            ..Look::new(request, FetchOutcome::Fetched, self.now())
        };
        let (content_type, body) = (Some(content_type.to_owned()), Some(body::pack(content, body::Packing::Lz4)));
        FetchResult { content_type, body, ..FetchResult::new(look) }
    }

    /// Sends one answer, and gives what became of it.
    pub(crate) fn send(&mut self, result: &FetchResult) -> Seen {
        let events = self.events().len();
        let observations = self.observations().len();
        let topic = self.names.topic(topics::FETCH_RESULTS);
        self.driver.send(&topic, result.look.site_key.as_str().as_bytes(), result.encode()).unwrap();
        self.driver.run_until_idle().unwrap();
        let verdict = self.observations()[observations..].first().unwrap().judgement.verdict;
        let mut seen = Seen { verdict, listings: Vec::new(), links: Vec::new() };
        for event in self.events().split_off(events) {
            match event {
                SchedulerEvent::Listing(listing) => seen.listings.push(listing),
                SchedulerEvent::Links(links) => seen.links.push(links),
                other => panic!("{other:?}"),
            }
        }
        seen
    }

    /// A look at a list some time later.
    pub(crate) fn look(&mut self, after: Duration, url: &str, content_type: &str, content: &[u8]) -> Seen {
        self.driver.clock.advance(after);
        let result = self.result(url, content_type, content);
        self.send(&result)
    }

    /// A look at an ordinary page.
    pub(crate) fn know(&mut self, path: &str) {
        self.know_all(&[path.to_owned()]);
    }

    pub(crate) fn know_all(&mut self, paths: &[String]) {
        let topic = self.names.topic(topics::FETCH_RESULTS);
        for path in paths {
            let content = format!("<p>This is what stands at {path} for everyone who wants to read a sentence there.");
            let result = self.result(&page(path), "text/html", content.as_bytes());
            self.driver.send(&topic, result.look.site_key.as_str().as_bytes(), result.encode()).unwrap();
        }
        self.driver.run_until_idle().unwrap();
        assert_eq!(self.observations().last().map(|seen| seen.judgement.verdict), Some(Verdict::First));
    }

    /// All of one site, so in one partition and in order.
    pub(crate) fn events(&self) -> Vec<SchedulerEvent> {
        let records = self.driver.contents(&self.names.topic(topics::SCHEDULER_EVENTS)).unwrap();
        records.iter().map(|record| SchedulerEvent::decode(record.value.as_deref().unwrap()).unwrap()).collect()
    }

    pub(crate) fn observations(&self) -> Vec<PageObservation> {
        let records = self.driver.contents(&self.names.topic(topics::PAGE_OBSERVATIONS)).unwrap();
        records.iter().map(|record| PageObservation::decode(record.value.as_deref().unwrap()).unwrap()).collect()
    }

    pub(crate) fn figure(&mut self, metric: &metrics::Metric) -> f64 {
        // Figures are renewed every so often.
        self.driver.clock.advance(Duration::from_secs(1));
        self.driver.run_until_idle().unwrap();
        self.driver.status(0).figures.get(metric).copied().unwrap_or(f64::NAN)
    }
}
