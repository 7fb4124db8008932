//! Lets a browser render a page. Each request that it makes goes through the host's door like that for a page.

use super::door::{Asked, Errand, Unsent};
use super::{HostWorker, NO_VALIDATORS, Turn, kept_header};
use crate::challenge::kept_out;
use crate::job::FetchJob;
use crate::outcome::{is_refusal, outcome_of};
use crate::recorder::RecordedBody;
use crate::response::{FetchFailure, Response};
use crate::robots::redirect;
use crate::route::wanted;
use crate::sentinels::{RenderedCopy, SeenPart};
use browser::{Document, Door, PartAnswer, PartRefusal, PartRequest, RenderFailure, RenderLimits, RenderedPage};
use hyper::header::{self, HeaderValue};
use messages::{Digest, FetchOutcome, Validators};
use page::{CanonicalUrl, PageId, SiteKey, Timestamp};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Time (real) before the end of the lease at which a rendering is given up.
const BEFORE_LEASE: Duration = Duration::from_secs(10);
/// Most time (real) that the parts of a page may take, with the waits for their turns.
const MOST_DOOR_TIME: Duration = Duration::from_secs(180);
/// Most bytes of parts that are kept during a look, because the browser will ask for them.
const MOST_HERE: usize = 8 << 20;
/// The name of a page among its parts.
const THE_PAGE: &str = "";
/// Media type of every rendered document.
const RENDERED_TYPE: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");

/// The door of a host's worker, for the parts of one page.
struct HostDoor<'a> {
    worker: &'a mut HostWorker,
    job: &'a mut FetchJob,
    site: SiteKey,
    page: PageId,
    /// The parts that came, in the order in which they were asked for.
    seen: Vec<SeenPart>,
    /// Parts that came already in this look, by address and media types.
    here: HashMap<(String, Option<String>), PartAnswer>,
    here_bytes: usize,
    /// Whether a part is missing that fails again and again.
    is_incomplete: bool,
    /// Time (real) that parts have taken.
    door_time: Duration,
    /// Why the rendering ends, if not by the page.
    unsent: Option<Unsent>,
    failed: Option<FetchFailure>,
}

/// A page that was rendered, or that need not be.
enum Rendered {
    Page(RenderedPage),
    /// All that it was made of is as it was.
    Same(RenderedCopy),
}

impl HostWorker {
    /// Renders the page of a job and answers it. If that fails the look has failed: a page that is read as it was sent one
    /// time and as it is shown another would seem to change.
    pub(super) async fn rendered(
        &mut self,
        mut job: Box<FetchJob>,
        fetched_at: Timestamp,
        latency: Duration,
        mut response: Response,
    ) -> Turn {
        let network = self.network.clone();
        let browsers = &network.browsers;
        let page = job.request.url.clone();
        self.keep_received(&mut job, &response);
        let received = job.exchanges.len();
        self.wait_again(&mut job);
        let (sent, known) = (Digest::of(&response.body), job.request.validators.content_digest);
        let (site, watched) =
            (job.at.site_key(), browsers.sentinels.borrow().of(page.page_id(), sent, known, fetched_at));
        let mut door = HostDoor {
            worker: self,
            job: &mut job,
            site,
            page: page.page_id(),
            seen: Vec::new(),
            is_incomplete: false,
            here: HashMap::new(),
            here_bytes: 0,
            door_time: Duration::ZERO,
            unsent: None,
            failed: None,
        };
        let rendered = match watched {
            Some((parts, copy)) => match door.is_as_it_was(parts).await {
                Ok(true) => Ok(Rendered::Same(copy)),
                Ok(false) => door.in_browser(&response, fetched_at).await,
                Err(failure) => Err(failure),
            },
            None => door.in_browser(&response, fetched_at).await,
        };
        let HostDoor { seen, is_incomplete, unsent, failed, .. } = door;
        if rendered.is_ok() {
            browsers.parts.borrow_mut().came(page.page_id(), THE_PAGE);
        }
        match rendered {
            Ok(Rendered::Same(copy)) => {
                job.known_by_its_parts = Some(copy);
            }
            Ok(Rendered::Page(rendered)) if !browsers.is_gain(&page, known, &response, &rendered.html, fetched_at) => {
                job.keep_exchanges(received);
                return Turn::Done(self.answered(job, fetched_at, latency, response));
            }
            Ok(Rendered::Page(rendered)) => {
                let (mut html, longest) = (rendered.html, network.rules.fetch.max_body as usize);
                response.truncated = rendered.is_cut || html.len() > longest;
                html.truncate(html.floor_char_boundary(longest));
                response.body = html.into_bytes().into();
                let copy = RenderedCopy { digest: Digest::of(&response.body), length: response.body.len() };
                let mut sentinels = browsers.sentinels.borrow_mut();
                // A part that is asked for by the time of the look, or that failed, may come otherwise at the next one.
                match is_incomplete || seen.iter().any(|part| names_time(&part.request.url, fetched_at)) {
                    true => sentinels.note_without_parts(page.page_id(), copy),
                    false => sentinels.note(page.page_id(), sent, seen, copy, fetched_at),
                }
            }
            Err(failure) => {
                if let Some(why) = unsent {
                    return self.given_up(job, &why);
                }
                if let Some(failed) = failed {
                    return Turn::Done(self.failed(job, fetched_at, latency, failed));
                }
                browsers.is_harmed();
                let is_for_good = browsers.parts.borrow_mut().fails_for_good(page.page_id(), THE_PAGE);
                if failure == RenderFailure::BrowserEnded && !is_for_good {
                    // Another page may have ended it.
                    return self.given_up(job, &Unsent::NoBrowser(failure.to_string()));
                }
                let was_rendered = browsers.sentinels.borrow().is_rendered(page.page_id(), known);
                if is_for_good && browsers.may_do_without(&page) && !was_rendered {
                    browsers.is_in_vain(&page, fetched_at);
                    job.keep_exchanges(received);
                    return Turn::Done(self.answered(job, fetched_at, latency, response));
                }
                let failure = FetchFailure::new(FetchOutcome::TimedOut, failure.to_string());
                return Turn::Done(self.failed(job, fetched_at, latency, failure));
            }
        }
        response.headers.insert(header::CONTENT_TYPE, RENDERED_TYPE);
        // They speak of the document alone, and its data may have changed.
        for name in [header::ETAG, header::LAST_MODIFIED, header::REFRESH] {
            response.headers.remove(name);
        }
        job.is_rendered = true;
        Turn::Done(self.answered(job, fetched_at, latency, response))
    }

    /// Keeps the body that the server sent with its exchange, because the answer has the rendered one.
    fn keep_received(&self, job: &mut FetchJob, response: &Response) {
        let body = RecordedBody::copy_of(&response.body, response.truncated, &self.network.memory);
        job.keep_body_of_last(body);
    }
}

impl HostDoor<'_> {
    /// Lets a browser render what the server has sent.
    async fn in_browser(&mut self, response: &Response, now: Timestamp) -> Result<Rendered, RenderFailure> {
        let network = self.worker.network.clone();
        let limits = RenderLimits {
            at_work: network.rules.fetch.render_timeout,
            characters: usize::try_from(network.rules.fetch.max_body).unwrap_or(usize::MAX),
            ..RenderLimits::default()
        };
        let url = self.job.at.as_str().split('#').next().unwrap_or_default().to_owned();
        let content_type = response.content_type().unwrap_or_default();
        let document = Document { url: &url, content_type: &content_type, body: &response.body, now };
        // Others can use the connection's place meanwhile.
        self.worker.rest();
        let left = self.job.request.lease_until.saturating_since(self.worker.clock.now());
        let left = self.worker.clock.to_real(left).saturating_sub(BEFORE_LEASE);
        let Ok(_turn) = tokio::time::timeout(left, network.browsers.turns.acquire()).await else {
            self.unsent = Some(Unsent::PastLease);
            return Err(RenderFailure::GivenUp("other pages were rendered until its lease ended".to_owned()));
        };
        let browser = match network.browsers.browser().await {
            Ok(browser) => browser,
            Err(error) => {
                tracing::warn!(%error, "pages are not rendered");
                self.unsent = Some(Unsent::NoBrowser(error.to_string()));
                return Err(RenderFailure::GivenUp(error.to_string()));
            }
        };
        self.seen.clear();
        browser.render(&document, self, &limits).await.map(Rendered::Page)
    }

    /// Whether all parts come as they were when the page was last rendered.
    async fn is_as_it_was(&mut self, parts: Vec<SeenPart>) -> Result<bool, RenderFailure> {
        for part in parts {
            let key = (part.request.url.clone(), part.request.accept.clone());
            match self.ask(part.request.clone()).await {
                Ok(answer) => {
                    let is_same = part.is_as_it_was(&answer);
                    self.here_bytes += answer.body.len();
                    if self.here_bytes <= MOST_HERE {
                        self.here.insert(key, answer);
                    }
                    if !is_same {
                        return Ok(false);
                    }
                }
                Err(PartRefusal::Blocked) => return Ok(false),
                Err(PartRefusal::GiveUp(why)) => return Err(RenderFailure::GivenUp(why)),
            }
        }
        Ok(true)
    }

    fn give_up(&mut self, why: Unsent) -> PartRefusal {
        self.unsent = Some(why);
        PartRefusal::GiveUp("a part is not asked for now".to_owned())
    }

    /// A part that did not come. The look has failed, unless the part failed at the looks before, too. A host that keeps us
    /// away says nothing of the part.
    fn without(&mut self, at: &CanonicalUrl, failure: &FetchFailure) -> PartRefusal {
        use FetchOutcome::{Challenged, PaymentRequired, RateLimited, RobotsUnavailable};
        let is_kept_away = [Challenged, PaymentRequired, RateLimited, RobotsUnavailable].contains(&failure.outcome);
        let fails_for_good = || self.worker.network.browsers.parts.borrow_mut().fails_for_good(self.page, at.as_str());
        if !is_kept_away && fails_for_good() {
            self.is_incomplete = true;
            return PartRefusal::Blocked;
        }
        let detail = format!("rendering: its part {at}: {}", failure.detail);
        // These would say that the page itself, or its host, keeps us away.
        let outcome = if is_kept_away { FetchOutcome::TimedOut } else { failure.outcome };
        self.failed = Some(FetchFailure::new(outcome, detail.clone()));
        PartRefusal::GiveUp(detail)
    }

    /// Whether a part may be asked for: of the page's site, in scope, and allowed by robots.txt.
    async fn may_ask(&mut self, at: &CanonicalUrl) -> Result<(), PartRefusal> {
        let network = self.worker.network.clone();
        if at.site_key() != self.site || wanted(at, &network.rules).is_err() {
            return Err(PartRefusal::Blocked);
        }
        if self.worker.clock.now() + BEFORE_LEASE >= self.job.request.lease_until {
            return Err(self.give_up(Unsent::PastLease));
        }
        match self.worker.refresh_robots(at, self.job).await {
            Ok(_) => {}
            Err(Unsent::Errand | Unsent::RobotsElsewhere) => {
                // Another site's fetcher would have to ask for it. The page goes on without the part.
                self.job.errand = None;
                return Err(PartRefusal::Blocked);
            }
            Err(why) => return Err(self.give_up(why)),
        }
        match network.robots.refusal(at, &network.rules.product_token) {
            Some(refusal) if refusal.outcome == FetchOutcome::RobotsUnavailable => Err(self.without(at, &refusal)),
            Some(_) => Err(PartRefusal::Blocked),
            None => Ok(()),
        }
    }

    /// Whether anybody who asks for a part gets the same: nothing of the operator's goes with the request, and no address is
    /// his alone. Otherwise scripts of other origins must not read it.
    fn is_for_anybody(&self, at: &CanonicalUrl) -> bool {
        let rules = &self.worker.network.rules;
        let has_secrets = !rules.headers_of(at).is_empty()
            || rules.fetch.credentials_for(at.scheme(), at.host_name(), at.port()).is_some()
            || !rules.fetch.allow_private_addresses.is_empty();
        !has_secrets || at.origin() == self.job.at.origin()
    }

    /// Asks a host for a part, or takes an earlier answer that still holds.
    async fn fetch(&mut self, request: &PartRequest) -> Result<PartAnswer, PartRefusal> {
        let Ok(at) = CanonicalUrl::parse(&request.url) else { return Err(PartRefusal::Blocked) };
        let network = self.worker.network.clone();
        let page = self.job.at.clone();
        let allowed = Box::pin(self.may_ask(&at)).await;
        self.job.at = page;
        allowed?;
        let accept = request.accept.as_deref();
        let kept = network.browsers.parts.borrow_mut().find(at.as_str(), accept);
        if let Some(kept) = &kept
            && kept.fresh_until > self.worker.clock.now()
        {
            return Ok(kept.answer.clone());
        }
        self.worker.wait_again(self.job);
        let known = kept.as_ref().map_or(&NO_VALIDATORS, |kept| &kept.validators);
        let errand = Errand::Part { known, accept };
        if self.door_time > MOST_DOOR_TIME {
            let why = format!("its parts take more than {} s", MOST_DOOR_TIME.as_secs());
            return Err(self.without(&at, &FetchFailure::new(FetchOutcome::TimedOut, why)));
        }
        let began = Instant::now();
        let asked = Box::pin(self.worker.ask(&at, errand, self.job)).await;
        self.door_time += began.elapsed();
        let Asked { fetched_at, answer, .. } = match asked {
            Ok(asked) => asked,
            Err(why) => return Err(self.give_up(why)),
        };
        self.worker.wait_again(self.job);
        let mut response = match answer {
            Ok(response) => response,
            Err(failure) => {
                self.job.wire_bytes += failure.wire_bytes;
                return Err(self.without(&at, &failure));
            }
        };
        self.job.wire_bytes += response.wire_bytes;
        if let Some(mut record) = response.record.take() {
            record.body = RecordedBody::copy_of(&response.body, response.truncated, &network.memory);
            self.job.record(record, &at, fetched_at, false);
        }
        let fresh_until = fetched_at + response.fresh_for(fetched_at).unwrap_or_default();
        let mut parts = network.browsers.parts.borrow_mut();
        if let (304, Some(kept)) = (response.status.as_u16(), kept) {
            parts.came(self.page, at.as_str());
            parts.keep(at.as_str(), accept, kept.answer.clone(), kept.validators, fresh_until);
            return Ok(kept.answer);
        }
        let (outcome, detail) = match kept_out(&response) {
            Some((outcome, detail)) => (outcome, Some(detail)),
            None => outcome_of(response.status.as_u16(), false, false),
        };
        drop(parts);
        let left_alone = self.worker.network.gates.of(at.host_name()).left_alone_until();
        if is_refusal(response.status.as_u16()) && left_alone > self.worker.clock.now() {
            return Err(self.give_up(Unsent::LeftAlone(left_alone)));
        }
        if is_passing(outcome) || response.truncated {
            let detail = detail.unwrap_or_else(|| match response.truncated {
                true => "it is longer than fetch.max_body".to_owned(),
                false => format!("status {}", response.status.as_u16()),
            });
            let outcome = if is_passing(outcome) { outcome } else { FetchOutcome::TooLarge };
            return Err(self.without(&at, &FetchFailure::new(outcome, detail)));
        }
        parts = network.browsers.parts.borrow_mut();
        parts.came(self.page, at.as_str());
        let answer = PartAnswer {
            status: response.status.as_u16(),
            content_type: response.content_type(),
            location: redirect(&at, &response).map(|target| target.as_str().to_owned()),
            body: response.body.clone(),
            is_for_anybody: self.is_for_anybody(&at),
        };
        let validators = Validators {
            etag: kept_header(&response, header::ETAG),
            last_modified: kept_header(&response, header::LAST_MODIFIED),
            ..NO_VALIDATORS.clone()
        };
        let can_be_used_again =
            fresh_until > fetched_at || validators.etag.is_some() || validators.last_modified.is_some();
        if answer.status == 200 && can_be_used_again && !is_kept_nowhere(&response) {
            parts.keep(at.as_str(), accept, answer.clone(), validators, fresh_until);
        }
        Ok(answer)
    }
}

impl Door for HostDoor<'_> {
    async fn ask(&mut self, request: PartRequest) -> Result<PartAnswer, PartRefusal> {
        let key = (request.url.clone(), request.accept.clone());
        let answer = match self.here.remove(&key) {
            Some(answer) => answer,
            None => self.fetch(&request).await?,
        };
        self.seen.push(SeenPart::new(request, &answer));
        Ok(answer)
    }
}

/// Whether an address names the time of a look, in seconds or milliseconds.
fn names_time(url: &str, at: Timestamp) -> bool {
    // Scripts round it down to minutes or hours, too.
    let hours = (at.as_secs() / 10_000).to_string();
    hours.len() > 3 && url.contains(&hours)
}

/// Whether a failure may be over at the next look.
fn is_passing(outcome: FetchOutcome) -> bool {
    use FetchOutcome::{
        Challenged, ConnectFailed, ConnectionLost, DnsFailed, MalformedResponse, PaymentRequired, RateLimited,
        RobotsUnavailable, ServerError, TimedOut, TlsFailed, TooLarge,
    };
    let of_host = [ConnectFailed, DnsFailed, TlsFailed, ConnectionLost, TimedOut, RobotsUnavailable];
    let of_answer = [ServerError, RateLimited, MalformedResponse, TooLarge, PaymentRequired, Challenged];
    of_host.contains(&outcome) || of_answer.contains(&outcome)
}

fn is_kept_nowhere(response: &Response) -> bool {
    response.headers_named(header::CACHE_CONTROL).any(|line| line.to_ascii_lowercase().contains("no-store"))
}
