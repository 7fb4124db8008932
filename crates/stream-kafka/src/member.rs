//! A member of a group: its consumer, its transactional producer, and who owns what.

use crate::client::{Quiet, lock};
use crate::closing::Closing;
use crate::error::{kind_of, log_error, reason};
use crate::log::{Cluster, committed_offsets, no_topic, serve};
use crate::reader::{list_offsets, to_record};
use crate::transactions::{Positions, Transactions};
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext, RebalanceProtocol};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::types::RDKafkaRespErr;
use rdkafka::{ClientContext, Offset, TopicPartitionList};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use stream::{ErrorKind, Event, InputRecord, LogError, Member, MemberSpec, OutputRecord, PartitionLag, Receipt};
use tracing::{debug, warn};

/// A member that has had nothing to do for so long commits its positions.
const IDLE_AFTER: Duration = Duration::from_millis(250);

/// Least time between two commits of an idle member, and between two questions for the end of its partitions.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// Longest wait for a partition to be ready for its first offset.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// Longest wait for the group to let a member go.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(20);

/// A member of a group.
pub(crate) struct KafkaMember {
    cluster: Arc<Cluster>,
    consumer: Closing<BaseConsumer<Rebalances>>,
    transactions: Transactions,
    input: Arc<str>,
    group: String,
    /// Partitions that are ours; `None` until they are started.
    owned: BTreeMap<u32, Option<Progress>>,
    /// Events that came at another time than during a poll, or more than a poll could take.
    kept: VecDeque<Event>,
    /// A failure that came after records in a poll.
    failure: Option<LogError>,
    /// No broker answered lately.
    unreachable: bool,
    /// Records of the open transaction. They are sent at commit.
    staged: Vec<OutputRecord>,
    active_at: Instant,
    settled_at: Option<Instant>,
    bounds: BTreeMap<u32, (u64, u64)>,
    bounds_at: Option<Instant>,
    committed: BTreeMap<u32, Option<u64>>,
}

/// How far a started partition is.
#[derive(Clone, Copy, Debug)]
struct Progress {
    /// Next offset to deliver; whatever lies before it is stale.
    next: u64,
    /// Everything before this needs no more work of ours: it is committed.
    settled: u64,
}

impl KafkaMember {
    pub(crate) fn join(cluster: Arc<Cluster>, spec: &MemberSpec) -> Result<Self, LogError> {
        // First, so that an older instance can commit nothing more by the time we read committed offsets.
        let transactions = Transactions::init(&cluster.settings, &spec.transactional_id)?;
        let consumer: BaseConsumer<Rebalances> = cluster
            .settings
            .member(&spec.group)
            .create_with_context(Rebalances::default())
            .map_err(|error| log_error("cannot make a consumer", &error))?;
        consumer.subscribe(&[&spec.input]).map_err(|error| log_error("cannot join the group", &error))?;
        Ok(Self {
            cluster,
            consumer: Closing::new(consumer, CLOSE_TIMEOUT),
            transactions,
            input: spec.input.as_str().into(),
            group: spec.group.clone(),
            owned: BTreeMap::new(),
            kept: VecDeque::new(),
            failure: None,
            unreachable: false,
            staged: Vec::new(),
            active_at: Instant::now(),
            settled_at: None,
            bounds: BTreeMap::new(),
            bounds_at: None,
            committed: BTreeMap::new(),
        })
    }

    /// Polls once, puts what came behind the kept events, and says whether anything did.
    fn serve(&mut self, wait: Duration) -> Result<bool, LogError> {
        let polled = self.consumer.poll(wait).map(|polled| polled.map(|message| to_record(&message)));
        let before = self.kept.len();
        let changed = self.take_changes()?;
        match polled {
            Some(Ok(record)) => self.accept(record),
            Some(Err(error)) => self.judge(&error)?,
            None => {}
        }
        Ok(changed || self.kept.len() > before)
    }

    /// Keeps a record that is due; others were fetched before a restart or a revocation.
    fn accept(&mut self, record: InputRecord) {
        if let Some(Some(progress)) = self.owned.get_mut(&record.partition)
            && record.offset >= progress.next
        {
            progress.next = record.offset + 1;
            self.kept.push_back(Event::Record(record));
        }
    }

    /// Takes over what rebalance callbacks have noted. True when partitions came or went.
    fn take_changes(&mut self) -> Result<bool, LogError> {
        let changes = std::mem::take(&mut *lock(&self.consumer.context().changes));
        let changed = !changes.is_empty();
        for change in changes {
            match change {
                Change::Assigned(partitions) => {
                    self.owned.extend(partitions.iter().map(|&partition| (partition, None)));
                    self.kept.push_back(Event::Assigned(partitions));
                }
                Change::Revoked(partitions) => {
                    for partition in &partitions {
                        self.owned.remove(partition);
                        self.committed.remove(partition);
                        self.bounds.remove(partition);
                    }
                    // Records not handed over yet are for the next owner.
                    self.kept.retain(|event| !matches!(event, Event::Record(r) if partitions.contains(&r.partition)));
                    self.kept.push_back(Event::Revoked(partitions));
                }
                Change::Failed(why) => {
                    let message = format!("cannot take over partitions of {}: {why} ({})", self.input, self.group);
                    return Err(LogError::new(ErrorKind::Rejoin, message));
                }
            }
        }
        Ok(changed)
    }

    /// What an error event means. librdkafka goes on by itself after most of them.
    fn judge(&mut self, error: &KafkaError) -> Result<(), LogError> {
        use RDKafkaErrorCode as Code;
        let doing = || format!("cannot consume {} as {}", self.input, self.group);
        if matches!(error, KafkaError::MessageConsumptionFatal(_)) {
            return Err(log_error(&doing(), error));
        }
        match error.rdkafka_error_code() {
            // Of one broker or of all: the next question will tell.
            Some(Code::AllBrokersDown | Code::BrokerTransportFailure | Code::Resolve) => self.unreachable = true,
            Some(Code::UnknownTopicOrPartition | Code::UnknownTopic) => {
                // A broker may not have heard of a new topic yet.
                if self.cluster.ask_partitions(&self.input)?.is_none() {
                    return Err(no_topic(&self.input));
                }
            }
            Some(Code::PollExceeded) => warn!(group = self.group, "a batch took too long, partitions were lost"),
            Some(code) if kind_of(code) == ErrorKind::Stop => return Err(log_error(&doing(), error)),
            _ => debug!(group = self.group, %error, "consumer error"),
        }
        Ok(())
    }

    /// Asks whether a broker answers again.
    fn check_reachable(&mut self) -> Result<(), LogError> {
        if !self.unreachable {
            return Ok(());
        }
        match self.cluster.committed_view.fetch_metadata(Some(&self.input), Duration::from_secs(1)) {
            Ok(_) => {
                self.unreachable = false;
                Ok(())
            }
            Err(error) => Err(self.cluster.explained("cannot ask for topics", &error)),
        }
    }

    /// Moves committed offsets past transaction markers, which are never delivered: lag 0 shall mean idle. Only where
    /// everything delivered is committed, and in a transaction, so that it cannot overtake one.
    fn settle(&mut self) -> Result<(), LogError> {
        let recently = |at: Instant, span: Duration| at.elapsed() < span;
        if recently(self.active_at, IDLE_AFTER) || self.settled_at.is_some_and(|at| recently(at, ASK_EVERY)) {
            return Ok(());
        }
        self.settled_at = Some(Instant::now());
        let Ok(positions) = self.consumer.position() else { return Ok(()) };
        let mut ahead = Vec::new();
        for element in positions.elements_for_topic(&self.input) {
            let partition = element.partition() as u32;
            if let (Some(Some(progress)), Offset::Offset(position)) = (self.owned.get(&partition), element.offset())
                && progress.settled >= progress.next
                && position as u64 > progress.settled
            {
                ahead.push((partition, position as u64));
            }
        }
        match self.commit_transaction(&[], &ahead) {
            // A rebalance is on its way. There will be another occasion.
            Err(error) if error.kind == ErrorKind::Abort => Ok(()),
            result => result.map(|_| ()),
        }
    }

    fn commit_transaction(
        &mut self,
        records: &[OutputRecord],
        next_offsets: &[(u32, u64)],
    ) -> Result<Receipt, LogError> {
        // A broker refuses positions of a member that is no longer of the group, and the transaction with them. Without
        // any, one that slept until others had taken over could still overwrite what they wrote: so where nothing was
        // taken in, a position is committed once more as it is.
        let positions = match next_offsets {
            [] => {
                let known = self.committed.iter().find_map(|(&partition, &committed)| Some((partition, committed?)));
                known.filter(|_| !records.is_empty()).map(|same| self.positions(&[same])).transpose()?
            }
            _ => Some(self.positions(next_offsets)?),
        };
        let cluster = &self.cluster;
        let receipt = self.transactions.commit(records, positions, &|to| cluster.check_target(to))?;
        for &(partition, next) in next_offsets {
            self.committed.insert(partition, Some(next));
            if let Some(Some(progress)) = self.owned.get_mut(&partition) {
                progress.settled = next;
                progress.next = progress.next.max(next);
            }
        }
        Ok(receipt)
    }

    fn positions(&self, next_offsets: &[(u32, u64)]) -> Result<Positions, LogError> {
        let mut offsets = TopicPartitionList::with_capacity(next_offsets.len());
        for &(partition, next) in next_offsets {
            offsets
                .add_partition_offset(&self.input, partition as i32, Offset::Offset(next as i64))
                .map_err(|error| log_error("cannot commit positions", &error))?;
        }
        let metadata = self.consumer.group_metadata().ok_or_else(|| {
            LogError::new(ErrorKind::Rejoin, format!("group {} has no metadata for us any more", self.group))
        })?;
        // Once the group has told us that we are out of it, metadata is empty, and the broker would take it for that of
        // a consumer without group.
        if self.consumer.assignment_lost() {
            let message = format!("group {} went on without us and gave our partitions to others", self.group);
            return Err(LogError::new(ErrorKind::Rejoin, message));
        }
        Ok(Positions { offsets, metadata })
    }
}

impl Member for KafkaMember {
    fn poll(&mut self, max_records: usize, timeout: Duration) -> Result<Vec<Event>, LogError> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        self.check_reachable()?;
        let mut limit = Instant::now() + timeout;
        let mut gathering = false;
        let mut wait = timeout;
        while self.kept.len() < max_records.max(1) {
            match self.serve(wait) {
                Ok(true) => {}
                Ok(false) => {}
                Err(error) if self.kept.is_empty() => return Err(error),
                Err(error) => {
                    self.failure = Some(error);
                    break;
                }
            }
            if matches!(self.kept.back(), Some(Event::Assigned(_) | Event::Revoked(_))) {
                break;
            }
            if !gathering && !self.kept.is_empty() {
                gathering = true;
                limit = Instant::now() + self.cluster.settings.batch_interval;
            }
            wait = limit.saturating_duration_since(Instant::now());
            // librdkafka counts in milliseconds: it would spin for less.
            if wait < Duration::from_millis(1) {
                break;
            }
        }
        if self.kept.is_empty() {
            self.settle()?;
            self.check_reachable()?;
            return Ok(Vec::new());
        }
        self.active_at = Instant::now();
        let mut room = max_records;
        let mut events = Vec::with_capacity(self.kept.len().min(max_records));
        while let Some(event) = self.kept.front() {
            if matches!(event, Event::Record(_)) {
                if room == 0 {
                    break;
                }
                room -= 1;
            }
            events.extend(self.kept.pop_front());
        }
        Ok(events)
    }

    fn start(&mut self, partition: u32, offset: u64) -> Result<(), LogError> {
        // Ours no more; the event that says so is on its way.
        let Some(progress) = self.owned.get_mut(&partition) else { return Ok(()) };
        let again = progress.replace(Progress { next: offset, settled: offset }).is_some();
        self.kept.retain(|event| !matches!(event, Event::Record(record) if record.partition == partition));
        let deadline = Instant::now() + START_TIMEOUT;
        loop {
            let mut list = TopicPartitionList::new();
            let listed = list.add_partition_offset(&self.input, partition as i32, Offset::Offset(offset as i64));
            let started = listed.and_then(|()| match again {
                // Only now does the consumer hear of the partition, so that nothing is fetched in vain.
                false => self.consumer.incremental_assign(&list).inspect(|()| {
                    lock(&self.consumer.context().started).insert(partition);
                }),
                true => {
                    let sought = self.consumer.seek_partitions(list, START_TIMEOUT)?;
                    sought.elements().iter().try_for_each(|element| element.error())
                }
            });
            match started {
                Ok(()) => return Ok(()),
                // The first start may still be on its way.
                Err(_) if again && Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
                Err(error) => {
                    let message = format!("cannot start {}-{partition} at {offset}: {}", self.input, reason(&error));
                    return Err(LogError::new(ErrorKind::Rejoin, message));
                }
            }
        }
    }

    /// A record may come with it, which is kept.
    fn keep_alive(&mut self) -> Result<(), LogError> {
        self.serve(Duration::ZERO).map(|_| ())
    }

    fn produce(&mut self, records: Vec<OutputRecord>) -> Result<(), LogError> {
        if self.staged.is_empty() {
            self.staged = records;
        } else {
            self.staged.extend(records);
        }
        Ok(())
    }

    fn commit(&mut self, next_offsets: &[(u32, u64)]) -> Result<Receipt, LogError> {
        let records = std::mem::take(&mut self.staged);
        if records.is_empty() && next_offsets.is_empty() {
            return Ok(Receipt::default());
        }
        self.active_at = Instant::now();
        if let Some((partition, _)) = next_offsets.iter().find(|(partition, _)| !self.owned.contains_key(partition)) {
            let message = format!("partition {partition} of {} belongs to another member now", self.input);
            return Err(LogError::new(ErrorKind::Abort, message));
        }
        self.commit_transaction(&records, next_offsets)
    }

    fn abort(&mut self) -> Result<(), LogError> {
        self.staged.clear();
        Ok(())
    }

    fn committed(&mut self, partition: u32) -> Result<Option<u64>, LogError> {
        let offsets = committed_offsets(&self.consumer, &self.input, &[partition]).map_err(|error| {
            self.cluster.explained(&format!("cannot ask for the positions of group {}", self.group), &error)
        })?;
        let committed = offsets.get(&partition).copied();
        self.committed.insert(partition, committed);
        Ok(committed)
    }

    fn lag(&mut self) -> Result<Vec<PartitionLag>, LogError> {
        let owned: Vec<u32> = self.owned.keys().copied().collect();
        let known = owned.iter().all(|partition| self.bounds.contains_key(partition));
        if !owned.is_empty() && (!known || self.bounds_at.is_none_or(|at| at.elapsed() >= ASK_EVERY)) {
            let doing = format!("cannot ask for the lag of group {}", self.group);
            let explain = |error: KafkaError| self.cluster.explained(&doing, &error);
            // Not through the consumer: its questions wait behind its fetches.
            let view = &self.cluster.committed_view;
            serve(view);
            let starts = list_offsets(view, &self.input, &owned, Offset::Beginning).map_err(explain)?;
            let ends = list_offsets(view, &self.input, &owned, Offset::End).map_err(explain)?;
            let unknown: Vec<u32> = owned.iter().copied().filter(|p| !self.committed.contains_key(p)).collect();
            if !unknown.is_empty() {
                let offsets = committed_offsets(&self.consumer, &self.input, &unknown).map_err(explain)?;
                self.committed.extend(unknown.into_iter().map(|p| (p, offsets.get(&p).copied())));
            }
            self.bounds = ends.iter().filter_map(|(&p, &end)| Some((p, (*starts.get(&p)?, end)))).collect();
            self.bounds_at = Some(Instant::now());
        }
        let lag = |partition| {
            let &(start, end) = self.bounds.get(&partition)?;
            let next = self.committed.get(&partition).copied().flatten().unwrap_or(0).max(start);
            Some(PartitionLag { partition, records: end.saturating_sub(next) })
        };
        Ok(owned.into_iter().filter_map(lag).collect())
    }
}

/// What a rebalance brought.
enum Change {
    Assigned(Vec<u32>),
    Revoked(Vec<u32>),
    Failed(String),
}

/// Carries out rebalances, which happen inside `poll`, on the thread that polls.
#[derive(Default)]
struct Rebalances {
    quiet: Quiet,
    changes: Mutex<Vec<Change>>,
    /// What the consumer knows of. It could be asked, but a consumer about to close may never answer.
    started: Mutex<BTreeSet<u32>>,
}

impl ClientContext for Rebalances {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        self.quiet.on_log(level, facility, message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        self.quiet.on_error(&error, reason);
    }
}

impl ConsumerContext for Rebalances {
    fn rebalance(&self, consumer: &BaseConsumer<Self>, kind: RDKafkaRespErr, list: &mut TopicPartitionList) {
        let partitions: Vec<u32> = list.elements().iter().map(|element| element.partition() as u32).collect();
        let (done, change) = if kind == RDKafkaRespErr::RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS {
            // The partitions follow one by one, as they are started. A pause until then would do too, but resuming
            // does not wake the thread that fetches, which costs up to a second.
            (consumer.incremental_assign(&TopicPartitionList::new()), Change::Assigned(partitions))
        } else {
            let done = match consumer.rebalance_protocol() {
                RebalanceProtocol::Cooperative => {
                    let mut known = lock(&self.started);
                    let mut started = TopicPartitionList::new();
                    for element in list.elements() {
                        if known.remove(&(element.partition() as u32)) {
                            started.add_partition(element.topic(), element.partition());
                        }
                    }
                    consumer.incremental_unassign(&started)
                }
                // Leaving the group.
                _ => {
                    lock(&self.started).clear();
                    consumer.unassign()
                }
            };
            (done, Change::Revoked(partitions))
        };
        let mut changes = lock(&self.changes);
        match (done, change) {
            (Err(error), _) => changes.push(Change::Failed(error.to_string())),
            // Every generation brings an assignment, mostly without anything new.
            (Ok(()), Change::Assigned(partitions) | Change::Revoked(partitions)) if partitions.is_empty() => {}
            (Ok(()), change) => changes.push(change),
        }
    }
}
