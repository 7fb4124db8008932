//! What each failure of Kafka asks of a stage.

use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use stream::{ErrorKind, LogError};

/// Failures outside transactions.
pub(crate) fn log_error(doing: &str, error: &KafkaError) -> LogError {
    let kind = match error {
        KafkaError::ClientConfig(..) | KafkaError::ClientCreation(_) | KafkaError::Nul(_) => ErrorKind::Stop,
        KafkaError::MessageConsumptionFatal(_) => ErrorKind::Rejoin,
        other => other.rdkafka_error_code().map_or(ErrorKind::Retry, kind_of),
    };
    LogError::new(kind, format!("{doing}: {}", reason(error)))
}

/// The cause alone, without rdkafka's name for the call.
pub(crate) fn reason(error: &KafkaError) -> String {
    match error {
        KafkaError::Transaction(error) => error.string(),
        KafkaError::ClientConfig(_, description, name, value) => {
            format!("{description} ({name} = {value:?}); check [kafka] properties")
        }
        KafkaError::ClientCreation(description) => format!("{description}; check [kafka] properties"),
        other => match other.rdkafka_error_code() {
            Some(code) => code.to_string(),
            None => other.to_string(),
        },
    }
}

/// What a code asks for when nothing else is known.
pub(crate) fn kind_of(code: RDKafkaErrorCode) -> ErrorKind {
    use RDKafkaErrorCode as Code;
    match code {
        Code::TopicAuthorizationFailed
        | Code::GroupAuthorizationFailed
        | Code::ClusterAuthorizationFailed
        | Code::TransactionalIdAuthorizationFailed
        | Code::SaslAuthenticationFailed
        | Code::Authentication
        | Code::UnsupportedSASLMechanism
        | Code::UnknownTopic
        | Code::UnknownPartition
        | Code::UnknownTopicOrPartition
        | Code::InvalidTopic
        | Code::InvalidTransactionTimeout
        | Code::InvalidConfig
        | Code::InvalidReplicationFactor
        | Code::PolicyViolation
        | Code::UnsupportedVersion
        | Code::MessageSizeTooLarge => ErrorKind::Stop,
        Code::Fatal
        | Code::Fenced
        | Code::ProducerFenced
        | Code::InvalidProducerEpoch
        | Code::FencedInstanceId
        | Code::InvalidProducerIdMapping => ErrorKind::Rejoin,
        _ => ErrorKind::Retry,
    }
}
