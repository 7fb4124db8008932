//! Sends updates to an index, one batch at a time, and notes how far it came.

use super::batch::{Batch, PageUpdate};
use super::note::{CopyPlace, MirrorNote};
use super::search_index::{Fate, Rebuild, SearchIndex};
use super::set_aside::SetAside;
use crate::retry::{FirstTry, NextTry};
use crate::sink::Undelivered;
use crate::source::{Cursor, pause};
use crate::stdout::{Format, answer};
use daemon::{CommandFailure, StopSignal};
use serde::Serialize;
use std::time::{Duration, Instant};

/// If the index rejects all documents of a first batch of at least this size, its fields are wrong, and the command ends.
const MANY: usize = 10;
/// Interval between lines about the progress, for people.
const REPORT_EVERY: Duration = Duration::from_secs(10);

/// How updates are sent.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// A batch that has been tried again for so long ends the command.
    pub give_up_after: Duration,
    /// The form in which the progress is printed.
    pub format: Format,
}

/// Makes an index equal to the copies of a crawl.
pub struct IndexSender<'a> {
    index: Box<dyn SearchIndex>,
    note: MirrorNote,
    batch: Batch,
    /// The place that the note gets when the batch is sent.
    reached: Option<Reached>,
    /// The signal came before a batch was sent, so that nothing behind it may be noted.
    is_cut_off: bool,
    set_aside: SetAside,
    manner: Manner,
    stop: &'a StopSignal,
    done: Summary,
    reported: Instant,
}

enum Reached {
    Copy(CopyPlace),
    Change(Cursor),
}

#[derive(Debug, Default, Serialize)]
struct Summary {
    /// Documents that were written.
    indexed: u64,
    /// Updates of pages that are to have no document. It may have had none.
    deleted: u64,
    /// Updates of which the index had a newer version.
    superseded: u64,
    /// Updates that the index refuses.
    rejected: u64,
    /// Requests that were made again, in whole or in part.
    failed_attempts: u64,
    /// Position behind the last change that the index has. Null: it does not have all copies yet.
    cursor: Option<String>,
}

/// The step after an attempt.
enum Step<'b> {
    Done,
    /// These are left, because of this problem, and not before this wait if the index asks for one.
    Again(Vec<&'b PageUpdate>, String, Option<Duration>),
    /// The index refuses the request as a whole, but may take a part.
    Halves(Vec<&'b PageUpdate>),
}

impl<'a> IndexSender<'a> {
    /// Prepares to send to an index, which messages call `shown`. With `rebuild`, which is this moment in Unix seconds, a new index
    /// is filled and then put in the place of the one in use.
    ///
    /// # Errors
    /// The index cannot be used, or cannot be rebuilt.
    pub fn open(
        index: Box<dyn SearchIndex>,
        shown: &str,
        note: MirrorNote,
        rebuild: Option<i64>,
        manner: Manner,
        stop: &'a StopSignal,
    ) -> Result<Self, CommandFailure> {
        let set_aside = SetAside::beside(&note.shown());
        let mut sender = Self {
            index,
            note,
            batch: Batch::default(),
            reached: None,
            is_cut_off: false,
            set_aside,
            manner,
            stop,
            done: Summary::default(),
            reported: Instant::now(),
        };
        match (sender.note.rebuild(), rebuild) {
            (Some(begun), _) => {
                eprintln!("recrawl: going on with the new index {begun}");
                sender.index.continue_rebuild(begun);
            }
            (None, None) => {}
            (None, Some(moment)) => match sender.index.rebuild(moment) {
                Rebuild::Into(new) => sender.note.begins_anew(Some(new))?,
                Rebuild::Impossible => {
                    let problem =
                        "--rebuild: only OpenSearch and Elasticsearch have aliases; give --to a new name instead";
                    return Err(CommandFailure::Input(problem.to_owned()));
                }
            },
        }
        let note = sender.note.shown();
        let continues = match (sender.note.cursor(), sender.note.copied()) {
            (Some(cursor), _) => format!("after cursor {cursor}"),
            (None, Some(_)) => "in the middle of the copies".to_owned(),
            (None, None) => "from the beginning".to_owned(),
        };
        eprintln!("recrawl: keeping {shown} equal to the copies, {continues}; progress is in {note}");
        sender.patiently(|index| index.prepare())?;
        Ok(sender)
    }

    /// The note.
    pub fn note(&self) -> &MirrorNote {
        &self.note
    }

    /// Copies are sent from now on, and then the changes from this position.
    ///
    /// # Errors
    /// Those of the note.
    pub fn begins_copies(&mut self, begin: &Cursor) -> Result<(), CommandFailure> {
        self.note.begins_copies(begin)
    }

    /// Sends the copy at this place, soon. Without a place, a run after this one begins with the first copy again.
    ///
    /// # Errors
    /// Those of [`flush`](Self::flush).
    pub fn take_copy(&mut self, update: PageUpdate, place: Option<CopyPlace>) -> Result<(), CommandFailure> {
        self.batch.push(update);
        self.reached = place.map(Reached::Copy);
        self.flush_if_full()
    }

    /// Sends the update of a change with this cursor, soon.
    ///
    /// # Errors
    /// Those of [`flush`](Self::flush).
    pub fn take_change(&mut self, update: PageUpdate, cursor: &Cursor) -> Result<(), CommandFailure> {
        self.batch.push(update);
        self.reached = Some(Reached::Change(cursor.clone()));
        self.flush_if_full()
    }

    /// Everything up to this position in the changes was taken. Sends what is left, and puts a new index in use.
    ///
    /// # Errors
    /// Those of [`flush`](Self::flush).
    pub fn rest(&mut self, cursor: &Cursor) -> Result<(), CommandFailure> {
        self.reached = Some(Reached::Change(cursor.clone()));
        self.flush()?;
        if self.note.rebuild().is_some() && !self.is_cut_off && self.patiently(|index| index.put_in_use())? {
            self.note.is_rebuilt()?;
            eprintln!("recrawl: the new index is in use");
        }
        Ok(())
    }

    /// Sends what is left, and notes it.
    ///
    /// # Errors
    /// The index did not take it for too long, the arguments are wrong, or the note cannot be written.
    pub fn flush(&mut self) -> Result<(), CommandFailure> {
        let batch = std::mem::take(&mut self.batch);
        let reached = self.reached.take();
        self.is_cut_off |= !batch.is_empty() && !self.send(&batch)?;
        if self.is_cut_off {
            return Ok(());
        }
        match reached {
            None => {}
            Some(Reached::Copy(place)) => self.note.has_copies_to(&place)?,
            Some(Reached::Change(cursor)) => self.note.has_changes_to(&cursor)?,
        }
        if batch.is_empty() { Ok(()) } else { self.report() }
    }

    /// Prints what was done. Updates that were rejected are a failure.
    ///
    /// # Errors
    /// There were some, or stdout cannot be written.
    pub fn finish(mut self) -> Result<(), CommandFailure> {
        self.done.cursor = self.note.cursor().map(|cursor| cursor.to_string());
        answer(self.manner.format, &self.done, |done| {
            let cursor = done.cursor.as_deref().unwrap_or("none, and not all copies are there yet");
            format!("{}; cursor {cursor}", in_words(done))
        })?;
        match self.done.rejected {
            0 => Ok(()),
            rejected => Err(CommandFailure::World(format!(
                "the index rejected {rejected} updates; their pages and reasons are in {}",
                self.set_aside.shown()
            ))),
        }
    }

    fn flush_if_full(&mut self) -> Result<(), CommandFailure> {
        if self.batch.is_full() { self.flush() } else { Ok(()) }
    }

    fn report(&mut self) -> Result<(), CommandFailure> {
        self.done.cursor = self.note.cursor().map(|cursor| cursor.to_string());
        if self.manner.format == Format::Jsonl {
            return answer(self.manner.format, &self.done, in_words);
        }
        if self.reported.elapsed() >= REPORT_EVERY {
            self.reported = Instant::now();
            eprintln!("recrawl: {}", in_words(&self.done));
        }
        Ok(())
    }

    /// Sends a batch until the index has all of it that it takes. `false`: stopped before.
    fn send(&mut self, batch: &Batch) -> Result<bool, CommandFailure> {
        let mut groups = vec![batch.updates().iter().collect::<Vec<_>>()];
        let mut rejected = Vec::new();
        while let Some(mut group) = groups.pop() {
            let (mut first, mut attempt) = (self.first_try(), 0);
            loop {
                if self.stop.is_stopped() {
                    return Ok(false);
                }
                attempt += 1;
                let size = group.len();
                let (left, problem, after) = match self.attempt(group, &mut rejected)? {
                    Step::Done => break,
                    Step::Halves(mut whole) => {
                        groups.push(whole.split_off(whole.len() / 2));
                        groups.push(whole);
                        break;
                    }
                    Step::Again(left, problem, after) => (left, problem, after),
                };
                if left.len() < size {
                    (first, attempt) = (self.first_try(), 1);
                }
                group = left;
                if !self.waited(first, attempt, &problem, after)? {
                    return Ok(false);
                }
            }
        }
        self.set_rejected_aside(&rejected, batch.updates().len())?;
        Ok(true)
    }

    fn attempt<'b>(
        &mut self,
        group: Vec<&'b PageUpdate>,
        rejected: &mut Vec<(&'b PageUpdate, String)>,
    ) -> Result<Step<'b>, CommandFailure> {
        match self.index.apply(&group) {
            Ok(fates) => {
                let (mut left, mut problem) = (Vec::new(), String::new());
                for (update, fate) in group.into_iter().zip(fates) {
                    match fate {
                        Fate::Applied if update.is_deletion() => self.done.deleted += 1,
                        Fate::Applied => self.done.indexed += 1,
                        Fate::Superseded => self.done.superseded += 1,
                        Fate::Rejected(reason) => rejected.push((update, reason)),
                        Fate::Later(reason) => {
                            left.push(update);
                            problem = reason;
                        }
                    }
                }
                let problem = format!("the index has no room for {} updates now: {problem}", left.len());
                Ok(if left.is_empty() { Step::Done } else { Step::Again(left, problem, None) })
            }
            Err(Undelivered::Wrong(problem)) => Err(CommandFailure::Input(problem)),
            Err(Undelivered::Later { problem, after }) => Ok(Step::Again(group, problem, after)),
            Err(Undelivered::Refused(problem) | Undelivered::SetAside(problem)) => match group[..] {
                [update] => {
                    rejected.push((update, problem));
                    Ok(Step::Done)
                }
                _ => Ok(Step::Halves(group)),
            },
        }
    }

    /// Does something with the index until it answers. `false`: stopped before.
    fn patiently(
        &mut self,
        act: impl Fn(&mut dyn SearchIndex) -> Result<(), Undelivered>,
    ) -> Result<bool, CommandFailure> {
        let first = self.first_try();
        for attempt in 1.. {
            if self.stop.is_stopped() {
                break;
            }
            match act(&mut *self.index) {
                Ok(()) => return Ok(true),
                Err(Undelivered::Wrong(problem) | Undelivered::Refused(problem) | Undelivered::SetAside(problem)) => {
                    return Err(CommandFailure::Input(problem));
                }
                Err(Undelivered::Later { problem, after }) => {
                    if !self.waited(first, attempt, &problem, after)? {
                        break;
                    }
                }
            }
        }
        self.is_cut_off = true;
        Ok(false)
    }

    fn first_try(&self) -> FirstTry {
        FirstTry { at: Instant::now(), give_up_after: self.manner.give_up_after }
    }

    /// Waits until the next attempt. `false`: stopped before.
    fn waited(
        &mut self,
        first: FirstTry,
        attempt: u32,
        problem: &str,
        after: Option<Duration>,
    ) -> Result<bool, CommandFailure> {
        self.done.failed_attempts += 1;
        match first.next(attempt, Instant::now(), after, rand::random()) {
            NextTry::Never(why) => {
                let next = "started again, the command goes on with the same pages";
                Err(CommandFailure::World(format!("{problem}; {why}; {next}")))
            }
            NextTry::In(wait) => {
                // The first failure is printed at once, the following ones when they get rare.
                if attempt.is_power_of_two() {
                    eprintln!("recrawl: {problem}; attempt {} in {:.1} s", attempt + 1, wait.as_secs_f64());
                }
                pause(wait, self.stop);
                Ok(!self.stop.is_stopped())
            }
        }
    }

    fn set_rejected_aside(&mut self, rejected: &[(&PageUpdate, String)], of: usize) -> Result<(), CommandFailure> {
        let Some((update, reason)) = rejected.first() else { return Ok(()) };
        if self.done.indexed == 0 && rejected.len() == of && of >= MANY {
            return Err(CommandFailure::Input(format!(
                "the index rejected all {of} documents of the first batch, such as {}: {reason}; mend its fields, and start \
                 again",
                update.content().url
            )));
        }
        self.done.rejected += rejected.len() as u64;
        eprintln!("recrawl: the index rejected {} updates, such as {}: {reason}", rejected.len(), update.content().url);
        self.set_aside.add(rejected)
    }
}

fn in_words(done: &Summary) -> String {
    let Summary { indexed, deleted, superseded, rejected, failed_attempts, .. } = done;
    format!(
        "{indexed} documents written, {deleted} deleted, {superseded} newer there, {rejected} rejected; {failed_attempts} \
         attempts failed"
    )
}

#[cfg(test)]
#[path = "sender_tests.rs"]
mod tests;
