//! The scheduler as a process of its own, over Kafka.

use std::process::ExitCode;

fn main() -> ExitCode {
    daemon::service::main("scheduler", |around| Ok(scheduler::stage(around.settings, around.names, around.partitions)))
}
