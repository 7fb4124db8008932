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
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Maximum size of a request body: a file of some hundred thousand seeds.
const MAX_BODY_BYTES: usize = 32 << 20;
/// Longest wait for a request body.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// Most open connections. Further ones wait.
const MAX_CONNECTIONS: usize = 64;
/// Most bodies of commands being received.
const MAX_COMMANDS: usize = 2;
/// Header required of requests that change something. A browser does not let a page send it to another origin without a
/// preflight request. That and the check of the host name keep web sites from commanding a crawler on their visitor's
/// machine.
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

/// What the port serves.
#[derive(Clone)]
pub struct HttpSite {
    /// The status of the process's stages.
    pub board: Board,
    /// Handler of commands. Without one, none are accepted.
    pub commands: Option<Arc<Commands>>,
    /// Handler of pings. Without one, none are accepted.
    pub hints: Option<Arc<HintIntake>>,
    /// Host names that requests may address, besides localhost and IP addresses.
    pub names: Vec<String>,
    /// `/healthz` fails once a stage has not turned its loop for this long.
    pub hung_after: Duration,
}

/// Serves on a thread of its own, added to the background threads, until `stop`. Returns the bound address.
pub fn serve(
    bind: SocketAddr,
    site: HttpSite,
    stop: &StopSignal,
    background: &mut Background,
) -> std::io::Result<SocketAddr> {
    let listener = std::net::TcpListener::bind(bind)?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (stop, server) = (stop.clone(), Arc::new(Server::new(site, stop.clone())));
    let thread = std::thread::Builder::new().name("http".to_owned()).spawn(move || {
        runtime.block_on(async move {
            let Ok(listener) = TcpListener::from_std(listener) else { return };
            while !stop.is_stopped() {
                let accept = async {
                    let place = server.connections.clone().acquire_owned().await;
                    Ok((place.expect("the semaphore is never closed"), listener.accept().await?.0))
                };
                match tokio::time::timeout(Duration::from_millis(100), accept).await {
                    Ok(Ok((place, connection))) => {
                        let server = server.clone();
                        tokio::spawn(async move {
                            let _place = place;
                            let service = service_fn(move |request| respond(server.clone(), request));
                            let _ = hyper::server::conn::http1::Builder::new()
                                .timer(TokioTimer::new())
                                .header_read_timeout(Duration::from_secs(10))
                                .serve_connection(TokioIo::new(connection), service)
                                .await;
                        });
                    }
                    // For example, too many open files: retry a little later instead of spinning.
                    Ok(Err::<_, std::io::Error>(_)) => tokio::time::sleep(Duration::from_millis(100)).await,
                    Err(_) => {}
                }
            }
        });
    })?;
    background.add(thread);
    Ok(address)
}

struct Server {
    site: HttpSite,
    stop: StopSignal,
    connections: Arc<Semaphore>,
    commands: Semaphore,
}

impl Server {
    fn new(site: HttpSite, stop: StopSignal) -> Self {
        let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        Self { site, stop, connections, commands: Semaphore::new(MAX_COMMANDS) }
    }

    /// Whether requests may address this host. A name that somebody else controls could be pointed at this machine, and
    /// a page of that name would be allowed to talk to us (DNS rebinding).
    fn is_addressed_by(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        name.parse::<IpAddr>().is_ok()
            || name.eq_ignore_ascii_case("localhost")
            || self.site.names.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

async fn respond(server: Arc<Server>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let answer = answer(&server, request).await;
    let response = Response::builder()
        .status(StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR))
        .header(header::CONTENT_TYPE, answer.content_type)
        .body(Full::new(Bytes::from(answer.body)));
    Ok(response.expect("status and media type are valid"))
}

async fn answer(server: &Server, request: Request<Incoming>) -> TextResponse {
    let site = &server.site;
    let host = request.headers().get(header::HOST).map(|host| host.to_str().unwrap_or_default());
    if let Some(host) = host.filter(|host| !server.is_addressed_by(host)) {
        let text = format!("not served as {host}: ask by an address or as localhost, or add the name to http.names\n");
        return TextResponse::text(421, text);
    }
    let path = request.uri().path().to_owned();
    if let Some(hints) = site.hints.as_ref().filter(|hints| hints.serves(&path)) {
        return hint(hints.clone(), request).await;
    }
    match (request.method().clone(), path.as_str()) {
        (Method::GET, "/healthz") if server.stop.is_stopped() => TextResponse::text(503, "stopping\n"),
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
            let _place = server.commands.acquire().await;
            match received(request.into_body(), MAX_BODY_BYTES).await {
                Ok(body) => commands(&path, &body).unwrap_or_else(|| TextResponse::text(404, "unknown command\n")),
                Err(refusal) => refusal,
            }
        }
        _ => TextResponse::text(404, "not found; see /healthz /readyz /metrics /status\n"),
    }
}

/// Receives a body, or says why not.
async fn received(body: Incoming, most_bytes: usize) -> Result<Bytes, TextResponse> {
    let whole = Limited::new(body, most_bytes).collect();
    match tokio::time::timeout(BODY_TIMEOUT, whole).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            Err(TextResponse::text(413, format!("the body is larger than {most_bytes} bytes\n")))
        }
        Ok(Err(error)) => Err(TextResponse::text(400, format!("cannot read the request: {error}\n"))),
        Err(_) => {
            let seconds = BODY_TIMEOUT.as_secs();
            Err(TextResponse::text(408, format!("the body was not complete within {seconds} s\n")))
        }
    }
}

/// Handles a ping. It may have to wait for the log; other requests must not wait with it.
async fn hint(hints: Arc<HintIntake>, request: Request<Incoming>) -> TextResponse {
    let (head, body) = request.into_parts();
    let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(PingReply { status, content_type, body, .. }) = hints.refusal(head.uri.path(), &header) {
        return TextResponse { status, content_type, body };
    }
    let body = match received(body, pings::MAX_BODY_BYTES).await {
        Ok(body) => body,
        Err(refusal) => return refusal,
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
