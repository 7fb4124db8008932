//! `recrawl state check`: verifies that a data directory is complete and sound.

use crate::CommandFailure;
use clap::{Args, Subcommand};
use outputs::stdout::{Format, answer};
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use stream_rocksdb::check::{DatabaseReport, DirectoryReport, check};

/// Arguments of `recrawl state`.
#[derive(Args, Debug)]
pub struct StateArguments {
    #[command(subcommand)]
    action: StateAction,
}

#[derive(Subcommand, Debug)]
enum StateAction {
    /// Reads every entry of every database, verifies checksums, and changes nothing. Exit status 1 if something is
    /// wrong.
    Check {
        /// State directory of a `recrawl run` or of a service, which may be running.
        #[arg(long)]
        data: PathBuf,
    },
    /// Makes a copy of a data directory a crawl of its own. Cursors and exports of the original do not go on in it, nor the
    /// other way round. Without this, the copy is the same crawl and must replace the original.
    NewCrawl {
        /// The copy. No recrawl may be running on it.
        #[arg(long)]
        data: PathBuf,
    },
}

#[derive(Serialize)]
struct NewCrawl {
    log: String,
}

/// Checks a data directory, or makes it a new crawl.
pub fn state(arguments: &StateArguments, format: Format) -> Result<(), CommandFailure> {
    let data = match &arguments.action {
        StateAction::Check { data } => data,
        StateAction::NewCrawl { data } => {
            let log = stream_rocksdb::make_new_log(data)?;
            return answer(format, &NewCrawl { log }, |new| format!("a new crawl: log {}", new.log));
        }
    };
    let report = check(data).map_err(|error| CommandFailure::Input(format!("{}: {error}", data.display())))?;
    if report.databases.is_empty() && report.set_aside.is_empty() {
        return Err(CommandFailure::Input(format!("no state in {}; check the data directory", data.display())));
    }
    answer(format, &report, text)?;
    let wrong = report.databases.iter().filter(|database| !database.problems.is_empty()).count();
    if wrong == 0 { Ok(()) } else { Err(CommandFailure::No(format!("{wrong} databases have problems"))) }
}

fn text(report: &DirectoryReport) -> String {
    let mut text: String = report.databases.iter().map(database).collect();
    for path in &report.set_aside {
        let _ = writeln!(text, "{path}: set aside earlier; delete it when it is no longer needed");
    }
    text
}

fn database(report: &DatabaseReport) -> String {
    let what = report.task.as_ref().map_or("log".to_owned(), |task| format!("state of {task}"));
    let log = report.log.as_deref().unwrap_or("?");
    let mut text = format!("{}: {what}, log {log}\n", report.path);
    for family in &report.families {
        let _ = writeln!(text, "  {:<32}{:>12} entries {:>14} bytes", family.name, family.entries, family.bytes);
    }
    for gap in &report.gaps {
        let why =
            if gap.power_cut { "the machine may have lost power" } else { "the log had changed since it was closed" };
        let _ = writeln!(
            text,
            "  incarnation {}: {why}; {} writes known to be missing",
            gap.incarnation, gap.missing_writes
        );
    }
    match report.problems.as_slice() {
        [] => text.push_str("  sound\n"),
        problems => problems.iter().for_each(|problem| {
            let _ = writeln!(text, "  PROBLEM: {problem}");
        }),
    }
    text
}
