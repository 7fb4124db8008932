//! A connection to a cluster.

use crate::asking::ask;
use crate::client::{Quiet, lock};
use crate::error::{advice, kind_of, log_error, reason, refusal};
use crate::member::KafkaMember;
use crate::reader::{KafkaReader, list_offsets};
use crate::settings::KafkaSettings;
use crate::topics::{self, TopicCheck};
use crate::transactions::Transactions;
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::{Offset, TopicPartitionList};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use stream::{
    Backlog, ErrorKind, Log, LogError, Member, MemberSpec, OutputRecord, Position, Reader, Receipt, TopicConfig,
    TopicInfo, TopicPartition,
};

/// Longest wait for the first answer of a cluster.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Longest wait for a request about topics and offsets.
pub(crate) const ASK_TIMEOUT: Duration = Duration::from_secs(10);

/// Apache Kafka as a log of transactional batches. Clones share the connection.
#[derive(Clone)]
pub struct KafkaLog {
    cluster: Arc<Cluster>,
    /// Reads the first record of a backlog. It holds the cluster, so it cannot be part of it.
    backlog_reader: Arc<Mutex<Option<KafkaReader>>>,
}

/// Shared by the log, its members and its readers.
pub(crate) struct Cluster {
    pub(crate) settings: KafkaSettings,
    /// Sees all records, including open transactions.
    pub(crate) uncommitted_view: BaseConsumer<Quiet>,
    /// Sees only committed records.
    pub(crate) committed_view: BaseConsumer<Quiet>,
    /// Properties of topics, requested once because they hardly ever change.
    topics: Mutex<HashMap<String, TopicInfo>>,
    id: Mutex<Option<String>>,
    /// Clients that query groups without joining them, cached because a client costs connections and threads.
    group_views: Mutex<HashMap<String, Arc<BaseConsumer<Quiet>>>>,
    /// Created with the first appended record, kept while it works.
    appender: Mutex<Option<Transactions>>,
}

impl KafkaLog {
    /// Connects to a cluster. Fails with [`ErrorKind::Retry`] if no broker answers within some seconds, and with
    /// [`ErrorKind::Stop`] if the settings are wrong, one of their files cannot be read, or the cluster refuses us.
    pub fn connect(settings: KafkaSettings) -> Result<Self, LogError> {
        let settings = settings.with_security()?;
        let view = |isolation_level: &str| {
            settings
                .view(isolation_level)
                .create_with_context::<_, BaseConsumer<Quiet>>(Quiet::default())
                .map_err(|error| log_error("cannot make a Kafka client", &error))
        };
        let (uncommitted_view, committed_view) = (view("read_uncommitted")?, view("read_committed")?);
        let cluster = Cluster {
            settings,
            uncommitted_view,
            committed_view,
            topics: Mutex::default(),
            id: Mutex::default(),
            group_views: Mutex::default(),
            appender: Mutex::default(),
        };
        let deadline = Instant::now() + CONNECT_TIMEOUT;
        loop {
            match cluster.committed_view.fetch_metadata(None, Duration::from_secs(1)) {
                Ok(_) => return Ok(Self { cluster: Arc::new(cluster), backlog_reader: Arc::default() }),
                Err(error) => {
                    let error = cluster.explained("cannot ask for topics", &error);
                    if error.kind == ErrorKind::Stop || Instant::now() >= deadline {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Compares topics with their configuration. Returns the problems an operator should fix, by topic.
    pub fn check_topics(&self, topics: &[TopicConfig]) -> Result<Vec<TopicCheck>, LogError> {
        topics::check(&self.cluster, topics)
    }
}

impl Cluster {
    /// Maps a failed request to an error, with the cause that librdkafka did not return to the caller.
    pub(crate) fn explained(&self, doing: &str, error: &KafkaError) -> LogError {
        self.explained_by(&self.committed_view, doing, error)
    }

    pub(crate) fn explained_by(&self, view: &BaseConsumer<Quiet>, doing: &str, error: &KafkaError) -> LogError {
        use RDKafkaErrorCode as Code;
        serve(view);
        let complaint = view.context().last_complaint();
        if let Some((code, why)) = &complaint
            && let Some(refusal) = refusal(&self.settings.brokers, *code, why)
        {
            return refusal;
        }
        match error.rdkafka_error_code() {
            Some(
                Code::BrokerTransportFailure
                | Code::AllBrokersDown
                | Code::Resolve
                | Code::OperationTimedOut
                | Code::RequestTimedOut,
            ) => self.unreachable(&complaint.map_or_else(|| reason(error), |(_, why)| why)),
            _ => log_error(doing, error),
        }
    }

    pub(crate) fn unreachable(&self, why: &str) -> LogError {
        let message = format!("cannot reach Kafka at {}: {why}; check [kafka] brokers", self.settings.brokers);
        LogError::new(ErrorKind::Retry, message)
    }

    /// Requests the number of partitions of a topic.
    pub(crate) fn ask_partitions(&self, topic: &str) -> Result<Option<u32>, LogError> {
        serve(&self.committed_view);
        let metadata = self
            .committed_view
            .fetch_metadata(Some(topic), ASK_TIMEOUT)
            .map_err(|error| self.explained(&format!("cannot ask for topic {topic}"), &error))?;
        let Some(found) = metadata.topics().iter().find(|found| found.name() == topic) else { return Ok(None) };
        if let Some(code) = found.error().map(RDKafkaErrorCode::from) {
            return match code {
                RDKafkaErrorCode::UnknownTopicOrPartition | RDKafkaErrorCode::UnknownTopic => Ok(None),
                code => {
                    let message = format!("cannot ask for topic {topic}: {code}{}", advice(code));
                    Err(LogError::new(kind_of(code), message))
                }
            };
        }
        let partitions = found.partitions().len() as u32;
        Ok((partitions > 0).then_some(partitions))
    }

    /// Properties of a topic, requested once.
    fn topic(&self, topic: &str) -> Result<Option<TopicInfo>, LogError> {
        if let Some(&info) = lock(&self.topics).get(topic) {
            return Ok(Some(info));
        }
        let Some(partitions) = self.ask_partitions(topic)? else { return Ok(None) };
        let info = TopicInfo { partitions, max_message_bytes: topics::max_message_bytes(self, topic) };
        lock(&self.topics).insert(topic.to_owned(), info);
        Ok(Some(info))
    }

    fn group_view(&self, group: &str) -> Result<Arc<BaseConsumer<Quiet>>, KafkaError> {
        if let Some(view) = lock(&self.group_views).get(group) {
            return Ok(view.clone());
        }
        let view: BaseConsumer<Quiet> = self.settings.group_view(group).create_with_context(Quiet::default())?;
        let view = Arc::new(view);
        lock(&self.group_views).insert(group.to_owned(), view.clone());
        Ok(view)
    }

    /// Checks that the partition exists.
    pub(crate) fn check_target(&self, to: &TopicPartition) -> Result<(), LogError> {
        match self.topic(&to.topic)? {
            None => Err(no_topic(&to.topic)),
            Some(TopicInfo { partitions, .. }) if to.partition >= partitions => {
                let message = format!("there is no partition {}; topic {} has {partitions}", to.partition, to.topic);
                Err(LogError::new(ErrorKind::Stop, message))
            }
            Some(_) => Ok(()),
        }
    }

    fn append(&self, records: &[OutputRecord]) -> Result<Receipt, LogError> {
        let mut appender = lock(&self.appender);
        if appender.is_none() {
            *appender = Some(Transactions::init(&self.settings, &self.appender_id())?);
        }
        let result = appender.as_mut().expect("made above").commit(records, None, &|to| self.check_target(to));
        if result.is_err() {
            *appender = None;
        }
        result
    }

    /// A unique id: two appenders of one name would fence each other.
    fn appender_id(&self) -> String {
        static APPENDERS: AtomicU64 = AtomicU64::new(0);
        let started_at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let number = APPENDERS.fetch_add(1, Ordering::Relaxed);
        format!("{}-append-{:x}-{}-{number}", self.settings.client_id, started_at, std::process::id())
    }
}

/// Serves the log lines and errors of a view, which would otherwise pile up.
pub(crate) fn serve(view: &BaseConsumer<Quiet>) {
    for _ in 0..16 {
        view.poll(Duration::ZERO);
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
            serve(&self.cluster.committed_view);
            *id = self.cluster.committed_view.client().fetch_cluster_id(ASK_TIMEOUT);
        }
        id.clone().ok_or_else(|| self.cluster.unreachable("it does not tell its cluster id"))
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

    fn reader(&self) -> Result<Box<dyn Reader>, LogError> {
        Ok(Box::new(KafkaReader::new(self.cluster.clone())?))
    }

    fn append(&self, records: &[OutputRecord]) -> Result<Receipt, LogError> {
        self.cluster.append(records)
    }

    fn backlog(&self, group: &str, topic: &str) -> Result<Vec<Backlog>, LogError> {
        let doing = format!("cannot ask for the backlog of group {group} on {topic}");
        let partitions: Vec<u32> = (0..self.cluster.topic(topic)?.map_or(0, |topic| topic.partitions)).collect();
        if partitions.is_empty() {
            return Ok(Vec::new());
        }
        let view = self.cluster.group_view(group).map_err(|error| log_error(&doing, &error))?;
        serve(&view);
        let explain = |error: KafkaError| self.cluster.explained_by(&view, &doing, &error);
        let committed = committed_positions(&view, topic, &partitions).map_err(explain)?;
        let starts = list_offsets(&view, topic, &partitions, Offset::Beginning).map_err(explain)?;
        let ends = list_offsets(&view, topic, &partitions, Offset::End).map_err(explain)?;
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
        *lock(&self.backlog_reader) = Some(reader);
        Ok(backlog)
    }
}

/// Committed positions of a group, for the partitions that have one. Waits for a moving coordinator.
pub(crate) fn committed_positions<C: ConsumerContext>(
    consumer: &BaseConsumer<C>,
    topic: &str,
    partitions: &[u32],
) -> Result<BTreeMap<u32, Position>, KafkaError> {
    let question = |left: Duration| {
        let mut list = TopicPartitionList::with_capacity(partitions.len());
        for &partition in partitions {
            list.add_partition(topic, partition as i32);
        }
        let mut positions = BTreeMap::new();
        for element in consumer.committed_offsets(list, left)?.elements() {
            element.error()?;
            if let Offset::Offset(offset) = element.offset() {
                let position = Position { next: offset as u64, note: element.metadata().to_owned() };
                positions.insert(element.partition() as u32, position);
            }
        }
        Ok(positions)
    };
    // librdkafka looks up the coordinator by itself.
    ask(&Instant::now(), ASK_TIMEOUT, question, |_| {})
}

pub(crate) fn no_topic(topic: &str) -> LogError {
    LogError::new(
        ErrorKind::Stop,
        format!("there is no topic {topic}; create the topics first (recrawl topics create)"),
    )
}

/// The error for an answer without the requested offsets.
pub(crate) fn no_answer(partition: &TopicPartition) -> LogError {
    LogError::new(ErrorKind::Retry, format!("Kafka gave no offsets for {partition}"))
}
