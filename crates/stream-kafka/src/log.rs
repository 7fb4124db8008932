//! A connection to a cluster.

use crate::client::{Quiet, lock};
use crate::error::{kind_of, log_error, reason};
use crate::member::KafkaMember;
use crate::reader::{KafkaReader, list_offsets};
use crate::settings::KafkaSettings;
use crate::topics::{self, TopicCheck};
use crate::transactions::Transactions;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::{Offset, TopicPartitionList};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use stream::{
    ErrorKind, Log, LogError, Member, MemberSpec, OutputRecord, PartitionLag, Reader, Receipt, TopicConfig,
    TopicPartition,
};

/// Longest wait for the first answer of a cluster.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Longest wait for an answer to a question about topics and offsets.
pub(crate) const ASK_TIMEOUT: Duration = Duration::from_secs(10);

/// Apache Kafka as a log of transactional batches. Clones share the connection.
#[derive(Clone)]
pub struct KafkaLog(Arc<Cluster>);

/// What log, members and readers share.
pub(crate) struct Cluster {
    pub(crate) settings: KafkaSettings,
    /// Sees everything, transactions still open included.
    pub(crate) uncommitted_view: BaseConsumer<Quiet>,
    /// Sees what a reader of committed records may see.
    pub(crate) committed_view: BaseConsumer<Quiet>,
    /// Numbers of partitions never change, so they are asked for once.
    partitions: Mutex<HashMap<String, u32>>,
    /// Made with the first record appended, kept as long as it works.
    appender: Mutex<Option<Transactions>>,
}

impl KafkaLog {
    /// Connects to a cluster. Fails with [`ErrorKind::Retry`] when no broker answers within some seconds, and with
    /// [`ErrorKind::Stop`] when the settings are wrong.
    pub fn connect(settings: KafkaSettings) -> Result<Self, LogError> {
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
            partitions: Mutex::default(),
            appender: Mutex::default(),
        };
        let deadline = Instant::now() + CONNECT_TIMEOUT;
        loop {
            match cluster.committed_view.fetch_metadata(None, Duration::from_secs(1)) {
                Ok(_) => return Ok(Self(Arc::new(cluster))),
                Err(error) => {
                    let error = cluster.explained("cannot ask for topics", &error);
                    if error.kind == ErrorKind::Stop || Instant::now() >= deadline {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Compares topics with what they should be: what an operator would want to mend, by topic.
    pub fn check_topics(&self, topics: &[TopicConfig]) -> Result<Vec<TopicCheck>, LogError> {
        topics::check(&self.0, topics)
    }
}

impl Cluster {
    /// What a failed question means, with the reason librdkafka has not given to the caller.
    pub(crate) fn explained(&self, doing: &str, error: &KafkaError) -> LogError {
        self.explained_by(&self.committed_view, doing, error)
    }

    pub(crate) fn explained_by(&self, view: &BaseConsumer<Quiet>, doing: &str, error: &KafkaError) -> LogError {
        use RDKafkaErrorCode as Code;
        serve(view);
        let complaint = view.context().last_complaint();
        if let Some((Code::Authentication | Code::SaslAuthenticationFailed, why)) = &complaint {
            let message = format!("Kafka at {} refused us: {why}; check [kafka] properties", self.settings.brokers);
            return LogError::new(ErrorKind::Stop, message);
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

    /// Asks for the number of partitions of a topic.
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
                code => Err(LogError::new(kind_of(code), format!("cannot ask for topic {topic}: {code}"))),
            };
        }
        let partitions = found.partitions().len() as u32;
        Ok((partitions > 0).then_some(partitions))
    }

    /// The number of partitions of a topic, asked for once.
    fn partitions(&self, topic: &str) -> Result<Option<u32>, LogError> {
        if let Some(&partitions) = lock(&self.partitions).get(topic) {
            return Ok(Some(partitions));
        }
        let partitions = self.ask_partitions(topic)?;
        if let Some(partitions) = partitions {
            lock(&self.partitions).insert(topic.to_owned(), partitions);
        }
        Ok(partitions)
    }

    /// Whether there is such a partition.
    pub(crate) fn check_target(&self, to: &TopicPartition) -> Result<(), LogError> {
        match self.partitions(&to.topic)? {
            None => Err(no_topic(&to.topic)),
            Some(partitions) if to.partition >= partitions => {
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

    /// Unlike any other: two appenders of one name would fence each other.
    fn appender_id(&self) -> String {
        static APPENDERS: AtomicU64 = AtomicU64::new(0);
        let started_at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let number = APPENDERS.fetch_add(1, Ordering::Relaxed);
        format!("{}-append-{:x}-{}-{number}", self.settings.client_id, started_at, std::process::id())
    }
}

/// Serves a view's log lines and errors, which would otherwise pile up.
pub(crate) fn serve(view: &BaseConsumer<Quiet>) {
    for _ in 0..16 {
        view.poll(Duration::ZERO);
    }
}

impl Log for KafkaLog {
    fn create_topics(&self, topics: &[TopicConfig]) -> Result<(), LogError> {
        topics::create(&self.0, topics)
    }

    fn partitions(&self, topic: &str) -> Result<Option<u32>, LogError> {
        self.0.partitions(topic)
    }

    fn join(&self, spec: &MemberSpec) -> Result<Box<dyn Member>, LogError> {
        if self.0.ask_partitions(&spec.input)?.is_none() {
            return Err(no_topic(&spec.input));
        }
        Ok(Box::new(KafkaMember::join(self.0.clone(), spec)?))
    }

    fn reader(&self) -> Result<Box<dyn Reader>, LogError> {
        Ok(Box::new(KafkaReader::new(self.0.clone())?))
    }

    fn append(&self, records: &[OutputRecord]) -> Result<Receipt, LogError> {
        self.0.append(records)
    }

    fn group_lag(&self, group: &str, topic: &str) -> Result<Vec<PartitionLag>, LogError> {
        let doing = format!("cannot ask for the lag of group {group} on {topic}");
        let partitions: Vec<u32> = (0..self.partitions(topic)?.unwrap_or(0)).collect();
        if partitions.is_empty() {
            return Ok(Vec::new());
        }
        let view: BaseConsumer<Quiet> = self
            .0
            .settings
            .group_view(group)
            .create_with_context(Quiet::default())
            .map_err(|error| log_error(&doing, &error))?;
        let explain = |error: KafkaError| self.0.explained_by(&view, &doing, &error);
        let committed = committed_offsets(&view, topic, &partitions).map_err(explain)?;
        let starts = list_offsets(&view, topic, &partitions, Offset::Beginning).map_err(explain)?;
        let ends = list_offsets(&view, topic, &partitions, Offset::End).map_err(explain)?;
        let lag = |partition: u32| {
            let bounds = starts.get(&partition).zip(ends.get(&partition));
            let (&start, &end) = bounds.ok_or_else(|| no_answer(&TopicPartition::new(topic, partition)))?;
            let next = committed.get(&partition).copied().unwrap_or(0).max(start);
            Ok(PartitionLag { partition, records: end.saturating_sub(next) })
        };
        partitions.into_iter().map(lag).collect()
    }
}

/// A group's committed offsets, for the partitions that have one.
pub(crate) fn committed_offsets<C: rdkafka::consumer::ConsumerContext>(
    consumer: &BaseConsumer<C>,
    topic: &str,
    partitions: &[u32],
) -> Result<BTreeMap<u32, u64>, KafkaError> {
    let mut list = TopicPartitionList::with_capacity(partitions.len());
    for &partition in partitions {
        list.add_partition(topic, partition as i32);
    }
    let mut offsets = BTreeMap::new();
    for element in consumer.committed_offsets(list, ASK_TIMEOUT)?.elements() {
        element.error()?;
        if let Offset::Offset(offset) = element.offset() {
            offsets.insert(element.partition() as u32, offset as u64);
        }
    }
    Ok(offsets)
}

pub(crate) fn no_topic(topic: &str) -> LogError {
    LogError::new(
        ErrorKind::Stop,
        format!("there is no topic {topic}; create the topics first (recrawl topics create)"),
    )
}

/// An answer that lacks what was asked for.
pub(crate) fn no_answer(partition: &TopicPartition) -> LogError {
    LogError::new(ErrorKind::Retry, format!("Kafka gave no offsets for {partition}"))
}
