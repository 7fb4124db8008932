//! `recrawl export contents`: the texts of all kept copies, and then those of pages that are new, changed or removed.

use crate::CommandFailure;
use crate::commands::{FollowArguments, WaitArguments};
use crate::kept_copy::{media_type, unpacked};
use crate::stages::topologies;
use clap::Args;
use daemon::{StopSignal, TopicReader, WebClock};
use messages::{CopyKind, PageChange, PageContent, Verdict, topics, word};
use outputs::record::{CHANGES, UseSelection};
use outputs::source::{Cursor, FollowOptions, RecordSink, TopicFollower, TopicRecord};
use outputs::stdout::{Out, written_or_stop};
use page::{CanonicalUrl, HostName};
use serde::Serialize;
use settings::Settings;
use std::collections::HashSet;
use std::io::Write;
use std::ops::ControlFlow;
use std::time::Duration;
use stream::Clock;

/// Changes that are looked up together.
const BATCH: usize = 500;
/// Most changes that wait for stages that do not answer.
const MOST_WAITING: usize = 10_000;

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

/// A page as it is now.
#[derive(Debug, Serialize)]
struct ContentLine<'a> {
    url: &'a str,
    /// Whether the page is gone or forgotten, or its owner disallows a use of --uses. Then it has no text.
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
    /// The owner's preferences on the use of the page, each with the statement that decides.
    preferences: &'a [String],
    /// The `--cursor` to continue with. In a full export only the last line has one, so a list that was cut short has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

impl<'a> ContentLine<'a> {
    fn of_copy(copy: &'a PageContent, title: Option<&str>, cursor: Option<&Cursor>) -> Result<Self, CommandFailure> {
        let bytes = unpacked(copy, usize::MAX)?;
        let read = reading::read(&bytes, media_type(copy), Some(copy.url.as_str()));
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
            preferences: &copy.preferences,
            cursor: cursor.map(Cursor::to_string),
        })
    }

    /// The line of a page that has no copy, because it is gone or forgotten, or none is kept of this version.
    fn without_copy(change: &'a PageChange, cursor: &Cursor) -> Self {
        Self {
            url: change.url.as_str(),
            deleted: matches!(change.verdict, Verdict::Gone | Verdict::Forgotten),
            verdict: word(&change.verdict),
            seen_at: change.seen_at.to_string(),
            version: None,
            title: None,
            language: None,
            content_type: None,
            text: None,
            truncated: false,
            preferences: &change.preferences,
            cursor: Some(cursor.to_string()),
        }
    }

    /// The line of a page whose owner disallows the use. Whoever has a text of it is to delete that.
    fn withheld(change: &'a PageChange, cursor: &Cursor) -> Self {
        Self { deleted: true, ..Self::without_copy(change, cursor) }
    }
}

/// Prints contents, a line of JSON each.
struct Contents<'a> {
    settings: &'a Settings,
    host: Option<HostName>,
    uses: &'a UseSelection,
    wait: Duration,
    out: Out,
    stop: &'a StopSignal,
    printed: u64,
    /// Changes that were not looked up yet.
    waiting: Vec<TopicRecord<PageChange>>,
    /// The position to continue from. `None` until a full export is complete.
    cursor: Option<Cursor>,
    follows: bool,
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
    let mut contents = Contents {
        host: arguments.host.as_ref().map(|host| HostName::from_name(host.to_lowercase())),
        uses: &arguments.uses,
        wait: *arguments.wait.wait,
        out: Out::stdout(),
        stop: &stop,
        printed: 0,
        waiting: Vec::new(),
        cursor: follow.cursor.clone(),
        follows: follow.follow,
        settings: &settings,
    };
    if follow.cursor.is_none() && contents.print_all(&begin, follow.limit)?.is_continue() {
        contents.cursor = Some(begin.clone());
    }
    let mut done = Ok(());
    if contents.cursor.is_some() && (follow.follow || follow.cursor.is_some()) {
        let limit = follow.limit.map(|limit| limit.saturating_sub(contents.printed));
        let rest = FollowOptions { limit, cursor: Some(begin), ..follow.clone() };
        let mut changes = TopicFollower::open(reader, CHANGES, &rest.start())?;
        done = rest.each(&mut changes, &stop, &mut contents);
        if changes.lost() > 0 {
            let problem = "changes behind the cursor are no longer kept; export all contents anew, without --cursor";
            done = done.and(Err(CommandFailure::World(problem.to_owned())));
        }
    }
    let done = done.and_then(|()| contents.rest());
    match &contents.cursor {
        Some(cursor) => eprintln!("recrawl: {} pages; cursor {cursor}", contents.printed),
        None => eprintln!("recrawl: {} pages, and there are more", contents.printed),
    }
    arguments.uses.report("pages");
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

    /// Prints all copies. `Break` if some are left out.
    fn print_all(&mut self, begin: &Cursor, limit: Option<u64>) -> Result<ControlFlow<()>, CommandFailure> {
        let state = operate::state::open(self.settings, topologies(), self.wait)?;
        let now = WebClock::new(&self.settings.clock).now();
        let mut last: Option<(PageContent, Option<String>)> = None;
        let all = state.each_copy(&mut |copy, title| {
            if !self.is_wanted(&copy.url) || !self.uses.allows_copy(&copy, now) {
                return Ok(ControlFlow::Continue(()));
            }
            if let Some((copy, title)) = last.replace((copy, title.map(str::to_owned))) {
                self.print(&ContentLine::of_copy(&copy, title.as_deref(), None)?)?;
            }
            let is_full = limit.is_some_and(|limit| self.printed + 1 >= limit);
            Ok(if is_full || self.stop.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        if let Some((copy, title)) = last {
            let cursor = all.is_continue().then_some(begin);
            self.print(&ContentLine::of_copy(&copy, title.as_deref(), cursor)?)?;
        }
        Ok(all)
    }

    /// Looks up the pages of the changes that wait. The state is opened behind them, so that it is as new as they are. While the
    /// stages do not answer, a reader that follows waits for them.
    fn print_waiting(&mut self) -> Result<(), CommandFailure> {
        let waiting = std::mem::take(&mut self.waiting);
        match self.look_up(&waiting) {
            Err(CommandFailure::World(why))
                if self.follows && waiting.len() < MOST_WAITING && !self.stop.is_stopped() =>
            {
                eprintln!("recrawl: {why}; {} pages wait", waiting.len());
                self.waiting = waiting;
                Ok(())
            }
            done => done,
        }
    }

    fn look_up(&mut self, waiting: &[TopicRecord<PageChange>]) -> Result<(), CommandFailure> {
        if waiting.is_empty() {
            return Ok(());
        }
        let state = operate::state::open(self.settings, topologies(), self.wait)?;
        let now = WebClock::new(&self.settings.clock).now();
        // The last change of a page alone, since the state is that of all.
        let mut seen = HashSet::new();
        let mut wanted: Vec<_> = waiting.iter().rev().filter(|record| seen.insert(&record.message.url)).collect();
        wanted.reverse();
        for TopicRecord { message: change, cursor, .. } in wanted {
            if self.stop.is_stopped() {
                return Ok(());
            }
            match state.copy(&change.url)? {
                Some(copy) if !self.uses.allows_copy(&copy, now) => {
                    self.print(&ContentLine::withheld(change, cursor))?
                }
                Some(copy) => self.print(&ContentLine::of_copy(&copy, change.title.as_deref(), Some(cursor))?)?,
                None => self.print(&ContentLine::without_copy(change, cursor))?,
            }
            self.cursor = Some(cursor.clone());
        }
        Ok(())
    }
}

impl RecordSink<PageChange> for Contents<'_> {
    fn take(&mut self, record: TopicRecord<PageChange>) -> Result<bool, CommandFailure> {
        // These leave the copy as it is.
        let changes_nothing =
            matches!(record.message.verdict, Verdict::Failed | Verdict::Missing | Verdict::Obscured | Verdict::Unknown);
        let is_wanted = !changes_nothing && self.is_wanted(&record.message.url);
        match is_wanted {
            true => self.waiting.push(record),
            false if self.waiting.is_empty() => self.cursor = Some(record.cursor),
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
