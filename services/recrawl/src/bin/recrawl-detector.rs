//! The detector as a process of its own, over Kafka.

use std::process::ExitCode;

fn main() -> ExitCode {
    daemon::service::main("detector", |around| Ok(detector::stage(around.settings, around.names)))
}
