//! Assignments of partitions, and how what is under way for one that was taken away is given up.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use tokio::sync::Notify;

/// Assignments whose jobs are worked on.
#[derive(Default)]
pub(crate) struct Epochs {
    live: RefCell<BTreeSet<u64>>,
    /// How many jobs of each are under way.
    busy: RefCell<HashMap<u64, usize>>,
    withdrawal: Notify,
}

impl Epochs {
    /// Lets jobs of an epoch be worked on.
    pub(crate) fn begin(&self, epoch: u64) {
        self.live.borrow_mut().insert(epoch);
    }

    fn is_live(&self, epoch: u64) -> bool {
        self.live.borrow().contains(&epoch)
    }

    /// Ends when an epoch is withdrawn.
    async fn withdrawn(&self, epoch: u64) {
        loop {
            let notified = self.withdrawal.notified();
            if !self.is_live(epoch) {
                return;
            }
            notified.await;
        }
    }

    /// Ends when nothing of these epochs is under way, and nothing more will be.
    pub(crate) async fn withdraw(&self, epochs: &[u64]) {
        self.live.borrow_mut().retain(|epoch| !epochs.contains(epoch));
        self.withdrawal.notify_waiters();
        while epochs.iter().any(|epoch| self.busy.borrow().contains_key(epoch)) {
            tokio::task::yield_now().await;
        }
    }

    /// Does some work of an epoch, unless that is withdrawn meanwhile.
    pub(crate) async fn unless_withdrawn<T>(&self, epoch: u64, work: impl Future<Output = T>) -> Option<T> {
        *self.busy.borrow_mut().entry(epoch).or_default() += 1;
        let done = tokio::select! {
            biased;
            () = self.withdrawn(epoch) => None,
            done = work => Some(done),
        };
        let mut busy = self.busy.borrow_mut();
        let count = busy.get_mut(&epoch).expect("counted above");
        *count -= 1;
        if *count == 0 {
            busy.remove(&epoch);
        }
        done
    }
}
