//! One rendering: a browsing context of its own, in which each request is answered by the door.

use crate::pipe::{Event, Events, Pipe, Reply};
use crate::rendering::{
    Document, Door, PartAnswer, PartKind, PartRefusal, PartRequest, RenderFailure, RenderLimits, RenderedPage,
};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Runs before the scripts of the page.
const STILL: &str = include_str!("still.js");
/// The smallest GIF: a picture is there, as far as scripts can see.
const PICTURE: &[u8] =
    b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";
/// How long the end of a context may take before it is left to the end of the browser.
const CLOSE: Duration = Duration::from_secs(2);
/// Most timers that run in one step.
const TIMERS_AT_ONCE: u32 = 100;
/// Timers that are due within this time (virtual) run in one step.
const TIMERS_TOGETHER_MS: f64 = 50.0;
/// How long (real) nothing must have come before open requests count as abandoned.
const ABANDONED: Duration = Duration::from_secs(1);
/// How long (real) nothing must have come before the next timer.
const BETWEEN_TIMERS: Duration = Duration::from_millis(10);

pub(crate) struct Session<'a> {
    pipe: &'a Pipe,
    limits: &'a RenderLimits,
    context: String,
    /// The main session. Those of frames and workers follow.
    id: String,
    /// The main frame, which has the id of its target.
    frame: String,
    sessions: Vec<String>,
    events: Events,
    sender: mpsc::UnboundedSender<Event>,
    /// Time that the browser has left.
    left: Duration,
    is_loaded: bool,
    /// The document has been handed over. A later one would be another page.
    is_handed_over: bool,
    parts: usize,
    blocked: usize,
    refused: HashSet<String>,
    /// Requests that the browser has begun and not ended.
    open: HashSet<String>,
}

impl<'a> Session<'a> {
    pub(crate) async fn open(pipe: &'a Pipe, limits: &'a RenderLimits) -> Result<Self, RenderFailure> {
        let (sender, events) = mpsc::unbounded_channel();
        let created = pipe.send(None, "Target.createBrowserContext", json!({ "disposeOnDetach": true }));
        let context = text(&answer("Target.createBrowserContext", created, limits.at_work).await?, "browserContextId");
        let mut session = Self {
            pipe,
            limits,
            context,
            id: String::new(),
            frame: String::new(),
            sessions: Vec::new(),
            events,
            sender,
            left: limits.at_work,
            is_loaded: false,
            is_handed_over: false,
            parts: 0,
            blocked: 0,
            refused: HashSet::new(),
            open: HashSet::new(),
        };
        match session.attach().await {
            Ok(()) => Ok(session),
            Err(failure) => {
                session.close().await;
                Err(failure)
            }
        }
    }

    async fn attach(&mut self) -> Result<(), RenderFailure> {
        let target = json!({ "url": "about:blank", "browserContextId": self.context });
        self.frame = text(&self.browser("Target.createTarget", target).await?, "targetId");
        let attached = json!({ "targetId": self.frame, "flatten": true });
        let attached = self.browser("Target.attachToTarget", attached).await?;
        self.id = text(&attached, "sessionId");
        self.listen(&self.id.clone());
        Ok(())
    }

    async fn browser(&self, command: &'static str, params: Value) -> Result<Value, RenderFailure> {
        answer(command, self.pipe.send(None, command, params), self.limits.at_work).await
    }

    fn listen(&mut self, session: &str) {
        self.pipe.subscribe(session, self.sender.clone());
        self.sessions.push(session.to_owned());
    }

    /// Ends the context. A page that does not let go is left to the end of the browser.
    pub(crate) async fn close(self) {
        self.sessions.iter().for_each(|session| self.pipe.unsubscribe(session));
        let disposed = json!({ "browserContextId": self.context });
        let _ = tokio::time::timeout(CLOSE, self.pipe.send(None, "Target.disposeBrowserContext", disposed)).await;
    }

    pub(crate) async fn render(
        &mut self,
        document: &Document<'_>,
        door: &mut impl Door,
    ) -> Result<RenderedPage, RenderFailure> {
        let now_ms = document.now.as_millis();
        let seed = document.url.bytes().fold(0_u32, |seed, byte| seed.wrapping_mul(31).wrapping_add(u32::from(byte)));
        let still = format!("({STILL})({seed}, {now_ms})");
        let prepared = [
            ("Page.enable", json!({})),
            ("Inspector.enable", json!({})),
            ("Page.addScriptToEvaluateOnNewDocument", json!({ "source": still })),
            ("Network.enable", json!({ "maxTotalBufferSize": 0, "maxResourceBufferSize": 0 })),
            ("Network.setBypassServiceWorker", json!({ "bypass": true })),
            ("Emulation.setTimezoneOverride", json!({ "timezoneId": "UTC" })),
            (
                "Emulation.setDeviceMetricsOverride",
                json!({ "width": 1280, "height": 2000, "deviceScaleFactor": 1, "mobile": false }),
            ),
            ("Fetch.enable", json!({ "patterns": [{ "urlPattern": "*" }] })),
            ("Target.setAutoAttach", json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true })),
        ];
        for (command, params) in prepared {
            self.command(command, params, document, door).await?;
        }
        self.command("Page.navigate", json!({ "url": document.url }), document, door).await?;
        while !self.is_loaded {
            // A script that wants to go elsewhere ends the loading without an event.
            if !self.next_event(ABANDONED, document, door).await? && self.is_handed_over {
                break;
            }
        }
        self.settle(document, door).await?;
        let capture = format!("__recrawl.capture({}, {})", self.limits.characters, json!(document.url));
        let captured = self.evaluate(&capture, document, door).await?;
        let html = with_base(text(&captured, "html"), captured["base"].as_str());
        Ok(RenderedPage { html, is_cut: captured["cut"] == json!(true), blocked: self.blocked })
    }

    /// Lets the timers of the page run one after the other, until nothing changes any more.
    async fn settle(&mut self, document: &Document<'_>, door: &mut impl Door) -> Result<(), RenderFailure> {
        let timers_ms = self.limits.timers.as_secs_f64() * 1_000.0;
        let (mut until_ms, mut mutations) = (0.0, None);
        loop {
            // Time stands still while the page is at work: what it asked for comes before its next timer.
            self.wait_until_still(BETWEEN_TIMERS, document, door).await?;
            let advanced = format!("__recrawl.advance({until_ms}, {TIMERS_AT_ONCE})");
            let advanced = self.evaluate(&advanced, document, door).await?;
            let has_run = advanced["ran"].as_u64() > Some(0);
            let has_changed = std::mem::replace(&mut mutations, advanced["mutations"].as_u64()) != mutations;
            if has_run || has_changed || !self.open.is_empty() {
                continue;
            }
            match advanced["next"].as_f64() {
                Some(next) if next <= timers_ms => until_ms = (next + TIMERS_TOGETHER_MS).min(timers_ms),
                Some(_) | None => {
                    if !self.wait_until_still(self.limits.quiet, document, door).await? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Waits until no request has been open and no event has come for a while. Returns whether there was any.
    async fn wait_until_still(
        &mut self,
        quiet: Duration,
        document: &Document<'_>,
        door: &mut impl Door,
    ) -> Result<bool, RenderFailure> {
        let mut was_busy = false;
        loop {
            let patience = if self.open.is_empty() { quiet } else { quiet.max(ABANDONED) };
            if !self.next_event(patience, document, door).await? {
                // We answer at once. A request that is still open now belongs to a frame or a document that is gone.
                self.open.clear();
                return Ok(was_busy);
            }
            was_busy = true;
        }
    }

    async fn evaluate(
        &mut self,
        expression: &str,
        document: &Document<'_>,
        door: &mut impl Door,
    ) -> Result<Value, RenderFailure> {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut evaluated = self.command("Runtime.evaluate", params, document, door).await?;
        if let Some(thrown) = evaluated["exceptionDetails"]["exception"]["description"].as_str() {
            return Err(RenderFailure::Refused {
                command: "Runtime.evaluate",
                reason: thrown.chars().take(200).collect(),
            });
        }
        Ok(evaluated["result"]["value"].take())
    }

    /// Sends a command, and serves the page until there is a reply.
    async fn command(
        &mut self,
        command: &'static str,
        params: Value,
        document: &Document<'_>,
        door: &mut impl Door,
    ) -> Result<Value, RenderFailure> {
        let mut reply = self.pipe.send(Some(&self.id), command, params);
        loop {
            let waited = Instant::now();
            let event = tokio::select! {
                biased;
                event = self.events.recv() => event,
                replied = &mut reply => {
                    self.worked(waited);
                    return match replied {
                        Ok(Ok(result)) => Ok(result),
                        Ok(Err(reason)) => Err(RenderFailure::Refused { command, reason }),
                        Err(_) => Err(RenderFailure::BrowserEnded),
                    };
                }
                () = tokio::time::sleep(self.left) => return Err(self.too_long()),
            };
            self.worked(waited);
            let event = event.ok_or(RenderFailure::BrowserEnded)?;
            self.take(event, document, door).await?;
        }
    }

    /// Waits for an event, and serves it. Returns whether there was one.
    async fn next_event(
        &mut self,
        patience: Duration,
        document: &Document<'_>,
        door: &mut impl Door,
    ) -> Result<bool, RenderFailure> {
        if self.pipe.is_closed() {
            return Err(RenderFailure::BrowserEnded);
        }
        let waited = Instant::now();
        let event = match self.events.try_recv() {
            Ok(event) => Some(event),
            Err(_) if patience.is_zero() => return Ok(false),
            Err(_) => tokio::time::timeout(patience.min(self.left), self.events.recv()).await.ok().flatten(),
        };
        self.worked(waited);
        match event {
            Some(event) => {
                self.take(event, document, door).await?;
                Ok(true)
            }
            None if self.left.is_zero() => Err(self.too_long()),
            None => Ok(false),
        }
    }

    fn worked(&mut self, since: Instant) {
        self.left = self.left.saturating_sub(since.elapsed());
    }

    fn too_long(&self) -> RenderFailure {
        RenderFailure::TookTooLong(self.limits.at_work.as_secs())
    }

    async fn take(&mut self, event: Event, document: &Document<'_>, door: &mut impl Door) -> Result<(), RenderFailure> {
        let is_main = event.session == self.id;
        match event.method.as_str() {
            "Page.loadEventFired" if is_main => self.is_loaded = true,
            "Inspector.targetCrashed" if is_main => return Err(RenderFailure::Crashed),
            "Page.javascriptDialogOpening" => {
                self.to(&event.session, "Page.handleJavaScriptDialog", json!({ "accept": false }));
            }
            "Network.requestWillBeSent" if is_main => {
                self.open.insert(text(&event.params, "requestId"));
            }
            "Network.loadingFinished" | "Network.loadingFailed" if is_main => {
                self.open.remove(event.params["requestId"].as_str().unwrap_or_default());
            }
            "Target.attachedToTarget" => self.attached(&event.params),
            "Fetch.requestPaused" => self.requested(&event, document, door).await?,
            _ => {}
        }
        Ok(())
    }

    /// Prepares a frame or a worker before it runs. A service worker never does.
    fn attached(&mut self, target: &Value) {
        let session = text(target, "sessionId");
        let kind = target["targetInfo"]["type"].as_str().unwrap_or_default();
        if kind == "service_worker" || kind == "shared_worker" {
            return;
        }
        self.listen(&session);
        self.to(&session, "Fetch.enable", json!({ "patterns": [{ "urlPattern": "*" }] }));
        self.to(
            &session,
            "Target.setAutoAttach",
            json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true }),
        );
        self.to(&session, "Runtime.runIfWaitingForDebugger", json!({}));
    }

    /// Sends a command whose reply says nothing.
    fn to(&self, session: &str, command: &'static str, params: Value) {
        drop(self.pipe.send(Some(session), command, params));
    }

    async fn requested(
        &mut self,
        event: &Event,
        document: &Document<'_>,
        door: &mut impl Door,
    ) -> Result<(), RenderFailure> {
        let (request, id) = (&event.params["request"], &event.params["requestId"]);
        let url = request["url"].as_str().unwrap_or_default();
        let method = request["method"].as_str().unwrap_or_default();
        let kind = event.params["resourceType"].as_str().unwrap_or_default();
        let is_page = kind == "Document" && self.is_top_frame(event);
        if is_page && !self.is_handed_over && url == document.url {
            self.is_handed_over = true;
            let answer = PartAnswer {
                status: 200,
                content_type: Some(document.content_type.to_owned()),
                location: None,
                body: document.body.to_vec().into(),
            };
            self.answer(&event.session, id, &answer, None);
            return Ok(());
        }
        let origin = request["headers"]["Origin"].as_str();
        let part = match (method, kind) {
            // Only what scripts can see of them is there: a picture, no style, no sound.
            ("GET", "Image") => {
                self.stand_in(event, "image/gif", PICTURE, origin);
                return Ok(());
            }
            ("GET", "Stylesheet") | ("OPTIONS", _) => {
                self.stand_in(event, "text/css", b"", origin);
                return Ok(());
            }
            ("GET", "Document") => Some(PartKind::Frame),
            ("GET", "Script") => Some(PartKind::Script),
            ("GET", "XHR" | "Fetch" | "Other" | "Prefetch") => Some(PartKind::Data),
            // What would change something at a site is never sent.
            _ => None,
        };
        // A page that goes elsewhere is read as it is here.
        let is_wanted = url.starts_with("http") && !is_page && !self.refused.contains(url);
        let Some(part) = part.filter(|_| is_wanted) else {
            self.block(event, url, is_page);
            return Ok(());
        };
        self.parts += 1;
        if self.parts > self.limits.parts {
            return Err(RenderFailure::TooManyParts(self.limits.parts));
        }
        let accept = request["headers"]["Accept"].as_str().map(str::to_owned);
        match door.ask(PartRequest { url: url.to_owned(), kind: part, accept }).await {
            Ok(answer) => self.answer(&event.session, id, &answer, origin),
            Err(PartRefusal::Blocked) => self.block(event, url, false),
            Err(PartRefusal::GiveUp(why)) => return Err(RenderFailure::GivenUp(why)),
        }
        Ok(())
    }

    /// Whether a request would replace the page by another one.
    fn is_top_frame(&self, event: &Event) -> bool {
        event.session == self.id && event.params["frameId"].as_str() == Some(self.frame.as_str())
    }

    fn block(&mut self, event: &Event, url: &str, is_page: bool) {
        self.blocked += usize::from(!is_page);
        if !is_page && self.refused.len() < self.limits.parts {
            self.refused.insert(url.to_owned());
        }
        // A page that may not go elsewhere stays. Otherwise the browser would show a message in its place.
        let reason = if is_page { "Aborted" } else { "BlockedByClient" };
        let params = json!({ "requestId": event.params["requestId"], "errorReason": reason });
        self.to(&event.session, "Fetch.failRequest", params);
    }

    fn stand_in(&self, event: &Event, content_type: &str, body: &'static [u8], origin: Option<&str>) {
        let content_type = Some(content_type.to_owned());
        let answer = PartAnswer { status: 200, content_type, location: None, body: body.into() };
        self.answer(&event.session, &event.params["requestId"], &answer, origin);
    }

    fn answer(&self, session: &str, id: &Value, answer: &PartAnswer, origin: Option<&str>) {
        let mut headers = Vec::new();
        let mut header = |name: &str, value: &str| headers.push(json!({ "name": name, "value": value }));
        if let Some(content_type) = &answer.content_type {
            header("content-type", content_type);
        }
        if let Some(location) = &answer.location {
            header("location", location);
        }
        // Nothing of a reader's is sent along, so a page may read whatever anybody may.
        if let Some(origin) = origin {
            header("access-control-allow-origin", origin);
            header("access-control-allow-credentials", "true");
            header("access-control-allow-headers", "*, authorization");
            header("access-control-expose-headers", "*");
        }
        let params = json!({
            "requestId": id,
            "responseCode": answer.status,
            "responseHeaders": headers,
            "body": BASE64_STANDARD.encode(&answer.body),
        });
        self.to(session, "Fetch.fulfillRequest", params);
    }
}

async fn answer(command: &'static str, reply: Reply, patience: Duration) -> Result<Value, RenderFailure> {
    match tokio::time::timeout(patience, reply).await {
        Ok(Ok(Ok(result))) => Ok(result),
        Ok(Ok(Err(reason))) => Err(RenderFailure::Refused { command, reason }),
        Ok(Err(_)) => Err(RenderFailure::BrowserEnded),
        Err(_) => Err(RenderFailure::TookTooLong(patience.as_secs())),
    }
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

/// A document whose links are relative to another address than its own, because its scripts have moved it.
fn with_base(html: String, base: Option<&str>) -> String {
    let Some(base) = base else { return html };
    let Some(head) = html.find("<head>") else { return html };
    let escaped = base.replace('&', "&amp;").replace('"', "&quot;");
    let (before, after) = html.split_at(head + "<head>".len());
    format!("{before}<base href=\"{escaped}\">{after}")
}
