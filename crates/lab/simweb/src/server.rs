//! The web on a socket: one thread, HTTP/1.1 with keep-alive, every request written to the ledger.
//!
//! A request is in progress from the time its head has been read until its last byte is handed to the connection. So a
//! crawler that waits for the end of an answer before its next request never has two requests in progress here, and the
//! gap measured here between end and start is never shorter than the one it kept.

use crate::clock::SimwebClock;
use crate::config::SimWebConfig;
use crate::connections::accept;
use crate::corpus::CorpusError;
use crate::gate::PageGate;
use crate::ledger::{Ledger, LedgerEntry, RequestKind};
use crate::respond::{Delivery, InFlightGuard, WebRequest, WebResponse, host_of, respond};
use crate::trace::without_port;
use crate::web::Web;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use page::Timestamp;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener as StdListener};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};
use tokio::sync::oneshot;
use tokio::time::Sleep;
use tokio_rustls::TlsAcceptor;

/// A running web. Dropping it stops it.
pub struct SimWeb {
    addr: SocketAddr,
    web: Arc<Web>,
    ledger: Arc<Ledger>,
    thread_directory: Option<PathBuf>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl SimWeb {
    /// Opens the source, listens, and serves on a thread of its own until dropped.
    pub fn start(config: SimWebConfig, clock: SimwebClock) -> Result<Self, CorpusError> {
        let (bind, tls) = (config.bind, config.tls.clone().map(TlsAcceptor::from));
        let gate = config.gate.clone();
        let web = Arc::new(Web::open(config)?);
        let listen = |addr: SocketAddr| {
            StdListener::bind(addr)
                .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
                .map_err(|source| CorpusError::Listen { addr, source })
        };
        let first = listen(bind)?;
        let addr = first.local_addr().map_err(|source| CorpusError::Listen { addr: bind, source })?;
        let mut listeners = vec![first];
        // The unspecified address already includes the others.
        for ip in web.loopback_hosts().filter(|ip| addr.ip() != *ip && !addr.ip().is_unspecified()) {
            listeners.push(listen((ip, addr.port()).into())?);
        }

        let ledger = Arc::new(Ledger::default());
        let site = Arc::new(ServedWeb { web: Arc::clone(&web), ledger: Arc::clone(&ledger), clock, gate, tls });
        let (stop, stopped) = oneshot::channel();
        let (say_where, take_redirection) = std::sync::mpsc::channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|source| CorpusError::Listen { addr, source })?;
        let serve = move || {
            // Only Linux reports the time that a thread has used.
            let _ = say_where.send(std::fs::canonicalize("/proc/thread-self").ok());
            runtime.block_on(async {
                for listener in listeners {
                    tokio::spawn(accept(listener, Arc::clone(&site)));
                }
                // An error means that the SimWeb was dropped, which also means to stop.
                let _ = stopped.await;
            });
        };
        let thread = std::thread::Builder::new()
            .name("simweb".into())
            .spawn(serve)
            .map_err(|source| CorpusError::Listen { addr, source })?;
        let thread_directory = take_redirection.recv().ok().flatten();
        Ok(Self { addr, web, ledger, thread_directory, stop: Some(stop), thread: Some(thread) })
    }

    /// The address it listens on; loopback hosts have the same port.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The ledger of all requests so far.
    pub fn ledger(&self) -> Arc<Ledger> {
        Arc::clone(&self.ledger)
    }

    pub fn web(&self) -> Arc<Web> {
        Arc::clone(&self.web)
    }

    /// The addresses of all pages, in the order of the trace. IP addresses carry the server's port, names do not.
    pub fn page_urls(&self) -> Vec<String> {
        let port = self.addr.port();
        let url = |host: &str, path: &str| match host.parse::<Ipv4Addr>() {
            Ok(_) => format!("http://{host}:{port}{path}"),
            Err(_) => format!("http://{host}{path}"),
        };
        self.web.trace.pages.iter().map(|page| url(&page.host, &page.path)).collect()
    }

    /// Processor time that the serving thread has used; `None` where the system does not report it.
    pub fn cpu_time(&self) -> Option<Duration> {
        let statistics = std::fs::read_to_string(self.thread_directory.as_ref()?.join("schedstat")).ok()?;
        statistics.split_ascii_whitespace().next()?.parse().ok().map(Duration::from_nanos)
    }

    /// Stops serving, drops open connections, and returns the whole ledger.
    pub fn shutdown(mut self) -> Arc<Ledger> {
        self.stop();
        Arc::clone(&self.ledger)
    }

    fn stop(&mut self) {
        // The thread may have ended already; then there is nothing to stop.
        let _ = self.stop.take().map(|stop| stop.send(()));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for SimWeb {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The state that a connection needs.
pub(crate) struct ServedWeb {
    web: Arc<Web>,
    ledger: Arc<Ledger>,
    clock: SimwebClock,
    gate: Option<Arc<PageGate>>,
    pub(crate) tls: Option<TlsAcceptor>,
}

/// Answers a request. `reset` is set when the connection is to be reset then.
pub(crate) async fn answer(
    request: Request<Incoming>,
    is_secure: bool,
    site: Arc<ServedWeb>,
    reset: Arc<AtomicBool>,
) -> Result<Response<impl Body<Data = Bytes, Error = io::Error>>, io::Error> {
    let started_at = (site.clock)();
    let header = |name: HeaderName| request.headers().get(name).and_then(|value| value.to_str().ok());
    let authority = request.uri().authority().map(|authority| authority.as_str());
    let web_request = WebRequest {
        is_head: request.method() == Method::HEAD,
        is_secure,
        authority: authority.or_else(|| header(header::HOST)).unwrap_or_default(),
        path: request.uri().path_and_query().map_or("/", |path| path.as_str()),
        if_none_match: header(header::IF_NONE_MATCH),
        if_modified_since: header(header::IF_MODIFIED_SINCE),
    };
    let table = host_of(&site.web, web_request.authority);
    let in_flight = InFlightGuard::enter(&site.web, table);
    let mut record = PendingLedgerEntry {
        entry: LedgerEntry {
            started_at,
            ended_at: started_at,
            host: table.map_or_else(|| without_port(web_request.authority).into(), |table| Arc::clone(&table.name)),
            path: web_request.path.into(),
            kind: RequestKind::UnknownHost,
            status: 0,
            version: None,
            bytes: 0,
            in_flight: in_flight.count,
            disallowed: false,
            tls: is_secure,
        },
        version_when_whole: None,
        site: Arc::clone(&site),
        _in_flight: in_flight,
    };
    let mut answer = respond(&site.web, table, &web_request, started_at)?;
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        (answer.status, answer.version, answer.body) = (405, None, Bytes::new());
    }
    record.entry.kind = answer.kind;
    record.entry.path = Arc::clone(&answer.path);
    record.entry.disallowed = answer.disallowed;
    if let Some(gate) = site.gate.as_ref().filter(|_| answer.kind == RequestKind::Page) {
        gate.pass().await;
    }
    if !answer.latency.is_zero() {
        tokio::time::sleep(answer.latency).await;
    }
    record.entry.status = answer.status;
    let headers = headers(&answer, started_at);
    let status = StatusCode::from_u16(answer.status).map_err(io::Error::other)?;
    // A filler is not a copy of the page.
    record.version_when_whole = answer.version.filter(|_| !matches!(answer.delivery, Delivery::Filler(_)));
    let left = match answer.delivery {
        Delivery::Filler(bytes) => bytes,
        _ => answer.body.len() as u64,
    };
    let body = ServedBody {
        left,
        is_head: web_request.is_head,
        body: answer.body,
        delivery: answer.delivery,
        pause: None,
        reset,
        record,
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    Ok(response)
}

fn headers(answer: &WebResponse, now: Timestamp) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(6);
    let mut put = |name: HeaderName, value: Option<String>| {
        if let Some(value) = value.and_then(|value| HeaderValue::from_maybe_shared(Bytes::from(value)).ok()) {
            headers.insert(name, value);
        }
    };
    put(header::DATE, Some(http_date(now)));
    put(header::CONTENT_TYPE, answer.content_type.clone());
    put(header::ETAG, answer.etag.clone());
    put(header::LAST_MODIFIED, answer.last_modified.map(http_date));
    put(header::LOCATION, answer.location.clone());
    put(header::RETRY_AFTER, answer.retry_after_s.map(|seconds| seconds.to_string()));
    headers
}

/// Formats a time for HTTP. Times before 1970 become its first second.
fn http_date(moment: Timestamp) -> String {
    httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + moment.saturating_since(Timestamp::default()))
}

/// A request's entry in the ledger, written when the request is over, however it ends.
struct PendingLedgerEntry {
    entry: LedgerEntry,
    version_when_whole: Option<u32>,
    site: Arc<ServedWeb>,
    _in_flight: InFlightGuard,
}

impl Drop for PendingLedgerEntry {
    fn drop(&mut self) {
        self.entry.ended_at = (self.site.clock)();
        self.site.ledger.push(self.entry.clone());
    }
}

/// A body in transit. It is whole when nothing is left of it.
struct ServedBody {
    left: u64,
    is_head: bool,
    body: Bytes,
    delivery: Delivery,
    pause: Option<Pin<Box<Sleep>>>,
    reset: Arc<AtomicBool>,
    record: PendingLedgerEntry,
}

const SLOW_PIECES: u32 = 10;
const FILLER_PIECE: usize = 64 * 1024;
static FILLER: [u8; FILLER_PIECE] = [b'x'; FILLER_PIECE];
/// Long enough for the half body to leave before the reset overtakes it.
const RESET_PAUSE: Duration = Duration::from_millis(5);

impl ServedBody {
    fn next_piece(&mut self) -> Option<Result<Bytes, io::Error>> {
        let whole = self.body.len();
        let piece = match self.delivery {
            Delivery::Plain => std::mem::take(&mut self.body),
            Delivery::Filler(_) => Bytes::from_static(&FILLER[..FILLER_PIECE.min(self.left as usize)]),
            Delivery::Slow(duration) => {
                self.pause = Some(Box::pin(tokio::time::sleep(duration / SLOW_PIECES)));
                let rest = self.left as usize;
                let start = whole - rest;
                self.body.slice(start..whole.min(start + whole.div_ceil(SLOW_PIECES as usize)))
            }
            Delivery::ResetMidBody if self.left as usize == whole => {
                self.pause = Some(Box::pin(tokio::time::sleep(RESET_PAUSE)));
                self.body.slice(..whole / 2)
            }
            Delivery::ResetMidBody => {
                self.reset.store(true, Ordering::Relaxed);
                return Some(Err(io::Error::from(io::ErrorKind::ConnectionReset)));
            }
        };
        self.left -= piece.len() as u64;
        self.record.entry.bytes += piece.len() as u64;
        Some(Ok(piece))
    }
}

impl Body for ServedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(pause) = self.pause.as_mut() {
            if pause.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            self.pause = None;
        }
        if self.left == 0 {
            return Poll::Ready(None);
        }
        Poll::Ready(self.next_piece().map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        match self.delivery {
            Delivery::Filler(_) => SizeHint::default(),
            _ => SizeHint::with_exact(self.left),
        }
    }
}

impl Drop for ServedBody {
    fn drop(&mut self) {
        if self.left == 0 || self.is_head {
            self.record.entry.version = self.record.version_when_whole;
        }
    }
}
