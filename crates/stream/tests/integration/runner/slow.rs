//! Records that take long.

use crate::runner::{OUTPUT, driver, processors, send, texts};
use std::sync::Arc;
use std::time::Duration;
use stream::{Context, InputRecord, ProcessError, Processor};
use stream_testing::{ManualClock, RawRecord};

/// Copies its input, each record in so much time.
struct Slow {
    clock: Arc<ManualClock>,
    each_takes: Duration,
}

impl Processor for Slow {
    fn process(&mut self, record: &InputRecord, context: &mut Context<'_>) -> Result<(), ProcessError> {
        self.clock.advance(self.each_takes);
        context.emit(OUTPUT, RawRecord::new(record.key.clone(), record.value.as_deref().unwrap_or_default()));
        Ok(())
    }
}

#[test]
fn a_step_takes_no_further_record_once_its_records_have_taken_long() {
    // Seconds for each record, and the records that a step then commits.
    for (each_takes_s, expected) in [(0, 12), (1, 5), (2, 3), (3_600, 1)] {
        let mut driver = driver(2);
        let clock = Arc::clone(&driver.clock);
        let each_takes = Duration::from_secs(each_takes_s);
        driver.add(processors(Box::new(move |_| Box::new(Slow { clock: Arc::clone(&clock), each_takes }))), "one");
        driver.run_until_idle().unwrap();
        let sent: Vec<String> = (0..12).map(|number| format!("record {number}")).collect();
        sent.iter().for_each(|text| send(&driver, text, text));
        let (mut committed, mut most, mut steps) = (0, 0, 0);
        while committed < sent.len() {
            driver.step(0).unwrap();
            let now = texts(&driver, "output").len();
            most = most.max(now - committed);
            (committed, steps) = (now, steps + 1);
            assert!(steps <= 40, "{each_takes_s} s: {committed} records after {steps} steps");
        }
        assert_eq!(most, expected, "{each_takes_s} s");
        // Each record once, and none left out.
        let (mut copied, mut sent) = (texts(&driver, "output"), sent);
        copied.sort();
        sent.sort();
        assert_eq!(copied, sent);
        assert_eq!(driver.status(0).processed_total, 12);
    }
}
