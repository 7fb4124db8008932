//! A connection to a host: found, checked, opened, secured.

use crate::address::is_public;
use crate::exchange::Failure;
use crate::heads::{Recorder, Tap};
use crate::network::Network;
use crate::proxy;
use crate::rules::Rules;
use bytes::Bytes;
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::header::{HeaderMap, HeaderValue};
use hyper::rt::{Executor, Read, Write};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use messages::FetchOutcome;
use page::CanonicalUrl;
use rustls::pki_types::ServerName;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Most header lines of a response. Room for so many is made, and filled, for every response: 1,000 cost a page 4 µs.
const MAX_HEADERS: usize = 512;
/// What an HTTP/2 server may send before we have read it.
const HTTP2_WINDOW_BYTES: u32 = 512 << 10;

/// An open connection.
pub(crate) struct Connection {
    sender: Sender,
    /// What all requests on it say alike; empty before the first.
    pub(crate) headers: HeaderMap,
    /// How the requests on it name their target.
    pub(crate) target: Target,
    /// Whether an exchange has already gone over it, so that the host may have closed it meanwhile.
    pub(crate) used: bool,
    /// The host's; absent when a proxy is between.
    pub(crate) address: Option<IpAddr>,
    /// What it keeps of the newest exchange.
    pub(crate) recorder: Recorder,
}

/// How a request names its target.
pub(crate) enum Target {
    /// By path, with the host in a header.
    Path,
    /// By its whole address, as HTTP/2 has it.
    Whole,
    /// By its whole address, to a proxy, which may want to know who asks.
    Proxied(Option<HeaderValue>),
}

enum Sender {
    Http1(http1::SendRequest<Empty<Bytes>>),
    /// Agreed on by TLS. It carries one request at a time all the same.
    Http2(http2::SendRequest<Empty<Bytes>>),
}

impl Connection {
    /// Opens a connection for an address, within the time to connect.
    pub(crate) async fn open(url: &CanonicalUrl, network: &Network) -> Result<Self, Failure> {
        let limit = network.rules.fetch.connect_timeout;
        tokio::time::timeout(limit, Self::connect(url, network)).await.unwrap_or_else(|_| {
            Err(Failure::new(FetchOutcome::TimedOut, format!("no connection within {} s", limit.as_secs_f64())))
        })
    }

    async fn connect(url: &CanonicalUrl, network: &Network) -> Result<Self, Failure> {
        let rules = &*network.rules;
        allowed_port(url, rules)?;
        let proxy = rules.fetch.proxy_for(url.host_name());
        let is_secure = url.scheme() == "https";
        if let Some(proxy) = proxy {
            allowed_through_proxy(url, network).await?;
            if is_secure {
                let tunnel = proxy::tunnel(proxy, url, network).await?;
                return Self::secured(tunnel, url, rules).await;
            }
            let tcp = proxy::reach(proxy, network).await?;
            let credentials = proxy.credentials.as_ref().map(proxy::basic);
            return Ok(Self { target: Target::Proxied(credentials), ..Self::http1(tcp, rules).await? });
        }
        let tcp = dial(&addresses(url, network).await?, rules.fetch.connect_timeout).await?;
        let _ = tcp.set_nodelay(true);
        let address = tcp.peer_addr().ok().map(|address| address.ip().to_canonical());
        let open = if is_secure { Self::secured(tcp, url, rules).await } else { Self::http1(tcp, rules).await };
        Ok(Self { address, ..open? })
    }

    /// A connection secured by TLS, over whatever leads to the host.
    async fn secured<T>(io: T, url: &CanonicalUrl, rules: &Rules) -> Result<Self, Failure>
    where
        T: AsyncRead + AsyncWrite + Unpin + 'static,
    {
        let name = ServerName::try_from(url.host_name().to_owned());
        let name = name.map_err(|error| Failure::new(FetchOutcome::TlsFailed, error.to_string()))?;
        let connector = TlsConnector::from(rules.tls.clone());
        let tls = connector.connect(name, io).await;
        let tls = tls.map_err(|error| Failure::new(FetchOutcome::TlsFailed, error.to_string()))?;
        match tls.get_ref().1.alpn_protocol() {
            Some(b"h2") => Self::http2(TokioIo::new(tls), rules).await,
            _ => Self::http1(tls, rules).await,
        }
    }

    async fn http1<T>(io: T, rules: &Rules) -> Result<Self, Failure>
    where
        T: AsyncRead + AsyncWrite + Unpin + 'static,
    {
        let recorder = Recorder::new(rules.fetch.record_heads);
        let io = TokioIo::new(Tap::new(io, recorder.clone()));
        let max_header = usize::try_from(rules.fetch.max_header).unwrap_or(usize::MAX).max(8 << 10);
        let mut builder = http1::Builder::new();
        builder.max_buf_size(max_header).max_headers(MAX_HEADERS);
        let (sender, connection) = builder.handshake(io).await.map_err(no_connection)?;
        // It ends when the sender is dropped or the host closes; its error is seen by the exchange that needs it.
        tokio::task::spawn_local(async move {
            let _ = connection.await;
        });
        Ok(Self::new(Sender::Http1(sender), Target::Path, recorder))
    }

    async fn http2<T: Read + Write + Unpin + 'static>(io: T, rules: &Rules) -> Result<Self, Failure> {
        let mut builder = http2::Builder::new(LocalTasks);
        builder
            .initial_stream_window_size(HTTP2_WINDOW_BYTES)
            .initial_connection_window_size(HTTP2_WINDOW_BYTES)
            .max_header_list_size(u32::try_from(rules.fetch.max_header).unwrap_or(u32::MAX));
        let (sender, connection) = builder.handshake(io).await.map_err(no_connection)?;
        tokio::task::spawn_local(async move {
            let _ = connection.await;
        });
        let recorder = Recorder::new(rules.fetch.record_heads);
        Ok(Self::new(Sender::Http2(sender), Target::Whole, recorder))
    }

    fn new(sender: Sender, target: Target, recorder: Recorder) -> Self {
        Self { sender, headers: HeaderMap::new(), target, used: false, address: None, recorder }
    }

    pub(crate) fn is_closed(&self) -> bool {
        match &self.sender {
            Sender::Http1(sender) => sender.is_closed(),
            Sender::Http2(sender) => sender.is_closed(),
        }
    }

    /// Sends a request and waits for the head of its response.
    pub(crate) async fn send(&mut self, request: Request<Empty<Bytes>>) -> hyper::Result<Response<Incoming>> {
        match &mut self.sender {
            Sender::Http1(sender) => {
                sender.ready().await?;
                self.recorder.begin();
                sender.send_request(request).await
            }
            Sender::Http2(sender) => {
                sender.ready().await?;
                self.recorder.begin();
                self.recorder.send(&request);
                let response = sender.send_request(request).await?;
                self.recorder.receive(&response);
                Ok(response)
            }
        }
    }
}

/// Tasks of a connection run on the thread that opened it.
#[derive(Clone)]
struct LocalTasks;

impl<F: Future<Output: 'static> + 'static> Executor<F> for LocalTasks {
    fn execute(&self, task: F) {
        tokio::task::spawn_local(task);
    }
}

fn no_connection(error: hyper::Error) -> Failure {
    Failure::new(FetchOutcome::ConnectFailed, error.to_string())
}

/// Whether the operator lets a port be connected to.
fn allowed_port(url: &CanonicalUrl, rules: &Rules) -> Result<(), Failure> {
    let port = url.port();
    if rules.fetch.allows_port(port) {
        return Ok(());
    }
    let detail = format!("port {port} is not among fetch.ports");
    Err(Failure::new(FetchOutcome::AddressRefused, detail))
}

/// Whether a proxy may be asked for an address: what would be refused here is not left to it. Names that only the
/// proxy can resolve are its own business.
async fn allowed_through_proxy(url: &CanonicalUrl, network: &Network) -> Result<(), Failure> {
    match addresses(url, network).await {
        Err(failure) if failure.outcome == FetchOutcome::DnsFailed => {
            with_contact(Vec::new(), &network.rules).map(drop)
        }
        found => found.map(drop),
    }
}

/// The addresses of a host that may be reached.
async fn addresses(url: &CanonicalUrl, network: &Network) -> Result<Vec<SocketAddr>, Failure> {
    let rules = &*network.rules;
    let host = url.host_name();
    // An entry of the operator's is leave enough, wherever it leads.
    if let Some(address) = rules.fetch.resolve_override(host) {
        return with_contact(vec![address], rules);
    }
    let found = match url.host_address() {
        Some(address) => vec![address],
        None => {
            let found = network.resolver.addresses(host).await;
            found.map_err(|problem| Failure::new(FetchOutcome::DnsFailed, problem))?
        }
    };
    let port = url.port();
    let allowed = allowed_of(&found, host, rules)?;
    with_contact(allowed.into_iter().map(|address| SocketAddr::new(address, port)).collect(), rules)
}

/// The address that requests for a page will go to, and that other hosts may have, too. Nothing for an address of the
/// operator's own choosing, and for one that leads nowhere, which is for the connection to say.
pub(crate) async fn shared_address(url: &CanonicalUrl, network: &Network) -> Option<IpAddr> {
    let (fetch, host) = (&network.rules.fetch, url.host_name());
    if network.rules.address_delay.is_zero()
        || fetch.resolve_override(host).is_some()
        || fetch.proxy_for(host).is_some()
    {
        return None;
    }
    let found = tokio::time::timeout(fetch.connect_timeout, addresses(url, network)).await;
    found.ok()?.ok()?.first().map(|address| address.ip().to_canonical())
}

/// Those of a host's addresses that are public or allowed by name.
fn allowed_of(found: &[IpAddr], host: &str, rules: &Rules) -> Result<Vec<IpAddr>, Failure> {
    let is_allowed = |address: &IpAddr| is_public(*address) || rules.fetch.allows_private(host, *address);
    let allowed: Vec<_> = found.iter().copied().filter(is_allowed).collect();
    match found.first() {
        Some(first) if allowed.is_empty() => {
            let detail = format!("{first} is not a public address; fetch.allow_private_addresses may allow it");
            Err(Failure::new(FetchOutcome::AddressRefused, detail))
        }
        _ => Ok(allowed),
    }
}

/// Other people's machines are visited only by a crawler that says whom to write to.
fn with_contact(addresses: Vec<SocketAddr>, rules: &Rules) -> Result<Vec<SocketAddr>, Failure> {
    let is_here = !addresses.is_empty() && addresses.iter().all(|address| address.ip().is_loopback());
    if rules.has_contact || is_here {
        return Ok(addresses);
    }
    let detail = "crawl.contact is absent; set it to a web page or mail address where a site's owner can reach you";
    Err(Failure::new(FetchOutcome::AddressRefused, detail.to_owned()))
}

/// Tries the addresses in turn. What is connected to is what was checked: the name is not looked up again. An address
/// that says nothing leaves time for the next.
pub(crate) async fn dial(addresses: &[SocketAddr], limit: Duration) -> Result<TcpStream, Failure> {
    let each = limit / u32::try_from(addresses.len().clamp(1, 4)).unwrap_or(1);
    let mut problem = String::new();
    for address in addresses {
        match tokio::time::timeout(each, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => problem = format!("{address}: {error}"),
            Err(_) if addresses.len() == 1 => {
                let detail = format!("{address}: no connection within {} s", limit.as_secs_f64());
                return Err(Failure::new(FetchOutcome::TimedOut, detail));
            }
            Err(_) => problem = format!("{address}: no connection within {} s", each.as_secs_f64()),
        }
    }
    Err(Failure::new(FetchOutcome::ConnectFailed, problem))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::tests::scripted;
    use settings::{Layers, Settings};
    use std::sync::Arc;

    fn network(answers: &[&[&str]], allowed: &str) -> Network {
        let overrides = [
            ("crawl.contact".to_owned(), "https://example.org/crawler".to_owned()),
            ("fetch.allow_private_addresses".to_owned(), allowed.to_owned()),
        ];
        let settings = Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides }).unwrap();
        // Nothing is remembered, as if every answer had run out.
        let (resolver, _) = scripted(answers, Duration::ZERO);
        let rules = Arc::new(Rules::new(&settings).unwrap());
        let clock = stream::testing::ManualClock::at(page::Timestamp::from_secs(0));
        Network { resolver, ..Network::new(rules, clock) }
    }

    fn addresses_of(url: &str, network: &Network) -> Result<Vec<String>, FetchOutcome> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let found = runtime.block_on(addresses(&CanonicalUrl::parse(url).unwrap(), network));
        found.map(|found| found.iter().map(SocketAddr::to_string).collect()).map_err(|failure| failure.outcome)
    }

    #[test]
    fn a_name_that_is_bound_anew_to_a_private_address_leads_nowhere() {
        let network = network(&[&["198.51.101.1"], &["127.0.0.1"], &["::ffff:10.0.0.1"], &["198.51.101.1"]], "");
        let url = "http://rebound.example/";
        assert_eq!(addresses_of(url, &network), Ok(vec!["198.51.101.1:80".to_owned()]));
        assert_eq!(addresses_of(url, &network), Err(FetchOutcome::AddressRefused));
        assert_eq!(addresses_of(url, &network), Err(FetchOutcome::AddressRefused));
        assert_eq!(addresses_of(url, &network), Ok(vec!["198.51.101.1:80".to_owned()]));
    }

    #[test]
    fn of_a_mixed_answer_only_what_is_public_is_dialled() {
        let mixed: &[&str] = &["127.0.0.1", "198.51.101.1", "::1", "64:ff9b::7f00:1", "2606:4700::1111"];
        let public = Ok(vec!["198.51.101.1:8080".to_owned(), "[2606:4700::1111]:8080".to_owned()]);
        assert_eq!(addresses_of("http://mixed.example:8080/", &network(&[mixed], "")), public);
        let with_own = Ok(["127.0.0.1:80", "198.51.101.1:80", "[2606:4700::1111]:80"].map(str::to_owned).to_vec());
        assert_eq!(addresses_of("http://mixed.example/", &network(&[mixed], "127.0.0.0/8")), with_own);
    }

    #[test]
    fn a_name_without_addresses_fails_and_an_address_is_not_looked_up() {
        let network = network(&[&[]], "");
        assert_eq!(addresses_of("http://nowhere.example/", &network), Err(FetchOutcome::DnsFailed));
        assert_eq!(addresses_of("http://198.51.101.1/", &network), Ok(vec!["198.51.101.1:80".to_owned()]));
        assert_eq!(addresses_of("https://[2606:4700::1111]/", &network), Ok(vec!["[2606:4700::1111]:443".to_owned()]));
        for private in ["2130706433", "0x7f.1", "0177.0.0.1", "[::ffff:7f00:1]", "10.0.0.1"] {
            let url = format!("http://{private}/");
            assert_eq!(addresses_of(&url, &network), Err(FetchOutcome::AddressRefused), "{private}");
        }
    }
}
