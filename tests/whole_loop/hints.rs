//! Two sites that change alike, each with a sitemap: one says when its pages changed, the other that all of them just
//! did. The real scheduler, detector and estimator spend one budget on both.

use crate::at_once::AtOnce;
use crate::web::body;
use messages::{
    Command, CommandKind, Digest, Encoded, FetchOutcome, FetchRequest, FetchResult, Look, Validators, topics,
};
use page::{CanonicalUrl, Timestamp};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use scheduler::explain::{Explanation, explain};
use settings::{Layers, Settings};
use std::collections::BTreeMap;
use std::time::Duration;
use stream::{TaskId, TaskTables};
use stream_testing::TestDriver;
use topology::LogNames;

const HONEST: &str = "honest.test";
const LIAR: &str = "liar.test";
const PAGES_PER_SITE: usize = 40;
const CHANGES_PER_DAY: f64 = 0.05;
/// A look at every page in four days.
const FETCHES_PER_DAY: f64 = 20.0;
const DAYS: u32 = 150;
/// First day of the scored time. The days before it are for learning.
const JUDGED_FROM_DAY: u32 = 50;
const TICK: Duration = Duration::from_secs(3_600);

struct Page {
    url: CanonicalUrl,
    changes: Vec<Timestamp>,
    /// The version at the last fetch.
    copy: Option<usize>,
}

impl Page {
    fn version(&self, at: Timestamp) -> usize {
        self.changes.partition_point(|change| *change <= at)
    }
}

struct Sites {
    pages: Vec<Page>,
    numbers: BTreeMap<CanonicalUrl, usize>,
    start: Timestamp,
    sitemap_fetches: BTreeMap<String, u32>,
}

impl Sites {
    fn new(start: Timestamp) -> Self {
        let mut random = Pcg64::seed_from_u64(7);
        let mut page = |host: &str, number: usize| {
            let mut changes = Vec::new();
            let mut at = 0.0;
            while at < f64::from(DAYS) {
                at += -(1.0 - random.random::<f64>()).ln() / CHANGES_PER_DAY;
                changes.push(start.plus_days(at));
            }
            Page { url: CanonicalUrl::parse(&format!("http://{host}/{number}")).unwrap(), changes, copy: None }
        };
        let pages = [HONEST, LIAR].map(|host| (0..PAGES_PER_SITE).map(|number| page(host, number)).collect::<Vec<_>>());
        let pages: Vec<Page> = pages.into_iter().flatten().collect();
        let numbers = pages.iter().enumerate().map(|(number, page)| (page.url.clone(), number)).collect();
        Self { pages, numbers, start, sitemap_fetches: BTreeMap::new() }
    }

    fn sitemap(&self, host: &str, now: Timestamp) -> String {
        let own = self.pages.iter().filter(|page| page.url.host_name() == host);
        let entry = |page: &Page| {
            let version = page.version(now);
            let changed_at = if version == 0 { self.start } else { page.changes[version - 1] };
            let said = if host == LIAR { now } else { changed_at };
            format!("<url><loc>{}</loc><lastmod>{said}</lastmod></url>", page.url)
        };
        format!("<urlset>{}</urlset>", own.map(entry).collect::<String>())
    }

    fn fetch(&mut self, url: &CanonicalUrl, now: Timestamp) -> (String, &'static str) {
        match self.numbers.get(url) {
            Some(&number) => {
                let page = &mut self.pages[number];
                let version = page.version(now);
                page.copy = Some(version);
                (body(url.as_str(), version), "text/html")
            }
            None => {
                *self.sitemap_fetches.entry(url.host_name().to_owned()).or_default() += 1;
                (self.sitemap(url.host_name(), now), "application/xml")
            }
        }
    }

    fn answer(&mut self, request: &FetchRequest, now: Timestamp) -> FetchResult {
        let (content, media_type) = self.fetch(&request.url, now);
        answer(request, &content, media_type, now)
    }

    fn current(&self, host: &str, now: Timestamp) -> usize {
        let own = self.pages.iter().filter(|page| page.url.host_name() == host);
        own.filter(|page| page.copy == Some(page.version(now))).count()
    }
}

fn answer(request: &FetchRequest, content: &str, media_type: &str, now: Timestamp) -> FetchResult {
    let digest = Digest::of(content.as_bytes());
    let same = request.validators.content_digest == Some(digest);
    let outcome = if same { FetchOutcome::SameContent } else { FetchOutcome::Fetched };
    let look = Look {
        status: Some(200),
        latency_ms: 50,
        validators: Validators { content_digest: Some(digest), ..Validators::default() },
        body_length: content.len() as i64,
        ..Look::new(request.clone(), outcome, now)
    };
    let body = (!same).then(|| messages::body::pack(content.as_bytes(), messages::body::Packing::Lz4));
    FetchResult { content_type: Some(media_type.to_owned()), body, ..FetchResult::new(look) }
}

struct Outcome {
    /// Share of the judged time that copies were current, by host.
    freshness: BTreeMap<&'static str, f64>,
    fetches: u32,
    sitemap_fetches: BTreeMap<String, u32>,
    explanations: BTreeMap<&'static str, Explanation>,
}

fn run(with_sitemaps: bool) -> Outcome {
    let overrides = [
        ("budget.fetches_per_second", (FETCHES_PER_DAY / 86_400.0).to_string()),
        ("budget.burst", "1d".to_owned()),
        ("policy.scan_interval", format!("{}s", TICK.as_secs())),
        ("policy.lease_timeout", "12h".to_owned()),
        ("hints.sitemaps", with_sitemaps.to_string()),
        ("log.partitions", "1".to_owned()),
    ];
    let overrides = overrides.map(|(key, value)| (key.to_owned(), value));
    let settings = Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides }).unwrap();
    let names = LogNames::new(&settings);
    let start = Timestamp::from_secs(1_700_000_000);
    let mut driver = TestDriver::new(&topology::topic_configs(&settings, &recrawl::stages::topologies(), 1), start);
    driver.add(scheduler::stage(&settings, &names, 1, None), "0");
    driver.add(detector::stage(&settings, &names, 1, messages::ChangeForm::Avro), "0");
    driver.add(estimator::stage(&settings, &names), "0");
    let mut sites = Sites::new(start);
    let lists = [HONEST, LIAR].map(|host| CanonicalUrl::parse(&format!("http://{host}/sitemap.xml")).unwrap());
    let pages = sites.pages.iter().map(|page| page.url.clone());
    for url in pages.chain(lists.into_iter().filter(|_| with_sitemaps)) {
        let (key, kind) = (url.site_key(), CommandKind::Seed);
        let command = Command { url: Some(url), ..Command::new(kind, start) };
        driver.send(&names.topic(topics::SCHEDULER_EVENTS), key.as_str().as_bytes(), command.encode()).unwrap();
    }
    let mut fetcher = AtOnce::join(&driver.log, &names);
    let (mut fetches, mut judged) = (0, 0);
    let mut current = BTreeMap::from([(HONEST, 0), (LIAR, 0)]);
    let ticks_per_day = (86_400 / TICK.as_secs()) as u32;
    for tick in 0..DAYS * ticks_per_day {
        driver.clock.advance(TICK);
        let now = stream::Clock::now(&*driver.clock);
        if tick >= JUDGED_FROM_DAY * ticks_per_day {
            judged += PAGES_PER_SITE;
            current.iter_mut().for_each(|(host, count)| *count += sites.current(host, now));
        }
        driver.run_until_idle().unwrap();
        fetches += fetcher.step(now, |request| sites.answer(request, now));
        driver.run_until_idle().unwrap();
        if tick % ticks_per_day == 0 {
            stream::LogBackend::maintain(&**driver.log.backend(), now).unwrap();
        }
    }
    let store = driver.stores.snapshot(&TaskId { stage: "scheduler".to_owned(), partition: 0 }).unwrap();
    let tables = TaskTables::new(Box::new(store), &scheduler::topology());
    let rules = scheduler::FrontierRules::new(&settings, 1);
    let now = stream::Clock::now(&*driver.clock);
    let reported = |host: &'static str| {
        let url = CanonicalUrl::parse(&format!("http://{host}/0")).unwrap();
        (host, explain(&tables, &rules, &url, None, now).unwrap().unwrap())
    };
    Outcome {
        freshness: current.into_iter().map(|(host, count)| (host, count as f64 / judged as f64)).collect(),
        fetches,
        sitemap_fetches: sites.sitemap_fetches,
        explanations: [HONEST, LIAR].map(reported).into(),
    }
}

fn sitemap_looks_per_day(outcome: &Outcome, host: &str) -> f64 {
    f64::from(outcome.sitemap_fetches[host]) / f64::from(DAYS)
}

#[test]
fn an_honest_sitemap_makes_copies_fresher_and_a_lying_one_loses_its_weight() {
    let (without, with) = (run(false), run(true));
    let shown = |outcome: &Outcome| {
        let Outcome { freshness, fetches, sitemap_fetches, .. } = outcome;
        println!("freshness {freshness:?}, {fetches} fetches, of sitemaps {sitemap_fetches:?}");
    };
    shown(&without);
    shown(&with);
    let hints = |host: &str| &with.explanations[host].hints;
    println!("honest {:?}, liar {:?}", hints(HONEST), hints(LIAR));
    // One budget.
    let most = FETCHES_PER_DAY * f64::from(DAYS + 1);
    assert!(f64::from(with.fetches.max(without.fetches)) <= most, "{} {}", with.fetches, without.fetches);
    // What of its pages was stale is nearly halved at least, and the liar's pages are no worse for it.
    let stale = |outcome: &Outcome, host| 1.0 - outcome.freshness[host];
    assert!(stale(&with, HONEST) < 0.6 * stale(&without, HONEST));
    assert!(stale(&with, LIAR) < 1.1 * stale(&without, LIAR));
    // It has changed at every look, so as a page of its own it is looked at about once a day.
    assert!(sitemap_looks_per_day(&with, LIAR) < 1.2);
    let quality = |host| hints(host).host.first().copied().expect("sitemaps were judged");
    assert!(quality(HONEST).precision > 0.7 && quality(LIAR).precision < 0.2);
    assert!(quality(HONEST).recall > 0.5 && quality(LIAR).recall < 0.2);
    let says = |host: &str, word: &str| with.explanations[host].reasons.iter().any(|reason| reason.contains(word));
    assert!(says(HONEST, "sitemap") && says(LIAR, "sitemap") && without.explanations[HONEST].hints.host.is_empty());
}
