//! Writes changelogs anew from local state, after somebody has deleted them.

use crate::log::{Backlog, Log, LogError};
use crate::position::PROGRESS_KEY;
use crate::record::{OutputRecord, TopicPartition};
use crate::spec::{StoreSpec, progress_store};
use crate::store::{CHANGELOG_LOST, StateStore, StoreError, StoreProvider, TaskId};
use bytes::Bytes;
use page::Timestamp;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Bytes of one transaction, so that a slow broker takes it in time.
const BATCH_BYTES: usize = 2 << 20;

/// The way out where changelogs were deleted.
pub(crate) const REMEDY: &str = "stop all processes of the stage and write it anew from the state of the one that had it: recrawl \
                                 state publish --data DIR";

/// A changelog that was written anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedChangelog {
    pub changelog: String,
    pub partition: u32,
    /// Entries of the table.
    pub entries: u64,
}

/// A stage with its state, as it is named on a log.
#[derive(Clone, Debug)]
pub struct StatefulStage {
    pub name: String,
    pub group: String,
    pub input: Arc<str>,
    pub stores: Vec<StoreSpec>,
}

/// Why a state is not published.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The state is not the newest, or the changelog is not empty.
    #[error("{0}")]
    Refused(String),
}

/// Whether a changelog that ends at `end` was deleted. The local state has read it up to `held`, or it has the progress of a group that
/// has processed input.
pub(crate) fn was_deleted(end: u64, held: Option<u64>, has_processed: bool, has_progress: bool) -> bool {
    let was_written = has_progress || held.is_some_and(|next| next > 0);
    held == Some(CHANGELOG_LOST) || end == 0 && has_processed && was_written
}

/// Writes those changelogs of a task anew that were deleted, from its local state, which no stage may have open. A changelog that
/// has records is left as it is. `even_if_old`: also where it cannot be seen that no other process has gone on from the state.
///
/// # Errors
/// The state is not the newest of its task, or a changelog has other records than the state knows.
pub fn publish_state(
    log: &dyn Log,
    stage: &StatefulStage,
    stores: &dyn StoreProvider,
    partition: u32,
    even_if_old: bool,
    now: Timestamp,
) -> Result<Vec<PublishedChangelog>, PublishError> {
    let task = TaskId { stage: stage.name.clone(), partition };
    let names: Vec<_> = stage.stores.iter().map(|store| store.name).collect();
    let mut state = stores.open(&log.id()?, &task, &names)?;
    let mut checkpoint = state.checkpoint()?;
    let places: Vec<_> =
        stage.stores.iter().map(|store| TopicPartition::new(store.changelog.as_str(), partition)).collect();
    let ends: Vec<u64> = log.reader()?.bounds(&places)?.iter().map(|bounds| bounds.end).collect();
    let mut published = Vec::new();
    for (at, store) in stage.stores.iter().enumerate() {
        let Some(next) = checkpoint.stores[at].changelog_next.filter(|next| *next > ends[at]) else { continue };
        if ends[at] > 0 && next != CHANGELOG_LOST {
            let (changelog, end) = (&places[at], ends[at]);
            return Err(PublishError::Refused(format!(
                "{changelog} ends at {end}, and the state of {task} has read one of this name up to {next}: another process has \
                 written it, and this state is left as it is"
            )));
        }
        if !even_if_old {
            refuse_old(log, stage, &task, checkpoint.input_next)?;
        }
        let progress = checkpoint.input_next.filter(|_| progress_store(&stage.stores) == Some(at));
        checkpoint.stores[at].changelog_next = Some(CHANGELOG_LOST);
        state.apply(&[], &checkpoint)?;
        let entries = publish_store(log, &*state, at, &places[at], progress, now)?;
        checkpoint.stores[at].changelog_next = log.reader()?.bounds(&places[at..=at])?.first().map(|bounds| bounds.end);
        checkpoint.stores[at].complete_as_of = Some(now);
        state.apply(&[], &checkpoint)?;
        published.push(PublishedChangelog { changelog: store.changelog.clone(), partition, entries });
    }
    Ok(published)
}

/// Refuses a state that another process has gone on from.
fn refuse_old(
    log: &dyn Log,
    stage: &StatefulStage,
    task: &TaskId,
    input_next: Option<u64>,
) -> Result<(), PublishError> {
    let input = TopicPartition::new(stage.input.clone(), task.partition);
    let mut reader = log.reader()?;
    let bounds = reader.bounds(std::slice::from_ref(&input))?;
    let Some(bounds) = bounds.first() else { return Ok(()) };
    let refused = |why: String| {
        Err(PublishError::Refused(format!("the state of {task} {why}; --even-if-old publishes it all the same")))
    };
    let seen = input_next.unwrap_or(0);
    if seen < bounds.start {
        return refused(format!("has seen {input} up to {seen}, which now begins at {}", bounds.start));
    }
    let backlog = log.backlog(&stage.group, &stage.input)?;
    let unread = backlog.iter().find(|of| of.partition == task.partition).map_or(0, |of: &Backlog| of.records);
    let processed = bounds.end.saturating_sub(unread);
    // Markers of transactions count as offsets, too.
    let missed = reader.read(&input, seen, 1)?.0.into_iter().next().filter(|record| record.offset < processed);
    match missed {
        None => Ok(()),
        Some(record) => refused(format!(
            "has not seen record {} of {input}, which was processed: another process has newer state",
            record.offset
        )),
    }
}

fn publish_store(
    log: &dyn Log,
    state: &dyn StateStore,
    at: usize,
    changelog: &TopicPartition,
    progress: Option<u64>,
    now: Timestamp,
) -> Result<u64, PublishError> {
    let record = |key: &[u8], value: &[u8]| OutputRecord {
        to: changelog.clone(),
        timestamp: now,
        key: key.to_vec(),
        value: Some(Bytes::copy_from_slice(value)),
        trace: None,
    };
    let (mut batch, mut bytes, mut entries, mut sent) = (Vec::new(), 0, 0, Ok(()));
    state.scan(at, b"", &mut |key, value| {
        batch.push(record(key, value));
        entries += 1;
        bytes += key.len() + value.len();
        if bytes >= BATCH_BYTES {
            sent = log.append(&std::mem::take(&mut batch)).map(|_| ());
            bytes = 0;
        }
        if sent.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    sent?;
    // Last, because it says that the state is there.
    batch.extend(progress.map(|next| record(PROGRESS_KEY, &next.to_be_bytes())));
    if !batch.is_empty() {
        log.append(&batch)?;
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changelog_is_missed_only_where_something_was_written_to_it() {
        assert!(was_deleted(0, None, true, true), "the position was written with every commit");
        assert!(was_deleted(0, Some(9), true, false));
        assert!(!was_deleted(0, None, true, false), "it may never have had an entry");
        assert!(!was_deleted(0, Some(9), false, true), "all topics were deleted: the crawl begins anew");
        assert!(!was_deleted(1, Some(9), true, true));
        assert!(was_deleted(1, Some(CHANGELOG_LOST), true, true));
    }
}
