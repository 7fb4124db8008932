//! Leads requests to what answers them, by the table of routes.

use super::answer::TextResponse;
use super::connections::{MAX_CONNECTIONS, Place};
use super::door::{LOG_HEADER, refused};
use super::forms::{FormTokens, refuse_foreign};
use super::intake::Intake;
use super::route::{self, Access, Form, Route, Target, Task};
use super::routes::{at, methods};
use super::{CALLER_HEADER, COMMAND_HEADER, Call, HttpSite, openapi};
use crate::hints::HintIntake;
use crate::metrics;
use crate::pings::{self, PingReply};
use crate::receivers::ReceiverStatus;
use crate::threads::StopSignal;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response};
use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// Maximum size of the body of a command: a file of some hundred thousand seeds.
const MAX_COMMAND_BYTES: usize = 32 << 20;
/// `/healthz` fails once a stage has failed for this long, though the log answers this process.
const STUCK_AFTER: Duration = Duration::from_secs(300);
/// Most commands carried out at once. As many of the largest bodies are held.
const MAX_COMMANDS: usize = 2;
/// Most pings answered at once. As many of the largest bodies are held.
const MAX_PINGS: usize = 8;
/// Most documents made at once.
const MAX_DOCUMENTS: usize = 2;
/// Most screens made at once. A slow one does not keep programs from their documents.
const MAX_SCREENS: usize = 2;
/// Most bytes in the body of a form: a pasted list of ten thousand seeds.
const MAX_FORM_BYTES: usize = 4 << 20;
/// Most forms answered at once, of those that give orders and of those that only ask.
const MAX_FORMS: usize = 2;
/// Most bytes in the body of a request for a document. It should have none.
const MAX_DOCUMENT_REQUEST: usize = 1 << 10;
/// Longest user and machine that a request may claim, in bytes. A longer one is passed over.
const LONGEST_CLAIM: usize = 256;
/// Requests being answered keep their places, so there must be others.
const _: () = assert!(MAX_COMMANDS + MAX_PINGS + MAX_DOCUMENTS + MAX_SCREENS + 2 * MAX_FORMS < MAX_CONNECTIONS);

/// Answers requests.
pub(super) struct Server {
    pub(super) site: HttpSite,
    stop: StopSignal,
    commands: Intake,
    pings: Intake,
    documents: Intake,
    screens: Intake,
    forms: Intake,
    /// Forms that change nothing. They may wait for a server of the web, and orders must not wait with them.
    trials: Intake,
    form_tokens: Arc<FormTokens>,
}

impl Server {
    /// # Errors
    /// The system has no random numbers.
    pub(super) fn new(site: HttpSite, stop: StopSignal) -> io::Result<Self> {
        let intake = |most_bytes, most| Intake::new(most_bytes, most * most_bytes, most, site.step_timeout);
        let (commands, pings) = (intake(MAX_COMMAND_BYTES, MAX_COMMANDS), intake(pings::MAX_BODY_BYTES, MAX_PINGS));
        let documents = intake(MAX_DOCUMENT_REQUEST, MAX_DOCUMENTS);
        let screens = intake(MAX_DOCUMENT_REQUEST, MAX_SCREENS);
        let (forms, trials) = (intake(MAX_FORM_BYTES, MAX_FORMS), intake(MAX_FORM_BYTES, MAX_FORMS));
        let form_tokens = Arc::new(FormTokens::new(site.door.forms_key.as_ref())?);
        Ok(Self { site, stop, commands, pings, documents, screens, forms, trials, form_tokens })
    }

    pub(super) async fn respond(
        &self,
        place: &Place,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, Infallible> {
        let found = at(request.uri().path());
        let allow = HeaderValue::from_str(&methods(&found)).ok();
        let is_for_people =
            found.iter().any(|(route, _)| route.is_screen() || route.is_form()) && accepts_html(request.headers());
        let mut answer = self.answer(place, request, found).await;
        if is_for_people && answer.status >= 400 {
            answer = answer.into_screen();
        }
        let mut response = answer.into_response();
        let status = response.status().as_u16();
        let headers = response.headers_mut();
        if let Some(allow) = allow.filter(|_| matches!(status, 204 | 405)) {
            headers.insert(header::ALLOW, allow);
        }
        if let Some(log) = self.site.door.log.as_deref().and_then(|log| HeaderValue::from_str(log).ok()) {
            headers.insert(LOG_HEADER, log);
        }
        if status == 401 {
            // On lines of their own: Chromium reads one way on each line, and takes "Bearer, Basic" for a way that it does not know.
            for way in ["Basic realm=\"recrawl\", charset=\"UTF-8\"", "Bearer"] {
                headers.append(header::WWW_AUTHENTICATE, HeaderValue::from_static(way));
            }
        }
        Ok(response)
    }

    async fn answer(
        &self,
        place: &Place,
        request: Request<Incoming>,
        found: Vec<(&'static Route, Option<String>)>,
    ) -> TextResponse {
        if let Some(refusal) = self.misaddressed(&request).or_else(|| self.site.door.other_crawl(request.headers())) {
            return refusal;
        }
        if found.is_empty() {
            return TextResponse::problem(404, "no such path; /openapi.json lists all");
        }
        // No header allows another origin anything, so a browser that asks for one is refused.
        if request.method() == Method::OPTIONS {
            return TextResponse::text(204, "");
        }
        let allowed = methods(&found);
        // The body of an answer to HEAD is left out when it is sent.
        let is_head = request.method() == Method::HEAD;
        let method = if is_head { "GET" } else { request.method().as_str() };
        let route =
            found.into_iter().find(|(route, _)| route.method.name() == method && (!is_head || route.has_head()));
        let Some((route, name)) = route else {
            return TextResponse::problem(405, format!("this path takes {allowed}"));
        };
        match route.target {
            Target::Healthz => self.health(),
            // A process that takes commands stays ready for them.
            Target::Readyz
                if self.site.tasks.is_none()
                    && let Some(disk) = self.site.board.short_disk() =>
            {
                TextResponse::problem(503, format!("not ready: the disk is nearly full: {}", disk.words()))
            }
            Target::Readyz
                if let Some(clock) = self.site.board.clock()
                    && clock.is_far_off() =>
            {
                TextResponse::problem(503, format!("not ready: {}", clock.words()))
            }
            Target::Readyz if self.site.board.is_ready() => TextResponse::text(200, "ready\n"),
            Target::Readyz => TextResponse::problem(503, "not ready: joining the group or restoring state"),
            Target::Metrics => self.metrics(request.headers()),
            Target::Status => self.status(request.headers()),
            Target::Document => TextResponse::json(200, &openapi()),
            Target::Ping => self.ping(place, request).await,
            Target::Task(task) => self.carry_out(place, request, (route, task, name)).await,
        }
    }

    fn health(&self) -> TextResponse {
        if self.stop.is_stopped() {
            return TextResponse::problem(503, "stopping");
        }
        let board = &self.site.board;
        // A log in this process would not be mended by a start.
        let stuck = || self.site.tasks.is_none().then(|| board.stuck_stage(STUCK_AFTER)).flatten();
        match board.hung_stage(self.site.hung_after).or_else(stuck) {
            None => TextResponse::text(200, "ok\n"),
            Some(why) => TextResponse::problem(503, why),
        }
    }

    /// The status. Callers without a token do not see who receives changes, also where there is no token at all.
    fn status(&self, headers: &HeaderMap) -> TextResponse {
        let (door, mut status) = (&self.site.door, self.site.board.status());
        if door.reader(headers).is_err() {
            status.receivers.iter_mut().for_each(ReceiverStatus::hide);
        }
        TextResponse::json(200, &status)
    }

    /// A stranger who knows the version knows its faults. Where there are keys, it is shown to their owners only.
    fn metrics(&self, headers: &HeaderMap) -> TextResponse {
        let door = &self.site.door;
        let shows_version = !door.is_locked() || door.reader(headers).is_ok();
        let pings = self.site.hints.as_deref().map(HintIntake::counts);
        let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        TextResponse { status: 200, content_type, body: metrics::text(&self.site.board, pings, shows_version) }
    }

    async fn carry_out(
        &self,
        place: &Place,
        request: Request<Incoming>,
        (route, task, name): (&'static Route, Task, Option<String>),
    ) -> TextResponse {
        let Some(tasks) = self.site.tasks.clone() else {
            return TextResponse::problem(
                404,
                "this process is no whole crawl: it takes no commands and has no changes",
            );
        };
        if route.is_command() && !request.headers().contains_key(COMMAND_HEADER) {
            let text = format!("the header {COMMAND_HEADER} is missing; every command needs it");
            return TextResponse::problem(403, text);
        }
        if route.is_form()
            && let Some(refusal) = refuse_foreign(request.headers())
        {
            return refusal;
        }
        let door = &self.site.door;
        let headers = request.headers();
        let caller = if route.is_command() { door.commander(headers) } else { door.reader(headers) };
        let caller = match caller {
            Ok(caller) => caller,
            Err(refusal) => return refusal,
        };
        let (head, body) = request.into_parts();
        let claimed_caller = claimed_caller(&head.headers).map(str::to_owned);
        if let Access::Role(needed) = route.access
            && caller.role < needed
        {
            let (key, role, needed) = (&caller.name, caller.role.word(), needed.word());
            let why = format!("the key {key:?} has the role {role}; {} takes {needed}", route.path);
            let (path, claimed_caller) = (head.uri.path(), claimed_caller.as_deref());
            if let Some(note) = self.site.refusals.as_ref().filter(|_| route.method != route::Method::Get) {
                let name = name.as_deref();
                let (query, body, form_token) = ("", &b""[..], "");
                note(&Call { task, caller: &caller, claimed_caller, path, name, query, body, form_token }, &why);
            }
            return refused(&caller, path, &why);
        }
        let form_tokens = self.form_tokens.clone();
        let carry_out = move |body: &[u8]| {
            let (path, query) = (head.uri.path(), head.uri.query().unwrap_or_default());
            let (claimed_caller, name) = (claimed_caller.as_deref(), name.as_deref());
            let form_token = &form_tokens.of(&caller);
            if route.is_form()
                && let Some(refusal) = form_tokens.refusal(&caller, body)
            {
                return refusal;
            }
            tasks(&Call { task, caller: &caller, claimed_caller, path, name, query, body, form_token })
        };
        let intake = match task {
            _ if route.is_command() => &self.commands,
            Task::Form(Form::Command(_) | Form::ChangeRules) => &self.forms,
            Task::Form(Form::CheckSeeds | Form::TryRule) => &self.trials,
            Task::Screen(_) => &self.screens,
            Task::Order(_)
            | Task::BackUp
            | Task::Changes
            | Task::AtomFeed
            | Task::RssFeed
            | Task::Stylesheet
            | Task::Script => &self.documents,
        };
        intake.answer(place, body, carry_out).await
    }

    async fn ping(&self, place: &Place, request: Request<Incoming>) -> TextResponse {
        let served = self.site.hints.clone().filter(|hints| hints.serves(request.uri().path()));
        let Some(hints) = served else {
            return TextResponse::problem(404, "no setting of this process opens this path; see hints in the settings");
        };
        let (head, body) = request.into_parts();
        let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
        if let Some(refusal) = hints.refusal(head.uri.path(), &header) {
            return refusal.into();
        }
        let take = move |body: &[u8]| {
            let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
            let (path, query) = (head.uri.path(), head.uri.query().unwrap_or_default());
            let request = pings::PingRequest { method: head.method.as_str(), path, query, header: &header, body };
            hints.answer(&request).into()
        };
        self.pings.answer(place, body, take).await
    }

    /// Refuses a request to another host. Each name in a request must be served, whichever of them its sender or a proxy
    /// uses.
    fn misaddressed(&self, request: &Request<Incoming>) -> Option<TextResponse> {
        let named = request.headers().get_all(header::HOST).iter().map(|host| host.to_str().unwrap_or_default());
        let mut hosts = named.chain(request.uri().authority().map(|authority| authority.as_str()));
        let host = hosts.find(|host| !self.is_addressed_by(host))?;
        let ask = "ask by an address or as localhost, or add the name to http.names";
        Some(TextResponse::problem(421, format!("not served as {host}: {ask}")))
    }

    /// Whether requests may address this host. A name that somebody else controls could be pointed at this machine, and
    /// a page of that name would be allowed to talk to us (DNS rebinding).
    fn is_addressed_by(&self, host: &str) -> bool {
        let (name, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some(parts) => parts,
            None => host.split_at(host.find(':').unwrap_or(host.len())),
        };
        // Nothing but a port may follow: readers differ in where they see the name in "localhost:80@elsewhere".
        let is_port = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        if !(port.is_empty() || port.strip_prefix(':').is_some_and(is_port)) {
            return false;
        }
        name.parse::<IpAddr>().is_ok()
            || name.eq_ignore_ascii_case("localhost")
            || self.site.names.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// Whether the sender is a browser that shows the answer.
fn accepts_html(headers: &HeaderMap) -> bool {
    headers.get(header::ACCEPT).and_then(|accepted| accepted.to_str().ok()).is_some_and(|it| it.contains("text/html"))
}

/// The user and machine that a request claims.
fn claimed_caller(headers: &HeaderMap) -> Option<&str> {
    headers.get(CALLER_HEADER)?.to_str().ok().filter(|claim| claim.len() <= LONGEST_CLAIM)
}

impl From<PingReply> for TextResponse {
    fn from(PingReply { status, content_type, body, .. }: PingReply) -> Self {
        if status >= 400 {
            return Self::problem(status, body.trim_end());
        }
        Self { status, content_type, body }
    }
}
