//! The detector as a separate process, over Kafka.

use std::process::ExitCode;

fn main() -> ExitCode {
    daemon::service::main("detector", |around| Ok(detector::stage(around.settings, around.names)))
}
