//! The one port of a process: `/healthz /readyz /metrics /status`, and the process's own paths.

mod connections;
mod door;
mod intake;
mod keys;
mod tls;

pub use self::door::{Door, LOG_HEADER};
pub use self::keys::{Caller, KeyEntry, KeyRing, Role};
pub use self::tls::TlsFiles;

use self::connections::{Connections, MAX_CONNECTIONS, Place};
use self::intake::Intake;
use crate::board::Board;
use crate::hints::HintIntake;
use crate::metrics;
use crate::pings::{self, PingReply};
use crate::threads::{Background, StopSignal};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, header};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ServerConfig;
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

/// Longest wait for each step of a request: its head, its body, its turn, and that the client takes the answer.
pub const STEP_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of the body of a command: a file of some hundred thousand seeds.
const MAX_COMMAND_BYTES: usize = 32 << 20;
/// Most commands carried out at once. As many of the largest bodies are held.
const MAX_COMMANDS: usize = 2;
/// Most pings answered at once. As many of the largest bodies are held.
const MAX_PINGS: usize = 8;
/// Most documents made at once.
const MAX_DOCUMENTS: usize = 2;
/// Most bytes in the body of a request for a document. It should have none.
const MAX_DOCUMENT_REQUEST: usize = 1 << 10;
/// Requests being answered keep their places, so there must be others.
const _: () = assert!(MAX_COMMANDS + MAX_PINGS + MAX_DOCUMENTS < MAX_CONNECTIONS);
/// Header required of commands. A browser does not let a page send it to another origin without a preflight request,
/// which is refused. That and the check of the host name keep web sites from commanding a crawler on their visitor's
/// machine, also if they learned a token.
pub const COMMAND_HEADER: &str = "x-recrawl-command";

/// An HTTP response with a text body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextResponse {
    pub status: u16,
    pub content_type: &'static str,
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

/// Handles a POST of a caller to a path; returns `None` for an unknown path.
pub type Commands = dyn Fn(&Caller, &str, &[u8]) -> Option<TextResponse> + Send + Sync;

/// Answers a caller's GET of a path; returns `None` for an unknown path.
pub type Documents = dyn Fn(&Caller, &str) -> Option<TextResponse> + Send + Sync;

/// The handlers and the status that the port serves.
#[derive(Clone)]
pub struct HttpSite {
    pub board: Board,
    /// Handler of commands. Without one, none are accepted.
    pub commands: Option<Arc<Commands>>,
    /// Handler of the process's own documents, if it has some.
    pub documents: Option<Arc<Documents>>,
    /// Who may give commands and read documents.
    pub door: Door,
    /// Handler of pings. Without one, none are accepted.
    pub hints: Option<Arc<HintIntake>>,
    /// Host names that requests may address, besides localhost and IP addresses.
    pub names: Vec<String>,
    /// `/healthz` fails once a stage has not turned its loop for this long.
    pub hung_after: Duration,
    /// Longest wait for each step of a request; see [`STEP_TIMEOUT`].
    pub step_timeout: Duration,
}

/// Serves on a thread of its own, added to the background threads, until `stop`. Returns the bound address. With files of
/// TLS the port speaks nothing else.
pub fn serve(
    bind: SocketAddr,
    site: HttpSite,
    tls: Option<Arc<TlsFiles>>,
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
            let connections = Connections::default();
            while !stop.is_stopped() {
                match tokio::time::timeout(Duration::from_millis(100), listener.accept()).await {
                    Ok(Ok((stream, _))) => {
                        let tls = tls.as_ref().map(|files| files.config());
                        connections.open(|place| greet(server.clone(), place, stream, tls));
                        // Its request is read before a crowd of further connections can take its place.
                        tokio::task::yield_now().await;
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

/// Agrees on a cipher with a client, if the port has TLS, and answers it.
async fn greet(server: Arc<Server>, place: Place, stream: TcpStream, tls: Option<Arc<ServerConfig>>) {
    let Some(config) = tls else { return converse(server, place, stream).await };
    let greeted = tokio::time::timeout(server.site.step_timeout, TlsAcceptor::from(config).accept(stream)).await;
    if let Ok(Ok(stream)) = greeted {
        converse(server, place, stream).await;
    }
}

/// Answers the one request of a connection. There is no second one, so the time of a whole connection is limited too.
async fn converse(server: Arc<Server>, place: Place, stream: impl AsyncRead + AsyncWrite + Unpin) {
    let step_timeout = server.site.step_timeout;
    let (server, place, answered) = (&server, &place, &Notify::new());
    let service = service_fn(move |request| async move {
        let answer = respond(server, place, request).await;
        answered.notify_one();
        answer
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(step_timeout)
        .keep_alive(false)
        // A client may end its side once it has sent its request.
        .half_close(true)
        .serve_connection(TokioIo::new(stream), service);
    let whole = async {
        let Ok(parts) = connection.without_shutdown().await else { return };
        let mut stream = parts.io.into_inner();
        // If the request was refused before its end, a client that first sends all of it must be able to, or it loses
        // the answer.
        if stream.shutdown().await.is_ok() {
            let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
        }
    };
    let not_taken = async {
        answered.notified().await;
        tokio::time::sleep(step_timeout).await;
    };
    tokio::select! {
        () = whole => {}
        () = not_taken => {}
    }
}

struct Server {
    site: HttpSite,
    stop: StopSignal,
    commands: Intake,
    pings: Intake,
    documents: Intake,
}

impl Server {
    fn new(site: HttpSite, stop: StopSignal) -> Self {
        let intake = |most_bytes, most| Intake::new(most_bytes, most * most_bytes, most, site.step_timeout);
        let (commands, pings) = (intake(MAX_COMMAND_BYTES, MAX_COMMANDS), intake(pings::MAX_BODY_BYTES, MAX_PINGS));
        let documents = intake(MAX_DOCUMENT_REQUEST, MAX_DOCUMENTS);
        Self { site, stop, commands, pings, documents }
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

async fn respond(
    server: &Server,
    place: &Place,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let answer = answer(server, place, request).await;
    let mut response = Response::builder()
        .status(StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR))
        .header(header::CONTENT_TYPE, answer.content_type);
    if let Some(log) = &server.site.door.log {
        response = response.header(LOG_HEADER, log);
    }
    if answer.status == 401 {
        response = response.header(header::WWW_AUTHENTICATE, "Bearer, Basic realm=\"recrawl\"");
    }
    Ok(response.body(Full::new(Bytes::from(answer.body))).expect("its parts are valid"))
}

async fn answer(server: &Server, place: &Place, request: Request<Incoming>) -> TextResponse {
    let site = &server.site;
    // Each name in a request must be served, whichever of them its sender or a proxy uses.
    let named = request.headers().get_all(header::HOST).iter().map(|host| host.to_str().unwrap_or_default());
    let mut hosts = named.chain(request.uri().authority().map(|authority| authority.as_str()));
    if let Some(host) = hosts.find(|host| !server.is_addressed_by(host)) {
        let text = format!("not served as {host}: ask by an address or as localhost, or add the name to http.names\n");
        return TextResponse::text(421, text);
    }
    if let Some(refusal) = site.door.other_crawl(request.headers()) {
        return refusal;
    }
    let path = request.uri().path().to_owned();
    if let Some(hints) = site.hints.as_ref().filter(|hints| hints.serves(&path)) {
        return ping(server, place, hints.clone(), request).await;
    }
    match (request.method().clone(), path.as_str()) {
        (Method::GET, "/healthz") if server.stop.is_stopped() => TextResponse::text(503, "stopping\n"),
        (Method::GET, "/healthz") => match site.board.hung_stage(site.hung_after) {
            None => TextResponse::text(200, "ok\n"),
            Some(hung) => TextResponse::text(503, format!("{hung}\n")),
        },
        // A loop that takes commands stays ready for them.
        (Method::GET, "/readyz")
            if site.commands.is_none()
                && let Some(disk) = site.board.short_disk() =>
        {
            TextResponse::text(503, format!("not ready: the disk is nearly full: {}\n", disk.words()))
        }
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
            let caller = match site.door.commander(request.headers()) {
                Ok(caller) => caller,
                Err(refusal) => return refusal,
            };
            let carry_out = move |body: &[u8]| {
                commands(&caller, &path, body).unwrap_or_else(|| TextResponse::text(404, "unknown command\n"))
            };
            server.commands.answer(place, request.into_body(), carry_out).await
        }
        (Method::GET, _) if site.documents.is_some() => {
            let caller = match site.door.reader(request.headers()) {
                Ok(caller) => caller,
                Err(refusal) => return refusal,
            };
            let documents = site.documents.clone();
            let make = move |_: &[u8]| documents.and_then(|make| make(&caller, &path)).unwrap_or_else(not_found);
            server.documents.answer(place, request.into_body(), make).await
        }
        _ => not_found(),
    }
}

fn not_found() -> TextResponse {
    TextResponse::text(404, "not found; see /healthz /readyz /metrics /status\n")
}

async fn ping(server: &Server, place: &Place, hints: Arc<HintIntake>, request: Request<Incoming>) -> TextResponse {
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
    server.pings.answer(place, body, take).await
}

impl From<PingReply> for TextResponse {
    fn from(PingReply { status, content_type, body, .. }: PingReply) -> Self {
        Self { status, content_type, body }
    }
}
