//! One rendering: a browsing context of its own, in which each request is answered by the door.

use crate::pipe::{Event, Events, MAX_WAITING, Pipe, Reply, Request};
use crate::rendering::{Document, Door, RenderFailure, RenderLimits, RenderedPage};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Runs before the scripts of the page.
const STILL: &str = include_str!("still.js");
const DISPOSE: &str = "Target.disposeBrowserContext";
/// How long the end of a context may take before it is left to the end of the browser.
const CLOSE: Duration = Duration::from_secs(2);
/// Most timers that run in one step.
const TIMERS_AT_ONCE: u32 = 100;
/// Timers that are due within this time (virtual) run in one step.
const TIMERS_TOGETHER_MS: f64 = 50.0;
/// How long (real) no event must have come before the first of the waiting requests is answered.
const GATHERING: Duration = Duration::from_millis(5);
/// How long (real) an answer may take to arrive.
const ANSWER_ARRIVES: Duration = Duration::from_millis(100);
/// How long (real) nothing must have come before open requests count as abandoned.
const ABANDONED: Duration = Duration::from_secs(1);
/// How long (real) nothing must have come before the next timer.
const BETWEEN_TIMERS: Duration = Duration::from_millis(10);

pub(crate) struct Session<'a> {
    pub(crate) pipe: &'a Pipe,
    pub(crate) limits: &'a RenderLimits,
    context: String,
    is_closed: bool,
    /// The main session. Those of frames and workers follow.
    pub(crate) id: String,
    /// The main frame, which has the id of its target.
    pub(crate) frame: String,
    sessions: Vec<String>,
    events: Events,
    sender: mpsc::Sender<Event>,
    /// Time that the browser has left.
    left: Duration,
    pub(crate) is_loaded: bool,
    /// The document has been handed over. A later one would be another page.
    pub(crate) is_handed_over: bool,
    pub(crate) parts: usize,
    pub(crate) blocked: usize,
    pub(crate) refused: HashSet<String>,
    /// Requests that the browser has begun and not ended, with their numbers.
    pub(crate) open: HashMap<String, u64>,
    pub(crate) begun: u64,
    /// The last request that was answered.
    pub(crate) answered: Option<String>,
    /// Requests that wait for their answers, with their sessions.
    pub(crate) waiting: Vec<(String, Request)>,
}

impl<'a> Session<'a> {
    pub(crate) async fn open(pipe: &'a Pipe, limits: &'a RenderLimits) -> Result<Self, RenderFailure> {
        let (sender, events) = mpsc::channel(MAX_WAITING);
        let created = pipe.send(None, "Target.createBrowserContext", json!({ "disposeOnDetach": true }));
        let context = text(&answer("Target.createBrowserContext", created, limits.at_work).await?, "browserContextId");
        let mut session = Self {
            pipe,
            limits,
            context,
            is_closed: false,
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
            open: HashMap::new(),
            begun: 0,
            answered: None,
            waiting: Vec::new(),
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

    pub(crate) fn listen(&mut self, session: &str) {
        self.pipe.subscribe(session, self.sender.clone());
        self.sessions.push(session.to_owned());
    }

    /// Ends the context. A page that does not let go is left to the end of the browser.
    pub(crate) async fn close(mut self) {
        self.is_closed = true;
        let disposed = json!({ "browserContextId": self.context });
        let _ = tokio::time::timeout(CLOSE, self.pipe.send(None, DISPOSE, disposed)).await;
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
            let (gathering, has_waiting, left) = (self.gathering(), !self.waiting.is_empty(), self.left);
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
                () = tokio::time::sleep(gathering), if has_waiting => {
                    self.worked(waited);
                    self.answer_first(document, door).await?;
                    continue;
                }
                () = tokio::time::sleep(left) => return Err(self.too_long()),
            };
            self.worked(waited);
            let event = event.ok_or(RenderFailure::BrowserEnded)?;
            self.is_not_flooded()?;
            self.take(event)?;
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
        self.is_not_flooded()?;
        let waited = Instant::now();
        let patience = if self.waiting.is_empty() { patience } else { self.gathering() };
        let event = match self.events.try_recv() {
            Ok(event) => Some(event),
            Err(_) => tokio::time::timeout(patience.min(self.left), self.events.recv()).await.ok().flatten(),
        };
        self.worked(waited);
        match event {
            Some(event) => {
                self.take(event)?;
                Ok(true)
            }
            None if !self.waiting.is_empty() => self.answer_first(document, door).await,
            None if self.left.is_zero() => Err(self.too_long()),
            None => Ok(false),
        }
    }

    /// How long (real) no event must have come before a request is answered: as long as the last answer may still be on its
    /// way, so that answers arrive in their order.
    fn gathering(&self) -> Duration {
        let is_on_its_way = self.answered.as_ref().is_some_and(|id| self.open.contains_key(id));
        if is_on_its_way { ANSWER_ARRIVES } else { GATHERING }
    }

    fn is_not_flooded(&self) -> Result<(), RenderFailure> {
        let is_flooded = self.sessions.iter().any(|session| self.pipe.is_flooded(session));
        if is_flooded { Err(RenderFailure::Floods) } else { Ok(()) }
    }

    fn worked(&mut self, since: Instant) {
        self.left = self.left.saturating_sub(since.elapsed());
    }

    fn too_long(&self) -> RenderFailure {
        RenderFailure::TookTooLong(self.limits.at_work.as_secs())
    }
}

impl Drop for Session<'_> {
    /// Ends the context, also of a rendering that was abandoned.
    fn drop(&mut self) {
        self.sessions.iter().for_each(|session| self.pipe.unsubscribe(session));
        if !self.is_closed {
            drop(self.pipe.send(None, DISPOSE, json!({ "browserContextId": self.context })));
        }
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
    let Some(head) = html.find("<head").and_then(|head| Some(head + html[head..].find('>')? + 1)) else { return html };
    let escaped = base.replace('&', "&amp;").replace('"', "&quot;");
    let (before, after) = html.split_at(head);
    format!("{before}<base href=\"{escaped}\">{after}")
}
