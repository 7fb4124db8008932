//! A group member: its consumer, its transactional producer, and its partitions.

mod check;
mod withheld;

use crate::client::{lock, send_held_back};
use crate::closing::Closing;
use crate::cluster::{Cluster, committed_positions, no_topic};
use crate::error::{kind_of, log_error, reason};
use crate::kept_events::KeptEvents;
use crate::rebalances::{Rebalance, Rebalances};
use crate::records::to_record;
use crate::security::uses_tokens;
use crate::silence::Silence;
use crate::transactions::{Positions, Transactions};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::{Offset, TopicPartitionList};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stream::{
    Commit, ErrorKind, Event, InputRecord, LogError, Member, MemberSpec, OutputRecord, PollLimits, Position, Receipt,
};
use tracing::{debug, warn};

/// A member idle for this long commits its positions.
const IDLE_AFTER: Duration = Duration::from_millis(250);

/// Minimum time between two commits of an idle member.
const SETTLE_EVERY: Duration = Duration::from_secs(1);

/// Longest wait for a partition to be ready for its first offset.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// Longest wait for the group to release a member.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) struct KafkaMember {
    cluster: Arc<Cluster>,
    consumer: Closing<BaseConsumer<Rebalances>>,
    transactions: Transactions,
    input: Arc<str>,
    group: String,
    /// Number of partitions of the input. Those that somebody has added are left alone.
    partitions: u32,
    /// Our partitions; `None` until a partition is started.
    owned: BTreeMap<u32, Option<PartitionProgress>>,
    /// Events received outside of a poll, or beyond the limits of a poll.
    kept: KeptEvents,
    is_paused: bool,
    /// A failure that followed records in a poll.
    failure: Option<LogError>,
    /// Whether no broker answered recently.
    unreachable: bool,
    active_at: Instant,
    settled_at: Option<Instant>,
    silence: Silence,
    /// The next offset to fetch of each partition when the client was last checked.
    next_at_check: BTreeMap<u32, u64>,
    withheld: withheld::Withheld,
}

/// Progress of a started partition.
#[derive(Clone, Copy, Debug)]
struct PartitionProgress {
    /// Next offset to deliver; earlier records are stale.
    next: u64,
    /// Committed offset: everything before it is finished.
    settled: u64,
}

impl KafkaMember {
    pub(crate) fn join(cluster: Arc<Cluster>, spec: &MemberSpec) -> Result<Self, LogError> {
        let partitions = cluster.topic(&spec.input)?.ok_or_else(|| no_topic(&spec.input))?.partitions;
        // First, so that an older instance cannot commit any more by the time we read committed offsets.
        let transactions = Transactions::init(&cluster.settings, &spec.transactional_id, cluster.known_topics())?;
        let consumer: BaseConsumer<Rebalances> = cluster
            .settings
            .member(&spec.group, &spec.transactional_id)
            .create_with_context(Rebalances::default())
            .map_err(|error| log_error("cannot create a consumer", &error))?;
        consumer.subscribe(&[&spec.input]).map_err(|error| log_error("cannot join the group", &error))?;
        Ok(Self {
            cluster,
            consumer: Closing::new(consumer, CLOSE_TIMEOUT),
            transactions,
            input: spec.input.as_str().into(),
            group: spec.group.clone(),
            partitions,
            owned: BTreeMap::new(),
            kept: KeptEvents::default(),
            is_paused: false,
            failure: None,
            unreachable: false,
            active_at: Instant::now(),
            settled_at: None,
            silence: Silence::new(Instant::now()),
            next_at_check: BTreeMap::new(),
            withheld: withheld::Withheld::new(Instant::now()),
        })
    }

    /// Polls once, appends the result to the kept events, and returns whether there was any.
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

    /// Keeps a record that is due. Others were fetched before a restart or a revocation.
    fn accept(&mut self, record: InputRecord) {
        if let Some(Some(progress)) = self.owned.get_mut(&record.partition)
            && record.offset >= progress.next
        {
            progress.next = record.offset + 1;
            self.kept.push_record(record);
        }
    }

    /// Takes over the changes noted by rebalance callbacks. Returns true if partitions were assigned or revoked.
    fn take_changes(&mut self) -> Result<bool, LogError> {
        let changes = std::mem::take(&mut *lock(&self.consumer.context().changes));
        let changed = !changes.is_empty();
        for change in changes {
            match change {
                Rebalance::Assigned(mut partitions) => {
                    if let Some(added) = partitions.extract_if(.., |partition| *partition >= self.partitions).max() {
                        let (topic, partitions) = (&self.input, self.partitions);
                        warn!(
                            topic = &**topic,
                            partitions,
                            has = added + 1,
                            "partitions were added to a topic; they are left alone, and nothing is written to them"
                        );
                    }
                    self.owned.extend(partitions.iter().map(|&partition| (partition, None)));
                    self.kept.push_change(Event::Assigned(partitions));
                }
                Rebalance::Revoked(mut partitions) => {
                    partitions.retain(|partition| *partition < self.partitions);
                    // Undelivered records are left to the next owner.
                    for partition in &partitions {
                        self.owned.remove(partition);
                        self.kept.forget(*partition);
                    }
                    self.kept.push_change(Event::Revoked(partitions));
                }
                Rebalance::Failed(why) => {
                    let message =
                        format!("cannot take over partitions of topic {}: {why} (group {})", self.input, self.group);
                    return Err(LogError::new(ErrorKind::Rejoin, message));
                }
            }
        }
        Ok(changed)
    }

    /// Pauses fetching while more records are kept than allowed, and resumes when half of them are gone.
    fn pause_or_resume(&mut self) -> Result<(), LogError> {
        let should_pause = self.kept.should_pause(self.is_paused);
        if should_pause == self.is_paused {
            return Ok(());
        }
        let mut started = TopicPartitionList::new();
        for (&partition, _) in self.owned.iter().filter(|(_, progress)| progress.is_some()) {
            started.add_partition(&self.input, partition as i32);
        }
        let done = if should_pause { self.consumer.pause(&started) } else { self.consumer.resume(&started) };
        done.map_err(|error| log_error("cannot pause a partition", &error))?;
        self.is_paused = should_pause;
        Ok(())
    }

    /// Maintains the membership without delivering records.
    fn serve_without_room(&mut self) -> Result<Vec<Event>, LogError> {
        self.pause_or_resume()?;
        self.serve(Duration::ZERO)?;
        Ok(self.kept.take_changes())
    }

    /// Handles an error event. librdkafka recovers from most of them by itself.
    fn judge(&mut self, error: &KafkaError) -> Result<(), LogError> {
        use RDKafkaErrorCode as Code;
        let doing = || format!("cannot consume {} as {}", self.input, self.group);
        if matches!(error, KafkaError::MessageConsumptionFatal(_)) {
            return Err(log_error(&doing(), error));
        }
        match error.rdkafka_error_code() {
            // One broker or all of them failed: the next request will show.
            Some(Code::AllBrokersDown | Code::BrokerTransportFailure | Code::Resolve) => self.unreachable = true,
            // A token that could not be obtained is requested again.
            Some(Code::Authentication) if uses_tokens(&self.cluster.settings.kafka) => self.unreachable = true,
            Some(Code::UnknownTopicOrPartition | Code::UnknownTopic) => {
                // A broker may not know a new topic yet.
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

    /// Checks whether a broker answers again.
    fn check_reachable(&mut self) -> Result<(), LogError> {
        if !self.unreachable {
            return Ok(());
        }
        self.ask_kafka(Duration::from_secs(1))?;
        self.unreachable = false;
        Ok(())
    }

    /// Moves committed offsets past transaction markers, which are never delivered, so that lag 0 means idle. Only if
    /// everything delivered is committed, and in a transaction, so that it cannot overtake one.
    fn settle(&mut self) -> Result<(), LogError> {
        let recently = |at: Instant, span: Duration| at.elapsed() < span;
        if recently(self.active_at, IDLE_AFTER) || self.settled_at.is_some_and(|at| recently(at, SETTLE_EVERY)) {
            return Ok(());
        }
        self.settled_at = Some(Instant::now());
        let Ok(positions) = self.consumer.position() else { return Ok(()) };
        let mut ahead = BTreeMap::new();
        for element in positions.elements_for_topic(&self.input) {
            let partition = element.partition() as u32;
            if let (Some(Some(progress)), Offset::Offset(position)) = (self.owned.get(&partition), element.offset())
                && progress.settled >= progress.next
                && position as u64 > progress.settled
            {
                ahead.insert(partition, Position::at(position as u64));
            }
        }
        match self.commit_transaction(&[], &ahead) {
            // A rebalance is in progress. A later call will do it.
            Err(error) if error.kind == ErrorKind::Abort => Ok(()),
            result => result.map(|_| ()),
        }
    }

    fn commit_transaction(
        &mut self,
        records: &[OutputRecord],
        positions: &BTreeMap<u32, Position>,
    ) -> Result<Receipt, LogError> {
        let offsets = (!positions.is_empty()).then(|| self.positions(positions)).transpose()?;
        let cluster = &self.cluster;
        let receipt = self.transactions.commit(records, offsets, &|to| cluster.check_target(to));
        // The stage reads the limits anew as it joins, and sets aside records that do not fit any more.
        let receipt = receipt.map_err(|error| match error.kind {
            ErrorKind::Stop if cluster.has_lower_limits(records.iter().map(|record| &*record.to.topic)) => {
                LogError::new(ErrorKind::Rejoin, error.message)
            }
            _ => error,
        })?;
        if !positions.is_empty() {
            self.silence.alive(Instant::now());
        }
        for (partition, position) in positions {
            if let Some(Some(progress)) = self.owned.get_mut(partition) {
                progress.settled = position.next;
                progress.next = progress.next.max(position.next);
            }
        }
        Ok(receipt)
    }

    /// Input positions for a commit. They make the broker check our membership: without any, a member that was
    /// suspended until others took over could still overwrite their writes. If the commit has none, the current
    /// position of one of its tasks is committed again.
    fn positions_of(&self, commit: &Commit) -> BTreeMap<u32, Position> {
        let mut positions = commit.positions.clone();
        if positions.is_empty() {
            let standing = commit.tasks.iter().find_map(|&partition| {
                let progress = (*self.owned.get(&partition)?)?;
                Some((partition, Position::at(progress.settled)))
            });
            positions.extend(standing);
        }
        positions
    }

    fn positions(&self, positions: &BTreeMap<u32, Position>) -> Result<Positions, LogError> {
        let mut offsets = TopicPartitionList::with_capacity(positions.len());
        for (&partition, position) in positions {
            offsets
                .add_partition_offset(&self.input, partition as i32, Offset::Offset(position.next as i64))
                .map_err(|error| log_error("cannot commit positions", &error))?;
            if let Some(mut element) = offsets.find_partition(&self.input, partition as i32) {
                element.set_metadata(&position.note);
            }
        }
        let metadata = self
            .consumer
            .group_metadata()
            .ok_or_else(|| LogError::new(ErrorKind::Rejoin, format!("the metadata of group {} is gone", self.group)))?;
        // After the group has excluded us, its metadata is empty, and the broker would take it for the metadata of a
        // consumer without a group.
        if self.consumer.assignment_lost() {
            let message = format!("group {} went on without this member and reassigned its partitions", self.group);
            return Err(LogError::new(ErrorKind::Rejoin, message));
        }
        Ok(Positions { offsets, metadata })
    }
}

impl Member for KafkaMember {
    fn poll(&mut self, limits: PollLimits, timeout: Duration) -> Result<Vec<Event>, LogError> {
        send_held_back();
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        if limits.records == 0 {
            return self.serve_without_room();
        }
        self.check_reachable()?;
        self.check_withheld();
        let mut limit = Instant::now() + timeout;
        let mut gathering = false;
        let mut wait = timeout;
        while self.kept.has_room(limits) {
            match self.serve(wait) {
                Ok(true) => {}
                Ok(false) => {}
                Err(error) if self.kept.is_empty() => return Err(error),
                Err(error) => {
                    self.failure = Some(error);
                    break;
                }
            }
            if self.kept.ends_with_change() {
                break;
            }
            if !gathering && !self.kept.is_empty() {
                gathering = true;
                limit = Instant::now() + self.cluster.settings.batch_interval;
            }
            wait = limit.saturating_duration_since(Instant::now());
            // librdkafka counts in milliseconds and would spin for less.
            if wait < Duration::from_millis(1) {
                break;
            }
        }
        if self.kept.is_empty() {
            self.settle()?;
            self.check_reachable()?;
            self.check_client()?;
            return Ok(Vec::new());
        }
        self.active_at = Instant::now();
        self.silence.alive(self.active_at);
        let events = self.kept.take(limits);
        self.pause_or_resume()?;
        Ok(events)
    }

    fn start(&mut self, partition: u32, offset: u64) -> Result<(), LogError> {
        // No longer ours; the revocation event is on its way.
        let Some(progress) = self.owned.get_mut(&partition) else { return Ok(()) };
        let before = progress.map_or(offset, |progress| progress.settled);
        // A stage with work in flight reads on after requests that it has not answered: their position is not committed.
        let settled = before.min(offset);
        let again = progress.replace(PartitionProgress { next: offset, settled }).is_some();
        self.kept.forget(partition);
        let deadline = Instant::now() + START_TIMEOUT;
        loop {
            let mut list = TopicPartitionList::new();
            let listed = list.add_partition_offset(&self.input, partition as i32, Offset::Offset(offset as i64));
            let started = listed.and_then(|()| match again {
                // Only now is the partition assigned to the consumer, so that nothing is fetched in vain.
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
                // The first start may still be in progress.
                Err(_) if again && Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
                Err(error) => {
                    let message = format!("cannot start {}-{partition} at {offset}: {}", self.input, reason(&error));
                    return Err(LogError::new(ErrorKind::Rejoin, message));
                }
            }
        }
    }

    fn commit(&mut self, commit: &Commit) -> Result<Receipt, LogError> {
        if commit.is_empty() {
            return Ok(Receipt::default());
        }
        self.active_at = Instant::now();
        self.take_changes()?;
        let mut touched = commit.tasks.iter().chain(commit.positions.keys());
        if let Some(partition) = touched.find(|partition| !self.owned.contains_key(partition)) {
            let message = format!("partition {partition} of {} now belongs to another member", self.input);
            return Err(LogError::new(ErrorKind::Abort, message));
        }
        self.commit_transaction(&commit.outputs, &self.positions_of(commit))
    }

    fn committed(&mut self, partitions: &[u32]) -> Result<BTreeMap<u32, Position>, LogError> {
        let positions = committed_positions(&*self.consumer, &self.input, partitions);
        positions.map_err(|error| self.why_no_positions(partitions, &error))
    }
}
