//! A channel for answers from the network thread. Answers are handed over in batches, because waking a thread costs
//! about as much as fetching a page.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Number of waiting answers at which the receiver is woken, even if the sender is still busy.
const HANDED_OVER_AT: usize = 64;

struct SharedAnswers<T> {
    state: Mutex<AnswerQueue<T>>,
    handed_over: Condvar,
}

struct AnswerQueue<T> {
    waiting: VecDeque<T>,
    /// Whether the receiver sleeps until the next hand-over.
    is_wanted: bool,
    is_closed: bool,
}

impl<T> SharedAnswers<T> {
    fn state(&self) -> MutexGuard<'_, AnswerQueue<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hand_over(&self, state: &mut AnswerQueue<T>) {
        if std::mem::take(&mut state.is_wanted) {
            self.handed_over.notify_one();
        }
    }
}

/// The network thread's end. Dropping it closes the channel.
pub(crate) struct Sender<T>(Arc<SharedAnswers<T>>);

/// Hands over the answers sent so far. Called when the sender's thread has nothing else to do.
pub(crate) struct HandOver<T>(Arc<SharedAnswers<T>>);

pub(crate) struct Receiver<T> {
    shared: Arc<SharedAnswers<T>>,
    /// Answers handed over and not yet received.
    taken: VecDeque<T>,
}

pub(crate) fn channel<T>() -> (Sender<T>, HandOver<T>, Receiver<T>) {
    let state = AnswerQueue { waiting: VecDeque::new(), is_wanted: false, is_closed: false };
    let shared = Arc::new(SharedAnswers { state: Mutex::new(state), handed_over: Condvar::new() });
    (Sender(shared.clone()), HandOver(shared.clone()), Receiver { shared, taken: VecDeque::new() })
}

impl<T> Sender<T> {
    /// Sends an answer. The receiver gets it at the next [hand-over](HandOver::now) at the latest.
    pub(crate) fn send(&self, answer: T) {
        let mut state = self.0.state();
        state.waiting.push_back(answer);
        if state.waiting.len() >= HANDED_OVER_AT {
            self.0.hand_over(&mut state);
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_closed = true;
        self.0.hand_over(&mut state);
    }
}

impl<T> HandOver<T> {
    pub(crate) fn now(&self) {
        let mut state = self.0.state();
        if !state.waiting.is_empty() {
            self.0.hand_over(&mut state);
        }
    }
}

impl<T> Receiver<T> {
    /// Returns the next answer, in the order of sending. Returns `None` on a timeout or when the sender is gone.
    pub(crate) fn receive(&mut self, patience: Duration) -> Option<T> {
        if self.taken.is_empty() {
            let mut state = self.shared.state();
            if state.waiting.is_empty() && !state.is_closed && !patience.is_zero() {
                state.is_wanted = true;
                let waited = self.shared.handed_over.wait_timeout_while(state, patience, |state| state.is_wanted);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
                state.is_wanted = false;
            }
            std::mem::swap(&mut self.taken, &mut state.waiting);
        }
        self.taken.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    #[test]
    fn whoever_waits_is_woken_by_a_full_hand_by_a_pause_and_by_the_end() {
        let (sender, hand_over, mut receiver) = channel();
        let shared = sender.0.clone();
        let is_wanted = || shared.state().is_wanted;
        let wanted = || {
            while !is_wanted() {
                std::thread::yield_now();
            }
        };
        std::thread::scope(|scope| {
            let received = scope.spawn(move || {
                let first = receiver.receive(PATIENCE);
                let rest: Vec<_> = std::iter::from_fn(|| receiver.receive(PATIENCE)).collect();
                (first, rest)
            });
            wanted();
            sender.send(0);
            assert!(is_wanted(), "woken for one answer");
            (1..HANDED_OVER_AT).for_each(|answer| sender.send(answer));
            wanted();
            sender.send(HANDED_OVER_AT);
            hand_over.now();
            wanted();
            sender.send(HANDED_OVER_AT + 1);
            drop(sender);
            let (first, rest) = received.join().unwrap();
            assert_eq!((first, rest), (Some(0), (1..=HANDED_OVER_AT + 1).collect()));
        });
    }

    #[test]
    fn what_is_there_is_received_without_waiting_and_nothing_is_waited_for_no_longer_than_allowed() {
        let (sender, _hand_over, mut receiver) = channel();
        assert_eq!(receiver.receive(Duration::from_millis(1)), None);
        sender.send('a');
        assert_eq!(receiver.receive(Duration::ZERO), Some('a'));
        assert_eq!(receiver.receive(Duration::ZERO), None);
    }
}
