//! `recrawl stage`: runs stages of the loop over Kafka until it is stopped.

use crate::commands::{PrintArguments, SettingsArguments};
use crate::stages::{STAGES, StageEntry};
use crate::{CommandFailure, over_kafka};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use daemon::logging;
use outputs::stdout::print;
use std::process::ExitCode;

/// Arguments of `recrawl stage`.
#[derive(Args, Debug)]
pub struct StageArguments {
    /// Stages to run, separated by commas. Processes that run the same stage share its partitions.
    #[arg(required = true, value_name = "NAME", value_delimiter = ',', value_parser = stage_names())]
    stages: Vec<String>,
    #[command(flatten)]
    settings: SettingsArguments,
    /// Name of this process among those that run the stage. A second of the same name stops. Default: the host's name,
    /// for the fetcher with the number of the process.
    #[arg(long, env = "RECRAWL_INSTANCE")]
    instance: Option<String>,
    /// Takes the lowest number that no other process in crawl.data has. The number is added to the name, and the state is in a
    /// directory of that number. So any number of processes may be started alike on one machine.
    #[arg(long, env = "RECRAWL_NUMBERED")]
    numbered: bool,
    #[command(flatten)]
    print: PrintArguments,
}

fn stage_names() -> PossibleValuesParser {
    STAGES.iter().map(|stage| PossibleValue::new(stage.name()).help(stage.purpose)).into()
}

/// Runs the stages. A failure after the log has started is logged, and is in the exit status.
pub fn stage(arguments: &StageArguments) -> Result<ExitCode, CommandFailure> {
    let settings = arguments.settings.load(&[])?;
    if let Some(text) = arguments.print.printed(&settings) {
        return print(text.trim_end()).map(|()| ExitCode::SUCCESS);
    }
    let mut stages: Vec<&StageEntry> = Vec::new();
    for stage in arguments.stages.iter().filter_map(|name| StageEntry::named(name)) {
        if !stages.iter().any(|known| known.name() == stage.name()) {
            stages.push(stage);
        }
    }
    logging::start(&settings.observability);
    Ok(match over_kafka::run(&settings, &stages, arguments.instance.as_deref(), arguments.numbered) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // In the format of the log, which programs read.
            tracing::error!(service = arguments.stages.join(","), error = %failure, "stopped");
            ExitCode::from(failure.status())
        }
    })
}
