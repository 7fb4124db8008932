//! `recrawl backup`: a copy of an embedded crawl at one moment, running or stopped.

use crate::CommandFailure;
use clap::Args;
use operate::Access;
use outputs::stdout::{Format, answer};
use serde::Serialize;
use std::path::PathBuf;

/// Arguments of `recrawl backup`.
#[derive(Args, Debug)]
pub struct BackupArguments {
    /// Directory to make. It is a data directory: `recrawl run --data DIRECTORY` goes on from there.
    directory: PathBuf,
    /// State directory of a `recrawl run`, which may be running.
    #[arg(long)]
    data: PathBuf,
}

#[derive(Serialize)]
struct MadeBackup {
    directory: PathBuf,
}

/// Makes a backup. A running crawl makes it, because its log can be written and copied by its owner alone.
pub fn backup(arguments: &BackupArguments, format: Format) -> Result<(), CommandFailure> {
    let unusable = |problem: String| CommandFailure::Input(format!("{}: {problem}", arguments.directory.display()));
    let directory = std::path::absolute(&arguments.directory).map_err(|error| unusable(error.to_string()))?;
    let name = directory.to_str().ok_or_else(|| unusable("choose a name in UTF-8".to_owned()))?;
    match Access::running(&arguments.data)? {
        Some(access) => operate::back_up_at(&access, name)?,
        None if !stream_rocksdb::has_log(&arguments.data) => {
            return Err(CommandFailure::Input(format!("no crawl in {}", arguments.data.display())));
        }
        None => {
            stream_rocksdb::open_log(&arguments.data)?.backend().back_up(&directory)?;
            operate::note_preset(&directory, operate::noted_preset(&arguments.data)?)?;
        }
    }
    answer(format, &MadeBackup { directory }, |made| format!("backup in {}", made.directory.display()))
}
