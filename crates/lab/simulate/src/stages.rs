//! All stages of a crawl except the fetcher, over a log in memory and on a clock that the simulation advances. The simulation
//! answers their requests in place of the fetcher, or of fetcher and detector.

use crate::error::SimulationError;
use focus::{Focus, write_focus};
use messages::{
    ChangeForm, Command, CommandKind, Encoded, FetchRequest, FetchResult, FetcherEvent, FocusOrder, PageObservation,
    PageOutLinks, topics,
};
use page::{CanonicalUrl, Timestamp};
use settings::Settings;
use std::time::Duration;
use stream::{Clock, InputRecord, Log, LogBackend, LogReader, TaskId, TaskTables, TopicPartition};
use stream_testing::TestDriver;
use topology::LogNames;

/// Partitions of the loop, and the only one.
const PARTITIONS: u32 = 1;
const PARTITION: u32 = 0;
/// Ticks from one deletion of old records to the next.
const RETENTION_TICKS: u64 = 240;

/// Sets the scheduler's interval, and removes the limits by host and by requests in flight. The budget alone remains.
pub(crate) fn limit_by_budget_alone(settings: &mut Settings, tick: Duration) {
    settings.policy.scan_interval = tick;
    settings.budget.in_flight = usize::MAX;
    settings.budget.host_ahead = tick;
    settings.politeness.crawl_delay = Duration::ZERO;
}

/// The stages of a crawl.
pub(crate) struct CrawlStages {
    driver: TestDriver,
    reader: Box<dyn LogReader>,
    topics: TopicNames,
    requests_read: u64,
    ticks: u64,
}

struct TopicNames {
    commands: String,
    focus_orders: String,
    results: String,
    observations: String,
    links: String,
    dead_letters: String,
    requests: TopicPartition,
}

impl CrawlStages {
    /// The stages with these settings, without pages. The clock shows `start`.
    pub(crate) fn start(settings: &Settings, start: Timestamp) -> Result<Self, SimulationError> {
        let names = LogNames::new(settings);
        let topologies = [detector::topology(), estimator::topology(), ranker::topology(), scheduler::topology()];
        let mut driver = TestDriver::new(&topology::topic_configs(settings, &topologies, PARTITIONS), start);
        // The scheduler is the last, so that its tick knows what the others have sent.
        driver.add(detector::stage(settings, &names, PARTITIONS, ChangeForm::Avro), "only");
        driver.add(estimator::stage(settings, &names), "only");
        driver.add(ranker::stage(settings, &names, PARTITIONS), "only");
        driver.add(scheduler::stage(settings, &names, PARTITIONS, None), "only");
        let reader = driver.log.reader().map_err(failed)?;
        let topics = TopicNames {
            commands: names.topic(topics::SCHEDULER_EVENTS),
            focus_orders: names.topic(topics::FOCUS_ORDERS),
            results: names.topic(topics::FETCH_RESULTS),
            observations: names.topic(topics::PAGE_OBSERVATIONS),
            links: names.topic(topics::RANKER_EVENTS),
            dead_letters: names.topic(topics::DEAD_LETTERS),
            requests: TopicPartition::new(names.topic(topics::FETCH_REQUESTS), PARTITION),
        };
        let mut stages = Self { driver, reader, topics, requests_read: 0, ticks: 0 };
        stages.settle()?;
        Ok(stages)
    }

    /// The time.
    pub(crate) fn now(&self) -> Timestamp {
        self.driver.clock.now()
    }

    /// An operator adds a page.
    pub(crate) fn seed(&self, url: &CanonicalUrl) -> Result<(), SimulationError> {
        let (kind, issued_at) = (CommandKind::Seed, self.now());
        let command = Command { url: Some(url.clone()), ..Command::new(kind, issued_at) };
        self.send(&self.topics.commands, url, command.encode())
    }

    /// An operator adds a focus.
    pub(crate) fn order_focus(&self, focus: &Focus) -> Result<(), SimulationError> {
        let (name, text) = (focus.name.clone(), Some(write_focus(focus)));
        let order = FocusOrder { name, text, ordered_at: self.now() };
        self.driver.send(&self.topics.focus_orders, focus.name.as_bytes(), order.encode()).map_err(failed)
    }

    /// Requests for pages that the scheduler knows and has not requested, apart from the budget.
    pub(crate) fn first_requests(&mut self, urls: Vec<CanonicalUrl>) -> Result<Vec<FetchRequest>, SimulationError> {
        self.settle()?;
        let task = TaskId { stage: scheduler::topology().name.to_owned(), partition: PARTITION };
        let store = self.driver.stores.snapshot(&task).ok_or_else(|| failed("the scheduler has no state"))?;
        let tables = TaskTables::new(Box::new(store), &scheduler::topology());
        let request = |url: CanonicalUrl| {
            let page = tables.get(scheduler::PAGES, &url.page_id()).map_err(failed)?;
            let page = page.ok_or_else(|| failed(format!("the scheduler does not know {url}")))?;
            Ok(FetchRequest { attempt: page.request.attempt, ..FetchRequest::first(url, self.now()) })
        };
        urls.into_iter().map(request).collect()
    }

    /// Lets time pass. Returns the requests that the scheduler hands out then.
    pub(crate) fn tick(&mut self, length: Duration) -> Result<Vec<FetchRequest>, SimulationError> {
        self.driver.clock.advance(length);
        self.settle()?;
        self.ticks += 1;
        if self.ticks.is_multiple_of(RETENTION_TICKS) {
            self.driver.log.backend().maintain(self.now()).map_err(failed)?;
        }
        let (records, next) =
            self.reader.read(&self.topics.requests, self.requests_read, usize::MAX).map_err(failed)?;
        self.requests_read = next;
        let request = |event| match event {
            FetcherEvent::Request(request) => Some(request),
            FetcherEvent::Question(_) => None,
        };
        let read = |record: &InputRecord| record.read(topics::FETCH_REQUESTS).map(request).map_err(failed).transpose();
        records.iter().filter_map(read).collect()
    }

    /// Sends what the fetcher would.
    pub(crate) fn answer(&self, result: &FetchResult) -> Result<(), SimulationError> {
        self.send(&self.topics.results, &result.look.url, result.encode())
    }

    /// Sends the detector's judgement of an answer.
    pub(crate) fn observe(&self, observation: &PageObservation) -> Result<(), SimulationError> {
        self.send(&self.topics.observations, &observation.look.url, observation.encode())
    }

    /// Sends the links that the detector has read on a page.
    pub(crate) fn show_links(&self, links: &PageOutLinks) -> Result<(), SimulationError> {
        self.send(&self.topics.links, &links.source_url, links.encode())
    }

    /// Lets the stages work until they have nothing more to do. Fails if one of them has set a record aside.
    pub(crate) fn settle(&mut self) -> Result<(), SimulationError> {
        self.driver.run_until_idle().map_err(failed)?;
        // Not at the end of a run: records set aside are deleted after 30 days.
        let set_aside = self.driver.contents(&self.topics.dead_letters).map_err(failed)?;
        match set_aside.len() {
            0 => Ok(()),
            records => Err(failed(format!("the stages have set {records} records aside"))),
        }
    }

    fn send(&self, topic: &str, url: &CanonicalUrl, value: Vec<u8>) -> Result<(), SimulationError> {
        self.driver.send(topic, url.site_key().as_str().as_bytes(), value).map_err(failed)
    }
}

fn failed(why: impl std::fmt::Display) -> SimulationError {
    SimulationError::Stages(why.to_string())
}
