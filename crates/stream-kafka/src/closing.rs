//! A client whose end has a deadline.

use std::ops::Deref;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tracing::warn;

/// Something of librdkafka's that waits in its drop, and is left behind when that takes too long.
///
/// A consumer that closes serves the rebalances that still wait for it, and each asks the thread that runs its group.
/// That thread throws a question away unanswered when the group has ended in the meantime (librdkafka 2.12,
/// `rd_kafka_cgrp_op_serve`), and the asker waits for ever. By then the group has let the member go, so nothing is lost
/// but the memory of it.
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
        self.client.as_ref().expect("it is taken only by the drop")
    }
}

impl<T: Send> Drop for Closing<T> {
    fn drop(&mut self) {
        let (ended, wait) = mpsc::channel();
        let client = self.client.take();
        let close = move || {
            drop(client);
            // Nobody may wait any more.
            let _ = ended.send(());
        };
        // Without a thread the closure, and the client with it, has been dropped here.
        if thread::Builder::new().name("kafka-close".to_owned()).spawn(close).is_ok()
            && wait.recv_timeout(self.timeout) == Err(mpsc::RecvTimeoutError::Timeout)
        {
            warn!(timeout = ?self.timeout, "a consumer did not close in time and is left behind");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends when it is told to.
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
    fn one_that_closes_is_waited_for() {
        let (release, released) = mpsc::channel();
        let (say, said) = mpsc::channel();
        release.send(()).unwrap();
        drop(Closing::new(Waits(released, say), Duration::from_secs(60)));
        assert_eq!(said.try_recv(), Ok("closed"));
    }
}
