//! A connection to a cluster.

use crate::client::lock;
use crate::clock_check::{self, ClockReading};
use crate::cluster::{ASK_TIMEOUT, Cluster, committed_positions, no_answer, no_topic};
use crate::error::log_error;
use crate::member::KafkaMember;
use crate::reader::{KafkaReader, list_offsets};
use crate::settings::KafkaSettings;
use crate::topics::{self, TopicCheck};
use crate::view::View;
use page::Timestamp;
use rdkafka::Offset;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use stream::{
    Backlog, ErrorKind, Log, LogError, LogReader, Member, MemberSpec, OutputRecord, Receipt, TopicConfig, TopicInfo,
    TopicPartition,
};

/// Longest wait for the first answer of a cluster.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Apache Kafka as a log of transactional batches. Clones share the connection.
#[derive(Clone)]
pub struct KafkaLog {
    cluster: Arc<Cluster>,
    /// Reads the first record of a backlog. It holds the cluster, so it cannot be part of it.
    backlog_reader: Arc<Mutex<Option<KafkaReader>>>,
}

impl KafkaLog {
    /// Connects to a cluster. Fails with [`ErrorKind::Retry`] if no broker answers within some seconds, and with
    /// [`ErrorKind::Stop`] if the settings are wrong, one of their files cannot be read, or the cluster refuses us.
    pub fn connect(settings: KafkaSettings) -> Result<Self, LogError> {
        let settings = settings.with_security()?;
        let view = |isolation_level: &str| {
            View::new(settings.view(isolation_level)).map_err(|error| log_error("cannot create a Kafka client", &error))
        };
        let (uncommitted_view, committed_view) = (view("read_uncommitted")?, view("read_committed")?);
        let cluster = Cluster {
            settings,
            uncommitted_view,
            committed_view,
            topics: Mutex::default(),
            partitions: Mutex::default(),
            id: Mutex::default(),
            group_views: Mutex::default(),
            appender: Mutex::default(),
        };
        let deadline = Instant::now() + CONNECT_TIMEOUT;
        loop {
            match cluster.committed_view.ask(|view| view.fetch_metadata(None, Duration::from_secs(1))) {
                Ok(_) => return Ok(Self { cluster: Arc::new(cluster), backlog_reader: Arc::default() }),
                Err(error) => {
                    let error = cluster.explained("cannot list topics", &error);
                    if error.kind == ErrorKind::Stop || Instant::now() >= deadline {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Compares topics with their configuration. Returns the problems an operator should fix, by topic.
    pub fn check_topics(&self, topics: &[TopicConfig]) -> Result<Vec<TopicCheck>, LogError> {
        topics::check(&self.cluster, topics, true)
    }

    /// The same, without those settings of topics that this user may not see.
    pub fn check_visible_topics(&self, topics: &[TopicConfig]) -> Result<Vec<TopicCheck>, LogError> {
        topics::check(&self.cluster, topics, false)
    }

    /// Reads the brokers' clock beside the one that `now` reads. `None` if the settings name no topic for it, or brokers leave the
    /// times of that topic to its producers.
    pub fn read_clock(&self, now: impl Fn() -> Timestamp) -> Result<Option<ClockReading>, LogError> {
        match &self.cluster.settings.clock_checks {
            Some(topic) => clock_check::read(&self.cluster.settings, topic, now),
            None => Ok(None),
        }
    }

    /// The number of processes in a group, those included that died less than a session timeout ago. `None` for a group that
    /// never was, or that this user may not see.
    pub fn processes(&self, group: &str) -> Result<Option<usize>, LogError> {
        let groups =
            self.cluster.committed_view.ask(|view| view.fetch_group_list(Some(group), ASK_TIMEOUT)).map_err(
                |error| self.cluster.explained(&format!("cannot list the members of group {group}"), &error),
            )?;
        // A group that is dead has no offsets either.
        let found = groups.groups().iter().find(|found| found.name() == group && found.state() != "Dead");
        Ok(found.map(|group| group.members().len()))
    }
}

impl Log for KafkaLog {
    fn marks_commits(&self) -> bool {
        true
    }

    fn create_topics(&self, topics: &[TopicConfig]) -> Result<(), LogError> {
        topics::create(&self.cluster, topics)
    }

    fn id(&self) -> Result<String, LogError> {
        let mut id = lock(&self.cluster.id);
        if id.is_none() {
            // It returns no reason.
            let unanswered = || KafkaError::MetadataFetch(RDKafkaErrorCode::OperationTimedOut);
            let ask = |view: &BaseConsumer<_>| view.client().fetch_cluster_id(ASK_TIMEOUT).ok_or_else(unanswered);
            *id = self.cluster.committed_view.ask(ask).ok();
        }
        id.clone().ok_or_else(|| self.cluster.unreachable("it did not return its cluster id"))
    }

    fn topic(&self, topic: &str) -> Result<Option<TopicInfo>, LogError> {
        self.cluster.topic(topic)
    }

    fn join(&self, spec: &MemberSpec) -> Result<Box<dyn Member>, LogError> {
        if self.cluster.ask_partitions(&spec.input)?.is_none() {
            return Err(no_topic(&spec.input));
        }
        Ok(Box::new(KafkaMember::join(self.cluster.clone(), spec)?))
    }

    fn reader(&self) -> Result<Box<dyn LogReader>, LogError> {
        Ok(Box::new(KafkaReader::new(self.cluster.clone())?))
    }

    fn append(&self, records: &[OutputRecord]) -> Result<Receipt, LogError> {
        self.cluster.append(records)
    }

    fn backlog(&self, group: &str, topic: &str) -> Result<Vec<Backlog>, LogError> {
        let doing = format!("cannot get the backlog of group {group} on {topic}");
        let partitions: Vec<u32> = (0..self.cluster.topic(topic)?.map_or(0, |topic| topic.partitions)).collect();
        if partitions.is_empty() {
            return Ok(Vec::new());
        }
        let view = self.cluster.group_view(group).map_err(|error| log_error(&doing, &error))?;
        let explain = |error: KafkaError| self.cluster.explained_by(&view, &doing, &error);
        let committed = view.ask(|view| committed_positions(view, topic, &partitions)).map_err(explain)?;
        let bounds = |place: Offset| {
            let answer = self.cluster.committed_view.ask(|view| list_offsets(view, topic, &partitions, place));
            answer.map_err(|error| self.cluster.explained(&doing, &error))
        };
        let (starts, ends) = (bounds(Offset::Beginning)?, bounds(Offset::End)?);
        // Taken out while in use: a concurrent request creates its own reader.
        let kept = lock(&self.backlog_reader).take();
        let mut reader = kept.map_or_else(|| KafkaReader::new(self.cluster.clone()), Ok)?;
        let mut backlog = Vec::with_capacity(partitions.len());
        for partition in partitions {
            let place = TopicPartition::new(topic, partition);
            let bounds = starts.get(&partition).zip(ends.get(&partition));
            let (&start, &end) = bounds.ok_or_else(|| no_answer(&place))?;
            let next = committed.get(&partition).map_or(0, |position| position.next).max(start);
            let records = end.saturating_sub(next);
            let first = if records > 0 { reader.read(&place, next, 1)?.0.pop() } else { None };
            // If only a transaction marker is left, the backlog is empty.
            let records = if first.is_some() { records } else { 0 };
            backlog.push(Backlog { partition, records, oldest: first.map(|record| record.timestamp) });
        }
        reader.end()?;
        *lock(&self.backlog_reader) = Some(reader);
        Ok(backlog)
    }
}
