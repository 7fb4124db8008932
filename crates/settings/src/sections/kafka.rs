//! The section `[kafka]`.

use super::common::{HOUR, MINUTE, SECOND, not_empty};
use crate::form::{Choice, Count, Optional, Path, Phrase, Properties, Span, Text};
use crate::kafka::{KafkaProperties, SaslMechanism, SecurityProtocol};
use crate::values::Secret;
use page::CanonicalUrl;
use std::path::PathBuf;
use std::time::Duration;

section! {
    /// Apache Kafka as the log, for services run separately.
    kafka: Kafka {
        /// Bootstrap servers, comma-separated; `None` when there is no Kafka.
        brokers: Option<String> = Optional(Text("host:port, several with commas, such as \"kafka-0:9092\"", is_brokers)),
        /// Put before every topic name.
        topic_prefix: String = KAFKA_NAME,
        /// Put before every consumer group and transactional id.
        group_prefix: String = KAFKA_NAME,
        /// Partitions of each topic.
        partitions: u32 = Count::new(1, 4_096),
        /// Copies of each topic.
        replication_factor: u16 = Count::new(1, 100),
        /// Name shown in the brokers' logs; `None` for the service's name.
        client_id: Option<String> = Optional(KAFKA_NAME),
        /// Silence after which a service loses its partitions.
        session_timeout: Duration = Span(SECOND, HOUR),
        /// Time after which the broker aborts a transaction.
        transaction_timeout: Duration = Span(SECOND, 15 * MINUTE),
        /// What connections are protected by.
        security_protocol: SecurityProtocol = Choice(SecurityProtocol::NAMES),
        /// How a process logs in; `None` when it does not.
        sasl_mechanism: Option<SaslMechanism> = Optional(Choice(SaslMechanism::NAMES)),
        /// User; the client id for OAUTHBEARER.
        username: Option<String> = Optional(Text("a user name", not_empty)),
        /// Password; the client secret for OAUTHBEARER.
        password: Option<Secret> = Optional(Phrase),
        /// File with the password, read when connecting.
        password_file: Option<PathBuf> = Optional(Path("a file name, such as \"/run/secrets/kafka/password\"")),
        /// Where tokens are got for OAUTHBEARER.
        oauth_token_url: Option<String> =
            Optional(Text("the address of a token endpoint, such as \"https://id.example.org/token\"", is_endpoint)),
        /// What a token is asked for.
        oauth_scope: Option<String> = Optional(Text("a scope, such as \"kafka\"", not_empty)),
        /// PEM file with the authorities that may vouch for brokers; `None` for those the system trusts.
        ca_file: Option<PathBuf> = Optional(Path("a file name, such as \"kafka-ca.pem\"")),
        /// PEM file with our own certificate.
        certificate_file: Option<PathBuf> = Optional(Path("a file name, such as \"recrawl.pem\"")),
        /// PEM file with its key.
        key_file: Option<PathBuf> = Optional(Path("a file name, such as \"recrawl-key.pem\"")),
        /// File with the key's password, read when connecting.
        key_password_file: Option<PathBuf> = Optional(Path("a file name, such as \"/run/secrets/kafka/key-password\"")),
        /// Further librdkafka properties, passed through.
        properties: KafkaProperties = Properties,
    }
}

const KAFKA_NAME: Text = Text("letters, digits, '.', '_' and '-' only, 100 at most", is_kafka_name);

fn is_brokers(text: &str) -> bool {
    text.split(',').all(|broker| !broker.trim().is_empty() && !broker.trim().contains(char::is_whitespace))
}

/// Without user and password, which have settings of their own.
fn is_endpoint(text: &str) -> bool {
    !text.contains('@') && CanonicalUrl::parse(text).is_ok()
}

fn is_kafka_name(text: &str) -> bool {
    text.len() <= 100 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}
