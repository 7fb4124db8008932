//! `recrawl state`: verifies that a data directory is complete and sound, makes a copy a crawl of its own, or writes the
//! changelogs of a stage anew.

use crate::CommandFailure;
use crate::commands::SettingsArguments;
use crate::stages::topologies;
use clap::{Args, Subcommand};
use daemon::WebClock;
use outputs::stdout::{Format, answer, answers, print};
use serde::Serialize;
use settings::Settings;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use stream::{Clock, Log, PublishError};
use stream_rocksdb::check::{DatabaseReport, DirectoryReport, check};
use stream_rocksdb::{RocksStores, StoreMemory};
use topology::LogNames;

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
    /// Writes the changelogs of stages anew, after somebody has deleted them on Kafka. A changelog that has records is left as it is.
    Publish {
        #[command(flatten)]
        settings: SettingsArguments,
        /// State directory of a service. No process of its stages may be running, here or elsewhere.
        #[arg(long)]
        data: PathBuf,
        /// Also writes a state from which another process may have gone on, or of which that cannot be seen any more.
        #[arg(long)]
        even_if_old: bool,
    },
}

#[derive(Serialize)]
struct PublishedRow {
    changelog: String,
    partition: u32,
    entries: u64,
}

#[derive(Serialize)]
struct NewCrawl {
    log: String,
}

/// Checks a data directory, makes it a new crawl, or writes changelogs from it.
pub fn state(arguments: &StateArguments, format: Format) -> Result<(), CommandFailure> {
    let data = match &arguments.action {
        StateAction::Check { data } => data,
        StateAction::Publish { settings, data, even_if_old } => {
            return publish(&settings.load(&[])?, data, *even_if_old, format);
        }
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

fn publish(settings: &Settings, data: &Path, even_if_old: bool, format: Format) -> Result<(), CommandFailure> {
    let log = daemon::connect(settings, "recrawl-state")?;
    let names = LogNames::new(settings);
    let stages = topologies();
    for stage in stages.iter().filter(|stage| !stage.tables.is_empty()) {
        if let Some(processes @ 1..) = log.processes(&names.group(stage.name))? {
            let (stage, word) = (stage.name, if processes == 1 { "process" } else { "processes" });
            let has_state = data.join(stage).exists();
            let problem = || format!("{processes} {word} of the {stage} run; stop all of them first");
            has_state.then(problem).map_or(Ok(()), |problem| Err(CommandFailure::Input(problem)))?;
        }
    }
    let stores = RocksStores::new(data, StoreMemory::default());
    let now = WebClock::new(&settings.clock).now();
    // Values are written as they are, so their schemas must be on the log, too.
    stream::schemas::report(
        &log,
        &names.schemas(stages.iter().flat_map(|stage| stage.state_schemas()).collect()),
        now,
    )?;
    let (mut rows, mut refusals) = (Vec::new(), Vec::new());
    let mut has_state = false;
    for stage in &stages {
        let partitions = log.topic(&names.topic(stage.input))?.map_or(0, |topic| topic.partitions);
        for partition in (0..partitions).filter(|partition| data.join(stage.name).join(partition.to_string()).exists())
        {
            has_state = true;
            let stage = names.stateful_stage(stage);
            let published = match stream::publish_state(&log, &stage, &stores, partition, even_if_old, now) {
                Ok(published) => published,
                // The partition was at another process last. Others may not have been.
                Err(PublishError::Refused(why)) => {
                    refusals.push(why);
                    continue;
                }
                Err(error) => return Err(CommandFailure::World(error.to_string())),
            };
            rows.extend(published.into_iter().map(|of| PublishedRow {
                changelog: of.changelog,
                partition: of.partition,
                entries: of.entries,
            }));
        }
    }
    if !has_state {
        return Err(CommandFailure::Input(format!("no state in {}; check the data directory", data.display())));
    }
    match format {
        Format::Text if rows.is_empty() && refusals.is_empty() => {
            print("nothing to write: no changelog is missing what this state has")
        }
        Format::Text | Format::Json | Format::Jsonl => answers(format, &rows, |row| {
            format!("{:<44}{:>4}{:>12} entries written", row.changelog, row.partition, row.entries)
        }),
    }?;
    if refusals.is_empty() { Ok(()) } else { Err(CommandFailure::No(refusals.join("\n"))) }
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
