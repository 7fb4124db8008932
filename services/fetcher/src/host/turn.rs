//! Waiting for a job's turn at its host, and what is not sent although the turn has come.

use super::{HostWorker, Turn};
use crate::exchange::Failure;
use crate::pool::Job;
use crate::route::shared_address;
use messages::FetchOutcome;
use std::time::Duration;

/// Why a request is not sent although its turn has come.
pub(super) enum Unsent {
    /// The host refused another one, and is still left alone for so long.
    LeftAlone(Duration),
    /// The scheduler has given it up, and may have made it anew.
    PastLease,
    /// The pool is being drained.
    Drained,
}

impl HostWorker {
    /// Waits for a job's turn. From then on it is on the wire, unless there is a reason not to send it.
    pub(super) async fn go_out(&mut self, job: &mut Job) -> Option<Unsent> {
        self.wait(job).await;
        if let Some(why) = self.unsent(job) {
            return Some(why);
        }
        self.on_the_wire = self.network.traffic.go_out();
        job.waiting = None;
        self.on_the_wire.is_none().then_some(Unsent::Drained)
    }

    /// An exchange is over, and there is another to come.
    pub(super) fn wait_again(&mut self, job: &mut Job) {
        job.waiting = Some(self.network.traffic.enter(self.clock.monotonic()));
        self.on_the_wire = None;
    }

    /// Waits until the host may be asked, and the address that it shares with others.
    async fn wait(&self, job: &Job) {
        self.gate.wait(job.request.not_before).await;
        if self.network.addresses.lets_wait()
            && let Some(address) = shared_address(&job.at, &self.network).await
        {
            self.network.addresses.wait(address).await;
        }
    }

    /// Why a request should not be sent now, if there is a reason.
    pub(super) fn unsent(&self, job: &Job) -> Option<Unsent> {
        if self.network.traffic.is_draining() {
            return Some(Unsent::Drained);
        }
        let now = self.clock.now();
        // Also a request that was handed out before the host refused another.
        let rest = self.left_alone_until.saturating_since(now.max(job.request.not_before));
        if !rest.is_zero() {
            return Some(Unsent::LeftAlone(rest));
        }
        // One that was sent and redirected is worth its answer.
        (job.hops.is_empty() && job.request.lease_until <= now).then_some(Unsent::PastLease)
    }

    /// A request that is not sent is answered as such, which is no failure of its page ([`Look::was_not_sent`](messages::Look::was_not_sent)).
    pub(super) fn given_up(&self, job: Box<Job>, why: &Unsent) -> Turn {
        let (rest, detail) = match why {
            Unsent::Drained => return Turn::Drained,
            Unsent::LeftAlone(rest) => {
                (*rest, format!("the host refused another request and is left alone until {}", self.left_alone_until))
            }
            Unsent::PastLease => (Duration::ZERO, format!("its lease ended at {}", job.request.lease_until)),
        };
        let failure = Failure::new(FetchOutcome::RateLimited, format!("not sent: {detail}"));
        let mut done = self.failed(job, self.clock.now(), Duration::ZERO, failure);
        done.result.look.retry_after_s = (!rest.is_zero()).then(|| rest.as_secs_f64().ceil() as i64);
        Turn::Done(done)
    }
}
