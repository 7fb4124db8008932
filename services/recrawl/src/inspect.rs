//! Reads the stored state of a page or a crawl, whether its loop is running or not.

use crate::CommandFailure;
use crate::page_report::{FocusReport, PageReport};
use daemon::{AuditedFreshness, FocusStatus, StageLag, Status};
use messages::{AnswerKind, Demand, Encoded, PageContent, body, topics};
use page::{CanonicalUrl, HostName, PageId, Timestamp};
use ranker::{FocusTotals, FocusedPage};
use scheduler::explain::{Explanation, explain};
use scheduler::{ForgottenPage, FrontierRules, HostSchedule, ScheduledPage};
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

    /// How well the pages keep to the topics. How many examples there are is not stored.
    fn focus_status(&self) -> Result<Option<FocusStatus>, CommandFailure> {
        let mut sums = FocusTotals::default();
        for partition in 0..self.partitions {
            let Some(tables) = self.tables(&ranker::topology(), partition) else { continue };
            let totals = tables.get(ranker::FOCUS_TOTALS, &ranker::TotalsKey);
            let totals = totals.map_err(|error| unreadable("ranker", partition, &error))?.unwrap_or_default();
            sums.judged += totals.judged;
            sums.on_topic += totals.on_topic;
        }
        let count = |number: i64| number.max(0).unsigned_abs();
        Ok(FocusStatus::of(count(sums.judged), count(sums.on_topic), 0, 0))
    }

    /// What the topics of the crawl say of a page. `None` if there were none when it was found or looked at.
    pub fn focus(&self, url: &CanonicalUrl) -> Result<Option<FocusedPage>, CommandFailure> {
        let partition = partition_for(url.site_key().as_str().as_bytes(), self.partitions.max(1));
        let Some(tables) = self.tables(&ranker::topology(), partition) else { return Ok(None) };
        let found = tables.get(ranker::FOCUS, &url.page_id());
        found.map_err(|error| unreadable("ranker", partition, &error))
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
        status.focus = self.focus_status()?;
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
        let focus = self.focus(url)?.map(FocusReport::of);
        Ok(Some(PageReport { focus, ..PageReport::new(id, url, partition, page, host, sketch, belief) }))
    }
}

fn unreadable(stage: &str, partition: u32, error: &dyn std::fmt::Display) -> CommandFailure {
    CommandFailure::World(format!("{stage}/{partition}: {error}"))
}
