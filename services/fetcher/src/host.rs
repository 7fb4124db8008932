//! The worker of one host, whatever the scheme and port: one request at a time, within the host's crawl delay.

use crate::challenge::kept_out;
use crate::crashes::Suspicion;
use crate::gate::HostGate;
use crate::host::door::{Asked, Errand};
use crate::host::origin::Origins;
use crate::job::{Done, FetchJob};
use crate::network::Network;
use crate::outcome::{is_without_connection, outcome_of, shortened};
use crate::response::{FetchFailure, Response};
use crate::robots::redirect;
use crate::route::wanted;
use crate::traffic::OnTheWire;
use hyper::header::{self, HeaderMap, HeaderName};
use messages::{
    ContentEvidence, Digest, FetchOutcome, FetchRequest, FetchResult, Hop, Look, RobotsErrand, Sha1, Validators,
};
use page::{CanonicalUrl, Timestamp};
use politeness::{RobotsCacheEntry, RobotsFetch};
use preferences::{HEADERS, Preferences};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use stream::{Clock, RequestTag};
use tokio::sync::OwnedSemaphorePermit;

mod door;
mod origin;
mod refresh;
mod rendering;

/// Longest header value kept with a page. Many pages are kept.
const MAX_KEPT_HEADER: usize = 1 << 10;

/// State of a host while its worker lives.
pub(crate) struct HostWorker {
    name: String,
    network: Rc<Network>,
    clock: Arc<dyn Clock>,
    gate: Rc<HostGate>,
    origins: Origins,
    /// The worker's place among the open connections.
    place: Option<OwnedSemaphorePermit>,
    /// The request in flight, until its answer has been received.
    on_the_wire: Option<OnTheWire>,
}

/// Result of working on a job.
pub(crate) enum Turn {
    Done(Box<Done>),
    /// The job was redirected to another host, whose worker continues it.
    HandOver {
        job: Box<FetchJob>,
        leaves_site: bool,
    },
    /// The job waits, see [`HostWorker::patience`].
    Wait {
        job: Box<FetchJob>,
    },
    /// The job is dropped: nothing is sent any more, or not before another epoch.
    Drained,
}

impl HostWorker {
    pub(crate) fn new(name: &str, network: Rc<Network>, clock: Arc<dyn Clock>) -> Self {
        Self {
            name: name.to_owned(),
            gate: network.gates.of(name),
            network,
            clock,
            origins: Origins::default(),
            place: None,
            on_the_wire: None,
        }
    }

    /// Whether it has a place among the open connections.
    pub(crate) fn has_place(&self) -> bool {
        self.place.is_some()
    }

    fn try_take_place(&mut self) -> bool {
        self.place = self.network.places.try_own();
        self.has_place()
    }

    async fn take_place(&mut self) {
        self.place = Some(self.network.places.own().await);
    }

    /// Closes the idle connections, so that others get their place.
    pub(crate) fn rest(&mut self) {
        self.origins.close();
        self.place = None;
    }

    /// How long (real) a job still waits: for a robots.txt from the fetcher of another site, for the end of the host's rest,
    /// or because it is suspected of crashes. `None` if it does not.
    pub(crate) fn patience(&self, job: &FetchJob) -> Option<Duration> {
        let now = self.clock.now();
        if let Some(rest) = self.rest_before_errand(job) {
            return Some(self.clock.to_real(rest));
        }
        if let Some(until) = self.network.robots.asked_elsewhere_until(&job.at, now) {
            return Some(self.clock.to_real(until.saturating_since(now)));
        }
        (self.suspicion(job) == Suspicion::Alone).then(|| self.network.time_to_suspects_turn()).flatten()
    }

    /// How a job that is not under way yet is treated because of crashes.
    fn suspicion(&self, job: &FetchJob) -> Suspicion {
        match &self.network.crashes {
            Some(crashes) if job.under_way.is_none() && job.alone.is_none() => {
                crashes.suspicion(job.request.page_id, self.clock.now())
            }
            Some(_) | None => Suspicion::None,
        }
    }

    /// Cancels a job midway. The connection is closed so that the rest of its exchange is not read as the next
    /// response.
    pub(crate) fn break_off(&mut self) {
        self.origins.close();
        self.on_the_wire = None;
    }

    /// The caller has received the last job's answer, so its request is no longer in flight.
    pub(crate) fn settled(&mut self) {
        self.on_the_wire = None;
    }

    /// Fetches a robots.txt, whole. Without an answer, also returns the reason.
    pub(crate) async fn robots(&mut self, url: &CanonicalUrl) -> (RobotsCacheEntry, Option<String>) {
        let request = FetchRequest::first(url.clone(), self.clock.now());
        let mut job =
            FetchJob::new(RequestTag { partition: 0, offset: 0, timestamp: Timestamp::MIN, epoch: 0 }, request);
        match self.fetch_robots(url, &mut job).await {
            Ok((entry, failure)) => (entry, failure.map(|failure| failure.detail)),
            // Nothing else stops the first request to a host.
            Err(_) => (RobotsCacheEntry::after(None, RobotsFetch::Unreachable, self.clock.now()), None),
        }
    }

    /// Works on a job until it is answered or redirected to another host.
    pub(crate) async fn work(&mut self, mut job: Box<FetchJob>) -> Turn {
        match self.suspicion(&job) {
            Suspicion::None => {}
            Suspicion::Alone => match self.network.suspects_turn() {
                Some(alone) => job.alone = Some(alone),
                None => return Turn::Wait { job },
            },
            Suspicion::SetAside { crashes, until } => {
                let detail = format!("under way at {crashes} crashes of the fetcher; not asked for before {until}");
                let crash = FetchFailure::new(FetchOutcome::SetAside, detail);
                return Turn::Done(self.failed(job, self.clock.now(), Duration::ZERO, crash));
            }
        }
        if self.rest_before_errand(&job).is_some() {
            return Turn::Wait { job };
        }
        match job.errand.take() {
            Some(RobotsErrand { answer: Some(answer), of_url, .. }) => self.take_errand(&of_url, &answer, &mut job),
            Some(errand) => {
                // Boxed because it is rare: it would enlarge the future of every page.
                return match Box::pin(self.run_errand(errand, &mut job)).await {
                    Ok(()) => self.hand_over(job, true),
                    Err(why) => self.given_up(job, &why),
                };
            }
            None => {}
        }
        loop {
            let at = job.at.clone();
            if let Err(refusal) = wanted(&at, &self.network.rules) {
                return Turn::Done(self.failed(job, self.clock.now(), Duration::ZERO, refusal));
            }
            let unanswered = match self.refresh_robots(&at, &mut job).await {
                Ok(failure) => failure.filter(is_without_connection),
                Err(why) => return self.given_up(job, &why),
            };
            if let Some(refusal) = self.network.robots.refusal(&at, &self.network.rules.product_token) {
                // The failure to fetch robots.txt says more than the refusal, but concerns only the request that tried.
                let reported = unanswered.filter(|_| refusal.outcome == FetchOutcome::RobotsUnavailable);
                return Turn::Done(self.refused(job, reported.unwrap_or(refusal)));
            }
            let Asked { fetched_at, latency, answer } = match self.ask(&at, Errand::Page, &mut job).await {
                Ok(asked) => asked,
                Err(why) => return self.given_up(job, &why),
            };
            let mut response = match answer {
                Ok(response) => response,
                Err(failure) => return Turn::Done(self.failed(job, fetched_at, latency, failure)),
            };
            job.wire_bytes += response.wire_bytes;
            let next = redirect(&job.at, &response);
            if let Some(record) = response.record.take() {
                job.record(record, &job.at.clone(), fetched_at, next.is_none());
            }
            let Some(next) = next else {
                if self.network.browsers.renders(
                    &job.request.url,
                    job.request.validators.content_digest,
                    &response,
                    fetched_at,
                ) {
                    // Boxed because it is rare: it would enlarge the future of every page.
                    return Box::pin(self.rendered(job, fetched_at, latency, response)).await;
                }
                return Turn::Done(self.answered(job, fetched_at, latency, response));
            };
            job.hops.push(Hop { url: job.at.as_str().to_owned(), status: response.status.as_u16() });
            if job.hops.len() > self.network.rules.fetch.max_redirects as usize {
                let detail = format!("more than {} redirects", self.network.rules.fetch.max_redirects);
                let failure = FetchFailure::new(FetchOutcome::TooManyRedirects, detail);
                return Turn::Done(self.failed(job, fetched_at, latency, failure));
            }
            job.at = next;
            if job.at.host_name() != self.name {
                let leaves_site = job.at.site_key() != at.site_key();
                return self.hand_over(job, leaves_site);
            }
            self.wait_again(&mut job);
        }
    }

    fn hand_over(&self, mut job: Box<FetchJob>, leaves_site: bool) -> Turn {
        // Its exchange counts as in flight until it has been handed over.
        job.waiting = Some(self.network.traffic.enter(self.clock.monotonic()));
        Turn::HandOver { job, leaves_site }
    }

    /// Answers a request that robots.txt does not allow.
    fn refused(&self, job: Box<FetchJob>, refusal: FetchFailure) -> Box<Done> {
        let now = self.clock.now();
        if refusal.outcome != FetchOutcome::RobotsUnavailable || !job.hops.is_empty() {
            return self.failed(job, now, Duration::ZERO, refusal);
        }
        let until = self.network.robots.entry(&job.at).map_or(now, |entry| entry.expires_at());
        self.unsent_until(until, job, refusal)
    }

    /// Answers a request that was not sent and may be from a time on.
    fn unsent_until(&self, until: Timestamp, job: Box<FetchJob>, failure: FetchFailure) -> Box<Done> {
        let now = self.clock.now();
        let rest = until.saturating_since(now);
        let mut done = self.failed(job, now, Duration::ZERO, failure);
        done.result.look.retry_after_s = (!rest.is_zero()).then(|| rest.as_secs_f64().ceil() as i64);
        done
    }

    fn failed(
        &self,
        mut job: Box<FetchJob>,
        fetched_at: Timestamp,
        latency: Duration,
        failure: FetchFailure,
    ) -> Box<Done> {
        job.wire_bytes += failure.wire_bytes;
        let (tag, robots_bytes, robots_of) = (job.tag, job.robots_bytes, std::mem::take(&mut job.robots_of));
        let held = ((None, std::mem::take(&mut job.recorded)), job.is_answered());
        let steps = job.take_steps(self.clock.now());
        let mut result = self.result(*job, fetched_at, latency, failure.outcome);
        result.detail = Some(shortened(failure.detail));
        Box::new(Done { tag, result, body: None, robots_bytes, robots_of, steps, held })
    }

    fn answered(
        &self,
        mut job: Box<FetchJob>,
        fetched_at: Timestamp,
        latency: Duration,
        response: Response,
    ) -> Box<Done> {
        let retry_after = self.retry_after(&response);
        let mut body = None;
        let status = response.status.as_u16();
        let known = known_to(&job);
        let is_conditional = known.etag.is_some() || known.last_modified.is_some();
        let (outcome, detail) = match kept_out(&response) {
            Some((outcome, detail)) => (outcome, Some(shortened(detail))),
            None => outcome_of(status, retry_after.is_some(), is_conditional),
        };
        let (tag, robots_bytes, robots_of) = (job.tag, job.robots_bytes, std::mem::take(&mut job.robots_of));
        let steps = job.take_steps(self.clock.now());
        let (known_digest, under_way) = (job.request.validators.content_digest, job.is_answered());
        let recorded = std::mem::take(&mut job.recorded);
        let (job_known, is_rendered) = (job.known_by_its_parts, job.is_rendered);
        let mut result = self.result(*job, fetched_at, latency, outcome);
        result.detail = detail;
        let look = &mut result.look;
        look.status = Some(status);
        look.retry_after_s = retry_after.map(|wait| wait.as_secs() as i64);
        look.validators.url = look.final_url.clone();
        look.validators.etag = kept_header(&response, header::ETAG);
        look.validators.last_modified = kept_header(&response, header::LAST_MODIFIED);
        // Its server speaks of the document alone, and the data of a rendered page may have changed.
        let fresh_for = response.fresh_for(fetched_at).filter(|_| !is_rendered);
        look.fresh_for_s = fresh_for.map(|left| left.as_secs() as i64);
        if outcome == FetchOutcome::Fetched {
            let (digest, length) = match job_known {
                Some(known) => (known.digest, known.length),
                None => (Digest::of(&response.body), response.body.len()),
            };
            look.validators.content_digest = Some(digest);
            look.body_length = length as i64;
            result.content_type = response.content_type().filter(|value| is_genuine(value));
            result.refresh = kept_header(&response, header::REFRESH);
            result.truncated = response.truncated;
            if known_digest == Some(digest) {
                look.outcome = FetchOutcome::SameContent;
                result.payload_sha1 = (!result.exchanges.is_empty() && !is_rendered).then(|| Sha1::of(&response.body));
            } else {
                body = Some(response.body);
            }
        }
        result.preferences = match outcome.meaning().content {
            ContentEvidence::Body | ContentEvidence::SameAsKnown => {
                self.preferences(result.look.answered_by(), &response.headers).to_list()
            }
            ContentEvidence::Missing { .. } | ContentEvidence::Elsewhere | ContentEvidence::Nothing => Vec::new(),
        };
        let memory = response.memory.filter(|_| body.is_some());
        let held = ((memory, recorded), under_way);
        Box::new(Done { tag, result, body, robots_bytes, robots_of, steps, held })
    }

    /// The owner's statements on the use of a page that this address has sent.
    fn preferences(&self, url: &CanonicalUrl, headers: &HeaderMap) -> Preferences {
        let product_token = &self.network.rules.product_token;
        let values =
            |name: &'static str| headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
        let lines: Vec<_> = HEADERS.into_iter().flat_map(|name| values(name).map(move |value| (name, value))).collect();
        let of_headers = Preferences::of_headers(lines.iter().map(|(name, value)| (*name, &**value)), product_token);
        of_headers.and(&self.network.robots.preferences(url, product_token))
    }

    fn result(&self, job: FetchJob, fetched_at: Timestamp, latency: Duration, outcome: FetchOutcome) -> FetchResult {
        let robots_crawl_delay = self.network.robots.crawl_delay(&job.at);
        let sitemaps = self.network.robots.new_sitemaps(&job.at);
        let look = Look {
            latency_ms: i32::try_from(latency.as_millis()).unwrap_or(i32::MAX),
            final_url: (!job.hops.is_empty()).then_some(job.at),
            wire_bytes: job.wire_bytes as i64,
            requests: i32::try_from(job.requests).unwrap_or(i32::MAX),
            robots_crawl_delay_ms: robots_crawl_delay.map(|delay| delay.as_millis() as i64),
            ..Look::new(job.request, outcome, fetched_at)
        };
        let (hops, exchanges, rendered) = (job.hops, job.exchanges, job.is_rendered);
        FetchResult { hops, exchanges, rendered, sitemaps, ..FetchResult::new(look) }
    }
}

static NO_VALIDATORS: Validators =
    Validators { url: None, etag: None, last_modified: None, content_digest: None, failed_conditions: 0 };

/// The validators to send to the current address of a job. With those of another address, it would confirm a page that
/// it never served.
fn known_to(job: &FetchJob) -> &Validators {
    let known = &job.request.validators;
    if *known.sent_by(&job.request.url) == job.at { known } else { &NO_VALIDATORS }
}

/// A header kept with the page. Absent if it is too long to be genuine.
fn kept_header(response: &Response, name: HeaderName) -> Option<String> {
    response.header(name).filter(|value| is_genuine(value))
}

fn is_genuine(value: &str) -> bool {
    !value.is_empty() && value.len() <= MAX_KEPT_HEADER
}
