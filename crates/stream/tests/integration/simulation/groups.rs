//! Membership of groups, ownership, and progress.

use super::Role;
use super::invariants;
use super::world::{Life, Seat, World};
use stream::{Event, Log as _};

impl World {
    pub(super) fn seated(&self, life: &Life) -> u64 {
        let (serial, polled_at) = (self.new_id(), self.elapsed());
        let mut state = self.state();
        // A newer member with the same name has fenced the older one.
        let older = |seat: &Seat| seat.role == life.role && seat.name == life.name;
        let gone: Vec<u64> = state.seats.iter().filter(|(_, seat)| older(seat)).map(|(serial, _)| *serial).collect();
        state.owners.retain(|_, owner| !gone.contains(owner));
        state.seats.retain(|serial, _| !gone.contains(serial));
        let (role, name, life, process) = (life.role, life.name.clone(), life.id, life.process);
        state.seats.insert(serial, Seat { role, name, life, process, polled_at });
        serial
    }

    pub(super) fn left(&self, serial: u64) {
        let mut state = self.state();
        state.seats.remove(&serial);
        state.owners.retain(|_, owner| *owner != serial);
    }

    pub(super) fn received(&self, serial: u64, events: &[Event]) {
        let polled_at = self.elapsed();
        let mut changes = Vec::new();
        let mut state = self.state();
        let Some(seat) = state.seats.get_mut(&serial) else { return };
        seat.polled_at = polled_at;
        let (role, name) = (seat.role, seat.name.clone());
        for event in events {
            match event {
                Event::Assigned(partitions) => {
                    state.owners.extend(partitions.iter().map(|partition| ((role, *partition), serial)));
                    let waits_from = partitions.iter().map(|partition| ((role, *partition), polled_at));
                    state.progress_at.extend(waits_from);
                    changes.push(format!("{name} is assigned {partitions:?}"));
                }
                Event::Revoked(partitions) => {
                    state.owners.retain(|(of, partition), owner| {
                        *of != role || *owner != serial || !partitions.contains(partition)
                    });
                    changes.push(format!("{name} gives up {partitions:?}"));
                }
                Event::Record(_) => {}
            }
        }
        drop(state);
        changes.into_iter().for_each(|change| self.trace(|| change));
    }

    /// Expires a member's session.
    pub(super) fn expire(&self, role: Role, name: &str) {
        self.disturbed();
        let state = self.state();
        let seats = state.seats.iter();
        let gone: Vec<u64> =
            seats.filter(|(_, seat)| seat.role == role && seat.name == name).map(|(serial, _)| *serial).collect();
        drop(state);
        gone.into_iter().for_each(|serial| self.left(serial));
        self.log.expire(role.group(), role.input(), &format!("{}-{name}", role.group()));
    }

    /// Process and life of the member that owns a partition.
    pub(super) fn owner(&self, role: Role, partition: u32) -> Option<(usize, u64)> {
        let state = self.state();
        let seat = state.seats.get(state.owners.get(&(role, partition))?)?;
        Some((seat.process, seat.life))
    }

    pub(super) fn is_up(&self, role: Role) -> bool {
        let is_up = |process| {
            let slot = self.slot(process);
            slot.role == role && slot.runner.is_some()
        };
        (0..self.slots.len()).any(is_up)
    }

    /// Backlog of a group by partition.
    pub(super) fn backlog(&self, role: Role) -> Vec<u64> {
        let mut backlog = self.log.backlog(role.group(), role.input()).expect("a backlog in memory can be counted");
        backlog.sort_by_key(|of| of.partition);
        backlog.iter().map(|of| of.records).collect()
    }

    /// Checks that no partition waits longer than a minute without a disturbance.
    pub(super) fn check_progress(&self) {
        let now = self.elapsed();
        for role in Role::ALL {
            let is_up = self.is_up(role);
            for (partition, backlog) in (0_u32..).zip(self.backlog(role)) {
                let mut state = self.state();
                let disturbed_at = state.disturbed_at;
                let progress_at = state.progress_at.entry((role, partition)).or_insert(now);
                if backlog == 0 || !is_up {
                    *progress_at = now;
                }
                let waited = now.saturating_sub((*progress_at).max(disturbed_at));
                drop(state);
                self.check(invariants::no_partition_stands_still(partition, backlog, waited.as_secs()));
            }
        }
    }
}
