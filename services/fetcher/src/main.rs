//! The fetcher as a process of its own, over Kafka.

use fetcher::{FetchStage, Rules};
use std::process::ExitCode;
use stream::Stage;

fn main() -> ExitCode {
    daemon::service::main("fetcher", |around| {
        let spec = fetcher::stage(around.settings, around.names);
        let (log, clock) = (around.log.clone(), around.clock.clone());
        let stage = FetchStage::new(spec, &around.instance, log, clock, Rules::new(around.settings)?)?;
        Ok(Box::new(stage) as Box<dyn Stage>)
    })
}
