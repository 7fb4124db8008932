//! The section `[kafka]`.

use super::common::{HOUR, MINUTE, SECOND, is_endpoint, not_empty};
use crate::form::{Choice, Count, Flag, Optional, Path, Phrase, Properties, Span, Text};
use crate::kafka::{KafkaProperties, SaslMechanism, SecurityProtocol};
use crate::values::Secret;
use std::path::PathBuf;
use std::time::Duration;

section! {
    /// Apache Kafka as the log, for services that run separately.
    kafka: Kafka {
        /// Bootstrap servers, comma-separated. `None` without Kafka.
        brokers: Option<String> = Optional(Text("host:port, several with commas, such as \"kafka-0:9092\"", is_brokers)),
        /// Prefix of every topic name.
        topic_prefix: String = KAFKA_NAME,
        /// Prefix of every consumer group and transactional id.
        group_prefix: String = KAFKA_NAME,
        /// Partitions of each topic.
        partitions: u32 = Count::new(1, 4_096),
        /// Replicas of each topic.
        replication_factor: u16 = Count::new(1, 100),
        /// Client name in the brokers' logs. `None` means the service's name.
        client_id: Option<String> = Optional(KAFKA_NAME),
        /// Silence after which a service loses its partitions.
        session_timeout: Duration = Span(SECOND, HOUR),
        /// Whether a service with state keeps its partitions while it restarts.
        static_membership: bool = Flag,
        /// Time after which the broker aborts a transaction.
        transaction_timeout: Duration = Span(SECOND, 15 * MINUTE),
        /// Protection of the connections.
        security_protocol: SecurityProtocol = Choice(SecurityProtocol::NAMES),
        /// Login mechanism. `None` means no login.
        sasl_mechanism: Option<SaslMechanism> = Optional(Choice(SaslMechanism::NAMES)),
        /// User name, or the client id for OAUTHBEARER.
        username: Option<String> = Optional(Text("a user name", not_empty)),
        /// Password, or the client secret for OAUTHBEARER.
        password: Option<Secret> = Optional(Phrase),
        /// File with the password. Read on connecting.
        password_file: Option<PathBuf> = Optional(Path("a file name, such as \"/run/secrets/kafka/password\"")),
        /// Token endpoint for OAUTHBEARER.
        oauth_token_url: Option<String> =
            Optional(Text("the address of a token endpoint, such as \"https://id.example.org/token\"", is_endpoint)),
        /// Scope requested with a token.
        oauth_scope: Option<String> = Optional(Text("a scope, such as \"kafka\"", not_empty)),
        /// PEM file with the certificate authorities for brokers. `None` means those of the system.
        ca_file: Option<PathBuf> = Optional(Path("a file name, such as \"kafka-ca.pem\"")),
        /// PEM file with the client certificate.
        certificate_file: Option<PathBuf> = Optional(Path("a file name, such as \"recrawl.pem\"")),
        /// PEM file with the client certificate's key.
        key_file: Option<PathBuf> = Optional(Path("a file name, such as \"recrawl-key.pem\"")),
        /// File with the key's password. Read on connecting.
        key_password_file: Option<PathBuf> = Optional(Path("a file name, such as \"/run/secrets/kafka/key-password\"")),
        /// Additional librdkafka properties.
        properties: KafkaProperties = Properties,
    }
}

const KAFKA_NAME: Text = Text("letters, digits, '.', '_' and '-' only, 100 at most", is_kafka_name);

fn is_brokers(text: &str) -> bool {
    text.split(',').all(|broker| !broker.trim().is_empty() && !broker.trim().contains(char::is_whitespace))
}

fn is_kafka_name(text: &str) -> bool {
    text.len() <= 100 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}
