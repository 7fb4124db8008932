//! The fetcher as a separate process, over Kafka.

use fetcher::FetcherRules;
use std::process::ExitCode;

fn main() -> ExitCode {
    daemon::service::main("fetcher", |around| {
        let rules = FetcherRules::new(around.settings)?;
        Ok(fetcher::stage(around.settings, around.names, rules, around.clock.clone())?)
    })
}
