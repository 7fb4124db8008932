//! Restores a newly assigned task slice by slice, so that other tasks keep running meanwhile.

use crate::invariants::{BrokenInvariant, progress_not_ahead_of_position};
use crate::log::{ErrorKind, LogError, LogReader, Member, StateIn};
use crate::position::{PROGRESS_KEY, Position};
use crate::protocol::{InputStart, RefillReason, RestoreStep, input_start, plan_store, wait_after};
use crate::publish::{REMEDY, was_deleted};
use crate::record::{InputRecord, OffsetBounds, TopicPartition};
use crate::spec::StageSpec;
use crate::store::{Checkpoint, NoStores, StateStore, StoreError, StoreProvider, StoreWrite, TaskId};
use crate::task::TaskError;
use page::Timestamp;
use std::collections::BTreeSet;
use std::time::Duration;
use tracing::{info, warn};

/// Changelog records per read.
const SLICE_RECORDS: usize = 2_000;

/// The changelog that a restore reads.
pub(crate) struct RestoreContext<'a> {
    pub(crate) spec: &'a StageSpec,
    pub(crate) stores: &'a dyn StoreProvider,
    pub(crate) log_id: &'a str,
    pub(crate) state_in: StateIn,
    pub(crate) marks_commits: bool,
    pub(crate) member: &'a mut dyn Member,
    pub(crate) reader: &'a mut dyn LogReader,
    pub(crate) now: Timestamp,
}

/// An assigned task that is not running yet.
pub(crate) struct Restoring {
    pub(crate) id: TaskId,
    phase: RestorePhase,
    failures: u32,
    /// Time of the next attempt after a failure, on the monotonic clock.
    retry_at: Duration,
    /// The missing schema without which the restored state cannot be read.
    pub(crate) waits_for: Option<String>,
    /// Number of attempts that lacked the schema.
    waits: u32,
    pub(crate) replayed: u64,
    /// Non-empty stores that were refilled from their changelogs.
    pub(crate) refilled: u64,
    /// Damaged or foreign states that were set aside.
    pub(crate) set_aside: u64,
    /// Time of the assignment, on the monotonic clock.
    pub(crate) assigned_at: Duration,
}

enum RestorePhase {
    Opening,
    Filling(Filling),
}

struct Filling {
    store: Box<dyn StateStore>,
    checkpoint: Checkpoint,
    replays: Vec<ChangelogReplay>,
    /// Time at which the changelog bounds were read.
    bounds_at: Timestamp,
    committed: Option<Position>,
    input: OffsetBounds,
}

struct ChangelogReplay {
    changelog: TopicPartition,
    next: u64,
    /// End of the changelog when the restore began. Nothing is written after it: this task is the only writer.
    end: u64,
}

pub(crate) struct Restored {
    pub(crate) store: Box<dyn StateStore>,
    pub(crate) checkpoint: Checkpoint,
    pub(crate) input: InputStart,
    pub(crate) finished: BTreeSet<u64>,
    /// Whether the input offset in the state is consistent with the group's position.
    pub(crate) checked: Result<(), BrokenInvariant>,
}

impl Restoring {
    pub(crate) fn new(id: TaskId, assigned_at: Duration) -> Self {
        Self {
            id,
            phase: RestorePhase::Opening,
            failures: 0,
            retry_at: Duration::ZERO,
            waits_for: None,
            waits: 0,
            replayed: 0,
            refilled: 0,
            set_aside: 0,
            assigned_at,
        }
    }

    /// Changelog records still to replay, by their offsets: markers of transactions and what compaction removed count, too.
    pub(crate) fn remaining(&self) -> u64 {
        match &self.phase {
            RestorePhase::Opening => 0,
            RestorePhase::Filling(filling) => {
                filling.replays.iter().map(|replay| replay.end.saturating_sub(replay.next)).sum()
            }
        }
    }

    /// Whether the next slice may be tried now.
    pub(crate) fn is_due(&self, monotonic: Duration) -> bool {
        monotonic >= self.retry_at
    }

    /// Records a failed request to the log. Nothing is lost: the same slice is tried again after a back-off.
    pub(crate) fn failed(&mut self, error: &LogError, monotonic: Duration) {
        self.failures += 1;
        let wait = wait_after(self.failures);
        self.retry_at = monotonic + wait;
        warn!(task = %self.id, error = error.message, attempt = self.failures, ?wait, "restore failed; trying again");
    }

    /// Records that the state cannot be read because a schema is missing. The state is kept and read again after a
    /// back-off.
    pub(crate) fn lacks_schema(&mut self, why: String, monotonic: Duration) {
        self.waits += 1;
        self.retry_at = monotonic + wait_after(self.waits);
        if self.waits_for.is_none() {
            warn!(task = %self.id, reason = why, "waiting for a schema");
        }
        self.waits_for = Some(why);
    }

    /// Does one slice of the work. Returns the task once it is complete.
    pub(crate) fn advance(&mut self, ground: &mut RestoreContext<'_>) -> Result<Option<Restored>, TaskError> {
        let partition = self.id.partition;
        if let RestorePhase::Opening = self.phase {
            self.phase = RestorePhase::Filling(self.open(ground)?);
        }
        let RestorePhase::Filling(filling) = &mut self.phase else { return Ok(None) };
        let replayed = filling.slice(ground).map_err(|error| match error {
            SliceError::Log(error) => TaskError::Log(error),
            SliceError::Store(error) => TaskError::of_store(partition, error),
        })?;
        self.failures = 0;
        self.replayed += replayed.unwrap_or(0);
        if replayed.is_some() {
            return Ok(None);
        }
        let RestorePhase::Filling(filling) = std::mem::replace(&mut self.phase, RestorePhase::Opening) else {
            return Ok(None);
        };
        let committed = filling.committed.as_ref();
        // If the group lost its position, there is nothing to compare with. Retention moves the position of the state
        // but not the position of the group.
        let checked = match committed {
            Some(position) => {
                let passed = Position::at(position.next.max(filling.input.start));
                progress_not_ahead_of_position(filling.checkpoint.input_next, Some(&passed))
            }
            None => Ok(()),
        };
        let input = input_start(committed.map(|position| position.next), filling.checkpoint.input_next, filling.input);
        report_gaps(&self.id, input);
        let finished = committed.map(Position::finished).unwrap_or_default();
        Ok(Some(Restored { store: filling.store, checkpoint: filling.checkpoint, input, finished, checked }))
    }

    fn open(&mut self, ground: &mut RestoreContext<'_>) -> Result<Filling, TaskError> {
        let partition = self.id.partition;
        let changelogs: Vec<_> = match ground.state_in {
            StateIn::Changelogs => {
                let changelogs = ground.spec.stores.iter();
                changelogs.map(|store| TopicPartition::new(store.changelog.as_str(), partition)).collect()
            }
            StateIn::Log => Vec::new(),
        };
        let input = TopicPartition::new(ground.spec.input.clone(), partition);
        let asked: Vec<_> = changelogs.iter().cloned().chain([input]).collect();
        // Read the position before the bounds: the log returns it only once the previous owner's transaction has ended,
        // so the bounds then include its records.
        let committed = ground.member.committed(&[partition])?.remove(&partition);
        let mut bounds = ground.reader.bounds(&asked)?;
        let input = bounds.pop().expect("one answer for each partition asked for");
        let mut store = self.open_store(ground)?;
        let names = ground.spec.stores.len();
        let checkpoint = store.checkpoint().map_err(|error| TaskError::of_store(partition, error))?;
        if let Some(place) = self.deleted_changelog(ground, &bounds, input, &checkpoint, committed.as_ref())? {
            return Err(deleted(&changelogs[place]).into());
        }
        let mut filling = Filling { store, checkpoint, replays: Vec::new(), bounds_at: ground.now, committed, input };
        if filling.plan(&changelogs, &bounds, ground, self)? {
            // The local state belongs to another changelog: trust none of it.
            drop(filling.store);
            self.set_aside(ground)?;
            store = self.open_store(ground)?;
            filling.store = store;
            filling.checkpoint = Checkpoint::empty(names);
            filling.replays.clear();
            filling.plan(&changelogs, &bounds, ground, self)?;
        }
        Ok(filling)
    }

    /// A changelog that somebody has deleted. Without it the stage would go on with a part of its state, or none.
    fn deleted_changelog(
        &self,
        ground: &mut RestoreContext<'_>,
        bounds: &[OffsetBounds],
        input: OffsetBounds,
        checkpoint: &Checkpoint,
        committed: Option<&Position>,
    ) -> Result<Option<usize>, LogError> {
        let processed = committed.map_or(0, |position| position.next);
        let is_deleted = |place: usize, has_progress: bool| {
            let held = checkpoint.stores[place].changelog_next;
            was_deleted(bounds[place].end, held, processed > 0, has_progress)
        };
        if let Some(place) = (0..bounds.len()).find(|place| is_deleted(*place, false)) {
            return Ok(Some(place));
        }
        // Without local state the input's progress, which the first table that is not public holds, shows that something was
        // written. A stage with one table is left out, because a new version may have added that table.
        let progress_in = ground.spec.progress_store().filter(|_| bounds.len() > 1);
        let Some(place) = progress_in.filter(|place| is_deleted(*place, true)) else { return Ok(None) };
        let place_of_input = TopicPartition::new(ground.spec.input.clone(), self.id.partition);
        let first = ground.reader.read(&place_of_input, input.start, 1)?.0.into_iter().next();
        // Positions are committed behind markers of transactions as well.
        Ok(first.filter(|record| record.offset < processed).map(|_| place))
    }

    fn open_store(&mut self, ground: &RestoreContext<'_>) -> Result<Box<dyn StateStore>, TaskError> {
        // A stage without stores must not need a disk.
        if ground.spec.stores.is_empty() {
            return Ok(Box::new(NoStores));
        }
        let names: Vec<_> = ground.spec.stores.iter().map(|store| store.name).collect();
        match ground.stores.open(ground.log_id, &self.id, &names) {
            Err(StoreError::Damaged(what)) if ground.state_in == StateIn::Changelogs => {
                warn!(task = %self.id, what, "local state is damaged");
                self.set_aside(ground)?;
                ground.stores.open(ground.log_id, &self.id, &names)
            }
            opened => opened,
        }
        .map_err(|error| TaskError::Stop(error.to_string()))
    }

    /// Sets the local state aside, to be refilled from the changelog.
    fn set_aside(&mut self, ground: &RestoreContext<'_>) -> Result<(), TaskError> {
        let kept_as = ground.stores.set_aside(&self.id).map_err(|error| TaskError::Stop(error.to_string()))?;
        warn!(
            task = %self.id, kept_as,
            "local state is set aside and refilled from its changelog; delete the old state once you no longer need it"
        );
        self.set_aside += 1;
        Ok(())
    }
}

enum SliceError {
    Log(LogError),
    Store(StoreError),
}

impl From<LogError> for SliceError {
    fn from(error: LogError) -> Self {
        SliceError::Log(error)
    }
}

impl From<StoreError> for SliceError {
    fn from(error: StoreError) -> Self {
        SliceError::Store(error)
    }
}

impl Filling {
    /// Decides how to fill each store. Returns true if the local state must be set aside first.
    fn plan(
        &mut self,
        changelogs: &[TopicPartition],
        bounds: &[OffsetBounds],
        ground: &mut RestoreContext<'_>,
        restoring: &mut Restoring,
    ) -> Result<bool, TaskError> {
        for (place, (changelog, bounds)) in changelogs.iter().zip(bounds).enumerate() {
            let held = &self.checkpoint.stores[place];
            let next = held.changelog_next.unwrap_or(bounds.start);
            // An unreadable stretch up to the end may still hide a missed deletion that was compacted away. Only the
            // marker of our own last transaction is certain to hide nothing.
            let is_behind = bounds.end.saturating_sub(next) > u64::from(ground.marks_commits);
            let next = match plan_store(held, *bounds, is_behind, self.bounds_at) {
                RestoreStep::Replay { from } => from,
                RestoreStep::Refill { reason, .. } if reason.is_damage() => {
                    let store = &ground.spec.stores[place].name;
                    warn!(task = %restoring.id, store, held = next, end = bounds.end, "local state is ahead of its changelog");
                    return Ok(true);
                }
                RestoreStep::Refill { from, reason } => {
                    self.refill(place, reason, ground, restoring)?;
                    from
                }
            };
            self.replays.push(ChangelogReplay { changelog: changelog.clone(), next, end: bounds.end });
        }
        Ok(false)
    }

    fn refill(
        &mut self,
        place: usize,
        reason: RefillReason,
        ground: &RestoreContext<'_>,
        restoring: &mut Restoring,
    ) -> Result<(), TaskError> {
        let store = &ground.spec.stores[place].name;
        if reason != RefillReason::Empty {
            info!(task = %restoring.id, store, ?reason, "local state cannot catch up with its changelog; refilling it");
            restoring.refilled += 1;
        }
        self.store.empty(place).map_err(|error| TaskError::of_store(restoring.id.partition, error))?;
        if ground.spec.progress_store() == Some(place) {
            // Its changelog holds the input offset.
            self.checkpoint.input_next = None;
        }
        let held = &mut self.checkpoint.stores[place];
        held.changelog_next = None;
        // An interrupted refill may resume as long as tombstones from its beginning are kept.
        held.complete_as_of = Some(self.bounds_at);
        Ok(())
    }

    /// Replays some records. Returns `None` when nothing is left to replay.
    fn slice(&mut self, ground: &mut RestoreContext<'_>) -> Result<Option<u64>, SliceError> {
        let Some(place) = self.replays.iter().position(|replay| replay.next < replay.end) else {
            return self.complete().map(|()| None);
        };
        let replay = &mut self.replays[place];
        let (records, after) = ground.reader.read(&replay.changelog, replay.next, SLICE_RECORDS)?;
        if records.is_empty() {
            // Only transaction markers are left.
            replay.next = replay.end;
            return Ok(Some(0));
        }
        replay.next = after;
        let count = records.len() as u64;
        let mut writes = Vec::with_capacity(records.len());
        for InputRecord { key, value, .. } in records {
            if key == PROGRESS_KEY {
                let next = value.as_deref().and_then(|value| value.try_into().ok()).map(u64::from_be_bytes);
                self.checkpoint.input_next = next.or(self.checkpoint.input_next);
            } else {
                writes.push(StoreWrite { store: place, key, value: value.map(Vec::from) });
            }
        }
        self.checkpoint.stores[place].changelog_next = Some(after);
        self.store.apply(&writes, &self.checkpoint)?;
        Ok(Some(count))
    }

    /// Marks every store as complete: it holds its whole changelog as of the beginning of the restore.
    fn complete(&mut self) -> Result<(), SliceError> {
        for (held, replay) in self.checkpoint.stores.iter_mut().zip(&self.replays) {
            held.changelog_next = Some(held.changelog_next.unwrap_or(replay.end).max(replay.next));
            held.complete_as_of = Some(self.bounds_at);
        }
        if self.replays.is_empty() {
            return Ok(());
        }
        Ok(self.store.apply(&[], &self.checkpoint)?)
    }
}

fn deleted(changelog: &TopicPartition) -> LogError {
    let message = format!("{changelog} lacks what was written to it: somebody has deleted it; {REMEDY}");
    LogError::new(ErrorKind::Retry, message)
}

fn report_gaps(task: &TaskId, input: InputStart) {
    if input.lost > 0 {
        warn!(%task, from = input.from, lost = input.lost, "retention deleted input records that were never processed");
    }
    if input.vanished > 0 {
        warn!(
            %task, from = input.from, vanished = input.vanished,
            "the input topic ends before the processed position; continuing from its end"
        );
    }
    // A group that has read nothing had no position to lose; its state may come from timers.
    if input.from_state && input.from > 0 {
        warn!(%task, from = input.from, "the position of the group is lost; continuing from the position in the state");
    }
}
