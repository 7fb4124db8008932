//! Maps failures of Kafka to their consequence for a stage.

use crate::security::in_our_words;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use settings::is_secret_property;
use stream::{ErrorKind, LogError};

/// Failures outside transactions.
pub(crate) fn log_error(doing: &str, error: &KafkaError) -> LogError {
    let kind = match error {
        KafkaError::ClientConfig(..) | KafkaError::ClientCreation(_) | KafkaError::Nul(_) => ErrorKind::Stop,
        // A consumer with a fatal error is of no use any more.
        KafkaError::MessageConsumptionFatal(code) if kind_of(*code) == ErrorKind::Fenced => ErrorKind::Fenced,
        KafkaError::MessageConsumptionFatal(_) => ErrorKind::Rejoin,
        other => other.rdkafka_error_code().map_or(ErrorKind::Retry, kind_of),
    };
    LogError::new(kind, format!("{doing}: {}", reason(error)))
}

/// The cause alone, without rdkafka's name for the call, plus advice if there is any.
pub(crate) fn reason(error: &KafkaError) -> String {
    match error {
        KafkaError::Transaction(error) => format!("{}{}", error.string(), advice(error.code())),
        KafkaError::ClientConfig(_, description, name, _) if is_secret_property(name) => {
            format!("{} ({name}); check [kafka] properties", in_our_words(description))
        }
        KafkaError::ClientConfig(_, description, name, value) => {
            format!("{description} ({name} = {value:?}); check [kafka] properties")
        }
        KafkaError::ClientCreation(description) => match in_our_words(description) {
            named if named != *description => format!("{named}; check that setting"),
            _ => format!("{description}; check [kafka] properties"),
        },
        other => match other.rdkafka_error_code() {
            Some(code) => format!("{code}{}", advice(code)),
            None => other.to_string(),
        },
    }
}

/// Advice for an operator about an error code, as the end of a sentence.
pub(crate) fn advice(code: RDKafkaErrorCode) -> &'static str {
    use RDKafkaErrorCode as Code;
    match code {
        Code::TopicAuthorizationFailed => {
            "; grant the user of kafka.username access to that topic (docs/kafka-security.md)"
        }
        Code::GroupAuthorizationFailed => {
            "; grant the user of kafka.username access to that group (docs/kafka-security.md)"
        }
        Code::TransactionalIdAuthorizationFailed => {
            "; grant the user of kafka.username the transactional ids that begin with kafka.group_prefix \
             (docs/kafka-security.md)"
        }
        Code::ClusterAuthorizationFailed => {
            "; grant the user of kafka.username this operation (docs/kafka-security.md)"
        }
        Code::SaslAuthenticationFailed | Code::Authentication => {
            "; check kafka.username, kafka.password and kafka.sasl_mechanism"
        }
        Code::UnsupportedSASLMechanism | Code::IllegalSASLState => {
            "; check kafka.sasl_mechanism and kafka.security_protocol"
        }
        Code::OffsetMetadataTooLarge => {
            "; set offset.metadata.max.bytes of the brokers to 4096, which is Kafka's default"
        }
        Code::SSL => "; check kafka.ca_file, and kafka.certificate_file if the brokers require one",
        _ => "",
    }
}

/// Interprets a librdkafka complaint about authentication, encryption or the identity of brokers.
pub(crate) fn refusal(brokers: &str, code: RDKafkaErrorCode, why: &str) -> Option<LogError> {
    use RDKafkaErrorCode as Code;
    let says = |words: &[&str]| words.iter().any(|word| why.contains(word));
    let (kind, what, check) = if why.starts_with("Failed to acquire SASL OAUTHBEARER token") {
        // These are the provider's final answers (RFC 6749, section 5.2); other failures may pass and are retried.
        let is_final =
            says(&["invalid_client", "invalid_grant", "unauthorized_client", "invalid_scope", "access_denied"]);
        let kind = if is_final { ErrorKind::Stop } else { ErrorKind::Retry };
        (kind, "cannot get a token for", "kafka.oauth_token_url, kafka.username and kafka.password")
    } else if says(&["certificate required", "alert bad certificate", "alert unknown ca", "alert handshake failure"]) {
        (ErrorKind::Stop, "was refused by", "kafka.certificate_file and kafka.key_file")
    } else {
        match code {
            // librdkafka sometimes reports a failed handshake as a lost connection.
            Code::SSL | Code::BrokerTransportFailure
                if says(&["certificate verify failed", "certificate could not be verified", "Failed to verify"]) =>
            {
                let check = "kafka.ca_file, and that the certificate is for the host in kafka.brokers";
                (ErrorKind::Stop, "does not trust", check)
            }
            Code::SSL => (ErrorKind::Stop, "cannot set up TLS with", "kafka.security_protocol and kafka.ca_file"),
            Code::Authentication | Code::SaslAuthenticationFailed
                if says(&["mechanism handshake failed", "Unsupported SASL mechanism"]) =>
            {
                (ErrorKind::Stop, "cannot log in to", "kafka.sasl_mechanism and kafka.security_protocol")
            }
            Code::Authentication | Code::SaslAuthenticationFailed => {
                (ErrorKind::Stop, "was refused by", "kafka.username and kafka.password")
            }
            Code::UnsupportedSASLMechanism | Code::IllegalSASLState => {
                (ErrorKind::Stop, "cannot log in to", "kafka.sasl_mechanism and kafka.security_protocol")
            }
            // A broker that goes away looks the same.
            Code::BrokerTransportFailure if says(&["state APIVERSION_QUERY", "state SSL_HANDSHAKE"]) => {
                (ErrorKind::Retry, "was disconnected by", "kafka.security_protocol")
            }
            _ => return None,
        }
    };
    let message = format!("recrawl {what} Kafka at {brokers}: {}; check {check}", in_our_words(why));
    Some(LogError::new(kind, message))
}

/// The reaction to an error code without further context.
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
        | Code::IllegalSASLState
        | Code::SSL
        | Code::UnknownTopic
        | Code::UnknownTopicOrPartition
        | Code::InvalidTopic
        | Code::InvalidTransactionTimeout
        | Code::InvalidConfig
        | Code::InvalidReplicationFactor
        | Code::PolicyViolation
        | Code::UnsupportedVersion
        | Code::OffsetMetadataTooLarge
        | Code::MessageSizeTooLarge => ErrorKind::Stop,
        Code::Fenced | Code::ProducerFenced | Code::FencedInstanceId => ErrorKind::Fenced,
        Code::Fatal | Code::InvalidProducerEpoch | Code::InvalidProducerIdMapping => ErrorKind::Rejoin,
        _ => ErrorKind::Retry,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_setting_and_stops_only_where_nothing_mends_itself() {
        use RDKafkaErrorCode as Code;
        let check = |code, why: &str, expected: Option<(ErrorKind, &str)>| {
            let found = refusal("k:1", code, why);
            match (&found, expected) {
                (None, None) => {}
                (Some(error), Some((kind, end))) => {
                    assert!(error.kind == kind && error.message.ends_with(end), "{error:?}");
                    assert!(error.message.contains("Kafka at k:1"), "{error:?}");
                }
                _ => panic!("{why}: {found:?}"),
            }
        };
        let stop = |end| Some((ErrorKind::Stop, end));
        let unverified = "ssl://k:1: SSL handshake failed: error:0A000086: broker certificate could not be verified, \
                          verify that ssl.ca.location is correctly configured";
        check(Code::SSL, unverified, stop("certificate is for the host in kafka.brokers"));
        let lost = "sasl_ssl://k:1/bootstrap: error:0A000086:SSL routines::certificate verify failed (after 2ms in state \
                    SSL_HANDSHAKE)";
        check(Code::BrokerTransportFailure, lost, stop("certificate is for the host in kafka.brokers"));
        check(
            Code::SSL,
            "SSL handshake failed: wrong version number",
            stop("kafka.security_protocol and kafka.ca_file"),
        );
        let alert = "Receive failed: SSL transport error: tlsv13 alert certificate required";
        check(Code::BrokerTransportFailure, alert, stop("kafka.certificate_file and kafka.key_file"));
        let credentials = "SASL authentication error: invalid credentials with SASL mechanism SCRAM-SHA-512";
        check(Code::Authentication, credentials, stop("kafka.username and kafka.password"));
        let handshake = "SASL PLAIN mechanism handshake failed: Broker: Unsupported SASL mechanism";
        check(Code::Authentication, handshake, stop("kafka.sasl_mechanism and kafka.security_protocol"));
        let token = "Failed to acquire SASL OAUTHBEARER token: ";
        check(Code::Authentication, &format!("{token}Could not connect"), Some((ErrorKind::Retry, "kafka.password")));
        check(Code::Authentication, &format!("{token}{{\"error\":\"invalid_client\"}}"), stop("kafka.password"));
        let cut = "Disconnected: connection closed by peer (after 35ms in state APIVERSION_QUERY)";
        check(Code::BrokerTransportFailure, cut, Some((ErrorKind::Retry, "kafka.security_protocol")));
        check(Code::BrokerTransportFailure, "Connection refused", None);
        let message = refusal("k:1", Code::SSL, unverified).unwrap().message;
        assert!(message.contains("kafka.ca_file is correctly") && !message.contains("ssl.ca.location"), "{message}");
    }

    #[test]
    fn a_secret_property_that_is_refused_is_not_shown() {
        use rdkafka::types::RDKafkaConfRes;
        let refused = |name: &str| {
            let result = RDKafkaConfRes::RD_KAFKA_CONF_INVALID;
            KafkaError::ClientConfig(result, "wrong".to_owned(), name.to_owned(), "swordfish".to_owned())
        };
        assert!(reason(&refused("linger.ms")).contains("swordfish"));
        for name in ["ssl.keystore.password", "ssl.key.pem", "sasl.oauthbearer.client.secret"] {
            assert!(!reason(&refused(name)).contains("swordfish") && reason(&refused(name)).contains(name));
        }
    }
}
