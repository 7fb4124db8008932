//! The matcher as a process of its own, over Kafka.

use std::process::ExitCode;

fn main() -> ExitCode {
    daemon::service::main("matcher", |around| Ok(matcher::stage(around.names)))
}
