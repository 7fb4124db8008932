//! The connection to Kafka that the settings name.

use settings::{SaslMechanism, Settings};
use stream::{ErrorKind, LogError};
use stream_kafka::{KafkaLog, KafkaSettings, Mechanism, PasswordSource, Sasl, Security, Tls};

/// Connects to the brokers of the settings. `client` is the client id unless the settings name one.
pub fn connect(settings: &Settings, client: &str) -> Result<KafkaLog, LogError> {
    let kafka = &settings.kafka;
    let Some(brokers) = &kafka.brokers else {
        let message = "kafka.brokers is not set; set it to the host:port of a broker (RECRAWL_KAFKA_BROKERS)";
        return Err(LogError::new(ErrorKind::Stop, message));
    };
    KafkaLog::connect(KafkaSettings {
        brokers: brokers.clone(),
        client_id: kafka.client_id.clone().unwrap_or_else(|| client.to_owned()),
        session_timeout: kafka.session_timeout,
        static_membership: kafka.static_membership,
        transaction_timeout: kafka.transaction_timeout,
        replication_factor: kafka.replication_factor,
        batch_interval: settings.log.batch_interval,
        security: security(kafka),
        properties: kafka.properties.0.clone(),
    })
}

/// Security options from the settings. Their consistency was checked when they were loaded.
fn security(kafka: &settings::Kafka) -> Security {
    let tls = kafka.security_protocol.has_tls().then(|| Tls {
        ca_file: kafka.ca_file.clone(),
        certificate_file: kafka.certificate_file.clone(),
        key_file: kafka.key_file.clone(),
        key_password_file: kafka.key_password_file.clone(),
    });
    let mechanism = kafka.sasl_mechanism.filter(|_| kafka.security_protocol.has_sasl());
    let sasl = mechanism.map(|mechanism| Sasl {
        mechanism: match mechanism {
            SaslMechanism::Plain => Mechanism::Plain,
            SaslMechanism::ScramSha256 => Mechanism::ScramSha256,
            SaslMechanism::ScramSha512 => Mechanism::ScramSha512,
            SaslMechanism::OAuthBearer => Mechanism::OAuthBearer {
                token_url: kafka.oauth_token_url.clone().unwrap_or_default(),
                scope: kafka.oauth_scope.clone(),
            },
        },
        username: kafka.username.clone().unwrap_or_default(),
        password: match (&kafka.password, &kafka.password_file) {
            (Some(password), _) => PasswordSource::Value(password.reveal().to_owned()),
            (None, file) => PasswordSource::File(file.clone().unwrap_or_default()),
        },
    });
    Security { tls, sasl }
}
