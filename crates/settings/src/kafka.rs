//! How a process proves who it is to Kafka, and which properties of the client library an operator may set.

use std::collections::BTreeMap;
use std::fmt;

/// What connections to brokers are protected by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecurityProtocol {
    /// Neither encryption nor login.
    Plaintext,
    /// TLS.
    Ssl,
    /// A login without encryption.
    SaslPlaintext,
    /// A login over TLS.
    SaslSsl,
}

impl SecurityProtocol {
    /// Every protocol with its name in the configuration, which is Kafka's in lower case.
    pub const NAMES: &[(&str, SecurityProtocol)] = &[
        ("plaintext", SecurityProtocol::Plaintext),
        ("ssl", SecurityProtocol::Ssl),
        ("sasl_plaintext", SecurityProtocol::SaslPlaintext),
        ("sasl_ssl", SecurityProtocol::SaslSsl),
    ];

    /// Its name in the configuration.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].0
    }

    /// Whether connections are encrypted.
    pub fn has_tls(self) -> bool {
        matches!(self, Self::Ssl | Self::SaslSsl)
    }

    /// Whether a client logs in.
    pub fn has_sasl(self) -> bool {
        matches!(self, Self::SaslPlaintext | Self::SaslSsl)
    }
}

/// How a client logs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaslMechanism {
    /// User and password as they are.
    Plain,
    /// User and password, the latter never sent (RFC 7677).
    ScramSha256,
    /// The same with a longer hash.
    ScramSha512,
    /// A token from an OpenID Connect provider, got with a client id and secret.
    OAuthBearer,
}

impl SaslMechanism {
    /// Every mechanism with its name, in the configuration as in Kafka.
    pub const NAMES: &[(&str, SaslMechanism)] = &[
        ("PLAIN", SaslMechanism::Plain),
        ("SCRAM-SHA-256", SaslMechanism::ScramSha256),
        ("SCRAM-SHA-512", SaslMechanism::ScramSha512),
        ("OAUTHBEARER", SaslMechanism::OAuthBearer),
    ];

    /// Its name in the configuration.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].0
    }
}

/// librdkafka properties. Values that may be secret are in no debug line.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct KafkaProperties(pub BTreeMap<String, String>);

impl fmt::Debug for KafkaProperties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |name: &str, value| if is_secret_property(name) { "Secret" } else { value };
        f.debug_map().entries(self.0.iter().map(|(name, value)| (name, shown(name, value)))).finish()
    }
}

/// Whether a property's value is a password, a key or a token, by the words librdkafka names those with.
pub(crate) fn is_secret_property(name: &str) -> bool {
    ["password", "passphrase", "secret", "key.pem", "oauthbearer.config"].iter().any(|word| name.contains(word))
}

/// What recrawl sets itself, and the setting to use instead, if there is one. Changing the others would break the
/// commit protocol.
const RESERVED_PROPERTIES: &[(&str, Option<&str>)] = &[
    ("bootstrap.servers", Some("kafka.brokers")),
    ("metadata.broker.list", Some("kafka.brokers")),
    ("client.id", Some("kafka.client_id")),
    ("session.timeout.ms", Some("kafka.session_timeout")),
    ("transaction.timeout.ms", Some("kafka.transaction_timeout")),
    ("group.id", Some("kafka.group_prefix")),
    ("transactional.id", Some("kafka.group_prefix")),
    ("security.protocol", Some("kafka.security_protocol")),
    ("sasl.mechanism", Some("kafka.sasl_mechanism")),
    ("sasl.mechanisms", Some("kafka.sasl_mechanism")),
    ("sasl.username", Some("kafka.username")),
    ("sasl.password", Some("kafka.password or kafka.password_file")),
    ("ssl.ca.location", Some("kafka.ca_file")),
    ("ssl.certificate.location", Some("kafka.certificate_file")),
    ("ssl.key.location", Some("kafka.key_file")),
    ("ssl.key.password", Some("kafka.key_password_file")),
    ("sasl.oauthbearer.method", Some("kafka.sasl_mechanism")),
    ("sasl.oauthbearer.token.endpoint.url", Some("kafka.oauth_token_url")),
    ("sasl.oauthbearer.scope", Some("kafka.oauth_scope")),
    ("sasl.oauthbearer.client.id", Some("kafka.username")),
    ("sasl.oauthbearer.client.credentials.client.id", Some("kafka.username")),
    ("sasl.oauthbearer.client.secret", Some("kafka.password or kafka.password_file")),
    ("sasl.oauthbearer.client.credentials.client.secret", Some("kafka.password or kafka.password_file")),
    ("group.protocol", None),
    ("partition.assignment.strategy", None),
    ("partitioner", None),
    ("enable.auto.commit", None),
    ("enable.auto.offset.store", None),
    ("enable.idempotence", None),
    ("enable.partition.eof", None),
    ("auto.offset.reset", None),
    ("allow.auto.create.topics", None),
    ("batch.size", None),
    ("isolation.level", None),
    ("acks", None),
    ("request.required.acks", None),
];

pub(crate) fn check_property(name: &str) -> Result<(), String> {
    match RESERVED_PROPERTIES.iter().find(|(reserved, _)| *reserved == name) {
        Some((_, Some(instead))) => Err(format!("{name:?} follows from {instead}")),
        Some((_, None)) => Err(format!("{name:?} is part of the commit protocol and cannot be changed")),
        None if name.is_empty() => Err("has a property without a name".to_owned()),
        None => Ok(()),
    }
}
