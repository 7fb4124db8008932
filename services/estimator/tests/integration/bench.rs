//! The estimator on a log in memory.

use messages::{
    ChangeEstimate, DateSource, Encoded, FetchOutcome, FetchRequest, Look, LookJudgement, PageDate, PageObservation,
    PageRemoval, SchedulerEvent, SweepForecast, Validators, Verdict, topics,
};
use page::{CanonicalUrl, Timestamp};
use settings::{Layers, Settings};
use std::collections::{BTreeMap, HashMap};
use stream::{Log, TableSpec, TopicPartition};
use stream_testing::{MemoryStores, TestDriver};
use sweeps::{Changes, Outlook, PagePlace, SiteState};
use topology::LogNames;

pub(crate) struct Bench {
    pub(crate) driver: TestDriver,
    pub(crate) names: LogNames,
    pub(crate) settings: Settings,
    pub(crate) now: Timestamp,
    pub(crate) last_look: HashMap<String, Timestamp>,
    pub(crate) attempt: i64,
    /// How much of the content the next looks find changed.
    pub(crate) magnitude: f64,
    /// Scheduler events read so far, by partition.
    pub(crate) read: [u64; 2],
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with_estimator("sweeps")
    }

    pub(crate) fn with_estimator(name: &str) -> Self {
        let settings = settings(name);
        let names = LogNames::new(&settings);
        let now = Timestamp::from_secs(1_700_000_000);
        let mut driver = TestDriver::new(&topology::topic_configs(&settings, &[estimator::topology()], 2), now);
        driver.add(estimator::stage(&settings, &names), "one");
        Self { driver, names, settings, now, last_look: HashMap::new(), attempt: 0, magnitude: 0.0, read: [0; 2] }
    }

    /// A look at a page, `days_later` days after the last look at any page.
    pub(crate) fn look(&mut self, url: &str, days_later: f64, verdict: Verdict) -> ChangeEstimate {
        self.look_dated(url, days_later, verdict, None)
    }

    /// The same, with a Last-Modified `age_days` before the look.
    pub(crate) fn look_dated(
        &mut self,
        url: &str,
        days_later: f64,
        verdict: Verdict,
        age_days: Option<f64>,
    ) -> ChangeEstimate {
        self.now = self.now.plus_days(days_later);
        self.driver.clock.advance(std::time::Duration::from_secs_f64(86_400.0 * days_later));
        self.attempt += 1;
        let canonical = CanonicalUrl::parse(url).unwrap();
        let outcome = if verdict == Verdict::Unknown { FetchOutcome::TimedOut } else { FetchOutcome::Fetched };
        let request = FetchRequest { attempt: self.attempt, ..FetchRequest::first(canonical, self.now) };
        let observation = PageObservation {
            look: Look {
                status: Some(200),
                validators: Validators { etag: Some("\"tag\"".to_owned()), ..Validators::default() },
                ..Look::new(request, outcome, self.now)
            },
            judgement: LookJudgement {
                previous_fetched_at: self.last_look.get(url).copied(),
                look_again_after_s: Some(60),
                magnitude: self.magnitude,
                dates: age_days.map(|age| self.last_modified(age)).into_iter().collect(),
                ..LookJudgement::new(verdict)
            },
        };
        if verdict != Verdict::Unknown {
            self.last_look.insert(url.to_owned(), self.now);
        }
        let topic = self.names.topic(topics::PAGE_OBSERVATIONS);
        self.driver.send(&topic, observation.look.site_key.as_str().as_bytes(), observation.encode()).unwrap();
        self.driver.run_until_idle().unwrap();
        let mut new = self.new_estimates();
        assert_eq!(new.len(), 1, "each observation gives exactly one estimate");
        let estimate = new.remove(0);
        assert_eq!((&estimate.look, &estimate.judgement), (&observation.look, &observation.judgement));
        estimate
    }

    fn last_modified(&self, age_days: f64) -> PageDate {
        PageDate { source: DateSource::LastModified, at: self.now.plus_days(-age_days) }
    }

    /// Estimates since one asked last.
    pub(crate) fn new_estimates(&mut self) -> Vec<ChangeEstimate> {
        let topic = self.names.topic(topics::SCHEDULER_EVENTS);
        let mut reader = self.driver.log.reader().unwrap();
        let mut new = Vec::new();
        for (partition, next) in self.read.iter_mut().enumerate() {
            let place = TopicPartition::new(topic.as_str(), partition as u32);
            for record in reader.read(&place, *next, usize::MAX).unwrap().0 {
                *next = record.offset + 1;
                if let SchedulerEvent::Estimate(estimate) =
                    SchedulerEvent::decode(record.value.as_deref().unwrap()).unwrap()
                {
                    new.push(estimate);
                }
            }
        }
        new
    }

    pub(crate) fn estimates(&self) -> Vec<ChangeEstimate> {
        let records = self.driver.contents(&self.names.topic(topics::SCHEDULER_EVENTS)).unwrap();
        let estimate = |value: &[u8]| match SchedulerEvent::decode(value).unwrap() {
            SchedulerEvent::Estimate(estimate) => Some(estimate),
            SchedulerEvent::Sweeps(_) | SchedulerEvent::Removed(_) => None,
            other => panic!("{other:?}"),
        };
        let estimates = records.iter().filter_map(|record| estimate(record.value.as_deref().unwrap()));
        let mut estimates: Vec<_> = estimates.collect();
        estimates.sort_by_key(|estimate| estimate.look.attempt);
        estimates
    }

    /// A crash that also takes the state directory.
    pub(crate) fn lose_everything_but_the_log(&mut self) {
        self.driver.kill(0);
        self.driver.stores = MemoryStores::default();
        self.driver.add(estimator::stage(&self.settings, &self.names), "two");
    }

    /// The operator chooses another estimator.
    pub(crate) fn choose(&mut self, estimator: &str) {
        self.settings = settings(estimator);
        self.restart();
    }

    /// A crash that leaves the state directory.
    pub(crate) fn restart(&mut self) {
        self.driver.kill(0);
        self.driver.add(estimator::stage(&self.settings, &self.names), "two");
    }

    /// The scheduler removes a page.
    pub(crate) fn remove(&mut self, url: &str) {
        let url = CanonicalUrl::parse(url).unwrap();
        let site = url.site_key();
        let removal = PageRemoval { url, removed_at: self.now, last_attempt: None };
        let topic = self.names.topic(topics::PAGE_OBSERVATIONS);
        self.driver.send(&topic, site.as_str().as_bytes(), removal.encode()).unwrap();
        self.driver.run_until_idle().unwrap();
    }

    /// The contents of the store of sweeps, by key: the character and the hash.
    pub(crate) fn sweeps(&self) -> BTreeMap<Vec<u8>, Vec<u8>> {
        self.table(estimator::SWEEPS.spec())
    }

    /// The contents of a table, by key.
    pub(crate) fn table(&self, table: TableSpec) -> BTreeMap<Vec<u8>, Vec<u8>> {
        let mut entries = BTreeMap::new();
        for record in self.driver.contents(&self.names.topic(table.changelog("estimator"))).unwrap() {
            // An empty key says how far the input is.
            match record.value {
                _ if record.key.is_empty() => {}
                Some(value) => _ = entries.insert(record.key, value.into()),
                None => _ = entries.remove(&record.key),
            }
        }
        entries
    }

    /// All forecasts put together, as the scheduler has them.
    pub(crate) fn outlook(&self) -> Outlook {
        let mut outlook = Outlook::default();
        for record in self.driver.contents(&self.names.topic(topics::SCHEDULER_EVENTS)).unwrap() {
            let SchedulerEvent::Sweeps(forecast) = SchedulerEvent::decode(record.value.as_deref().unwrap()).unwrap()
            else {
                continue;
            };
            let site = PagePlace::of(forecast.site_key.as_str(), "", "/").site;
            for hash in forecast.gone {
                outlook.remove(hash.cast_unsigned(), site);
            }
            let sites = forecast.lead.map(|lead| SiteState { site, lead });
            let SweepForecast { groups, cells, .. } = forecast;
            let changes = Changes { groups, cells, sites: sites.into_iter().collect() };
            outlook.apply(&changes).unwrap();
        }
        outlook
    }
}

pub(crate) fn settings(estimator: &str) -> Settings {
    let overrides = [("policy.name", "crawl-value"), ("estimator.name", estimator)];
    let overrides = overrides.map(|(key, value)| (key.to_owned(), value.to_owned()));
    Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides }).unwrap()
}
