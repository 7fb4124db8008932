//! `recrawl export contents`: the texts of all kept copies, and then those of pages that are new, changed or removed.

use crate::CommandFailure;
use crate::commands::{FollowArguments, WaitArguments};
use crate::stages::topologies;
use clap::Args;
use daemon::{StopSignal, TopicReader};
use messages::{CopyKind, PageChange, PageContent, Verdict, body, topics, word};
use outputs::record::CHANGES;
use outputs::source::{Cursor, FollowOptions, RecordSink, TopicFollower, TopicRecord};
use outputs::stdout::{Out, written_or_stop};
use page::{CanonicalUrl, HostName};
use serde::Serialize;
use settings::Settings;
use std::collections::HashSet;
use std::io::Write;
use std::time::Duration;

/// Most changes that are looked up together.
const BATCH: usize = 500;

#[derive(Args, Debug)]
pub(super) struct ContentsArguments {
    #[command(flatten)]
    follow: FollowArguments,
    /// Only pages of this host and of those below it.
    #[arg(long)]
    host: Option<String>,
    #[command(flatten)]
    wait: WaitArguments,
}

/// A page as it is now.
#[derive(Debug, Serialize)]
struct ContentLine<'a> {
    url: &'a str,
    /// Whether the page is gone or forgotten. Then it has no text.
    deleted: bool,
    /// How the version came, or how the page went.
    verdict: String,
    /// When the version was seen first, or when the page was found gone.
    seen_at: String,
    /// Number of the version among those of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// The primary language subtag, as declared or else guessed from the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_type: Option<String>,
    /// The main text of a body, or the kept text.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Whether the copy is incomplete.
    truncated: bool,
    /// `--cursor` with this goes on behind the line.
    cursor: String,
}

impl<'a> ContentLine<'a> {
    fn of_copy(
        copy: &'a PageContent,
        title: Option<&str>,
        cursor: &Cursor,
        most: usize,
    ) -> Result<Self, CommandFailure> {
        let bytes = body::unpack(&copy.content, most)
            .map_err(|error| CommandFailure::World(format!("the stored copy of {}: {error}", copy.url)))?;
        let content_type = match copy.kind {
            CopyKind::Text => Some("text/plain; charset=utf-8"),
            CopyKind::Body => copy.content_type.as_deref(),
        };
        let read = reading::read(&bytes, content_type, Some(copy.url.as_str()));
        let (title, text) = match copy.kind {
            CopyKind::Text => (title.unwrap_or_default().to_owned(), String::from_utf8_lossy(&bytes).into_owned()),
            CopyKind::Body => (read.title, read.text),
        };
        Ok(Self {
            url: copy.url.as_str(),
            deleted: false,
            verdict: word(&copy.verdict),
            seen_at: copy.seen_at.to_string(),
            version: Some(copy.version),
            title: (!title.is_empty()).then_some(title),
            language: read.language,
            content_type: copy.content_type.clone(),
            text: Some(text),
            truncated: copy.truncated,
            cursor: cursor.to_string(),
        })
    }

    fn of_removal(change: &'a PageChange, cursor: &Cursor) -> Self {
        Self {
            url: change.url.as_str(),
            deleted: true,
            verdict: word(&change.verdict),
            seen_at: change.seen_at.to_string(),
            version: None,
            title: None,
            language: None,
            content_type: None,
            text: None,
            truncated: false,
            cursor: cursor.to_string(),
        }
    }
}

/// Prints contents, a line of JSON each.
struct Contents<'a> {
    settings: &'a Settings,
    host: Option<HostName>,
    wait: Duration,
    most: usize,
    out: Out,
    stop: &'a StopSignal,
    printed: u64,
    /// Changes that were not looked up yet.
    waiting: Vec<TopicRecord<PageChange>>,
    cursor: Cursor,
}

/// Prints all contents, unless the arguments have a cursor, and then those of changed pages.
pub(super) fn contents(arguments: &ContentsArguments) -> Result<(), CommandFailure> {
    let stop = StopSignal::on_signals()?;
    let follow = &arguments.follow.options;
    if follow.since.is_some() {
        return Err(CommandFailure::Input("--since: give --cursor, or neither for all contents".to_owned()));
    }
    let settings = arguments.follow.settings()?;
    let open = || TopicReader::open(&settings, topics::PAGE_CHANGES, "recrawl-contents");
    // Noted before the copies are read, so that no change is lost between the two.
    let mut reader = open()?;
    let begin = follow.cursor.clone().map_or_else(|| Cursor::at_end(&mut reader), Ok)?;
    let mut contents = Contents {
        host: arguments.host.as_ref().map(|host| HostName::from_name(host.to_lowercase())),
        wait: *arguments.wait.wait,
        most: usize::try_from(settings.fetch.max_body).unwrap_or(usize::MAX),
        out: Out::stdout(),
        stop: &stop,
        printed: 0,
        waiting: Vec::new(),
        cursor: begin.clone(),
        settings: &settings,
    };
    let mut done = if follow.cursor.is_none() { contents.print_all(follow.limit) } else { Ok(()) };
    if done.is_ok() && (follow.follow || follow.cursor.is_some()) {
        let limit = follow.limit.map(|limit| limit.saturating_sub(contents.printed));
        let rest = FollowOptions { limit, cursor: Some(begin), ..follow.clone() };
        let mut changes = TopicFollower::open(reader, CHANGES, &rest.start())?;
        done = rest.each(&mut changes, &stop, &mut contents);
    }
    let done = done.and_then(|()| contents.rest());
    eprintln!("recrawl: {} pages; cursor {}", contents.printed, contents.cursor);
    done
}

impl Contents<'_> {
    fn is_wanted(&self, url: &CanonicalUrl) -> bool {
        self.host.as_ref().is_none_or(|host| HostName::of(url).is_at_or_below(host))
    }

    fn print(&mut self, line: &ContentLine<'_>) -> Result<(), CommandFailure> {
        let line = serde_json::to_string(line).map_err(|error| CommandFailure::World(error.to_string()))?;
        self.printed += 1;
        written_or_stop(writeln!(self.out, "{line}"), self.stop)
    }

    fn print_all(&mut self, limit: Option<u64>) -> Result<(), CommandFailure> {
        let state = operate::state::open(self.settings, topologies(), self.wait)?;
        let cursor = self.cursor.clone();
        state.each_copy(&mut |copy, title| {
            if self.is_wanted(&copy.url) && limit.is_none_or(|limit| self.printed < limit) && !self.stop.is_stopped() {
                self.print(&ContentLine::of_copy(&copy, title, &cursor, self.most)?)?;
            }
            Ok(())
        })
    }

    /// Looks up the pages of the changes that wait. The state is opened behind them, so that it is as new as they are.
    fn print_waiting(&mut self) -> Result<(), CommandFailure> {
        let waiting = std::mem::take(&mut self.waiting);
        let Some(last) = waiting.last() else { return Ok(()) };
        let end = last.cursor.clone();
        let state = operate::state::open(self.settings, topologies(), self.wait)?;
        // The last change of a page alone, since the state is that of all.
        let mut seen = HashSet::new();
        let mut wanted: Vec<_> = waiting.iter().rev().filter(|record| seen.insert(&record.message.url)).collect();
        wanted.reverse();
        for TopicRecord { message: change, cursor, .. } in wanted {
            match state.copy(&change.url)? {
                Some(copy) => self.print(&ContentLine::of_copy(&copy, change.title.as_deref(), cursor, self.most)?)?,
                None if matches!(change.verdict, Verdict::Gone | Verdict::Forgotten) => {
                    self.print(&ContentLine::of_removal(change, cursor))?;
                }
                // It is not kept, for want of room or by `detector.contents`, or it is gone since: a later change says so.
                None => {}
            }
        }
        self.cursor = end;
        Ok(())
    }
}

impl RecordSink<PageChange> for Contents<'_> {
    fn take(&mut self, record: TopicRecord<PageChange>) -> Result<bool, CommandFailure> {
        let has_content = matches!(
            record.message.verdict,
            Verdict::First | Verdict::Minor | Verdict::Major | Verdict::Returned | Verdict::Gone | Verdict::Forgotten
        );
        let is_wanted = has_content && self.is_wanted(&record.message.url);
        match is_wanted {
            true => self.waiting.push(record),
            false if self.waiting.is_empty() => self.cursor = record.cursor,
            false => {}
        }
        if self.waiting.len() >= BATCH {
            self.print_waiting()?;
        }
        Ok(is_wanted)
    }

    fn rest(&mut self) -> Result<(), CommandFailure> {
        self.print_waiting()?;
        written_or_stop(self.out.flush(), self.stop)
    }
}
