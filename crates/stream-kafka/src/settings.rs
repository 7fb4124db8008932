//! The operator's settings for Kafka's client, and the properties fixed by the commit protocol.

use crate::security::security_properties;
use rdkafka::ClientConfig;
use rdkafka::config::RDKafkaLogLevel;
use settings::Kafka;
use std::time::Duration;
use stream::LogError;

/// Maximum size of producer batches, librdkafka's default.
pub(crate) const BATCH_BYTES: u32 = 1_000_000;

/// Maximum size of producer batches where topics have this lowest limit of records.
pub(crate) fn batch_bytes(lowest_limit: Option<u32>) -> u32 {
    lowest_limit.map_or(BATCH_BYTES, |limit| limit.clamp(1_000, BATCH_BYTES))
}

/// How far a member fetches ahead: records per partition, and KiB in total. A fetch in progress is not included.
const FETCHED_AHEAD_RECORDS: &str = "1000";
const FETCHED_AHEAD_KIB: &str = "16384";

/// Connection to Kafka.
#[derive(Clone, Debug)]
pub struct KafkaSettings {
    /// The operator's settings. Their consistency was checked when they were loaded.
    pub kafka: Kafka,
    /// Name shown in the brokers' logs, unless the settings have one.
    pub client_id: String,
    /// How long a poll collects further records after its first. A longer interval gives fewer, larger transactions.
    pub batch_interval: Duration,
    /// Whether records may have times far ahead of the brokers' clocks (`clock.speed`).
    pub is_clock_fast: bool,
    /// Topics that are divided alike, by the key of their records; the changelogs beside them are, too. If some have more
    /// partitions than most, because somebody added them, those are left alone: a key would lead to another partition than before.
    pub divided_alike: Vec<String>,
    /// The topic whose records brokers stamp with their own time ([`crate::KafkaLog::read_clock`]).
    pub clock_checks: Option<String>,
}

impl KafkaSettings {
    /// Adds the security properties. Reads the files they name.
    pub(crate) fn with_security(mut self) -> Result<Self, LogError> {
        let security = security_properties(&self.kafka)?;
        self.kafka.properties.0.extend(security);
        Ok(self)
    }

    /// Bootstrap servers, comma-separated `host:port`.
    pub(crate) fn brokers(&self) -> &str {
        self.kafka.brokers.as_deref().unwrap_or_default()
    }

    pub(crate) fn client_id(&self) -> &str {
        self.kafka.client_id.as_deref().unwrap_or(&self.client_id)
    }

    pub(crate) fn is_divided_alike(&self, topic: &str) -> bool {
        let prefix = self.kafka.topic_prefix.as_str();
        let is_changelog = !prefix.is_empty() && topic.starts_with(prefix) && topic.ends_with("-changelog");
        !self.divided_alike.is_empty() && is_changelog || self.divided_alike.iter().any(|alike| alike == topic)
    }

    fn base(&self, defaults: &[(&str, &str)]) -> ClientConfig {
        let mut config = ClientConfig::new();
        for (name, value) in [
            ("reconnect.backoff.max.ms", "2000"),
            ("socket.keepalive.enable", "true"),
            ("log.connection.close", "false"),
        ] {
            config.set(name, value);
        }
        for (name, value) in defaults {
            config.set(*name, *value);
        }
        for (name, value) in &self.kafka.properties.0 {
            config.set(name, value);
        }
        config.set("bootstrap.servers", self.brokers());
        config.set("client.id", self.client_id());
        config.set_log_level(RDKafkaLogLevel::Warning);
        config
    }

    /// Configuration of administration clients, whose log is ignored.
    pub(crate) fn admin(&self) -> ClientConfig {
        let mut config = self.base(&[]);
        config.set_log_level(RDKafkaLogLevel::Emerg);
        config
    }

    /// Configuration of the producer that reads the brokers' clock.
    pub(crate) fn clock_check(&self) -> ClientConfig {
        let mut config = self.base(&[("linger.ms", "0"), ("message.timeout.ms", "5000")]);
        // A topic that a broker makes by itself leaves the times of records to their producers.
        config.set("allow.auto.create.topics", "false");
        config
    }

    fn consumer(&self, defaults: &[(&str, &str)], isolation_level: &str) -> ClientConfig {
        let mut config = self.base(defaults);
        config.set("isolation.level", isolation_level);
        config.set("enable.auto.commit", "false");
        config.set("enable.auto.offset.store", "false");
        config.set("auto.offset.reset", "earliest");
        config.set("allow.auto.create.topics", "false");
        config
    }

    /// Configuration of clients that query topics and offsets and consume nothing.
    pub(crate) fn view(&self, isolation_level: &str) -> ClientConfig {
        let mut config = self.consumer(&[], isolation_level);
        // A broker that expects another security protocol hangs up, which librdkafka logs at this level.
        config.set("log.connection.close", "true");
        config.set_log_level(RDKafkaLogLevel::Info);
        config
    }

    /// Configuration of clients that query a group without joining it. Committed positions are returned as they are: under
    /// `read_committed`, Kafka withholds those of a partition while a transaction that moves them is open, which is for as
    /// long as `transaction_timeout` if a member was killed.
    pub(crate) fn group_view(&self, group: &str) -> ClientConfig {
        let mut config = self.view("read_uncommitted");
        config.set("group.id", group);
        config
    }

    /// Configuration of a group member, which is known to the group as `name` if members are static.
    pub(crate) fn member(&self, group: &str, name: &str) -> ClientConfig {
        let session_ms = self.kafka.session_timeout.as_millis();
        let defaults = [
            // A fetch that waits for records blocks its connection; the default is 500.
            ("fetch.wait.max.ms", "100"),
            // All partitions share one queue: records that arrive late wait behind what was fetched ahead for other
            // partitions. The default of 100,000 records or 64 MiB is minutes of work for a busy stage.
            ("queued.min.messages", FETCHED_AHEAD_RECORDS),
            ("queued.max.messages.kbytes", FETCHED_AHEAD_KIB),
            // Pause before a full queue is checked again; after the default of a second it may have run dry.
            ("fetch.queue.backoff.ms", "5"),
        ];
        let mut config = self.consumer(&defaults, "read_committed");
        config.set("group.id", group);
        if self.kafka.static_membership {
            config.set("group.instance.id", name);
        }
        // KIP-848 stalls in the bundled librdkafka.
        config.set("group.protocol", "classic");
        config.set("partition.assignment.strategy", "cooperative-sticky");
        config.set("session.timeout.ms", session_ms.to_string());
        config.set("heartbeat.interval.ms", (session_ms / 3).clamp(1, 3_000).to_string());
        config.set("max.poll.interval.ms", session_ms.max(300_000).to_string());
        config
    }

    /// Configuration of readers. librdkafka assigns partitions only to consumers that name a group; this group is never
    /// joined.
    pub(crate) fn reader(&self) -> ClientConfig {
        let defaults = [
            // The broker holds a fetch at the end of a partition for this long; only then is the end known.
            ("fetch.wait.max.ms", "10"),
            // After a leader change the first fetch of each partition is refused; the pause is 500 by default.
            ("fetch.error.backoff.ms", "20"),
        ];
        let mut config = self.consumer(&defaults, "read_committed");
        config.set("group.id", format!("{}-reader", self.client_id()));
        config.set("enable.partition.eof", "true");
        config
    }

    /// `lowest_limit`: the smallest record limit of the topics that the process knows.
    pub(crate) fn producer(&self, transactional_id: &str, lowest_limit: Option<u32>) -> ClientConfig {
        let mut config = self.base(&[
            // Long enough for a batch to fill while records are handed over, short compared with the commit that
            // follows.
            ("linger.ms", "1"),
            // Page bodies are already compressed.
            ("compression.type", "none"),
            // The broker checks the limit of the topic.
            ("message.max.bytes", "100000000"),
            ("queue.buffering.max.kbytes", "262144"),
        ]);
        // Brokers apply the limit to whole batches. Somebody may have lowered it.
        config.set("batch.size", batch_bytes(lowest_limit).to_string());
        config.set("transactional.id", transactional_id);
        config.set("transaction.timeout.ms", self.kafka.transaction_timeout.as_millis().to_string());
        config.set("enable.idempotence", "true");
        config.set("acks", "all");
        config
    }
}
