//! Calls of librdkafka that may block for ever. Each runs on its own thread, which is abandoned if it does.

use std::ops::Deref;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tracing::warn;

/// A librdkafka object whose drop may block; it is abandoned if that takes too long.
///
/// A consumer that closes serves its pending rebalances, and each sends a request to the thread that runs its group. If
/// the group has ended in the meantime, that thread discards the request unanswered (librdkafka 2.12,
/// `rd_kafka_cgrp_op_serve`), and the sender waits for ever. By then the member has left the group, so only memory is
/// lost.
pub(crate) struct Closing<T: Send + 'static> {
    client: Option<T>,
    timeout: Duration,
}

impl<T: Send> Closing<T> {
    pub(crate) fn new(client: T, timeout: Duration) -> Self {
        Self { client: Some(client), timeout }
    }
}

impl<T: Send> Deref for Closing<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.client.as_ref().expect("only drop takes the client")
    }
}

impl<T: Send> Drop for Closing<T> {
    fn drop(&mut self) {
        let client = self.client.take();
        // If no thread could be started, the client was dropped together with the closure.
        if let Err(Unanswered::Late) = within(self.timeout, move || drop(client)) {
            warn!(timeout = ?self.timeout, "a consumer did not close in time and is abandoned");
        }
    }
}

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// The system could not start a thread; nothing was called.
    NoThread,
    /// The call is still running and keeps everything it uses.
    Late,
}

/// Runs a call on its own thread and waits at most `timeout` for it.
pub(crate) fn within<T: Send + 'static>(
    timeout: Duration,
    call: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Unanswered> {
    let (answer, answered) = mpsc::channel();
    let call = move || {
        // The caller may have stopped waiting.
        let _ = answer.send(call());
    };
    thread::Builder::new().name("kafka-call".to_owned()).spawn(call).map_err(|_| Unanswered::NoThread)?;
    answered.recv_timeout(timeout).map_err(|_| Unanswered::Late)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks until the test releases it.
    struct Waits(mpsc::Receiver<()>, mpsc::Sender<&'static str>);

    impl Drop for Waits {
        fn drop(&mut self) {
            let _ = self.0.recv();
            let _ = self.1.send("closed");
        }
    }

    #[test]
    fn one_that_never_closes_is_left_behind() {
        let (release, released) = mpsc::channel();
        let (say, said) = mpsc::channel();
        drop(Closing::new(Waits(released, say), Duration::from_millis(1)));
        assert_eq!(said.try_recv(), Err(mpsc::TryRecvError::Empty));
        release.send(()).unwrap();
        assert_eq!(said.recv_timeout(Duration::from_secs(60)), Ok("closed"));
    }

    #[test]
    fn a_call_that_never_ends_is_left_behind() {
        let (release, released) = mpsc::channel::<()>();
        assert_eq!(within(Duration::from_millis(1), move || released.recv()), Err(Unanswered::Late));
        drop(release);
        assert_eq!(within(Duration::from_secs(60), || 7), Ok(7));
    }

    #[test]
    fn one_that_closes_is_waited_for() {
        let (release, released) = mpsc::channel();
        let (say, said) = mpsc::channel();
        release.send(()).unwrap();
        drop(Closing::new(Waits(released, say), Duration::from_secs(60)));
        assert_eq!(said.try_recv(), Ok("closed"));
    }
}
