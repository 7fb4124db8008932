//! Reads the stored state of a page or a crawl, whether its loop is running or not.

use super::{CrawlState, VisitCopy, WatchedPage};
use crate::listed_seeds::noted_list;
use crate::rule_sets::AT_ONCE;
use crate::{ExplanationParts, NamedSource, PageParts, RuleSets};
use daemon::{AuditedFreshness, CommandFailure, DiskSpace, FocusStatus, StageLag, Status, WebClock};
use detector::{PageHistory, PageSketch, VersionFacts};
use fetcher::RobotsKey;
use messages::{Demand, Encoded, HostSelection, PageContent, PageSelection, topics};
use page::{CanonicalUrl, HostName, PageId};
use ranker::{FocusTotals, NeighbourKey, NeighbourSites};
use scheduler::explain::explain;
use scheduler::{
    FrontierRules, HostListing, HostSchedule, HostTally, ListedPage, PageSource, ScheduledPage, is_selected,
    may_be_selected,
};
use settings::Settings;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stream::partitioner::partition_for;
use stream::{
    Clock, LogBackend, PollLimits, StageTopology, Table, TableError, TableKey, TaskId, TaskTables, TopicPartition,
};
use stream_rocksdb::{EmbeddedBackend, EmbeddedStores};
use topology::LogNames;

/// Whether a data directory already holds a crawl, even if only seeds waiting for the first run.
pub fn has_crawl(data: &Path) -> bool {
    stream_rocksdb::has_log(data)
}

/// A data directory opened for reading.
pub struct Inspection {
    directory: PathBuf,
    stores: EmbeddedStores,
    log: Arc<EmbeddedBackend>,
    names: LogNames,
    partitions: u32,
    settings: Settings,
    topologies: Vec<StageTopology>,
}

impl Inspection {
    /// Opens a data directory of `recrawl run`, whether it is running or not.
    pub fn open(settings: &Settings, topologies: Vec<StageTopology>, data: &Path) -> Result<Self, CommandFailure> {
        let log = Arc::new(EmbeddedBackend::open_read_only(data)?);
        let names = LogNames::new(settings);
        let partitions = partitions_of(&log, &names)?;
        // Records written by other versions must be readable too.
        daemon::learn_schemas(&log, &names)?;
        let stores = EmbeddedStores::new(log.clone());
        Ok(Self { directory: data.to_owned(), stores, log, names, partitions, settings: settings.clone(), topologies })
    }

    /// The crawl that runs in this process on this log.
    pub fn of_running(
        settings: &Settings,
        topologies: Vec<StageTopology>,
        data: &Path,
        log: Arc<EmbeddedBackend>,
    ) -> Result<Self, CommandFailure> {
        let names = LogNames::new(settings);
        let partitions = partitions_of(&log, &names)?;
        let stores = EmbeddedStores::new(log.clone());
        Ok(Self { directory: data.to_owned(), stores, log, names, partitions, settings: settings.clone(), topologies })
    }

    pub fn log(&self) -> &EmbeddedBackend {
        &self.log
    }

    /// Names of topics and groups on the log.
    pub fn names(&self) -> &LogNames {
        &self.names
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
            tables.scan(scheduler::PAGES, b"", each).map_err(|error| unreadable("scheduler", partition, &error))?;
        }
        Ok(())
    }

    /// The hosts that the scheduler knows, with their schedules.
    pub fn host_schedules(&self) -> Result<HashMap<HostName, HostSchedule>, CommandFailure> {
        let (topology, mut hosts) = (scheduler::topology(), HashMap::new());
        for partition in 0..self.partitions {
            let Some(tables) = self.tables(&topology, partition) else { continue };
            let each = &mut |host, schedule| {
                hosts.insert(host, schedule);
                Ok::<(), TableError>(())
            };
            tables.scan(scheduler::HOSTS, b"", each).map_err(|error| unreadable("scheduler", partition, &error))?;
        }
        Ok(hosts)
    }

    /// How well the pages keep to the focuses. How many examples there are is not stored.
    fn focus_status(&self) -> Result<Option<FocusStatus>, CommandFailure> {
        let mut sums = FocusTotals::default();
        for partition in 0..self.partitions {
            let Some(tables) = self.tables(&ranker::topology(), partition) else { continue };
            let totals = tables.get(ranker::FOCUS_TOTALS, &ranker::TotalsKey);
            let totals = totals.map_err(|error| unreadable("ranker", partition, &error))?.unwrap_or_default();
            sums.judged += totals.judged;
            sums.in_focus += totals.in_focus;
        }
        let count = |number: i64| number.max(0).unsigned_abs();
        Ok(FocusStatus::of(count(sums.judged), count(sums.in_focus), 0, 0))
    }

    /// The rules by which the scheduler decides, as far as they are kept.
    ///
    /// # Errors
    /// The saved rules cannot be read.
    pub fn rules(&self) -> Result<FrontierRules, CommandFailure> {
        let rules = FrontierRules::new(&self.settings, self.partitions.max(1));
        Ok(rules.with_saved(self.saved_rules()?.crawl_rules()?).with_seeds(noted_list(&self.directory)?))
    }

    /// Number of pages on which their watch rule sees nothing of something.
    fn blind_pages(&self) -> Result<u64, CommandFailure> {
        let mut count = 0;
        for partition in 0..self.partitions {
            let Some(tables) = self.tables(&detector::topology(), partition) else { continue };
            let each = &mut |_, _| {
                count += 1;
                Ok::<(), TableError>(())
            };
            tables.scan(detector::BLIND, b"", each).map_err(|error| unreadable("detector", partition, &error))?;
        }
        Ok(count)
    }

    /// The line of the stored robots.txt that forbids a page.
    fn forbidden_by(&self, url: &CanonicalUrl) -> Result<Option<String>, CommandFailure> {
        let robots = self.entry(&fetcher::topology(), url, fetcher::ROBOTS, &RobotsKey::of(url))?;
        Ok(robots.and_then(|robots| robots.forbidding_line(url, self.settings.crawl.product_token())))
    }

    /// The tables of a stage for the partition of a page. `None` if the task was never started.
    fn tables_of(&self, topology: &StageTopology, url: &CanonicalUrl) -> Option<TaskTables> {
        self.tables(topology, self.partition_of(url))
    }

    /// The entry of a page, or of its host, in a table. `None` if the table has no such entry, or the task was never started.
    fn entry<K: TableKey, V: Encoded>(
        &self,
        topology: &StageTopology,
        url: &CanonicalUrl,
        table: Table<K, V>,
        key: &K,
    ) -> Result<Option<V>, CommandFailure> {
        let Some(tables) = self.tables_of(topology, url) else { return Ok(None) };
        tables.get(table, key).map_err(|error| unreadable(topology.name, self.partition_of(url), &error))
    }

    /// The neighbours of the page's site, where the settings judge by them.
    fn neighbours(&self, url: &CanonicalUrl) -> Result<Option<NeighbourSites>, CommandFailure> {
        if !self.settings.ranker.spam_shape {
            return Ok(None);
        }
        self.entry(&ranker::topology(), url, ranker::NEIGHBOURS, &NeighbourKey::of(&url.site_key()))
    }

    fn page_history(&self, url: &CanonicalUrl) -> Result<PageHistory, CommandFailure> {
        let detector = detector::topology();
        let Some(tables) = self.tables_of(&detector, url) else { return Ok(PageHistory::default()) };
        PageHistory::read(&url.page_id(), &tables)
            .map_err(|error| unreadable(detector.name, self.partition_of(url), &error))
    }

    fn partition_of(&self, url: &CanonicalUrl) -> u32 {
        partition_for(url.site_key().as_str().as_bytes(), self.partitions.max(1))
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
}

impl CrawlState for Inspection {
    fn partitions(&self) -> u32 {
        self.partitions
    }

    fn most_hosts(&self) -> Option<i32> {
        None
    }

    fn saved_rules(&self) -> Result<RuleSets, CommandFailure> {
        let topic = self.names.topic(topics::RULE_SETS);
        // The crawl may be of a version without saved rules.
        if !self.log.topics()?.iter().any(|known| *known.name == topic) {
            return Ok(RuleSets::default());
        }
        let place = TopicPartition::new(topic, 0);
        RuleSets::read(|next| {
            let records = self.log.read(&place, next, PollLimits::records(AT_ONCE))?;
            let after = records.last().map_or(next, |last| last.offset + 1);
            Ok((records, after))
        })
    }

    fn status(&self) -> Result<(Status, Result<(), CommandFailure>), CommandFailure> {
        let (mut pages, mut never_fetched, mut in_flight, mut fetches, mut changes) = (0, 0, 0, 0, 0);
        let mut failed_seeds = 0;
        let mut audits = (0, 0);
        let mut outcomes = HashMap::<_, u64>::new();
        self.pages(&mut |_, page| {
            pages += 1;
            never_fetched += u64::from(page.last_look_at.is_none());
            failed_seeds += u64::from(page.is_failed_seed());
            in_flight += u64::from(page.request.lease_until().is_some());
            fetches += page.fetches as u64;
            changes += page.changes as u64;
            if let Some(kind) = page.last_answer() {
                *outcomes.entry(kind).or_default() += 1;
            }
            audits.0 += page.audits as u64;
            audits.1 += page.audits_fresh as u64;
        })?;
        let mut status = Status {
            pages: Some(pages),
            never_fetched: Some(never_fetched),
            due: Some(0),
            in_flight: Some(in_flight),
            fetches_total: Some(fetches),
            changes_total: Some(changes),
            failed_seeds: Some(failed_seeds),
            blind_pages: Some(self.blind_pages()?),
            fetch_rate_per_s: Some(0.0),
            focus: self.focus_status()?,
            page_outcomes: daemon::outcome_counts(|kind| outcomes.get(&kind).copied().unwrap_or(0)),
            audited_freshness: AuditedFreshness::of(audits.0, audits.1),
            disk: DiskSpace::of(&self.directory, self.settings.log.min_free_disk).ok(),
            ..Status::default()
        };
        for &StageTopology { name: stage, input, .. } in &self.topologies {
            let group = self.names.group(stage);
            let mut lag = StageLag {
                name: stage.to_owned(),
                ready: Some(false),
                partitions: Some(0),
                processed_total: Some(0),
                set_aside_total: Some(0),
                ..StageLag::default()
            };
            for partition in 0..self.partitions {
                let place = TopicPartition::new(self.names.topic(input), partition);
                let next = self.log.committed(&group, &place)?.map_or(0, |position| position.next);
                lag.lag_records += self.log.count(&place, next)?;
            }
            status.stages.push(lag);
        }
        Ok((status, Ok(())))
    }

    fn explain(&self, url: &CanonicalUrl) -> Result<ExplanationParts, CommandFailure> {
        let id = url.page_id();
        let parts = ExplanationParts {
            focus: self.entry(&ranker::topology(), url, ranker::FOCUS, &id)?,
            neighbours: self.neighbours(url)?,
            forgotten: self.entry(&scheduler::topology(), url, scheduler::FORGOTTEN, &id)?,
            explanation: None,
            forbidden_by: self.forbidden_by(url)?,
        };
        let Some(tables) = self.tables_of(&scheduler::topology(), url) else { return Ok(parts) };
        let partition = self.partition_of(url);
        let rules = self.rules()?;
        let demand = self.demand(partition)?.filter(|demand| demand.policy == self.settings.policy.name);
        // A replay's clock may be ahead of ours.
        let now = WebClock::new(&self.settings.clock).now();
        let now = demand.as_ref().map_or(now, |demand| now.max(demand.published_at));
        let explanation = explain(&tables, &rules, url, demand.map(|demand| demand.price), now)
            .map_err(|error| unreadable("scheduler", partition, &error))?;
        Ok(ExplanationParts { explanation, ..parts })
    }

    fn copy(&self, url: &CanonicalUrl) -> Result<Option<PageContent>, CommandFailure> {
        self.entry(&detector::topology(), url, detector::CONTENTS, &url.page_id())
    }

    fn each_copy(&self, visit: &mut VisitCopy<'_>) -> Result<ControlFlow<()>, CommandFailure> {
        let topology = detector::topology();
        for partition in 0..self.partitions {
            let Some(tables) = self.tables(&topology, partition) else { continue };
            let mut visited = Ok(ControlFlow::Continue(()));
            let each = &mut |_, copy: PageContent| {
                let sketch: Option<PageSketch> = tables.get(detector::PAGES, &copy.url.page_id())?;
                visited = visit(copy, sketch.and_then(|sketch| sketch.title).as_deref());
                if matches!(visited, Ok(ControlFlow::Continue(()))) { Ok(()) } else { Err(ScanEnd::Full) }
            };
            match tables.scan(detector::CONTENTS, b"", each) {
                Ok(()) => {}
                Err(ScanEnd::Full) => return visited,
                Err(ScanEnd::Failed(error)) => return Err(unreadable("detector", partition, &error)),
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn history(&self, url: &CanonicalUrl) -> Result<Vec<VersionFacts>, CommandFailure> {
        Ok(self.page_history(url)?.versions())
    }

    fn version(&self, url: &CanonicalUrl, number: u32) -> Result<Option<PageContent>, CommandFailure> {
        self.page_history(url)?.copy(url, number).map_err(CommandFailure::World)
    }

    fn list_pages(&self, selection: &PageSelection, visit: &mut dyn FnMut(ListedPage)) -> Result<(), CommandFailure> {
        let mut left = usize::try_from(selection.at_most).unwrap_or(0);
        let topology = scheduler::topology();
        for partition in 0..self.partitions {
            let Some(tables) = self.tables(&topology, partition).filter(|_| left > 0) else { continue };
            let each = &mut |_, page: ScheduledPage| {
                if is_selected(&page, selection) {
                    visit(ListedPage::from(&page));
                    left -= 1;
                }
                if left > 0 { Ok(()) } else { Err(ScanEnd::Full) }
            };
            match tables.scan_wanted(scheduler::PAGES, b"", |encoded| may_be_selected(encoded, selection), each) {
                Ok(()) | Err(ScanEnd::Full) => {}
                Err(ScanEnd::Failed(error)) => return Err(unreadable("scheduler", partition, &error)),
            }
        }
        Ok(())
    }

    fn watched(
        &self,
        urls: &[CanonicalUrl],
        visit: &mut dyn FnMut(&CanonicalUrl, WatchedPage) -> Result<(), CommandFailure>,
    ) -> Result<(), CommandFailure> {
        let detector = detector::topology();
        for url in urls {
            let id = url.page_id();
            let sketch = self.entry(&detector, url, detector::PAGES, &id)?.unwrap_or_default();
            let blind = self.entry(&detector, url, detector::BLIND, &id)?;
            visit(url, WatchedPage { sketch, blind, copy: self.copy(url)? })?;
        }
        Ok(())
    }

    fn page(&self, url: &CanonicalUrl) -> Result<PageParts, CommandFailure> {
        let id = url.page_id();
        let scheduler = scheduler::topology();
        Ok(PageParts {
            page: self.entry(&scheduler, url, scheduler::PAGES, &id)?,
            host: self.entry(&scheduler, url, scheduler::HOSTS, &HostName::of(url))?,
            forgotten: self.entry(&scheduler, url, scheduler::FORGOTTEN, &id)?,
            sketch: self.entry(&detector::topology(), url, detector::PAGES, &id)?,
            belief: self.entry(&estimator::topology(), url, estimator::PAGES, &id)?,
            focus: self.entry(&ranker::topology(), url, ranker::FOCUS, &id)?,
            neighbours: self.neighbours(url)?,
        })
    }

    fn discovered_on(&self, source: &NamedSource) -> Result<u64, CommandFailure> {
        let source = match source {
            NamedSource::Page(url) => PageSource::Page(url.page_id()),
            NamedSource::Site(host) => PageSource::Site(host.site_key()),
        };
        let mut count = 0;
        self.pages(&mut |_, page| count += u64::from(page.was_found_on(&source)))?;
        Ok(count)
    }

    fn hosts(&self, selection: HostSelection) -> Result<HostListing, CommandFailure> {
        let rules = self.rules()?;
        let mut tally = HostTally::new(&rules, WebClock::new(&self.settings.clock).now());
        self.pages(&mut |_, page| tally.add_page(&page))?;
        self.host_schedules()?.into_iter().for_each(|(host, schedule)| tally.add_host(host, schedule));
        Ok(tally.listing(selection))
    }
}

/// Number of partitions of the loop; 0 before its first start.
fn partitions_of(log: &EmbeddedBackend, names: &LogNames) -> Result<u32, CommandFailure> {
    let input = names.topic(topics::SCHEDULER_EVENTS);
    Ok(log.topics()?.iter().find(|topic| *topic.name == input).map_or(0, |topic| topic.partitions))
}

/// Why a scan of pages ended early.
enum ScanEnd {
    Full,
    Failed(TableError),
}

impl From<TableError> for ScanEnd {
    fn from(error: TableError) -> Self {
        Self::Failed(error)
    }
}

fn unreadable(stage: &str, partition: u32, error: &dyn std::fmt::Display) -> CommandFailure {
    CommandFailure::World(format!("{stage}/{partition}: {error}"))
}
