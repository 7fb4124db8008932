//! The log as one process sees it: there is a point before every call, and after most.

use super::Mutant;
use super::points::InjectionPoint;
use super::world::{Grave, Life, SESSION, World};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use stream::{
    Backlog, Commit, Event, InputRecord, Log, LogError, LogReader, Member, MemberSpec, OffsetBounds, OutputRecord,
    PollLimits, Position, Receipt, StateIn, TopicConfig, TopicInfo, TopicPartition,
};

/// Reads return few records, so that a restore takes many.
const LONGEST_READ: u64 = 4;

pub(super) struct SimLog {
    pub(super) world: Arc<World>,
    pub(super) life: Arc<Life>,
}

impl SimLog {
    fn at(&self, point: InjectionPoint) -> Result<(), LogError> {
        self.world.at_log(&self.life, point)
    }
}

impl Log for SimLog {
    fn id(&self) -> Result<String, LogError> {
        self.at(InjectionPoint::Ask)?;
        self.world.log.id()
    }

    fn state_in(&self) -> StateIn {
        self.world.log.state_in()
    }

    fn marks_commits(&self) -> bool {
        self.world.log.marks_commits()
    }

    fn create_topics(&self, topics: &[TopicConfig]) -> Result<(), LogError> {
        self.world.log.create_topics(topics)
    }

    fn topic(&self, topic: &str) -> Result<Option<TopicInfo>, LogError> {
        self.at(InjectionPoint::Ask)?;
        self.world.log.topic(topic)
    }

    fn join(&self, spec: &MemberSpec) -> Result<Box<dyn Member>, LogError> {
        self.at(InjectionPoint::Join)?;
        let inner = self.world.log.join(spec)?;
        let serial = self.world.seated(&self.life);
        let mut member = SimMember {
            world: self.world.clone(),
            life: self.life.clone(),
            serial,
            inner: Some(inner),
            hidden: Vec::new(),
            first_known: BTreeMap::new(),
        };
        if let Err(error) = self.at(InjectionPoint::Joined) {
            // The group now has a member that its process does not know of.
            member.bury();
            return Err(error);
        }
        Ok(Box::new(member))
    }

    fn reader(&self) -> Result<Box<dyn LogReader>, LogError> {
        self.at(InjectionPoint::Ask)?;
        Ok(Box::new(SimReader { world: self.world.clone(), life: self.life.clone(), inner: self.world.log.reader()? }))
    }

    fn append(&self, records: &[OutputRecord]) -> Result<Receipt, LogError> {
        self.at(InjectionPoint::Append)?;
        self.world.log.append(records)
    }

    fn backlog(&self, group: &str, topic: &str) -> Result<Vec<Backlog>, LogError> {
        self.world.log.backlog(group, topic)
    }
}

struct SimMember {
    world: Arc<World>,
    life: Arc<Life>,
    serial: u64,
    /// `None` only while it is dropped.
    inner: Option<Box<dyn Member>>,
    /// For [`Mutant::ZombieCommit`]: changes not reported yet.
    hidden: Vec<Event>,
    /// For [`Mutant::StaleCommit`]: the first position known of each partition.
    first_known: BTreeMap<u32, Position>,
}

impl SimMember {
    fn at(&self, point: InjectionPoint) -> Result<(), LogError> {
        self.world.at_log(&self.life, point)
    }

    fn inner(&mut self) -> &mut dyn Member {
        &mut **self.inner.as_mut().expect("it is there until this is dropped")
    }

    fn is(&self, mutant: Mutant) -> bool {
        self.world.mutant == Some(mutant)
    }

    /// The member stays in its group until its session expires, although its process is dead.
    fn bury(&mut self) {
        if let Some(member) = self.inner.take() {
            let until = self.world.elapsed() + SESSION;
            self.world.state().graves.push(Grave { serial: self.serial, until, member });
        }
    }

    fn poll_inner(&mut self, limits: PollLimits) -> Result<Vec<Event>, LogError> {
        let events = self.inner().poll(limits, Duration::ZERO)?;
        self.world.received(self.serial, &events);
        Ok(events)
    }

    /// Polls the group while the stage is busy, as a keep-alive does, and hides the changes until the next poll.
    fn hide_changes(&mut self) {
        for _ in 0..2 {
            self.world.run_others(2);
            if let Ok(events) = self.poll_inner(PollLimits::NONE) {
                self.hidden.extend(events);
            }
        }
    }

    fn changed(&mut self, commit: &Commit) -> Commit {
        let mut changed = Commit {
            tasks: commit.tasks.clone(),
            positions: commit.positions.clone(),
            outputs: commit.outputs.clone(),
            state: commit.state.clone(),
        };
        if self.is(Mutant::ZombieCommit) {
            changed.tasks.clear();
        }
        if self.is(Mutant::StaleCommit) {
            let stale = self.first_known.iter().find(|(partition, _)| !commit.positions.contains_key(*partition));
            changed.positions.extend(stale.map(|(&partition, position)| (partition, position.clone())));
        }
        changed
    }
}

impl Member for SimMember {
    fn poll(&mut self, limits: PollLimits, _: Duration) -> Result<Vec<Event>, LogError> {
        self.at(InjectionPoint::Poll)?;
        let mut events = std::mem::take(&mut self.hidden);
        events.extend(self.poll_inner(limits)?);
        for event in &events {
            if let Event::Revoked(partitions) = event {
                self.first_known.retain(|partition, _| !partitions.contains(partition));
            }
        }
        self.at(InjectionPoint::Polled)?;
        Ok(events)
    }

    fn start(&mut self, partition: u32, offset: u64) -> Result<(), LogError> {
        self.at(InjectionPoint::Start)?;
        if self.world.state().never_started.contains(&(self.life.id, partition)) {
            return Ok(());
        }
        self.inner().start(partition, offset)?;
        self.at(InjectionPoint::Started)
    }

    fn commit(&mut self, commit: &Commit) -> Result<Receipt, LogError> {
        if self.is(Mutant::ZombieCommit) {
            self.hide_changes();
        }
        self.at(InjectionPoint::CommitBegun)?;
        let changed = self.changed(commit);
        let receipt = self.inner().commit(&changed);
        self.world.trace(|| {
            let next: Vec<_> = commit.positions.iter().map(|(partition, at)| (*partition, at.next)).collect();
            let (tasks, outputs) = (&commit.tasks, commit.outputs.len());
            let result = receipt.as_ref().err().map_or("ok", |error| &error.message);
            format!("{} commits {tasks:?}: positions {next:?}, {outputs} records: {result}", self.life.name)
        });
        let receipt = receipt?;
        self.world.committed(self.serial, &changed);
        self.at(InjectionPoint::CommitDone)?;
        Ok(receipt)
    }

    fn committed(&mut self, partitions: &[u32]) -> Result<BTreeMap<u32, Position>, LogError> {
        if let Err(error) = self.at(InjectionPoint::Committed) {
            if self.is(Mutant::LostAssignment) {
                self.world.lose(&self.life, partitions.iter().copied());
            }
            return Err(error);
        }
        let committed = self.inner().committed(partitions)?;
        for (partition, position) in &committed {
            self.first_known.entry(*partition).or_insert_with(|| position.clone());
        }
        Ok(committed)
    }
}

impl Drop for SimMember {
    fn drop(&mut self) {
        if self.life.is_dead() {
            self.bury();
        } else if let Some(member) = self.inner.take() {
            self.world.left(self.serial);
            drop(member);
        }
    }
}

struct SimReader {
    world: Arc<World>,
    life: Arc<Life>,
    inner: Box<dyn LogReader>,
}

impl LogReader for SimReader {
    fn bounds(&mut self, partitions: &[TopicPartition]) -> Result<Vec<OffsetBounds>, LogError> {
        if let Err(error) = self.world.at_log(&self.life, InjectionPoint::Bounds) {
            if self.world.mutant == Some(Mutant::LostRestore) {
                self.world.lose(&self.life, partitions.iter().map(|place| place.partition));
            }
            return Err(error);
        }
        self.inner.bounds(partitions)
    }

    fn read(
        &mut self,
        partition: &TopicPartition,
        from: u64,
        max_records: usize,
    ) -> Result<(Vec<InputRecord>, u64), LogError> {
        self.world.at_log(&self.life, InjectionPoint::Read)?;
        let few = 1 + self.world.below(LONGEST_READ) as usize;
        self.inner.read(partition, from, max_records.min(few))
    }
}
