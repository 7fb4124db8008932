//! The matcher as a separate process, over Kafka.

use std::process::ExitCode;

fn main() -> ExitCode {
    daemon::service::main("matcher", |around| Ok(matcher::stage(around.names)))
}
