//! A connection to a host: address lookup and check, dial, TLS, protocol.

use crate::http1::{Http1Connection, Io};
use crate::meter::{Meter, Metered};
use crate::network::Network;
use crate::proxy;
use crate::request::{Common, RequestTarget, basic};
use crate::response::FetchFailure;
use crate::route::{addresses, allowed_port, allowed_through_proxy, dial};
use bytes::Bytes;
use http_body_util::Empty;
use hyper::client::conn::http2;
use hyper::rt::Executor;
use hyper_util::rt::TokioIo;
use messages::FetchOutcome;
use page::CanonicalUrl;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// HTTP/2 flow-control window: bytes a server may send before we have read them.
const HTTP2_WINDOW_BYTES: u32 = 512 << 10;
/// Bytes for an answer over TLS beyond twice the largest body and head: the handshake, records and frames around them, and
/// those about the connection.
const SPARE_BYTES: u64 = 4 << 20;
/// Longest time to close an HTTP/2 connection. Its server may accept nothing more, or never stop sending.
const FAREWELL: Duration = Duration::from_secs(1);

pub(crate) struct Connection {
    pub(crate) protocol: Protocol,
    /// Request-target form for all requests on this connection.
    pub(crate) target: RequestTarget,
    /// Headers shared by all requests on this connection.
    pub(crate) common: Common,
    /// Whether it has carried an exchange. If so, the host may have closed it meanwhile.
    pub(crate) used: bool,
    /// The host's IP address, for archives. Absent behind a proxy.
    pub(crate) address: Option<String>,
    /// Counts the bytes on the wire, below TLS.
    pub(crate) wire_meter: Option<Meter>,
}

pub(crate) enum Protocol {
    Http1(Box<Http1Connection>),
    /// Negotiated by ALPN. We still send one request at a time.
    Http2(Http2Connection),
}

/// An HTTP/2 connection. Its tasks end with it.
pub(crate) struct Http2Connection {
    pub(crate) sender: http2::SendRequest<Empty<Bytes>>,
    /// Counts the bytes above TLS.
    pub(crate) meter: Meter,
    _is_kept: watch::Sender<()>,
}

impl Connection {
    /// Opens a connection to the URL's host within `connect_timeout`.
    pub(crate) async fn open(url: &CanonicalUrl, network: &Network) -> Result<Self, FetchFailure> {
        let limit = network.rules.fetch.connect_timeout;
        let wire_meter = Meter::new(most_bytes(&network.rules.fetch));
        let open = tokio::time::timeout(limit, Self::connect(url, network, &wire_meter)).await.unwrap_or_else(|_| {
            Err(FetchFailure::new(FetchOutcome::TimedOut, format!("no connection within {} s", limit.as_secs_f64())))
        });
        let open = open.map_err(|failure| FetchFailure { wire_bytes: wire_meter.received_bytes(), ..failure })?;
        let common = Common::new(url, &open.target, &network.rules);
        let common = common.map_err(|error| FetchFailure::new(FetchOutcome::ClientError, error.to_string()))?;
        Ok(Self { common, ..open })
    }

    async fn connect(url: &CanonicalUrl, network: &Network, wire_meter: &Meter) -> Result<Self, FetchFailure> {
        let rules = &*network.rules;
        allowed_port(url, rules)?;
        let proxy = rules.fetch.proxy_for(url.host_name());
        let is_secure = url.scheme() == "https";
        if let Some(proxy) = proxy {
            let allowed = allowed_through_proxy(url, network).await?;
            if is_secure {
                let tunnel = proxy::tunnel(proxy, url, &allowed, network).await?;
                return Self::secured(tunnel, url, network, wire_meter).await;
            }
            let tcp = proxy::reach(proxy, network).await?;
            let credentials = proxy.credentials.as_ref().map(basic);
            return Ok(Self { target: RequestTarget::Proxied(credentials), ..Self::http1(tcp, network) });
        }
        let tcp = dial(&addresses(url, network).await?, network).await?;
        let _ = tcp.set_nodelay(true);
        let address = tcp.peer_addr().ok().map(|address| address.ip().to_canonical().to_string());
        let open = match is_secure {
            true => Self::secured(tcp, url, network, wire_meter).await?,
            false => Self::http1(tcp, network),
        };
        Ok(Self { address, ..open })
    }

    /// Secures a stream with TLS and picks the protocol by ALPN.
    async fn secured<T>(io: T, url: &CanonicalUrl, network: &Network, wire_meter: &Meter) -> Result<Self, FetchFailure>
    where
        T: AsyncRead + AsyncWrite + Unpin + 'static,
    {
        let name = ServerName::try_from(url.host_name().to_owned());
        let name = name.map_err(|error| FetchFailure::new(FetchOutcome::TlsFailed, error.to_string()))?;
        let connector = TlsConnector::from(match network.without_http2.borrow().has(url.origin()) {
            true => over_http1_only(&network.rules.tls),
            false => network.rules.tls.clone(),
        });
        let tls = connector.connect(name, Metered { io, meter: wire_meter.clone() }).await;
        let tls = tls.map_err(|error| FetchFailure::new(FetchOutcome::TlsFailed, error.to_string()))?;
        let open = match tls.get_ref().1.alpn_protocol() {
            Some(b"h2") => Self::http2(tls, network).await?,
            _ => Self::http1(tls, network),
        };
        Ok(Self { wire_meter: Some(wire_meter.clone()), ..open })
    }

    fn http1(io: impl Io + 'static, network: &Network) -> Self {
        let connection = Http1Connection::new(Box::new(io), network.buffers.clone(), network.rules.max_head());
        Self::new(Protocol::Http1(Box::new(connection)), RequestTarget::Path)
    }

    async fn http2(io: impl Io + 'static, network: &Network) -> Result<Self, FetchFailure> {
        let meter = Meter::without_limit();
        let io = TokioIo::new(Metered { io, meter: meter.clone() });
        let (kept, end) = watch::channel(());
        let tasks = LocalTasks { end };
        let mut builder = http2::Builder::new(tasks.clone());
        builder
            .initial_stream_window_size(HTTP2_WINDOW_BYTES)
            .initial_connection_window_size(HTTP2_WINDOW_BYTES)
            .max_header_list_size(u32::try_from(network.rules.fetch.max_header).unwrap_or(u32::MAX));
        let no_connection = |error: hyper::Error| FetchFailure::new(FetchOutcome::ConnectFailed, error.to_string());
        let (sender, connection) = builder.handshake(io).await.map_err(no_connection)?;
        // The exchange that needs the connection sees its error.
        tasks.execute(connection);
        Ok(Self::new(Protocol::Http2(Http2Connection { sender, meter, _is_kept: kept }), RequestTarget::Whole))
    }

    fn new(protocol: Protocol, target: RequestTarget) -> Self {
        Self { protocol, target, common: Common::default(), used: false, address: None, wire_meter: None }
    }

    /// Whether it can carry another request.
    pub(crate) async fn is_in_order(&mut self) -> bool {
        match &mut self.protocol {
            Protocol::Http1(connection) => connection.is_in_order().await,
            Protocol::Http2(connection) => !connection.sender.is_closed(),
        }
    }
}

/// The same configuration, which offers HTTP/1.1 alone.
fn over_http1_only(tls: &ClientConfig) -> Arc<ClientConfig> {
    let mut tls = tls.clone();
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    Arc::new(tls)
}

/// Most bytes that an answer over TLS may take.
pub(crate) fn most_bytes(limits: &settings::Fetch) -> u64 {
    2 * (limits.max_body.max(limits.max_packed_body) + limits.max_header) + SPARE_BYTES
}

/// Spawns the tasks of a connection on the thread that opened it. They end when the host closes, or soon after the
/// connection is dropped, whatever the host does.
#[derive(Clone)]
struct LocalTasks {
    end: watch::Receiver<()>,
}

impl<F: Future<Output: 'static> + 'static> Executor<F> for LocalTasks {
    fn execute(&self, task: F) {
        let mut end = self.end.clone();
        tokio::task::spawn_local(async move {
            let mut task = pin!(task);
            tokio::select! {
                _ = &mut task => {}
                // Nothing is ever sent: it ends when the sender is dropped.
                _ = end.changed() => drop(timeout(FAREWELL, task).await),
            }
        });
    }
}
