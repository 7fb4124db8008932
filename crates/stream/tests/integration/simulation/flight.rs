//! The stage with work in flight: an engine that answers after a while, in any order.

use super::Role;
use super::counting::{number, verb};
use super::invariants;
use super::points::InjectionPoint;
use super::world::{Life, World};
use metrics::Figure;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use stream::{AnsweredRequest, InFlight, InputRecord, ProcessError, RequestTag, Table, TaskView};
use stream_testing::RawRecord;
use wire::Topic;

pub(super) const WORK: Topic<RawRecord> = Topic::new("work");
pub(super) const FLIGHT_STORES: [&str; 1] = ["answers"];
/// Answered requests by offset.
const ANSWERS: Table<Vec<u8>, Vec<u8>> = Table::new("answers");

/// For as long at least an answer waits for its partition to come back.
const ANSWERS_KEPT: Duration = Duration::from_secs(30);

struct SimulatedRequest {
    tag: RequestTag,
    ready_at: Duration,
    key: Vec<u8>,
    value: Vec<u8>,
}

pub(super) struct Flight {
    world: Arc<World>,
    life: Arc<Life>,
    begun: BTreeSet<u64>,
    requests: Vec<SimulatedRequest>,
    /// When this process has answered which request.
    answered: BTreeMap<(u32, u64), Duration>,
}

impl Flight {
    pub(super) fn new(world: &Arc<World>, life: &Arc<Life>) -> Self {
        Self {
            world: world.clone(),
            life: life.clone(),
            begun: BTreeSet::new(),
            requests: Vec::new(),
            answered: BTreeMap::new(),
        }
    }

    fn take_ready(&mut self) -> Option<AnsweredRequest> {
        let now = self.world.elapsed();
        let ready: Vec<usize> = (0..self.requests.len()).filter(|&at| self.requests[at].ready_at <= now).collect();
        if ready.is_empty() {
            return None;
        }
        let SimulatedRequest { tag, key, value, .. } =
            self.requests.swap_remove(ready[self.world.below(ready.len() as u64) as usize]);
        self.answered.insert((tag.partition, tag.offset), now);
        let answer = AnsweredRequest::new(tag).put(ANSWERS, &tag.offset.to_be_bytes().to_vec(), &value);
        Some(answer.with(WORK, RawRecord { key, value }))
    }
}

impl InFlight for Flight {
    fn begin(&mut self, epoch: u64) {
        if !self.begun.insert(epoch) {
            self.world.violated(format!("epoch {epoch} is begun twice"));
        }
    }

    fn submit(&mut self, tag: RequestTag, record: &InputRecord, tables: &TaskView<'_>) -> Result<(), ProcessError> {
        self.world.at(&self.life, InjectionPoint::Submit);
        if !self.begun.contains(&tag.epoch) {
            self.world.violated(format!("{tag:?} is of an epoch that was not begun"));
        }
        let since = self.answered.get(&(tag.partition, tag.offset)).map(|at| self.world.elapsed().saturating_sub(*at));
        // A group that has lost its position repeats what was committed.
        let is_committed = self.world.answered(tag.partition).contains(&tag.offset);
        if since.is_some_and(|since| since < ANSWERS_KEPT) && !is_committed {
            self.world.violated(format!("{tag:?} is submitted {since:?} after this process has answered it"));
        }
        if self.world.owner(Role::Flight, tag.partition) == Some((self.life.process, self.life.id)) {
            let committed = self.world.state().positions.get(&(Role::Flight, tag.partition)).cloned();
            self.world.check(invariants::no_finished_request_is_repeated(committed.as_ref(), tag.offset));
            // Before the table is read: meanwhile another may become the owner and commit more.
            let committed = self.world.answered(tag.partition);
            let answers = tables.entries(ANSWERS, b"", usize::MAX)?;
            let seen: BTreeSet<_> = answers.into_iter().map(|(offset, _)| number(&offset)).collect();
            if let Some(offset) = committed.difference(&seen).next() {
                let partition = tag.partition;
                self.world
                    .violated(format!("the table of partition {partition} lacks the committed answer to {offset}"));
            }
        }
        match verb(record) {
            "unfit" => return Err(ProcessError::SetAside("it is unfit".to_owned())),
            "slow" if self.world.has_to_wait(Role::Flight, tag.partition, tag.offset) => {
                return Err(ProcessError::Await("it has to wait".to_owned()));
            }
            _ => {}
        }
        let takes = Duration::from_millis(1 << self.world.below(12));
        self.requests.push(SimulatedRequest {
            tag,
            ready_at: self.world.elapsed() + takes,
            key: record.key.clone(),
            value: record.value.clone().map(Vec::from).unwrap_or_default(),
        });
        Ok(())
    }

    fn broadcast(&mut self, _: &InputRecord) {}

    fn receive(&mut self, patience: Duration) -> Option<AnsweredRequest> {
        self.world.at(&self.life, InjectionPoint::Receive);
        let answer = self.take_ready();
        if answer.is_none() && !patience.is_zero() {
            self.world.advance(patience);
            return self.take_ready();
        }
        answer
    }

    fn withdraw(&mut self, epochs: &[u64]) {
        self.world.at(&self.life, InjectionPoint::Withdraw);
        self.begun.retain(|epoch| !epochs.contains(epoch));
        self.requests.retain(|request| !epochs.contains(&request.tag.epoch));
    }

    fn drain(&mut self) {}

    fn hold_back(&mut self) {}

    fn under_way(&self) -> usize {
        self.requests.len()
    }

    fn figures(&self, _: usize) -> Vec<Figure> {
        Vec::new()
    }
}
