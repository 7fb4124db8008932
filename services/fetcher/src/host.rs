//! The worker of one host, whatever the scheme and port: one request at a time, within the host's crawl delay.

use crate::exchange::{Unanswered, get};
use crate::gate::Gate;
use crate::host::origin::Origins;
use crate::network::Network;
use crate::outcome::{is_refusal, outcome_of, shortened};
use crate::pool::{Done, FetchJob};
use crate::request::RequestedResource;
use crate::response::{FetchFailure, Response};
use crate::robots::{redirect, refresh};
use crate::traffic::OnTheWire;
use hyper::header::{self, HeaderName};
use messages::{Digest, FetchOutcome, FetchResult, Hop, Look, Sha1, Validators};
use page::{CanonicalUrl, Timestamp};
use politeness::RobotsCacheEntry;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use stream::Clock;

mod origin;
mod turn;

/// Longest header value kept with a page. Many pages are kept.
const MAX_KEPT_HEADER: usize = 1 << 10;

/// State of a host while its worker lives.
pub(crate) struct HostWorker {
    network: Rc<Network>,
    clock: Arc<dyn Clock>,
    gate: Gate,
    origins: Origins,
    last_latency: Duration,
    /// A host that refused gets no request until then: for its `retry-after`, or else for the scheduler's least
    /// back-off.
    left_alone_until: Timestamp,
    /// The request in flight, until its answer has been received.
    on_the_wire: Option<OnTheWire>,
}

/// Result of working on a job.
pub(crate) enum Turn {
    Done(Box<Done>),
    /// The job was redirected to another host, whose worker continues it.
    HandOver(Box<FetchJob>),
    /// The job is dropped: the pool is draining.
    Drained,
}

impl HostWorker {
    pub(crate) fn new(network: Rc<Network>, clock: Arc<dyn Clock>, gate: Gate) -> Self {
        Self {
            network,
            clock,
            gate,
            origins: Origins::default(),
            last_latency: Duration::ZERO,
            left_alone_until: Timestamp::MIN,
            on_the_wire: None,
        }
    }

    /// Closes the idle connections.
    pub(crate) fn rest(&mut self) {
        self.origins.close();
    }

    /// Cancels a job midway. The connection is closed so that the rest of its exchange is not read as the next
    /// response.
    pub(crate) fn break_off(&mut self) {
        self.origins.close();
        self.gate.ended();
        self.on_the_wire = None;
    }

    /// The caller has received the last job's answer, so its request is no longer in flight.
    pub(crate) fn settled(&mut self) {
        self.on_the_wire = None;
    }

    /// The current robots.txt for a URL.
    pub(crate) fn robots(&self, url: &CanonicalUrl) -> Option<&RobotsCacheEntry> {
        self.origins.get(url)?.robots.as_ref()
    }

    /// Works on a job until it is answered or redirected to another host.
    pub(crate) async fn work(&mut self, mut job: Box<FetchJob>) -> Turn {
        let requested_delay = job.request.crawl_delay_ms.map(|delay| Duration::from_millis(delay.max(0) as u64));
        loop {
            if let Some(why) = self.unsent(&job) {
                return self.given_up(job, &why);
            }
            self.set_delay(requested_delay);
            if self.origins.of(&job.at).robots_due <= self.clock.now() {
                if let Some(why) = self.go_out(&mut job).await {
                    return self.given_up(job, &why);
                }
                let (origin, rules) = (self.origins.of(&job.at), &self.network.rules);
                let known = origin.robots.as_ref();
                let entry = refresh(&job.at, known, &mut origin.connection, &self.network, self.clock.now());
                // Boxed because it is rare: it would enlarge the future of every page.
                let (entry, failure) = Box::pin(entry).await;
                let due = self.clock.now() + rules.robots_refresh;
                origin.take_robots(entry, failure, due, &rules.product_token);
                self.gate.ended();
                self.wait_again(&mut job);
                self.set_delay(requested_delay);
            }
            let refusal = self.origins.of(&job.at).refusal(&job.at, &self.network.rules.product_token);
            if let Some(refusal) = refusal {
                return Turn::Done(self.failed(job, self.clock.now(), Duration::ZERO, refusal));
            }
            if let Some(why) = self.go_out(&mut job).await {
                return self.given_up(job, &why);
            }
            let fetched_at = self.clock.now();
            let started = self.clock.monotonic();
            let wanted = RequestedResource::Page(known_to(&job));
            let connection = &mut self.origins.of(&job.at).connection;
            let answer = get(&job.at, wanted, connection, &self.network).await;
            self.last_latency = self.clock.monotonic().saturating_sub(started);
            self.gate.ended();
            let mut response = match answer {
                Ok(response) => response,
                Err(Unanswered::Unseen) => {
                    self.wait_again(&mut job);
                    continue;
                }
                Err(Unanswered::Failed(failure)) => {
                    return Turn::Done(self.failed(job, fetched_at, self.last_latency, failure));
                }
            };
            job.wire_bytes += response.wire_bytes;
            job.exchanges.extend(response.record.take().map(|record| record.exchange(&job.at, fetched_at)));
            if is_refusal(response.status.as_u16()) {
                let rest = self.retry_after(&response).unwrap_or(self.network.rules.refusal_rest);
                self.left_alone_until = self.clock.now() + rest;
            }
            let Some(next) = redirect(&job.at, &response) else {
                return Turn::Done(self.answered(job, fetched_at, response));
            };
            job.hops.push(Hop { url: job.at.as_str().to_owned(), status: response.status.as_u16() });
            if job.hops.len() > self.network.rules.fetch.max_redirects as usize {
                let detail = format!("more than {} redirects", self.network.rules.fetch.max_redirects);
                let failure = FetchFailure::new(FetchOutcome::TooManyRedirects, detail);
                return Turn::Done(self.failed(job, fetched_at, self.last_latency, failure));
            }
            let is_elsewhere = next.host_name() != job.at.host_name();
            job.at = next;
            self.wait_again(&mut job);
            if is_elsewhere {
                return Turn::HandOver(job);
            }
        }
    }

    fn retry_after(&self, response: &Response) -> Option<Duration> {
        let value = response.header(header::RETRY_AFTER)?;
        politeness::retry_after(&value, self.clock.now())
    }

    fn set_delay(&mut self, requested: Option<Duration>) {
        let own = self.network.rules.delay.delay_after(self.origins.crawl_delay(), self.last_latency).as_duration();
        self.gate.set_delay(own.max(requested.unwrap_or_default()));
    }

    fn failed(
        &self,
        mut job: Box<FetchJob>,
        fetched_at: Timestamp,
        latency: Duration,
        failure: FetchFailure,
    ) -> Box<Done> {
        job.wire_bytes += failure.wire_bytes;
        let tag = job.tag;
        let mut result = self.result(*job, fetched_at, latency, failure.outcome);
        result.detail = Some(shortened(failure.detail));
        Box::new(Done { tag, result, body: None })
    }

    fn answered(&self, job: Box<FetchJob>, fetched_at: Timestamp, response: Response) -> Box<Done> {
        let retry_after = self.retry_after(&response);
        let mut body = None;
        let status = response.status.as_u16();
        let known = known_to(&job);
        let is_conditional = known.etag.is_some() || known.last_modified.is_some();
        let (outcome, detail) = outcome_of(status, retry_after.is_some(), is_conditional);
        let (tag, known_digest) = (job.tag, job.request.validators.content_digest);
        let mut result = self.result(*job, fetched_at, self.last_latency, outcome);
        result.detail = detail;
        let look = &mut result.look;
        look.status = Some(status);
        look.retry_after_s = retry_after.map(|wait| wait.as_secs() as i64);
        look.validators.url = look.final_url.clone();
        look.validators.etag = kept_header(&response, header::ETAG);
        look.validators.last_modified = kept_header(&response, header::LAST_MODIFIED);
        if outcome == FetchOutcome::Fetched {
            let digest = Digest::of(&response.body);
            look.validators.content_digest = Some(digest);
            look.body_length = response.body.len() as i64;
            result.content_type = kept_header(&response, header::CONTENT_TYPE);
            result.truncated = response.truncated;
            if known_digest == Some(digest) {
                look.outcome = FetchOutcome::SameContent;
                result.payload_sha1 = (!result.exchanges.is_empty()).then(|| Sha1::of(&response.body));
            } else {
                body = Some(response.body);
            }
        }
        Box::new(Done { tag, result, body })
    }

    fn result(&self, job: FetchJob, fetched_at: Timestamp, latency: Duration, outcome: FetchOutcome) -> FetchResult {
        let origin = self.origins.get(&job.at);
        let robots_crawl_delay = origin.and_then(|origin| origin.robots_crawl_delay);
        let sitemaps = origin.map(|origin| origin.sitemaps.take()).unwrap_or_default();
        let look = Look {
            latency_ms: i32::try_from(latency.as_millis()).unwrap_or(i32::MAX),
            final_url: (!job.hops.is_empty()).then_some(job.at),
            wire_bytes: job.wire_bytes as i64,
            robots_crawl_delay_ms: robots_crawl_delay.map(|delay| delay.as_millis() as i64),
            ..Look::new(job.request, outcome, fetched_at)
        };
        let (hops, exchanges) = (job.hops, job.exchanges);
        FetchResult { hops, exchanges, sitemaps, ..FetchResult::new(look) }
    }
}

/// The validators to send to the current address of a job. Those of another address would have it confirm a page that
/// it never served.
fn known_to(job: &FetchJob) -> &Validators {
    static NONE: Validators = Validators { url: None, etag: None, last_modified: None, content_digest: None };
    let known = &job.request.validators;
    if *known.sent_by(&job.request.url) == job.at { known } else { &NONE }
}

/// A header kept with the page. Absent if it is too long to be genuine.
fn kept_header(response: &Response, name: HeaderName) -> Option<String> {
    response.header(name).filter(|value| !value.is_empty() && value.len() <= MAX_KEPT_HEADER)
}
