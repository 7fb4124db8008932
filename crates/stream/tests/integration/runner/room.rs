//! Stages on a disk that is nearly full.

use crate::runner::{KEPT_TABLE, OUTPUT, driver, processors, send, texts};
use std::time::Duration;
use stream::{Context, InputRecord, ProcessError, Processor, StageSpec};
use stream_testing::{RawRecord, TestDriver};

/// Passes records on, and says at each punctuation whether there is room.
struct Echo;

impl Processor for Echo {
    fn process(&mut self, record: &InputRecord, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let text = String::from_utf8_lossy(record.value.as_deref().unwrap_or_default()).into_owned();
        context.put(KEPT_TABLE, &record.key, &text.clone().into_bytes());
        context.emit(OUTPUT, RawRecord::new("key", text));
        Ok(())
    }

    fn punctuate(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        context.emit(OUTPUT, RawRecord::new("key", format!("room: {}", context.has_room())));
        Ok(())
    }
}

fn turn(driver: &mut TestDriver) {
    for _ in 0..10 {
        driver.clock.advance(Duration::from_secs(1));
        driver.step(0).unwrap();
    }
}

#[test]
fn a_stage_with_a_disk_of_its_own_leaves_its_input_alone_while_that_is_full_and_then_goes_on() {
    let mut driver = driver(1);
    let spec = processors(Box::new(|_| Box::new(Echo)));
    driver.add(StageSpec { punctuate_every: Duration::from_secs(1), ..spec }, "one");
    send(&driver, "key", "a");
    turn(&mut driver);
    driver.room.set_left(false);
    send(&driver, "key", "b");
    let before = texts(&driver, "output");
    assert!(before.contains(&"a".to_owned()) && before.contains(&"room: true".to_owned()), "{before:?}");
    turn(&mut driver);
    assert_eq!(texts(&driver, "output"), before);
    // A partition that is assigned meanwhile is not restored.
    driver.kill(0);
    let spec = processors(Box::new(|_| Box::new(Echo)));
    driver.add(spec, "one");
    turn(&mut driver);
    assert_eq!((texts(&driver, "output"), driver.status(0).partitions), (before.clone(), vec![]));
    driver.room.set_left(true);
    turn(&mut driver);
    assert_eq!(texts(&driver, "output").iter().filter(|text| *text == "a" || *text == "b").count(), 2);
}
