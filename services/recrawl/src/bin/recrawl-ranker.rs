//! The ranker as a separate process, over Kafka.

use std::process::ExitCode;

fn main() -> ExitCode {
    daemon::service::main("ranker", |around| Ok(ranker::stage(around.settings, around.names, around.partitions)))
}
