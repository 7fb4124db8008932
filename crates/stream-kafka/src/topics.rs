//! Creates topics and checks existing ones.

use crate::cluster::Cluster;
use crate::error::{advice, kind_of, log_error};
use crate::new_topics::{NewTopic, Refusal, create_topics};
use crate::settings::{BATCH_BYTES, KafkaSettings};
use rdkafka::admin::{AdminClient, AdminOptions, ConfigResource, ResourceSpecifier};
use rdkafka::client::DefaultClientContext;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::metadata::MetadataTopic;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stream::protocol::TOMBSTONES_KEPT;
use stream::{Cleanup, ErrorKind, LogError, TopicConfig};
use tracing::warn;

/// Overhead of a batch besides its records, in bytes.
const BATCH_OVERHEAD_BYTES: u32 = 4 * 1024;

/// Longest time for which a compacted topic may keep overwritten and deleted values, such as the text of a forgotten
/// page. The newest segment is never compacted, and ends only at a write.
const MAX_COMPACTION_LAG: Duration = Duration::from_secs(7 * 24 * 3_600);
const COMPACTED_WITHIN: &str = "max.compaction.lag.ms";

/// Longest time in which topics are created or described. A small or busy broker takes its time for thirty of them.
const CREATE_TIMEOUT: Duration = Duration::from_secs(120);
/// Longest wait until all brokers know a new topic.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(30);

/// Result of checking one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicCheck {
    /// Full topic name.
    pub name: Arc<str>,
    /// The fault and its remedy; `None` if the topic is fine.
    pub problem: Option<String>,
}

/// Creates missing topics, and waits until the cluster knows them.
pub(crate) fn create(cluster: &Cluster, topics: &[TopicConfig]) -> Result<(), LogError> {
    let mut missing = Vec::new();
    for topic in topics {
        if cluster.ask_partitions(&topic.name)?.is_none() {
            missing.push(topic);
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let client = admin(cluster)?;
    let mut refused = request(cluster, &client, &missing, &|_| true)?;
    let may_do_with_fewer = |topic: &&TopicConfig| {
        let has_dispensable =
            || properties(topic, &cluster.settings).iter().any(|(name, _)| DISPENSABLE.contains(name));
        refused.get(&*topic.name).is_some_and(Refusal::is_of_settings) && has_dispensable()
    };
    let with_fewer: Vec<_> = missing.iter().copied().filter(may_do_with_fewer).collect();
    if !with_fewer.is_empty() {
        let mut again = request(cluster, &client, &with_fewer, &|name| !DISPENSABLE.contains(&name))?;
        for topic in with_fewer.iter().map(|topic| &*topic.name) {
            let first = refused.remove(topic);
            match again.remove_entry(topic) {
                Some(second) => refused.extend([second]),
                None => warn!(
                    topic,
                    why = first.map(|refusal| refusal.words),
                    "created without the settings of its segments; what it overwrites and deletes may be kept longer"
                ),
            }
        }
    }
    if let Some((name, refusal)) = refused.iter().min_by_key(|(name, _)| *name) {
        return Err(refusal_of(name, refusal, &cluster.settings));
    }
    let deadline = Instant::now() + SETTLE_TIMEOUT;
    for topic in missing {
        while cluster.ask_partitions(&topic.name)?.is_none() {
            if Instant::now() >= deadline {
                let message = format!("topic {} was created but does not appear in the metadata", topic.name);
                return Err(LogError::new(ErrorKind::Retry, message));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    Ok(())
}

/// Requests topics with those of their settings that are `wanted`. Returns the refusals by topic name.
fn request(
    cluster: &Cluster,
    client: &AdminClient<DefaultClientContext>,
    topics: &[&TopicConfig],
    wanted: &dyn Fn(&str) -> bool,
) -> Result<HashMap<String, Refusal>, LogError> {
    let new = |topic: &&TopicConfig| NewTopic {
        name: topic.name.to_string(),
        partitions: topic.partitions,
        replication_factor: cluster.settings.kafka.replication_factor,
        settings: properties(topic, &cluster.settings).into_iter().filter(|(name, _)| wanted(name)).collect(),
    };
    let topics: Vec<NewTopic> = topics.iter().map(new).collect();
    let mut refused = create_topics(client.inner(), &topics, CREATE_TIMEOUT).map_err(|Refusal { code, words }| {
        let error = cluster.explained("cannot create topics", &KafkaError::AdminOp(code));
        LogError { message: format!("{} ({words})", error.message), ..error }
    })?;
    // Another process created it first.
    refused.retain(|_, refusal| refusal.code != RDKafkaErrorCode::TopicAlreadyExists);
    Ok(refused)
}

impl Refusal {
    /// Whether a topic with other settings might not be refused.
    fn is_of_settings(&self) -> bool {
        use RDKafkaErrorCode as Code;
        matches!(self.code, Code::PolicyViolation | Code::InvalidConfig | Code::InvalidRequest)
    }
}

fn refusal_of(name: &str, Refusal { code, words }: &Refusal, settings: &KafkaSettings) -> LogError {
    let hint = match code {
        RDKafkaErrorCode::InvalidReplicationFactor => {
            let replication_factor = settings.kafka.replication_factor;
            format!("; are there {replication_factor} brokers? set [kafka] replication_factor")
        }
        code => advice(*code).to_owned(),
    };
    let words = words.trim_end_matches('.');
    // Without words of the broker these are librdkafka's for the code.
    let quoted = match code.to_string().contains(words) {
        true => String::new(),
        false => format!(": Kafka says \"{words}\""),
    };
    LogError::new(kind_of(*code), format!("cannot create topic {name}: {code}{quoted}{hint}"))
}

/// Largest record that a topic accepts. If the cluster does not say (a user may lack the permission), brokers enforce
/// the limit alone.
pub(crate) fn max_message_bytes(cluster: &Cluster, topic: &str) -> u32 {
    let ask = || {
        let client = admin(cluster).ok()?;
        let topics = [ResourceSpecifier::Topic(topic)];
        let answer = futures_executor::block_on(client.describe_configs(&topics, &options())).ok()?;
        let resource = answer.into_iter().next()?.ok()?;
        let value = resource.get("max.message.bytes")?.value.clone()?;
        value.parse::<u32>().ok().map(|bytes| bytes.saturating_sub(BATCH_OVERHEAD_BYTES))
    };
    ask().unwrap_or(u32::MAX)
}

/// Compares topics with their configuration. `needs_settings`: whether it is a problem that a topic's settings may not be seen.
pub(crate) fn check(
    cluster: &Cluster,
    topics: &[TopicConfig],
    needs_settings: bool,
) -> Result<Vec<TopicCheck>, LogError> {
    let metadata = cluster.metadata()?;
    let used = cluster.used_partitions(&metadata);
    let found: HashMap<&str, &MetadataTopic> = metadata.topics().iter().map(|topic| (topic.name(), topic)).collect();
    let present: Vec<_> = topics
        .iter()
        .filter(|topic| found.contains_key(&*topic.name))
        .map(|topic| ResourceSpecifier::Topic(&topic.name))
        .collect();
    let resources = if present.is_empty() {
        Vec::new()
    } else {
        futures_executor::block_on(admin(cluster)?.describe_configs(&present, &options()))
            .map_err(|error| cluster.explained("cannot get the settings of topics", &error))?
    };
    let names: Vec<_> = topics.iter().filter(|topic| found.contains_key(&*topic.name)).map(|t| &*t.name).collect();
    let mut resources: HashMap<&str, _> = names.into_iter().zip(resources).collect();
    let check = |topic: &TopicConfig| {
        let problem = match (found.get(&*topic.name), resources.remove(&*topic.name)) {
            (Some(metadata), Some(Ok(resource))) => problem_of_partitions(topic, &cluster.settings, used, metadata)
                .or_else(|| problem_of_settings(topic, &cluster.settings, &resource)),
            (Some(metadata), Some(Err(RDKafkaErrorCode::TopicAuthorizationFailed))) if !needs_settings => {
                problem_of_partitions(topic, &cluster.settings, used, metadata)
            }
            (Some(_), Some(Err(code))) => Some(format!("cannot read its settings: {code}{}", advice(code))),
            _ => Some("is missing; create it with recrawl topics create".to_owned()),
        };
        TopicCheck { name: topic.name.clone(), problem }
    };
    Ok(topics.iter().map(check).collect())
}

/// The first problem of a topic's partitions. `used`: the number that is used of topics which are divided alike.
fn problem_of_partitions(
    topic: &TopicConfig,
    settings: &KafkaSettings,
    used: Option<u32>,
    metadata: &MetadataTopic,
) -> Option<String> {
    let replication_factor = settings.kafka.replication_factor;
    let partitions = metadata.partitions().len();
    if let Some(used) = used.filter(|used| *used == topic.partitions && partitions > *used as usize) {
        return Some(format!(
            "has {partitions} partitions, and {used} are used; those added are left alone, and Kafka cannot take them away: \
             go on like this, or delete all topics and start over with kafka.partitions = {partitions}"
        ));
    }
    if partitions != topic.partitions as usize {
        return Some(format!(
            "has {partitions} partitions instead of {}; the number cannot be changed later: set \
             kafka.partitions = {partitions}, or delete all topics and start over",
            topic.partitions
        ));
    }
    let copies = metadata.partitions().iter().map(|partition| partition.replicas().len()).min().unwrap_or(0);
    if copies < usize::from(replication_factor) {
        return Some(format!("has {copies} copies instead of {replication_factor}; reassign its partitions"));
    }
    None
}

/// The first setting of a topic that differs.
fn problem_of_settings(topic: &TopicConfig, settings: &KafkaSettings, resource: &ConfigResource) -> Option<String> {
    let value = |name: &str| resource.get(name).and_then(|entry| entry.value.as_deref());
    properties(topic, settings).into_iter().find_map(|(name, wanted)| {
        let actual = value(name)?;
        let falls_short = match name {
            "cleanup.policy" | "message.timestamp.type" => actual != wanted,
            // At least this much; an operator may have reasons for other values of the rest.
            "max.message.bytes" | "delete.retention.ms" | "retention.ms" | "min.insync.replicas" => {
                let number = |text: &str| text.parse::<i64>().ok().filter(|&number| number >= 0).unwrap_or(i64::MAX);
                number(actual) < number(&wanted)
            }
            COMPACTED_WITHIN => actual.parse::<u128>().is_ok_and(|lag| lag > MAX_COMPACTION_LAG.as_millis()),
            _ => false,
        };
        falls_short.then(|| format!("has {name}={actual} instead of {wanted}; change it (kafka-configs --alter)"))
    })
}

/// Settings without which a topic works, though it may keep what it overwrites and deletes for longer. Some services refuse them
/// (docs/managed-kafka.md).
const DISPENSABLE: [&str; 2] = ["segment.ms", "segment.bytes"];

/// The settings of a topic, as few as serve.
fn properties(topic: &TopicConfig, settings: &KafkaSettings) -> Vec<(&'static str, String)> {
    let record_bytes = topic.max_message_bytes.max(BATCH_BYTES).saturating_add(BATCH_OVERHEAD_BYTES);
    let mut properties = vec![("max.message.bytes", record_bytes.to_string())];
    if settings.is_clock_fast {
        // Otherwise brokers refuse records of a clock that is an hour ahead (KIP-937).
        properties.push(("message.timestamp.after.max.ms", i64::MAX.to_string()));
    }
    if settings.clock_checks.as_deref() == Some(&*topic.name) {
        properties.push(("message.timestamp.type", "LogAppendTime".to_owned()));
    }
    if settings.kafka.replication_factor >= 3 {
        properties.push(("min.insync.replicas", "2".to_owned()));
    }
    match topic.cleanup {
        Cleanup::Compact => properties.extend([
            ("cleanup.policy", "compact".to_owned()),
            ("delete.retention.ms", TOMBSTONES_KEPT.as_millis().to_string()),
            // The newest segment is never compacted, so segments must not grow old.
            ("segment.ms", Duration::from_secs(6 * 3_600).as_millis().to_string()),
            ("segment.bytes", (128 * 1024 * 1024).to_string()),
            // A large partition with few writes may stay below the ratio of the cleaner for good, and keep deleted values.
            (COMPACTED_WITHIN, MAX_COMPACTION_LAG.as_millis().to_string()),
        ]),
        Cleanup::Delete { retention, .. } | Cleanup::Transient { retention } => properties.extend([
            ("cleanup.policy", "delete".to_owned()),
            ("retention.ms", i64::try_from(retention.as_millis()).unwrap_or(i64::MAX).to_string()),
        ]),
    }
    properties
}

fn admin(cluster: &Cluster) -> Result<AdminClient<DefaultClientContext>, LogError> {
    cluster.settings.admin().create().map_err(|error| log_error("cannot create a Kafka client", &error))
}

fn options() -> AdminOptions {
    AdminOptions::new().request_timeout(Some(CREATE_TIMEOUT)).operation_timeout(Some(CREATE_TIMEOUT))
}
