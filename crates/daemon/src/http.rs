//! The one port of a process. [`routes`] is all that it answers.

mod answer;
mod connections;
mod console_routes;
mod dispatch;
mod door;
mod forms;
mod intake;
mod keys;
mod openapi;
mod reference;
mod route;
mod route_kinds;
mod routes;
mod schemas;
mod tls;

pub use self::answer::{CSS, HTML, PROBLEM, SCRIPT, TextResponse};
pub use self::door::{Door, LOG_HEADER, refused};
pub use self::forms::FORM_TOKEN;
pub use self::keys::{Caller, KeyEntry, KeyRing, Role};
pub use self::openapi::openapi;
pub use self::reference::reference;
pub use self::route::{Access, Body, Form, Method, OrderKind, QueryParameter, Route, Screen, Success, Target, Task};
pub use self::routes::{of_task, routes};
pub use self::tls::TlsFiles;

use self::connections::{Connections, Place};
use self::dispatch::Server;
use crate::board::Board;
use crate::hints::HintIntake;
use crate::threads::{Background, StopSignal};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ServerConfig;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

/// Longest wait for each step of a request: its head, its body, its turn, and that the client takes the answer.
pub const STEP_TIMEOUT: Duration = Duration::from_secs(10);
/// Header required of commands. A browser does not let a page send it to another origin without a preflight request,
/// which is refused. That and the check of the host name keep web sites from commanding a crawler on their visitor's
/// machine, also if they learned a token.
pub const COMMAND_HEADER: &str = "x-recrawl-command";

/// Header in which a command may say which user of which machine gives it, as `user@machine`. It is not verified; the record of
/// commands has it beside the name of the key.
pub const CALLER_HEADER: &str = "x-recrawl-caller";

/// A request for a [`Task`], from a caller who has the right to it.
pub struct Call<'a> {
    pub task: Task,
    pub caller: &'a Caller,
    /// User and machine, as the sender says.
    pub claimed_caller: Option<&'a str>,
    /// Path of the request, for the record of commands.
    pub path: &'a str,
    /// The parameter in the path.
    pub name: Option<&'a str>,
    pub query: &'a str,
    pub body: &'a [u8],
    /// The token of the forms that the caller is shown.
    pub form_token: &'a str,
}

/// Carries out tasks.
pub type Tasks = dyn Fn(&Call<'_>) -> TextResponse + Send + Sync;

/// Notes commands that were refused before their body was read, with the reason.
pub type Refusals = dyn Fn(&Call<'_>, &str) + Send + Sync;

/// The handlers and the status that the port serves.
#[derive(Clone)]
pub struct HttpSite {
    pub board: Board,
    /// Carries out what takes a whole crawl. Without it, the process has no such routes.
    pub tasks: Option<Arc<Tasks>>,
    /// Notes the commands for which a role did not suffice.
    pub refusals: Option<Arc<Refusals>>,
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

/// Why a program does not start if it cannot listen on `http.bind`, and the next step.
pub fn cannot_listen(bind: SocketAddr, error: &std::io::Error) -> String {
    let remedy = match error.kind() {
        ErrorKind::AddrInUse => "; stop the program that has it, or take any free port: --set http.bind=127.0.0.1:0",
        ErrorKind::AddrNotAvailable => {
            "; this machine has no such address: 127.0.0.1 is its own, 0.0.0.0 all of its addresses"
        }
        ErrorKind::PermissionDenied => "; ports below 1024 are those of the system's services: take a higher one",
        _ => "",
    };
    format!("http.bind: cannot listen on {bind}: {error}{remedy}")
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
    let (stop, server) = (stop.clone(), Arc::new(Server::new(site, stop.clone())?));
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
        let answer = server.respond(place, request).await;
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
