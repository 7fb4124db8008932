//! Answers the requests of a page, and prepares its frames and workers.

use crate::pipe::{Event, EventKind, Request};
use crate::rendering::{Document, Door, PartAnswer, PartKind, PartRefusal, PartRequest, RenderFailure};
use crate::session::Session;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};

/// The smallest GIF: a picture is there, as far as scripts can see.
const PICTURE: &[u8] =
    b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

impl Session<'_> {
    pub(crate) fn take(&mut self, event: Event) -> Result<(), RenderFailure> {
        let is_main = event.session == self.id;
        match event.kind {
            EventKind::Loaded if is_main => self.is_loaded = true,
            EventKind::Crashed if is_main => return Err(RenderFailure::Crashed),
            EventKind::Dialog => self.to(&event.session, "Page.handleJavaScriptDialog", json!({ "accept": false })),
            EventKind::Begun { id } if is_main => {
                self.begun += 1;
                self.open.entry(id).or_insert(self.begun);
            }
            EventKind::Ended { id } if is_main => {
                self.open.remove(&id);
            }
            EventKind::Attached { session, kind } => self.attached(&session, &kind),
            EventKind::Requested(request) => self.waiting.push((event.session, request)),
            EventKind::Loaded | EventKind::Crashed | EventKind::Begun { .. } | EventKind::Ended { .. } => {}
        }
        Ok(())
    }

    /// Answers the waiting request that the page began first. Events come in an order of their own when the machine is busy, and
    /// scripts see in which order answers come. Returns whether there was one.
    pub(crate) async fn answer_first(
        &mut self,
        document: &Document<'_>,
        door: &mut impl Door,
    ) -> Result<bool, RenderFailure> {
        let number = |(_, request): &(String, Request)| self.open.get(&request.network_id).copied().unwrap_or(u64::MAX);
        let Some(first) = (0..self.waiting.len()).min_by_key(|at| number(&self.waiting[*at])) else { return Ok(false) };
        let (session, request) = self.waiting.remove(first);
        self.requested(&session, &request, document, door).await?;
        self.answered = Some(request.network_id);
        Ok(true)
    }

    /// Prepares a frame or a worker before it runs. A service worker never does.
    fn attached(&mut self, session: &str, kind: &str) {
        if kind == "service_worker" || kind == "shared_worker" {
            return;
        }
        self.listen(session);
        self.to(session, "Fetch.enable", json!({ "patterns": [{ "urlPattern": "*" }] }));
        let attach = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
        self.to(session, "Target.setAutoAttach", attach);
        self.to(session, "Runtime.runIfWaitingForDebugger", json!({}));
    }

    /// Sends a command whose reply says nothing.
    fn to(&self, session: &str, command: &'static str, params: Value) {
        drop(self.pipe.send(Some(session), command, params));
    }

    async fn requested(
        &mut self,
        session: &str,
        request: &Request,
        document: &Document<'_>,
        door: &mut impl Door,
    ) -> Result<(), RenderFailure> {
        let is_page = request.kind == "Document" && session == self.id && request.frame == self.frame;
        // The browser may write the address otherwise than we do.
        if is_page && !self.is_handed_over {
            self.is_handed_over = true;
            let answer = PartAnswer {
                status: 200,
                content_type: Some(document.content_type.to_owned()),
                body: document.body.to_vec().into(),
                ..PartAnswer::default()
            };
            self.answer(session, request, &answer);
            return Ok(());
        }
        let part = match (request.method.as_str(), request.kind.as_str()) {
            // Only what scripts can see of them is there: a picture, no style, no sound.
            ("GET", "Image") => {
                self.stand_in(session, request, "image/gif", PICTURE);
                return Ok(());
            }
            ("GET", "Stylesheet") | ("OPTIONS", _) => {
                self.stand_in(session, request, "text/css", b"");
                return Ok(());
            }
            ("GET", "Script") => Some(PartKind::Script),
            ("GET", "XHR" | "Fetch") => Some(PartKind::Data),
            // What would change something at a site is never sent, and what frames show is not in the document.
            _ => None,
        };
        let url = &request.url;
        let is_wanted = url.starts_with("http") && !request.is_prefetch && !self.refused.contains(url);
        // A page that goes elsewhere is read as it is here.
        let Some(part) = part.filter(|_| is_wanted && !is_page) else {
            self.block(session, request, is_page);
            return Ok(());
        };
        self.parts += 1;
        if self.parts > self.limits.parts {
            return Err(RenderFailure::TooManyParts(self.limits.parts));
        }
        match door.ask(PartRequest { url: url.clone(), kind: part, accept: request.accept.clone() }).await {
            Ok(answer) => self.answer(session, request, &answer),
            Err(PartRefusal::Blocked) => {
                self.refused.insert(url.clone());
                self.block(session, request, false);
            }
            Err(PartRefusal::GiveUp(why)) => return Err(RenderFailure::GivenUp(why)),
        }
        Ok(())
    }

    fn block(&mut self, session: &str, request: &Request, is_page: bool) {
        self.blocked += usize::from(!is_page);
        // A page that may not go elsewhere stays. Otherwise the browser would show a message in its place.
        let reason = if is_page { "Aborted" } else { "BlockedByClient" };
        self.to(session, "Fetch.failRequest", json!({ "requestId": request.id, "errorReason": reason }));
    }

    fn stand_in(&self, session: &str, request: &Request, content_type: &str, body: &'static [u8]) {
        let answer = PartAnswer {
            status: 200,
            content_type: Some(content_type.to_owned()),
            location: None,
            body: body.into(),
            is_for_anybody: true,
        };
        self.answer(session, request, &answer);
    }

    fn answer(&self, session: &str, request: &Request, answer: &PartAnswer) {
        let mut headers = Vec::new();
        let mut header = |name: &str, value: &str| headers.push(json!({ "name": name, "value": value }));
        if let Some(content_type) = &answer.content_type {
            header("content-type", content_type);
        }
        if let Some(location) = &answer.location {
            header("location", location);
        }
        // Nothing of a reader's is sent along, so a page may read whatever anybody may.
        if let Some(origin) = request.origin.as_ref().filter(|_| answer.is_for_anybody) {
            header("access-control-allow-origin", origin);
            header("access-control-allow-credentials", "true");
            header("access-control-allow-headers", "*, authorization");
            header("access-control-expose-headers", "*");
        }
        let params = json!({
            "requestId": request.id,
            "responseCode": answer.status,
            "responseHeaders": headers,
            "body": BASE64_STANDARD.encode(&answer.body),
        });
        self.to(session, "Fetch.fulfillRequest", params);
    }
}
