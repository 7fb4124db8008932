//! Tracks partition assignments and cancels the jobs of an assignment that is withdrawn.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use tokio::sync::Notify;

/// The live assignments (epochs).
#[derive(Default)]
pub(crate) struct Epochs {
    live: RefCell<BTreeSet<u64>>,
    /// Number of jobs under way per epoch.
    busy: RefCell<HashMap<u64, usize>>,
    withdrawal: Notify,
}

impl Epochs {
    pub(crate) fn begin(&self, epoch: u64) {
        self.live.borrow_mut().insert(epoch);
    }

    fn is_live(&self, epoch: u64) -> bool {
        self.live.borrow().contains(&epoch)
    }

    /// Completes when the epoch is withdrawn.
    async fn withdrawn(&self, epoch: u64) {
        loop {
            let notified = self.withdrawal.notified();
            if !self.is_live(epoch) {
                return;
            }
            notified.await;
        }
    }

    /// Withdraws epochs. Completes when none of their jobs is under way; none starts afterwards.
    pub(crate) async fn withdraw(&self, epochs: &[u64]) {
        self.live.borrow_mut().retain(|epoch| !epochs.contains(epoch));
        self.withdrawal.notify_waiters();
        while epochs.iter().any(|epoch| self.busy.borrow().contains_key(epoch)) {
            tokio::task::yield_now().await;
        }
    }

    /// Runs the work of an epoch. Returns `None` if the epoch is withdrawn before the work is done.
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
