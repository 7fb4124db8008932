//! `recrawl export contents`: the texts of all kept copies, and then those of pages that are new, changed or removed.

use crate::CommandFailure;
use crate::commands::{FollowArguments, WaitArguments};
use crate::contents::{ContentSelection, ContentSink, Contents};
use clap::Args;
use daemon::{StopSignal, TopicReader};
use messages::topics;
use outputs::record::{PublishedContent, UseSelection};
use outputs::source::Cursor;
use outputs::stdout::{Out, written_or_stop};
use page::HostName;
use serde::Serialize;
use std::io::Write;

#[derive(Args, Debug)]
pub(super) struct ContentsArguments {
    #[command(flatten)]
    follow: FollowArguments,
    /// Only pages of this host and of those below it.
    #[arg(long)]
    host: Option<String>,
    #[command(flatten)]
    uses: UseSelection,
    #[command(flatten)]
    wait: WaitArguments,
}

#[derive(Serialize)]
struct ContentLine<'a> {
    #[serde(flatten)]
    content: &'a PublishedContent,
    /// The `--cursor` to continue with. In a full export only the last line has one, so a list that was cut short has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// Prints contents, a line of JSON each.
struct ContentPrinter<'a> {
    out: Out,
    stop: &'a StopSignal,
}

/// Prints all contents, unless the arguments have a cursor, and then those of changed pages.
pub(super) fn contents(arguments: &ContentsArguments) -> Result<(), CommandFailure> {
    let stop = StopSignal::on_signals()?;
    let follow = &arguments.follow.options;
    if follow.since.is_some() {
        return Err(CommandFailure::Input("--since: give --cursor, or neither for all contents".to_owned()));
    }
    let settings = arguments.follow.settings()?;
    let mut reader = TopicReader::open(&settings, topics::PAGE_CHANGES, "recrawl-contents")?;
    // Noted before the copies are read, so that no change is lost between the two.
    let begin = follow.cursor.clone().map_or_else(|| Cursor::at_end(&mut reader), Ok)?;
    let selection = ContentSelection {
        host: arguments.host.as_ref().map(|host| HostName::from_name(host.to_lowercase())),
        uses: &arguments.uses,
        wait: *arguments.wait.wait,
    };
    let mut contents = Contents::new(&settings, selection, ContentPrinter { out: Out::stdout(), stop: &stop }, &stop);
    contents.cursor = follow.cursor.clone();
    if follow.cursor.is_none() {
        let _ = contents.copies(&begin, follow.limit)?;
    }
    let done = match contents.cursor.is_some() && (follow.follow || follow.cursor.is_some()) {
        true => {
            let limit = follow.limit.map(|limit| limit.saturating_sub(contents.taken));
            contents.changes(reader, begin, (follow.follow, limit))
        }
        false => contents.sink.rest(None),
    };
    match &contents.cursor {
        Some(cursor) => eprintln!("recrawl: {} pages; cursor {cursor}", contents.taken),
        None => eprintln!("recrawl: {} pages, and there are more", contents.taken),
    }
    arguments.uses.report("pages");
    done
}

impl ContentPrinter<'_> {
    fn print(&mut self, content: &PublishedContent, cursor: Option<&Cursor>) -> Result<(), CommandFailure> {
        let line = ContentLine { content, cursor: cursor.map(Cursor::to_string) };
        let line = serde_json::to_string(&line).map_err(|error| CommandFailure::World(error.to_string()))?;
        written_or_stop(writeln!(self.out, "{line}"), self.stop)
    }
}

impl ContentSink for ContentPrinter<'_> {
    const REMEDY: &'static str = "export all contents anew, without --cursor";

    fn take_copy(&mut self, content: PublishedContent, cursor: Option<&Cursor>) -> Result<(), CommandFailure> {
        self.print(&content, cursor)
    }

    fn take_change(&mut self, content: PublishedContent, cursor: &Cursor) -> Result<(), CommandFailure> {
        self.print(&content, Some(cursor))
    }

    fn rest(&mut self, _cursor: Option<&Cursor>) -> Result<(), CommandFailure> {
        written_or_stop(self.out.flush(), self.stop)
    }
}
