//! The scheduler as a process of its own, over Kafka.

use std::process::ExitCode;
use stream::{Stage, StageRunner};

fn main() -> ExitCode {
    daemon::service::main("scheduler", |around| {
        let spec = scheduler::stage(around.settings, around.names, around.partitions);
        let settings = around.runner_settings(spec.punctuate_every);
        let (log, stores, clock) = (around.log.clone(), around.stores.clone(), around.clock.clone());
        Ok(Box::new(StageRunner::new(spec, &around.instance, log, stores, clock, settings)) as Box<dyn Stage>)
    })
}
