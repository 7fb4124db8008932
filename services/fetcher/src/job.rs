//! A request being worked on, and its result.

use crate::crashes::{CrashJournal, UnderWay};
use crate::memory::{BodyMemory, KeptMemory};
use crate::recorder::RecordedBody;
use crate::response::ExchangeRecord;
use crate::sentinels::RenderedCopy;
use crate::state::RobotsKey;
use crate::steps::JobSteps;
use crate::traffic::Waiting;
use bytes::Bytes;
use messages::body::{self, Packing};
use messages::{Exchange, FetchRequest, FetchResult, Hop, RedirectedRequest, RobotsErrand};
use page::{CanonicalUrl, SiteKey, Timestamp};
use std::sync::Arc;
use stream::{RequestTag, Step};
use tokio::sync::OwnedSemaphorePermit;

/// Most bytes of the exchanges of one result, which must fit into a record beside the page. The last one, which is that of the
/// page, may be beyond it.
const MAX_RECORDED_BYTES: usize = 384 << 10;

/// Bytes of the heads and the body of an exchange.
fn bytes_of(exchange: &Exchange) -> usize {
    exchange.request_head.len() + exchange.response_head.len() + exchange.body.as_ref().map_or(0, Vec::len)
}

/// A request being worked on.
pub(crate) struct FetchJob {
    pub(crate) tag: RequestTag,
    pub(crate) request: FetchRequest,
    /// The current URL, after redirects.
    pub(crate) at: CanonicalUrl,
    pub(crate) hops: Vec<Hop>,
    pub(crate) exchanges: Vec<Exchange>,
    /// Memory of the bodies in them.
    pub(crate) recorded: Vec<KeptMemory>,
    pub(crate) wire_bytes: u64,
    /// Bytes received of every robots.txt that was asked for on the way.
    pub(crate) robots_bytes: u64,
    /// Origins of the partition's site whose robots.txt was asked for on the way.
    pub(crate) robots_of: Vec<RobotsKey>,
    /// The site of the request's partition.
    site: SiteKey,
    /// Whether a request for the page was sent. The answer is useful even after the lease.
    pub(crate) was_sent: bool,
    /// A robots.txt that redirects to another site: to be asked for there, or answered. It comes before the page itself.
    pub(crate) errand: Option<RobotsErrand>,
    /// Requests sent for it, robots.txt included.
    pub(crate) requests: u32,
    /// Whether the body of its answer is the document that a browser made.
    pub(crate) is_rendered: bool,
    /// The rendered document that the requester has, if the page's parts show that it is still the same.
    pub(crate) known_by_its_parts: Option<RenderedCopy>,
    /// Present once a request was sent for it, where crashes are noted.
    pub(crate) under_way: Option<UnderWay>,
    /// Present while it is the one job worked on that is suspected of crashes, until it is under way.
    pub(crate) alone: Option<OwnedSemaphorePermit>,
    /// Present if it belongs to a trace.
    pub(crate) steps: Option<Box<JobSteps>>,
    /// Present while it waits for its host's turn.
    pub(crate) waiting: Option<Waiting>,
}

impl FetchJob {
    pub(crate) fn new(tag: RequestTag, request: FetchRequest) -> Self {
        let site = match &request.redirected {
            Some(redirected) => redirected.target_url.site_key(),
            None => request.site_key.clone(),
        };
        let mut job = Self {
            tag,
            at: request.target().clone(),
            hops: Vec::new(),
            exchanges: Vec::new(),
            recorded: Vec::new(),
            wire_bytes: 0,
            robots_bytes: 0,
            robots_of: Vec::new(),
            site,
            was_sent: false,
            errand: None,
            requests: 0,
            is_rendered: false,
            known_by_its_parts: None,
            under_way: None,
            alone: None,
            steps: None,
            waiting: None,
            request,
        };
        if let Some(redirected) = job.request.redirected.take() {
            job.hops = redirected.hops;
            job.exchanges = redirected.exchanges;
            job.wire_bytes = redirected.wire_bytes.max(0) as u64;
            job.requests = redirected.requests.max(0) as u32;
            // A job that came here by a redirect was sent before that.
            job.was_sent = !job.hops.is_empty();
            job.errand = redirected.robots;
        }
        job
    }

    /// Notes that the robots.txt of a URL's origin was asked for, if it is of the request's partition.
    pub(crate) fn learned_robots_of(&mut self, url: &CanonicalUrl) {
        let key = RobotsKey::of(url);
        if url.site_key() == self.site && !self.robots_of.contains(&key) {
            self.robots_of.push(key);
        }
    }

    /// Adds an exchange, as long as the result has room for it and its body. That of the page has room.
    pub(crate) fn record(
        &mut self,
        mut record: ExchangeRecord,
        url: &CanonicalUrl,
        requested_at: Timestamp,
        is_of_page: bool,
    ) {
        let recorded = record.body.take();
        let mut exchange = record.exchange(url, requested_at);
        let room = MAX_RECORDED_BYTES.saturating_sub(self.exchanges.iter().map(bytes_of).sum::<usize>());
        if let Some(RecordedBody { bytes, is_cut, memory }) = recorded {
            let packed = body::pack(&bytes, Packing::Lz4);
            if bytes_of(&exchange) + packed.len() <= room {
                (exchange.body, exchange.body_is_cut) = (Some(packed), is_cut);
                self.recorded.push(memory);
            }
        }
        if is_of_page || bytes_of(&exchange) <= room {
            self.exchanges.push(exchange);
        }
    }

    /// Drops all exchanges behind these, and the body of the last: the answer has it.
    pub(crate) fn keep_exchanges(&mut self, count: usize) {
        self.exchanges.truncate(count);
        if let Some(last) = self.exchanges.last_mut() {
            (last.body, last.body_is_cut) = (None, false);
        }
    }

    /// Adds the body of the last exchange, as far as the result has room for it.
    pub(crate) fn keep_body_of_last(&mut self, body: Option<RecordedBody>) {
        let room = MAX_RECORDED_BYTES.saturating_sub(self.exchanges.iter().map(bytes_of).sum::<usize>());
        let (Some(exchange), Some(RecordedBody { bytes, is_cut, memory })) = (self.exchanges.last_mut(), body) else {
            return;
        };
        let packed = body::pack(&bytes, Packing::Lz4);
        if packed.len() <= room {
            (exchange.body, exchange.body_is_cut) = (Some(packed), is_cut);
            self.recorded.push(memory);
        }
    }

    /// Takes memory for the bodies that came with a redirected job. Those without are dropped.
    pub(crate) fn hold_recorded(&mut self, memory: &BodyMemory) {
        for exchange in &mut self.exchanges {
            if let Some(body) = &exchange.body {
                match memory.try_record(body.len()) {
                    Some(mut room) => self.recorded.push(room.keep(body.len())),
                    None => exchange.body = None,
                }
            }
        }
    }

    /// Notes that a request is sent for the job.
    pub(crate) fn goes_out(&mut self, crashes: Option<&Arc<CrashJournal>>) {
        self.requests += 1;
        if let Some(crashes) = crashes.filter(|_| self.under_way.is_none()) {
            self.under_way = Some(crashes.begin(self.request.page_id, self.alone.take()));
        }
    }

    /// Notes that the request was not sent after all: its host has no address that may be asked.
    pub(crate) fn did_not_go_out(&mut self) {
        self.requests = self.requests.saturating_sub(1);
    }

    /// Notes that the job is answered. The returned value is to be held until the answer is committed.
    pub(crate) fn is_answered(&mut self) -> Option<UnderWay> {
        let mut under_way = self.under_way.take();
        under_way.iter_mut().for_each(UnderWay::is_answered);
        under_way
    }

    /// The steps of a job that is answered now. None unless it belongs to a trace.
    pub(crate) fn take_steps(&mut self, now: Timestamp) -> Vec<Step> {
        self.steps.take().map(|steps| steps.end(now)).unwrap_or_default()
    }

    /// The job as a request to the fetcher of the site that it was redirected to.
    pub(crate) fn redirected(mut self, now: Timestamp) -> Answer {
        let steps = self.take_steps(now);
        let redirected = RedirectedRequest {
            target_url: self.at,
            hops: self.hops,
            exchanges: self.exchanges,
            wire_bytes: (self.wire_bytes + self.robots_bytes) as i64,
            requests: i32::try_from(self.requests).unwrap_or(i32::MAX),
            robots: self.errand,
        };
        let request = FetchRequest { redirected: Some(Box::new(redirected)), ..self.request };
        let (robots_of, recorded) = (self.robots_of, self.recorded);
        Answer::Redirected { tag: self.tag, request: Box::new(request), robots_of, steps, recorded }
    }
}

/// An answered request.
pub(crate) struct Done {
    pub(crate) tag: RequestTag,
    /// The result without its body, which is packed by the receiver to spare the network thread.
    pub(crate) result: FetchResult,
    /// The page. Absent if it equals the copy that the requester has.
    pub(crate) body: Option<Bytes>,
    /// Bytes received of every robots.txt that was asked for on the way.
    pub(crate) robots_bytes: u64,
    /// Origins whose robots.txt may be kept.
    pub(crate) robots_of: Vec<RobotsKey>,
    /// The steps of the job, if it belongs to a trace; otherwise empty.
    pub(crate) steps: Vec<Step>,
    pub(crate) held: HeldByDone,
}

/// Resources that an answered request still holds: the memory of its body, for as long as that is in memory, and until its
/// commit its place in the journal of crashes.
pub(crate) type HeldByDone = (HeldMemory, Option<UnderWay>);

/// The memory of the page, and of the bodies in the exchanges.
pub(crate) type HeldMemory = (Option<KeptMemory>, Vec<KeptMemory>);

impl Done {
    /// The result with its body.
    pub(crate) fn packed(self, packing: Packing) -> FetchResult {
        FetchResult { body: self.body.map(|body| body::pack_owned(body.into(), packing)), ..self.result }
    }
}

/// How a job ends: with a result, or with a request for another fetcher.
pub(crate) enum Answer {
    Done(Box<Done>),
    /// It was redirected to a site that another fetcher may own.
    Redirected {
        tag: RequestTag,
        request: Box<FetchRequest>,
        /// Origins whose robots.txt may be kept.
        robots_of: Vec<RobotsKey>,
        /// The steps of the job, if it belongs to a trace; otherwise empty.
        steps: Vec<Step>,
        /// Memory of the bodies in the request.
        recorded: Vec<KeptMemory>,
    },
}
