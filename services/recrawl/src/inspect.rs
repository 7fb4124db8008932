//! Reads the stored state of a page or a crawl, whether its loop is running or not.

use crate::CommandFailure;
use daemon::{AuditedFreshness, StageLag, Status};
use detector::PageSketch;
use estimator::PageBelief;
use messages::{AnswerKind, Demand, Encoded, PageContent, body, topics};
use page::{CanonicalUrl, HostName, PageId, Timestamp};
use scheduler::explain::{Explanation, explain};
use scheduler::{ForgottenPage, FrontierRules, HostSchedule, ScheduledPage};
use serde::Serialize;
use settings::Settings;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use stream::partitioner::partition_for;
use stream::{LogBackend, PollLimits, StageTopology, TableError, TaskId, TaskTables, TopicPartition};
use stream_rocksdb::{EmbeddedBackend, EmbeddedStores};
use topology::LogNames;

/// Whether a data directory already holds a crawl, even if only seeds waiting for the first run.
pub fn has_crawl(data: &Path) -> bool {
    stream_rocksdb::has_log(data)
}

/// A data directory opened for reading.
pub struct Inspection {
    stores: EmbeddedStores,
    log: Arc<EmbeddedBackend>,
    names: LogNames,
    partitions: u32,
}

impl Inspection {
    /// Opens a data directory of `recrawl run`, whether it is running or not.
    pub fn open(settings: &Settings, data: &Path) -> Result<Self, CommandFailure> {
        let log = Arc::new(EmbeddedBackend::open_read_only(data)?);
        let names = LogNames::new(settings);
        let input = names.topic(topics::SCHEDULER_EVENTS);
        let partitions = log.topics()?.iter().find(|topic| *topic.name == input).map_or(0, |topic| topic.partitions);
        // Records written by other versions must be readable too.
        crate::topic_reader::learn_schemas(&log, &names)?;
        Ok(Self { stores: EmbeddedStores::new(log.clone()), log, names, partitions })
    }

    /// The crawl's log.
    pub fn log(&self) -> &EmbeddedBackend {
        &self.log
    }

    /// Names of topics and groups on the log.
    pub fn names(&self) -> &LogNames {
        &self.names
    }

    /// Number of partitions of the loop.
    pub fn partitions(&self) -> u32 {
        self.partitions
    }

    /// The tables of a task. `None` if the task was never started.
    fn tables(&self, topology: &StageTopology, partition: u32) -> Option<TaskTables> {
        let task = TaskId { stage: topology.name.to_owned(), partition };
        self.stores.view(&task, &topology.table_names()).map(|store| TaskTables::new(store, topology))
    }

    /// Visits every page of the scheduler, by partition and id.
    pub fn pages(&self, visit: &mut dyn FnMut(PageId, ScheduledPage)) -> Result<(), CommandFailure> {
        let topology = scheduler::topology();
        for partition in 0..self.partitions {
            let Some(tables) = self.tables(&topology, partition) else { continue };
            let each = &mut |id, page| {
                visit(id, page);
                Ok::<(), TableError>(())
            };
            tables.scan(scheduler::PAGES, each).map_err(|error| unreadable("scheduler", partition, &error))?;
        }
        Ok(())
    }

    /// The hosts that the scheduler knows, with their schedules.
    pub fn hosts(&self) -> Result<HashMap<HostName, HostSchedule>, CommandFailure> {
        let (topology, mut hosts) = (scheduler::topology(), HashMap::new());
        for partition in 0..self.partitions {
            let Some(tables) = self.tables(&topology, partition) else { continue };
            let each = &mut |host, schedule| {
                hosts.insert(host, schedule);
                Ok::<(), TableError>(())
            };
            tables.scan(scheduler::HOSTS, each).map_err(|error| unreadable("scheduler", partition, &error))?;
        }
        Ok(hosts)
    }

    /// How far the removal of a page has come. `None` if no operator has forgotten it.
    pub fn forgotten(&self, url: &CanonicalUrl) -> Result<Option<ForgottenPage>, CommandFailure> {
        let partition = partition_for(url.site_key().as_str().as_bytes(), self.partitions.max(1));
        let Some(tables) = self.tables(&scheduler::topology(), partition) else { return Ok(None) };
        let found = tables.get(scheduler::FORGOTTEN, &url.page_id());
        found.map_err(|error| unreadable("scheduler", partition, &error))
    }

    /// The state of the crawl, as far as it is on disk.
    pub fn status(&self) -> Result<Status, CommandFailure> {
        let mut status = Status::default();
        let mut audits = (0, 0);
        let mut outcomes = HashMap::<_, u64>::new();
        self.pages(&mut |_, page| {
            status.pages += 1;
            status.never_fetched += u64::from(page.last_look_at.is_none());
            status.in_flight += u64::from(page.request.lease_until().is_some());
            status.fetches_total += page.fetches as u64;
            status.changes_total += page.changes as u64;
            if let Some(outcome) = page.outcome.or(page.failure.map(|failure| failure.outcome)) {
                *outcomes.entry(AnswerKind::Outcome(outcome)).or_default() += 1;
            }
            audits.0 += page.audits as u64;
            audits.1 += page.audits_fresh as u64;
        })?;
        status.page_outcomes = daemon::outcome_counts(|kind| outcomes.get(&kind).copied().unwrap_or(0));
        status.audited_freshness = AuditedFreshness::of(audits.0, audits.1);
        for (stage, input) in topology::STAGES {
            let group = self.names.group(stage);
            let mut lag = StageLag { name: stage.to_owned(), ..StageLag::default() };
            for partition in 0..self.partitions {
                let place = TopicPartition::new(self.names.topic(input), partition);
                let next = self.log.committed(&group, &place)?.map_or(0, |position| position.next);
                lag.lag_records += self.log.count(&place, next)?;
            }
            status.stages.push(lag);
        }
        Ok(status)
    }

    /// Why a page is or is not due. `None` if the page is unknown.
    pub fn explain(
        &self,
        settings: &Settings,
        url: &CanonicalUrl,
        now: Timestamp,
    ) -> Result<Option<Explanation>, CommandFailure> {
        let partition = partition_for(url.site_key().as_str().as_bytes(), self.partitions.max(1));
        let Some(tables) = self.tables(&scheduler::topology(), partition) else { return Ok(None) };
        let rules = FrontierRules::new(settings, self.partitions.max(1));
        let demand = self.demand(partition)?.filter(|demand| demand.policy == settings.policy.name.name());
        // A replay's clock may be ahead of ours.
        let now = demand.as_ref().map_or(now, |demand| now.max(demand.published_at));
        explain(&tables, &rules, url, demand.map(|demand| demand.price), now)
            .map_err(|error| unreadable("scheduler", partition, &error))
    }

    /// The last published demand of a scheduler partition, with the price it uses.
    fn demand(&self, partition: u32) -> Result<Option<Demand>, CommandFailure> {
        const BATCH: usize = 1_000;
        let place = TopicPartition::new(self.names.topic(topics::DEMAND), 0);
        let mut next = self.log.bounds(&place)?.start;
        let mut last = None;
        loop {
            let records = self.log.read(&place, next, PollLimits::records(BATCH))?;
            let Some(end) = records.last() else { return Ok(last) };
            next = end.offset + 1;
            let key = partition.to_string();
            for record in records.iter().filter(|record| record.key == key.as_bytes()) {
                last = record.value.as_deref().and_then(|value| Demand::decode(value).ok()).or(last);
            }
        }
    }

    /// The stored copy of a page, unpacked. `None` if there is none.
    pub fn copy(&self, url: &CanonicalUrl) -> Result<Option<(PageContent, Vec<u8>)>, CommandFailure> {
        let partition = partition_for(url.site_key().as_str().as_bytes(), self.partitions.max(1));
        let failed = |error: &dyn std::fmt::Display| unreadable("detector", partition, error);
        let Some(tables) = self.tables(&detector::topology(), partition) else { return Ok(None) };
        let kept = tables.get(detector::CONTENTS, &url.page_id()).map_err(|error| failed(&error))?;
        let Some(kept) = kept else { return Ok(None) };
        let content = body::unpack(&kept.content, usize::MAX);
        let content = content.map_err(|error| failed(&format!("stored copy of {url}: {error}")))?;
        let content = content.into_owned();
        Ok(Some((kept, content)))
    }

    /// Everything stored about one page. `None` if the page is unknown.
    pub fn page(&self, url: &CanonicalUrl) -> Result<Option<PageReport>, CommandFailure> {
        let partition = partition_for(url.site_key().as_str().as_bytes(), self.partitions.max(1));
        let id = url.page_id();
        let Some(scheduler) = self.tables(&scheduler::topology(), partition) else { return Ok(None) };
        let failed = |stage: &'static str| move |error: TableError| unreadable(stage, partition, &error);
        let Some(page) = scheduler.get(scheduler::PAGES, &id).map_err(failed("scheduler"))? else { return Ok(None) };
        let host = scheduler.get(scheduler::HOSTS, &HostName::of(url)).map_err(failed("scheduler"))?;
        // The scheduler may know a page before the other stages have seen its partition.
        let detector = self.tables(&detector::topology(), partition);
        let sketch = detector.map(|tables| tables.get(detector::PAGES, &id).map_err(failed("detector")));
        let estimator = self.tables(&estimator::topology(), partition);
        let belief = estimator.map(|tables| tables.get(estimator::PAGES, &id).map_err(failed("estimator")));
        let (sketch, belief) = (sketch.transpose()?.flatten(), belief.transpose()?.flatten());
        Ok(Some(PageReport::new(id, url, partition, page, host, sketch, belief)))
    }
}

fn unreadable(stage: &str, partition: u32, error: &dyn std::fmt::Display) -> CommandFailure {
    CommandFailure::World(format!("{stage}/{partition}: {error}"))
}

/// Everything stored about one page. Times are RFC 3339 in UTC.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct PageReport {
    pub url: String,
    pub page_id: String,
    pub host: String,
    pub site_key: String,
    pub partition: u32,
    pub weight: f64,
    /// Its weight by the links that lead to it; 1 is average. Counts if no other weight is given.
    pub importance: f64,
    pub depth: i32,
    pub discovered_at: String,
    pub last_look_at: Option<String>,
    pub last_change_at: Option<String>,
    pub in_flight_until: Option<String>,
    pub held_until: Option<String>,
    pub fetches: i64,
    pub changes: i64,
    pub failures_in_a_row: i32,
    pub outcome: Option<String>,
    pub status: Option<u16>,
    pub verdict: Option<String>,
    /// The last request that said nothing about the content, in one word, and when it was.
    pub last_failure: Option<String>,
    pub last_failure_at: Option<String>,
    pub last_failure_status: Option<u16>,
    /// The same in words, with the setting that would change it.
    pub last_failure_means: Option<String>,
    pub change_rate_per_day: f64,
    pub alpha: f64,
    pub beta_days: f64,
    pub own_alpha: f32,
    pub own_beta_days: f32,
    pub hint_probability: f64,
    pub audits: i64,
    pub audits_fresh: i64,
    pub content_digest: Option<String>,
    pub body_length: i64,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub host_next_permitted_at: Option<String>,
    pub host_crawl_delay_ms: Option<i64>,
    pub host_paused: Option<bool>,
    pub host_blocked: Option<bool>,
    /// Number of fetches that the detector has processed.
    pub results: i64,
    /// Number of fetches that the estimator has processed, and of those that were informative about changes.
    pub observations: i64,
    pub informative_observations: i64,
}

impl PageReport {
    fn new(
        id: PageId,
        url: &CanonicalUrl,
        partition: u32,
        page: ScheduledPage,
        host: Option<HostSchedule>,
        sketch: Option<PageSketch>,
        belief: Option<PageBelief>,
    ) -> Self {
        let moment = |moment: Option<page::Timestamp>| moment.map(|moment| moment.to_string());
        Self {
            url: url.to_string(),
            page_id: id.to_string(),
            host: url.host().to_string(),
            site_key: url.site_key().to_string(),
            partition,
            weight: page.weight,
            importance: page.importance,
            depth: page.depth,
            discovered_at: page.discovered_at.to_string(),
            last_look_at: moment(page.last_look_at),
            last_change_at: moment(page.last_change_at),
            in_flight_until: moment(page.request.lease_until()),
            held_until: moment(page.request.held_until()),
            fetches: page.fetches,
            changes: page.changes,
            failures_in_a_row: page.request.failures,
            outcome: page.outcome.as_ref().map(messages::word),
            status: page.status,
            verdict: page.verdict.as_ref().map(messages::word),
            last_failure: page.failure.as_ref().map(|failure| messages::word(&failure.outcome)),
            last_failure_at: moment(page.failure.as_ref().map(|failure| failure.at)),
            last_failure_status: page.failure.as_ref().and_then(|failure| failure.status),
            last_failure_means: page.failure.map(|failure| AnswerKind::Outcome(failure.outcome).report().in_words()),
            change_rate_per_day: page.belief.change_rate_per_day(),
            alpha: page.belief.alpha,
            beta_days: page.belief.beta_days,
            own_alpha: page.belief.own_alpha,
            own_beta_days: page.belief.own_beta_days,
            hint_probability: -(-page.hint_hazard).exp_m1(),
            audits: page.audits,
            audits_fresh: page.audits_fresh,
            content_digest: page.validators.content_digest.map(|digest| digest.to_string()),
            body_length: page.body_length,
            etag: page.validators.etag,
            last_modified: page.validators.last_modified,
            host_next_permitted_at: host.as_ref().map(|host| host.next_permitted_at.to_string()),
            host_crawl_delay_ms: host.as_ref().map(|host| host.crawl_delay_ms),
            host_paused: host.as_ref().map(|host| host.paused),
            host_blocked: host.as_ref().map(|host| host.blocked),
            results: sketch.map_or(0, |sketch| sketch.fetches),
            observations: belief.as_ref().map_or(0, |belief| belief.fetches),
            informative_observations: belief.map_or(0, |belief| belief.observations),
        }
    }
}
