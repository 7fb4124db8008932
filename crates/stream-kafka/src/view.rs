//! Clients that ask about topics, offsets and groups, and are replaced when they get no answer any more.

use crate::client::{Quiet, lock};
use crate::closing::Closing;
use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tracing::warn;

/// A client without an answer for this long is replaced. librdkafka 2.12 drops the threads of brokers that the metadata does
/// not name for a moment, as when the only broker was frozen, and some clients then wait for them for ever.
pub(crate) const UNANSWERED_FOR: Duration = Duration::from_secs(30);

/// Longest wait for a replaced client to close.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(100);

type Client = Arc<Closing<BaseConsumer<Quiet>>>;

/// A client that joins no group and reads nothing.
pub(crate) struct View {
    config: ClientConfig,
    state: Mutex<ViewState>,
}

struct ViewState {
    client: Client,
    /// When the first question was asked after the last answer.
    unanswered_since: Option<Instant>,
}

impl View {
    pub(crate) fn new(config: ClientConfig) -> Result<Self, KafkaError> {
        let client = connect(&config)?;
        Ok(Self { config, state: Mutex::new(ViewState { client, unanswered_since: None }) })
    }

    /// Asks a question.
    pub(crate) fn ask<T>(
        &self,
        question: impl FnOnce(&BaseConsumer<Quiet>) -> Result<T, KafkaError>,
    ) -> Result<T, KafkaError> {
        let client = lock(&self.state).client.clone();
        serve(&client);
        let asked_at = Instant::now();
        let answer = question(&client);
        self.judge(&client, asked_at, answer.as_ref().err());
        answer
    }

    /// Last complaint of the client, if it still stands.
    pub(crate) fn last_complaint(&self) -> Option<(RDKafkaErrorCode, String)> {
        let client = lock(&self.state).client.clone();
        serve(&client);
        client.context().last_complaint()
    }

    fn judge(&self, client: &Client, asked_at: Instant, error: Option<&KafkaError>) {
        let mut state = lock(&self.state);
        if !Arc::ptr_eq(client, &state.client) {
            return;
        }
        let code = error.and_then(KafkaError::rdkafka_error_code);
        // A client without metadata reports this itself, without asking a broker.
        let is_silent = |code: &RDKafkaErrorCode| is_unanswered(*code) || *code == RDKafkaErrorCode::UnknownPartition;
        let Some(code) = code.filter(is_silent) else {
            state.unanswered_since = None;
            return;
        };
        let unanswered = state.unanswered_since.get_or_insert(asked_at).elapsed();
        if unanswered < UNANSWERED_FOR && code != RDKafkaErrorCode::DestroyBroker {
            return;
        }
        match connect(&self.config) {
            Ok(client) => {
                warn!(%code, ?unanswered, "a client of Kafka got no answer and is replaced");
                *state = ViewState { client, unanswered_since: None };
            }
            Err(error) => warn!(%error, "a client of Kafka that gets no answer cannot be replaced"),
        }
    }
}

fn connect(config: &ClientConfig) -> Result<Client, KafkaError> {
    Ok(Arc::new(Closing::new(config.create_with_context(Quiet::default())?, CLOSE_TIMEOUT)))
}

/// Serves the log lines and errors of a client, which would otherwise pile up.
fn serve(client: &BaseConsumer<Quiet>) {
    for _ in 0..16 {
        client.poll(Duration::ZERO);
    }
}

/// Whether a failure means that no broker has answered.
pub(crate) fn is_unanswered(code: RDKafkaErrorCode) -> bool {
    use RDKafkaErrorCode as Code;
    matches!(
        code,
        Code::AllBrokersDown
            | Code::BrokerTransportFailure
            | Code::DestroyBroker
            | Code::OperationTimedOut
            | Code::RequestTimedOut
            | Code::Resolve
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_knows_no_partition_for_want_of_metadata_has_got_no_answer() {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", "127.0.0.1:1").set_log_level(rdkafka::config::RDKafkaLogLevel::Emerg);
        let view = View::new(config).unwrap();
        let first = lock(&view.state).client.clone();
        let judge = |seconds_ago, code| {
            let asked_at = Instant::now() - Duration::from_secs(seconds_ago);
            view.judge(&first, asked_at, Some(&KafkaError::MetadataFetch(code)));
            !Arc::ptr_eq(&first, &lock(&view.state).client)
        };
        assert!(!judge(20, RDKafkaErrorCode::BrokerTransportFailure));
        assert!(!judge(1, RDKafkaErrorCode::UnknownPartition), "twenty seconds are not enough");
        assert!(!judge(1, RDKafkaErrorCode::UnknownTopicOrPartition), "a broker has answered");
        assert!(!judge(29, RDKafkaErrorCode::UnknownPartition));
        assert!(!judge(1, RDKafkaErrorCode::BrokerTransportFailure));
        lock(&view.state).unanswered_since = Some(Instant::now() - UNANSWERED_FOR);
        assert!(
            judge(1, RDKafkaErrorCode::UnknownPartition),
            "two questions that nobody answered, half a minute apart"
        );
    }
}
