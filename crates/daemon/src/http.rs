//! The one port of a process: `/healthz /readyz /metrics /status`, and the process's own paths.

use crate::board::Board;
use crate::hints::HintIntake;
use crate::metrics;
use crate::pings::{self, PingReply};
use crate::threads::{Background, StopSignal};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, header};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// Maximum size of a request body: a file of some hundred thousand seeds.
const MAX_BODY_BYTES: usize = 32 << 20;
/// Header required of requests that change something. A browser does not let a page send it to another origin without a
/// preflight request, so no web site can command a crawler on its visitor's machine.
pub const COMMAND_HEADER: &str = "x-recrawl-command";

/// An HTTP response with a text body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextResponse {
    /// HTTP status code.
    pub status: u16,
    /// Media type.
    pub content_type: &'static str,
    /// Response body.
    pub body: String,
}

impl TextResponse {
    /// A plain-text response for people.
    pub fn text(status: u16, body: impl Into<String>) -> Self {
        Self { status, content_type: "text/plain; charset=utf-8", body: body.into() }
    }

    /// A JSON response for machines.
    pub fn json(status: u16, body: &impl serde::Serialize) -> Self {
        let body = serde_json::to_string(body).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"));
        Self { status, content_type: "application/json", body }
    }
}

/// Handles a POST to a path; returns `None` for an unknown path.
pub type Commands = dyn Fn(&str, &[u8]) -> Option<TextResponse> + Send + Sync;

/// Serves on a thread of its own, added to the background threads, until `stop`. Returns the bound address. Commands
/// and pings are accepted only if a handler is given. `/healthz` fails once a stage has not turned its loop for
/// `hung_after`.
pub fn serve(
    bind: SocketAddr,
    board: Board,
    commands: Option<Arc<Commands>>,
    hints: Option<Arc<HintIntake>>,
    stop: &StopSignal,
    background: &mut Background,
    hung_after: Duration,
) -> std::io::Result<SocketAddr> {
    let listener = std::net::TcpListener::bind(bind)?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (stop, site) = (stop.clone(), Arc::new(ServerState { board, commands, hints, stop: stop.clone(), hung_after }));
    let thread = std::thread::Builder::new().name("http".to_owned()).spawn(move || {
        runtime.block_on(async move {
            let Ok(listener) = TcpListener::from_std(listener) else { return };
            while !stop.is_stopped() {
                match tokio::time::timeout(Duration::from_millis(100), listener.accept()).await {
                    Ok(Ok((connection, _))) => {
                        let site = site.clone();
                        tokio::spawn(async move {
                            let service = service_fn(move |request| respond(site.clone(), request));
                            let _ = hyper::server::conn::http1::Builder::new()
                                .timer(TokioTimer::new())
                                .header_read_timeout(Duration::from_secs(10))
                                .serve_connection(TokioIo::new(connection), service)
                                .await;
                        });
                    }
                    // For example, too many open files: retry a little later instead of spinning.
                    Ok(Err(_)) => tokio::time::sleep(Duration::from_millis(100)).await,
                    Err(_) => {}
                }
            }
        });
    })?;
    background.add(thread);
    Ok(address)
}

struct ServerState {
    board: Board,
    commands: Option<Arc<Commands>>,
    hints: Option<Arc<HintIntake>>,
    stop: StopSignal,
    hung_after: Duration,
}

async fn respond(site: Arc<ServerState>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let answer = answer(&site, request).await;
    let response = Response::builder()
        .status(StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR))
        .header(header::CONTENT_TYPE, answer.content_type)
        .body(Full::new(Bytes::from(answer.body)));
    Ok(response.expect("status and media type are valid"))
}

async fn answer(site: &ServerState, request: Request<Incoming>) -> TextResponse {
    let path = request.uri().path().to_owned();
    if let Some(hints) = site.hints.as_ref().filter(|hints| hints.serves(&path)) {
        return hint(hints.clone(), request).await;
    }
    match (request.method().clone(), path.as_str()) {
        (Method::GET, "/healthz") if site.stop.is_stopped() => TextResponse::text(503, "stopping\n"),
        (Method::GET, "/healthz") => match site.board.hung_stage(site.hung_after) {
            None => TextResponse::text(200, "ok\n"),
            Some(hung) => TextResponse::text(503, format!("{hung}\n")),
        },
        (Method::GET, "/readyz") if site.board.is_ready() => TextResponse::text(200, "ready\n"),
        (Method::GET, "/readyz") => TextResponse::text(503, "not ready: joining the group or restoring state\n"),
        (Method::GET, "/metrics") => TextResponse {
            status: 200,
            content_type: "application/openmetrics-text; version=1.0.0; charset=utf-8",
            body: metrics::text(&site.board, site.hints.as_deref().map(HintIntake::counts)),
        },
        (Method::GET, "/status") => TextResponse::json(200, &site.board.status()),
        (Method::POST, _) if !request.headers().contains_key(COMMAND_HEADER) => {
            TextResponse::text(403, format!("the header {COMMAND_HEADER} is missing; every command needs it\n"))
        }
        (Method::POST, _) => {
            let Some(commands) = site.commands.clone() else {
                return TextResponse::text(404, "this process takes no commands\n");
            };
            match Limited::new(request.into_body(), MAX_BODY_BYTES).collect().await {
                Ok(body) => {
                    commands(&path, &body.to_bytes()).unwrap_or_else(|| TextResponse::text(404, "unknown command\n"))
                }
                Err(error) => TextResponse::text(400, format!("cannot read the request: {error}\n")),
            }
        }
        _ => TextResponse::text(404, "not found; see /healthz /readyz /metrics /status\n"),
    }
}

/// Handles a ping. It may have to wait for the log; other requests must not wait with it.
async fn hint(hints: Arc<HintIntake>, request: Request<Incoming>) -> TextResponse {
    let (head, body) = request.into_parts();
    let body = match Limited::new(body, pings::MAX_BODY_BYTES).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => {
            return TextResponse::text(413, format!("the body is larger than {} bytes\n", pings::MAX_BODY_BYTES));
        }
        Err(error) => return TextResponse::text(400, format!("cannot read the request: {error}\n")),
    };
    let answered = tokio::task::spawn_blocking(move || {
        let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
        hints.answer(&pings::PingRequest {
            method: head.method.as_str(),
            path: head.uri.path(),
            query: head.uri.query().unwrap_or_default(),
            header: &header,
            body: &body,
        })
    });
    match answered.await {
        Ok(PingReply { status, content_type, body, .. }) => TextResponse { status, content_type, body },
        Err(error) => TextResponse::text(500, format!("{error}\n")),
    }
}
