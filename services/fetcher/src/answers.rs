//! A channel for answers from the network thread. Answers are handed over in batches, because waking a thread costs
//! about as much as fetching a page.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;
use std::vec::IntoIter;

/// Number of answers that are handed over even if the sender is still busy.
const HANDED_OVER_AT: usize = 64;

/// The network thread's end. Dropping it closes the channel.
pub(crate) struct Sender<T> {
    waiting: Arc<Mutex<Vec<T>>>,
    batches: mpsc::Sender<Vec<T>>,
}

pub(crate) struct Receiver<T> {
    /// Answers not yet handed over.
    waiting: Arc<Mutex<Vec<T>>>,
    batches: mpsc::Receiver<Vec<T>>,
    /// The rest of the batch received last.
    taken: IntoIter<T>,
}

pub(crate) fn channel<T>() -> (Arc<Sender<T>>, Receiver<T>) {
    let (batches, receiver) = mpsc::channel();
    let waiting = Arc::new(Mutex::new(Vec::new()));
    let sender = Sender { waiting: waiting.clone(), batches };
    (Arc::new(sender), Receiver { waiting, batches: receiver, taken: Vec::new().into_iter() })
}

fn lock<T>(waiting: &Mutex<Vec<T>>) -> MutexGuard<'_, Vec<T>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> Sender<T> {
    /// Sends an answer. A sleeping receiver gets it at the next [hand-over](Self::hand_over) at the latest.
    pub(crate) fn send(&self, answer: T) {
        let mut waiting = lock(&self.waiting);
        waiting.push(answer);
        if waiting.len() >= HANDED_OVER_AT {
            self.send_batch(&mut waiting);
        }
    }

    /// Hands over the answers sent so far. Called when the sender's thread has nothing else to do.
    pub(crate) fn hand_over(&self) {
        let mut waiting = lock(&self.waiting);
        if !waiting.is_empty() {
            self.send_batch(&mut waiting);
        }
    }

    /// The lock is held while a batch is sent, so that batches and waiting answers stay in order.
    fn send_batch(&self, waiting: &mut Vec<T>) {
        // Without a receiver, the answers are not wanted any more.
        let _ = self.batches.send(std::mem::take(waiting));
    }
}

impl<T> Receiver<T> {
    /// Returns the next answer, in the order of sending. Returns `None` on a timeout or when the sender is gone.
    pub(crate) fn receive(&mut self, patience: Duration) -> Option<T> {
        if self.taken.as_slice().is_empty() {
            let mut batch = self.sent_so_far();
            if batch.is_empty() {
                batch = self.batches.recv_timeout(patience).unwrap_or_else(|_| self.sent_so_far());
            }
            self.taken = batch.into_iter();
        }
        self.taken.next()
    }

    /// The oldest batch, or the answers not yet handed over. May be empty.
    fn sent_so_far(&self) -> Vec<T> {
        let mut waiting = lock(&self.waiting);
        self.batches.try_recv().unwrap_or_else(|_| std::mem::take(&mut waiting))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_waits_is_woken_by_a_full_batch_by_a_pause_and_by_the_end() {
        let (sender, mut receiver) = channel();
        // What a sleeping receiver would have got.
        let woken_with = |receiver: &Receiver<usize>| receiver.batches.try_recv().map(|batch| batch.len()).ok();
        (1..HANDED_OVER_AT).for_each(|answer| sender.send(answer));
        assert_eq!(woken_with(&receiver), None, "woken before the batch is full");
        sender.send(HANDED_OVER_AT);
        assert_eq!(woken_with(&receiver), Some(HANDED_OVER_AT));
        sender.hand_over();
        assert_eq!(woken_with(&receiver), None, "woken for nothing");
        sender.send(1);
        sender.hand_over();
        assert_eq!(woken_with(&receiver), Some(1));

        std::thread::scope(|scope| {
            let received =
                scope.spawn(move || std::iter::from_fn(|| receiver.receive(Duration::MAX)).collect::<Vec<_>>());
            (0..3 * HANDED_OVER_AT).for_each(|answer| sender.send(answer));
            sender.hand_over();
            sender.send(3 * HANDED_OVER_AT);
            drop(sender);
            assert_eq!(received.join().unwrap(), (0..=3 * HANDED_OVER_AT).collect::<Vec<_>>());
        });
    }

    #[test]
    fn what_is_there_is_received_without_waiting_and_nothing_is_waited_for_no_longer_than_allowed() {
        let (sender, mut receiver) = channel();
        assert_eq!(receiver.receive(Duration::from_millis(1)), None);
        sender.send('a');
        sender.hand_over();
        sender.send('b');
        let received = [(); 3].map(|()| receiver.receive(Duration::ZERO));
        assert_eq!(received, [Some('a'), Some('b'), None]);
    }
}
