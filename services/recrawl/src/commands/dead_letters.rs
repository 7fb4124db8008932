//! Lists records that a stage set aside because it could not process them, with the reason, and replays them.

use crate::CommandFailure;
use crate::commands::SettingsArguments;
use crate::stages::topologies;
use clap::Args;
use operate::dead_letters::{self, Replayed};
use outputs::stdout::{Format, answer, answers};
use std::path::PathBuf;

/// Arguments of the list of records that were set aside, and of their replay.
#[derive(Args, Debug)]
pub struct DeadLettersArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    /// State directory of a `recrawl run`, which may be running.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Returns each record once to the stage that set it aside. Use it when the stage can process them now. An embedded
    /// crawl must not be running.
    #[arg(long)]
    replay: bool,
    /// Returns commands of operators instead, such as to forget pages or to block hosts, and nothing else. Look at them first:
    /// every stage may write records to this list.
    #[arg(long, requires = "replay")]
    commands: bool,
}

/// Lists the retained records that were set aside.
pub fn dead_letters(arguments: &DeadLettersArguments, format: Format) -> Result<(), CommandFailure> {
    let data = arguments.data.as_ref().map(|path| path.display().to_string());
    let settings = arguments.settings.load(&[("crawl.data", data)])?;
    if arguments.replay {
        let what = if arguments.commands { Replayed::Commands } else { Replayed::Records };
        return answer(format, &dead_letters::replay(&settings, &topologies(), what)?, |counts| {
            let withheld = match (arguments.commands, counts.withheld) {
                (false, count @ 1..) => format!(", {count} commands withheld (--commands returns them)"),
                _ => String::new(),
            };
            format!("{} replayed, {} left out{withheld}", counts.replayed, counts.left_out)
        });
    }
    let dead_letters = dead_letters::list(&settings)?;
    answers(format, &dead_letters, |row| {
        format!(
            "{}  {}  {}-{}@{}  {} bytes: {}",
            row.set_aside_at, row.stage, row.topic, row.partition, row.offset, row.value_bytes, row.reason
        )
    })
}
