//! A web of sites with sitemaps and dates, lived through by the real scheduler, detector and estimator, and by the
//! simulator.

use crate::at_once::AtOnce;
use change_rate::EstimatorChoice;
use messages::{
    Command, CommandKind, Digest, Encoded, FetchOutcome, FetchRequest, FetchResult, Look, Validators, topics,
};
use page::{CanonicalUrl, Timestamp};
use policies::{PolicyKind, PolicyOptions};
use settings::{Layers, Settings};
use simulate::changes::RecordedChanges;
use simulate::engine::{self, Run};
use simulate::lists::{ShownDates, SiteLists};
use simulate::population::{Pages, SimulatedPage};
use simulate::{learner, setup};
use simweb::{
    ChangeRates, ChangeTrace, DirectRequest, HostDials, HostSitemap, LedgerEntry, Looks, PageDates, PageHistory,
    RequestKind, SeededConfig, SimWebConfig, TimeWindow, Web, WebSource,
};
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::time::{Duration, SystemTime};
use stream::TaskId;
use stream::testing::TestDriver;
use sweeps::PagePlace;
use topology::LogNames;

const START: Timestamp = Timestamp::from_secs(1_700_000_000);
pub(crate) const PAGES_PER_HOST: usize = 40;
/// A look at every page in this many days.
const FETCH_EVERY_DAYS: f64 = 8.0;
pub(crate) const DAYS: f64 = 160.0;
/// What happens before is learning.
const SETTLED_DAYS: f64 = 60.0;
const TICK: Duration = Duration::from_secs(3_600);
/// Long enough that one changed passage is plainly a change: no looks are spent to make sure.
const PAGE_BYTES: usize = 6_000;

/// A web of hosts with these sitemaps, one each.
pub(crate) struct ListedWeb {
    pub(crate) sitemaps: Vec<HostSitemap>,
    /// Share of the pages of each host that tell when they last changed.
    pub(crate) dated_share: f64,
    /// Hosts from this on date every page now.
    pub(crate) lying_dates_from: usize,
}

/// What came of running the services on it.
pub(crate) struct Lived {
    /// Share of the scored time during which copies were stale.
    pub(crate) stale: f64,
    pub(crate) fetches_per_day: f64,
    /// Looks at lists.
    pub(crate) list_looks: u32,
    /// Pages that the scheduler knows, lists among them.
    pub(crate) known_pages: usize,
    /// Bytes of the longest record for the scheduler.
    pub(crate) longest_record: usize,
}

impl ListedWeb {
    pub(crate) fn of(sitemaps: Vec<HostSitemap>) -> Self {
        Self { lying_dates_from: sitemaps.len(), sitemaps, dated_share: 0.0 }
    }

    fn trace(&self) -> ChangeTrace {
        let seeded = SeededConfig {
            hosts: self.sitemaps.len(),
            pages_per_host: PAGES_PER_HOST,
            rates: ChangeRates::LogNormal { median_per_day: 0.05, log_deviation: 1.0 },
            start: START,
            days: DAYS,
            ..SeededConfig::default()
        };
        seeded.trace()
    }

    /// By host.
    fn dials(&self) -> BTreeMap<String, HostDials> {
        let dials = |number: usize| HostDials {
            sitemap: self.sitemaps[number],
            dates: match number < self.lying_dates_from {
                true => PageDates::True { share: self.dated_share },
                false => PageDates::Now,
            },
            ..HostDials::default()
        };
        let hosts = self.trace().hosts();
        hosts.iter().enumerate().map(|(number, host)| (host.to_string(), dials(number))).collect()
    }

    /// The services live through it.
    pub(crate) fn live(&self) -> Lived {
        let web = self.web();
        let fetches_per_day = web.trace().pages.len() as f64 / FETCH_EVERY_DAYS;
        let overrides = [
            ("budget.fetches_per_second", (fetches_per_day / 86_400.0).to_string()),
            ("budget.burst", "1d".to_owned()),
            ("policy.scan_interval", format!("{}s", TICK.as_secs())),
            ("policy.lease_timeout", "12h".to_owned()),
            ("log.partitions", "1".to_owned()),
        ];
        let overrides = overrides.map(|(key, value)| (key.to_owned(), value));
        let settings = Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides }).unwrap();
        let names = LogNames::new(&settings);
        let mut driver = TestDriver::new(&topology::topic_configs(&settings, &recrawl::embedded::stages(), 1), START);
        driver.add(scheduler::stage(&settings, &names, 1), "0");
        driver.add(detector::stage(&settings, &names, messages::ChangeForm::Avro), "0");
        driver.add(estimator::stage(&settings, &names), "0");
        for page in &web.trace().pages {
            let url = CanonicalUrl::parse(&page.url()).unwrap();
            let (key, kind) = (url.site_key(), CommandKind::Seed);
            let command = Command { kind, url: Some(url), host: None, weight: 1.0, issued_at: START };
            driver.send(&names.topic(topics::SCHEDULER_EVENTS), key.as_str().as_bytes(), command.encode()).unwrap();
        }
        let mut fetcher = AtOnce::join(&driver.log, &names);
        let mut server = Server { web: &web, ledger: Vec::new(), told: BTreeMap::new() };
        let ticks_per_day = 86_400 / TICK.as_secs();
        for tick in 0..DAYS as u64 * ticks_per_day {
            driver.clock.advance(TICK);
            let now = stream::Clock::now(&*driver.clock);
            driver.run_until_idle().unwrap();
            fetcher.step(now, |request| server.answer(request, now));
            driver.run_until_idle().unwrap();
            if tick % ticks_per_day == 0 {
                stream::LogBackend::maintain(&**driver.log.backend(), now).unwrap();
            }
        }
        let store = driver.stores.snapshot(&TaskId { stage: "scheduler".to_owned(), partition: 0 }).unwrap();
        let mut known_pages = 0;
        let mut count = |_: &[u8], _: &[u8]| {
            known_pages += 1;
            ControlFlow::Continue(())
        };
        stream::StateStore::scan(&store, 0, b"", &mut count).unwrap();
        let records = driver.contents(&names.topic(topics::SCHEDULER_EVENTS)).unwrap();
        let lengths = records.iter().filter_map(|record| Some(record.value.as_ref()?.len()));
        let longest_record = lengths.max().unwrap();
        server.lived(known_pages, longest_record)
    }

    fn web(&self) -> Web {
        let source = WebSource::Trace(self.trace());
        let config = SimWebConfig { host_dials: self.dials(), page_bytes: PAGE_BYTES, ..SimWebConfig::new(source) };
        Web::open(config).unwrap()
    }

    /// The file that lists each page, by address. All pages exist from the start.
    fn files(&self) -> HashMap<String, String> {
        let web = self.web();
        let mut files = HashMap::new();
        let mut unread: Vec<String> = self.dials().keys().filter_map(|host| web.sitemap_url(host)).collect();
        while let Some(file) = unread.pop() {
            let url = CanonicalUrl::parse(&file).unwrap();
            let text = String::from_utf8(get(&web, &url, &Validators::default(), START.plus_days(10.0)).body.to_vec());
            let text = text.unwrap();
            let addresses = text.split("<loc>").skip(1).filter_map(|rest| Some(rest.split_once('<')?.0.to_owned()));
            match text.contains("<sitemapindex") {
                true => unread.extend(addresses),
                false => files.extend(addresses.map(|address| (address, file.clone()))),
            }
        }
        files
    }

    /// Share of the scored time during which copies were stale in the simulator.
    pub(crate) fn simulate(&self, policy: PolicyKind, fetches_per_day: f64) -> f64 {
        let (trace, dials, files) = (self.trace(), self.dials(), self.files());
        let mut hosts = HashMap::new();
        let infos: Vec<SimulatedPage> = trace
            .pages
            .iter()
            .map(|page| {
                let url = CanonicalUrl::parse(&page.url()).unwrap();
                let next = hosts.len() as u32;
                let host = *hosts.entry(url.host().to_string()).or_insert(next);
                let place = PagePlace::of(url.site_key().as_str(), &url.host().to_string(), url.path());
                SimulatedPage { weight: 1.0, cost: 1.0, host, section: 0, place }
            })
            .collect();
        let pages = Pages::new(infos, vec!["all".to_owned()]).unwrap();
        let changes_days = |page: &PageHistory| -> Vec<f64> {
            page.states.iter().map(|state| state.since.days_since(START)).collect()
        };
        let lists = SiteLists::showing(trace.pages.iter().map(|page| {
            let told = |late_days| ShownDates::Told { dates: changes_days(page), late_days };
            let shown = match dials[&*page.host].sitemap {
                HostSitemap::Stale { days } => told(days),
                HostSitemap::Lying => ShownDates::Now,
                _ => told(0.0),
            };
            files.get(&page.url()).map(|file| (file, shown))
        }));
        let mut changes = RecordedChanges::new(trace.pages.iter().map(changes_days)).unwrap();
        let mut policy = setup::build(policy, &PolicyOptions::default());
        let mut learner =
            learner::learner(EstimatorChoice::Sweeps, &pages, change_rate::EstimatorOptions::default()).unwrap();
        let truthful = self.lying_dates_from as f64 / self.sitemaps.len() as f64;
        let run = Run {
            last_modified_share: self.dated_share * truthful,
            tick_days: TICK.as_secs_f64() / 86_400.0,
            ..Run::new(SETTLED_DAYS, DAYS, fetches_per_day)
        };
        let mut go_on = |_| ControlFlow::Continue(());
        let (policy, learner) = (policy.as_mut(), learner.as_mut());
        let scores = engine::run_with_lists(&pages, &lists, &mut changes, policy, learner, &run, &mut go_on);
        1.0 - scores.unwrap().freshness
    }
}

/// Answers for the fetcher, and keeps a ledger of them.
struct Server<'a> {
    web: &'a Web,
    ledger: Vec<LedgerEntry>,
    /// Hosts whose robots.txt was read, and looks at the lists of each.
    told: BTreeMap<String, u32>,
}

impl Server<'_> {
    fn answer(&mut self, request: &FetchRequest, now: Timestamp) -> FetchResult {
        let host = request.url.host_name().to_owned();
        let answer = get(self.web, &request.url, &request.validators, now);
        let sitemaps = match self.told.contains_key(&host) {
            true => Vec::new(),
            false => self.web.sitemap_url(&host).into_iter().collect(),
        };
        let is_page = answer.version.is_some();
        *self.told.entry(host.clone()).or_default() += u32::from(!is_page);
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
            },
            body_length: answer.body.len() as i64,
            ..Look::new(request.clone(), outcome, now)
        };
        let packed = || messages::body::pack(&answer.body, messages::body::Packing::Lz4);
        let body = (outcome == FetchOutcome::Fetched).then(packed);
        FetchResult { content_type: answer.content_type, body, sitemaps, ..FetchResult::new(look) }
    }

    fn lived(self, known_pages: usize, longest_record: usize) -> Lived {
        let trace = self.web.trace();
        let scored = TimeWindow { start: START.plus_days(SETTLED_DAYS), end: START.plus_days(DAYS) };
        let weights = vec![1.0; trace.pages.len()];
        let fetches = self.ledger.iter().filter(|entry| scored.start <= entry.started_at).count();
        Lived {
            stale: Looks::of_ledger(trace, &self.ledger).stale_share(trace, &weights, scored),
            fetches_per_day: fetches as f64 / scored.days(),
            list_looks: self.told.values().sum(),
            known_pages,
            longest_record,
        }
    }
}

fn get(web: &Web, url: &CanonicalUrl, known: &Validators, now: Timestamp) -> simweb::Answer {
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
