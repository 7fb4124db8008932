//! Partitions whose records Kafka withholds behind a transaction that stays open.
//!
//! A reader of committed records waits at the first record of the oldest open transaction. Kafka ends transactions that are
//! older than their timeout. One that it has lost sight of stays open for ever: Kafka 4.3, for example, forgets partitions that
//! are without a leader at the moment when it aborts, as those of a single node are while it starts after a crash. The reader
//! then sees nothing any more, and its backlog counts nothing.

use super::KafkaMember;
use crate::reader::list_offsets;
use rdkafka::Offset;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;
use tracing::{info, warn};

/// A partition counts as withheld if nothing of it was released for this many timeouts of a transaction.
const TIMEOUTS: u32 = 4;

/// Where committed and all records of partitions end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ends {
    committed: u64,
    written: u64,
}

/// The ends at the last check, and the partitions found withheld. Callers pass the current time.
#[derive(Debug)]
pub(super) struct Withheld {
    checked_at: Instant,
    ends: BTreeMap<u32, Ends>,
    withheld: BTreeSet<u32>,
}

impl Withheld {
    pub(super) fn new(now: Instant) -> Self {
        Self { checked_at: now, ends: BTreeMap::new(), withheld: BTreeSet::new() }
    }

    /// Notes the ends of the owned partitions. Returns those found withheld for the first time, and those released since.
    fn check(&mut self, ends: &BTreeMap<u32, Ends>, now: Instant) -> (Vec<u32>, Vec<u32>) {
        self.checked_at = now;
        let is_still = |(partition, ends): &(&u32, &Ends)| {
            let was_open = |before: &&Ends| before.committed == ends.committed && before.written > before.committed;
            ends.written > ends.committed && self.ends.get(*partition).as_ref().is_some_and(was_open)
        };
        let withheld: BTreeSet<u32> = ends.iter().filter(is_still).map(|(partition, _)| *partition).collect();
        let found = withheld.difference(&self.withheld).copied().collect();
        let released = self.withheld.difference(&withheld).filter(|was| ends.contains_key(was)).copied().collect();
        self.ends.clone_from(ends);
        self.withheld = withheld;
        (found, released)
    }
}

impl KafkaMember {
    /// Looks from time to time whether records of owned partitions are withheld, and warns once of each partition.
    pub(super) fn check_withheld(&mut self) {
        let every = TIMEOUTS * self.cluster.settings.kafka.transaction_timeout;
        let now = Instant::now();
        if now.saturating_duration_since(self.withheld.checked_at) < every {
            return;
        }
        // A question that gets no answer is put again later; others complain of that.
        let ends = self.ends().unwrap_or_default();
        let (found, released) = self.withheld.check(&ends, now);
        for partition in found {
            let (topic, group) = (&*self.input, &*self.group);
            let offset = ends.get(&partition).map_or(0, |ends| ends.committed);
            warn!(
                topic,
                partition,
                offset,
                group,
                "Kafka withholds all records from this offset on, because a transaction has been open there for longer than \
                 kafka.transaction_timeout allows. If it stays so, find it with kafka-transactions.sh find-hanging and end it with \
                 kafka-transactions.sh abort"
            );
        }
        for partition in released {
            info!(topic = &*self.input, partition, "Kafka gives out the records again");
        }
    }

    /// Partitions whose records are withheld, in words.
    pub(super) fn withheld_in_words(&self) -> Option<String> {
        let partition = self.withheld.withheld.first()?;
        let more = match self.withheld.withheld.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more partitions"),
        };
        Some(format!(
            "Kafka withholds the records of {}-{partition}{more} behind a transaction that nobody ends; end it with \
             kafka-transactions.sh abort",
            self.input
        ))
    }

    fn ends(&self) -> Option<BTreeMap<u32, Ends>> {
        let owned: Vec<u32> = self.owned.keys().copied().collect();
        let end_in =
            |view: &crate::view::View| view.ask(|view| list_offsets(view, &self.input, &owned, Offset::End)).ok();
        // First what was committed, so that a transaction that ends in between withholds nothing.
        let committed = end_in(&self.cluster.committed_view)?;
        let written = end_in(&self.cluster.uncommitted_view)?;
        let both = committed.into_iter().filter_map(|(partition, committed)| {
            Some((partition, Ends { committed, written: *written.get(&partition)? }))
        });
        Some(both.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_partition_is_withheld_when_two_checks_find_the_same_end_before_later_records() {
        let start = Instant::now();
        let at = |minutes: u64| start + Duration::from_secs(60 * minutes);
        let ends = |all: &[(u64, u64)]| -> BTreeMap<u32, Ends> {
            (0..).zip(all.iter().map(|&(committed, written)| Ends { committed, written })).collect()
        };
        let none = (Vec::new(), Vec::new());
        let mut withheld = Withheld::new(start);
        // 0: idle. 1: transactions come and go. 2: one stays.
        assert_eq!(withheld.check(&ends(&[(5, 5), (10, 12), (7, 9)]), at(1)), none);
        assert_eq!(withheld.check(&ends(&[(5, 5), (20, 21), (7, 30)]), at(2)), (vec![2], vec![]));
        assert_eq!(withheld.check(&ends(&[(5, 5), (30, 31), (7, 40)]), at(3)), none, "it is warned of once");
        assert_eq!(withheld.check(&ends(&[(6, 6), (40, 41), (41, 41)]), at(4)), (vec![], vec![2]));
        // A partition that was lost is neither.
        assert_eq!(withheld.check(&ends(&[(6, 8)]), at(5)), none, "a transaction has just begun");
        assert_eq!(withheld.check(&ends(&[(6, 8)]), at(6)), (vec![0], vec![]));
        assert_eq!(withheld.check(&BTreeMap::new(), at(7)), none);
    }
}
