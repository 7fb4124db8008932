//! Delivery reports of the records of a transaction.

use crate::client::{Quiet, lock};
use crate::error::{advice, kind_of};
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::producer::{DeliveryResult, ProducerContext};
use rdkafka::{ClientContext, Message};
use std::collections::BTreeMap;
use std::sync::Mutex;
use stream::{ErrorKind, LogError, TopicPartition};

pub(super) fn too_large(to: &TopicPartition, bytes: usize) -> LogError {
    let message = format!(
        "a record of {bytes} bytes is larger than topic {} allows; raise the topic's max.message.bytes (and the brokers' \
         message.max.bytes) or lower the limits on the content of records",
        to.topic
    );
    LogError::new(ErrorKind::Stop, message)
}

/// Collects delivery reports. A delivery names its partition by index in the transaction's list of partitions.
#[derive(Default)]
pub(super) struct Deliveries {
    pub(super) quiet: Quiet,
    reported: Mutex<Reported>,
}

#[derive(Default)]
struct Reported {
    /// Next offset by index; `None` if the broker did not return one (a batch sent twice and recognised).
    next_offsets: Vec<Option<u64>>,
    /// Number of reports by index.
    counts: Vec<usize>,
    failed: Option<FailedDelivery>,
}

/// The first record that was not written.
#[derive(Clone, Copy, Debug)]
pub(super) struct FailedDelivery {
    /// Index of its partition.
    pub(super) place: usize,
    pub(super) code: RDKafkaErrorCode,
    bytes: usize,
}

impl FailedDelivery {
    pub(super) fn error(&self, to: &TopicPartition) -> LogError {
        match self.code {
            RDKafkaErrorCode::MessageSizeTooLarge | RDKafkaErrorCode::MessageBatchTooLarge => too_large(to, self.bytes),
            code => {
                let kind = match kind_of(code) {
                    ErrorKind::Stop => ErrorKind::Stop,
                    _ => ErrorKind::Rejoin,
                };
                LogError::new(kind, format!("cannot write to {to}: {code}{}", advice(code)))
            }
        }
    }
}

impl Deliveries {
    /// The result for the transaction's records, once all are accounted for.
    pub(super) fn take(&self, targets: &[TopicPartition]) -> Result<BTreeMap<TopicPartition, u64>, FailedDelivery> {
        let reported = std::mem::take(&mut *lock(&self.reported));
        if let Some(failed) = reported.failed {
            return Err(failed);
        }
        let known = targets.iter().zip(reported.next_offsets);
        Ok(known.filter_map(|(to, next)| next.map(|next| (to.clone(), next))).collect())
    }

    /// Number of reports about records of a partition so far, by its index.
    pub(super) fn report_count(&self, place: usize) -> usize {
        lock(&self.reported).counts.get(place).copied().unwrap_or_default()
    }

    pub(super) fn has_failed(&self) -> bool {
        lock(&self.reported).failed.is_some()
    }

    pub(super) fn clear(&self) {
        *lock(&self.reported) = Reported::default();
    }
}

impl ClientContext for Deliveries {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        self.quiet.on_log(level, facility, message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        self.quiet.on_error(&error, reason);
    }
}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = usize;

    fn delivery(&self, result: &DeliveryResult<'_>, place: usize) {
        let mut reported = lock(&self.reported);
        if reported.counts.len() <= place {
            reported.next_offsets.resize(place + 1, Some(0));
            reported.counts.resize(place + 1, 0);
        }
        reported.counts[place] += 1;
        match result {
            Ok(message) => {
                let next = &mut reported.next_offsets[place];
                *next = match (*next, u64::try_from(message.offset())) {
                    (Some(next), Ok(offset)) => Some(next.max(offset + 1)),
                    _ => None,
                };
            }
            Err((error, message)) => {
                let code = error.rdkafka_error_code().unwrap_or(RDKafkaErrorCode::Fail);
                let bytes = message.payload_len() + message.key_len();
                reported.failed.get_or_insert(FailedDelivery { place, code, bytes });
            }
        }
    }
}
