//! Waits for a job's turn at its host, and drops requests that must no longer be sent.

use super::{HostWorker, Turn};
use crate::pool::FetchJob;
use crate::response::FetchFailure;
use crate::route::shared_address;
use messages::FetchOutcome;
use std::time::Duration;

/// Why a request is not sent although it is its turn.
pub(super) enum Unsent {
    /// The host refused another request and rests for this long.
    LeftAlone(Duration),
    /// The lease has expired: the scheduler may have sent the request again.
    PastLease,
    /// The pool is draining.
    Drained,
}

impl HostWorker {
    /// Waits for a job's turn, then marks it as in flight. Returns the reason if it must not be sent.
    pub(super) async fn go_out(&mut self, job: &mut FetchJob) -> Option<Unsent> {
        self.wait(job).await;
        if let Some(why) = self.unsent(job) {
            return Some(why);
        }
        self.on_the_wire = self.network.traffic.go_out();
        job.waiting = None;
        self.on_the_wire.is_none().then_some(Unsent::Drained)
    }

    /// Ends one exchange of a job that needs another.
    pub(super) fn wait_again(&mut self, job: &mut FetchJob) {
        job.waiting = Some(self.network.traffic.enter(self.clock.monotonic()));
        self.on_the_wire = None;
    }

    /// Waits for the host's gate, and for that of the address it shares with others.
    async fn wait(&self, job: &FetchJob) {
        self.gate.wait(job.request.not_before).await;
        if self.network.addresses.lets_wait()
            && let Some(address) = shared_address(&job.at, &self.network).await
        {
            self.network.addresses.wait(address).await;
        }
    }

    /// Why a request must not be sent now.
    pub(super) fn unsent(&self, job: &FetchJob) -> Option<Unsent> {
        if self.network.traffic.is_draining() {
            return Some(Unsent::Drained);
        }
        let now = self.clock.now();
        // Applies also to requests handed out before the host refused another.
        let rest = self.left_alone_until.saturating_since(now.max(job.request.not_before));
        if !rest.is_zero() {
            return Some(Unsent::LeftAlone(rest));
        }
        // A redirected request has already been sent, so its answer is still useful.
        (job.hops.is_empty() && job.request.lease_until <= now).then_some(Unsent::PastLease)
    }

    /// Answers a request that was not sent. This does not count as a failure of its page
    /// ([`Look::was_not_sent`](messages::Look::was_not_sent)).
    pub(super) fn given_up(&self, job: Box<FetchJob>, why: &Unsent) -> Turn {
        let (rest, detail) = match why {
            Unsent::Drained => return Turn::Drained,
            Unsent::LeftAlone(rest) => (
                *rest,
                format!("the host refused another request and is not asked again before {}", self.left_alone_until),
            ),
            Unsent::PastLease => (Duration::ZERO, format!("its lease ended at {}", job.request.lease_until)),
        };
        let failure = FetchFailure::new(FetchOutcome::RateLimited, format!("not sent: {detail}"));
        let mut done = self.failed(job, self.clock.now(), Duration::ZERO, failure);
        done.result.look.retry_after_s = (!rest.is_zero()).then(|| rest.as_secs_f64().ceil() as i64);
        Turn::Done(done)
    }
}
