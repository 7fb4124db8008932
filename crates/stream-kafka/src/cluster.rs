//! The clients that log, members and readers of one cluster share, and the questions they ask.

use crate::asking::ask;
use crate::client::{lock, send_all_held_back};
use crate::error::{advice, kind_of, log_error, reason, refusal};
use crate::settings::KafkaSettings;
use crate::topics::{self};
use crate::transactions::{KnownTopics, Transactions};
use crate::view::{View, is_unanswered};
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::metadata::Metadata;
use rdkafka::{Offset, TopicPartitionList};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use stream::{ErrorKind, LogError, OutputRecord, Position, Receipt, TopicInfo, TopicPartition};

/// Longest wait for a request about topics and offsets.
pub(crate) const ASK_TIMEOUT: Duration = Duration::from_secs(10);

/// Shared by the log, its members and its readers.
pub(crate) struct Cluster {
    pub(crate) settings: KafkaSettings,
    /// Sees all records, including open transactions.
    pub(crate) uncommitted_view: View,
    /// Sees only committed records.
    pub(crate) committed_view: View,
    /// Properties of topics, requested once because they hardly ever change.
    pub(crate) topics: Mutex<HashMap<String, TopicInfo>>,
    /// The number of partitions of topics that are divided alike.
    pub(crate) partitions: Mutex<Option<u32>>,
    pub(crate) id: Mutex<Option<String>>,
    /// Clients that query groups without joining them, cached because a client costs connections and threads.
    pub(crate) group_views: Mutex<HashMap<String, Arc<View>>>,
    /// Created with the first appended record, kept while it works.
    pub(crate) appender: Mutex<Option<Transactions>>,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        send_all_held_back();
    }
}

impl Cluster {
    /// Maps a failed request to an error, with the cause that librdkafka did not return to the caller.
    pub(crate) fn explained(&self, doing: &str, error: &KafkaError) -> LogError {
        self.explained_by(&self.committed_view, doing, error)
    }

    pub(crate) fn explained_by(&self, view: &View, doing: &str, error: &KafkaError) -> LogError {
        let complaint = view.last_complaint();
        if let Some((code, why)) = &complaint
            && let Some(refusal) = refusal(self.settings.brokers(), *code, why)
        {
            return refusal;
        }
        match error.rdkafka_error_code().is_some_and(is_unanswered) {
            true => self.unreachable(&complaint.map_or_else(|| reason(error), |(_, why)| why)),
            false => log_error(doing, error),
        }
    }

    pub(crate) fn unreachable(&self, why: &str) -> LogError {
        let message = format!("cannot reach Kafka at {}: {why}; check [kafka] brokers", self.settings.brokers());
        LogError::new(ErrorKind::Retry, message)
    }

    /// Requests the number of partitions of a topic.
    pub(crate) fn ask_partitions(&self, topic: &str) -> Result<Option<u32>, LogError> {
        let metadata = self
            .committed_view
            .ask(|view| view.fetch_metadata(Some(topic), ASK_TIMEOUT))
            .map_err(|error| self.explained(&format!("cannot get the metadata of topic {topic}"), &error))?;
        let Some(found) = metadata.topics().iter().find(|found| found.name() == topic) else { return Ok(None) };
        if let Some(code) = found.error().map(RDKafkaErrorCode::from) {
            return match code {
                RDKafkaErrorCode::UnknownTopicOrPartition | RDKafkaErrorCode::UnknownTopic => Ok(None),
                code => {
                    let message = format!("cannot get the metadata of topic {topic}: {code}{}", advice(code));
                    Err(LogError::new(kind_of(code), message))
                }
            };
        }
        let partitions = found.partitions().len() as u32;
        Ok((partitions > 0).then_some(partitions))
    }

    /// Properties of a topic, requested once.
    pub(crate) fn topic(&self, topic: &str) -> Result<Option<TopicInfo>, LogError> {
        if let Some(&info) = lock(&self.topics).get(topic) {
            return Ok(Some(info));
        }
        let Some(mut partitions) = self.ask_partitions(topic)? else { return Ok(None) };
        if self.settings.is_divided_alike(topic)
            && let Some(used) = self.known_partitions()?
        {
            if partitions < used {
                let message =
                    format!("topic {topic} has {partitions} partitions instead of {used}; delete it and make it anew");
                return Err(LogError::new(ErrorKind::Retry, message));
            }
            partitions = used;
        }
        let info = TopicInfo { partitions, max_message_bytes: topics::max_message_bytes(self, topic) };
        lock(&self.topics).insert(topic.to_owned(), info);
        Ok(Some(info))
    }

    /// The most frequent number of partitions among the topics that are divided alike and visible to this user. Of two equally
    /// frequent numbers it is the lower one.
    pub(crate) fn used_partitions(&self, metadata: &Metadata) -> Option<u32> {
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        let alike = metadata.topics().iter().filter(|topic| topic.error().is_none());
        for topic in alike.filter(|topic| self.settings.is_divided_alike(topic.name())) {
            *counts.entry(topic.partitions().len() as u32).or_default() += 1;
        }
        counts.remove(&0);
        counts
            .into_iter()
            .max_by_key(|(partitions, topics)| (*topics, Reverse(*partitions)))
            .map(|(partitions, _)| partitions)
    }

    /// The same, requested once.
    fn known_partitions(&self) -> Result<Option<u32>, LogError> {
        let mut known = lock(&self.partitions);
        if known.is_none() {
            *known = self.used_partitions(&self.metadata()?);
        }
        Ok(*known)
    }

    /// The topics that this user may see.
    pub(crate) fn metadata(&self) -> Result<Metadata, LogError> {
        let answer = self.committed_view.ask(|view| view.fetch_metadata(None, ASK_TIMEOUT));
        answer.map_err(|error| self.explained("cannot list topics", &error))
    }

    /// Requests the record limits of these topics again. Returns whether one is lower than it was.
    pub(crate) fn has_lower_limits<'a>(&self, topics: impl Iterator<Item = &'a str>) -> bool {
        let topics: BTreeSet<&str> = topics.collect();
        let mut has_lower = false;
        for topic in topics {
            let limit = topics::max_message_bytes(self, topic);
            if let Some(info) = lock(&self.topics).get_mut(topic).filter(|_| limit != u32::MAX) {
                has_lower |= limit < info.max_message_bytes;
                info.max_message_bytes = limit;
            }
        }
        has_lower
    }

    pub(crate) fn known_topics(&self) -> KnownTopics {
        let topics = lock(&self.topics);
        let lowest_limit = topics.values().map(|info| info.max_message_bytes).min();
        KnownTopics { lowest_limit, any: topics.keys().next().cloned() }
    }

    pub(crate) fn group_view(&self, group: &str) -> Result<Arc<View>, KafkaError> {
        if let Some(view) = lock(&self.group_views).get(group) {
            return Ok(view.clone());
        }
        let view = Arc::new(View::new(self.settings.group_view(group))?);
        lock(&self.group_views).insert(group.to_owned(), view.clone());
        Ok(view)
    }

    /// Checks that the partition exists.
    pub(crate) fn check_target(&self, to: &TopicPartition) -> Result<(), LogError> {
        match self.topic(&to.topic)? {
            None => Err(no_topic(&to.topic)),
            Some(TopicInfo { partitions, .. }) if to.partition >= partitions => {
                let message = format!(
                    "partition {} does not exist; topic {} has {partitions} partitions",
                    to.partition, to.topic
                );
                Err(LogError::new(ErrorKind::Stop, message))
            }
            Some(_) => Ok(()),
        }
    }

    pub(crate) fn append(&self, records: &[OutputRecord]) -> Result<Receipt, LogError> {
        let mut appender = lock(&self.appender);
        if appender.is_none() {
            *appender = Some(Transactions::init(&self.settings, &self.appender_id(), self.known_topics())?);
        }
        let result = appender.as_mut().expect("made above").commit(records, None, &|to| self.check_target(to));
        if result.is_err() {
            *appender = None;
        }
        result
    }

    /// A unique id: two appenders of one name would fence each other.
    pub(crate) fn appender_id(&self) -> String {
        static APPENDERS: AtomicU64 = AtomicU64::new(0);
        let started_at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let number = APPENDERS.fetch_add(1, Ordering::Relaxed);
        format!("{}-append-{:x}-{}-{number}", self.settings.client_id(), started_at, std::process::id())
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
    LogError::new(ErrorKind::Stop, format!("topic {topic} does not exist; create it with recrawl topics create"))
}

/// The error for an answer without the requested offsets.
pub(crate) fn no_answer(partition: &TopicPartition) -> LogError {
    LogError::new(ErrorKind::Retry, format!("Kafka returned no offsets for {partition}"))
}
