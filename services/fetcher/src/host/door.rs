//! The door that every request passes, whichever host it goes to: the host's turn, the turn of the address that it
//! shares with others, and a place among the connections.

use super::{HostWorker, NO_VALIDATORS, Turn, known_to};
use crate::challenge::kept_out;
use crate::exchange::{Unanswered, get};
use crate::gate::HostGate;
use crate::identity::ACCEPT_SIGNATURE;
use crate::job::FetchJob;
use crate::outcome::{is_refusal, is_unsent};
use crate::pool::CONNECTION_REST;
use crate::request::RequestedResource;
use crate::response::{FetchFailure, OwnCause, Response};
use crate::route::{in_scope, shared_address};
use crate::steps::SentFor;
use hyper::{StatusCode, header};
use messages::{FetchOutcome, FetchReason, Validators};
use page::{CanonicalUrl, Timestamp};
use std::time::Duration;

/// Time until a page is asked for again whose browser did not run.
const BROWSER_REST: Duration = Duration::from_secs(60);

/// The object of a request: a page, or a robots.txt.
#[derive(Clone, Copy)]
pub(super) enum Errand<'a> {
    /// The page of the job.
    Page,
    /// A part of it, for the browser that renders it.
    Part {
        /// The validators of an earlier answer.
        known: &'a Validators,
        accept: Option<&'a str>,
    },
    /// The robots.txt of this URL's origin.
    Robots { of: &'a CanonicalUrl },
}

/// Why a request is not sent although it is its turn.
pub(super) enum Unsent {
    /// The host refused another request and rests until then.
    LeftAlone(Timestamp),
    /// The lease has expired: the scheduler may have sent the request again.
    PastLease,
    /// An operator blocked or paused the host.
    HostStopped,
    /// Nothing is sent any more, or not before another epoch.
    Drained,
    /// There was no open file for a connection.
    NoFile(String),
    /// The browser for it did not start, or ended for another reason than the page.
    NoBrowser(String),
    /// Another worker has fetched the robots.txt meanwhile.
    RobotsKnown,
    /// The fetcher of another site asks for its robots.txt.
    RobotsElsewhere,
    /// The job is on an errand to the fetcher of another site.
    Errand,
}

/// A request that was sent.
pub(super) struct Asked {
    pub(super) fetched_at: Timestamp,
    pub(super) latency: Duration,
    pub(super) answer: Result<Response, FetchFailure>,
}

impl HostWorker {
    /// Sends one request of a job, in its turn.
    pub(super) async fn ask(
        &mut self,
        at: &CanonicalUrl,
        errand: Errand<'_>,
        job: &mut FetchJob,
    ) -> Result<Asked, Unsent> {
        let network = self.network.clone();
        let is_own = at.host_name() == self.name;
        let gate = if is_own { self.gate.clone() } else { network.gates.of(at.host_name()) };
        if let Err(failure) = in_scope(at, &network).await {
            return Ok(Asked { fetched_at: self.clock.now(), latency: Duration::ZERO, answer: Err(failure) });
        }
        let mut was_refused = false;
        let mut was_signed_as_asked = false;
        loop {
            if let Some(why) = self.unsent(job, at, &gate) {
                return Err(why);
            }
            let delay = self.delay(at, &gate, job);
            if is_own {
                gate.set_delay(delay);
            } else {
                gate.raise_delay(delay);
            }
            let not_before = if is_own { job.request.not_before } else { Timestamp::MIN };
            let is_far = self.clock.to_real(gate.time_to_turn(not_before)) > CONNECTION_REST;
            if !is_own || is_far && network.places.are_short() {
                // Others can use the place until the turn comes.
                self.rest();
            } else if !self.has_place() {
                self.try_take_place();
            }
            let mut turn = gate.turn(not_before).await;
            if network.addresses.lets_wait()
                && let Some(address) = shared_address(at, &network).await
            {
                network.addresses.wait(address).await;
            }
            // No worker waits for a place while it has the turn of a host.
            let _place = if is_own {
                if !self.has_place() && !self.try_take_place() {
                    drop(turn);
                    self.take_place().await;
                    continue;
                }
                None
            } else {
                let Some(place) = network.places.try_elsewhere() else {
                    drop(turn);
                    drop(network.places.elsewhere().await);
                    continue;
                };
                Some(place)
            };
            if let Some(why) = self.unsent(job, at, &gate) {
                return Err(why);
            }
            if let Errand::Robots { of } = errand
                && !network.robots.is_due(of, self.clock.now())
            {
                return Err(Unsent::RobotsKnown);
            }
            self.on_the_wire = network.traffic.go_out();
            if self.on_the_wire.is_none() {
                return Err(Unsent::Drained);
            }
            job.waiting = None;
            job.goes_out(network.crashes.as_ref());
            job.was_sent |= matches!(errand, Errand::Page);
            turn.is_used();
            let fetched_at = self.clock.now();
            let started = self.clock.monotonic();
            let wanted = match errand {
                // A probe asks whether the page itself differs, which a cache cannot answer.
                Errand::Page => RequestedResource::Page {
                    known: if network.browsers.may_render(&job.request.url) { &NO_VALIDATORS } else { known_to(job) },
                    fresh: job.request.reason == FetchReason::Probe,
                    headers: network.rules.headers_of(at),
                },
                Errand::Part { known, accept } => {
                    RequestedResource::Part { known, accept, headers: network.rules.headers_of(at) }
                }
                Errand::Robots { .. } => RequestedResource::Robots,
            };
            let mut elsewhere = None;
            let connection = if is_own { self.origins.connection(at) } else { &mut elsewhere };
            let mut connecting = None;
            let answer = get(at, wanted, connection, &network, &mut connecting).await;
            if let Some(steps) = &mut job.steps {
                let sent = SentFor { url: at, is_robots: matches!(errand, Errand::Robots { .. }), sent_at: fetched_at };
                steps.came_of(sent, connecting, &answer, self.clock.now());
            }
            let waited = answer.as_ref().map_or(Duration::ZERO, |response| response.waited);
            let latency = self.clock.monotonic().saturating_sub(started + waited);
            if matches!(errand, Errand::Page) {
                gate.took(latency);
            }
            drop(turn);
            let answer = match answer {
                Ok(mut response) => {
                    let may_change = network.signer.heeds(at, response.headers_named(ACCEPT_SIGNATURE))
                        && is_unsigned(response.status);
                    if may_change && !was_signed_as_asked {
                        was_signed_as_asked = true;
                        let is_wanted = matches!(errand, Errand::Page) || network.rules.fetch.record_failures;
                        if let Some(record) = response.record.take().filter(|_| is_wanted) {
                            job.record(record, at, self.clock.now(), false);
                        }
                        self.ask_again(job, errand, response.wire_bytes);
                        continue;
                    }
                    if is_refusal(response.status.as_u16()) || kept_out(&response).is_some() {
                        let rest = self.retry_after(&response).unwrap_or(network.rules.refusal_rest);
                        gate.leave_alone_until(self.clock.now() + rest);
                    }
                    Ok(response)
                }
                Err(Unanswered::Unseen(failure)) => {
                    self.ask_again(job, errand, failure.wire_bytes);
                    continue;
                }
                Err(Unanswered::Refused(failure)) if !was_refused => {
                    was_refused = true;
                    self.ask_again(job, errand, failure.wire_bytes);
                    continue;
                }
                Err(Unanswered::Failed(FetchFailure { ours: Some(cause), detail, .. })) => {
                    return Err(match cause {
                        // It is asked for again after the restart.
                        OwnCause::Stops => Unsent::Drained,
                        OwnCause::NoFile => {
                            job.did_not_go_out();
                            Unsent::NoFile(detail)
                        }
                    });
                }
                Err(Unanswered::Refused(failure) | Unanswered::Failed(failure)) => {
                    if is_unsent(&failure) {
                        job.did_not_go_out();
                    }
                    Err(failure)
                }
            };
            return Ok(Asked { fetched_at, latency, answer });
        }
    }

    /// Ends an exchange of a job whose request is sent once more. The bytes received are paid.
    fn ask_again(&mut self, job: &mut FetchJob, errand: Errand<'_>, wire_bytes: u64) {
        match errand {
            Errand::Page | Errand::Part { .. } => job.wire_bytes += wire_bytes,
            Errand::Robots { .. } => job.robots_bytes += wire_bytes,
        }
        self.wait_again(job);
    }

    /// Ends one exchange of a job that needs another.
    pub(super) fn wait_again(&mut self, job: &mut FetchJob) {
        job.waiting = Some(self.network.traffic.enter(self.clock.monotonic()));
        self.on_the_wire = None;
    }

    pub(super) fn retry_after(&self, response: &Response) -> Option<Duration> {
        let value = response.header(header::RETRY_AFTER)?;
        politeness::retry_after(&value, self.clock.now())
    }

    /// Time between two requests to a host. What the scheduler asks for holds for the page's own host only.
    fn delay(&self, at: &CanonicalUrl, gate: &HostGate, job: &FetchJob) -> Duration {
        let robots = self.network.robots.crawl_delay_of_host(at.host_name());
        let delay = self.network.rules.delay_of(at.host_name()).delay_after(robots, gate.last_latency()).as_duration();
        let requested = job.request.crawl_delay_ms.filter(|_| at.host_name() == job.request.url.host_name());
        delay.max(Duration::from_millis(requested.unwrap_or_default().max(0) as u64))
    }

    /// Why a request must not be sent to the host of an address now.
    fn unsent(&self, job: &FetchJob, at: &CanonicalUrl, gate: &HostGate) -> Option<Unsent> {
        if self.network.traffic.drops_jobs() {
            return Some(Unsent::Drained);
        }
        if self.network.is_stopped(at.host_name()) {
            return Some(Unsent::HostStopped);
        }
        let now = self.clock.now();
        // Applies also to requests handed out before the host refused another.
        let until = gate.left_alone_until();
        if until > now.max(job.request.not_before) {
            return Some(Unsent::LeftAlone(until));
        }
        (!job.was_sent && job.request.lease_until <= now).then_some(Unsent::PastLease)
    }

    /// Answers a request that was not sent. This does not count as a failure of its page
    /// ([`Look::was_not_sent`](messages::Look::was_not_sent)).
    pub(super) fn given_up(&self, job: Box<FetchJob>, why: &Unsent) -> Turn {
        let now = self.clock.now();
        let (until, detail) = match why {
            Unsent::Drained => return Turn::Drained,
            Unsent::RobotsElsewhere => return Turn::Wait { job },
            Unsent::Errand => return self.hand_over(job, true),
            Unsent::LeftAlone(until) => {
                (*until, format!("the host refused another request and is not asked again before {until}"))
            }
            Unsent::HostStopped => (now, "an operator blocked or paused the host".to_owned()),
            Unsent::PastLease => (now, format!("its lease ended at {}", job.request.lease_until)),
            Unsent::NoFile(detail) => {
                self.network.warn_of_files();
                (now, format!("no open file was left for a connection: {detail}"))
            }
            Unsent::NoBrowser(detail) => (now + BROWSER_REST, detail.clone()),
            Unsent::RobotsKnown => (now, "its robots.txt has come meanwhile".to_owned()),
        };
        let failure = FetchFailure::new(FetchOutcome::RateLimited, format!("not sent: {detail}"));
        Turn::Done(self.unsent_until(until.max(job.request.not_before), job, failure))
    }
}

/// Whether a status refuses a request that is not signed, or not as the site asks (draft of Web Bot Auth, section 4.3).
fn is_unsigned(status: StatusCode) -> bool {
    matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Network;
    use crate::rules::FetcherRules;
    use messages::FetchRequest;
    use settings::{Layers, Settings};
    use std::io;
    use std::rc::Rc;
    use std::sync::Arc;
    use stream::{Clock, RequestTag};
    use stream_testing::ManualClock;

    #[test]
    fn a_request_without_an_open_file_says_nothing_of_its_host() {
        // A refused connection stands for the fault of our own.
        let has_no_file_left = |error: &io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
        let set = [("fetch.resolve", "*.test=127.0.0.1:1"), ("fetch.connect_timeout", "1s")];
        let set = set.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let settings = Settings::from_layers(Layers { files: &[], environment: [], overrides: &set }).unwrap();
        let clock = ManualClock::at(Timestamp::from_secs(1_000));
        let rules = Arc::new(FetcherRules::new(&settings).unwrap());
        let network = Rc::new(Network { has_no_file_left, ..Network::new(rules, clock.clone()) });
        let url = CanonicalUrl::parse("http://a.test/page").unwrap();
        let request = FetchRequest::first(url.clone(), clock.now());
        let job = FetchJob::new(RequestTag { partition: 0, offset: 0, timestamp: Timestamp::MIN, epoch: 0 }, request);
        let mut worker = HostWorker::new("a.test", network.clone(), clock);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let Turn::Done(done) = runtime.block_on(worker.work(Box::new(job))) else { panic!("it has an answer") };
        let look = &done.result.look;
        assert!(look.was_not_sent() && !look.is_fetch(), "{look:?}");
        assert_eq!((look.requests, look.retry_after_s), (0, None), "the host need not rest");
        let detail = done.result.detail.as_deref().unwrap_or_default();
        assert!(detail.contains("no open file was left"), "{detail}");
        assert!(network.robots.entry(&url).is_none(), "its robots.txt is not unreachable");
    }
}
