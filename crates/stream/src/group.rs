//! Consumer groups for logs inside this process: which member owns which partition. Cooperative and sticky, like
//! Kafka's assignor of that name: members keep their partitions, only those that must move are revoked, and a partition
//! is assigned only after its last owner has released it.

use std::collections::{BTreeMap, BTreeSet};

/// Id of a member; ids grow with time.
pub(crate) type MemberId = u64;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OwnershipChange {
    Assigned(Vec<u32>),
    Revoked(Vec<u32>),
}

/// Result of a sync.
#[derive(Debug, Default)]
pub(crate) struct Synced {
    /// Changes for the member.
    pub(crate) changes: Vec<OwnershipChange>,
    /// Whether partitions became free for others.
    pub(crate) released: bool,
}

#[derive(Debug)]
struct MemberState {
    transactional_id: String,
    owned: BTreeSet<u32>,
    /// Those of `owned` that the member has to release. They stay taken until its next sync, by which time it has
    /// closed their state.
    releasing: BTreeSet<u32>,
    target: BTreeSet<u32>,
}

/// One group on one topic.
#[derive(Debug)]
pub(crate) struct ConsumerGroup {
    partitions: u32,
    members: BTreeMap<MemberId, MemberState>,
}

impl ConsumerGroup {
    pub(crate) fn new(partitions: u32) -> Self {
        Self { partitions, members: BTreeMap::new() }
    }

    /// Adds a member. Removes an older one with the same transactional id, which is thereby fenced.
    pub(crate) fn join(&mut self, id: MemberId, transactional_id: &str) {
        self.members.retain(|_, member| member.transactional_id != transactional_id);
        self.members.insert(
            id,
            MemberState {
                transactional_id: transactional_id.to_owned(),
                owned: BTreeSet::new(),
                releasing: BTreeSet::new(),
                target: BTreeSet::new(),
            },
        );
        self.rebalance();
    }

    pub(crate) fn leave(&mut self, id: MemberId) {
        if self.members.remove(&id).is_some() {
            self.rebalance();
        }
    }

    /// Removes a member that was silent for too long.
    pub(crate) fn expire(&mut self, transactional_id: &str) {
        self.members.retain(|_, member| member.transactional_id != transactional_id);
        self.rebalance();
    }

    /// Whether there is a member with this transactional id.
    pub(crate) fn has_member_named(&self, transactional_id: &str) -> bool {
        self.members.values().any(|member| member.transactional_id == transactional_id)
    }

    /// Transactional id of the member that owns a partition.
    pub(crate) fn owner(&self, partition: u32) -> Option<&str> {
        let owner = self.members.values().find(|member| member.owned.contains(&partition));
        owner.map(|member| member.transactional_id.as_str())
    }

    /// Whether the member is still in the group.
    pub(crate) fn contains(&self, id: MemberId) -> bool {
        self.members.contains_key(&id)
    }

    /// Whether the member owns the partition.
    pub(crate) fn owns(&self, id: MemberId, partition: u32) -> bool {
        let holds = |member: &MemberState| member.owned.contains(&partition) && !member.releasing.contains(&partition);
        self.members.get(&id).is_some_and(holds)
    }

    #[cfg(test)]
    pub(crate) fn owned(&self, id: MemberId) -> Vec<u32> {
        self.members.get(&id).map(|member| member.owned.iter().copied().collect()).unwrap_or_default()
    }

    /// Moves a member towards its target as far as the other members allow, and returns the changes. The next call
    /// confirms that what was revoked has been released.
    pub(crate) fn sync(&mut self, id: MemberId) -> Synced {
        let taken: BTreeSet<u32> = self
            .members
            .iter()
            .filter(|(other, _)| **other != id)
            .flat_map(|(_, member)| member.owned.iter().copied())
            .collect();
        let Some(member) = self.members.get_mut(&id) else { return Synced::default() };
        let released = std::mem::take(&mut member.releasing);
        member.owned.retain(|partition| !released.contains(partition));
        let revoked: Vec<u32> = member.owned.difference(&member.target).copied().collect();
        let assigned: Vec<u32> =
            member.target.iter().copied().filter(|p| !member.owned.contains(p) && !taken.contains(p)).collect();
        member.releasing.extend(&revoked);
        member.owned.extend(&assigned);
        let mut changes = Vec::new();
        if !revoked.is_empty() {
            changes.push(OwnershipChange::Revoked(revoked));
        }
        if !assigned.is_empty() {
            changes.push(OwnershipChange::Assigned(assigned));
        }
        Synced { changes, released: !released.is_empty() }
    }

    /// Computes new targets: each member keeps partitions up to a fair share, the rest goes to those with fewest.
    fn rebalance(&mut self) {
        let count = self.members.len();
        if count == 0 {
            return;
        }
        let (share, extra) = (self.partitions as usize / count, self.partitions as usize % count);
        let mut free: BTreeSet<u32> = (0..self.partitions).collect();
        // Members with most partitions get the larger shares, so that as few partitions as possible move.
        let mut order: Vec<MemberId> = self.members.keys().copied().collect();
        order.sort_by_key(|id| (std::cmp::Reverse(self.members[id].owned.len()), *id));
        for (rank, id) in order.iter().enumerate() {
            let room = share + usize::from(rank < extra);
            let member = self.members.get_mut(id).expect("listed above");
            member.target =
                member.owned.iter().copied().filter(|partition| free.contains(partition)).take(room).collect();
            free.retain(|partition| !member.target.contains(partition));
        }
        for (rank, id) in order.iter().enumerate() {
            let room = share + usize::from(rank < extra);
            let member = self.members.get_mut(id).expect("listed above");
            while member.target.len() < room {
                let partition = free.pop_first().expect("shares add up to the number of partitions");
                member.target.insert(partition);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_second_member_takes_half_after_the_first_lets_go() {
        let mut group = ConsumerGroup::new(4);
        group.join(1, "a");
        assert_eq!(group.sync(1).changes, [OwnershipChange::Assigned(vec![0, 1, 2, 3])]);
        group.join(2, "b");
        assert_eq!(group.sync(2).changes, [], "nothing is free yet");
        assert_eq!(group.sync(1).changes, [OwnershipChange::Revoked(vec![2, 3])]);
        assert!(!group.owns(1, 2));
        assert_eq!(group.sync(2).changes, [], "the first has not closed them yet");
        assert_eq!(group.sync(1).changes, []);
        assert_eq!(group.sync(2).changes, [OwnershipChange::Assigned(vec![2, 3])]);
        group.leave(1);
        assert_eq!(group.sync(2).changes, [OwnershipChange::Assigned(vec![0, 1])]);
    }

    #[test]
    fn a_second_member_of_the_same_name_fences_the_first() {
        let mut group = ConsumerGroup::new(2);
        group.join(1, "a");
        group.sync(1);
        group.join(2, "a");
        assert!(!group.contains(1) && !group.owns(1, 0));
        assert_eq!(group.sync(2).changes, [OwnershipChange::Assigned(vec![0, 1])]);
    }

    proptest! {
        #[test]
        fn every_partition_ends_with_one_owner_and_shares_differ_by_at_most_one(
            partitions in 1u32..20,
            moves in proptest::collection::vec((0u64..6, any::<bool>()), 1..30),
        ) {
            let mut group = ConsumerGroup::new(partitions);
            let mut present = BTreeSet::new();
            for (id, joins) in moves {
                if joins && present.insert(id) {
                    group.join(id, &id.to_string());
                } else if !joins && present.remove(&id) {
                    group.leave(id);
                }
            }
            for _ in 0..3 {
                for &id in &present {
                    group.sync(id);
                }
            }
            let shares: Vec<usize> = present.iter().map(|&id| group.owned(id).len()).collect();
            if let (Some(least), Some(most)) = (shares.iter().min(), shares.iter().max()) {
                prop_assert_eq!(shares.iter().sum::<usize>(), partitions as usize);
                prop_assert!(most - least <= 1);
            }
        }
    }
}
