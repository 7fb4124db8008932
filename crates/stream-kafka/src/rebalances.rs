//! Changes of assignment as the consumer learns of them.

use crate::client::{Quiet, lock};
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext, RebalanceProtocol};
use rdkafka::error::KafkaError;
use rdkafka::types::RDKafkaRespErr;
use rdkafka::{ClientContext, TopicPartitionList};
use std::collections::BTreeSet;
use std::sync::Mutex;

/// Result of a rebalance.
pub(crate) enum Rebalance {
    Assigned(Vec<u32>),
    Revoked(Vec<u32>),
    Failed(String),
}

/// Performs rebalances, which happen inside `poll`, on the polling thread.
#[derive(Default)]
pub(crate) struct Rebalances {
    pub(crate) quiet: Quiet,
    pub(crate) changes: Mutex<Vec<Rebalance>>,
    /// Whether the group has sent an assignment.
    pub(crate) is_in_group: Mutex<bool>,
    /// Partitions assigned to the consumer. A query could replace this set, but a consumer about to close may never
    /// answer.
    pub(crate) started: Mutex<BTreeSet<u32>>,
}

impl ClientContext for Rebalances {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        self.quiet.on_log(level, facility, message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        self.quiet.on_error(&error, reason);
    }
}

impl ConsumerContext for Rebalances {
    fn rebalance(&self, consumer: &BaseConsumer<Self>, kind: RDKafkaRespErr, list: &mut TopicPartitionList) {
        let partitions: Vec<u32> = list.elements().iter().map(|element| element.partition() as u32).collect();
        let (done, change) = if kind == RDKafkaRespErr::RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS {
            // Partitions are added one by one as they are started. Assigning them paused would also work, but resuming
            // does not wake the fetch thread, which costs up to a second.
            (consumer.incremental_assign(&TopicPartitionList::new()), Rebalance::Assigned(partitions))
        } else {
            let done = match consumer.rebalance_protocol() {
                RebalanceProtocol::Cooperative => {
                    let mut known = lock(&self.started);
                    let mut started = TopicPartitionList::new();
                    for element in list.elements() {
                        if known.remove(&(element.partition() as u32)) {
                            started.add_partition(element.topic(), element.partition());
                        }
                    }
                    consumer.incremental_unassign(&started)
                }
                // Leaving the group.
                _ => {
                    lock(&self.started).clear();
                    consumer.unassign()
                }
            };
            (done, Rebalance::Revoked(partitions))
        };
        let mut changes = lock(&self.changes);
        match (done, change) {
            (Err(error), _) => changes.push(Rebalance::Failed(error.to_string())),
            (Ok(()), Rebalance::Revoked(partitions)) if partitions.is_empty() => {}
            // Every generation brings an assignment, mostly without changes. The first one confirms the membership.
            (Ok(()), Rebalance::Assigned(partitions)) if partitions.is_empty() && changes.is_empty() => {
                if !std::mem::replace(&mut *lock(&self.is_in_group), true) {
                    changes.push(Rebalance::Assigned(partitions));
                }
            }
            (Ok(()), Rebalance::Assigned(partitions)) if partitions.is_empty() => {}
            (Ok(()), change) => changes.push(change),
        }
    }
}
