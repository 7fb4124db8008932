//! Sends all changes since the last digest together, when the next one is due.
//!
//! The content of a digest is noted before its first attempt: a position up to which it goes, and when it was due. A run that is
//! killed sends the same digest again, under the same id.

use super::collected::Collected;
use super::schedule::{Schedule, next_due};
use super::{Delivery, Done, OpenChanges, Outcome};
use crate::progress::{DigestNote, DueDigest};
use crate::record::{ChangeDigest, PublishedChange};
use crate::sink::Parcel;
use crate::source::{Cursor, TopicFollower, TopicRecord, pause};
use daemon::{CommandFailure, TopicReader, WebClock};
use page::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use stream::Clock;

/// Interval between looks at the clock, in real time.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// When the digests of a receiver are due.
pub(super) struct DigestPlan {
    pub(super) schedule: Schedule,
    pub(super) clock: Arc<WebClock>,
    /// The beginning of the command that shows changes.
    pub(super) command: String,
}

impl Delivery {
    /// Notes when the time of the first digest begins.
    pub(super) fn begin_digests(&mut self, plan: DigestPlan) -> Result<(), CommandFailure> {
        if self.progress.digest().is_none() {
            let note = DigestNote { last: plan.clock.now().as_micros(), sending: None };
            self.progress.note_digest(&mut self.directory, None, note)?;
        }
        self.plan = Some(plan);
        Ok(())
    }

    /// Sends digests as they are due, until it is stopped.
    pub(super) fn send_digests(&mut self, changes: &OpenChanges) -> Result<(), CommandFailure> {
        let mut reader = changes()?;
        self.stands_at(&mut reader)?;
        while !self.stop.is_stopped() {
            let Some(plan) = &self.plan else { return Ok(()) };
            let note =
                self.progress.digest().unwrap_or(DigestNote { last: plan.clock.now().as_micros(), sending: None });
            let sending = match note.sending {
                Some(sending) => sending,
                None => {
                    let now = plan.clock.now();
                    let due = next_due(&plan.schedule, Timestamp::from_micros(note.last), now);
                    self.health.receiver().update(|receiver| receiver.next_digest_at = Some(shown(due)));
                    if due > now {
                        self.health.turned();
                        self.health.rests();
                        pause(LOOK_EVERY, &self.stop);
                        continue;
                    }
                    reader.refresh()?;
                    let until = Cursor::at_end(&mut reader)?;
                    let sending = DueDigest { due: due.as_micros(), until: until.to_string() };
                    let note = DigestNote { sending: Some(sending.clone()), ..note };
                    self.progress.note_digest(&mut self.directory, None, note)?;
                    sending
                }
            };
            self.send(&sending, note.last, changes)?;
            self.stands_at(&mut reader)?;
        }
        Ok(())
    }

    /// Shows where it stands.
    fn stands_at(&self, reader: &mut TopicReader) -> Result<(), CommandFailure> {
        let cursor = match self.progress.cursor() {
            Some(cursor) => cursor,
            None => Cursor::at_start(reader)?,
        };
        self.health.stands_at(&cursor, &Cursor::at_end(reader)?);
        Ok(())
    }

    fn send(&mut self, sending: &DueDigest, last: i64, changes: &OpenChanges) -> Result<(), CommandFailure> {
        let until: Cursor = sending.until.parse().map_err(CommandFailure::Input)?;
        let Some(collected) = self.collect(&until, changes)? else { return Ok(()) };
        let count = collected.changes();
        let outcome = if count == 0 {
            Outcome::Delivered
        } else {
            let digest = self.digest(collected, sending, last);
            let parcel = Parcel::Digest(&digest);
            self.attempt_until_done(&parcel)?
        };
        let left_out = match outcome {
            Outcome::Stopped => return Ok(()),
            Outcome::Delivered => None,
            Outcome::SetAside(problem) | Outcome::GivenUp(problem) => Some(problem),
        };
        if let Some(problem) = &left_out {
            self.say(&format!("a digest of {count} changes was not delivered: {problem}; left out"));
        }
        let digest = Some(DigestNote { last: sending.due, sending: None });
        self.note(Done { cursor: until, digest, changes: count, left_out })
    }

    /// The wanted changes before a position. `None`: stopped before.
    fn collect(&mut self, until: &Cursor, changes: &OpenChanges) -> Result<Option<Collected>, CommandFailure> {
        let mut follower = self.follower(changes)?;
        let is_over = |follower: &TopicFollower<_>| {
            follower.progress().iter().zip(&until.0).all(|(partition, end)| partition.next >= *end)
        };
        let mut collected = Collected::default();
        self.health.looks(&follower);
        while !is_over(&follower) {
            if self.stop.is_stopped() {
                return Ok(None);
            }
            let Some(TopicRecord { partition, offset, message, cursor }) = follower.next()? else {
                // The look may have passed over markers of transactions up to the end.
                if is_over(&follower) {
                    break;
                }
                // Without what is missing the digest would be short, and its position behind that.
                self.health.looks(&follower);
                let missing = follower.waits_for().unwrap_or_else(|| format!("records up to {until}"));
                return Err(CommandFailure::World(format!("the digest waits for {missing}")));
            };
            // It came later, in a partition that was read further than another.
            if until.0.get(partition as usize).is_none_or(|end| offset >= *end) {
                continue;
            }
            if self.selection.wants(&message) {
                collected.add(&PublishedChange::new(self.selection.shown(message), &cursor));
            }
            self.health.turned();
        }
        Ok(Some(collected))
    }

    fn digest(&self, collected: Collected, sending: &DueDigest, last: i64) -> ChangeDigest {
        let due_at = shown(Timestamp::from_micros(sending.due));
        let receiver = self.name.clone().unwrap_or_default();
        let command = self.plan.as_ref().map_or("recrawl changes", |plan| &plan.command);
        let cursor = self.progress.cursor().map_or(String::new(), |cursor| format!(" --cursor {cursor}"));
        ChangeDigest {
            digest_id: format!("digest-{receiver}-{due_at}"),
            since: Some(shown(Timestamp::from_micros(last))),
            due_at,
            command: format!("{command}{cursor}{}", self.selection.flags()),
            receiver,
            ..collected.digest()
        }
    }
}

/// A moment in RFC 3339.
fn shown(moment: Timestamp) -> String {
    jiff::Timestamp::from_microsecond(moment.as_micros()).unwrap_or_default().to_string()
}
