//! Deletes versions for their age, also of pages that never change again.

use super::{StoredVersion, delete, stored};
use crate::DetectorRules;
use crate::contents::note_bytes;
use crate::copy_room::CopyRoom;
use crate::state::{HISTORY, PAGES, PastVersion};
use page::{PageId, Timestamp};
use std::time::Duration;
use stream::{Context, ProcessError};

/// Time between two passes over the history of a partition.
const PASS_EVERY: Duration = Duration::from_secs(86_400);
/// The first pass of a process begins after so long. A start has other work before.
const FIRST_AFTER: Duration = Duration::from_secs(60);
/// The most versions that are looked at in one step.
const VERSIONS_PER_STEP: usize = 100;

/// The place of a pass over the history.
#[derive(Debug, Default)]
pub(crate) struct HistorySweep {
    /// When the next pass begins. `None` before the first step.
    due: Option<Timestamp>,
    /// The key at which the pass goes on.
    next: Vec<u8>,
}

impl HistorySweep {
    /// Goes on with the pass, if one is due. The limits are those of today's settings.
    pub(crate) fn step(
        &mut self,
        rules: &DetectorRules,
        room: &mut CopyRoom,
        context: &mut Context<'_>,
    ) -> Result<(), ProcessError> {
        let now = context.now();
        if now < *self.due.get_or_insert(now + FIRST_AFTER) {
            return Ok(());
        }
        let versions = context.entries_from(HISTORY, &self.next, VERSIONS_PER_STEP)?;
        let Some(((last, number), _)) = versions.last() else {
            *self = Self { due: Some(now + PASS_EVERY), next: Vec::new() };
            return Ok(());
        };
        self.next = [&last.0[..], &number.to_be_bytes(), &[0]].concat();
        let is_over = |version: &PastVersion| rules.history_limits(&version.url).is_over(version.last_seen_at, now);
        // The newest that is over, and what is older: those are read by it.
        let mut over: Vec<(PageId, u32, PastVersion)> = Vec::new();
        for ((id, number), version) in versions.into_iter().filter(|(_, version)| is_over(version)) {
            if over.last().is_some_and(|(of, ..)| *of == id) {
                over.pop();
            }
            over.push((id, number, version));
        }
        for (id, number, version) in over {
            let gone: Vec<StoredVersion> =
                stored(&id, context)?.into_iter().filter(|version| version.number <= number).collect();
            delete(&id, &gone, context);
            let bytes: u64 = gone.iter().map(|version| version.bytes).sum();
            if let Some(mut sketch) = context.get(PAGES, &id)? {
                let before = sketch.copy_bytes;
                sketch.copy_bytes = (before - bytes as i64).max(0);
                context.put(PAGES, &id, &sketch);
                note_bytes(before, sketch.copy_bytes, &version.url.site_key(), room, context)?;
            }
        }
        Ok(())
    }
}
