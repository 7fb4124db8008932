//! The current copies as a stream: all of them, and then those of pages that are new, changed or removed.

use crate::kept_copy::{media_type, unpacked};
use crate::stages::topologies;
use crate::{CommandFailure, documents};
use daemon::{StopSignal, TopicReader, WebClock};
use messages::{CopyKind, PageChange, PageContent, Verdict, word};
use outputs::record::{CHANGES, PublishedContent, UseSelection};
use outputs::source::{Cursor, FollowOptions, RecordSink, TopicFollower, TopicRecord};
use page::{CanonicalUrl, HostName};
use settings::Settings;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::time::Duration;
use stream::Clock;

/// Changes that are looked up together.
const BATCH: usize = 500;
/// Most changes that wait for stages that do not answer.
const MOST_WAITING: usize = 10_000;

/// Takes contents.
pub(crate) trait ContentSink {
    /// The remedy if changes were deleted before they were read.
    const REMEDY: &'static str;

    /// Whether a run before this one has taken the copy.
    fn has_copy(&self, _url: &CanonicalUrl) -> bool {
        false
    }

    /// Takes one of all copies. The last of them comes with the position from which changes follow.
    fn take_copy(&mut self, content: PublishedContent, cursor: Option<&Cursor>) -> Result<(), CommandFailure>;

    /// Takes a page as it is now, because of a change with this cursor.
    fn take_change(&mut self, content: PublishedContent, cursor: &Cursor) -> Result<(), CommandFailure>;

    /// Everything before this position was taken. `None`: not all copies were.
    fn rest(&mut self, cursor: Option<&Cursor>) -> Result<(), CommandFailure>;
}

/// The copies that are wanted.
pub(crate) struct ContentSelection<'a> {
    pub(crate) host: Option<HostName>,
    pub(crate) uses: &'a UseSelection,
    /// How long the stages have to answer, over Kafka.
    pub(crate) wait: Duration,
}

/// Passes contents on.
pub(crate) struct Contents<'a, S> {
    pub(crate) settings: &'a Settings,
    pub(crate) selection: ContentSelection<'a>,
    pub(crate) sink: S,
    pub(crate) stop: &'a StopSignal,
    pub(crate) taken: u64,
    /// The position to continue from. `None` until all copies were taken.
    pub(crate) cursor: Option<Cursor>,
    follows: bool,
    /// Changes that were deleted before they were read.
    lost: u64,
    /// Changes that were not looked up yet.
    waiting: Vec<TopicRecord<PageChange>>,
}

/// Why changes were not looked up.
enum LookUpFailure {
    /// The stages may answer later.
    Stages(CommandFailure),
    Other(CommandFailure),
}

impl<'a, S: ContentSink> Contents<'a, S> {
    pub(crate) fn new(settings: &'a Settings, selection: ContentSelection<'a>, sink: S, stop: &'a StopSignal) -> Self {
        Self { settings, selection, sink, stop, taken: 0, cursor: None, follows: false, lost: 0, waiting: Vec::new() }
    }

    fn is_wanted(&self, url: &CanonicalUrl) -> bool {
        self.selection.host.as_ref().is_none_or(|host| HostName::of(url).is_at_or_below(host))
    }

    /// Passes all copies on, up to a limit. `begin` is a position that was read before. `Break` if some are left out.
    pub(crate) fn copies(&mut self, begin: &Cursor, limit: Option<u64>) -> Result<ControlFlow<()>, CommandFailure> {
        let state = operate::state::open(self.settings, topologies(), self.selection.wait)?;
        let now = WebClock::new(&self.settings.clock).now();
        let mut last: Option<(PageContent, Option<String>)> = None;
        let all = state.each_copy(&mut |copy, title| {
            if !self.is_wanted(&copy.url)
                || self.sink.has_copy(&copy.url)
                || !self.selection.uses.allows_copy(&copy, now)
            {
                return Ok(self.flow());
            }
            if let Some((copy, title)) = last.replace((copy, title.map(str::to_owned))) {
                self.taken += 1;
                self.sink.take_copy(of_copy(&copy, title.as_deref())?, None)?;
            }
            let is_full = limit.is_some_and(|limit| self.taken + 1 >= limit);
            Ok(if is_full { ControlFlow::Break(()) } else { self.flow() })
        })?;
        if let Some((copy, title)) = last {
            let cursor = all.is_continue().then_some(begin);
            self.taken += 1;
            self.sink.take_copy(of_copy(&copy, title.as_deref())?, cursor)?;
        }
        if all.is_continue() {
            self.cursor = Some(begin.clone());
        }
        Ok(all)
    }

    /// Passes on the pages of changes from a position on.
    ///
    /// # Errors
    /// Those of the sink, of the log and of the stages, and changes behind the position that are no longer kept.
    pub(crate) fn changes(
        &mut self,
        reader: TopicReader,
        from: Cursor,
        (follow, limit): (bool, Option<u64>),
    ) -> Result<(), CommandFailure> {
        self.follows = follow;
        let options = FollowOptions { since: None, cursor: Some(from), follow, limit };
        let mut changes = TopicFollower::open(reader, CHANGES, &options.start())?;
        let stop = self.stop;
        let done = options.each(&mut changes, stop, self);
        self.looks(&changes);
        // A limit ends it without a rest.
        done.and_then(|()| self.rest())
    }

    /// Whatever follows a gap would hide it.
    fn without_gap(&self) -> Result<(), CommandFailure> {
        match self.lost {
            0 => Ok(()),
            _ => Err(CommandFailure::World(format!("changes behind the cursor are no longer kept; {}", S::REMEDY))),
        }
    }

    fn flow(&self) -> ControlFlow<()> {
        if self.stop.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Looks up the pages of the changes that wait. The state is opened behind them, so that it is as new as they are. While the
    /// stages do not answer, a reader that follows waits for them.
    fn pass_on_waiting(&mut self) -> Result<(), CommandFailure> {
        let waiting = std::mem::take(&mut self.waiting);
        match self.look_up(&waiting) {
            Ok(()) => Ok(()),
            Err(LookUpFailure::Stages(CommandFailure::World(why)))
                if self.follows && waiting.len() < MOST_WAITING && !self.stop.is_stopped() =>
            {
                eprintln!("recrawl: {why}; {} pages wait", waiting.len());
                self.waiting = waiting;
                Ok(())
            }
            Err(LookUpFailure::Stages(failure) | LookUpFailure::Other(failure)) => Err(failure),
        }
    }

    fn look_up(&mut self, waiting: &[TopicRecord<PageChange>]) -> Result<(), LookUpFailure> {
        if waiting.is_empty() {
            return Ok(());
        }
        let state = operate::state::open(self.settings, topologies(), self.selection.wait);
        let state = state.map_err(LookUpFailure::Stages)?;
        let now = WebClock::new(&self.settings.clock).now();
        // The last change of a page alone, since the state is that of all.
        let mut seen = HashSet::new();
        let mut wanted: Vec<_> = waiting.iter().rev().filter(|record| seen.insert(&record.message.url)).collect();
        wanted.reverse();
        for TopicRecord { message: change, cursor, .. } in wanted {
            if self.stop.is_stopped() {
                return Ok(());
            }
            let content = match state.copy(&change.url).map_err(LookUpFailure::Stages)? {
                Some(copy) if !self.selection.uses.allows_copy(&copy, now) => withheld(change, &copy),
                Some(copy) => of_copy(&copy, change.title.as_deref()).map_err(LookUpFailure::Other)?,
                None => without_copy(change),
            };
            self.taken += 1;
            self.sink.take_change(content, cursor).map_err(LookUpFailure::Other)?;
            self.cursor = Some(cursor.clone());
        }
        Ok(())
    }
}

impl<S: ContentSink> RecordSink<PageChange> for Contents<'_, S> {
    fn looks(&mut self, follower: &TopicFollower<PageChange>) {
        self.lost = follower.lost();
    }

    fn take(&mut self, record: TopicRecord<PageChange>) -> Result<bool, CommandFailure> {
        self.without_gap()?;
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
            self.pass_on_waiting()?;
        }
        Ok(is_wanted)
    }

    fn rest(&mut self) -> Result<(), CommandFailure> {
        self.without_gap()?;
        self.pass_on_waiting()?;
        // Over Kafka changes may still wait for stages that do not answer.
        self.sink.rest(self.cursor.as_ref().filter(|_| self.waiting.is_empty()))
    }
}

/// A page with its copy.
fn of_copy(copy: &PageContent, title: Option<&str>) -> Result<PublishedContent, CommandFailure> {
    let bytes = unpacked(copy, usize::MAX)?;
    let read = documents::read(&bytes, media_type(copy), Some(copy.url.as_str()));
    let (title, text) = match copy.kind {
        CopyKind::Text => (title.unwrap_or_default().to_owned(), String::from_utf8_lossy(&bytes).into_owned()),
        CopyKind::Body => (read.title, read.text),
    };
    Ok(PublishedContent {
        version: Some(copy.version),
        title: (!title.is_empty()).then_some(title),
        language: read.language,
        content_type: copy.content_type.clone(),
        published: read.dates.published,
        modified: read.dates.modified,
        text: Some(text),
        truncated: copy.truncated,
        preferences: copy.preferences.clone(),
        ..PublishedContent::bare(copy.url.clone(), word(&copy.verdict), copy.seen_at)
    })
}

/// A page that has no copy, because it is gone or forgotten, or none is kept of this version.
fn without_copy(change: &PageChange) -> PublishedContent {
    PublishedContent {
        deleted: matches!(change.verdict, Verdict::Gone | Verdict::Forgotten),
        preferences: change.preferences.clone(),
        ..PublishedContent::bare(change.url.clone(), word(&change.verdict), change.seen_at)
    }
}

/// A page whose owner disallows the use. Whoever has a text of it is to delete that.
fn withheld(change: &PageChange, copy: &PageContent) -> PublishedContent {
    PublishedContent {
        deleted: true,
        // The time of the copy: if its owner allows the use again, the same version comes back.
        seen_at: copy.seen_at,
        ..without_copy(change)
    }
}
