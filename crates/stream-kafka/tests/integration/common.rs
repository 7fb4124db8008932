//! A Kafka for tests, names that no other test uses, and members that are polled until they are where they should be.

#![allow(dead_code, unreachable_pub)]

use ::settings::{Kafka, SaslMechanism, SecurityProtocol, Settings};
use page::Timestamp;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use stream::{
    Cleanup, Commit, Event, InputRecord, Log, LogError, Member, MemberSpec, OutputRecord, PollLimits, Position,
    Receipt, TopicConfig, TopicPartition,
};
use stream_kafka::{KafkaLog, KafkaSettings};

/// Longest wait for anything to come true. It measures nothing.
pub const PATIENCE: Duration = Duration::from_secs(1_800);

/// The brokers to test against. `None`, with a word about it, when there are none.
pub fn brokers() -> Option<String> {
    let brokers = std::env::var("RECRAWL_KAFKA").ok().filter(|brokers| !brokers.is_empty());
    if brokers.is_none() {
        let required = std::env::var("RECRAWL_KAFKA_REQUIRED").is_ok_and(|value| value == "1");
        assert!(!required, "RECRAWL_KAFKA_REQUIRED=1 but RECRAWL_KAFKA names no brokers");
        eprintln!("LEFT OUT: this test needs a Kafka; start one (make kafka-up) and set RECRAWL_KAFKA=host:port");
    }
    brokers
}

/// The directory with addresses and certificates of the TLS listeners. `None`, with a message, without such listeners.
pub fn secrets() -> Option<PathBuf> {
    let secrets = std::env::var_os("RECRAWL_KAFKA_SECURE");
    let required = std::env::var("RECRAWL_KAFKA_REQUIRED").is_ok_and(|value| value == "1");
    assert!(secrets.is_some() || !required, "RECRAWL_KAFKA_REQUIRED=1 but RECRAWL_KAFKA_SECURE is not set");
    let secrets = secrets.filter(|directory| !directory.is_empty());
    if secrets.is_none() {
        eprintln!("LEFT OUT: this test needs a Kafka with TLS: make kafka-up, and set RECRAWL_KAFKA_SECURE as it says");
    }
    secrets.map(PathBuf::from)
}

/// The listener with TLS and a login, for the user that may do no more than recrawl needs.
pub fn login(secrets: &Path, mechanism: SaslMechanism) -> KafkaSettings {
    let mut settings = settings(&address(secrets, "login"));
    let kafka = &mut settings.kafka;
    kafka.security_protocol = SecurityProtocol::SaslSsl;
    kafka.sasl_mechanism = Some(mechanism);
    kafka.username = Some("recrawl".to_owned());
    kafka.password_file = Some(secrets.join("password"));
    kafka.ca_file = Some(secrets.join("ca.pem"));
    settings
}

/// Where a listener is.
pub fn address(secrets: &Path, listener: &str) -> String {
    std::fs::read_to_string(secrets.join(listener)).expect("the cluster wrote it")
}

pub fn settings(brokers: &str) -> KafkaSettings {
    KafkaSettings {
        kafka: Kafka {
            brokers: Some(brokers.to_owned()),
            session_timeout: Duration::from_secs(6),
            static_membership: false,
            transaction_timeout: Duration::from_secs(20),
            replication_factor: 1,
            ..Settings::default().kafka
        },
        // The user of the listeners with TLS may use names that begin so.
        client_id: unique("recrawl-test"),
        batch_interval: Duration::from_millis(20),
        is_clock_fast: false,
        divided_alike: Vec::new(),
        clock_checks: None,
    }
}

/// A log, when there is a Kafka.
pub fn log() -> Option<KafkaLog> {
    brokers().map(|brokers| KafkaLog::connect(settings(&brokers)).expect("Kafka can be reached"))
}

/// A name that no other test and no other run has.
pub fn unique(name: &str) -> String {
    static NAMES: AtomicU32 = AtomicU32::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is past 1970").as_micros();
    format!("{name}-{now:x}-{}-{}", std::process::id(), NAMES.fetch_add(1, Ordering::Relaxed))
}

pub fn topic_config(name: &str, partitions: u32) -> TopicConfig {
    TopicConfig {
        name: unique(name).into(),
        partitions,
        // Kafka compares the records' own times with this, and those of the tests are long past.
        cleanup: Cleanup::Delete { retention: Duration::from_secs(100 * 366 * 86_400), consumed: false },
        max_message_bytes: 2 * 1024 * 1024,
    }
}

/// Makes a topic and returns its name.
pub fn topic(log: &KafkaLog, name: &str, partitions: u32) -> String {
    let config = topic_config(name, partitions);
    log.create_topics(std::slice::from_ref(&config)).expect("topics can be made");
    config.name.to_string()
}

pub fn record(topic: &str, partition: u32, key: &str, value: &[u8]) -> OutputRecord {
    OutputRecord {
        to: TopicPartition::new(topic, partition),
        timestamp: Timestamp::from_millis(1_700_000_000_123),
        key: key.as_bytes().to_vec(),
        value: Some(value.to_vec().into()),
        trace: None,
    }
}

pub fn spec(group: &str, input: &str, transactional_id: &str) -> MemberSpec {
    MemberSpec { group: group.to_owned(), input: input.to_owned(), transactional_id: transactional_id.to_owned() }
}

/// Everything committed in one partition.
pub fn contents(log: &KafkaLog, topic: &str, partition: u32) -> Vec<InputRecord> {
    let mut reader = log.reader().expect("a reader");
    let (mut all, mut next) = (Vec::new(), 0);
    loop {
        let (records, after) = reader.read(&TopicPartition::new(topic, partition), next, 10_000).expect("read");
        if records.is_empty() {
            return all;
        }
        all.extend(records);
        next = after;
    }
}

/// Polls until a condition on what has come holds. Partitions are started where the group's offsets say.
pub fn poll_until(
    member: &mut dyn Member,
    mut done: impl FnMut(&mut dyn Member, &[Event]) -> bool,
) -> Result<Vec<Event>, LogError> {
    let deadline = Instant::now() + PATIENCE;
    let mut seen = Vec::new();
    loop {
        let events = member.poll(PollLimits::records(1_000), Duration::from_millis(50))?;
        for event in &events {
            if let Event::Assigned(partitions) = event {
                for &partition in partitions {
                    let from = member.committed(&[partition])?.get(&partition).map_or(0, |position| position.next);
                    member.start(partition, from)?;
                }
            }
        }
        seen.extend(events);
        if done(member, &seen) {
            return Ok(seen);
        }
        assert!(Instant::now() < deadline, "this did not come true in {PATIENCE:?}; seen {} events", seen.len());
    }
}

/// Commits records of no task.
pub fn send(member: &mut dyn Member, outputs: Vec<OutputRecord>) -> Result<Receipt, LogError> {
    member.commit(&Commit { outputs, ..Commit::default() })
}

/// Commits positions with records, as the work of the partitions named.
pub fn commit(
    member: &mut dyn Member,
    positions: impl IntoIterator<Item = (u32, u64)>,
    outputs: Vec<OutputRecord>,
) -> Result<Receipt, LogError> {
    let positions: BTreeMap<_, _> =
        positions.into_iter().map(|(partition, next)| (partition, Position::at(next))).collect();
    member.commit(&Commit { tasks: positions.keys().copied().collect(), positions, outputs, ..Commit::default() })
}

/// The committed next offset of a partition.
pub fn committed(member: &mut dyn Member, partition: u32) -> Option<u64> {
    member.committed(&[partition]).expect("Kafka answers").get(&partition).map(|position| position.next)
}

pub fn records(events: &[Event]) -> Vec<&InputRecord> {
    events.iter().filter_map(|event| if let Event::Record(record) = event { Some(record) } else { None }).collect()
}

/// Waits for a condition that does not depend on a member.
pub fn wait_until(mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "this did not come true in {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
