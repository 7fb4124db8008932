//! Faults of the log, the disks and the clock; and the source of the input.

use super::world::{Life, World};
use super::{LogKind, Role};
use page::DAY;
use std::sync::Arc;
use std::time::Duration;
use stream::partitioner::partition_for;
use stream::{Log as _, LogBackend, OutputRecord, TaskId, TopicPartition};
use stream_testing::MemoryStores;

use super::world::{PARTITIONS, SESSION};

const KEYS: u64 = 12;
/// Number of disk copies kept, to be put back.
const SNAPSHOTS: usize = 6;

impl World {
    /// A random fault of the log or the clock.
    pub(super) fn happen(self: &Arc<Self>) {
        match self.below(12) {
            0 => self.drop_input(),
            1 => self.forget(),
            2..6 => self.maintain(),
            6..8 => self.jump(Duration::from_secs(self.below(4 * 3_600))),
            8..10 => self.jump(DAY.mul_f64(self.below(40) as f64 / 10.0)),
            _ => self.copy_a_disk(),
        }
    }

    /// Retention drops input, sometimes before it was consumed.
    fn drop_input(&self) {
        let role = Role::ALL[self.below(2) as usize];
        let partition = self.below(u64::from(PARTITIONS)) as u32;
        let place = TopicPartition::new(role.input(), partition);
        let Ok(bounds) = self.log.backend().bounds(&place) else { return };
        let committed = self.log.backend().committed(role.group(), &place).ok().flatten();
        let next = committed.as_ref().map_or(0, |position| position.next);
        let unread = self.below(3);
        let before = bounds.start + self.below((next + unread).saturating_sub(bounds.start) + 1);
        self.take_stock();
        let mut state = self.state();
        state.at_risk.extend((next..before).map(|offset| (role, partition, offset)));
        drop(state);
        self.trace(|| format!("retention takes {place} up to {before}; the group stands at {next}"));
        self.log.backend().drop_before(&place, before);
    }

    /// A group stays empty until its positions are forgotten. If the log keeps the state, state and positions can only
    /// be lost together.
    fn forget(&self) {
        let role = Role::ALL[self.below(2) as usize];
        if role == Role::Counting && self.kind == LogKind::StateInLog {
            return;
        }
        self.trace(|| format!("the positions of {} are forgotten", role.group()));
        let members: Vec<String> = self.state().seats.values().map(|seat| seat.name.clone()).collect();
        members.iter().for_each(|name| self.expire(role, name));
        let mut state = self.state();
        state.forgotten.insert(role);
        state.positions.retain(|(of, _), _| *of != role);
        drop(state);
        self.log.backend().forget_group(role.group(), role.input());
    }

    pub(super) fn maintain(&self) {
        self.take_stock();
        self.trace(|| "compaction and retention run".to_owned());
        self.log.backend().maintain(self.now()).expect("a log in memory can be compacted");
    }

    /// Time passes while no process runs: nothing happened, or processes were frozen. A member with work to do, or
    /// inside a call, was frozen; the others may have kept their sessions alive.
    pub(super) fn jump(&self, duration: Duration) {
        self.trace(|| format!("{duration:?} pass"));
        self.advance(duration);
        self.disturbed();
        let is_quiet = self.happens(0.5);
        let now = self.elapsed();
        let mut state = self.state();
        state.progress_at.values_mut().for_each(|at| *at = now);
        let mut frozen = Vec::new();
        for seat in state.seats.values_mut() {
            if is_quiet && self.slot(seat.process).idle >= super::IDLE_STEPS {
                seat.polled_at = now;
            } else if now - seat.polled_at >= SESSION {
                frozen.push((seat.role, seat.name.clone()));
            }
        }
        drop(state);
        frozen.iter().for_each(|(role, name)| self.expire(*role, name));
    }

    fn copy_a_disk(&self) {
        let process = self.below(self.slots.len() as u64) as usize;
        let disk = self.slot(process).disk.clone();
        for partition in 0..PARTITIONS {
            let task = TaskId { stage: Role::Counting.group().to_owned(), partition };
            if let Some(copy) = disk.snapshot(&task) {
                let mut state = self.state();
                if state.snapshots.len() == SNAPSHOTS {
                    state.snapshots.remove(0);
                }
                state.snapshots.push((process, task, copy));
            }
        }
    }

    /// A process starts on a disk that was lost, or replaced by an older copy.
    pub(super) fn spoil_disk(&self, process: usize, disk: &MemoryStores) {
        if self.state().chances.world == 0.0 {
            return;
        }
        match self.below(10) {
            0 => {
                self.trace(|| format!("the disk of process {process} is lost"));
                disk.lose_everything();
            }
            1..3 => {
                let copies: Vec<_> = self.state().snapshots.iter().filter(|(of, ..)| *of == process).cloned().collect();
                for (_, task, copy) in copies {
                    self.trace(|| format!("{task} of process {process} is replaced by an older copy"));
                    disk.put_back(&task, copy);
                }
            }
            _ => {}
        }
    }

    /// Appends new input for one of the stages.
    pub(super) fn send(self: &Arc<Self>, source: &Arc<Life>) {
        let role = if self.happens(0.6) { Role::Flight } else { Role::Counting };
        let records: Vec<_> = (0..=self.below(6)).map(|_| self.new_record(role)).collect();
        let log = super::log::SimLog { world: self.clone(), life: source.clone() };
        let count = records.len() as u64;
        if log.append(&records).is_ok() {
            self.state().sent += count;
        }
        self.take_stock();
    }

    fn new_record(&self, role: Role) -> OutputRecord {
        let verb = match self.below(100) {
            0..3 if role == Role::Flight => "unfit",
            0..2 => "bad",
            2 => "poison",
            3..6 => "slow",
            6..22 => "forget",
            22..50 => "later",
            _ => "count",
        };
        let id = self.new_id();
        let key = format!("key {}", self.below(KEYS)).into_bytes();
        let to = TopicPartition::new(role.input(), partition_for(&key, PARTITIONS));
        OutputRecord { to, timestamp: self.now(), key, value: Some(format!("{verb} {id}").into()), trace: None }
    }

    /// Appends a broadcast record.
    pub(super) fn report(&self) {
        let news = format!("news {}", self.new_id()).into_bytes();
        let to = TopicPartition::new("news", 0);
        let record = OutputRecord {
            to,
            timestamp: self.now(),
            key: b"news".to_vec(),
            value: Some(news.clone().into()),
            trace: None,
        };
        if self.log.append(&[record]).is_ok() {
            self.state().news = Some(news);
        }
    }

    /// The source of the input: not one of the processes, and it never dies.
    pub(super) fn source(&self) -> Arc<Life> {
        Life::new(self.new_id(), usize::MAX, Role::Flight, "source")
    }
}
