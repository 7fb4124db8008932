//! The fetcher as a separate process, over Kafka.

use fetcher::FetcherRules;
use messages::body::Packing;
use std::process::ExitCode;

fn main() -> ExitCode {
    daemon::service::main("fetcher", |around| {
        let rules = FetcherRules::new(around.settings)?;
        Ok(fetcher::stage(around.settings, around.names, rules, Packing::Lz4, Some(around.data), around.clock.clone())?)
    })
}
