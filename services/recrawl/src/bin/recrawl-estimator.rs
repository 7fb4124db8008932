//! The estimator as a separate process, over Kafka.

use std::process::ExitCode;

fn main() -> ExitCode {
    daemon::service::main("estimator", |around| Ok(estimator::stage(around.settings, around.names)))
}
