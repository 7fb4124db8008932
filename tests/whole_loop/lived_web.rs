//! A web lived through by the real scheduler, detector and estimator on a clock set by hand, and its pages as the
//! simulator knows them.

use crate::at_once::AtOnce;
use messages::{
    Command, CommandKind, Digest, Encoded, FetchOutcome, FetchRequest, FetchResult, Look, Validators, topics,
};
use page::{CanonicalUrl, Timestamp};
use settings::{Layers, Settings};
use simulate::population::{Pages, SimulatedPage};
use simweb::{ChangeTrace, DirectRequest, LedgerEntry, PageHistory, RequestKind, Web};
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, SystemTime};
use stream_testing::TestDriver;
use sweeps::PagePlace;
use topology::LogNames;

/// The stages after a crawl of a web, and the requests that they made.
pub(crate) struct LivedWeb {
    pub(crate) driver: TestDriver,
    pub(crate) names: LogNames,
    /// All requests.
    pub(crate) ledger: Vec<LedgerEntry>,
    /// Looks at lists, by host.
    pub(crate) list_looks: BTreeMap<String, u32>,
}

impl LivedWeb {
    /// Lets the stages crawl these pages of a web from `start` on. They act once a tick, at a budget of one look at every
    /// page in `fetch_every_days`.
    pub(crate) fn crawl(
        web: &Web,
        seeds: &[PageHistory],
        start: Timestamp,
        days: f64,
        tick: Duration,
        fetch_every_days: f64,
        overrides: &[(&str, &str)],
    ) -> Self {
        let fetches_per_day = seeds.len() as f64 / fetch_every_days;
        let ours = [
            ("budget.fetches_per_second", (fetches_per_day / 86_400.0).to_string()),
            ("budget.burst", "1d".to_owned()),
            ("policy.scan_interval", format!("{}s", tick.as_secs())),
            ("policy.lease_timeout", "12h".to_owned()),
            ("log.partitions", "1".to_owned()),
        ];
        let ours = ours.into_iter().map(|(key, value)| (key.to_owned(), value));
        let theirs = overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let overrides: Vec<_> = ours.chain(theirs).collect();
        let settings = Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides }).unwrap();
        let names = LogNames::new(&settings);
        let mut driver = TestDriver::new(&topology::topic_configs(&settings, &recrawl::stages::topologies(), 1), start);
        driver.add(scheduler::stage(&settings, &names, 1, None), "0");
        driver.add(detector::stage(&settings, &names, 1, messages::ChangeForm::Avro), "0");
        driver.add(estimator::stage(&settings, &names), "0");
        for page in seeds {
            let url = CanonicalUrl::parse(&page.url()).unwrap();
            let (key, kind) = (url.site_key(), CommandKind::Seed);
            let command = Command { url: Some(url), ..Command::new(kind, start) };
            driver.send(&names.topic(topics::SCHEDULER_EVENTS), key.as_str().as_bytes(), command.encode()).unwrap();
        }
        let mut fetcher = AtOnce::join(&driver.log, &names);
        let mut server = Server { web, ledger: Vec::new(), list_looks: BTreeMap::new() };
        let ticks_per_day = 86_400 / tick.as_secs();
        for number in 0..(days * ticks_per_day as f64) as u64 {
            driver.clock.advance(tick);
            let now = stream::Clock::now(&*driver.clock);
            driver.run_until_idle().unwrap();
            fetcher.step(now, |request| server.answer(request, now));
            driver.run_until_idle().unwrap();
            if number % ticks_per_day == 0 {
                stream::LogBackend::maintain(&**driver.log.backend(), now).unwrap();
            }
        }
        let Server { ledger, list_looks, .. } = server;
        Self { driver, names, ledger, list_looks }
    }
}

/// Answers for the fetcher, and keeps a ledger of them.
struct Server<'a> {
    web: &'a Web,
    ledger: Vec<LedgerEntry>,
    /// Hosts whose robots.txt was read, and looks at the lists of each.
    list_looks: BTreeMap<String, u32>,
}

impl Server<'_> {
    fn answer(&mut self, request: &FetchRequest, now: Timestamp) -> FetchResult {
        let host = request.url.host_name().to_owned();
        let answer = get(self.web, &request.url, &request.validators, now);
        let sitemaps = match self.list_looks.contains_key(&host) {
            true => Vec::new(),
            false => self.web.sitemap_url(&host).into_iter().collect(),
        };
        let is_page = answer.version.is_some();
        *self.list_looks.entry(host.clone()).or_default() += u32::from(!is_page);
        self.ledger.push(LedgerEntry {
            started_at: now,
            ended_at: now,
            host: host.into(),
            path: request.url.path_and_query().into(),
            kind: if is_page { RequestKind::Page } else { RequestKind::Sitemap },
            status: answer.status,
            version: answer.version,
            bytes: answer.body.len() as u64,
            in_flight: 1,
            disallowed: false,
            tls: false,
        });
        let digest = (answer.status == 200).then(|| Digest::of(&answer.body));
        let outcome = match answer.status {
            304 => FetchOutcome::NotModified,
            404 => FetchOutcome::NotFound,
            _ if digest == request.validators.content_digest => FetchOutcome::SameContent,
            _ => FetchOutcome::Fetched,
        };
        let look = Look {
            status: Some(answer.status),
            latency_ms: 50,
            validators: Validators {
                url: None,
                etag: answer.etag,
                last_modified: answer.last_modified.map(http_date),
                content_digest: digest,
                failed_conditions: 0,
            },
            body_length: answer.body.len() as i64,
            ..Look::new(request.clone(), outcome, now)
        };
        let packed = || messages::body::pack(&answer.body, messages::body::Packing::Lz4);
        let body = (outcome == FetchOutcome::Fetched).then(packed);
        FetchResult { content_type: answer.content_type, body, sitemaps, ..FetchResult::new(look) }
    }
}

pub(crate) fn get(web: &Web, url: &CanonicalUrl, known: &Validators, now: Timestamp) -> simweb::Answer {
    let host = url.host();
    let request = DirectRequest {
        authority: host.as_str(),
        path: url.path_and_query(),
        if_none_match: known.etag.as_deref(),
        if_modified_since: known.last_modified.as_deref(),
    };
    web.get(&request, now).unwrap()
}

fn http_date(at: Timestamp) -> String {
    httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + at.saturating_since(Timestamp::from_secs(0)))
}

/// The pages of a trace as the simulator knows them.
pub(crate) fn simulated_pages(trace: &ChangeTrace) -> Pages {
    let mut hosts = HashMap::new();
    let page = |page: &PageHistory| {
        let url = CanonicalUrl::parse(&page.url()).unwrap();
        let next = hosts.len() as u32;
        let host = *hosts.entry(url.host().to_string()).or_insert(next);
        let place = PagePlace::of(url.site_key().as_str(), &url.host().to_string(), url.path());
        SimulatedPage { weight: 1.0, cost: 1.0, host, section: 0, place }
    };
    let pages: Vec<_> = trace.pages.iter().map(page).collect();
    Pages::new(pages, vec!["all".to_owned()]).unwrap()
}

/// Days after `start` at which a page changed.
pub(crate) fn changes_days(page: &PageHistory, start: Timestamp) -> Vec<f64> {
    page.states.iter().map(|state| state.since.days_since(start)).collect()
}
