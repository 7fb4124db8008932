//! The matcher as a process of its own, over Kafka.

use std::process::ExitCode;
use stream::{Stage, StageRunner};

fn main() -> ExitCode {
    daemon::service::main("matcher", |around| {
        let spec = matcher::stage(around.names);
        let settings = around.runner_settings(spec.punctuate_every);
        let (log, stores, clock) = (around.log.clone(), around.stores.clone(), around.clock.clone());
        Ok(Box::new(StageRunner::new(spec, &around.instance, log, stores, clock, settings)) as Box<dyn Stage>)
    })
}
