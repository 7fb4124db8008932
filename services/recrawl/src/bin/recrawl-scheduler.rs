//! The scheduler as a separate process, over Kafka.

use std::process::ExitCode;

fn main() -> ExitCode {
    daemon::service::main("scheduler", |around| Ok(scheduler::stage(around.settings, around.names, around.partitions)))
}
