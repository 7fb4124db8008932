//! State that a processor keeps in memory during a batch, and writes once when the batch is complete.

use page::Timestamp;
use std::time::Duration;
use stream::{
    Cleanup, Context, DeadLetters, InputRecord, NamedTopic, ProcessError, Processor, StageSpec, StageWork, StoreSpec,
    Table, TopicConfig,
};
use stream_testing::{MemoryStores, RawRecord, TestDriver};
use wire::Topic;

const TOTAL: Table<Vec<u8>, Vec<u8>> = Table::new("total");
const REPORTED: Topic<RawRecord> = Topic::new("output");

/// Adds up the lengths of what it reads.
#[derive(Default)]
struct Summing {
    total: u64,
    written: u64,
}

impl Processor for Summing {
    fn restored(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let kept = context.get(TOTAL, &b"total".to_vec())?;
        self.total = kept.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_be_bytes);
        self.written = self.total;
        Ok(())
    }

    fn process(&mut self, record: &InputRecord, _context: &mut Context<'_>) -> Result<(), ProcessError> {
        self.total += record.value.as_deref().unwrap_or_default().len() as u64;
        Ok(())
    }

    fn flush(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        if self.total != self.written {
            self.written = self.total;
            context.put(TOTAL, &b"total".to_vec(), &self.total.to_be_bytes().to_vec());
            context.emit(REPORTED, RawRecord::new(*b"total", self.total.to_string()));
        }
        Ok(())
    }
}

fn stage() -> StageSpec {
    StageSpec {
        name: "summing".to_owned(),
        group: "summing".to_owned(),
        input: "input".into(),
        outputs: vec![NamedTopic { name: REPORTED.name(), topic: "output".to_owned() }],
        stores: vec![StoreSpec { name: TOTAL.name(), changelog: "total-changelog".to_owned(), is_public: true }],
        broadcasts: Vec::new(),
        dead_letters: DeadLetters { topic: "dead-letters".to_owned(), encode: |_| Vec::new() },
        schemas: None,
        punctuate_every: Duration::from_secs(3_600),
        begins_traces: None,
        subject: None,
        stand_in: None,
        work: StageWork::Processors(Box::new(|_| Box::new(Summing::default()))),
    }
}

fn topic(name: &str, cleanup: Cleanup) -> TopicConfig {
    TopicConfig { name: name.into(), partitions: 1, cleanup, max_message_bytes: 1 << 20 }
}

fn reported(driver: &TestDriver) -> Vec<String> {
    let records = driver.contents("output").expect("the topic exists");
    records.iter().map(|record| String::from_utf8_lossy(record.value.as_deref().unwrap_or_default()).into()).collect()
}

#[test]
fn a_batch_is_flushed_once_with_its_records_and_survives_a_crash() {
    let kept = Cleanup::Delete { retention: page::DAY, consumed: false };
    let topics = [
        topic("input", kept),
        topic("output", kept),
        topic("dead-letters", kept),
        topic("total-changelog", Cleanup::Compact),
    ];
    let mut driver = TestDriver::new(&topics, Timestamp::from_secs(1_700_000_000));
    driver.add(stage(), "one");
    driver.run_until_idle().expect("it starts");
    assert!(reported(&driver).is_empty(), "nothing was read, so there is nothing to report");
    let send = |driver: &TestDriver, texts: &[&str]| {
        texts.iter().for_each(|text| driver.send("input", b"key", text.as_bytes().to_vec()).expect("the log takes it"));
    };
    send(&driver, &["a", "bb", "ccc"]);
    driver.run_until_idle().expect("it works");
    assert_eq!(reported(&driver), ["6"], "three records, one batch, one flush");
    assert_eq!(driver.contents("total-changelog").expect("the topic exists").len(), 1);
    driver.kill(0);
    driver.stores = MemoryStores::default();
    driver.add(stage(), "two");
    send(&driver, &["dddd"]);
    driver.run_until_idle().expect("it goes on");
    assert_eq!(reported(&driver), ["6", "10"]);
}
