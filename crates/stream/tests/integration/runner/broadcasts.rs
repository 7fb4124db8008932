//! Topics that every partition reads in full.

use crate::runner::{driver, processors, send};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use stream::{Context, InputRecord, NamedTopic, ProcessError, Processor, StageSpec};
use wire::TopicName;

/// Notes what it takes, in order.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn take(&self, record: &InputRecord, from: &str) {
        let text = String::from_utf8_lossy(record.value.as_deref().unwrap_or_default()).into_owned();
        self.0.lock().unwrap().push(format!("{text} of {from}"));
    }
}

impl Processor for Notes {
    fn process(&mut self, record: &InputRecord, _: &mut Context<'_>) -> Result<(), ProcessError> {
        self.take(record, "input");
        Ok(())
    }

    fn broadcast(&mut self, topic: TopicName, record: &InputRecord, _: &mut Context<'_>) -> Result<(), ProcessError> {
        self.take(record, &topic.to_string());
        Ok(())
    }
}

#[test]
fn broadcasts_of_several_topics_come_before_the_first_record_each_with_its_topic() {
    let mut driver = driver(1);
    let broadcast = |topic: &str, key: &str, text: &str| {
        driver.send(topic, key.as_bytes(), text.as_bytes().to_vec()).unwrap();
    };
    broadcast("output", "a", "old rules");
    broadcast("output", "a", "rules");
    broadcast("schemas", "a", "focus");
    send(&driver, "key", "record");
    let notes = Notes::default();
    let made = notes.clone();
    let named = |name: &'static str| NamedTopic { name: TopicName::Declared(name), topic: name.to_owned() };
    let stage = StageSpec {
        // A topic that does not exist delays no task.
        broadcasts: vec![named("output"), named("missing"), named("schemas")],
        ..processors(Box::new(move |_| Box::new(made.clone())))
    };
    driver.add(stage, "one");
    driver.run_until_idle().unwrap();
    let taken = || std::mem::take(&mut *notes.0.lock().unwrap());
    assert_eq!(taken(), ["rules of output", "focus of schemas", "record of input"]);
    driver.send("schemas", b"b", b"later".to_vec()).unwrap();
    driver.clock.advance(Duration::from_secs(3_600));
    driver.run_until_idle().unwrap();
    assert_eq!(taken(), ["later of schemas"]);
}
