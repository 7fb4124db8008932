//! Authentication to Kafka, and the client library's properties that an operator may set.

use std::collections::BTreeMap;
use std::fmt;

/// Protection of the connections to brokers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecurityProtocol {
    /// No encryption, no login.
    Plaintext,
    /// TLS.
    Ssl,
    /// Login without encryption.
    SaslPlaintext,
    /// Login over TLS.
    SaslSsl,
}

impl SecurityProtocol {
    /// Every protocol with its name in the configuration: Kafka's name in lower case.
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

/// Login mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaslMechanism {
    /// User name and password in clear text.
    Plain,
    /// User name and password; the password is never sent (RFC 7677).
    ScramSha256,
    /// The same with SHA-512.
    ScramSha512,
    /// A token from an OpenID Connect provider, obtained with a client id and secret.
    OAuthBearer,
}

impl SaslMechanism {
    /// Every mechanism with its name, the same as Kafka's.
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

/// librdkafka properties. `Debug` hides values that may be secret.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct KafkaProperties(pub BTreeMap<String, String>);

impl fmt::Debug for KafkaProperties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |name: &str, value| if is_secret_property(name) { "Secret" } else { value };
        f.debug_map().entries(self.0.iter().map(|(name, value)| (name, shown(name, value)))).finish()
    }
}

/// Whether a property's value is a password, a key or a token, judged by words in librdkafka's names.
pub fn is_secret_property(name: &str) -> bool {
    ["password", "passphrase", "secret", "key.pem", "oauthbearer.config"].iter().any(|word| name.contains(word))
}

/// Properties that recrawl sets itself, with the setting to use instead, if there is one. Changing the others would
/// break the commit protocol.
const RESERVED_PROPERTIES: &[(&str, Option<&str>)] = &[
    ("bootstrap.servers", Some("kafka.brokers")),
    ("metadata.broker.list", Some("kafka.brokers")),
    ("client.id", Some("kafka.client_id")),
    ("session.timeout.ms", Some("kafka.session_timeout")),
    ("group.instance.id", Some("kafka.static_membership and --instance")),
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
        Some((_, Some(instead))) => Err(format!("{name:?} is derived from {instead}")),
        Some((_, None)) => Err(format!("{name:?} is part of the commit protocol and cannot be changed")),
        None if name.is_empty() => Err("has a property without a name".to_owned()),
        None => Ok(()),
    }
}
