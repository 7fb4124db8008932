//! The loop with records that are at fault, with schemas that come late, with work in flight, and with a second
//! program of its own name.

mod broadcasts;
mod faults;
mod in_flight;
mod room;
mod slow;
mod traces;

use page::{DAY, Timestamp};
use std::time::Duration;
use stream::{Cleanup, DeadLetters, NamedTopic, ProcessorFactory, StageSpec, StageWork, StoreSpec, Table, TopicConfig};
use stream_testing::{RawRecord, TestDriver};
use wire::Topic;

const OUTPUT: Topic<RawRecord> = Topic::new("output");
const KEPT_TABLE: Table<Vec<u8>, Vec<u8>> = Table::new("kept");
const KEPT: Cleanup = Cleanup::Delete { retention: DAY, consumed: false };

/// A stage from `input` to `output` with one store.
fn spec(work: StageWork) -> StageSpec {
    let has_store = matches!(work, StageWork::Processors(_));
    let store = StoreSpec { name: KEPT_TABLE.name(), changelog: "kept-changelog".to_owned(), is_public: false };
    StageSpec {
        name: "testing".to_owned(),
        group: "testing".to_owned(),
        input: "input".into(),
        outputs: vec![NamedTopic { name: OUTPUT.name(), topic: "output".to_owned() }],
        stores: if has_store { vec![store] } else { Vec::new() },
        broadcasts: Vec::new(),
        dead_letters: DeadLetters {
            topic: "dead-letters".to_owned(),
            encode: |dead_letter| format!("{}: {}", dead_letter.record.offset, dead_letter.reason).into_bytes(),
        },
        schemas: None,
        punctuate_every: Duration::from_secs(3_600),
        begins_traces: None,
        subject: None,
        stand_in: None,
        work,
    }
}

fn processors(make: ProcessorFactory) -> StageSpec {
    spec(StageWork::Processors(make))
}

fn driver(partitions: u32) -> TestDriver {
    let topic = |name: &str, partitions, cleanup, max_message_bytes| TopicConfig {
        name: name.into(),
        partitions,
        cleanup,
        max_message_bytes,
    };
    let topics = [
        topic("input", partitions, KEPT, 1 << 20),
        topic("output", partitions, KEPT, 1_000),
        topic("dead-letters", 1, KEPT, 1 << 20),
        topic("schemas", 1, Cleanup::Compact, 1 << 20),
        topic("kept-changelog", partitions, Cleanup::Compact, 1_000),
    ];
    TestDriver::new(&topics, Timestamp::from_secs(1_700_000_000))
}

/// The values of a topic as text.
fn texts(driver: &TestDriver, topic: &str) -> Vec<String> {
    let records = driver.contents(topic).expect("the topic exists");
    records.iter().map(|record| String::from_utf8_lossy(record.value.as_deref().unwrap_or_default()).into()).collect()
}

fn send(driver: &TestDriver, key: &str, text: &str) {
    driver.send("input", key.as_bytes(), text.as_bytes().to_vec()).expect("the log takes it");
}
