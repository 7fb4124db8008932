//! Topics on a Kafka that does not allow everything.

use crate::common::*;
use std::time::Duration;
use stream::{Cleanup, ErrorKind, Log, TopicConfig};
use stream_kafka::KafkaLog;
use stream_testing::KafkaCluster;

#[test]
fn settings_that_a_service_refuses_are_left_out_if_they_can_be_and_refusals_are_quoted() {
    if brokers().is_none() {
        return;
    }
    let cluster = KafkaCluster::with_properties(1, &["create.topic.policy.class.name=RefusesSegments"]);
    let config =
        |name: &str, cleanup| TopicConfig { name: name.into(), partitions: 3, cleanup, max_message_bytes: 1 << 20 };
    let retention = Duration::from_secs(86_400);
    let topics = [config("kept", Cleanup::Compact), config("passing", Cleanup::Delete { retention, consumed: false })];
    let log = KafkaLog::connect(settings(cluster.brokers())).unwrap();
    log.create_topics(&topics).unwrap();
    for check in log.check_topics(&topics).unwrap() {
        assert_eq!(check.problem, None, "{}", check.name);
    }

    let mut many_copies = settings(cluster.brokers());
    many_copies.kafka.replication_factor = 3;
    let error =
        KafkaLog::connect(many_copies).unwrap().create_topics(&[config("copied", Cleanup::Compact)]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Stop);
    assert!(error.message.contains("copied") && error.message.contains("3 time(s)"), "{error}");
    assert!(error.message.ends_with("are there 3 brokers? set [kafka] replication_factor"), "{error}");
}
